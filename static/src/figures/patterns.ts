/*
 * The fills of data in figures: the colour and the edge or hatch that the same kind has on the stand, so that neither
 * has to be told by colour alone.
 */
import { makeSvg } from "../ui/dom";
import type { Frame } from "./frame";

export type Kind = "q" | "k" | "v" | "s" | "p" | "o" | "stat" | "plain";

const COLOURS: Readonly<Record<Kind, string>> = {
  q: "var(--q)",
  k: "var(--k)",
  v: "var(--v)",
  s: "var(--s)",
  p: "var(--s)",
  o: "var(--o)",
  stat: "var(--stat)",
  plain: "var(--edge)",
};

/** Puts the patterns of these kinds into the figure and returns the fill of each. */
export function fills(frame: Frame, kinds: readonly Kind[]): (kind: Kind) => string {
  const defs = makeSvg("defs");
  for (const kind of kinds) {
    const size = kind === "o" ? 8 : 7;
    const pattern = makeSvg("pattern", {
      id: `${frame.id}-${kind}`,
      width: size,
      height: size,
      patternUnits: "userSpaceOnUse",
      ...(kind === "k" ? { patternTransform: "rotate(45)" } : kind === "v" ? { patternTransform: "rotate(-45)" } : {}),
    });
    pattern.append(makeSvg("rect", { width: size, height: size, fill: COLOURS[kind] }), ...marks(kind, size));
    defs.append(pattern);
  }
  frame.svg.append(defs);
  return (kind) => (kinds.includes(kind) ? `url(#${frame.id}-${kind})` : COLOURS[kind]);
}

function marks(kind: Kind, size: number): SVGElement[] {
  const ink = { fill: "var(--sheet)", "fill-opacity": 0.6 };
  if (kind === "k" || kind === "v") return [makeSvg("rect", { ...ink, width: 2, height: size })];
  if (kind === "s" || kind === "p") return [makeSvg("circle", { ...ink, cx: size / 2, cy: size / 2, r: 1.4 })];
  if (kind === "o") return [makeSvg("rect", { ...ink, width: size, height: 1.6, y: size / 2 })];
  return [];
}
