/*
 * Chapter 4: the round trip of the score blocks, kernel by kernel, on the clock that also moves the tiles on the stand.
 * The counters add up the bytes of the schedule's moves that have happened; they end at its sums.
 */
import type { ScheduleMove } from "../api/schema.gen";
import { frame, label, line, rect, responsive } from "../figures/frame";
import { fills } from "../figures/patterns";
import type { FlowMoment } from "../flow/control";
import { button } from "../ui/controls";
import { make } from "../ui/dom";
import { decimalBytes } from "../ui/format";
import type { Touch } from "./context";

export interface Crossing {
  tensor: "q" | "k" | "v" | "s" | "p" | "o";
  way: "read" | "written";
  kernel: number;
}

/** What crosses the HBM line in the standard way, in order. */
export const CROSSINGS: readonly Crossing[] = [
  { tensor: "q", way: "read", kernel: 1 },
  { tensor: "k", way: "read", kernel: 1 },
  { tensor: "s", way: "written", kernel: 1 },
  { tensor: "s", way: "read", kernel: 2 },
  { tensor: "p", way: "written", kernel: 2 },
  { tensor: "p", way: "read", kernel: 3 },
  { tensor: "v", way: "read", kernel: 3 },
  { tensor: "o", way: "written", kernel: 3 },
];

/** Bytes of one crossing up to `time` and in all. */
export function crossed(
  moves: readonly ScheduleMove[],
  { tensor, way }: Crossing,
  time: number,
): { now: number; all: number } {
  let [now, all] = [0, 0];
  for (const move of moves) {
    const reads = move.source === "hbm" && move.target === "l2";
    const writes = move.source === "l2" && move.target === "hbm";
    if (move.tensor !== tensor || !(way === "read" ? reads : writes)) continue;
    all += move.bytes;
    if (move.step < Math.floor(time)) now += move.bytes;
  }
  return { now, all };
}

const KERNELS = ["1 · S = Q Kᵀ", "2 · P = softmax(S)", "3 · O = P V"];

const roundTrip: Touch = (live, _host, { flow }) => {
  const place = make("div", { class: "figure-host" });
  const said = make("p", { class: "touch-said" });
  const play = button("Play", () => {
    if (flow.moment.answer?.algorithm !== "standard") flow.choose("standard");
    else if (flow.moment.playing) flow.pause();
    else flow.play();
  });
  const back = button("◀", () => flow.step(-1), "One block back");
  const forward = button("▶", () => flow.step(1), "One block on");
  const jumps = KERNELS.map((_, i) => button(`Kernel ${i + 1}`, () => jump(i)));
  live.append(make("div", { class: "touch-row" }, back, play, forward, ...jumps), place, said);
  let moment: FlowMoment = flow.moment;
  const redraw = responsive(place, draw);
  flow.subscribe((now) => {
    moment = now;
    redraw();
  });

  function jump(kernel: number): void {
    const { answer } = flow.moment;
    if (!answer) return;
    // A kernel starts with the first step that reads what it reads.
    const first = CROSSINGS.find((crossing) => crossing.kernel === kernel + 1 && crossing.way === "read");
    const move = answer.moves.find((item) => item.tensor === first?.tensor && item.source === "hbm");
    flow.seek(kernel === 0 ? 0 : (move?.step ?? 0));
  }

  function draw(): void {
    const { answer, time } = moment;
    const standard = answer?.algorithm === "standard" && answer.direction === "forward";
    play.textContent = !standard ? "Show the standard way" : moment.playing ? "Pause" : "Play";
    for (const control of [back, forward, ...jumps]) control.disabled = !standard;
    const counts = CROSSINGS.map((crossing) => (standard ? crossed(answer.moves, crossing, time) : { now: 0, all: 0 }));
    const total = counts.reduce((sum, { now }) => sum + now, 0);
    const all = counts.reduce((sum, count) => sum + count.all, 0);
    said.textContent = standard
      ? `Block ${Math.floor(time)} of ${answer.num_steps}: ${decimalBytes(total)} of ${decimalBytes(all)} have crossed between HBM and chip.`
      : "The stand shows another way now.";
    said.dataset.bytes = String(total);
    const drawn = frame(place, 20.5, "The round trip of S and P", said.textContent);
    const { svg, width, em } = drawn;
    const fill = fills(drawn, ["q", "k", "v", "s", "p", "o"]);
    const left = em * 4;
    const right = width - em * 6;
    svg.append(
      label(left, em, "HBM", { bold: true }),
      label(right, em, "chip", { anchor: "end", bold: true }),
      label(width, em, "crossed", { anchor: "end", class: "axis-name" }),
    );
    let y = em * 1.6;
    let kernel = 0;
    CROSSINGS.forEach((crossing, i) => {
      if (crossing.kernel !== kernel) {
        kernel = crossing.kernel;
        y += em * 1.1;
        svg.append(label(0, y, KERNELS[kernel - 1] ?? "", { class: "axis-name" }));
        y += em * 0.4;
      }
      const { now, all: whole } = counts[i] as { now: number; all: number };
      const share = whole ? now / whole : 0;
      const middle = y + em * 0.85;
      const length = (right - left) * share;
      const reads = crossing.way === "read";
      svg.append(
        label(0, middle + em * 0.35, `${crossing.tensor.toUpperCase()} ${reads ? "→" : "←"}`, { bold: true }),
        line(left, middle, right, middle, whole ? "grid" : "ghost"),
        rect({
          x: reads ? left : right - length,
          y: middle - em * 0.5,
          width: length,
          height: em,
          fill: fill(crossing.tensor),
        }),
      );
      svg.append(label(width, middle + em * 0.35, decimalBytes(now), { anchor: "end" }));
      y += em * 1.75;
    });
  }
};

export default roundTrip;
