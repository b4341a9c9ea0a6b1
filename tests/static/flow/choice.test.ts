/* Which flows are asked for: the chapter leads until the reader chooses, and two stand side by side on request. */
import { describe, expect, it } from "vitest";
import { choiceOf, type Scene } from "../../../static/src/flow/choice";

const scene: Scene = { algorithm: "fa2", direction: "backward", blocksM: 8, blocksN: 8 };
const nothing = { algorithm: null, direction: "forward", twin: false } as const;

describe("the choice", () => {
  it("is the chapter's until the reader makes one", () => {
    expect(choiceOf(nothing, scene)).toEqual({ algorithm: "fa2", direction: "backward", shown: ["fa2"] });
    expect(choiceOf(nothing, { ...scene, algorithm: "none" }).shown).toEqual([]);
  });

  it("is the reader's, both algorithm and direction", () => {
    expect(choiceOf({ ...nothing, algorithm: "fa1" }, scene)).toMatchObject({ direction: "forward", shown: ["fa1"] });
    expect(choiceOf({ ...nothing, direction: "backward" }, { ...scene, direction: "forward" }).direction).toBe("backward");
    expect(choiceOf({ ...nothing, algorithm: "none" }, scene).shown).toEqual([]);
  });

  it("sets the standard way beside a version of FlashAttention", () => {
    const twin = { ...nothing, twin: true };
    expect(choiceOf(twin, scene).shown).toEqual(["standard", "fa2"]);
    expect(choiceOf({ ...twin, algorithm: "fa1" }, scene).shown).toEqual(["standard", "fa1"]);
    expect(choiceOf({ ...twin, algorithm: "standard" }, scene).shown).toEqual(["standard", "fa2"]);
    expect(choiceOf(twin, { ...scene, algorithm: "none" }).shown).toEqual(["standard", "fa2"]);
    expect(choiceOf({ ...twin, algorithm: "none" }, scene).shown).toEqual([]);
  });
});
