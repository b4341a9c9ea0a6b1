/* Reads the page's boot data and wires the modules: address ↔ store, chapters → stand, laboratory, tiles. */
import "../styles/index.css";
import modelUrl from "../../models/h100_sxm5.glb?url";
import { type ChapterScene, Director } from "./chapters/director";
import { FlowPanel } from "./flow/panel";
import { openLab } from "./lab/open";
import { showLevers, wireControls } from "./stage/controls";
import { listParts, showPart } from "./stage/part-card";
import type { Flow, Stand, StandState } from "./stand/types";
import { createStore } from "./state/store";
import { type Choices, DEFAULTS, type ExhibitState } from "./state/types";
import { decode, encode } from "./state/url";
import { byId } from "./ui/dom";
import { atRest } from "./ui/slots";

interface Boot {
  chapters: ChapterScene[];
  seqlens: number[];
  head_dims: number[];
  block_rows: number[];
  heads: number[];
  batches: number[];
  gpus: string[];
}

/** The largest grid of score blocks that is still drawn block by block. */
const MOST_BLOCKS = 32;
/** The reader's hand has come to rest. */
const REST_MS = 150;

declare global {
  interface Window {
    /** The running stand, for people who want to look inside and for the browser tests. */
    exhibitStand?: Stand;
  }
}

const bootText = document.getElementById("boot")?.textContent;
if (bootText) start(JSON.parse(bootText) as Boot);
else document.documentElement.dataset.theme = decode(location.search, emptyChoices()).state.theme;

function emptyChoices(): Choices {
  const { headDim, blockM, numHeads, batch, gpu } = DEFAULTS;
  return { seqlens: [], headDims: [headDim], blockRows: [blockM], heads: [numHeads], batches: [batch], gpus: [gpu] };
}

function start(boot: Boot): void {
  const choices: Choices = {
    seqlens: boot.seqlens,
    headDims: boot.head_dims,
    blockRows: boot.block_rows,
    heads: boot.heads,
    batches: boot.batches,
    gpus: boot.gpus,
  };
  const { state, notes } = decode(location.search, choices);
  const store = createStore<ExhibitState>(state);
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let stand: Stand | null = null;
  let flow: Flow | null = null;

  const lab = openLab(store, choices, notes, (inside) => document.documentElement.classList.toggle("in-lab", inside));
  const panel = new FlowPanel(store, (now, answer) => {
    flow = now;
    stand?.set({ flow });
    lab.flow(now, answer);
  });
  const director = new Director(boot.chapters, (chapter) => {
    applyScene(chapter);
    const hash = chapter.number === 1 && !location.hash ? "" : `#chapter-${chapter.number}`;
    history.replaceState(null, "", location.pathname + encode(store.get()) + hash);
  });
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
    const { flow: algorithm } = chapter.stand;
    const inLab = chapter.slug === "laboratory";
    panel.pause();
    panel.setScene({
      algorithm: algorithm || "none",
      blocksM: inLab ? MOST_BLOCKS : 8,
      blocksN: inLab ? MOST_BLOCKS : 8,
      whole: inLab,
    });
    stand?.set(standState(chapter));
    showLevers(standState(chapter).explode);
  }

  const settled = atRest(REST_MS, () => {
    history.replaceState(null, "", location.pathname + encode(store.get()) + location.hash);
    void panel.refresh().then(() => document.documentElement.classList.remove("lever-moving"));
  });
  store.subscribe((now, before) => {
    document.documentElement.dataset.theme = now.theme;
    settled.soon();
    if (now.seqlen !== before.seqlen) {
      // Tiles and address follow once the lever rests; until then what they show is marked as not yet following.
      document.documentElement.classList.add("lever-moving");
      return;
    }
    stand?.set(standState(director.chapter));
    showLevers(now.explode ?? director.chapter.stand.explode);
  });

  wireControls(store);
  document.documentElement.dataset.theme = store.get().theme;
  byId<HTMLSelectElement>("theme").value = store.get().theme;
  director.start();
  void openStand();

  function closePart(): void {
    stand?.pick(null);
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
        onPick: (part) => void showPart(part, true, closePart),
        onHover: (part) => void showPart(part, false, closePart),
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
      listParts(stand, closePart);
      byId("return-camera").addEventListener("click", () => stand?.returnCamera());
      stand.set(standState(director.chapter));
      await stand.settled();
      performance.mark("first-frame");
    } catch (error) {
      console.warn("The stand cannot be shown:", error);
      document.documentElement.classList.add("no-stand");
      note.textContent =
        "This browser cannot show the stand in three dimensions. Every chapter and the laboratory work without it.";
    }
  }
}
