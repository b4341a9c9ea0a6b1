/* Text and attributes that are written again and again: the document is touched only when something changed. */

/** A text node that remembers what it says. */
export class Slot {
  readonly node = document.createTextNode("");
  private said = "";

  set(text: string): void {
    if (text === this.said) return;
    this.said = text;
    this.node.data = text;
  }
}

const known = new WeakMap<Element, Map<string, string>>();

/** Sets attributes that differ from those this function last set. */
export function put(element: Element, attributes: Readonly<Record<string, string | number>>): void {
  let last = known.get(element);
  if (!last) {
    last = new Map();
    known.set(element, last);
  }
  for (const name in attributes) {
    const value = String(attributes[name]);
    if (last.get(name) === value) continue;
    last.set(name, value);
    element.setAttribute(name, value);
  }
}

/** Whether a finger or a button is down: a hand that holds a lever still has not let go of it. */
let held = false;
if (typeof window !== "undefined") {
  window.addEventListener(
    "pointerdown",
    () => {
      held = true;
    },
    true,
  );
  for (const end of ["pointerup", "pointercancel"])
    window.addEventListener(
      end,
      () => {
        held = false;
      },
      true,
    );
}

/** Calls `run` once the calls of `soon` have stopped coming for `ms` and nothing is held down. */
export function atRest(ms: number, run: () => void): { soon(): void } {
  let timer = 0;
  const due = (): void => {
    if (held) timer = window.setTimeout(due, ms);
    else run();
  };
  return {
    soon() {
      clearTimeout(timer);
      timer = window.setTimeout(due, ms);
    },
  };
}

/** Calls `run` at most once a frame, after the last of several wishes. */
export function eachFrame(run: () => void): () => void {
  let frame = 0;
  return () => {
    if (frame) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      run();
    });
  };
}
