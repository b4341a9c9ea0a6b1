/* Where parts stand when thinned, opened, cut and taken apart; and the bodies drawn for it, from the shipped model. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Bodies } from "../../../static/src/stand/bodies";
import { HATCHES, faceOf } from "../../../static/src/stand/hatch";
import { Materials } from "../../../static/src/stand/materials";
import { arrangePackage, type Body, type PackagePart } from "../../../static/src/stand/package";
import {
  bodiesOf,
  boxCut,
  CLOSED,
  OPENING_STACK,
  partBox,
  planeOf,
  type Shape,
  scaleOf,
} from "../../../static/src/stand/placement";

const bytes = new Uint8Array(readFileSync(new URL("../../../models/h100_sxm5.glb", import.meta.url))).buffer;
const materials = new Materials();
const model = arrangePackage(bytes, (name) => materials.get(name, false));
const part = (id: string) => model.parts.get(id) as PackagePart;
const shape = (change: Partial<Shape>): Shape => ({ ...CLOSED, ...change });
const half = model.bounds.substrate.max;

describe("thickness", () => {
  it("is four times too tall as drawn, and a quarter of that when true", () => {
    expect(model.thicknessFactor).toBe(4);
    expect(scaleOf(1, 4)).toBe(1);
    expect(scaleOf(0, 4)).toBe(0.25);
    const true_ = partBox(part("gpu_die"), shape({ scale: 0.25 }));
    const drawn = partBox(part("gpu_die"), CLOSED);
    expect((true_?.max[1] ?? 0) / (drawn?.max[1] ?? 1)).toBeCloseTo(0.25);
    expect(true_?.max[0]).toBe(drawn?.max[0]);
  });

  it("leaves the base, and how far groups move apart", () => {
    expect(partBox(part("base"), shape({ scale: 0.25 }))).toEqual(partBox(part("base"), CLOSED));
    const [thin, thick] = [0.25, 1].map((scale) => {
      const apart = partBox(part("moulding"), shape({ scale, explode: 1 }));
      const closed = partBox(part("moulding"), shape({ scale }));
      return (apart?.min[1] ?? 0) - (closed?.min[1] ?? 0);
    });
    expect(thin).toBeCloseTo(thick as number);
  });
});

describe("the opened stack", () => {
  it("spaces nine layers evenly, in order, the same at every thickness", () => {
    const dies = (at: Shape) =>
      bodiesOf(part(OPENING_STACK), at)
        .filter((_, i) => [0, 1, 2, 3, 4, 5, 6, 7, 8].includes(dieIndices.indexOf(i)))
        .map(({ min }) => min[1] * at.scale);
    const dieIndices = part(OPENING_STACK)
      .boxes.map((box, i) => ({ i, size: (box.max[0] - box.min[0]) * (box.max[1] - box.min[1]) }))
      .filter(({ size }) => size > 2)
      .map(({ i }) => i);
    expect(dieIndices).toHaveLength(9);
    const closed = dies(CLOSED);
    const open = dies(shape({ open: 1 }));
    const rises = open.map((y, i) => y - (closed[i] as number));
    const gaps = rises.slice(1).map((rise, i) => rise - (rises[i] as number));
    for (const gap of gaps) expect(gap).toBeCloseTo(gaps[0] as number, 4);
    expect(gaps[0]).toBeGreaterThan(1);
    const thin = dies(shape({ open: 1, scale: 0.25 }));
    const thinClosed = dies(shape({ scale: 0.25 }));
    expect((thin[8] as number) - (thinClosed[8] as number)).toBeCloseTo(rises[8] as number, 4);
  });

  it("lifts its lowest layer clear of the moulding, and moves no other stack", () => {
    const opened = partBox(part(OPENING_STACK), shape({ open: 1 }));
    expect(opened?.min[1]).toBeGreaterThan(part("moulding").bounds.max[1]);
    expect(partBox(part("hbm_stack_4"), shape({ open: 1 }))).toEqual(partBox(part("hbm_stack_4"), CLOSED));
  });

  it("is drawn with as many bodies as the file has, raised by instance", () => {
    const bodies = new Bodies(model);
    bodies.update(shape({ open: 1 }), false);
    const dies = model.meshes.filter(({ userData }) => userData.material === "hbm_graphite");
    const heights = dies.flatMap((mesh) =>
      Array.from({ length: mesh.count }, (_, i) => (mesh.userData.parts[i] === OPENING_STACK ? mesh.instanceMatrix.array[i * 16 + 13] : null)),
    );
    const opened = heights.filter((y) => y !== null) as number[];
    expect(opened).toHaveLength(8);
    expect(new Set(opened.map((y) => y.toFixed(2))).size).toBe(8);
    expect(Math.max(...opened) - Math.min(...opened)).toBeGreaterThan(10);
  });
});

describe("a cut", () => {
  it("takes away what lies beyond, on either axis, and nothing at its rest", () => {
    const box = { min: [-1, 0, -2], max: [3, 1, 2] } as const;
    expect(boxCut(box, { axis: 0, at: 1 })?.max).toEqual([1, 1, 2]);
    expect(boxCut(box, { axis: 2, at: -2 })).toBeNull();
    expect(boxCut(box, { axis: 2, at: 2 })).toBe(box);
    expect(planeOf({ axis: "z", at: 0.5 }, half)).toEqual({ axis: 2, at: 15 });
    expect(planeOf({ axis: "x", at: 7 }, half)).toEqual({ axis: 0, at: 30 });
    const rest = planeOf({ axis: "x", at: 1 }, half);
    for (const each of model.parts.values()) expect(partBox(each, shape({ plane: rest })), each.id).toEqual(partBox(each, CLOSED));
  });

  it("sorts every body: kept whole, cut, or gone, and the base stays", () => {
    const bodies = new Bodies(model);
    const plane = { axis: 2 as const, at: 10.8 };
    bodies.update(shape({ plane }), false);
    const all = model.meshes.filter(({ userData }) => !userData.vias);
    let drawn = 0;
    for (const mesh of all) {
      drawn += mesh.count;
      const z = 14;
      if (!mesh.name.startsWith("base_"))
        for (let i = 0; i < mesh.count; i++) expect(mesh.instanceMatrix.array[i * 16 + z]).toBeLessThan(plane.at);
    }
    const whole = all.flatMap(({ userData }) => userData.bodies as Body[]);
    const gone = whole.filter(({ box, group }) => group !== "base" && box.min[2] >= plane.at);
    const cut = bodies.crossing.filter(({ inside }) => !inside);
    const hiddenText = whole.filter(({ factor }) => factor !== null && factor !== 4);
    expect(drawn + gone.length + cut.length + hiddenText.length).toBe(whole.length);
    expect(cut.every(({ box }) => box.min[2] < plane.at && box.max[2] > plane.at)).toBe(true);
  });

  it("meets balls, joints, plated vias and the vias of both stacks where the exhibit first puts it", () => {
    for (const [axis, at] of [
      [2, 0.36],
      [0, 0.66],
    ] as const) {
      const bodies = new Bodies(model);
      bodies.update(shape({ plane: { axis, at: at * half[axis] } }), false);
      const met = (test: (body: Body) => boolean) => bodies.crossing.filter(test).length;
      expect(met(({ part: id }) => id === "bga_balls")).toBeGreaterThan(30);
      expect(met(({ part: id }) => id === "c4_bumps")).toBeGreaterThan(20);
      expect(met(({ part: id }) => id === "microbumps")).toBeGreaterThan(20);
      expect(met(({ part: id, inside }) => inside && id === "substrate")).toBeGreaterThan(30);
      expect(met(({ part: id, inside }) => inside && id === "interposer")).toBeGreaterThan(20);
      const stacks = new Set(bodies.crossing.filter(({ inside, part: id }) => inside && id.startsWith("hbm")).map(({ part: id }) => id));
      expect(stacks.size).toBe(axis === 2 ? 2 : 3);
    }
  });
});

describe("parts left out", () => {
  it("are not drawn, have no bounds, and what they covered is", () => {
    const bodies = new Bodies(model);
    const hidden = new Set([...model.parts.keys()].filter((id) => id !== "interposer" && id !== "microbumps" && id !== "base"));
    bodies.update(shape({ hidden }), false);
    const drawn = new Set(model.meshes.flatMap((mesh) => (mesh.visible ? (mesh.userData.parts as string[]) : [])));
    expect([...drawn].sort()).toEqual(["base", "interposer", "microbumps"]);
    expect(partBox(part("gpu_die"), shape({ hidden }))).toBeNull();
  });
});

describe("hatches", () => {
  /** Relative luminance of an sRGB colour. */
  const luminance = (hex: string) =>
    [1, 3, 5].reduce((sum, at, i) => {
      const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
      return sum + ([0.2126, 0.7152, 0.0722][i] as number) * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    }, 0);
  const ratio = (a: string, b: string) => {
    const [x, y] = [luminance(faceOf(a).ground), luminance(faceOf(b).ground)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };

  it("are known for every material a plane can meet", () => {
    const met = new Set([...model.meshes.filter(({ name }) => !name.startsWith("base")).map((mesh) => mesh.userData.material as string), ...model.inside.map(({ material }) => material)]);
    for (const name of met) expect(HATCHES.includes(faceOf(name).hatch) && faceOf(name).ground !== "#8a8a8a", name).toBe(true);
  });

  it("tell copper, resin, silicon, solder, ceramic and moulding apart", () => {
    const kinds = ["copper", "substrate_core", "die_silicon", "solder", "ceramic", "moulding"].map((name) => faceOf(name).hatch);
    expect(new Set(kinds).size).toBe(6);
    for (const silicon of ["interposer_silicon", "hbm_graphite", "hbm_base_die"]) expect(faceOf(silicon).hatch).toBe("silicon");
  });

  it("differ in grey where materials touch", () => {
    for (const [a, b] of [
      ["copper", "substrate_core"],
      ["copper", "interposer_silicon"],
      ["copper", "hbm_graphite"],
      ["solder", "substrate_mask"],
      ["solder", "interposer_silicon"],
      ["hbm_graphite", "moulding"],
      ["die_silicon", "moulding"],
      ["substrate_core", "substrate_mask"],
      ["hbm_graphite", "hbm_film"],
      ["ceramic", "tin"],
    ] as const)
      expect(ratio(a, b), `${a} and ${b}`).toBeGreaterThan(1.9);
  });
});
