/*
 * The three rooms the stand can be shown in: gallery (warm grey, daylight), dark, and projector (white ground, thick
 * outlines, no gradients). Colours are sRGB; light strengths are in the renderer's units.
 */
import type { Theme } from "./types";

export interface Room {
  /** Backdrop behind the object and towards the corners. */
  near: string;
  far: string;
  /** What faded parts turn to. */
  veil: string;
  shadow: string;
  shadowStrength: number;
  /** Strength of the studio and of the one lamp that throws shadows. */
  studio: number;
  lamp: number;
  exposure: number;
  /** Lit edges: colour, width in CSS px, opacity. */
  edge: string;
  edgeWidth: number;
  edgeOpacity: number;
  /** Lanes drawn while data flows. */
  lane: string;
  laneOpacity: number;
  /** The mark around a part that is pointed at or picked. */
  accent: string;
  /** Callouts. */
  ink: string;
  paper: string;
  line: string;
  labelPx: number;
  /** The plaque with the grid of score blocks. */
  plaque: string;
  plaqueInk: string;
}

export const ROOMS: Record<Theme, Room> = {
  gallery: {
    near: "#efebe4",
    far: "#cdc6bb",
    veil: "#cfc9bf",
    shadow: "#2c2620",
    shadowStrength: 0.62,
    studio: 0.5,
    lamp: 1.9,
    exposure: 1,
    edge: "#fff6e6",
    edgeWidth: 1.25,
    edgeOpacity: 0.75,
    lane: "#e3a070",
    laneOpacity: 0.55,
    accent: "#0072b2",
    ink: "#1f1d1a",
    paper: "rgba(250, 247, 242, 0.9)",
    line: "#4a453e",
    labelPx: 14,
    plaque: "#fbf9f5",
    plaqueInk: "#8b8479",
  },
  dark: {
    near: "#3b3e45",
    far: "#22242a",
    veil: "#2c2e34",
    shadow: "#08090b",
    shadowStrength: 0.75,
    studio: 0.5,
    lamp: 1.7,
    exposure: 1,
    edge: "#f4ead8",
    edgeWidth: 1.25,
    edgeOpacity: 0.85,
    lane: "#e3a070",
    laneOpacity: 0.6,
    accent: "#56b4e9",
    ink: "#f3f0ea",
    paper: "rgba(30, 32, 37, 0.9)",
    line: "#b9b4aa",
    labelPx: 14,
    plaque: "#2b2e35",
    plaqueInk: "#8d929c",
  },
  projector: {
    near: "#ffffff",
    far: "#ffffff",
    veil: "#e4e4e4",
    shadow: "#000000",
    shadowStrength: 0.3,
    studio: 0.75,
    lamp: 1.2,
    exposure: 1.1,
    edge: "#262626",
    edgeWidth: 2.25,
    edgeOpacity: 1,
    lane: "#ffb37a",
    laneOpacity: 0.9,
    accent: "#0072b2",
    ink: "#000000",
    paper: "#ffffff",
    line: "#000000",
    labelPx: 17,
    plaque: "#ffffff",
    plaqueInk: "#595959",
  },
};
