/* Reads the page's boot data and wires the modules: address ↔ store, chapters → stand, laboratory, tiles. */
import "../styles/index.css";
import modelUrl from "../../models/h100_sxm5.glb?url";
import { getFact } from "./api/client";
import type { ScheduleAnswer, TrafficAnswer } from "./api/schema.gen";
import { type ChapterScene, Director } from "./chapters/director";
import { BlockGrid, type Cell } from "./figures/block-grid";
import { FlowPanel } from "./flow/panel";
import { Lab } from "./lab/lab";
import { blockExists, computesAt, storedAt } from "./stand/flow";
import type { Flow, Part, Stand, StandState } from "./stand/types";
import { createStore } from "./state/store";
import { type Choices, DEFAULTS, type ExhibitState, type ThemeName } from "./state/types";
import { decode, encode } from "./state/url";
import { byId, make } from "./ui/dom";
import { whole } from "./ui/format";

interface Boot {
  chapters: ChapterScene[];
  seqlens: number[];
  head_dims: number[];
  block_rows: number[];
  gpus: string[];
}

declare global {
  interface Window {
    /** The running stand, for people who want to look inside and for the browser tests. */
    exhibitStand?: Stand;
  }
}

document.documentElement.classList.add("scripted");
const bootText = document.getElementById("boot")?.textContent;
if (bootText) start(JSON.parse(bootText) as Boot);
else document.documentElement.dataset.theme = decode(location.search, emptyChoices()).state.theme;

function emptyChoices(): Choices {
  return { seqlens: [], headDims: [DEFAULTS.headDim], blockRows: [DEFAULTS.blockM], gpus: [DEFAULTS.gpu] };
}

function start(boot: Boot): void {
  const choices: Choices = {
    seqlens: boot.seqlens,
    headDims: boot.head_dims,
    blockRows: boot.block_rows,
    gpus: boot.gpus,
  };
  const { state, notes } = decode(location.search, choices);
  const store = createStore<ExhibitState>(state);
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let stand: Stand | null = null;
  let flow: Flow | null = null;
  let blocks = { m: 8, n: 8 };

  const grid = new BlockGrid(byId("lab-grid"));
  const panel = new FlowPanel(store, (now, answer) => {
    flow = now;
    stand?.set({ flow });
    drawGrid(grid, now, answer);
  });
  const director = new Director(boot.chapters, (chapter) => {
    applyScene(chapter);
    const hash = chapter.number === 1 && !location.hash ? "" : `#chapter-${chapter.number}`;
    history.replaceState(null, "", location.pathname + encode(store.get()) + hash);
  });
  const lab = new Lab(store, choices, (answer: TrafficAnswer) => {
    blocks = drawnBlocks(answer);
    if (director.chapter.stand.grid) applyScene(director.chapter);
  });
  if (notes.length) lab.note(notes.join(" "));

  function standState(chapter: ChapterScene): StandState {
    const now = store.get();
    const scene = chapter.stand;
    return {
      pose: scene.pose,
      explode: now.explode ?? scene.explode,
      lit: scene.lit,
      labels: now.labels && scene.labels,
      grid: scene.grid,
      flow,
      theme: now.theme,
    };
  }

  function applyScene(chapter: ChapterScene): void {
    const { grid: gridShown, flow: algorithm } = chapter.stand;
    panel.pause();
    panel.setScene({
      algorithm: algorithm || "none",
      blocksM: gridShown ? blocks.m : 8,
      blocksN: gridShown ? blocks.n : 8,
    });
    stand?.set(standState(chapter));
    showLevers(standState(chapter).explode);
  }

  store.subscribe((now, before) => {
    document.documentElement.dataset.theme = now.theme;
    history.replaceState(null, "", location.pathname + encode(now) + location.hash);
    stand?.set(standState(director.chapter));
    showLevers(now.explode ?? director.chapter.stand.explode);
    if (now.explode === before.explode && now.labels === before.labels && now.theme === before.theme)
      void panel.refresh();
  });

  wirePanel(store);
  document.documentElement.dataset.theme = store.get().theme;
  byId<HTMLSelectElement>("theme").value = store.get().theme;
  director.start();
  void openStand();

  async function openStand(): Promise<void> {
    const note = byId("stand-note");
    try {
      const { createStand } = await import("./stand");
      stand = await createStand(byId("stand"), {
        modelUrl,
        tier: store.get().tier,
        reducedMotion,
        frozen: store.get().t !== null,
        seed: 1,
        state: standState(director.chapter),
        onPick: (part) => void showPart(part, true),
        onHover: (part) => void showPart(part, false),
        onCameraTaken: (taken) => {
          byId("return-camera").hidden = !taken;
        },
        onContextLost: () => {
          note.hidden = false;
          note.textContent = "The graphics device was lost; the stand comes back when the browser gives it back.";
        },
      });
      note.hidden = true;
      window.exhibitStand = stand;
      listParts(stand);
      byId("return-camera").addEventListener("click", () => stand?.returnCamera());
      stand.set(standState(director.chapter));
    } catch (error) {
      console.warn("The stand cannot be shown:", error);
      note.textContent =
        "This browser cannot show the stand in three dimensions. Every chapter and the laboratory work without it.";
    }
  }
}

function wirePanel(store: ReturnType<typeof createStore<ExhibitState>>): void {
  const explode = byId<HTMLInputElement>("explode");
  explode.addEventListener("input", () => store.set({ explode: Number(explode.value) }));
  const labels = byId<HTMLInputElement>("labels");
  labels.checked = store.get().labels;
  labels.addEventListener("change", () => store.set({ labels: labels.checked }));
  const theme = byId<HTMLSelectElement>("theme");
  theme.addEventListener("change", () => store.set({ theme: theme.value as ThemeName }));
  // On a wide screen the controls are always open; on a narrow one they would cover the text.
  const wide = matchMedia("(min-width: 900px)");
  const panel = byId<HTMLDetailsElement>("stand-panel");
  const fit = () => {
    panel.open = wide.matches;
  };
  wide.addEventListener("change", fit);
  fit();
}

function showLevers(explode: number): void {
  const lever = byId<HTMLInputElement>("explode");
  lever.value = String(explode);
  lever.setAttribute("aria-valuetext", explode === 0 ? "assembled" : `${Math.round(explode * 100)} percent apart`);
}

/** The laboratory's own grid where it can be drawn, eight by eight where it has too many blocks. */
function drawnBlocks(answer: TrafficAnswer): { m: number; n: number } {
  const { blocks_m: m, blocks_n: n } = answer.block;
  return m <= 32 && n <= 32 ? { m, n } : { m: 8, n: 8 };
}

function drawGrid(grid: BlockGrid, flow: Flow | null, answer: ScheduleAnswer | null): void {
  const caption = byId("lab-grid-caption");
  if (!flow || !answer) {
    grid.draw({ rows: 8, columns: 8, cell: () => "waiting" }, "The grid of score blocks, none computed yet.");
    caption.textContent = "Choose whose tiles fly, under the stand, to see the grid at work.";
    return;
  }
  const { schedule, time } = flow;
  const working = new Set(computesAt(schedule, time).map(({ m_block, n_block }) => `${m_block},${n_block}`));
  const done = new Set<string>();
  for (const { step, m_block, n_block } of schedule.computes)
    if (step < Math.floor(time)) done.add(`${m_block},${n_block}`);
  const cell = (row: number, column: number): Cell => {
    const key = `${row},${column}`;
    if (!blockExists(schedule, row, column)) return "none";
    if (working.has(key)) return "working";
    const stored = storedAt(schedule, time, row, column);
    if (stored) return stored === 2 ? "probs" : "scores";
    return done.has(key) ? "gone" : "waiting";
  };
  const way = schedule.algorithm === "standard" ? "standard attention" : "FlashAttention 2";
  grid.draw(
    { rows: schedule.blocks_m, columns: schedule.blocks_n, cell },
    `Score blocks of ${way} at step ${Math.floor(time)} of ${schedule.num_steps}.`,
  );
  const kept =
    schedule.algorithm === "standard"
      ? "Filled squares lie in HBM: S pale, P strong."
      : "Grey squares are done and gone: none of them was written to HBM.";
  caption.textContent =
    `Each square is a block of ${whole(answer.block_m)} × ${whole(answer.block_n)} scores. ` +
    `The bright one is being computed. ${kept}`;
}

async function showPart(part: Part | null, picked: boolean): Promise<void> {
  const card = byId("part-card");
  for (const button of document.querySelectorAll<HTMLButtonElement>("#parts button"))
    button.setAttribute("aria-pressed", String(picked && button.dataset.part === part?.id));
  if (!part) {
    card.hidden = true;
    return;
  }
  card.dataset.part = part.id;
  card.classList.toggle("picked", picked);
  card.replaceChildren(make("strong", {}, part.title));
  card.hidden = false;
  if (!picked) return;
  card.append(` ${part.what}`);
  for (const id of part.facts) {
    const fact = await getFact(id).catch(() => null);
    if (!fact || card.dataset.part !== part.id) continue;
    const link = make("a", { class: `chip chip-${fact.kind}`, href: `/numbers#${id}` }, fact.shown);
    card.append(make("span", { class: "part-fact" }, `${fact.claim}: `, link));
  }
}

function listParts(stand: Stand): void {
  const items = stand.parts().map((part) => {
    const button = make("button", { type: "button", "data-part": part.id, "aria-pressed": "false" }, part.title);
    button.addEventListener("click", () => {
      stand.pick(button.getAttribute("aria-pressed") === "true" ? null : part.id);
      byId<HTMLDetailsElement>("parts-menu").open = false;
    });
    return make("li", {}, button);
  });
  byId("parts").replaceChildren(...items);
}
