/*
 * The stage: renderer, scene, light and camera, and how they change with theme, tier and window. It draws when told to
 * and keeps nothing of what the exhibit shows.
 */
import {
  DirectionalLight,
  NeutralToneMapping,
  PCFShadowMap,
  PerspectiveCamera,
  Scene,
  SRGBColorSpace,
  WebGLRenderer,
} from "three";
import { DEGREE } from "../math/scalar";
import { positionOf, type View } from "../math/view";
import { Backdrop } from "./backdrop";
import type { Occlusion } from "./occlusion";
import type { PackageModel } from "./package";
import { FOV, POSES } from "./poses";
import { bakeStudio } from "./studio";
import { ROOMS } from "./themes";
import { TIERS } from "./tiers";
import type { Theme, Tier } from "./types";

/** Half the side of what the shadow lamp sees, in mm: the package fully apart. */
const LAMP_REACH = 92;

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
    this.scene.add(this.lamp, this.lamp.target);
    const shadow = this.lamp.shadow;
    shadow.camera.left = shadow.camera.bottom = -LAMP_REACH;
    shadow.camera.right = shadow.camera.top = LAMP_REACH;
    shadow.camera.near = 10;
    shadow.camera.far = 500;
    shadow.bias = -0.0004;
    shadow.normalBias = 0.12;
    shadow.radius = 5;
    this.bake();
  }

  get rendererName(): string {
    const gl = this.renderer.getContext();
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    return info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
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
    // The lamp stands where the studio has its key, seen from the first view.
    const azimuth = POSES.hero.azimuth - 62 * DEGREE;
    const elevation = 56 * DEGREE;
    this.lamp.position.set(
      Math.sin(azimuth) * Math.cos(elevation) * 240,
      Math.sin(elevation) * 240 + 30,
      Math.cos(azimuth) * Math.cos(elevation) * 240,
    );
    this.lamp.target.position.set(0, 30, 0);
  }

  /** Bakes the studio; needed again after a lost context. */
  bake(): void {
    this.studio?.dispose();
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
    const { shadow } = TIERS[tier];
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
  async loadOcclusion(): Promise<boolean> {
    if (!this.occlusionWanted || this.occlusion) return false;
    const { Occlusion } = await import("./occlusion");
    if (this.occlusion || !this.occlusionWanted) return false;
    this.occlusion = new Occlusion(this.renderer, this.scene, this.camera);
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
    // The studio turns with the reader: a flat top mirrors the dark card from wherever it is seen.
    this.scene.environmentRotation.y = view.azimuth;
    this.renderer.info.reset();
    if (this.occlusion && this.occlusionWanted) this.occlusion.render();
    else this.renderer.render(this.scene, this.camera);
    this.drawCalls = this.renderer.info.render.calls;
    this.triangles = this.renderer.info.render.triangles;
  }

  dispose(): void {
    this.occlusion?.dispose();
    this.backdrop?.dispose();
    this.studio?.dispose();
    this.lamp.shadow.map?.dispose();
    this.renderer.dispose();
  }
}
