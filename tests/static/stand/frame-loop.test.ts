/* Frames on demand: none at rest, none hidden or off screen, one per request, as many as a transition needs. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FrameLoop } from "../../../static/src/stand/frame-loop";

let queue: Map<number, FrameRequestCallback>;
let now: number;
let listeners: Record<string, () => void>;
let intersect: (onScreen: boolean) => void;
const page = { hidden: false };

beforeEach(() => {
  queue = new Map();
  now = 0;
  listeners = {};
  page.hidden = false;
  let handle = 0;
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => {
    queue.set(++handle, callback);
    return handle;
  });
  vi.stubGlobal("cancelAnimationFrame", (id: number) => queue.delete(id));
  vi.stubGlobal("document", {
    get hidden() {
      return page.hidden;
    },
    addEventListener: (name: string, listener: () => void) => {
      listeners[name] = listener;
    },
    removeEventListener: (name: string) => {
      delete listeners[name];
    },
  });
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(callback: (entries: { isIntersecting: boolean }[]) => void) {
        intersect = (isIntersecting) => callback([{ isIntersecting }]);
      }
      observe() {}
      disconnect() {}
    },
  );
});

function runFrames(most: number): number {
  let ran = 0;
  for (; ran < most && queue.size > 0; ran++) {
    const [id, callback] = [...queue][0] as [number, FrameRequestCallback];
    queue.delete(id);
    now += 16;
    callback(now);
  }
  return ran;
}

const build = (draw: () => boolean, onInterval: (ms: number) => void = () => undefined) =>
  new FrameLoop({} as Element, draw, onInterval);

it("draws nothing until asked, once when asked often, and then rests", () => {
  const loop = build(() => false);
  expect(runFrames(10)).toBe(0);
  for (let i = 0; i < 5; i++) loop.request();
  expect(runFrames(10)).toBe(1);
  expect(loop.frames).toBe(1);
});

it("goes on while a transition runs and reports the time between its frames", () => {
  let left = 4;
  const intervals: number[] = [];
  const loop = build(
    () => --left > 0,
    (ms) => intervals.push(ms),
  );
  loop.request();
  expect(runFrames(100)).toBe(4);
  expect(intervals).toEqual([16, 16, 16]);
  expect(loop.frames).toBe(4);
});

describe("unseen", () => {
  it("draws nothing while the page is hidden and catches up when it is shown", () => {
    const loop = build(() => false);
    page.hidden = true;
    listeners.visibilitychange?.();
    loop.request();
    expect(runFrames(10)).toBe(0);
    page.hidden = false;
    listeners.visibilitychange?.();
    expect(runFrames(10)).toBe(1);
  });

  it("stops a running transition off screen and takes it up again", () => {
    const loop = build(() => true);
    loop.request();
    expect(runFrames(3)).toBe(3);
    intersect(false);
    expect(runFrames(10)).toBe(0);
    intersect(true);
    expect(runFrames(2)).toBe(2);
    loop.stop();
    expect(runFrames(10)).toBe(0);
  });
});

describe("settled", () => {
  it("waits for the last frame of a transition", async () => {
    let left = 3;
    const loop = build(() => --left > 0);
    loop.request();
    let done = false;
    const settled = loop.settled().then(() => {
      done = true;
    });
    runFrames(2);
    await Promise.resolve();
    expect(done).toBe(false);
    runFrames(5);
    await settled;
    expect(done).toBe(true);
  });

  it("does not wait for a picture nobody sees, nor after the end", async () => {
    const loop = build(() => true);
    page.hidden = true;
    loop.request();
    await loop.settled();
    page.hidden = false;
    loop.request();
    const waiting = loop.settled();
    loop.stop();
    await waiting;
  });
});
