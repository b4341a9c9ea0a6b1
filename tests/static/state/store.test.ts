/* The store tells its listeners what changed, and only when something did. */
import { expect, it, vi } from "vitest";
import { createStore } from "../../../static/src/state/store";

it("tells what is and what was, once a change", () => {
  const store = createStore({ n: 1, d: 2 });
  const heard = vi.fn();
  const leave = store.subscribe(heard);
  store.set({ n: 3 });
  expect(heard).toHaveBeenCalledExactlyOnceWith({ n: 3, d: 2 }, { n: 1, d: 2 });
  store.set({ n: 3, d: 2 });
  expect(heard).toHaveBeenCalledOnce();
  leave();
  store.set({ n: 4 });
  expect(heard).toHaveBeenCalledOnce();
  expect(store.get()).toEqual({ n: 4, d: 2 });
});
