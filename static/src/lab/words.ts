/* How the laboratory names settings and counts. */
import { SETTING_NAMES } from "../state/setting";
import type { Setting } from "../state/types";
import { whole } from "../ui/format";

const DTYPES: Record<Setting["dtype"], string> = { fp16: "FP16", bf16: "BF16", fp8: "FP8", fp32: "FP32" };
const GPUS: Record<Setting["gpu"], string> = {
  a100_sxm4_40: "A100 40 GB",
  a100_sxm4_80: "A100 80 GB",
  h100_sxm5: "H100 SXM5",
  h200_sxm: "H200 SXM",
};

const SAID: { readonly [K in keyof Setting]: (value: Setting[K]) => string } = {
  seqlen: (value) => `N = ${whole(value)}`,
  headDim: (value) => `d = ${value}`,
  blockM: (value) => `${value} Q rows a block`,
  blockN: (value) => `${value} K/V rows a block`,
  direction: (value) => value,
  causal: (value) => (value ? "causal mask" : "no mask"),
  dtype: (value) => DTYPES[value],
  batch: (value) => `batch ${value}`,
  numHeads: (value) => (value === 1 ? "one head" : `${value} heads`),
  numHeadsKv: (value) => (value === null ? "as many K/V heads" : `${value} K/V heads`),
  gpu: (value) => GPUS[value],
};

function said<K extends keyof Setting>(setting: Readonly<Setting>, key: K): string {
  return SAID[key](setting[key]);
}

/** The whole setting in one line. */
export function describe(setting: Readonly<Setting>): string {
  const heads =
    SAID.numHeads(setting.numHeads) +
    (setting.numHeadsKv ? `, ${SAID.numHeadsKv(setting.numHeadsKv)}` : "") +
    (setting.batch > 1 ? `, ${SAID.batch(setting.batch)}` : "");
  const mask = setting.causal ? ", causal" : "";
  return (
    `N = ${whole(setting.seqlen)}, d = ${setting.headDim}, blocks of ${setting.blockM} × ${setting.blockN}, ` +
    `${setting.direction}${mask}, ${DTYPES[setting.dtype]}, ${heads}, ${GPUS[setting.gpu]}`
  );
}

/** What one setting has that the other has not; "the same setting" when nothing differs. */
export function differences(setting: Readonly<Setting>, other: Readonly<Setting>): string {
  const keys = (Object.keys(SETTING_NAMES) as (keyof Setting)[]).filter((key) => setting[key] !== other[key]);
  return keys.map((key) => said(setting, key)).join(", ") || "the same setting";
}

/** B_r becomes B with a subscript. */
export function subscripted(text: string): (Node | string)[] {
  return text.split(/_([a-z]+)/).map((part, at) => {
    if (at % 2 === 0) return part;
    const sub = document.createElement("sub");
    sub.textContent = part;
    return sub;
  });
}
