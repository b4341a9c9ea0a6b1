/* What is picked on the die, as the address and the stand's part ids name it: "gpc_0", "tpc_4", "sm_17". */
import type { DiePick } from "../stand/types";

const NAME = /^(gpc|tpc|sm)_(\d{1,3})$/;

export function diePicked(id: string | null): DiePick | null {
  const found = id === null ? null : NAME.exec(id);
  return found ? { kind: found[1] as DiePick["kind"], index: Number(found[2]) } : null;
}
