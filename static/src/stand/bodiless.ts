/*
 * Things on the stage that are light or drawing rather than matter: backdrop, shadow, edge lines, lit regions. The
 * occlusion pass leaves out whatever is marked as lines, so they carry that mark.
 */
import type { Object3D } from "three";

export function markBodiless(object: Object3D): void {
  Object.assign(object, { isLine2: true });
}
