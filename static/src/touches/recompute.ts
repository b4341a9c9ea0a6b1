/* Chapter 9: store P or recompute it. Bytes kept, bytes moved and operations of the backward pass, counted by the server. */
import { scaleLinear } from "d3-scale";
import { ApiError, getTraffic } from "../api/client";
import type { TrafficAnswer } from "../api/schema.gen";
import { frame, label, rect, responsive } from "../figures/frame";
import { fills } from "../figures/patterns";
import { choice } from "../ui/controls";
import { make } from "../ui/dom";
import { decimalBytes, digits, operations, whole } from "../ui/format";
import type { Touch } from "./context";

type Way = "standard" | "fa2";

interface Measure {
  name: string;
  format: (value: number) => string;
  of: (answer: TrafficAnswer, way: Way) => number;
}

const MEASURES: readonly Measure[] = [
  { name: "kept beyond Q, K and V", format: decimalBytes, of: (answer, way) => answer.models[way]?.saved_bytes ?? 0 },
  {
    name: "moved between HBM and chip",
    format: decimalBytes,
    of: (answer, way) => answer.models[way]?.lines.hbm?.total_bytes ?? 0,
  },
  {
    name: "moved between L2 and SMs",
    format: decimalBytes,
    of: (answer, way) => answer.models[way]?.lines.l2_to_sm?.total_bytes ?? 0,
  },
  { name: "operations", format: operations, of: (answer, way) => answer.flops[way] ?? 0 },
];

const recompute: Touch = (live, _host, { store, flow }) => {
  let way: Way = "standard";
  let answer: TrafficAnswer | null = null;
  let asking: AbortController | null = null;
  const place = make("div", { class: "figure-host" });
  const said = make("p", { class: "touch-said", role: "status" });
  const ways = [
    { value: "standard", text: "Store P" },
    { value: "fa2", text: "Recompute P" },
  ] as const;
  live.append(
    choice<Way>("Way", ways, way, (value) => {
      way = value;
      flow.choose(value);
      redraw();
    }),
    place,
    said,
  );
  const redraw = responsive(place, draw);
  store.subscribe(() => void load());
  void load();

  async function load(): Promise<void> {
    const { seqlen, headDim, blockM, blockN, causal, gpu } = store.get();
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const found = await getTraffic(
        { seqlen, head_dim: headDim, block_m: blockM, block_n: blockN, causal, gpu, direction: "backward" },
        signal,
      );
      if (signal.aborted || found === answer) return;
      answer = found;
      redraw();
    } catch (error) {
      if (!signal.aborted)
        said.textContent = error instanceof ApiError ? error.message : "The counts could not be loaded.";
    }
  }

  function draw(): void {
    const drawn = frame(place, 4.1 * MEASURES.length, "Backward: bytes against arithmetic", said.textContent ?? "");
    if (!answer) return;
    const counts = answer;
    const { svg, width, em } = drawn;
    const fill = fills(drawn, ["p", "plain"]);
    MEASURES.forEach((measure, i) => {
      const [stored, remade] = [measure.of(counts, "standard"), measure.of(counts, "fa2")];
      const x = scaleLinear([0, Math.max(stored, remade)], [0, width - 2]);
      const y = em * 4.1 * i;
      const here = way === "standard" ? stored : remade;
      const there = way === "standard" ? remade : stored;
      svg.append(
        label(0, y + em, measure.name),
        label(width, y + em, measure.format(here), { anchor: "end", bold: true }),
        rect({
          x: 1,
          y: y + em * 1.5,
          width: Math.max(2, x(here)),
          height: em * 1.3,
          fill: fill(measure.name === "operations" ? "plain" : "p"),
        }),
        // The other way stays as an outline, so that the switch can be compared.
        rect({
          class: "ghost",
          x: 1,
          y: y + em * 1.5,
          width: Math.max(2, x(there)),
          height: em * 1.3,
        }),
      );
    });
    const [kept, flops] = [MEASURES[0] as Measure, MEASURES[3] as Measure];
    said.textContent =
      `One head, N = ${whole(counts.shape.seqlen ?? 0)}, d = ${counts.shape.head_dim}: recomputing keeps ` +
      `${digits(kept.of(counts, "standard") / kept.of(counts, "fa2"), 3)} times less and does ` +
      `${digits(flops.of(counts, "fa2") / flops.of(counts, "standard"), 3)} times the arithmetic. The outline is the other way.`;
  }
};

export default recompute;
