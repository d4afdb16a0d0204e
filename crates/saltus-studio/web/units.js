// Units of curves: results of a file are drawn in the units of the model, converted by the server, or not at all.

import { notice } from "./dom.js";
import { store } from "./store.js";

/** @typedef {{unit: string, factor: number, offset: number}|null|undefined} Display */

/** In the unit of display. @param {Display} display @param {number} value */
export function displayed(display, value) {
  return display ? value * display.factor + display.offset : value;
}

/** Digits that a conversion cannot spoil. */
const SURE_DIGITS = 15;

/** A number in the unit of display, as it is written in the unit of the model: without the noise of the conversion where fewer digits give
 * the same. @param {Display} display @param {string} text */
export function entered(display, text) {
  if (!display) return text;
  const shown = Number(text);
  const value = (shown - display.offset) / display.factor;
  for (let digits = 1; digits <= SURE_DIGITS; digits++) {
    const short = Number(value.toPrecision(digits));
    if (displayed(display, short) === shown) return String(short);
  }
  return String(value);
}

/** Is it a number by itself, and no expression? @param {string} text */
export function isPlain(text) {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text.trim());
}

/** The units in which curves of a file are wanted: those of the chosen run. @param {import("./store.js").Run} run @param {string[]} names @returns {Record<string, string>} */
export function wantedUnits(run, names) {
  if (!run.reference) return {};
  return Object.fromEntries(names.map((name) => [name, store.variables.get(name)?.unit ?? ""]).filter(([, unit]) => unit));
}

/** Which of them are differences: their units have no offset. @param {string[]} names */
export function differences(names) {
  return names.filter((name) => store.variables.get(name)?.difference);
}

/** Why a curve is not drawn. @param {{unit: string, wanted: string}} refused */
export function refusal(refused) {
  return `is in ${refused.unit}, which is not a kind of ${refused.wanted}`;
}

/** @type {Set<string>} */
const told = new Set();

/** Says it once. @param {import("./store.js").Run} run @param {{name: string, unit: string, wanted: string}[]} all */
export function tellRefused(run, all) {
  for (const refused of all) {
    const text = `${run.class}: ${refused.name} ${refusal(refused)}`;
    if (!told.has(text)) notice(text, "error");
    told.add(text);
  }
}
