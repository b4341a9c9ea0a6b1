/*
 * Names on the cut face: for each kind of part the plane passes through, the place on its section that is nearest to
 * where its label would like to be, so that labels spread over both sides.
 */
import type { CalloutAnchor } from "./anchors";
import type { CutFace } from "./cut-view";
import { explodeOffset } from "./explode";
import { RANK_STEP } from "./hatch";
import type { Body, PackageModel } from "./package";
import { type Plane, type Shape, scaleOfGroup } from "./placement";

interface Named {
  id: string;
  /** Left out: the part's own title. */
  title?: string;
  rank: number;
  /** Where along the face, −1 … 1 from left to right, and among several strips the higher or the lower one. */
  wanted: number;
  is: (body: Body) => boolean;
}

/** Strips narrower than this are the ends of bevels, in mm. */
const SLIVER = 0.4;
/** Names keep off the ends of what they name, in mm. */
const INSET = 1.5;
const STACK = /^hbm_stack_/;

const NAMED: readonly Named[] = [
  { id: "gpu_die", rank: 0, wanted: 0.2, is: ({ material }) => material === "die_silicon" },
  { id: "hbm", title: "HBM stack", rank: 0, wanted: -0.7, is: ({ material }) => material === "hbm_graphite" },
  {
    id: "hbm_vias",
    title: "Through-silicon vias",
    rank: 4,
    wanted: 0.62,
    is: ({ part, inside }) => inside && STACK.test(part),
  },
  { id: "interposer", rank: 1, wanted: 0.84, is: ({ material }) => material === "interposer_silicon" },
  { id: "moulding", rank: 5, wanted: 0.45, is: ({ material }) => material === "moulding" },
  { id: "microbumps", rank: 6, wanted: -0.35, is: ({ part }) => part === "microbumps" },
  { id: "c4_bumps", rank: 3, wanted: -0.8, is: ({ part }) => part === "c4_bumps" },
  { id: "substrate", rank: 1, wanted: -0.9, is: ({ material }) => material === "substrate_core" },
  {
    id: "copper_layers",
    title: "Copper layers",
    rank: 3,
    wanted: 0.97,
    is: ({ part, material, inside }) => part === "substrate" && material === "copper" && !inside,
  },
  {
    id: "board_vias",
    title: "Plated vias",
    rank: 4,
    wanted: 0.7,
    is: ({ part, inside }) => inside && part === "substrate",
  },
  { id: "bga_balls", rank: 2, wanted: -0.5, is: ({ part }) => part === "bga_balls" },
  { id: "capacitors", rank: 7, wanted: 0.9, is: ({ part }) => part === "capacitors" },
];

/** Anchors on the faces of a cut; none while the reader looks at its back. */
export function cutAnchors(
  faces: readonly CutFace[],
  plane: Plane,
  model: PackageModel,
  shape: Shape,
  azimuth: number,
): CalloutAnchor[] {
  const facing = plane.axis === 0 ? Math.sin(azimuth) : Math.cos(azimuth);
  if (facing < 0.12) return [];
  const across = plane.axis === 0 ? 2 : 0;
  const half = model.bounds.substrate.max[across];
  // A plane of x is seen with z to the left.
  const turn = plane.axis === 0 ? -1 : 1;
  const anchors: CalloutAnchor[] = [];
  for (const { id, title, rank, wanted, is } of NAMED) {
    let best: { u: number; y: number; body: Body } | null = null;
    let nearest = Number.POSITIVE_INFINITY;
    const goal = wanted * half * turn;
    for (const { body, strips, u: shiftU, y: shiftY } of faces) {
      if (!is(body)) continue;
      const wide = body.box.max[across] - body.box.min[across] > 4 * SLIVER;
      for (const { u0, low0, high0, u1, low1, high1 } of strips) {
        const inset = Math.min((u1 - u0) / 4, INSET);
        const u = Math.min(Math.max(goal - shiftU, u0 + inset), u1 - inset);
        const k = (u - u0) / (u1 - u0);
        const low = low0 + (low1 - low0) * k;
        const high = high0 + (high1 - high0) * k;
        // Thick places are easier to point at, and the slivers at rounded ends are not the part.
        const sliver = wide && u1 - u0 < SLIVER ? 4 : 0;
        const away = Math.abs(u + shiftU - goal) - Math.min(1.5, high - low) * 0.4 + sliver;
        if (away < nearest) [nearest, best] = [away, { u: u + shiftU, y: (low + high) / 2 + shiftY, body }];
      }
    }
    if (!best) continue;
    const { body, u, y } = best;
    const offset = explodeOffset(body.group, shape.explode);
    const at: [number, number, number] = [0, y * scaleOfGroup(body.group, shape) + offset[1], 0];
    at[plane.axis] = plane.at + 3 * RANK_STEP + offset[plane.axis];
    at[across] = u + offset[across];
    anchors.push({
      id: id === "hbm" ? body.part : id,
      title: title ?? model.parts.get(body.part)?.title ?? id,
      rank,
      at,
    });
  }
  return anchors;
}
