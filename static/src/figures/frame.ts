/*
 * The paper a figure is drawn on: an SVG with a title and a description, as wide as its place, lettering as large as the
 * text around it. Redrawn when its place or the size of the text changes.
 */
import "../../styles/touch-figures.css";
import { makeSvg } from "../ui/dom";

let figures = 0;

export interface Frame {
  svg: SVGSVGElement;
  /** Width and height in px, and the size of the lettering. */
  width: number;
  height: number;
  em: number;
  /** A name no other figure has, for patterns and clips. */
  id: string;
}

/** An empty figure of `ems` lines of text in height. */
export function frame(host: HTMLElement, ems: number, title: string, description: string): Frame {
  const id = `figure-${++figures}`;
  const width = Math.max(240, Math.floor(host.clientWidth));
  const em = parseFloat(getComputedStyle(host).fontSize) * 0.85;
  const height = Math.round(ems * em);
  const svg = makeSvg(
    "svg",
    {
      class: "figure",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-labelledby": `${id}-title ${id}-desc`,
    },
    makeSvg("title", { id: `${id}-title` }, title),
    makeSvg("desc", { id: `${id}-desc` }, description),
  );
  host.replaceChildren(svg);
  return { svg, width, height, em, id };
}

/** Draws now, and again whenever the host's width or its text size changes. Returns the call to draw again. */
export function responsive(host: HTMLElement, draw: () => void): () => void {
  let drawn = "";
  const size = () => `${Math.floor(host.clientWidth)} ${getComputedStyle(host).fontSize}`;
  const again = () => {
    // Nothing to draw on while the place is hidden; the observer calls when it shows.
    if (host.clientWidth === 0) return;
    drawn = size();
    draw();
  };
  new ResizeObserver(() => size() !== drawn && host.clientWidth > 0 && again()).observe(host);
  new MutationObserver(() => size() !== drawn && again()).observe(document.documentElement, {
    attributeFilter: ["data-theme", "class"],
  });
  again();
  return again;
}

export interface TextOptions {
  anchor?: "start" | "middle" | "end";
  class?: string;
  bold?: boolean;
}

export function label(x: number, y: number, text: string, options: TextOptions = {}): SVGTextElement {
  return makeSvg(
    "text",
    {
      x,
      y,
      "text-anchor": options.anchor ?? "start",
      ...(options.class ? { class: options.class } : {}),
      ...(options.bold ? { "font-weight": 600 } : {}),
    },
    text,
  );
}

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
  fill?: string;
  class?: string;
  rx?: number;
}

/** A bar or box; one that has no room has no size. */
export function rect({ width, height, rx = 2, ...rest }: Rect): SVGRectElement {
  return makeSvg("rect", { ...rest, rx, width: Math.max(0, width), height: Math.max(0, height) });
}

export function line(x1: number, y1: number, x2: number, y2: number, className = "rule"): SVGLineElement {
  return makeSvg("line", { x1, y1, x2, y2, class: className });
}
