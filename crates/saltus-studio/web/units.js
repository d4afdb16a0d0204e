// Units of curves: results of a file are drawn in the units of the model, converted by the server, or not at all.

import { notice } from "./dom.js";
import { store } from "./store.js";

/** The units in which curves of a file are wanted: those of the chosen run. @param {import("./store.js").Run} run @param {string[]} names @returns {Record<string, string>} */
export function wantedUnits(run, names) {
  if (!run.reference) return {};
  return Object.fromEntries(names.map((name) => [name, store.variables.get(name)?.unit ?? ""]).filter(([, unit]) => unit));
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
