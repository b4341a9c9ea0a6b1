/*
 * The stage: renderer, scene, light and camera, and how they change with theme, tier and window. It draws when told to
 * and keeps nothing of what the exhibit shows.
 */
import {
  DirectionalLight,
  HemisphereLight,
  NeutralToneMapping,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  SRGBColorSpace,
  type Vector3,
  WebGLRenderer,
} from "three";
import { DEGREE } from "../math/scalar";
import { positionOf, type View } from "../math/view";
import { Backdrop } from "./backdrop";
import type { Occlusion } from "./occlusion";
import type { PackageModel } from "./package";
import { FOV } from "./poses";
import { bakeStudio } from "./studio";
import { ROOMS } from "./themes";
import { TIERS } from "./tiers";
import type { Theme, Tier } from "./types";

/** Name of what draws, asked on a canvas of its own, before the real one is given its settings. */
export function rendererName(): string {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(gl?.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return name;
}

/** Half the side of what the shadow lamp sees, in mm: the package fully apart. */
const LAMP_REACH = 92;
const LAMP_ELEVATION = 56 * DEGREE;
const LAMP_DISTANCE = 240;
/** Height of the middle of what it lights, in mm. */
const LAMP_CENTRE = 30;
/** The lamp, and with it the shadows, turns in steps: where it stands depends on the view alone, not on the way there. */
const LAMP_STEP = 0.004;

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(FOV / DEGREE, 1, 1, 2000);
  width = 1;
  height = 1;
  /** Draw calls and triangles of the last frame, all passes. */
  drawCalls = 0;
  triangles = 0;
  private readonly lamp = new DirectionalLight(0xfff4e6, 1);
  private backdrop: Backdrop | null = null;
  private studio: { dispose: () => void } | null = null;
  private occlusion: Occlusion | null = null;
  private occlusionWanted = false;
  private tier: Tier = "medium";
  private litFrom = Number.NaN;
  /** Stands in for the studio where it is not baked. */
  private readonly sky = new HemisphereLight(0xffffff, 0x8a857c, 2.2);

  /** Throws where the browser gives no WebGL2. */
  constructor(
    readonly canvas: HTMLCanvasElement,
    antialias: boolean,
  ) {
    const context = canvas.getContext("webgl2", {
      antialias,
      alpha: false,
      depth: true,
      stencil: false,
      powerPreference: "high-performance",
    });
    if (!context) throw new Error("The 3D stand needs WebGL2, which this browser does not offer.");
    this.renderer = new WebGLRenderer({ canvas, context, antialias, alpha: false });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.info.autoReset = false;
    this.scene.add(this.lamp, this.lamp.target, this.sky);
    const shadow = this.lamp.shadow;
    shadow.camera.left = shadow.camera.bottom = -LAMP_REACH;
    shadow.camera.right = shadow.camera.top = LAMP_REACH;
    shadow.camera.near = 10;
    shadow.camera.far = 500;
    shadow.bias = -0.0004;
    shadow.normalBias = 0.12;
    shadow.radius = 5;
  }

  addPackage(model: PackageModel): void {
    for (const group of Object.values(model.groups)) this.scene.add(group);
    for (const mesh of model.meshes) {
      mesh.receiveShadow = true;
      // The base is what shadows fall on; balls and joints are hidden under what they hold.
      mesh.castShadow = !mesh.name.startsWith("base_") && !mesh.name.endsWith("_solder");
    }
    this.backdrop = new Backdrop(model.bounds.base);
    this.scene.add(this.backdrop.screen, this.backdrop.shadow);
  }

  /** Writes direction and strength of the lamp. */
  lampVector(out: Vector3): void {
    out.subVectors(this.lamp.position, this.lamp.target.position).setLength(this.lamp.intensity);
  }

  /**
   * Studio and lamp turn with the reader, as if the object stood on a turntable: from wherever it is seen, a flat top
   * mirrors the dark card and never the key.
   */
  turnLight(azimuth: number): void {
    this.scene.environmentRotation.y = azimuth;
    const from = Math.round(azimuth / LAMP_STEP) * LAMP_STEP;
    if (from === this.litFrom) return;
    this.litFrom = from;
    const lamp = from - 62 * DEGREE;
    const level = Math.cos(LAMP_ELEVATION) * LAMP_DISTANCE;
    this.lamp.position.set(
      Math.sin(lamp) * level,
      LAMP_CENTRE + Math.sin(LAMP_ELEVATION) * LAMP_DISTANCE,
      Math.cos(lamp) * level,
    );
    this.lamp.target.position.set(0, LAMP_CENTRE, 0);
    this.backdrop?.setLamp(lamp);
    this.shadowsChanged();
  }

  /** The device came back empty: what was drawn to it once is drawn again. */
  restore(): void {
    this.studio = null;
    if (!TIERS[this.tier].plain) this.bake();
    this.renderer.shadowMap.needsUpdate = true;
  }

  private bake(): void {
    const baked = bakeStudio(this.renderer);
    this.scene.environment = baked.texture;
    this.studio = baked;
    this.renderer.shadowMap.needsUpdate = true;
  }

  setTheme(theme: Theme): void {
    const room = ROOMS[theme];
    this.backdrop?.setRoom(room);
    this.scene.environmentIntensity = room.studio;
    this.lamp.intensity = room.lamp;
    this.renderer.toneMappingExposure = room.exposure;
  }

  setTier(tier: Tier): void {
    this.tier = tier;
    const { shadow, plain } = TIERS[tier];
    if (!plain && !this.studio) this.bake();
    this.sky.visible = plain;
    this.lamp.castShadow = shadow > 0;
    this.renderer.shadowMap.enabled = shadow > 0;
    if (shadow > 0 && this.lamp.shadow.mapSize.x !== shadow) {
      this.lamp.shadow.mapSize.set(shadow, shadow);
      this.lamp.shadow.map?.dispose();
      this.lamp.shadow.map = null;
    }
    this.renderer.shadowMap.needsUpdate = true;
    this.occlusionWanted = TIERS[tier].occlusion;
    if (this.occlusionWanted) this.occlusion?.resize(this.width, this.height, this.pixelRatio);
    this.resize(this.width, this.height);
  }

  get pixelRatio(): number {
    return Math.min(window.devicePixelRatio || 1, TIERS[this.tier].pixelRatio);
  }

  /** Fetches the occlusion pass if the tier asks for one; true once there is something new to draw. */
  async loadOcclusion(seed: number): Promise<boolean> {
    if (!this.occlusionWanted || this.occlusion) return false;
    const { Occlusion } = await import("./occlusion");
    if (this.occlusion || !this.occlusionWanted) return false;
    this.occlusion = new Occlusion(this.renderer, this.scene, this.camera, seed);
    this.occlusion.resize(this.width, this.height, this.pixelRatio);
    return true;
  }

  /** Size in CSS px. */
  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.renderer.setPixelRatio(this.pixelRatio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.occlusion?.resize(width, height, this.pixelRatio);
  }

  shadowsChanged(): void {
    this.renderer.shadowMap.needsUpdate = true;
  }

  draw(view: View): void {
    const [x, y, z] = positionOf(view);
    this.camera.position.set(x, y, z);
    this.camera.near = Math.max(view.distance * 0.12, view.distance - 170);
    this.camera.far = view.distance + 320;
    this.camera.lookAt(view.target[0], view.target[1], view.target[2]);
    this.camera.updateProjectionMatrix();
    this.renderer.info.reset();
    if (this.occlusion && this.occlusionWanted) this.occlusion.render();
    else this.renderer.render(this.scene, this.camera);
    this.drawCalls = this.renderer.info.render.calls;
    this.triangles = this.renderer.info.render.triangles;
  }

  /** What the device holds. */
  get held(): { geometries: number; textures: number; programs: number } {
    const { memory, programs } = this.renderer.info;
    return { geometries: memory.geometries, textures: memory.textures, programs: programs?.length ?? 0 };
  }

  dispose(): void {
    this.occlusion?.dispose();
    this.backdrop?.dispose();
    this.studio?.dispose();
    this.lamp.shadow.map?.dispose();
    this.renderer.dispose();
  }
}
