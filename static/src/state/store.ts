/* A store in a few lines: get, set, subscribe. Listeners hear of a change once, with what was before. */

export type Listener<T> = (now: Readonly<T>, before: Readonly<T>) => void;

export interface Store<T> {
  get(): Readonly<T>;
  set(patch: Partial<T>): void;
  subscribe(listener: Listener<T>): () => void;
}

export function createStore<T extends object>(initial: T): Store<T> {
  let state: Readonly<T> = { ...initial };
  const listeners = new Set<Listener<T>>();
  return {
    get: () => state,
    set(patch) {
      const before = state;
      const changed = (Object.keys(patch) as (keyof T)[]).some((key) => patch[key] !== before[key]);
      if (!changed) return;
      state = { ...before, ...patch };
      for (const listener of listeners) listener(state, before);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
