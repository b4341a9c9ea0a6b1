/* Chapter 1: the parts of the package, to light and to pick. */
import type { Touch } from "./context";
import { wirePartList } from "./part-list";

const parts: Touch = (live, host, context) => {
  live.remove();
  wirePartList(host, context, context.partsNamed);
};

export default parts;
