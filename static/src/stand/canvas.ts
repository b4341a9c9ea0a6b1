/* The canvas of the stand: focusable, with a role and a name, filling its host. */
export function makeCanvas(host: HTMLElement, label: string | undefined): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label ?? "Three-dimensional model. Drag or use the arrow keys to turn it.");
  Object.assign(canvas.style, { display: "block", position: "absolute", inset: "0", width: "100%", height: "100%" });
  if (getComputedStyle(host).position === "static") host.style.position = "relative";
  return canvas;
}
