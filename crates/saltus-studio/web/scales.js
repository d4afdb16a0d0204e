// Axes: round numbers, ranges.

/** Round numbers inside of a range. @param {number} from @param {number} to @param {number} most */
export function ticks(from, to, most) {
  const span = to - from;
  if (!(span > 0) || !Number.isFinite(span)) return [from];
  const raw = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const all = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++) all.push(Math.abs(i * step) < step * 1e-9 ? 0 : i * step);
  return all;
}

/** Labels with as many digits as tell them apart. @param {number[]} values */
export function labels(values) {
  const size = Math.max(...values.map(Math.abs), 0);
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : size;
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) {
    const digits = Math.max(0, Math.min(12, Math.ceil(Math.log10(size) - 1e-9) - Math.floor(Math.log10(step || size) + 1e-9)));
    return values.map((v) => (v === 0 ? "0" : v.toExponential(Math.min(digits, 6)).replace("e+", "e")));
  }
  const digits = step > 0 ? Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9))) : 3;
  return values.map((v) => v.toFixed(digits));
}

/** A little room above and below. @param {number} low @param {number} high @returns {[number, number]} */
export function padded(low, high) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (low === high) return low === 0 ? [-1, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
  const room = (high - low) * 0.06;
  return [low - room, high + room];
}
