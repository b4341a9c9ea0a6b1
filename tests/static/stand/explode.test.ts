/* Taking apart: assembled at 0, in order at 1, and nothing passes through anything on the way. */
import { expect, it } from "vitest";
import { explodeOffset, GROUPS, type GroupName } from "../../../static/src/stand/explode";

/** From the bottom up: a group must never be lower, against its place, than one under it. */
const PILE: readonly (readonly GroupName[])[] = [
  ["base"],
  ["substrate"],
  ["interposer"],
  ["moulding"],
  ["gpu_die", "stacks_left", "stacks_right"],
];

it("knows all groups", () => {
  expect([...GROUPS].sort()).toEqual([...PILE.flat()].sort());
});

it("is assembled at 0 and stays so below", () => {
  for (const group of GROUPS) for (const at of [-1, 0]) expect(explodeOffset(group, at).map(Math.abs)).toEqual([0, 0, 0]);
});

it("stands apart at 1, every layer clear of the one below, and no further above 1", () => {
  for (let i = 1; i < PILE.length; i++)
    for (const upper of PILE[i] as readonly GroupName[])
      for (const lower of PILE[i - 1] as readonly GroupName[])
        expect(explodeOffset(upper, 1)[1] - explodeOffset(lower, 1)[1]).toBeGreaterThan(8);
  for (const group of GROUPS) expect(explodeOffset(group, 3)).toEqual(explodeOffset(group, 1));
});

it("only ever rises, and never falls behind what is under it", () => {
  for (let step = 1; step <= 200; step++) {
    const [before, now] = [(step - 1) / 200, step / 200];
    for (const group of GROUPS)
      expect(explodeOffset(group, now)[1]).toBeGreaterThanOrEqual(explodeOffset(group, before)[1]);
    for (let i = 1; i < PILE.length; i++)
      for (const upper of PILE[i] as readonly GroupName[])
        for (const lower of PILE[i - 1] as readonly GroupName[])
          expect(explodeOffset(upper, now)[1]).toBeGreaterThanOrEqual(explodeOffset(lower, now)[1]);
  }
});

it("moves the stacks aside only once they are clear of the moulding", () => {
  // The moulding is as tall as the stacks: 2.88 mm at the drawn thickness.
  for (let step = 0; step <= 400; step++) {
    const at = step / 400;
    for (const group of ["stacks_left", "stacks_right"] as const)
      if (explodeOffset(group, at)[0] !== 0)
        expect(explodeOffset(group, at)[1] - explodeOffset("moulding", at)[1]).toBeGreaterThan(2.88);
  }
  expect(explodeOffset("stacks_left", 1)[0]).toBe(-explodeOffset("stacks_right", 1)[0]);
});
