/*
 * Reads values out of an address. A value that cannot be used is replaced by the nearest one that can, and a note says
 * so: a damaged link never leads to an error.
 */

export interface Reader {
  text(name: string): string | null;
  whole(name: string, fallback: number, low: number, high: number): number;
  share(name: string): number | null;
  nearest<F extends number | null>(name: string, fallback: F, offered: readonly number[]): number | F;
  oneOf<T extends string, F extends T | null>(name: string, fallback: F, offered: readonly T[]): T | F;
  flag<F extends boolean | null>(name: string, fallback: F): boolean | F;
  /** A text of the given shape, or null. */
  shaped(name: string, pattern: RegExp): string | null;
  /** Writes down that `text` was no use for `name` and returns what stands instead. */
  noted<V>(name: string, text: string, used: V): V;
}

const LONGEST_SHOWN = 20;

/** `get` gives the text of a name or null; `prefix` is put before the name in notes. */
export function reader(get: (name: string) => string | null, notes: string[], prefix = ""): Reader {
  function noted<V>(name: string, text: string, used: V): V {
    const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
    const instead = used === null ? "it was left out" : `${used} stands instead`;
    notes.push(`${prefix}${name}=${shown} cannot be used; ${instead}.`);
    return used;
  }
  function whole(name: string, fallback: number, low: number, high: number): number {
    const text = get(name);
    if (text === null) return fallback;
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) return noted(name, text, fallback);
    const near = Math.min(high, Math.max(low, Math.round(value)));
    return near === value ? near : noted(name, text, near);
  }
  function share(name: string): number | null {
    const text = get(name);
    if (text === null) return null;
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) return noted(name, text, null);
    const near = Math.min(1, Math.max(0, value));
    return near === value ? near : noted(name, text, near);
  }
  function nearest<F extends number | null>(name: string, fallback: F, offered: readonly number[]): number | F {
    const text = get(name);
    if (text === null) return fallback;
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) return noted(name, text, fallback);
    if (offered.includes(value)) return value;
    return noted(name, text, [...offered].sort((a, b) => Math.abs(a - value) - Math.abs(b - value))[0] ?? fallback);
  }
  function oneOf<T extends string, F extends T | null>(name: string, fallback: F, offered: readonly T[]): T | F {
    const text = get(name);
    if (text === null) return fallback;
    return (offered as readonly string[]).includes(text) ? (text as T) : noted(name, text, fallback);
  }
  function shaped(name: string, pattern: RegExp): string | null {
    const text = get(name);
    return text === null || pattern.test(text) ? text : noted(name, text, null);
  }
  function flag<F extends boolean | null>(name: string, fallback: F): boolean | F {
    const text = get(name);
    if (text === null) return fallback;
    if (text === "1" || text === "true") return true;
    return text === "0" || text === "false" ? false : noted(name, text, fallback);
  }
  return { text: get, whole, share, nearest, oneOf, flag, shaped, noted };
}
