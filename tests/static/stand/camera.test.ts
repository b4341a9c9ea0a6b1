/* The camera: whole pictures from every pose, flights that stay outside matter, take-over and return. */
import { describe, expect, it } from "vitest";
import { type Box, boxMoved, boxUnion, cornersOf, positionOf, project, type View } from "../../../static/src/math/view";
import { CameraRig } from "../../../static/src/stand/camera";
import { explodeOffset, GROUPS, type GroupName } from "../../../static/src/stand/explode";
import { type Bounds, FOV, freeMargins, POSES, poseView } from "../../../static/src/stand/poses";
import type { PoseName } from "../../../static/src/stand/types";

/** About the package, in mm: base, board, plate, moulding, die, two rows of stacks. */
const groups: Record<GroupName, Box> = {
  base: { min: [-55, -7.5, -45], max: [55, 0.2, 45] },
  substrate: { min: [-30, 0, -30], max: [30, 7.6, 30] },
  interposer: { min: [-25.5, 6.8, -18], max: [25.5, 7.6, 18] },
  moulding: { min: [-25.3, 7.5, -17.8], max: [25.3, 10.5, 17.8] },
  gpu_die: { min: [-13, 7.6, -15.6], max: [13, 10.5, 15.6] },
  stacks_left: { min: [-25, 7.6, -15.8], max: [-13.8, 10.5, 15.8] },
  stacks_right: { min: [13.8, 7.6, -15.8], max: [25, 10.5, 15.8] },
};
const bounds: Bounds = {
  groups,
  plaque: [
    [-14, 20, -15],
    [14, 20, -15],
    [-14, 45, -28],
    [14, 45, -28],
  ],
};
const names = Object.keys(POSES) as PoseName[];
const view = (pose: PoseName, explode = 0, aspect = 760 / 720): View =>
  poseView(pose, bounds, explode, { fov: FOV, aspect }, freeMargins(760, 760 / aspect, true), pose === "grid");

const matter = (explode: number): Box[] => GROUPS.map((name) => boxMoved(groups[name], explodeOffset(name, explode)));
const inside = (box: Box, point: readonly number[]) =>
  point.every((x, i) => x > (box.min[i] as number) - 2 && x < (box.max[i] as number) + 2);

describe.each([1 / 1.3, 1, 760 / 720, 16 / 9, 2])("in a window of aspect %f", (aspect) => {
  it.each([0, 0.5, 1])("shows the whole object from hero and exploded, at explode %f", (explode) => {
    const lens = { fov: FOV, aspect };
    for (const pose of ["hero", "exploded"] as const)
      for (const corner of matter(explode).flatMap(cornersOf)) {
        const { x, y } = project(corner, view(pose, explode, aspect), lens);
        expect(Math.abs(x)).toBeLessThan(1);
        expect(Math.abs(y)).toBeLessThan(1);
      }
  });

  it("shows all of the stacks and the die while data flows, and the plaque with the grid", () => {
    const lens = { fov: FOV, aspect };
    const top = ["gpu_die", "stacks_left", "stacks_right"].map((name) => groups[name as GroupName]).reduce(boxUnion);
    for (const pose of ["flow", "levels", "grid"] as const)
      for (const corner of [...cornersOf(top), ...(pose === "grid" ? bounds.plaque : [])]) {
        const { x, y } = project(corner, view(pose, 0, aspect), lens);
        expect(Math.abs(x)).toBeLessThan(1);
        expect(Math.abs(y)).toBeLessThan(1);
      }
  });
});

function flight(from: PoseName, to: PoseName, explode: number): View[] {
  let pose = from;
  const rig = new CameraRig(() => view(pose, explode));
  pose = to;
  rig.goHome(1000, false);
  return Array.from({ length: 100 }, (_, i) => rig.update(1000 + i * 10));
}

it.each([0, 0.4, 1])("flies between all poses outside all matter and above the ground, at explode %f", (explode) => {
  for (const from of names)
    for (const to of names)
      for (const { target, azimuth, elevation, distance } of flight(from, to, explode)) {
        const eye = positionOf({ target, azimuth, elevation, distance });
        expect(matter(explode).some((box) => inside(box, eye))).toBe(false);
        expect(eye[1]).toBeGreaterThan(0);
      }
});

it("takes 0.5 to 0.9 seconds and then rests on the pose", () => {
  for (const [from, to] of [
    ["hero", "hero"],
    ["hero", "die"],
    ["stack", "flow"],
  ] as const) {
    let pose: PoseName = from;
    const rig = new CameraRig(() => view(pose));
    pose = to;
    rig.goHome(0, false);
    rig.update(499);
    expect(rig.flying).toBe(true);
    rig.update(901);
    expect(rig.flying).toBe(false);
    expect(rig.update(902)).toEqual(view(to));
  }
});

it("cuts where motion is not wanted", () => {
  let pose: PoseName = "hero";
  const rig = new CameraRig(() => view(pose));
  pose = "die";
  rig.goHome(0, true);
  expect(rig.flying).toBe(false);
  expect(rig.view).toEqual(view("die"));
});

describe("in the reader's hands", () => {
  it("stays where it was put while levers move, and goes home when asked", () => {
    let explode = 0;
    const rig = new CameraRig(() => view("hero", explode));
    rig.orbit(0.4, 0.1, 0.9);
    const own = rig.view;
    expect(rig.taken).toBe(true);
    explode = 1;
    expect(rig.update(5000)).toEqual(own);
    rig.goHome(6000, false);
    expect(rig.taken).toBe(false);
    expect(rig.update(7000)).toEqual(view("hero", 1));
  });

  it("cannot be taken under the ground, over the pole, into the object or out of sight", () => {
    const rig = new CameraRig(() => view("hero"));
    for (const [rise, zoom] of [
      [-9, 1],
      [9, 1],
      [0, 1e-6],
      [0, 1e6],
    ] as const) {
      rig.orbit(0, rise, zoom);
      expect(rig.view.elevation).toBeGreaterThan(0.05);
      expect(rig.view.elevation).toBeLessThan(Math.PI / 2);
      expect(rig.view.distance).toBeGreaterThan(view("hero").distance * 0.4);
      expect(rig.view.distance).toBeLessThan(view("hero").distance * 2);
      expect(matter(0).some((box) => inside(box, positionOf(rig.view)))).toBe(false);
    }
  });

  it("breaks off a flight where it is", () => {
    let pose: PoseName = "hero";
    const rig = new CameraRig(() => view(pose));
    pose = "die";
    rig.goHome(0, false);
    const midway = rig.update(250);
    rig.orbit(0, 0, 1);
    expect(rig.flying).toBe(false);
    expect(rig.update(600).azimuth).toBe(midway.azimuth);
  });
});

it("leaves more room at the sides for callouts than without, and never more than a fifth", () => {
  for (const width of [390, 520, 760, 1600]) {
    const [bare, named] = [freeMargins(width, 600, false), freeMargins(width, 600, true)];
    expect(named.left).toBeGreaterThanOrEqual(bare.left);
    expect(named.left + named.right).toBeLessThan(0.2);
  }
});
