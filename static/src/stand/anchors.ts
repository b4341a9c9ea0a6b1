/*
 * What can carry a callout, in which order of importance, and where its leader line ends. An anchor is a place in the
 * part's bounds; places at the front or right turn to the other side when the reader walks round.
 */
import { type Box, project, type Vec3, type View } from "../math/view";
import type { CalloutInput } from "./callouts";
import type { PackageModel, PackagePart } from "./package";
import { bodiesOf, boxPlaced, layerRise, OPENING_STACK, partBox, type Shape } from "./placement";
import { FOV } from "./poses";
import type { PoseName, StandState } from "./types";

export interface CalloutAnchor {
  id: string;
  title: string;
  rank: number;
  at: Vec3;
}

interface Authored {
  part: string;
  /** Shares of the part's bounds: across, up, towards the reader. */
  place: Vec3;
  rank: number;
  /** Only named in these poses. */
  poses?: readonly PoseName[];
}

const PARTS: readonly Authored[] = [
  { part: "gpu_die", place: [0.62, 1, 0.3], rank: 1 },
  { part: "hbm_stack_2", place: [0.62, 1, 0.68], rank: 0 },
  { part: "hbm_stack_4", place: [0.5, 1, 0.5], rank: 0, poses: ["stack"] },
  { part: "hbm_stack_5", place: [0.6, 1, 0.6], rank: 2, poses: ["stack", "exploded", "section"] },
  { part: "interposer", place: [0.8, 0.5, 1], rank: 4 },
  { part: "moulding", place: [0.42, 1, 0.975], rank: 5 },
  { part: "substrate", place: [0.8, 1, 0.975], rank: 2 },
  { part: "bga_balls", place: [0.3, 0.5, 1], rank: 6 },
  { part: "capacitors", place: [0.1, 0.9, 0.9], rank: 7 },
  { part: "base", place: [0.9, 1, 0.93], rank: 3 },
];

/** Where the die is named while tiles fly: a line from further in would lie across those on the SMs. */
const DIE_CORNER: Vec3 = [0.96, 1, 0.95];

/** Small or low: other parts often stand before them, and a name must not end on another part. */
export const EASILY_HIDDEN: ReadonlySet<string> = new Set(["bga_balls", "capacitors"]);

/** Names of what is drawn on the die rather than built as a part. */
const LEVELS = { l2: "L2 cache", sm: "One SM" } as const;

function within(box: Box, place: Vec3, azimuth: number): Vec3 {
  const x = Math.sin(azimuth) < -0.35 ? 1 - place[0] : place[0];
  const z = Math.cos(azimuth) < 0 ? 1 - place[2] : place[2];
  return [
    box.min[0] + (box.max[0] - box.min[0]) * x,
    box.min[1] + (box.max[1] - box.min[1]) * place[1],
    box.min[2] + (box.max[2] - box.min[2]) * z,
  ];
}

/** Among several bodies of a part, the middle of the one nearest to the wanted place. */
function nearestBody(boxes: readonly Box[], wanted: Vec3): Vec3 {
  let best: Vec3 = wanted;
  let nearest = Number.POSITIVE_INFINITY;
  for (const box of boxes) {
    const middle: Vec3 = [(box.min[0] + box.max[0]) / 2, box.max[1], (box.min[2] + box.max[2]) / 2];
    const away = Math.hypot(middle[0] - wanted[0], middle[2] - wanted[2]);
    if (away < nearest) [nearest, best] = [away, middle];
  }
  return best;
}

export function calloutAnchors(
  model: PackageModel,
  state: StandState,
  shape: Shape,
  azimuth: number,
  busySm: number | null,
  cut: readonly CalloutAnchor[] = [],
): CalloutAnchor[] {
  const anchors: CalloutAnchor[] = [...cut];
  const named = new Set(cut.map(({ id }) => id));
  const stack = model.parts.get(OPENING_STACK);
  const opened = stack !== undefined && shape.open > 0.5 && !shape.hidden.has(stack.id);
  if (opened && state.pose === "stack") anchors.push(...layerAnchors(stack, shape));
  for (const { part: id, place, rank, poses } of PARTS) {
    if (named.has(id) || (id.startsWith("hbm_stack") && cut.some((anchor) => anchor.id.startsWith("hbm_stack"))))
      continue;
    if (poses ? !poses.includes(state.pose) : id === "hbm_stack_2" && state.pose === "stack") continue;
    // In front of an opened stack, its layers are named and little else.
    if (opened && state.pose === "stack" && id !== "interposer" && id !== OPENING_STACK) continue;
    // While data flows, only what it passes through is named.
    if (state.flow && rank > 4) continue;
    if ((state.flow || state.pose === "section") && id === "base") continue;
    const part = model.parts.get(id);
    if (!part) continue;
    const box = partBox(part, shape);
    if (!box) continue;
    let at = within(box, state.flow && id === "gpu_die" ? DIE_CORNER : place, azimuth);
    if (id === "capacitors")
      at = nearestBody(
        bodiesOf(part, shape).map((body) => boxPlaced(body, part.group, shape)),
        at,
      );
    // One stack stands for all: the number in its own name would only puzzle.
    const title = id.startsWith("hbm_stack") ? part.title.replace(/\s*\d+$/, "") : part.title;
    anchors.push({ id, title, rank: state.lit.includes(id) ? rank - 10 : rank, at });
  }
  const levels = state.flow !== null || state.pose === "levels" || state.pose === "die";
  if (levels && shape.explode < 0.2 && !shape.hidden.has("gpu_die")) {
    const l2 = model.regions.l2[1];
    const sm = model.regions.sm[busySm ?? 80];
    if (l2)
      anchors.push({
        id: "l2",
        title: LEVELS.l2,
        rank: -2,
        at: [l2[0] + l2[2] * 0.35, model.dieTop * shape.scale, l2[1]],
      });
    if (sm)
      anchors.push({
        id: "sm",
        title: LEVELS.sm,
        rank: -1,
        at: [sm[0] + sm[2] / 2, model.dieTop * shape.scale, sm[1] + sm[3] / 2],
      });
  }
  return anchors;
}

/** Names of the layers of an opened stack, from the bottom up, and of what joins them. */
function layerAnchors(stack: PackagePart, shape: Shape): CalloutAnchor[] {
  const bodies = bodiesOf(stack, { ...shape, open: 0 });
  const largest: Box[] = [];
  const size = ({ min, max }: Box) => (max[0] - min[0]) * (max[1] - min[1]) * (max[2] - min[2]);
  const layers = stack.layers ?? [];
  if (bodies.length !== layers.length) return [];
  bodies.forEach((box, i) => {
    const layer = layers[i] as number;
    const known = largest[layer];
    if (!known || size(box) > size(known)) largest[layer] = box;
  });
  const placed = largest.map((box, layer) => {
    const rise = layerRise(layer, shape);
    const [min, max] = [box.min, box.max].map(([x, y, z]): Vec3 => [x, y + rise, z]) as [Vec3, Vec3];
    return boxPlaced({ min, max }, stack.group, shape);
  });
  const anchors = placed.map(({ min, max }, layer): CalloutAnchor => {
    const title = layer === 0 ? "Base die" : `DRAM die ${layer}`;
    return { id: `layer_${layer}`, title, rank: -5, at: [max[0], (min[1] + max[1]) / 2, max[2] - 1.5] };
  });
  const top = placed[placed.length - 2];
  // Vias and joints stand in a strip along the middle of each layer; the topmost has none.
  if (top) {
    const middle = (top.min[2] + top.max[2]) / 2;
    anchors.push({ id: "vias", title: "Vias with joints", rank: -4, at: [top.min[0] + 2.5, top.max[1], middle + 0.9] });
  }
  return anchors;
}

/** Anchors in front of the camera, in px from the host's top left. */
export function onScreen(anchors: readonly CalloutAnchor[], view: View, width: number, height: number): CalloutInput[] {
  const lens = { fov: FOV, aspect: width / height };
  const inputs: CalloutInput[] = [];
  for (const { id, title, rank, at } of anchors) {
    const place = project(at, view, lens);
    if (place.depth > 0)
      inputs.push({ id, title, rank, x: ((place.x + 1) / 2) * width, y: ((1 - place.y) / 2) * height });
  }
  return inputs;
}
