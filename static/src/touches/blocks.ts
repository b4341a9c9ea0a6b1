/*
 * Chapter 7: the size of a block and the order of the two loops. What is passed over again and again depends on both;
 * bytes and passes are the server's counts for the reader's N and d.
 */
import { scaleLinear } from "d3-scale";
import { ApiError, getSchedule, getTraffic } from "../api/client";
import type { ScheduleAnswer, TrafficAnswer } from "../api/schema.gen";
import { BlockGrid, type Cell } from "../figures/block-grid";
import { frame, label, line, rect, responsive } from "../figures/frame";
import { fills, type Kind } from "../figures/patterns";
import { choice, list, slider } from "../ui/controls";
import { make } from "../ui/dom";
import { decimalBytes, digits, whole } from "../ui/format";
import type { Touch } from "./context";

type Order = "fa1" | "fa2";
const TENSORS = ["q", "k", "v", "o"] as const;
/** Blocks on a side of the small grid that shows the order. */
const DRAWN = 8;

const blocks: Touch = (live, _host, { store, choices }) => {
  let order: Order = "fa2";
  let answer: TrafficAnswer | null = null;
  let plan: ScheduleAnswer | null = null;
  let asking: AbortController | null = null;
  const gridPlace = make("div", { class: "grid-place" });
  const place = make("div", { class: "figure-host" });
  const said = make("p", { class: "touch-said", role: "status" });
  const grid = new BlockGrid(gridPlace);
  const rows = (text: string, key: "blockM" | "blockN") =>
    list(
      text,
      choices.blockRows.map((value) => ({ value: String(value), text: String(value) })),
      String(store.get()[key]),
      (value) => store.set({ [key]: Number(value) }),
    );
  const controls = [rows("Q rows a block", "blockM"), rows("K/V rows a block", "blockN")];
  const orders = [
    { value: "fa2", text: "2023: Q outside" },
    { value: "fa1", text: "2022: K, V outside" },
  ] as const;
  const lever = slider("Step of the order", 1, 0, () => drawOrder());
  live.append(
    choice<Order>("Order of the loops", orders, order, (value) => {
      order = value;
      void load();
    }),
    make("div", { class: "touch-row" }, ...controls),
    place,
    said,
    make("div", { class: "grid-and-lever" }, gridPlace, lever.label),
  );
  const redraw = responsive(place, draw);
  store.subscribe((now) => {
    controls.forEach((control, i) => {
      const select = control.querySelector("select");
      if (select) select.value = String(i === 0 ? now.blockM : now.blockN);
    });
    void load();
  });
  void load();

  async function load(): Promise<void> {
    const { seqlen, headDim, blockM, blockN, causal, gpu } = store.get();
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const setting = { head_dim: headDim, causal, seqlen };
    try {
      const [counted, ordered] = await Promise.all([
        getTraffic({ ...setting, block_m: blockM, block_n: blockN, gpu }, signal),
        getSchedule({ ...setting, algorithm: order, blocks_m: DRAWN, blocks_n: DRAWN }, signal),
      ]);
      if (signal.aborted) return;
      [answer, plan] = [counted, ordered];
    } catch (error) {
      if (!signal.aborted)
        said.textContent = error instanceof ApiError ? error.message : "The counts could not be loaded.";
      return;
    }
    lever.input.max = String(plan.num_steps);
    lever.input.value = String(Math.round(plan.num_steps / 2));
    redraw();
    drawOrder();
  }

  /** Bytes of a tensor that cross into the SMs and back, in the order chosen, and how many times its size that is. */
  function moved(tensor: string): { bytes: number; passes: number } {
    const of = (model: "least" | Order) => answer?.models[model]?.by_tensor.find((item) => item.tensor === tensor);
    const [here, once] = [of(order), of("least")];
    const bytes = (here?.read_bytes ?? 0) + (here?.written_bytes ?? 0);
    return { bytes, passes: bytes / Math.max(1, (once?.read_bytes ?? 0) + (once?.written_bytes ?? 0)) };
  }

  function draw(): void {
    const drawn = frame(place, 12.5, "Bytes into the SMs and back, matrix by matrix", said.textContent ?? "");
    if (!answer) return;
    const { svg, width, em } = drawn;
    const all = (["fa1", "fa2"] as const).flatMap((model) => answer?.models[model]?.by_tensor ?? []);
    const most = Math.max(...all.map((item) => item.read_bytes + item.written_bytes));
    const x = scaleLinear([0, most], [em * 2, width - em]);
    const fill = fills(drawn, TENSORS as readonly Kind[]);
    TENSORS.forEach((tensor, i) => {
      const { bytes, passes } = moved(tensor);
      const y = em * (0.4 + 2.9 * i);
      svg.append(
        label(0, y + em * 1.05, tensor.toUpperCase(), { bold: true }),
        rect({
          x: em * 2,
          y: y + em * 0.2,
          width: Math.max(2, x(bytes) - em * 2),
          height: em * 1.2,
          fill: fill(tensor),
        }),
        label(em * 2, y + em * 2.3, `${decimalBytes(bytes)}, ${digits(passes, 3)} times its size`),
      );
    });
    svg.append(line(em * 2, em * 0.3, em * 2, em * 11.9));
    const q = moved("q").passes;
    const k = moved("k").passes;
    const blockRows = order === "fa2" ? answer.shape.block_m : answer.shape.block_n;
    const over =
      order === "fa2"
        ? `K and V are read ${digits(k, 3)} times`
        : `Q is read ${digits(q, 3)} times, O goes in and out as often`;
    said.textContent =
      `N = ${whole(answer.shape.seqlen ?? 0)}, d = ${answer.shape.head_dim}, ${whole(blockRows ?? 0)} rows to an outer block: ${over}; ` +
      `in all ${decimalBytes(answer.models[order]?.total_bytes ?? 0)} into the SMs and back. From HBM each byte comes once.`;
    said.dataset.passes = String(order === "fa2" ? k : q);
  }

  function drawOrder(): void {
    if (!plan) return;
    const step = Number(lever.input.value);
    const state = new Map<string, Cell>();
    for (const item of plan.computes)
      if (item.step <= step) state.set(`${item.m_block},${item.n_block}`, item.step === step ? "working" : "gone");
    const exists = new Set(plan.computes.map((item) => `${item.m_block},${item.n_block}`));
    grid.draw(
      {
        rows: plan.blocks_m,
        columns: plan.blocks_n,
        cell: (row, column) => (exists.has(`${row},${column}`) ? (state.get(`${row},${column}`) ?? "waiting") : "none"),
      },
      `The order of ${order === "fa2" ? "2023" : "2022"} at step ${step} of ${plan.num_steps}, drawn as ${plan.blocks_m} by ${plan.blocks_n} blocks.`,
    );
    lever.input.setAttribute("aria-valuetext", `step ${step} of ${plan.num_steps}`);
  }
};

export default blocks;
