/* One sweep a setting: asked once, kept, named like the API's parameters; and how settings are put into words. */
import { afterEach, expect, it, vi } from "vitest";
import { Answers, at, lengthsOf, questionOf } from "../../../static/src/lab/answers";
import { describe as described, differences } from "../../../static/src/lab/words";
import { settingOf } from "../../../static/src/state/setting";
import { DEFAULTS } from "../../../static/src/state/types";

const STOPS = [512, 640, 1024];
const SETTING = settingOf(DEFAULTS);

afterEach(() => vi.unstubAllGlobals());

function server(): { asked: string[] } {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return { ok: true, json: async () => ({ seqlens: STOPS, points: STOPS.map((n) => ({ n })), lab: STOPS.map((n) => ({ n })) }) };
  });
  return { asked };
}

it("asks once for all stops of a setting", async () => {
  const { asked } = server();
  const answers = new Answers(STOPS);
  for (const seqlen of STOPS) await answers.get({ ...SETTING, seqlen }, [seqlen]);
  expect(asked).toHaveLength(1);
  await answers.get({ ...SETTING, headDim: 64 }, [512]);
  expect(asked).toHaveLength(2);
  expect(asked[1]).toContain("head_dim=64");
});

it("asks for a length between the stops by name, once each, never beyond the longest", async () => {
  const answers = new Answers(STOPS);
  expect(answers.path(SETTING, [700, 1400, 512, 700])).toContain("also=700%2C1400");
  expect(answers.path(SETTING, [512])).not.toContain("also");
  expect(answers.path(SETTING, [1_000_000, 2_000_000])).toMatch(/also=1000000$/);
});

it("keeps a dozen sweeps and asks again for what it has let go", async () => {
  const { asked } = server();
  const answers = new Answers(STOPS);
  for (let batch = 1; batch <= 13; batch++) await answers.get({ ...SETTING, batch }, [512]);
  await answers.get({ ...SETTING, batch: 13 }, [512]);
  expect(asked).toHaveLength(13);
  await answers.get({ ...SETTING, batch: 1 }, [512]);
  expect(asked).toHaveLength(14);
});

it("leaves the length and what is not said out of a question", () => {
  expect(questionOf(SETTING)).not.toHaveProperty("seqlen");
  expect(questionOf(SETTING)).not.toHaveProperty("num_heads_kv");
  expect(questionOf({ ...SETTING, numHeads: 8, numHeadsKv: 2 })).toMatchObject({ num_heads: 8, num_heads_kv: 2 });
});

it("finds a length in a sweep or says there is none", async () => {
  server();
  const sweep = await new Answers(STOPS).get(SETTING, [512]);
  expect(at(sweep, 640)).toEqual({ counts: { n: 640 }, lab: { n: 640 } });
  expect(at(sweep, 641)).toBeNull();
});

it("takes the double of a typed length along", () => {
  expect(lengthsOf(640, STOPS)).toEqual([640]);
  expect(lengthsOf(700, STOPS)).toEqual([700, 1400]);
});

it("puts a setting and a difference into words", () => {
  expect(described(SETTING)).toBe("N = 4,096, d = 128, blocks of 128 × 128, forward, FP16, one head, H100 SXM5");
  expect(differences({ ...SETTING, causal: true, headDim: 64 }, SETTING)).toBe("d = 64, causal mask");
  expect(differences(SETTING, SETTING)).toBe("the same setting");
});
