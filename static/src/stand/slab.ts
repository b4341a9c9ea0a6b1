/*
 * The body of a data tile: a thin slab, one unit wide, rounded in plan, with a bevelled rim. Texture coordinates run
 * over the face from above, so that the rim takes the colour at the face's edge.
 */
import { BufferAttribute, BufferGeometry } from "three";

interface Ring {
  /** How far the outline is drawn in, and its height. */
  inset: number;
  y: number;
}

/**
 * `height`: thickness relative to the width; `corner`: plan radius; `steps`: segments of each rounded corner. Slabs too
 * small for their bevel to be seen go without it.
 */
export function slabGeometry(height: number, corner: number, steps: number, bevelled = true): BufferGeometry {
  const bevel = height * 0.28;
  const rings: Ring[] = bevelled
    ? [
        { inset: 0, y: 0 },
        { inset: 0, y: height - bevel },
        { inset: bevel * 0.3, y: height - bevel * 0.3 },
        { inset: bevel, y: height },
      ]
    : [
        { inset: 0, y: 0 },
        { inset: height * 0.2, y: height },
      ];
  const positions: number[] = [];
  const uvs: number[] = [];
  const index: number[] = [];
  const around = 4 * (steps + 1);
  for (const { inset, y } of rings)
    for (let quarter = 0; quarter < 4; quarter++)
      for (let i = 0; i <= steps; i++) {
        const angle = (quarter + i / steps) * (Math.PI / 2);
        const radius = corner - inset;
        const cx = (quarter === 0 || quarter === 3 ? 1 : -1) * (0.5 - corner);
        const cz = (quarter < 2 ? 1 : -1) * (0.5 - corner);
        const x = cx + Math.cos(angle) * radius;
        const z = cz + Math.sin(angle) * radius;
        positions.push(x, y, z);
        uvs.push(x + 0.5, 0.5 - z);
      }
  for (let ring = 0; ring < rings.length - 1; ring++)
    for (let i = 0; i < around; i++) {
      const a = ring * around + i;
      const b = ring * around + ((i + 1) % around);
      index.push(a, a + around, b, b, a + around, b + around);
    }
  const top = (rings.length - 1) * around;
  for (let i = 1; i < around - 1; i++) index.push(top, top + i + 1, top + i);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute("uv", new BufferAttribute(new Float32Array(uvs), 2));
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  return geometry;
}
