/* A sweep is asked for once however many parts of the laboratory want it, and giving up is not catching. */
import { afterEach, expect, it, vi } from "vitest";
import { Answers } from "../../../static/src/lab/answers";
import { settingOf } from "../../../static/src/state/setting";
import { DEFAULTS } from "../../../static/src/state/types";

const STOPS = [512, 1024];
const SETTING = settingOf(DEFAULTS);
const SWEEP = { seqlens: STOPS, points: [{}, {}], lab: [{}, {}] };

afterEach(() => vi.unstubAllGlobals());

/** A server that answers after a moment, unless the question is given up before. */
function slow(status = 200): { asked: string[] } {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (path: string, { signal }: { signal?: AbortSignal }) => {
    asked.push(path);
    return new Promise((done, fail) => {
      signal?.addEventListener("abort", () => fail(new DOMException("given up", "AbortError")));
      setTimeout(() => done({ ok: status === 200, status, json: async () => SWEEP }), 5);
    });
  });
  return { asked };
}

it("asks once when several want the same sweep at once", async () => {
  const { asked } = slow();
  const answers = new Answers(STOPS);
  const got = await Promise.all([1, 2, 3].map(() => answers.get(SETTING, [512])));
  expect(asked).toHaveLength(1);
  expect(got).toEqual([SWEEP, SWEEP, SWEEP]);
});

it("asks again for the one who still waits when the first gives up", async () => {
  const { asked } = slow();
  const answers = new Answers(STOPS);
  const first = new AbortController();
  const given = answers.get(SETTING, [512], first.signal);
  const joined = answers.get(SETTING, [512]);
  first.abort();
  await expect(given).rejects.toThrow("given up");
  expect(await joined).toEqual(SWEEP);
  expect(asked).toHaveLength(2);
});

it("tells everyone that the server refused, and asks anew next time", async () => {
  const { asked } = slow(500);
  const answers = new Answers(STOPS);
  const both = await Promise.allSettled([answers.get(SETTING, [512]), answers.get(SETTING, [512])]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(asked).toHaveLength(1);
  slow();
  expect(await answers.get(SETTING, [512])).toEqual(SWEEP);
});
