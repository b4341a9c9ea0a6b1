/* Reads the page's boot data and wires the modules: address ↔ store, chapters → stand, laboratory, tiles. */
import "../styles/index.css";
import modelUrl from "../../models/h100_sxm5.glb?url";
import type { ChapterScene } from "./chapters/places";
import { FlowPanel } from "./flow/panel";
import { openLab } from "./lab/open";
import { Reading } from "./reading";
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
  const reading = new Reading({
    chapters: boot.chapters,
    store,
    choices,
    flow: panel,
    entered: applyScene,
    changed: () => stand?.set(standState()),
    pick: pickPart,
  });
  function standState(): StandState {
    const now = store.get();
    const scene = reading.scene;
    return reading.over({
      pose: scene.pose,
      explode: now.explode ?? scene.explode,
      lit: scene.lit,
      labels: now.labels && scene.labels,
      grid: scene.grid,
      flow,
      theme: now.theme,
    });
  }

  function applyScene(): void {
    const { flow: algorithm, moment, explode } = reading.scene;
    const inLab = reading.atLastChapter;
    panel.pause();
    panel.setScene({
      algorithm: algorithm || "none",
      blocksM: inLab ? MOST_BLOCKS : 8,
      blocksN: inLab ? MOST_BLOCKS : 8,
      whole: inLab,
      moment,
    });
    stand?.set(standState());
    showLevers(store.get().explode ?? explode);
  }

  function pickPart(id: string | null): void {
    stand?.pick(id);
    const part = stand?.parts().find((item) => item.id === id) ?? null;
    void showPart(part, true, closePart);
    reading.picked(part?.id ?? null);
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
    stand?.set(standState());
    showLevers(now.explode ?? reading.scene.explode);
    if (now.explode === before.explode && now.labels === before.labels && now.theme === before.theme)
      void panel.refresh();
  });

  wireControls(store);
  document.documentElement.dataset.theme = store.get().theme;
  byId<HTMLSelectElement>("theme").value = store.get().theme;
  reading.start();
  // Until the first picture stands, everything else waits its turn on the line.
  void openStand().finally(() => reading.open());

  function closePart(): void {
    pickPart(null);
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
        state: standState(),
        onPick: (part) => pickPart(part?.id ?? null),
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
      listParts(stand, pickPart);
      byId("return-camera").addEventListener("click", () => stand?.returnCamera());
      stand.set(standState());
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
