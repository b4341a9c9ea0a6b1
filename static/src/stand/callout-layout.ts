/*
 * Where callouts stand: two columns beside the object, each label level with its anchor where it can be, never over
 * another label, never outside the host, and leader lines that do not cross. Pure: pixels in, pixels out.
 */

export interface Anchor {
  id: string;
  /** Where the leader line ends, in px from the host's top left. */
  x: number;
  y: number;
  /** Size of the label in px. */
  width: number;
  height: number;
  /** Lower goes first when there is no room for all. */
  rank: number;
}

export interface Placed {
  id: string;
  side: "left" | "right";
  /** Top left of the label in px. */
  left: number;
  top: number;
  /** Start of the leader line at the label's inner edge. */
  lineX: number;
  lineY: number;
  anchorX: number;
  anchorY: number;
}

export interface Frame {
  width: number;
  height: number;
  /** Space kept to the host's edge, and between labels of a column, in px. */
  edge: number;
  gap: number;
  /** Most labels a column may hold. */
  perColumn: number;
}

type Side = "left" | "right";

/** Places as many anchors as fit, best rank first. `sides` holds on to last time's sides, so that labels do not jump. */
export function layoutCallouts(anchors: readonly Anchor[], frame: Frame, sides?: Map<string, Side>): Placed[] {
  // At the very edge there is no room for a label beside the dot.
  const { edge, width, height } = frame;
  const inside = anchors.filter((a) => a.x >= edge && a.x <= width - edge && a.y >= edge && a.y <= height - edge);
  const chosen = [...inside].sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  const columns = share(chosen, frame, sides);
  return (["left", "right"] as const).flatMap((side) => placeColumn(columns[side], side, frame));
}

function room(frame: Frame, column: readonly Anchor[], extra: Anchor): boolean {
  const used = [...column, extra].reduce((sum, a) => sum + a.height + frame.gap, -frame.gap);
  return column.length < frame.perColumn && used <= frame.height - 2 * frame.edge;
}

/** Each anchor goes to its nearer side; past the middle a label keeps its side for a while; a full side passes it on. */
function share(chosen: readonly Anchor[], frame: Frame, sides?: Map<string, Side>): Record<Side, Anchor[]> {
  const columns: Record<Side, Anchor[]> = { left: [], right: [] };
  for (const anchor of chosen) {
    if (anchor.width > frame.width - 2 * frame.edge) continue;
    const kept = sides?.get(anchor.id);
    const offset = anchor.x / frame.width - 0.5;
    let side: Side = offset < 0 ? "left" : "right";
    if (kept && Math.abs(offset) < 0.08) side = kept;
    // Near the middle, the emptier side keeps the picture in balance.
    else if (!kept && Math.abs(offset) < 0.08) side = columns.left.length <= columns.right.length ? "left" : "right";
    if (!room(frame, columns[side], anchor)) side = side === "left" ? "right" : "left";
    if (!room(frame, columns[side], anchor) || tooWide(columns, anchor, side, frame)) continue;
    columns[side].push(anchor);
    sides?.set(anchor.id, side);
  }
  return columns;
}

/** On a narrow host both columns may not fit beside each other. */
function tooWide(columns: Record<Side, Anchor[]>, anchor: Anchor, side: Side, frame: Frame): boolean {
  const other = columns[side === "left" ? "right" : "left"];
  const facing = Math.max(0, ...other.map((a) => a.width));
  const own = Math.max(anchor.width, ...columns[side].map((a) => a.width));
  return own + facing + 2 * frame.edge + frame.gap > frame.width;
}

/** Tops of labels in order, each as near to its wish as the others and the host allow. */
function settle(order: readonly Anchor[], frame: Frame): number[] {
  // Blocks of touching labels move as one to the mean of their wishes (pool adjacent violators).
  const blocks: { first: number; count: number; wish: number; height: number }[] = [];
  order.forEach((anchor, i) => {
    blocks.push({ first: i, count: 1, wish: anchor.y - anchor.height / 2, height: anchor.height });
    while (blocks.length > 1) {
      const b = blocks[blocks.length - 1] as (typeof blocks)[number];
      const a = blocks[blocks.length - 2] as (typeof blocks)[number];
      if (hold(a, frame) + a.height + frame.gap <= hold(b, frame)) break;
      const shift = a.height + frame.gap;
      blocks.splice(-2, 2, {
        first: a.first,
        count: a.count + b.count,
        wish: (a.wish * a.count + (b.wish - shift) * b.count) / (a.count + b.count),
        height: shift + b.height,
      });
    }
  });
  const tops: number[] = [];
  for (const block of blocks) {
    let top = hold(block, frame);
    for (let i = block.first; i < block.first + block.count; i++) {
      tops[i] = top;
      top += (order[i] as Anchor).height + frame.gap;
    }
  }
  return tops;
}

function hold(block: { wish: number; height: number }, frame: Frame): number {
  return Math.min(Math.max(block.wish, frame.edge), frame.height - frame.edge - block.height);
}

function placeAll(order: readonly Anchor[], side: Side, frame: Frame): Placed[] {
  const tops = settle(order, frame);
  return order.map((anchor, i) => {
    const left = side === "left" ? frame.edge : frame.width - frame.edge - anchor.width;
    const top = tops[i] as number;
    return {
      id: anchor.id,
      side,
      left,
      top,
      lineX: side === "left" ? left + anchor.width : left,
      lineY: top + anchor.height / 2,
      anchorX: anchor.x,
      anchorY: anchor.y,
    };
  });
}

function placeColumn(anchors: readonly Anchor[], side: Side, frame: Frame): Placed[] {
  const order = [...anchors].sort((a, b) => a.y - b.y || a.rank - b.rank);
  let placed = placeAll(order, side, frame);
  // Swapping two labels whose lines cross shortens both lines, so this ends; the bound is for rounding.
  for (let round = 0; round < order.length * order.length; round++) {
    const pair = firstCrossing(placed);
    if (!pair) break;
    const [i, j] = pair;
    [order[i], order[j]] = [order[j] as Anchor, order[i] as Anchor];
    placed = placeAll(order, side, frame);
  }
  return placed;
}

function firstCrossing(placed: readonly Placed[]): [number, number] | null {
  for (let i = 0; i < placed.length; i++)
    for (let j = i + 1; j < placed.length; j++) if (linesCross(placed[i] as Placed, placed[j] as Placed)) return [i, j];
  return null;
}

function turn(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

/** Whether the leader lines of two labels properly cross. */
export function linesCross(a: Placed, b: Placed): boolean {
  const d1 = turn(a.lineX, a.lineY, a.anchorX, a.anchorY, b.lineX, b.lineY);
  const d2 = turn(a.lineX, a.lineY, a.anchorX, a.anchorY, b.anchorX, b.anchorY);
  const d3 = turn(b.lineX, b.lineY, b.anchorX, b.anchorY, a.lineX, a.lineY);
  const d4 = turn(b.lineX, b.lineY, b.anchorX, b.anchorY, a.anchorX, a.anchorY);
  return d1 * d2 < 0 && d3 * d4 < 0;
}
