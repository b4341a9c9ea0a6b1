/*
 * Chapter 12: the sentences that are not true, to cross out one by one, and the test of the first: random input through
 * the standard way, the tiled way and double precision, run by the server when the reader asks.
 */
import { scaleLog } from "d3-scale";
import { ApiError, getExactness } from "../api/client";
import type { ExactnessAnswer } from "../api/schema.gen";
import { bottomAxis, powers } from "../figures/axis";
import { frame, label, rect, responsive } from "../figures/frame";
import { fills } from "../figures/patterns";
import { button, list } from "../ui/controls";
import { make, makeSvg } from "../ui/dom";
import { digits } from "../ui/format";
import type { Touch } from "./context";

const SIZES = [128, 256, 512, 1024];

const exactness: Touch = (live) => {
  let seed = 1;
  let seqlen = 256;
  let outliers = true;
  let answer: ExactnessAnswer | null = null;
  let asking: AbortController | null = null;
  const place = make("div", { class: "figure-host" });
  const said = make("p", { class: "touch-said", role: "status" }, "Nothing has been run yet.");
  const run = button("Draw and compare", () => {
    void load();
    seed += 1;
  });
  const spikes = make("input", { type: "checkbox" });
  spikes.checked = outliers;
  spikes.addEventListener("change", () => {
    outliers = spikes.checked;
  });
  const size = list(
    "N",
    SIZES.map((value) => ({ value: String(value), text: String(value) })),
    String(seqlen),
    (value) => {
      seqlen = Number(value);
    },
  );
  live.append(
    crossing(),
    make("div", { class: "touch-row" }, size, make("label", { class: "toggle" }, spikes, " with outliers"), run),
    place,
    said,
  );
  const redraw = responsive(place, draw);

  async function load(): Promise<void> {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    run.disabled = true;
    try {
      const found = await getExactness({ seed, seqlen, head_dim: 64, outliers }, signal);
      if (signal.aborted) return;
      answer = found;
      const { standard, tiled, standard_over_tiled: ratio } = found;
      said.textContent =
        `Seed ${found.seed}, N = ${found.seqlen}, d = ${found.head_dim}: the standard way is off by ${tiny(standard.rms)}, ` +
        `the tiled way by ${tiny(tiled.rms)}${ratio === null ? "" : `, ${digits(ratio, 3)} times less`}. No 16-bit result can do better than ${tiny(found.floor.rms)}. ` +
        `The entries of O themselves are about ${digits(found.output_rms, 2)}.`;
      redraw();
    } catch (error) {
      if (!signal.aborted) said.textContent = error instanceof ApiError ? error.message : "The run did not succeed.";
    } finally {
      run.disabled = false;
    }
  }

  function draw(): void {
    if (!answer) {
      place.replaceChildren();
      return;
    }
    const rows = [
      { name: "standard, 16-bit", kind: "s", error: answer.standard },
      { name: "tiled, 16-bit", kind: "o", error: answer.tiled },
      { name: "rounding alone", kind: "plain", error: answer.floor },
    ] as const;
    const drawn = frame(place, 15, "Distance from double precision", said.textContent ?? "");
    const { svg, width, height, em } = drawn;
    const bottom = height - em * 3;
    const all = rows.flatMap(({ error }) => [error.rms, error.max_abs]).filter((value) => value > 0);
    const x = scaleLog([Math.min(...all) / 4, Math.max(...all) * 3], [0, width - em]);
    bottomAxis(drawn, x, {
      from: 0,
      to: bottom,
      values: powers(x, 10, 5),
      format: tiny,
      name: "root mean square; the line ends at the largest",
    });
    const fill = fills(drawn, ["s", "o", "plain"]);
    rows.forEach(({ name, kind, error }, i) => {
      const y = em * (0.3 + 3.9 * i);
      const [rms, max] = [x(Math.max(error.rms, 1e-12)), x(Math.max(error.max_abs, 1e-12))];
      svg.append(
        label(em * 0.3, y + em, `${name}: ${tiny(error.rms)}`),
        rect({ x: 0, y: y + em * 1.4, width: rms, height: em * 1.3, fill: fill(kind) }),
        makeSvg("line", { x1: rms, x2: max, y1: y + em * 2.05, y2: y + em * 2.05, class: "whisker" }),
        makeSvg("line", { x1: max, x2: max, y1: y + em * 1.5, y2: y + em * 2.6, class: "whisker" }),
      );
    });
  }
};

const RAISED: Readonly<Record<string, string>> = Object.fromEntries(
  [..."0123456789-"].map((sign, i) => [sign, "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"[i] ?? ""]),
);

/** Small numbers as the page writes them: 1.9 × 10⁻⁴. */
function tiny(value: number): string {
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(1).split("e");
  return `${mantissa} × 10${[...String(Number(power))].map((sign) => RAISED[sign]).join("")}`;
}

/** Buttons that hide the answers and strike the sentences out one at a time; all are struck out to begin with. */
function crossing(): HTMLElement {
  const items = [...document.querySelectorAll<HTMLElement>(".myths li")].map((item) => {
    const answer = make("span", { class: "answer" });
    const claim = item.querySelector("s");
    while (claim?.nextSibling) answer.append(claim.nextSibling);
    item.append(answer);
    return { item, answer };
  });
  const show = (count: number) => {
    items.forEach(({ item, answer }, i) => {
      item.classList.toggle("unanswered", i >= count);
      answer.hidden = i >= count;
    });
    next.disabled = count >= items.length;
    at = count;
  };
  let at = items.length;
  const next = button("Cross out the next", () => {
    show(at + 1);
    items[at - 1]?.item.scrollIntoView({ block: "nearest" });
  });
  next.disabled = true;
  const begin = button("Start again with none", () => {
    show(0);
    items[0]?.item.scrollIntoView({ block: "nearest" });
  });
  return make("div", { class: "touch-row", role: "group", "aria-label": "The sentences above" }, begin, next);
}

export default exactness;
