/* A drawing whose units are the page's pixels: it is laid out again when the room for it changes, so text keeps its size. */
import "../../styles/figures.css";
import { makeSvg } from "../ui/dom";
import { put } from "../ui/slots";

export abstract class Sized {
  readonly svg: SVGSVGElement;
  protected width = 0;

  constructor(
    readonly host: HTMLElement,
    attributes: Record<string, string> = {},
  ) {
    this.svg = makeSvg("svg", attributes);
    host.append(this.svg);
    new ResizeObserver(() => {
      const width = Math.floor(host.clientWidth);
      if (width > 0 && width !== this.width) this.resize(width);
    }).observe(host);
  }

  protected resize(width: number): void {
    this.width = width;
    this.layout();
  }

  /** Gives the drawing its size; everything inside is drawn again by the caller. */
  protected frame(height: number): void {
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.svg.setAttribute("width", String(this.width));
    this.svg.setAttribute("height", String(height));
  }

  /** Height of the type, in pixels: the projector's theme has a larger one. */
  protected get type(): number {
    return Number.parseFloat(getComputedStyle(this.svg).fontSize);
  }

  /** Names that would leave the drawing move back into it. */
  protected keepInside(names: string): void {
    for (const text of this.svg.querySelectorAll<SVGTextElement>(names)) {
      const { x, width } = text.getBBox();
      const moved = Math.max(-x, Math.min(0, this.width - x - width));
      if (moved) text.setAttribute("dx", moved.toFixed(1));
    }
  }

  /** What is said of the drawing to those who do not see it. */
  protected say(text: string): void {
    put(this.svg, { "aria-label": text });
  }

  /** Builds what depends on the width only. */
  protected abstract layout(): void;
}
