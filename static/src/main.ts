/* Reads the page's boot data and wires the modules: address ↔ store, chapters → stand, laboratory, tiles. */
import "../styles/index.css";
import modelUrl from "../../models/h100_sxm5.glb?url";
import type { TrafficAnswer } from "./api/schema.gen";
import { type ChapterScene, cutNamed, cutText, Director } from "./chapters/director";
import { BlockGrid } from "./figures/block-grid";
import { drawGrid, drawnBlocks } from "./flow/grid";
import { FlowPanel } from "./flow/panel";
import { Lab } from "./lab/lab";
import { showLevers, wireControls } from "./stage/controls";
import { wireDie } from "./stage/die-controls";
import { diePicked } from "./stage/die-pick";
import { listParts, showPart } from "./stage/part-card";
import { nameOf, tileNamed } from "./stand/tile-names";
import type { Flow, Stand, StandState } from "./stand/types";
import { createStore } from "./state/store";
import { type Choices, DEFAULTS, type ExhibitState } from "./state/types";
import { decode, encode } from "./state/url";
import { byId } from "./ui/dom";

interface Boot {
  chapters: ChapterScene[];
  seqlens: number[];
  head_dims: number[];
  block_rows: number[];
  gpus: string[];
}

/** What changes how the package looks and leaves the tiles alone. */
const LOOKS = ["explode", "cut", "open", "thickness", "isolate", "labels", "theme"] as const;

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
  let twin: Flow | null = null;
  let blocks = { m: 8, n: 8 };

  const grid = new BlockGrid(byId("lab-grid"));
  const panel = new FlowPanel(store, (now, answer, second) => {
    flow = now;
    twin = second;
    stand?.set({ flow, twin });
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
      twin,
      follow: tileNamed(now.follow),
      plaque: now.plaque ?? scene.plaque,
      die: diePicked(now.die),
      theme: now.theme,
      cut: cutNamed(now.cut ?? scene.cut),
      open: now.open ?? scene.open,
      thickness: now.thickness ?? 1,
      isolate: now.isolate,
    };
  }

  function applyScene(chapter: ChapterScene): void {
    const { grid: gridShown, flow: algorithm, direction } = chapter.stand;
    panel.pause();
    panel.setScene({
      algorithm: algorithm || "none",
      direction,
      blocksM: gridShown ? blocks.m : 8,
      blocksN: gridShown ? blocks.n : 8,
    });
    stand?.set(standState(chapter));
    levers(chapter);
  }

  function levers(chapter: ChapterScene): void {
    const state = standState(chapter);
    showLevers(state, stand?.thicknessFactor ?? null);
    showDie(state);
  }

  store.subscribe((now, before) => {
    document.documentElement.dataset.theme = now.theme;
    history.replaceState(null, "", location.pathname + encode(now) + location.hash);
    stand?.set(standState(director.chapter));
    levers(director.chapter);
    if (LOOKS.every((key) => now[key] === before[key])) void panel.refresh();
  });

  wireControls(store);
  const showDie = wireDie(store, (kind) => stand?.dieCount(kind) ?? null);
  document.documentElement.dataset.theme = store.get().theme;
  byId<HTMLSelectElement>("theme").value = store.get().theme;
  director.start();
  void openStand();

  function closePart(): void {
    stand?.pick(null);
    store.set({ die: null });
    void showPart(null, true, closePart);
  }

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
        onPick: (part) => {
          store.set({ die: diePicked(part?.id ?? null) ? (part?.id ?? null) : null });
          void showPart(part, true, closePart);
        },
        onHover: (part) => void showPart(part, false, closePart),
        onCut: (cut) => store.set({ cut: cutText(cut) }),
        onCameraTaken: (taken) => {
          byId("return-camera").hidden = !taken;
          if (taken && store.get().follow) store.set({ follow: null });
        },
        onPickTile: (tile) => store.set({ follow: nameOf(tile) }),
        onContextLost: () => {
          note.hidden = false;
          note.textContent = "The graphics device was lost; the stand comes back when the browser gives it back.";
        },
        onContextRestored: () => {
          note.hidden = true;
        },
      });
      note.hidden = true;
      window.exhibitStand = stand;
      listParts(stand, closePart);
      byId("return-camera").addEventListener("click", () => stand?.returnCamera());
      stand.set(standState(director.chapter));
      levers(director.chapter);
    } catch (error) {
      console.warn("The stand cannot be shown:", error);
      document.documentElement.classList.add("no-stand");
      note.textContent =
        "This browser cannot show the stand in three dimensions. Every chapter and the laboratory work without it.";
    }
  }
}
