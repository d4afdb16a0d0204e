// Parameters and experiment settings for the next run. Setting them does not touch the text and does not compile.

import { get } from "./api.js";
import { debounce, h, replace, show } from "./dom.js";
import { parts } from "./names.js";
import { currentValues, emit, on, store } from "./store.js";
import { displayed, entered } from "./units.js";

/** @typedef {{name: string, description: string, unit: string, value: number|null, kind: string, literals: string[]|null, input: boolean,
 *  min: number|null, max: number|null, display: {unit: string, factor: number, offset: number}|null, structural: boolean, fixed: string|null}} Parameter */

export class Parameters {
  constructor() {
    this.input = h("input", { type: "search", placeholder: "Filter parameters", "aria-label": "Filter parameters", id: "parameter-search", spellcheck: "false" });
    this.input.addEventListener("input", debounce(() => this.render(), 100));
    this.reset = h("button", { type: "button", class: "tool", title: "Forget all values for the next run", onclick: () => { currentValues().clear(); this.load(); } }, "Reset");
    this.list = h("div", { class: "parameters" });
    this.element = h("div", { class: "fill column" }, h("div", { class: "bar" }, this.input, this.reset), h("div", { class: "scroll" }, this.list));
    /** @type {Parameter[]} */
    this.parameters = [];
    /** Names of parameters that decide about the structure, by class. @type {Map<string, Set<string>>} */
    this.structural = new Map();
    /** @type {any} */
    this.settings = null;
    on("opened", () => this.load());
    on("saved-edit", debounce(() => this.load(), 600));
    on("files", () => this.load());
    on("next-run", () => this.load());
    on("runs", () => this.isLive !== this.follows() && this.render());
  }

  /** Is a run with the clock shown, which takes values at once? */
  follows() {
    const run = store.run;
    return !!run?.live && run.phase === "running" && run.class === store.current?.name;
  }

  async load() {
    const opened = store.current;
    if (!opened?.simulates) {
      this.parameters = [];
      this.settings = null;
      emit("settings", null);
      return this.render();
    }
    const known = this.structural.get(opened.name) ?? new Set();
    const values = [...currentValues()].filter(([name]) => known.has(name));
    const found = await get("parameters", { class: opened.name, values: JSON.stringify(values) });
    if (store.current?.name !== opened.name) return;
    this.messages = found.messages ?? null;
    if (found.parameters) {
      this.parameters = found.parameters;
      this.structural.set(opened.name, new Set(this.parameters.filter((p) => p.structural && !p.fixed).map((p) => p.name)));
      this.settings = { ...found.settings, solvers: found.solvers };
      emit("settings", this.settings);
    }
    this.render();
  }

  render() {
    this.isLive = this.follows();
    emit("parameters", this.parameters.filter((p) => !p.fixed).map((p) => p.name));
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const values = currentValues();
    const fits = (/** @type {Parameter} */ p) => words.every((/** @type {string} */ w) => p.name.toLowerCase().includes(w) || p.description.toLowerCase().includes(w));
    const shown = this.parameters.filter(fits);
    this.reset.disabled = values.size === 0;
    if (!shown.length) {
      const why = this.messages?.length ? "The model has errors." : store.current?.simulates ? "No parameter can be set for a run." : "This class is not simulated.";
      return replace(this.list, h("p", { class: "empty" }, why));
    }
    /** @type {Map<string, Parameter[]>} */
    const groups = new Map();
    for (const p of shown.slice(0, 600)) {
      const group = parts(p.name).slice(0, -1).join(".");
      groups.set(group, [...(groups.get(group) ?? []), p]);
    }
    replace(this.list, [...groups].map(([group, all]) => h("fieldset", {}, group && h("legend", {}, group), all.map((p) => this.field(p, values)))),
      shown.length > 600 && h("p", { class: "empty" }, `${shown.length - 600} more: filter them.`));
  }

  /** @param {Parameter} p @param {Map<string, string>} values */
  field(p, values) {
    const last = parts(p.name).pop() ?? p.name;
    const usual = this.written(p);
    const id = `parameter-${p.name}`;
    const mark = (/** @type {any} */ element) => element.closest(".field").classList.toggle("changed", values.has(p.name));
    const set = (/** @type {any} */ element, /** @type {string|null} */ text) => {
      // What is shown of a structural parameter is the value that the model was compiled with, not the one of the text.
      if (text === null || text === "" || (text === usual && !p.structural)) values.delete(p.name);
      else values.set(p.name, this.plain(p, text));
      this.reset.disabled = values.size === 0;
      mark(element);
      emit("values");
      // Another structure may have other parameters.
      if (p.structural) this.load();
      const run = store.run;
      if (!p.structural && run?.live && run.phase === "running" && run.class === store.current?.name) emit("live-set", { name: p.name, value: this.number(p, text || usual) });
    };
    const given = values.get(p.name);
    const shown = given === undefined ? "" : this.shownOf(p, given);
    let control;
    const isOff = !!p.fixed;
    if (p.kind === "boolean" || p.literals) {
      const options = p.literals ?? ["false", "true"];
      control = h("select", { id, disabled: isOff, onchange: (/** @type {any} */ e) => set(e.target, e.target.value) }, options.map((o) => h("option", { value: o, selected: (given ?? usual) === o }, o)));
    } else {
      control = h("input", { id, type: "text", disabled: isOff, inputmode: "decimal", placeholder: usual, value: shown, spellcheck: "false", onchange: (/** @type {any} */ e) => {
        const text = e.target.value.trim().replace(",", ".");
        const isNumber = text === "" || Number.isFinite(Number(text));
        e.target.classList.toggle("wrong", !isNumber);
        if (isNumber) set(e.target, text);
      } });
    }
    const tag = p.fixed ? { word: p.fixed === "final" ? "final" : "fixed", title: p.fixed } : p.structural ? { word: "compiles", title: "The structure of the model depends on it: the next run compiles the model anew for this value" } : null;
    const slide = this.isLive && p.kind === "real" && !p.structural && !isOff && this.slider(p, shown === "" ? usual : shown, (text) => {
      control.value = text;
      set(control, text);
    });
    return h("div", { class: `field${given === undefined ? "" : " changed"}`, title: `${p.name}\n${p.description}${p.min !== null ? `\nat least ${p.min}` : ""}${p.max !== null ? `\nat most ${p.max}` : ""}` },
      h("label", { for: id }, last), control, h("span", { class: "unit" }, p.display?.unit ?? p.unit), slide, h("span", { class: "hint" }, tag && h("span", { class: "tag", title: tag.title }, tag.word), p.description));
  }

  /** For a run with the clock: between the bounds of the parameter, or around its value. @param {Parameter} p @param {string} text @param {(text: string) => void} chosen */
  slider(p, text, chosen) {
    const now = Number(text) || 0;
    const shown = (/** @type {number|null} */ bound) => (bound === null || Math.abs(bound) > 1e30 ? null : displayed(p.display, bound));
    const size = Math.abs(now) || 1;
    const [low, high] = [shown(p.min) ?? Math.min(0, now - size), shown(p.max) ?? now + size];
    const [from, to] = low <= now && now <= high && high > low ? [low, high] : [now - size, now + size];
    return h("input", { type: "range", class: "slide", min: from, max: to, step: (to - from) / 200, value: now, "aria-label": `${p.name} of the live run`, title: `${show(from, 4)} … ${show(to, 4)}`, oninput: (/** @type {any} */ e) => chosen(show(Number(e.target.value), 6)) });
  }

  /** @param {Parameter} p */
  written(p) {
    if (p.value === null || p.value === undefined) return "";
    if (p.kind === "boolean") return p.value ? "true" : "false";
    if (p.literals) return p.literals[p.value - 1] ?? "";
    return show(displayed(p.display, p.value), 8);
  }

  /** From the unit of display to the one of the model. @param {Parameter} p @param {string} text */
  plain(p, text) {
    return entered(p.display, text);
  }

  /** As a running simulation takes it: Booleans are 0 and 1, literals count from 1. @param {Parameter} p @param {string} text */
  number(p, text) {
    if (p.kind === "boolean") return text === "true" ? 1 : 0;
    if (p.literals) return p.literals.indexOf(text) + 1;
    return Number(this.plain(p, text));
  }

  /** @param {Parameter} p @param {string} text */
  shownOf(p, text) {
    return p.display ? show(displayed(p.display, Number(text)), 12) : text;
  }
}
