/* What each reading level gets explained and which folds stand open for it. */
import { describe, expect, it } from "vitest";
import { explained, foldOpen } from "../../../static/src/chapters/reading-level";

describe("reading level", () => {
  it("explains all to newcomers, less to those who know, nothing to those who write kernels", () => {
    expect((["new", "know", "write"] as const).map((reader) => explained("new", reader))).toEqual([true, false, false]);
    expect((["new", "know", "write"] as const).map((reader) => explained("know", reader))).toEqual([true, true, false]);
  });

  it("opens folds the other way round", () => {
    expect((["new", "know", "write"] as const).map((reader) => foldOpen("know", reader))).toEqual([false, true, true]);
    expect((["new", "know", "write"] as const).map((reader) => foldOpen("write", reader))).toEqual([false, false, true]);
  });
});
