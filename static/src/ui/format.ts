/* Numbers for reading. Decimal units for traffic, binary for what lies on the chip; four significant digits. */

const NBSP = "\u00a0";
const formatters = new Map<string, Intl.NumberFormat>();

/** Making a formatter costs far more than using one, and the lever uses hundreds. */
function formatter(key: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const known = formatters.get(key);
  if (known) return known;
  const made = new Intl.NumberFormat("en", options);
  formatters.set(key, made);
  return made;
}

function scaled(value: number, step: number, units: readonly string[]): string {
  let size = value;
  let at = 0;
  while (size >= step && at < units.length - 1) {
    size /= step;
    at++;
  }
  return `${digits(size, 4)}${NBSP}${units[at]}`;
}

/** At most `count` significant digits, with thousands separators; whole numbers stay whole. */
export function digits(value: number, count: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 10 ** count) return whole(value);
  const options = { maximumSignificantDigits: count, minimumSignificantDigits: Math.min(3, count) };
  return formatter(`digits ${count}`, options).format(value);
}

export function whole(value: number): string {
  return formatter("whole", { maximumFractionDigits: 0 }).format(value);
}

/** A ratio, always three digits: 2.00, 33.0, 0.508. */
export function factor(value: number): string {
  return formatter("factor", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }).format(value);
}

/** 138.4 MB; below 1,000 in plain bytes. */
export function decimalBytes(value: number): string {
  return scaled(value, 1000, ["bytes", "kB", "MB", "GB", "TB", "PB"]);
}

/** 192 KiB. */
export function kib(value: number): string {
  return `${digits(value / 1024, 4)}${NBSP}KiB`;
}

export function operations(value: number): string {
  return scaled(value, 1000, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"]);
}

/** Microseconds in, the fitting unit out. */
export function duration(us: number): string {
  return us < 1 ? `${digits(us, 3)}${NBSP}µs` : scaled(us, 1000, ["µs", "ms"]);
}
