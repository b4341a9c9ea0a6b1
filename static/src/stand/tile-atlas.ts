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
  /** A gradient: the letter of its matrix between two bars. */
  barred?: boolean;
  /** A sum still growing in 32 bits: its letter underlined. */
  growing?: boolean;
}

const Q: Face = { letter: "Q", colour: "#0072b2", ink: "#ffffff", edge: "solid" };
const K: Face = { letter: "K", colour: "#e69f00", ink: "#1c1400", edge: "hatched" };
const V: Face = { letter: "V", colour: "#009e73", ink: "#00150f", edge: "hatched" };
const S: Face = { letter: "S", colour: "#d55e00", ink: "#ffffff", edge: "dotted" };
const P: Face = { ...S, letter: "P" };
const O: Face = { letter: "O", colour: "#cc79a7", ink: "#2b0a1c", edge: "double" };
const STATISTICS: Face = { letter: "", colour: "#999999", ink: "#1c1c1c", edge: "plain" };
/** Row statistics are strips: what stands on them is named as in the papers. */
const strip = (letter: string): Face => ({ ...STATISTICS, letter });
/** A gradient looks like what it is the gradient of. */
const gradient = (face: Face): Face => ({ ...face, letter: `d${face.letter}`, barred: true });
const growing = (face: Face): Face => ({ ...face, growing: true });

export const FACES: Record<Tensor, Face> = {
  q: Q,
  k: K,
  v: V,
  s: S,
  p: P,
  o: O,
  o_acc: growing(O),
  stats: strip("m ℓ"),
  lse: strip("L"),
  delta: strip("D"),
  do: gradient(O),
  dq: gradient(Q),
  dq_acc: growing(gradient(Q)),
  dk: gradient(K),
  dv: gradient(V),
  dp: gradient(P),
  ds: gradient(S),
};

export const ATLAS_ORDER = Object.keys(FACES) as Tensor[];

/** Side of a cell of the atlas in pixels, and how many there are. */
const CELL = 128;
export const ATLAS_COLUMNS = 4;
export const ATLAS_ROWS = 5;
const BAND = 15;
/** Depth of a strip of row statistics as a share of a tile's. */
export const STRIP_DEPTH = 0.3;

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
  context.fillStyle = face.ink;
  context.font = `700 ${face.letter.length > 1 ? 58 : 84}px 'Liberation Sans', Arial, Helvetica, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  if (face.edge === "plain") {
    // Drawn tall: a strip is a slab pressed flat.
    context.setTransform(
      context
        .getTransform()
        .translate(CELL / 2, CELL / 2)
        .scale(0.42, 0.42 / STRIP_DEPTH),
    );
    context.fillText(face.letter, 0, 22);
    return;
  }
  const box = context.measureText(face.letter);
  const rise = (box.actualBoundingBoxAscent - box.actualBoundingBoxDescent) / 2;
  const middle = CELL / 2 + rise;
  context.fillText(face.letter, CELL / 2, middle);
  if (face.barred) for (const y of [middle - 60, middle + 12]) context.fillRect(CELL / 2 - 36, y, 72, 6);
  if (face.growing) context.fillRect(CELL / 2 - 36, middle + (face.barred ? 22 : 12), 72, 6);
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
    const lean = face.letter.endsWith("K") ? 1 : -1;
    for (let x = -CELL; x < 2 * CELL; x += 14) {
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x + lean * CELL, CELL);
      context.stroke();
    }
    context.restore();
  }
}
