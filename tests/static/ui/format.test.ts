/* Numbers for reading: the right unit, four digits, no rounding into the wrong unit. Expected values by hand. */
import { expect, it } from "vitest";
import { decimalBytes, digits, duration, kib, operations, whole } from "../../../static/src/ui/format";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

it.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [138_412_032, "138.4 MB"],
  [4_194_304, "4.194 MB"],
  [69_206_016, "69.21 MB"],
  [34_393_292_800, "34.39 GB"],
  [8_796_629_893_120, "8.797 TB"],
])("writes %d as %s", (value, text) => {
  expect(plain(decimalBytes(value))).toBe(text);
});

it("writes binary sizes, operations and times", () => {
  expect(plain(kib(232_448))).toBe("227 KiB");
  expect(plain(kib(66_048))).toBe("64.5 KiB");
  expect(plain(operations(8_589_934_592))).toBe("8.59 GFLOP");
  expect(plain(duration(41.317))).toBe("41.32 µs");
  expect(plain(duration(10_325.4))).toBe("10.33 ms");
  expect(plain(duration(0.06785))).toBe("0.0679 µs");
  expect(whole(1_048_576)).toBe("1,048,576");
  expect(digits(62.0606, 3)).toBe("62.1");
  expect(digits(2, 3)).toBe("2");
});
