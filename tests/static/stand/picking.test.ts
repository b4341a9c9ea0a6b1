/* Pointing: the nearest box a ray meets, through openings, with groups moved apart. */
import { expect, it } from "vitest";
import type { Vec3 } from "../../../static/src/math/view";
import type { GroupName } from "../../../static/src/stand/explode";
import { enterBox, type PickTarget, pickPart } from "../../../static/src/stand/picking";

const down: Vec3 = [0, -1, 0];
const still = (): Vec3 => [0, 0, 0];
const frame: PickTarget = {
  id: "moulding",
  group: "moulding",
  boxes: [{ min: [-10, 0, -10], max: [10, 3, 10] }],
  openings: [{ min: [-4, 0, -4], max: [4, 3, 4] }],
};
const die: PickTarget = { id: "gpu_die", group: "gpu_die", boxes: [{ min: [-4, 0, -4], max: [4, 3, 4] }] };
const board: PickTarget = { id: "substrate", group: "substrate", boxes: [{ min: [-20, -2, -20], max: [20, -1, 20] }] };

it("measures where a ray enters a box", () => {
  const box = { min: [-1, -1, -1] as Vec3, max: [1, 1, 1] as Vec3 };
  expect(enterBox([0, 5, 0], down, box)).toBe(4);
  expect(enterBox([0, 5, 0], [0, -2, 0], box)).toBe(2);
  expect(enterBox([3, 5, 0], down, box)).toBe(Number.POSITIVE_INFINITY);
  expect(enterBox([0, -5, 0], down, box)).toBe(Number.POSITIVE_INFINITY);
  expect(enterBox([0, 0, 0], down, box)).toBe(0);
});

it("finds the die in its opening, the moulding beside it, the board beyond", () => {
  const targets = [die, board, frame];
  expect(pickPart([0, 50, 0], down, targets, still)).toBe("gpu_die");
  expect(pickPart([7, 50, 0], down, targets, still)).toBe("moulding");
  expect(pickPart([15, 50, 0], down, targets, still)).toBe("substrate");
  expect(pickPart([25, 50, 0], down, targets, still)).toBeNull();
});

it("looks through the empty opening once the die has left", () => {
  const aside = (group: GroupName): Vec3 => (group === "gpu_die" ? [100, 40, 0] : [0, 0, 0]);
  expect(pickPart([0, 50, 0], down, [die, board, frame], aside)).toBe("substrate");
  expect(pickPart([100, 90, 0], down, [die, board, frame], aside)).toBe("gpu_die");
});

it("meets the side of the moulding, not its opening", () => {
  expect(pickPart([-50, 1.5, 0], [1, 0, 0], [die, frame], still)).toBe("moulding");
});
