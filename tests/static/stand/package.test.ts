/* The model as the stand reads it: the file this repository ships, its parts, its groups, its number of draw calls. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { GROUPS } from "../../../static/src/stand/explode";
import { readGlb } from "../../../static/src/stand/glb";
import { LOOKS, Materials } from "../../../static/src/stand/materials";
import { arrangePackage } from "../../../static/src/stand/package";

const file = readFileSync(new URL("../../../models/h100_sxm5.glb", import.meta.url));
const bytes = new Uint8Array(file).buffer;
const json = JSON.parse(file.subarray(20, 20 + file.readUInt32LE(12)).toString());
const { nodes } = readGlb(bytes, "package");
const materials = new Materials();
const model = arrangePackage(bytes, (name) => materials.get(name, false));

describe("the reader", () => {
  it("finds every node, with as many copies as the file counts", () => {
    expect(nodes.map(({ name }) => name).sort()).toEqual(json.nodes.map((node: { name: string }) => node.name).sort());
    for (const node of json.nodes) {
      const instancing = node.extensions?.EXT_mesh_gpu_instancing?.attributes.TRANSLATION;
      const copies = nodes.find(({ name }) => name === node.name)?.copies.length;
      expect(copies).toBe(instancing === undefined ? 1 : json.accessors[instancing].count);
    }
  });

  it("reads positions within the bounds the file states", () => {
    for (const node of nodes) {
      if (!node.geometry) continue;
      const raw = json.nodes.find(({ name }: { name: string }) => name === node.name);
      const accessor = json.accessors[json.meshes[raw.mesh].primitives[0].attributes.POSITION];
      const position = node.geometry.getAttribute("position");
      expect(position.count).toBe(accessor.count);
      const scale = accessor.normalized ? { 5120: 127, 5122: 32767 }[accessor.componentType as 5120 | 5122] : 1;
      for (const [axis, read] of (["getX", "getY", "getZ"] as const).entries()) {
        const values = Array.from({ length: position.count }, (_, i) => position[read](i));
        expect(Math.min(...values)).toBeCloseTo(accessor.min[axis] / scale, 4);
        expect(Math.max(...values)).toBeCloseTo(accessor.max[axis] / scale, 4);
      }
    }
  });

  it("says in a sentence what is wrong with other bytes", () => {
    expect(() => readGlb(new TextEncoder().encode("<!doctype html><html></html>").buffer, "package")).toThrow(
      /not a binary glTF/,
    );
    expect(() => readGlb(bytes, "parcel")).toThrow(/no node named "parcel"/);
  });
});

describe("the package", () => {
  it("has the main parts, each with a title and a sentence", () => {
    for (const id of [
      "base",
      "substrate",
      "capacitors",
      "bga_balls",
      "interposer",
      "interposer_lanes",
      "moulding",
      "gpu_die",
      ...[0, 1, 2, 3, 4, 5].map((i) => `hbm_stack_${i}`),
    ]) {
      const part = model.parts.get(id);
      expect(part?.title, id).toBeTruthy();
      expect(part?.what, id).toMatch(/\.$/);
    }
  });

  it("stands the right way up: base at the bottom, stacks at the sides, tops level with the die's", () => {
    expect(model.bounds.base.max[1]).toBeLessThan(model.bounds.gpu_die.min[1]);
    expect(model.bounds.stacks_left.max[0]).toBeLessThan(model.bounds.gpu_die.min[0]);
    expect(model.bounds.stacks_right.min[0]).toBeGreaterThan(model.bounds.gpu_die.max[0]);
    expect(model.bounds.moulding.max[1]).toBeCloseTo(model.dieTop, 1);
    expect(GROUPS.every((group) => model.groups[group].children.length > 0)).toBe(true);
  });

  it("knows the die's regions: 8 clusters, 144 SMs, 2 halves of L2, 12 controllers, all on the die", () => {
    const { gpc, sm, l2, memory_controller } = model.regions;
    expect([gpc.length, sm.length, l2.length, memory_controller.length]).toEqual([8, 144, 2, 12]);
    const die = model.bounds.gpu_die;
    for (const [x, z, w, d] of [...gpc, ...sm, ...l2, ...memory_controller]) {
      expect(x - w / 2).toBeGreaterThan(die.min[0]);
      expect(x + w / 2).toBeLessThan(die.max[0]);
      expect(z - d / 2).toBeGreaterThan(die.min[2]);
      expect(z + d / 2).toBeLessThan(die.max[2]);
    }
  });

  it("knows how every material looks", () => {
    for (const { name } of json.materials) expect(LOOKS, name).toHaveProperty(name);
  });

  it("takes few draw calls and stays within the triangles of the highest tier", () => {
    expect(model.meshes.length).toBeLessThanOrEqual(40);
    const triangles = model.meshes.reduce(
      (sum, mesh) => sum + ((mesh.geometry.getIndex()?.count ?? 0) / 3) * mesh.count,
      0,
    );
    expect(triangles).toBeGreaterThan(18_540);
    expect(triangles).toBeLessThan(400_000);
  });

  it("gives every instance a part that can be picked", () => {
    for (const mesh of model.meshes)
      for (const part of mesh.userData.parts as string[]) expect(model.parts.has(part), mesh.name).toBe(true);
  });
});
