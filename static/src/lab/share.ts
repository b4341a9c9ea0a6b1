/* Take it away: the link, the sweep as CSV, and the call that reproduces the counts, as Python. */
import type { Store } from "../state/store";
import type { ExhibitState } from "../state/types";
import { encode } from "../state/url";
import { make } from "../ui/dom";
import { type Answers, lengthsOf, questionOf } from "./answers";

export class Share {
  private readonly said = make("span", { class: "quiet", role: "status" });
  private readonly csv = make(
    "a",
    { class: "button", download: "attention-counts.csv", id: "lab-csv" },
    "Download CSV",
  );
  private readonly code = make("code");
  private readonly link = make("input", {
    type: "text",
    readonly: "",
    "aria-label": "Address of this setting",
    hidden: "",
  });

  constructor(
    host: HTMLElement,
    private readonly store: Store<ExhibitState>,
    private readonly answers: Answers,
    private readonly stops: readonly number[],
  ) {
    const copyLink = make("button", { type: "button" }, "Copy link");
    copyLink.addEventListener("click", () => void this.copy(this.address(), "The link is copied."));
    const copyCode = make("button", { type: "button" }, "Copy as Python");
    copyCode.addEventListener("click", () => void this.copy(this.code.textContent ?? "", "The call is copied."));
    host.append(
      make("p", { class: "buttons" }, copyLink, this.csv, copyCode, this.said),
      this.link,
      make(
        "details",
        {},
        make("summary", {}, "The call as Python"),
        make("pre", { class: "python", tabindex: "0" }, this.code),
      ),
    );
  }

  /** Once the lever rests: addresses are long, and nobody reads them while it moves. */
  show(): void {
    const { seqlen, ...setting } = this.store.get();
    this.csv.href = this.answers.path({ ...setting, seqlen }, lengthsOf(seqlen, this.stops), "sweep.csv");
    this.code.textContent = python({ ...setting, seqlen });
  }

  private address(): string {
    return `${location.origin}${location.pathname}${encode(this.store.get())}#lab`;
  }

  private async copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.said.textContent = done;
    } catch {
      // No clipboard on a plain http address: the text is laid out to be copied by hand.
      this.link.hidden = false;
      this.link.value = text;
      this.link.select();
      this.said.textContent = "This browser copies only by hand here: the text is selected below.";
    }
  }
}

/** The call of the standard library that answers for a setting. */
export function python(state: Readonly<ExhibitState>): string {
  const question = { seqlen: state.seqlen, ...questionOf(state) };
  const lines = Object.entries(question).map(([name, value]) => {
    const written = typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
    return `    "${name}": ${written},`;
  });
  return [
    "import json",
    "from urllib.parse import urlencode",
    "from urllib.request import urlopen",
    "",
    "setting = {",
    ...lines,
    "}",
    `with urlopen("${location.origin}/api/traffic?" + urlencode(setting)) as answer:`,
    "    counts = json.load(answer)",
    "for name, model in counts['models'].items():",
    "    print(name, model['line'], model['total_bytes'], 'bytes moved,', model['needed_bytes'], 'bytes needed')",
    "",
  ].join("\n");
}
