// Pictures of points: room around them, axes, colours from low to high.

import { svg } from "./dom.js";
import { labels, padded, ticks } from "./scales.js";

export const [LEFT, BOTTOM, TOP, RIGHT] = [66, 36, 16, 96];
/** From low to high; distinguishable without colours, because lightness grows. */
const STOPS = [[44, 36, 94], [42, 98, 138], [34, 150, 134], [118, 196, 90], [246, 230, 80]];

/** @param {number} part between 0 and 1 */
export function heat(part) {
  const at = Math.max(0, Math.min(1, part)) * (STOPS.length - 1);
  const i = Math.min(STOPS.length - 2, Math.floor(at));
  return `rgb(${STOPS[i].map((c, k) => Math.round(c + (at - i) * (STOPS[i + 1][k] - c))).join(" ")})`;
}

/** An empty picture that the keyboard can move in. @param {[number, number]} size @param {string} label @param {(e: KeyboardEvent) => void} key */
export function sheet([width, height], label, key) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "study-picture", tabindex: "0", role: "group", "aria-label": label, onkeydown: key });
}

/** As large as there is room, with letters of one size. @param {HTMLElement} body @returns {[number, number]} */
export function room(body) {
  return [Math.max(320, Math.min(900, body.clientWidth - 340)), Math.max(120, body.clientHeight - 12)];
}

/**
 * Grid and numbers for points with these coordinates; where a point is in the picture.
 * @param {any} picture @param {[number, number]} size @param {number[]} xs @param {number[]} ys
 */
export function axes(picture, [width, height], xs, ys) {
  const range = (/** @type {number[]} */ all) => padded(Math.min(...all), Math.max(...all));
  const [[x0, x1], [y0, y1]] = [range(xs), range(ys)];
  const [w, hgt] = [width - LEFT - RIGHT, height - TOP - BOTTOM];
  const px = (/** @type {number} */ v) => LEFT + ((v - x0) / (x1 - x0)) * w;
  const py = (/** @type {number} */ v) => TOP + hgt - ((v - y0) / (y1 - y0)) * hgt;
  const [across, up] = [ticks(x0, x1, 7), ticks(y0, y1, 6)];
  labels(across).forEach((t, i) => picture.append(svg("line", { x1: px(across[i]), x2: px(across[i]), y1: TOP, y2: TOP + hgt, class: "grid-line" }), svg("text", { x: px(across[i]), y: height - BOTTOM + 13, class: "axis-label", "text-anchor": "middle" }, t)));
  labels(up).forEach((t, i) => picture.append(svg("line", { x1: LEFT, x2: LEFT + w, y1: py(up[i]), y2: py(up[i]), class: "grid-line" }), svg("text", { x: LEFT - 6, y: py(up[i]) + 4, class: "axis-label", "text-anchor": "end" }, t)));
  return { px, py };
}

/** The spot that an arrow key leads to. @param {{element: Element}[]} spots @param {number} at @param {string} key @returns {number|null} */
export function next(spots, at, key) {
  /** @type {Record<string, [number, number]>} */
  const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (!steps[key] || !spots[at]) return null;
  const [dx, dy] = steps[key];
  const box = (/** @type {any} */ s) => s.element.getBoundingClientRect();
  const from = box(spots[at]);
  const ahead = spots.map((s, i) => ({ i, x: box(s).x - from.x, y: box(s).y - from.y })).map(({ i, x, y }) => ({ i, along: x * dx + y * dy, aside: Math.abs(x * dy) + Math.abs(y * dx) })).filter((s) => s.along > 0.5);
  ahead.sort((a, b) => a.along + 3 * a.aside - (b.along + 3 * b.aside));
  return ahead[0]?.i ?? at;
}
