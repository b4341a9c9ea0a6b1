/*
 * Callouts on the screen: HTML labels over the canvas, so that they stay upright and sharp, and SVG leader lines to the
 * parts. Decoration for the eye only: every name is also in the page's list of parts.
 */
import { type Anchor, layoutCallouts, type Placed } from "./callout-layout";
import type { Room } from "./themes";

const SVG = "http://www.w3.org/2000/svg";
/** Hosts narrower than this carry fewer labels, in px. */
const NARROW = 520;
/** Hosts as tall as this may carry more labels a side, in px: names on a cut face, layers of an opened stack. */
const TALL = 420;

export interface CalloutInput {
  id: string;
  title: string;
  rank: number;
  /** Anchor in px from the host's top left. */
  x: number;
  y: number;
}

interface Drawn {
  label: HTMLDivElement;
  halo: SVGLineElement;
  line: SVGLineElement;
  dot: SVGCircleElement;
  width: number;
  height: number;
}

export class Callouts {
  private readonly root = document.createElement("div");
  private readonly lines = document.createElementNS(SVG, "svg");
  private readonly drawn = new Map<string, Drawn>();
  private readonly sides = new Map<string, "left" | "right">();
  private room: Room | null = null;

  constructor(host: HTMLElement) {
    this.root.setAttribute("aria-hidden", "true");
    this.root.className = "stand-callouts";
    Object.assign(this.root.style, { position: "absolute", inset: "0", overflow: "hidden", pointerEvents: "none" });
    Object.assign(this.lines.style, { position: "absolute", inset: "0", width: "100%", height: "100%" });
    this.root.append(this.lines);
    host.append(this.root);
  }

  setRoom(room: Room): void {
    this.room = room;
    for (const drawn of this.drawn.values()) this.dress(drawn, room);
  }

  /** Shows these and no others; `bright` holds ids to be set off. */
  show(inputs: readonly CalloutInput[], width: number, height: number, bright: ReadonlySet<string>): void {
    const narrow = width < NARROW;
    const chosen = narrow ? [...inputs].sort((a, b) => a.rank - b.rank).slice(0, 4) : inputs;
    const anchors: Anchor[] = chosen.map((input) => {
      const drawn = this.drawn.get(input.id) ?? this.make(input.id);
      if (drawn.label.textContent !== input.title) {
        drawn.label.textContent = input.title;
        this.measure(drawn);
      }
      return { id: input.id, x: input.x, y: input.y, width: drawn.width, height: drawn.height, rank: input.rank };
    });
    const placed = layoutCallouts(
      anchors,
      { width, height, edge: 12, gap: 8, perColumn: narrow ? 2 : height < TALL ? 5 : 9 },
      this.sides,
    );
    const shown = new Set(placed.map(({ id }) => id));
    for (const [id, drawn] of this.drawn) if (!shown.has(id)) toggle(drawn, false);
    for (const place of placed) this.put(place, bright.has(place.id));
  }

  dispose(): void {
    this.root.remove();
  }

  private put(place: Placed, bright: boolean): void {
    const drawn = this.drawn.get(place.id) as Drawn;
    toggle(drawn, true);
    drawn.label.style.transform = `translate(${place.left.toFixed(1)}px, ${place.top.toFixed(1)}px)`;
    drawn.label.style.fontWeight = bright ? "700" : "500";
    for (const line of [drawn.halo, drawn.line]) {
      line.setAttribute("x1", place.lineX.toFixed(1));
      line.setAttribute("y1", place.lineY.toFixed(1));
      line.setAttribute("x2", place.anchorX.toFixed(1));
      line.setAttribute("y2", place.anchorY.toFixed(1));
    }
    drawn.dot.setAttribute("cx", place.anchorX.toFixed(1));
    drawn.dot.setAttribute("cy", place.anchorY.toFixed(1));
  }

  private make(id: string): Drawn {
    const label = document.createElement("div");
    label.dataset.callout = id;
    Object.assign(label.style, {
      position: "absolute",
      left: "0",
      top: "0",
      boxSizing: "border-box",
      textAlign: "center",
      whiteSpace: "pre",
      padding: "2px 8px",
      borderRadius: "4px",
      lineHeight: "1.35",
    });
    const halo = document.createElementNS(SVG, "line");
    const line = document.createElementNS(SVG, "line");
    const dot = document.createElementNS(SVG, "circle");
    const drawn: Drawn = { label, halo, line, dot, width: 0, height: 0 };
    this.root.append(label);
    this.lines.append(halo, line, dot);
    this.drawn.set(id, drawn);
    if (this.room) this.dress(drawn, this.room);
    return drawn;
  }

  private dress(drawn: Drawn, room: Room): void {
    Object.assign(drawn.label.style, {
      color: room.ink,
      background: room.paper,
      fontSize: `${room.labelPx}px`,
      boxShadow: `inset 0 0 0 1px ${room.line}33`,
    });
    drawn.halo.setAttribute("stroke", room.paper);
    drawn.halo.setAttribute("stroke-width", "3.5");
    drawn.line.setAttribute("stroke", room.line);
    drawn.line.setAttribute("stroke-width", "1.25");
    drawn.dot.setAttribute("r", "3.5");
    drawn.dot.setAttribute("fill", room.line);
    drawn.dot.setAttribute("stroke", room.paper);
    drawn.dot.setAttribute("stroke-width", "1.5");
    this.measure(drawn);
  }

  private measure(drawn: Drawn): void {
    if (!drawn.label.textContent) return;
    drawn.label.style.display = "";
    // Bold is the widest a label gets; measured so, it never outgrows its place.
    const weight = drawn.label.style.fontWeight;
    drawn.label.style.width = "";
    drawn.label.style.fontWeight = "700";
    drawn.width = Math.ceil(drawn.label.offsetWidth);
    drawn.height = Math.ceil(drawn.label.offsetHeight);
    drawn.label.style.fontWeight = weight;
    drawn.label.style.width = `${drawn.width}px`;
  }
}

function toggle(drawn: Drawn, on: boolean): void {
  const display = on ? "" : "none";
  for (const element of [drawn.label, drawn.halo, drawn.line, drawn.dot])
    if (element.style.display !== display) element.style.display = display;
}
