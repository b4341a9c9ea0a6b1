/*
 * The die close-up: the plaque with the block diagram that rises over the die at the die's size, and the SM that opens
 * into its four quarters. Fetched when it is first asked for. Says what is under a ray, what carries a callout, and what
 * the camera has to keep in view; holds no camera and no page.
 */
import { Color, Group, Matrix4, Vector3 } from "three";
import { Damper } from "../math/damper";
import { lerp } from "../math/scalar";
import type { Box, Vec3 } from "../math/view";
import type { CalloutAnchor } from "./anchors";
import { DiagramBoard } from "./diagram-board";
import { type Cell, type DiagramFacts, diagramCells, HEADER, holds, pickAt, SM_BOARD, smCells } from "./diagram-layout";
import { LineMaterial, LineSet } from "./lines";
import type { PackageModel } from "./package";
import type { Room } from "./themes";
import type { DiePick, Part } from "./types";

/** How high the plaque floats over the die, and how far it leans towards the reader. */
const LIFT = 10;
const LEAN = 0.12;
/** The opened SM: over the plaque, leaning further, where it leaves its own place in view: height and place along z. */
const SM_LEAN = 0.62;
const SM_BEHIND = [8.5, -8.5] as const;
const SM_BEFORE = [4, 17] as const;
/** The SM that stands for all where none is picked: one that is in use, near the reader. */
const TYPICAL_SM = 98;
/** Where a name ends in a field that has writing in its middle: this far inside its edge, in mm. */
const BESIDE = 0.7;

export interface DiagramWish {
  plaque: boolean;
  die: DiePick | null;
  /** Levels and regions to light. */
  lit: readonly string[];
}

export class DiagramView {
  readonly group = new Group();
  private readonly plaque: DiagramBoard;
  private readonly sm: DiagramBoard;
  private readonly rise = new Damper(0, 700);
  private readonly opening = new Damper(0, 500);
  private readonly lineLook = new LineMaterial(0.02);
  private readonly lines = new LineSet(this.lineLook.material, 8);
  private readonly facts: DiagramFacts;
  private wish: DiagramWish = { plaque: false, die: null, lit: [] };
  /** The SM whose board is shown, also while it closes. */
  private opened: Cell;
  private hovered: DiePick | null = null;

  constructor(private readonly model: PackageModel) {
    this.facts = model.diagram;
    const die = model.bounds.gpu_die;
    const cells = diagramCells(model.regions, this.facts);
    this.plaque = new DiagramBoard(cells, die.max[0] - die.min[0], die.max[2] - die.min[2], (context) =>
      writePlaque(context, cells),
    );
    const inside = smCells(this.facts);
    this.sm = new DiagramBoard(inside, SM_BOARD.w, SM_BOARD.d, (context) => writeSm(context, inside, this.facts));
    this.sm.setOrder(2);
    this.lines.mesh.renderOrder = 11;
    this.plaque.group.rotation.x = LEAN;
    this.sm.group.rotation.x = SM_LEAN;
    this.opened = this.smCell(TYPICAL_SM);
    this.group.add(this.plaque.group, this.sm.group, this.lines.mesh);
  }

  /** `cut`: be there at once. */
  set(wish: DiagramWish, cut: boolean): void {
    this.wish = wish;
    const open = this.openSm;
    if (open !== null) this.opened = this.smCell(open);
    this.rise.goal = wish.plaque ? 1 : 0;
    this.opening.goal = open === null ? 0 : 1;
    if (cut) {
      this.rise.finish();
      this.opening.finish();
    }
    this.paint();
  }

  /** The SM to be shown open: the one picked, or a typical one where what is inside is spoken of. */
  private get openSm(): number | null {
    const { die, lit } = this.wish;
    if (die) return die.kind === "sm" ? die.index : null;
    return lit.includes("smem") || lit.includes("rmem") ? TYPICAL_SM : null;
  }

  setRoom(room: Room): void {
    this.plaque.setRoom(room);
    this.sm.setRoom(room);
    this.lineLook.look.tint.value = new Color(room.accent);
    this.lineLook.look.width.value = room.edgeWidth;
  }

  resize(width: number, height: number): void {
    this.lineLook.resize(width, height);
  }

  /** Moves on and places everything; `dieTop`: height of the die's top in the world. True while something moves. */
  update(deltaMs: number, dieTop: number): boolean {
    const rise = this.rise.update(deltaMs);
    const open = this.opening.update(deltaMs);
    this.plaque.opacity = Math.min(1, rise * 1.6);
    this.plaque.group.position.set(0, dieTop + 0.4 + LIFT * rise, 0);
    this.plaque.group.updateMatrixWorld(true);
    this.sm.opacity = Math.min(1, open * 1.4);
    this.sm.group.scale.setScalar(lerp(0.12, 1, open));
    const from = this.placeOf(this.opened, dieTop, rise);
    this.openedAt = from;
    const [high, z] = this.smPlace;
    const to: Vec3 = [0, dieTop + LIFT * rise + high, z];
    this.sm.group.position.set(lerp(from[0], to[0], open), lerp(from[1], to[1], open), lerp(from[2], to[2], open));
    this.group.updateMatrixWorld(true);
    this.connect(dieTop, rise, open);
    return !this.rise.resting || !this.opening.resting;
  }

  private get smPlace(): readonly [number, number] {
    return this.opened.z < 0 ? SM_BEFORE : SM_BEHIND;
  }

  get shown(): boolean {
    return this.plaque.group.visible || this.sm.group.visible || this.rise.goal > 0 || this.opening.goal > 0;
  }

  /** What the camera keeps in view: where the boards will be. */
  boxes(dieTop: number): Box[] {
    const boxes: Box[] = [];
    const half = [this.plaque.width / 2 + 1, this.plaque.depth / 2 + 1] as const;
    if (this.wish.plaque)
      boxes.push({ min: [-half[0], dieTop + LIFT - 1.5, -half[1]], max: [half[0], dieTop + LIFT + 1.5, half[1]] });
    if (this.opening.goal > 0) {
      const [over, z] = this.smPlace;
      const y = dieTop + (this.wish.plaque ? LIFT : 0) + over;
      const [deep, high] = [(SM_BOARD.d / 2) * Math.cos(SM_LEAN), (SM_BOARD.d / 2) * Math.sin(SM_LEAN)];
      // Two slim boxes along its upper and lower edge: the box around a leaning board would be mostly air.
      for (const edge of [-1, 1]) {
        const at: Vec3 = [0, y - edge * high, z + edge * deep];
        boxes.push({
          min: [-SM_BOARD.w / 2 - 1, at[1] - 0.5, at[2] - 0.5],
          max: [SM_BOARD.w / 2 + 1, at[1] + 0.5, at[2] + 0.5],
        });
      }
    }
    return boxes;
  }

  /** What a tap along a ray means; undefined where the ray meets neither board. */
  hit(from: Vec3, along: Vec3): DiePick | null | undefined {
    if (this.opening.value > 0.5 && this.localAt(this.sm, from, along)) return this.wish.die;
    if (this.rise.value < 0.5) return undefined;
    const at = this.localAt(this.plaque, from, along);
    return at ? pickAt(this.plaque.cells, at.x, at.z, this.wish.die) : undefined;
  }

  /** Marks what a tap would pick. True when that changed. */
  hover(pick: DiePick | null): boolean {
    if (pick?.kind === this.hovered?.kind && pick?.index === this.hovered?.index) return false;
    this.hovered = pick;
    this.paint();
    return true;
  }

  /** What is said about a region, as about any other part. */
  partOf(pick: DiePick): Part {
    return partOf(this.facts, pick);
  }

  anchors(): CalloutAnchor[] {
    return this.opening.goal > 0 ? this.smAnchors() : this.plaqueAnchors();
  }

  dispose(): void {
    this.plaque.dispose();
    this.sm.dispose();
    this.lines.dispose();
    this.lineLook.material.dispose();
  }

  private smCell(index: number): Cell {
    return this.cellOf({ kind: "sm", index }) ?? (this.plaque.cells.find(({ kind }) => kind === "sm") as Cell);
  }

  private cellOf({ kind, index }: DiePick): Cell | undefined {
    return this.plaque.cells.find((cell) => cell.kind === kind && cell.index === index);
  }

  /** Where an SM is seen: on the raised plaque, or on the die itself. */
  private placeOf(cell: Cell, dieTop: number, rise: number): Vec3 {
    if (this.wish.plaque || rise > 0.5) {
      const at = new Vector3(cell.x, cell.high, cell.z).applyMatrix4(this.plaque.group.matrixWorld);
      return [at.x, at.y, at.z];
    }
    const [x, z] = this.model.regions.sm[cell.index] ?? [0, 0];
    return [x, dieTop + 0.1, z];
  }

  /** Thin lines from the die's corners to the plaque's, and from the SM's place to its board's. */
  private connect(dieTop: number, rise: number, open: number): void {
    const die = this.model.bounds.gpu_die;
    let at = 0;
    const line = (a: Vec3, b: Vec3, opacity: number) => {
      this.lines.segment(at, a, b);
      this.lines.colour(at++, -1, 0, 0, opacity);
    };
    const corner = (board: DiagramBoard, sx: number, sz: number): Vec3 => {
      const p = new Vector3((board.width / 2) * sx, 0, (board.depth / 2) * sz).applyMatrix4(board.group.matrixWorld);
      return [p.x, p.y, p.z];
    };
    for (const sx of [-1, 1])
      for (const sz of [-1, 1]) {
        if (rise > 0.01) {
          const x = sx < 0 ? die.min[0] : die.max[0];
          const z = sz < 0 ? die.min[2] : die.max[2];
          line([x, dieTop, z], corner(this.plaque, sx, sz), 0.5 * rise);
        }
        if (open > 0.01) line(this.placeOf(this.opened, dieTop, rise), corner(this.sm, sx, sz), 0.7 * open);
      }
    this.lines.count = at;
  }

  private paint(): void {
    const { die, lit } = this.wish;
    const cells = this.plaque.cells;
    this.plaque.look((cell) => {
      const picked = die !== null && holds(die, cell, cells);
      const own = die !== null && cell.kind === die.kind && cell.index === die.index;
      const pointed = this.hovered !== null && cell.kind === this.hovered.kind && cell.index === this.hovered.index;
      const structure = cell.kind === "gpc" || cell.kind === "tpc" || cell.kind === "sm";
      return {
        lit: lit.includes(cell.kind) && cell.used ? 1 : picked && cell.used && cell.kind === "sm" ? 0.8 : 0,
        marked: own ? 1 : pointed ? 0.55 : 0,
        faded: die !== null && structure && !picked && !this.around(cell, die) ? 0.6 : 0,
      };
    });
    this.sm.look((cell) => ({
      lit: lit.includes(cell.kind) ? 1 : 0,
      marked: lit.includes(cell.kind) ? 1 : 0,
      faded: 0,
    }));
  }

  /** Whether a cell holds what is picked. */
  private around(cell: Cell, die: DiePick): boolean {
    const inner = this.cellOf(die);
    if (!inner || (cell.kind !== "gpc" && cell.kind !== "tpc")) return false;
    return holds({ kind: cell.kind, index: cell.index }, inner, this.plaque.cells);
  }

  private localAt(board: DiagramBoard, from: Vec3, along: Vec3): Vector3 | null {
    const back = new Matrix4().copy(board.group.matrixWorld).invert();
    const eye = new Vector3(...from).applyMatrix4(back);
    const ahead = new Vector3(from[0] + along[0], from[1] + along[1], from[2] + along[2]).applyMatrix4(back).sub(eye);
    if (ahead.y > -1e-9) return null;
    const at = eye.addScaledVector(ahead, (0.4 - eye.y) / ahead.y);
    return Math.abs(at.x) <= board.width / 2 && Math.abs(at.z) <= board.depth / 2 ? at : null;
  }

  private plaqueAnchors(): CalloutAnchor[] {
    if (!this.wish.plaque) return [];
    const { cells } = this.plaque;
    const { in_use: used } = this.facts;
    const all = (kind: Cell["kind"]) => cells.filter((cell) => cell.kind === kind);
    const place = (cell: Cell | undefined, dx = 0, dz = 0): Vec3 => {
      const at = new Vector3((cell?.x ?? 0) + dx, 0.5, (cell?.z ?? 0) + dz).applyMatrix4(this.plaque.group.matrixWorld);
      return [at.x, at.y, at.z];
    };
    const [gpcs, tpcs, sms, controllers] = [all("gpc"), all("tpc"), all("sm"), all("memory_controller")];
    const off = sms.find((cell) => !cell.used && cell.x > 0);
    const pairs = controllers.length / 2;
    const shown = tpcs.filter(({ used: on, x, z }) => on && x < 0 && z > 0);
    // Beside what is written there.
    const [gpc, l2] = [gpcs[0], all("l2")[1]];
    const named: [string, string, number, Vec3][] = [
      [
        "plaque_gpc",
        `${gpcs.length} clusters (GPC)`,
        -20,
        place(gpc, BESIDE - (gpc?.w ?? 0) / 2, HEADER / 2 - (gpc?.d ?? 0) / 2),
      ],
      ["plaque_tpc", `${tpcs.length} pairs (TPC)`, -16, place(shown[2])],
      [
        "plaque_sm",
        `SMs: ${used.sm}\nof ${sms.length} in use`,
        -19,
        place(sms.find(({ used: on, x, z }) => on && x < -7 && z > 8)),
      ],
      ["plaque_off", "Not in use:\nwhich ones is\nnot published", -18, place(off)],
      ["plaque_l2", `L2 cache,\n${all("l2").length} halves`, -17, place(l2, (l2?.w ?? 0) / 2 - BESIDE)],
      [
        "plaque_mc",
        `Memory\ncontrollers: ${used.memory_controller / 2}\nof ${pairs} pairs in use`,
        -15,
        place(controllers[controllers.length - 3]),
      ],
    ];
    return named.map(([id, title, rank, at]) => ({ id, title, rank, at }));
  }

  private get openedTitle(): string {
    const { die } = this.wish;
    return die ? this.partOf(die).title : "One SM";
  }

  /** Where the opened SM is seen, for its callout. */
  private openedAt: Vec3 = [0, 0, 0];

  private smAnchors(): CalloutAnchor[] {
    const { inside_sm: inside } = this.facts;
    const place = (kind: Cell["kind"], index = 0, dx = 0): Vec3 => {
      const cell = this.sm.cells.find((one) => one.kind === kind && one.index === index);
      const at = new Vector3((cell?.x ?? 0) + dx, 0.5, cell?.z ?? 0).applyMatrix4(this.sm.group.matrixWorld);
      return [at.x, at.y, at.z];
    };
    return [
      { id: "sm_rmem", title: `Registers:\n${inside.registers_kib} KiB in all`, rank: -20, at: place("rmem", 2, -2) },
      { id: "sm_tensor", title: `${inside.tensor_cores} tensor cores`, rank: -19, at: place("tensor_core", 1, 2) },
      { id: "sm_place", title: this.openedTitle, rank: -18, at: this.openedAt },
    ];
  }
}

export function partOf(facts: DiagramFacts, { kind, index }: DiePick): Part {
  const { title, what, facts: cited } = facts.texts[kind];
  return { id: `${kind}_${index}`, title: title.replace("{number}", String(index + 1)), what, facts: cited };
}

function font(context: CanvasRenderingContext2D, mm: number, weight = 600): void {
  context.font = `${weight} ${mm}px 'Liberation Sans', Arial, Helvetica, sans-serif`;
}

function writePlaque(context: CanvasRenderingContext2D, cells: readonly Cell[]): void {
  for (const cell of cells) {
    if (cell.kind === "gpc") {
      font(context, 0.92);
      const far = Math.sign(cell.z) * (cell.d / 2 - HEADER / 2);
      context.fillText(`GPC ${cell.index + 1}`, cell.x, cell.z + far);
    } else if (cell.kind === "l2") {
      font(context, 1.9);
      context.fillText("L2 cache", cell.x, cell.z);
    } else if (cell.kind === "interface") {
      font(context, 0.8, 500);
      context.fillText(cell.z < 0 ? "host interface" : "links to other GPUs", cell.x, cell.z);
    } else if (cell.kind === "memory_controller") {
      font(context, 0.95);
      context.save();
      context.translate(cell.x, cell.z);
      context.rotate(-Math.PI / 2);
      context.fillText("memory", 0, -0.5);
      context.fillText("controller", 0, 0.5);
      context.restore();
    }
  }
}

function writeSm(context: CanvasRenderingContext2D, cells: readonly Cell[], { inside_sm: inside }: DiagramFacts): void {
  font(context, 1.35, 700);
  context.fillText("One SM, opened", 0, -SM_BOARD.d / 2 + 1.5);
  for (const cell of cells) {
    const lines =
      cell.kind === "rmem"
        ? ["Registers", `${inside.registers_kib / inside.tensor_cores} KiB`]
        : cell.kind === "tensor_core"
          ? ["Tensor", "core"]
          : cell.kind === "smem"
            ? ["Shared memory", `up to ${inside.shared_kib} of ${inside.l1_kib} KiB`]
            : cell.kind === "l1"
              ? ["L1"]
              : [];
    lines.forEach((text, i) => {
      const name = i === 0 || cell.kind === "tensor_core";
      font(context, name ? 1.25 : 1.1, name ? 700 : 500);
      context.fillText(text, cell.x, cell.z + (i - (lines.length - 1) / 2) * 1.6);
    });
  }
}
