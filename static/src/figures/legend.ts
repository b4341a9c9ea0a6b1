/* One entry of a legend: how a curve or a band looks, and its name; used where the curves have no room for names. */
import { make, makeSvg } from "../ui/dom";
import type { PanelCurve } from "./log-panel";

export function legendItem(curve: PanelCurve): HTMLLIElement {
  const key = makeSvg("svg", { width: 34, height: 14, "aria-hidden": "true" });
  const stroke = {
    stroke: curve.color,
    "stroke-width": 2.25,
    ...(curve.dash ? { "stroke-dasharray": curve.dash } : {}),
  };
  if (curve.kind === "band") {
    key.append(
      makeSvg("rect", { x: 1, y: 2, width: 32, height: 10, fill: curve.color, "fill-opacity": 0.16, ...stroke }),
    );
  } else key.append(makeSvg("line", { x1: 1, x2: 33, y1: 7, y2: 7, ...stroke }));
  const edges = curve.edges ? ` (below: ${curve.edges[0]}; above: ${curve.edges[1]})` : "";
  return make("li", {}, key, `${curve.label}${edges}`);
}

/** An entry for a plain line. */
export function legendLine(name: string, look: Readonly<Record<string, string>>): HTMLLIElement {
  const key = makeSvg("svg", { width: 34, height: 14, "aria-hidden": "true" });
  key.append(makeSvg("line", { x1: 1, x2: 33, y1: 7, y2: 7, ...look }));
  return make("li", {}, key, name);
}

/** An entry for a mark, drawn around 0, 0. */
export function legendMark(name: string, mark: SVGElement): HTMLLIElement {
  const key = makeSvg("svg", { width: 34, height: 18, viewBox: "-17 -9 34 18", "aria-hidden": "true" });
  key.append(mark);
  return make("li", {}, key, name);
}
