/* The clock of a schedule: it plays, stops at the end, steps to whole steps, and asks for no frame when at rest. */
import { beforeEach, expect, it, vi } from "vitest";
import { Player } from "../../../static/src/flow/player";

let waiting: Map<number, FrameRequestCallback>;
let now: number;

beforeEach(() => {
  waiting = new Map();
  now = 0;
  let next = 1;
  vi.stubGlobal("document", { addEventListener: () => undefined, hidden: false });
  vi.stubGlobal("performance", { now: () => now });
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => {
    waiting.set(next, callback);
    return next++;
  });
  vi.stubGlobal("cancelAnimationFrame", (id: number) => waiting.delete(id));
});

function frame(milliseconds: number): void {
  now += milliseconds;
  const due = [...waiting.values()];
  waiting.clear();
  for (const callback of due) callback(now);
}

it("plays at its rate and stops at the end, asking for no more frames", () => {
  const player = new Player(() => undefined);
  player.load(10, 0, 5);
  player.play();
  frame(50);
  expect(player.view.time).toBeCloseTo(0.25);
  for (let i = 0; i < 60; i++) frame(50);
  expect(player.view).toEqual({ time: 10, length: 10, playing: false });
  expect(waiting.size).toBe(0);
  player.play();
  expect(player.view.time).toBe(0);
});

it("does not jump after a long frame", () => {
  const player = new Player(() => undefined);
  player.load(100, 0, 6);
  player.play();
  frame(30_000);
  expect(player.view.time).toBeLessThan(1);
});

it("steps to whole steps both ways and stays within the schedule", () => {
  const player = new Player(() => undefined);
  player.load(3, 1.4, 6);
  player.step(1);
  expect(player.view.time).toBe(2);
  player.step(-1);
  expect(player.view.time).toBe(1);
  for (let i = 0; i < 5; i++) player.step(-1);
  expect(player.view.time).toBe(0);
  for (let i = 0; i < 5; i++) player.step(1);
  expect(player.view.time).toBe(3);
});

it("is at rest after pause, seek, step and load", () => {
  const player = new Player(() => undefined);
  player.load(10, 0, 6);
  for (const rest of [() => player.pause(), () => player.step(1), () => player.load(5, 2, 6)]) {
    player.play();
    expect(player.view.playing).toBe(true);
    rest();
    expect(player.view.playing).toBe(false);
    expect(waiting.size).toBe(0);
  }
});

it("does nothing without a schedule", () => {
  const player = new Player(() => undefined);
  player.play();
  expect(player.view).toEqual({ time: 0, length: 0, playing: false });
  expect(waiting.size).toBe(0);
});
