// The dialog of a study: one parameter over a range, a grid of two, or samples of several.

import { h, notice, replace, show } from "./dom.js";
import { start } from "./runs.js";

const MOST_RUNS = 500;
/** Samples are the same every time. */
const SEED = 1;

/** @typedef {{name: string, kind: string, value: number|null, min?: number|null, max?: number|null}} Parameter */

/** Numbers between 0 and 1, evenly spread: the points of Halton's sequence for one base. @param {number} i @param {number} base */
function halton(i, base) {
  let [value, part] = [0, 1];
  for (let n = i; n > 0; n = Math.floor(n / base)) {
    part /= base;
    value += part * (n % base);
  }
  return value;
}

/** A choice of parameters, and fields for numbers beside it. @param {Parameter[]} parameters @param {number} index */
export function parameterLine(parameters, index) {
  const name = h("select", { "aria-label": `Parameter ${index + 1}`, class: "sweep-name" }, parameters.map((p, i) => h("option", { value: p.name, selected: i === Math.min(index, parameters.length - 1) }, p.name)));
  const field = (/** @type {string} */ label, /** @type {string} */ value) => h("input", { type: "text", class: "number", value, "aria-label": `${label} of parameter ${index + 1}`, inputmode: "decimal" });
  const parameter = () => /** @type {Parameter} */ (parameters.find((p) => p.name === name.value) ?? { name: name.value, kind: "real", value: null });
  /** Half and one and a half times of its value, within what is allowed. @returns {[number, number]} */
  const around = () => {
    const p = parameter();
    const value = p.value ?? 1;
    const [a, b] = [value * 0.5 || -1, value * 1.5 || 1];
    return [Math.max(p.min ?? -Infinity, Math.min(a, b)), Math.min(p.max ?? Infinity, Math.max(a, b))];
  };
  return { name, field, parameter, around };
}

/** One line of the dialog: a parameter and its range. @param {Parameter[]} parameters @param {number} index */
function range(parameters, index) {
  const { name, field, parameter, around } = parameterLine(parameters, index);
  const [from, to, count] = [field("from", ""), field("to", ""), field("count", "8")];
  const guess = () => [from.value, to.value] = around().map((v) => show(v, 5));
  name.addEventListener("change", guess);
  guess();
  const countLabel = h("label", { class: "setting" }, "count", count);
  const rounded = (/** @type {number} */ v) => (parameter().kind === "integer" ? Math.round(v) : Number(v.toPrecision(12)));
  return {
    name, countLabel,
    element: h("div", { class: "sweep-line" }, h("label", { class: "setting" }, "vary", name), h("label", { class: "setting" }, "from", from), h("label", { class: "setting" }, "to", to), countLabel),
    isRight: () => [from.value, to.value].every((v) => v.trim() !== "" && Number.isFinite(Number(v))),
    /** Values at equal distances. @returns {number[]} */
    values: () => {
      const [a, b, n] = [Number(from.value), Number(to.value), Math.round(Number(count.value))];
      if (!(n >= 1 && n <= MOST_RUNS)) return [];
      return [...new Set(Array.from({ length: n }, (_, i) => rounded(n === 1 ? a : a + ((b - a) * i) / (n - 1))))];
    },
    /** @param {number} part */
    at: (part) => rounded(Number(from.value) + part * (Number(to.value) - Number(from.value))),
  };
}

/** @param {Parameter[]} all Parameters that can be set without compiling */
export function openSweep(all) {
  const parameters = all.filter((p) => p.kind === "real" || p.kind === "integer");
  if (!parameters.length) return notice("No parameter can be varied without compiling", "error");
  const lines = [range(parameters, 0)];
  const kind = h("select", { id: "sweep-kind", "aria-label": "Kind of study", onchange: () => render() },
    [["one", "one parameter"], ["grid", "grid of two"], ["samples", "samples"]].map(([value, text]) => h("option", { value, disabled: value === "grid" && parameters.length < 2 }, text)));
  const samples = h("input", { type: "text", class: "number", value: "30", "aria-label": "Number of samples", inputmode: "numeric" });
  const box = h("div", { class: "sweep-lines" });
  const hint = h("p", { class: "hint" });
  const more = h("button", { type: "button", onclick: () => {
    lines.push(range(parameters, lines.length));
    render();
  } }, "+ Parameter");
  const samplesLabel = h("label", { class: "setting" }, "samples", samples);
  const render = () => {
    const wanted = kind.value === "grid" ? 2 : kind.value === "one" ? 1 : lines.length;
    while (lines.length < wanted) lines.push(range(parameters, lines.length));
    lines.length = wanted;
    for (const line of lines) line.countLabel.hidden = kind.value === "samples";
    samplesLabel.hidden = more.hidden = kind.value !== "samples";
    more.disabled = lines.length >= parameters.length;
    hint.textContent = kind.value === "one" ? "One run for each value; the curves are a family, in the colours of a rainbow." : kind.value === "grid" ? "One run for each pair of values; Study shows a number of each as a map." : "Runs with values spread evenly over the ranges; Study shows a number of each over a parameter.";
    replace(box, lines.map((l) => l.element));
  };
  /** @returns {{names: string[], rows: number[][]}|null} */
  const study = () => {
    const names = lines.map((l) => l.name.value);
    if (!lines.every((l) => l.isRight()) || new Set(names).size < names.length) return null;
    if (kind.value === "samples") {
      const n = Math.round(Number(samples.value));
      const bases = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29];
      return n >= 1 && n <= MOST_RUNS && names.length <= bases.length ? { names, rows: Array.from({ length: n }, (_, i) => lines.map((l, k) => l.at(halton(i + SEED, bases[k])))) } : null;
    }
    let rows = /** @type {number[][]} */ ([[]]);
    for (const line of lines) rows = rows.flatMap((row) => line.values().map((v) => [...row, v]));
    return rows.length >= 1 && rows.length <= MOST_RUNS ? { names, rows } : null;
  };
  const dialog = h("dialog", { class: "dialog", "aria-label": "Sweep" }, h("form", { method: "dialog", onsubmit: (/** @type {Event} */ e) => {
    const vary = study();
    if (vary) return void start({ vary });
    e.preventDefault();
    notice(`Expected numbers, different parameters, and 1 to ${MOST_RUNS} runs`, "error");
  } }, h("h2", {}, "Sweep"), h("label", { class: "setting" }, "study", kind), samplesLabel, more, hint, box,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Run all"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
  dialog.addEventListener("close", () => dialog.remove());
  render();
  document.body.append(dialog);
  dialog.showModal();
}
