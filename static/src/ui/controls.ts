/* Native controls in one line each: a button, a choice of a few, a list to choose from, a slider. */
import { make } from "./dom";

export interface Option<T extends string> {
  value: T;
  text: string;
}

let groups = 0;

export function button(text: string, action: () => void, label?: string): HTMLButtonElement {
  const made = make("button", { type: "button", ...(label ? { "aria-label": label } : {}) }, text);
  made.addEventListener("click", action);
  return made;
}

/** A button that stays down; `show` sets it without calling back. */
export function toggleButton(text: string, action: (on: boolean) => void): HTMLButtonElement {
  const made = button(text, () => {
    const on = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(on));
    action(on);
  });
  made.setAttribute("aria-pressed", "false");
  return made;
}

/** One of a few: radio buttons in a row. */
export function choice<T extends string>(
  legend: string,
  options: readonly Option<T>[],
  value: T,
  changed: (value: T) => void,
): HTMLFieldSetElement {
  const name = `choice-${++groups}`;
  const labels = options.map((option) => {
    const input = make("input", { type: "radio", name, value: option.value });
    input.checked = option.value === value;
    input.addEventListener("change", () => changed(option.value));
    return make("label", {}, input, ` ${option.text}`);
  });
  return make("fieldset", { class: "choice" }, make("legend", {}, legend), ...labels);
}

export function list<T extends string>(
  text: string,
  options: readonly Option<T>[],
  value: T,
  changed: (value: T) => void,
): HTMLLabelElement {
  const select = make("select", {});
  for (const option of options) select.append(make("option", { value: option.value }, option.text));
  select.value = value;
  select.addEventListener("change", () => changed(select.value as T));
  return make("label", { class: "field" }, text, select);
}

export interface Range {
  label: HTMLLabelElement;
  input: HTMLInputElement;
}

/** A slider over whole numbers 0 … most. */
export function slider(text: string, most: number, value: number, changed: (value: number) => void): Range {
  const input = make("input", { type: "range", min: "0", max: String(most), step: "1", value: String(value) });
  input.addEventListener("input", () => changed(Number(input.value)));
  return { input, label: make("label", { class: "field wide" }, text, input) };
}
