/*
 * Ambient occlusion where parts meet: the high tier's extra pass, fetched only after the first frame is on screen.
 * Draws the scene to a multisampled target, darkens it, and hands it to the screen with the same tone mapping.
 */
import {
  HalfFloatType,
  type PerspectiveCamera,
  type Scene,
  Vector2,
  type WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import { EffectComposer } from "three/examples/jsm/postprocessing/EffectComposer.js";
import { GTAOPass } from "three/examples/jsm/postprocessing/GTAOPass.js";
import { OutputPass } from "three/examples/jsm/postprocessing/OutputPass.js";
import { RenderPass } from "three/examples/jsm/postprocessing/RenderPass.js";
import { seededRandom } from "../math/random";

/** Reach of the darkening in mm: about the height of a stack. */
const RADIUS = 3.2;

/** Backdrop, shadow, lines and light have no body and darken nothing: the pass leaves out what is marked as lines. */
export class Occlusion {
  private readonly composer: EffectComposer;
  private readonly gtao: GTAOPass;

  constructor(renderer: WebGLRenderer, scene: Scene, camera: PerspectiveCamera, seed: number) {
    const size = renderer.getDrawingBufferSize(new Vector2());
    this.composer = new EffectComposer(
      renderer,
      new WebGLRenderTarget(size.x, size.y, { type: HalfFloatType, samples: 4 }),
    );
    this.composer.addPass(new RenderPass(scene, camera));
    // The pass draws its noise from Math.random; pictures must come out the same every time.
    const random = Math.random;
    Math.random = seededRandom(seed);
    try {
      this.gtao = new GTAOPass(scene, camera, size.x, size.y);
    } finally {
      Math.random = random;
    }
    this.gtao.updateGtaoMaterial({ radius: RADIUS, distanceExponent: 1.4, thickness: 2, scale: 1.1, samples: 16 });
    this.gtao.updatePdMaterial({ lumaPhi: 10, depthPhi: 2, normalPhi: 3, radius: 6, rings: 2, samples: 16 });
    this.gtao.blendIntensity = 0.85;
    this.composer.addPass(this.gtao);
    this.composer.addPass(new OutputPass());
  }

  resize(width: number, height: number, pixelRatio: number): void {
    this.composer.setPixelRatio(pixelRatio);
    this.composer.setSize(width, height);
  }

  render(): void {
    this.composer.render();
  }

  dispose(): void {
    this.gtao.dispose();
    this.composer.dispose();
  }
}
