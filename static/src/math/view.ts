/*
 * Camera views as plain numbers: a point looked at, the direction it is looked at from, and the distance.
 * A view never rolls, because it has no roll. Fitting is exact: the nearest distance at which every point of a box
 * stays inside the given margins, for any shape of window.
 */
import { angleBetween, lerp } from "./scalar";

export type Vec3 = readonly [number, number, number];

export interface Box {
  min: Vec3;
  max: Vec3;
}

/** Angles in radians. Azimuth 0 looks along −z from +z and grows towards +x; elevation 0 is level with the ground. */
export interface View {
  target: Vec3;
  azimuth: number;
  elevation: number;
  distance: number;
}

/** Parts of the window's width and height that stay free, each 0…1, measured from its own side. */
export interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Lens {
  /** Vertical field of view in radians. */
  fov: number;
  /** Width over height. */
  aspect: number;
}

/** Unit vector from the target to the camera. */
export function directionOf(azimuth: number, elevation: number): Vec3 {
  const level = Math.cos(elevation);
  return [Math.sin(azimuth) * level, Math.sin(elevation), Math.cos(azimuth) * level];
}

export function positionOf(view: View): Vec3 {
  const [x, y, z] = directionOf(view.azimuth, view.elevation);
  const { target, distance } = view;
  return [target[0] + x * distance, target[1] + y * distance, target[2] + z * distance];
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** The camera's right and up for a direction; right is always level. */
export function axesOf(azimuth: number, elevation: number): { right: Vec3; up: Vec3 } {
  const right: Vec3 = [Math.cos(azimuth), 0, -Math.sin(azimuth)];
  const rise = Math.sin(elevation);
  return { right, up: [-Math.sin(azimuth) * rise, Math.cos(elevation), -Math.cos(azimuth) * rise] };
}

export function cornersOf(box: Box): Vec3[] {
  const corners: Vec3[] = [];
  for (const x of [box.min[0], box.max[0]])
    for (const y of [box.min[1], box.max[1]]) for (const z of [box.min[2], box.max[2]]) corners.push([x, y, z]);
  return corners;
}

interface Span {
  distance: number;
  centre: (distance: number) => number;
}

/** One axis of the fit: offsets along it, offsets towards the camera, and the slopes of the two sides of the window. */
function fitAxis(across: readonly number[], towards: readonly number[], low: number, high: number): Span {
  let top = Number.NEGATIVE_INFINITY;
  let bottom = Number.POSITIVE_INFINITY;
  for (let i = 0; i < across.length; i++) {
    const a = across[i] as number;
    const t = towards[i] as number;
    top = Math.max(top, a + high * t);
    bottom = Math.min(bottom, a - low * t);
  }
  // A point at depth (distance − towards) is inside when −low·depth ≤ across − centre ≤ high·depth.
  return {
    distance: (top - bottom) / (low + high),
    centre: (distance) => (top - high * distance + (bottom + low * distance)) / 2,
  };
}

/** The nearest view from a given direction that keeps all points inside the margins; centred in what they leave. */
export function fitView(points: readonly Vec3[], azimuth: number, elevation: number, lens: Lens, free: Margins): View {
  const back = directionOf(azimuth, elevation);
  const { right, up } = axesOf(azimuth, elevation);
  const towards = points.map((p) => dot(p, back));
  const slope = Math.tan(lens.fov / 2);
  const wide = slope * lens.aspect;
  const level = fitAxis(
    points.map((p) => dot(p, right)),
    towards,
    wide * (1 - 2 * free.left),
    wide * (1 - 2 * free.right),
  );
  const upright = fitAxis(
    points.map((p) => dot(p, up)),
    towards,
    slope * (1 - 2 * free.bottom),
    slope * (1 - 2 * free.top),
  );
  // Distances so far are measured from the plane through the origin; the target is set at the points' middle depth.
  const reach = Math.max(level.distance, upright.distance);
  const middle = (Math.max(...towards) + Math.min(...towards)) / 2;
  const x = level.centre(reach);
  const y = upright.centre(reach);
  return {
    target: [
      right[0] * x + up[0] * y + back[0] * middle,
      right[1] * x + up[1] * y + back[1] * middle,
      right[2] * x + up[2] * y + back[2] * middle,
    ],
    azimuth,
    elevation,
    distance: reach - middle,
  };
}

/** Where a point falls in the window for a view: x and y from −1 to 1, depth in scene units in front of the camera. */
export function project(point: Vec3, view: View, lens: Lens): { x: number; y: number; depth: number } {
  const { right, up } = axesOf(view.azimuth, view.elevation);
  const eye = positionOf(view);
  const offset: Vec3 = [point[0] - eye[0], point[1] - eye[1], point[2] - eye[2]];
  const depth = -dot(offset, directionOf(view.azimuth, view.elevation));
  const slope = Math.tan(lens.fov / 2);
  return { x: dot(offset, right) / (depth * slope * lens.aspect), y: dot(offset, up) / (depth * slope), depth };
}

/** The view a part `k` of the way between two: turns the short way round, and closes in evenly in ratio. */
export function blendViews(from: View, to: View, k: number): View {
  return {
    target: [
      lerp(from.target[0], to.target[0], k),
      lerp(from.target[1], to.target[1], k),
      lerp(from.target[2], to.target[2], k),
    ],
    azimuth: from.azimuth + angleBetween(from.azimuth, to.azimuth) * k,
    elevation: lerp(from.elevation, to.elevation, k),
    distance: Math.exp(lerp(Math.log(from.distance), Math.log(to.distance), k)),
  };
}

export function boxUnion(a: Box, b: Box): Box {
  return {
    min: [Math.min(a.min[0], b.min[0]), Math.min(a.min[1], b.min[1]), Math.min(a.min[2], b.min[2])],
    max: [Math.max(a.max[0], b.max[0]), Math.max(a.max[1], b.max[1]), Math.max(a.max[2], b.max[2])],
  };
}

export function boxMoved(box: Box, by: Vec3): Box {
  return {
    min: [box.min[0] + by[0], box.min[1] + by[1], box.min[2] + by[2]],
    max: [box.max[0] + by[0], box.max[1] + by[1], box.max[2] + by[2]],
  };
}
