/*
 * The stand put together: one typed state in, picks and camera changes out. Every frame is made from the state by the
 * same short list of steps, so any moment can be jumped to, scrubbed and photographed.
 */
import { Damper } from "../math/damper";
import { calloutAnchors, EASILY_HIDDEN, onScreen } from "./anchors";
import { Callouts } from "./callouts";
import { CameraRig } from "./camera";
import { makeCanvas } from "./canvas";
import { CloseUp, smsOf } from "./close-up";
import { Display } from "./display";
import { subjectOf } from "./focus";
import { FrameLoop } from "./frame-loop";
import { Input } from "./input";
import { Materials } from "./materials";
import { loadPackage, type PackageModel } from "./package";
import { PackageView } from "./package-view";
import { middleOf, partBox } from "./placement";
import { Pointer } from "./pointer";
import { type Bounds, FOV, freeMargins, poseView } from "./poses";
import { rendererName, Stage } from "./stage";
import { ROOMS } from "./themes";
import { startTier, TIERS, TierChooser } from "./tiers";
import type { DiePick, Part, Stand, StandOptions, StandState, StandStats } from "./types";

/** Below this width of the stand, in px, there is no room for names beside the object. */
const CRAMPED = 480;

export class LiveStand implements Stand {
  private current: StandState;
  private readonly presence: Damper;
  private readonly rig: CameraRig;
  private readonly loop: FrameLoop;
  private readonly input: Input;
  private readonly callouts: Callouts;
  private readonly display: Display;
  private readonly shown: PackageView;
  private readonly pointer: Pointer;
  private readonly closeUp: CloseUp;
  private readonly bounds: Bounds;
  private readonly resized: ResizeObserver;
  private readonly tier: TierChooser;
  private readonly control = new AbortController();
  private size: { width: number; height: number } | null;
  private hovered: string | null = null;
  private picked: string | null = null;
  private loading: Promise<void> | null = null;
  private lost = false;

  static async create(host: HTMLElement, options: StandOptions): Promise<LiveStand> {
    const canvas = makeCanvas(host, options.label);
    const tier = startTier(options.tier, options.tier === "auto" ? rendererName() : "");
    const materials = new Materials();
    // The model is on its way while the stage is set up.
    const loading = loadPackage(options.modelUrl, (name) => materials.get(name, TIERS[tier].plain));
    loading.catch(() => undefined);
    const stage = new Stage(canvas, tier !== "low");
    try {
      const model = await loading;
      host.prepend(canvas);
      return new LiveStand(host, stage, materials, model, options, tier);
    } catch (error) {
      materials.dispose();
      stage.dispose();
      canvas.remove();
      throw error;
    }
  }

  private constructor(
    host: HTMLElement,
    private readonly stage: Stage,
    private readonly materials: Materials,
    private readonly model: PackageModel,
    private readonly options: StandOptions,
    tier: StandStats["tier"],
  ) {
    this.current = { cut: null, open: 0, thickness: 1, isolate: null, ...options.state };
    this.tier = new TierChooser(tier);
    this.presence = new Damper(this.current.grid ? 1 : 0, 400);
    stage.addPackage(model);
    this.display = new Display(model, stage);
    const { parts } = this.display;
    this.shown = new PackageView(host, stage, materials, model, parts, this.current, this.movePlane);
    this.bounds = { groups: model.bounds, plaque: this.display.plaqueCorners };
    this.pointer = new Pointer(model, stage);
    this.closeUp = new CloseUp(model, stage);
    this.callouts = new Callouts(host);
    this.size = { width: host.clientWidth, height: host.clientHeight };
    this.setTier(tier);
    this.resizeIfNeeded();
    this.rig = new CameraRig(() => this.home());
    parts.setLit(this.current.lit);
    parts.setIsolated(this.current.isolate ?? null);
    this.loop = new FrameLoop(host, this.draw, this.measure);
    this.input = new Input(stage.canvas, {
      onOrbit: this.orbit,
      onHover: this.hover,
      onTap: this.tap,
      onRelease: () => this.returnCamera(),
    });
    this.resized = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = host;
      if (width === stage.width && height === stage.height) return;
      this.size = { width, height };
      this.loop.request();
    });
    this.resized.observe(host);
    const signal = this.control.signal;
    stage.canvas.addEventListener("webglcontextlost", this.onLost, { signal });
    stage.canvas.addEventListener("webglcontextrestored", this.onRestored, { signal });
    this.loop.request();
  }

  get state(): StandState {
    return this.current;
  }

  get thicknessFactor(): number {
    return this.model.thicknessFactor;
  }

  set(patch: Partial<StandState>): void {
    const before = this.current;
    this.current = { ...before, ...patch };
    const now = this.current;
    this.shown.follow(now);
    this.presence.goal = now.grid ? 1 : 0;
    if (now.theme !== before.theme) this.dress();
    if (now.lit !== before.lit) this.display.parts.setLit(now.lit);
    if (now.isolate !== before.isolate) this.display.parts.setIsolated(now.isolate ?? null);
    if ((now.cut && !before.cut) || (CloseUp.asks(now) && CloseUp.turns(before, now))) this.loading = null;
    this.closeUp.follow(now, this.cuts);
    if (
      CloseUp.turns(before, now) ||
      now.pose !== before.pose ||
      now.grid !== before.grid ||
      now.labels !== before.labels ||
      now.isolate !== before.isolate ||
      now.cut?.axis !== before.cut?.axis
    ) {
      // A new pose takes the camera back; a lever or a new moment leaves it to the reader.
      if (now.pose !== before.pose) this.giveBack();
      else if (!this.rig.taken) this.rig.goHome(performance.now(), this.cuts);
    }
    this.loop.request();
  }

  parts(): readonly Part[] {
    return [...this.model.parts.values()].map(({ id, title, what, facts }) => ({ id, title, what, facts }));
  }

  dieCount(kind: DiePick["kind"]): number {
    return this.model.regions[kind].length;
  }

  partCentre(id: string): readonly [number, number, number] | null {
    const part = this.model.parts.get(id);
    if (!part) return null;
    const box = partBox(part, this.shown.shape);
    return box && middleOf(box);
  }

  partAt(x: number, y: number): string | null {
    return this.pointer.partAt({ x, y }, this.shown.shape);
  }

  pick(id: string | null): void {
    this.picked = id !== null && this.model.parts.has(id) ? id : null;
    this.display.parts.setMarked(this.hovered, this.picked);
    this.loop.request();
  }

  returnCamera(): void {
    this.giveBack();
    this.loop.request();
  }

  async settled(): Promise<void> {
    await this.loop.settled();
    if (this.loading) await this.loading;
    await this.loop.settled();
  }

  stats(): StandStats {
    return {
      frames: this.loop.frames,
      drawCalls: this.stage.drawCalls,
      triangles: this.stage.triangles,
      tier: this.tier.tier,
      ...this.stage.held,
    };
  }

  dispose(): void {
    this.control.abort();
    this.loop.stop();
    this.input.dispose();
    this.resized.disconnect();
    this.callouts.dispose();
    this.shown.dispose();
    this.closeUp.dispose();
    this.display.dispose();
    this.materials.dispose();
    for (const mesh of this.model.meshes) {
      mesh.geometry.dispose();
      mesh.dispose();
    }
    this.stage.dispose();
    this.stage.canvas.remove();
  }

  private get cuts(): boolean {
    return this.options.reducedMotion || this.options.frozen;
  }

  private home() {
    const { width, height } = this.stage;
    const free = freeMargins(
      width,
      height,
      this.current.labels,
      CloseUp.wants(this.current) ||
        this.current.chart?.kind === "columns" ||
        (this.current.pose === "section" && this.shown.shape.plane !== null),
    );
    return poseView(
      this.current.pose,
      this.bounds,
      this.shown.shape.explode,
      { fov: FOV, aspect: width / height },
      free,
      this.current.grid,
      this.shown.shape,
      this.closeUp.subject(
        this.current,
        this.shown.shape,
        this.display.layout,
        subjectOf(this.model, this.current, this.shown.shape),
      ),
    );
  }

  private giveBack(): void {
    const was = this.rig.taken;
    this.rig.goHome(performance.now(), this.cuts);
    if (was) this.options.onCameraTaken?.(false);
  }

  private setTier(tier: StandStats["tier"]): void {
    this.shown.setPlain(TIERS[tier].plain);
    this.stage.setTier(tier);
    this.dress();
  }

  private dress(): void {
    const room = ROOMS[this.current.theme];
    this.stage.setTheme(this.current.theme);
    this.materials.setTheme(this.current.theme, room);
    this.display.setRoom(room);
    this.shown.setRoom(this.current.theme, room);
    this.callouts.setRoom(room);
    this.closeUp.setRoom(room);
  }

  private resizeIfNeeded(): void {
    if (!this.size || this.size.width === 0 || this.size.height === 0) return;
    const { width, height } = this.size;
    this.size = null;
    this.stage.resize(width, height);
    this.display.resize(width, height);
    this.closeUp.resize();
  }

  /** The frame, as one list. */
  private readonly draw = (nowMs: number, deltaMs: number): boolean => {
    if (this.lost) return false;
    this.resizeIfNeeded();
    if (this.cuts) this.finishTransitions();
    const moving = this.shown.update(deltaMs, this.cuts);
    const { shape } = this.shown;
    const presence = this.presence.update(deltaMs);
    const rising = this.closeUp.update(deltaMs, shape);
    this.display.setScale(shape.scale);
    this.display.setPicked(this.current.plaque ? [] : smsOf(this.current.die ?? null, this.model));
    this.display.show(this.current.flow, this.current.twin ?? null, shape.explode, presence);
    const view = this.rig.update(nowMs);
    this.materials.light.uAzimuth.value = view.azimuth;
    this.stage.turnLight(view.azimuth);
    this.stage.lampVector(this.materials.light.uLamp.value);
    this.shown.show(view);
    this.stage.draw(view);
    this.label();
    if (!this.loading) this.loading = this.loadExtras();
    return moving || rising || !this.presence.resting || this.rig.flying;
  };

  private finishTransitions(): void {
    this.presence.finish();
    this.rig.finish();
  }

  private async loadExtras(): Promise<void> {
    const near = this.closeUp.fetch(() => this.current, this.cuts);
    const fetched = [this.stage.loadOcclusion(this.options.seed), this.shown.fetch(this.current), near];
    if (!(await Promise.all(fetched)).some(Boolean)) return;
    // What came near has to be kept in view.
    if ((await near) && !this.rig.taken) this.rig.goHome(performance.now(), this.cuts);
    this.loop.request();
  }

  private label(): void {
    const { width, height } = this.stage;
    const { flow, lit } = this.current;
    const sm = this.display.busySm(flow);
    const { azimuth } = this.rig.view;
    const { shape } = this.shown;
    const anchors = this.closeUp.anchors(this.current, shape, this.display.layout, () =>
      calloutAnchors(this.model, this.current, shape, azimuth, sm, this.shown.anchors(azimuth)),
    );
    const readable = width >= CRAMPED ? anchors : anchors.filter(({ id }) => this.leavesRoom(id));
    const placed = onScreen(readable, this.rig.view, width, height);
    this.callouts.show(
      placed.filter(({ id, x, y }) => !EASILY_HIDDEN.has(id) || this.partAt(x, y) === id),
      width,
      height,
      new Set([...lit, this.hovered ?? "", this.picked ?? ""]),
    );
  }

  /** In a narrow window names lie over the object: over a cut face or on bars they would hide what is shown. */
  private leavesRoom(id: string): boolean {
    const onCut = this.current.pose === "section" && this.shown.shape.plane !== null;
    return !onCut && !id.startsWith("chart_");
  }

  private readonly measure = (ms: number): void => {
    if (this.options.tier !== "auto") return;
    const changed = this.tier.push(ms);
    if (!changed) return;
    this.setTier(changed);
    this.loading = null;
    this.loop.request();
  };

  /** The grip was moved: the state follows, and the page is told. */
  private readonly movePlane = (at: number): void => {
    if (!this.current.cut) return;
    const cut = { axis: this.current.cut.axis, at };
    this.set({ cut });
    this.options.onCut?.(cut);
  };

  private readonly orbit = (turn: number, rise: number, zoom: number): void => {
    const was = this.rig.taken;
    this.rig.orbit(turn, rise, zoom);
    if (!was) this.options.onCameraTaken?.(true);
    this.loop.request();
  };

  private readonly hover = (at: { x: number; y: number } | null): void => {
    const ray = at && this.pointer.ray(at);
    const pick = ray ? this.closeUp.hit(ray.from, ray.along) : undefined;
    if (this.closeUp.hover(pick ?? null)) {
      this.options.onHover?.(this.closeUp.partOf(pick ?? null));
      this.loop.request();
    }
    const id = at && pick === undefined ? this.pointer.partAt(at, this.shown.shape) : null;
    if (pick !== undefined) this.stage.canvas.style.cursor = "pointer";
    if (id === this.hovered) return;
    this.hovered = id;
    this.stage.canvas.style.cursor = id ? "pointer" : "";
    this.display.parts.setMarked(this.hovered, this.picked);
    this.options.onHover?.(this.partOf(id));
    this.loop.request();
  };

  private readonly tap = (at: { x: number; y: number }): void => {
    const { from, along } = this.pointer.ray(at);
    const die = this.closeUp.hit(from, along);
    if (die !== undefined) {
      this.set({ die });
      this.options.onPick?.(this.closeUp.partOf(die));
      return;
    }
    const tile = this.options.onPickTile && this.display.tileAlong(from, along);
    if (tile) {
      this.options.onPickTile?.(tile);
      return;
    }
    this.pick(this.pointer.partAt(at, this.shown.shape));
    this.options.onPick?.(this.partOf(this.picked));
  };

  private partOf(id: string | null): Part | null {
    const part = id === null ? undefined : this.model.parts.get(id);
    return part ? { id: part.id, title: part.title, what: part.what, facts: part.facts } : null;
  }

  private readonly onLost = (event: Event): void => {
    event.preventDefault();
    this.lost = true;
    this.options.onContextLost?.();
  };

  private readonly onRestored = (): void => {
    this.lost = false;
    this.stage.restore();
    this.options.onContextRestored?.();
    this.loop.request();
  };
}
