/*
 * Stands in for three's manager of VR headsets: the renderer creates one and asks it every frame whether it presents.
 * This one never does. The build puts it in the place of the library's own (see slim-three.ts).
 */

export class WebXRManager {
  readonly enabled = false;
  readonly isPresenting = false;
  readonly cameraAutoUpdate = true;

  setAnimationLoop(): void {}
  getEnvironmentBlendMode(): string {
    return "opaque";
  }
  updateCamera(): void {}
  getCamera(): null {
    return null;
  }
  hasDepthSensing(): boolean {
    return false;
  }
  getDepthSensingMesh(): null {
    return null;
  }
  addEventListener(): void {}
  removeEventListener(): void {}
  dispose(): void {}
}
