/* Easing and damping: where they start and end, and that they never turn back. */
import { describe, expect, it } from "vitest";
import { Damper } from "../../../static/src/math/damper";
import { seededRandom } from "../../../static/src/math/random";
import { angleBetween, clamp, easeInOut, easeOut, progress } from "../../../static/src/math/scalar";

describe("easing", () => {
  for (const ease of [easeInOut, easeOut])
    it(`${ease.name} runs from 0 to 1 and only forwards`, () => {
      expect(ease(0)).toBe(0);
      expect(ease(1)).toBe(1);
      for (let i = 1; i <= 100; i++) expect(ease(i / 100)).toBeGreaterThanOrEqual(ease((i - 1) / 100));
    });

  it("starts slow, is half way at half time, ends slow", () => {
    expect(easeInOut(0.1)).toBeLessThan(0.01);
    expect(easeInOut(0.5)).toBe(0.5);
    expect(easeInOut(0.9)).toBeGreaterThan(0.99);
  });

  it("holds progress inside its window", () => {
    expect(progress(1, 2, 4)).toBe(0);
    expect(progress(3, 2, 4)).toBe(0.5);
    expect(progress(9, 2, 4)).toBe(1);
    expect(progress(1.9, 2, 2)).toBe(0);
    expect(progress(2, 2, 2)).toBe(1);
  });
});

it("turns the short way round", () => {
  expect(angleBetween(0.1, 2 * Math.PI - 0.1)).toBeCloseTo(-0.2, 12);
  expect(angleBetween(-3, 3)).toBeCloseTo(6 - 2 * Math.PI, 12);
  expect(angleBetween(1, 1 + 6 * Math.PI)).toBeCloseTo(0, 12);
});

it("clamps from both sides", () => {
  expect([clamp(-1, 0, 2), clamp(1, 0, 2), clamp(3, 0, 2)]).toEqual([0, 1, 2]);
});

describe("damper", () => {
  const run = (stepMs: number): number[] => {
    const damper = new Damper(0, 600);
    damper.goal = 1;
    const values: number[] = [];
    for (let t = 0; t < 600; t += stepMs) values.push(damper.update(stepMs));
    return values;
  };

  it("closes on its goal without overshoot", () => {
    const values = run(10);
    for (let i = 1; i < values.length; i++) expect(values[i]).toBeGreaterThan(values[i - 1] as number);
    expect(values.at(-1)).toBeGreaterThan(0.97);
    expect(values.at(-1)).toBeLessThan(1);
  });

  it("takes the same way whatever the frame rate", () => {
    expect(run(10).at(-1)).toBeCloseTo(run(100).at(-1) as number, 9);
  });

  it("comes to rest exactly on the goal", () => {
    const damper = new Damper(0.3, 200);
    damper.goal = 0.9;
    expect(damper.resting).toBe(false);
    for (let i = 0; i < 200 && !damper.resting; i++) damper.update(16);
    expect(damper.value).toBe(0.9);
    expect(damper.resting).toBe(true);
  });
});

it("gives the same random numbers for the same seed, spread over 0…1", () => {
  const [a, b, c] = [seededRandom(1), seededRandom(1), seededRandom(2)];
  const first = Array.from({ length: 1000 }, a);
  expect(Array.from({ length: 1000 }, b)).toEqual(first);
  expect(Array.from({ length: 1000 }, c)).not.toEqual(first);
  expect(Math.min(...first)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...first)).toBeLessThan(1);
  expect(first.reduce((sum, x) => sum + x) / 1000).toBeCloseTo(0.5, 1);
});
