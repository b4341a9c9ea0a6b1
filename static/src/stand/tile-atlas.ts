/*
 * Faces of the data tiles, drawn once on a canvas: a letter, a colour and an edge pattern for each matrix, so that
 * they can be told apart without colour. Okabe–Ito values, the same as in text and figures.
 */
import { CanvasTexture, SRGBColorSpace } from "three";
import type { Tensor } from "./types";

type Edge = "solid" | "hatched" | "dotted" | "double" | "plain";

interface Face {
  letter: string;
  colour: string;
  ink: string;
  edge: Edge;
}

export const FACES: Record<Tensor, Face> = {
  q: { letter: "Q", colour: "#0072b2", ink: "#ffffff", edge: "solid" },
  k: { letter: "K", colour: "#e69f00", ink: "#1c1400", edge: "hatched" },
  v: { letter: "V", colour: "#009e73", ink: "#00150f", edge: "hatched" },
  s: { letter: "S", colour: "#d55e00", ink: "#ffffff", edge: "dotted" },
  p: { letter: "P", colour: "#d55e00", ink: "#ffffff", edge: "dotted" },
  o: { letter: "O", colour: "#cc79a7", ink: "#2b0a1c", edge: "double" },
  lse: { letter: "", colour: "#999999", ink: "#1c1c1c", edge: "plain" },
};

export const ATLAS_ORDER: readonly Tensor[] = ["q", "k", "v", "s", "p", "o", "lse"];

/** Cells of the atlas: 4 × 2, each this many pixels. */
const CELL = 128;
export const ATLAS_COLUMNS = 4;
export const ATLAS_ROWS = 2;
const BAND = 15;

export function drawAtlas(): CanvasTexture {
  const canvas = document.createElement("canvas");
  canvas.width = CELL * ATLAS_COLUMNS;
  canvas.height = CELL * ATLAS_ROWS;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no 2D canvas to draw the tile faces on");
  ATLAS_ORDER.forEach((tensor, i) => {
    context.save();
    context.translate((i % ATLAS_COLUMNS) * CELL, Math.floor(i / ATLAS_COLUMNS) * CELL);
    context.beginPath();
    context.rect(0, 0, CELL, CELL);
    context.clip();
    drawFace(context, FACES[tensor]);
    context.restore();
  });
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = 8;
  return texture;
}

function drawFace(context: CanvasRenderingContext2D, face: Face): void {
  context.fillStyle = face.colour;
  context.fillRect(0, 0, CELL, CELL);
  drawEdge(context, face);
  if (!face.letter) return;
  context.fillStyle = face.ink;
  context.font = "700 84px 'Liberation Sans', Arial, Helvetica, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const box = context.measureText(face.letter);
  const rise = (box.actualBoundingBoxAscent - box.actualBoundingBoxDescent) / 2;
  context.fillText(face.letter, CELL / 2, CELL / 2 + rise);
}

function drawEdge(context: CanvasRenderingContext2D, face: Face): void {
  context.strokeStyle = face.ink;
  context.fillStyle = face.ink;
  if (face.edge === "solid") {
    context.lineWidth = 7;
    context.strokeRect(10, 10, CELL - 20, CELL - 20);
  } else if (face.edge === "double") {
    context.lineWidth = 4;
    context.strokeRect(6, 6, CELL - 12, CELL - 12);
    context.strokeRect(16, 16, CELL - 32, CELL - 32);
  } else if (face.edge === "dotted") {
    const steps = 8;
    const pitch = (CELL - 20) / steps;
    for (let i = 0; i <= steps; i++)
      for (const [x, y] of [
        [10 + i * pitch, 10],
        [10 + i * pitch, CELL - 10],
        [10, 10 + i * pitch],
        [CELL - 10, 10 + i * pitch],
      ] as const) {
        context.beginPath();
        context.arc(x, y, 4, 0, 2 * Math.PI);
        context.fill();
      }
  } else if (face.edge === "hatched") {
    context.save();
    context.beginPath();
    context.rect(0, 0, CELL, CELL);
    context.rect(BAND, BAND, CELL - 2 * BAND, CELL - 2 * BAND);
    context.clip("evenodd");
    context.lineWidth = 5;
    // The two hatched kinds lean opposite ways.
    const lean = face.letter === "K" ? 1 : -1;
    for (let x = -CELL; x < 2 * CELL; x += 14) {
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x + lean * CELL, CELL);
      context.stroke();
    }
    context.restore();
  }
}
