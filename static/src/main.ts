/* Reads the page's boot data and wires the modules: address ↔ store, chapters → stand, laboratory, tiles. */
import "../styles/index.css";
import modelUrl from "../../models/h100_sxm5.glb?url";
import type { ChapterScene } from "./chapters/places";
import { FlowPanel } from "./flow/panel";
import { openLab } from "./lab/open";
import { Reading } from "./reading";
import { showLevers, wireControls } from "./stage/controls";
import { wireDie } from "./stage/die-controls";
import { diePicked } from "./stage/die-pick";
import { listParts, showPart } from "./stage/part-card";
import { cutNamed, cutText } from "./stand/cut-names";
import { nameOf, tileNamed } from "./stand/tile-names";
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
/** What changes how the package looks and leaves the tiles alone. */
const LOOKS = ["explode", "cut", "open", "thickness", "isolate", "labels", "theme"] as const;

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

  let twin: Flow | null = null;

  const lab = openLab(store, choices, notes, (inside) => document.documentElement.classList.toggle("in-lab", inside));
  const panel = new FlowPanel(store, (now, answer, second) => {
    flow = now;
    twin = second;
    stand?.set({ flow, twin });
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
      twin,
      follow: tileNamed(now.follow),
      plaque: now.plaque ?? scene.plaque,
      die: diePicked(now.die),
      theme: now.theme,
      cut: cutNamed(now.cut ?? scene.cut),
      open: now.open ?? scene.open,
      thickness: now.thickness ?? 1,
      isolate: now.isolate,
    });
  }

  function applyScene(): void {
    const { flow: algorithm, direction, moment } = reading.scene;
    const inLab = reading.atLastChapter;
    panel.pause();
    panel.setScene({
      algorithm: algorithm || "none",
      direction,
      blocksM: inLab ? MOST_BLOCKS : 8,
      blocksN: inLab ? MOST_BLOCKS : 8,
      whole: inLab,
      moment,
    });
    stand?.set(standState());
    levers();
  }

  function levers(): void {
    const state = standState();
    showLevers(state, stand?.thicknessFactor ?? null);
    showDie(state);
    reading.shown(state);
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
    levers();
    if (LOOKS.every((key) => now[key] === before[key])) void panel.refresh();
  });

  wireControls(store);
  const showDie = wireDie(store, (kind) => stand?.dieCount(kind) ?? null);
  document.documentElement.dataset.theme = store.get().theme;
  byId<HTMLSelectElement>("theme").value = store.get().theme;
  reading.start();
  // Until the first picture stands, everything else waits its turn on the line.
  void openStand().finally(() => reading.open());

  function closePart(): void {
    store.set({ die: null });
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
        onPick: (part) => {
          store.set({ die: diePicked(part?.id ?? null) ? (part?.id ?? null) : null });
          pickPart(part?.id ?? null);
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
      listParts(stand, pickPart);
      byId("return-camera").addEventListener("click", () => stand?.returnCamera());
      stand.set(standState());
      levers();
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
