// The variables of a run as a tree, with search.

import { get } from "./api.js";
import { debounce, h, replace, show } from "./dom.js";
import { emit, on, store } from "./store.js";
import { displayed } from "./units.js";

/** @typedef {{name: string, full: string, inside: Map<string, Node>, variable: import("./store.js").Variable|null}} Node */

/** Parts of a name between dots; those in quotes and brackets stay together. A derivative is beside its variable. @param {string} name @returns {string[]} */
export function parts(name) {
  const inner = /^der\((.*)\)$/.exec(name)?.[1];
  if (inner) {
    const all = parts(inner);
    return [...all.slice(0, -1), `der(${all[all.length - 1]})`];
  }
  return name.match(/(?:'(?:\\.|[^'])*'|\[[^\]]*\]|\([^)]*\)|[^.'[(])+/g) ?? [name];
}

export class VariableTree {
  /** @param {import("./plots.js").Plots} plots */
  constructor(plots) {
    this.plots = plots;
    this.list = h("div", { class: "tree", role: "tree", "aria-label": "Variables", onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e) });
    this.input = h("input", { type: "search", placeholder: "Filter variables", "aria-label": "Filter variables", id: "variable-search", spellcheck: "false" });
    this.input.addEventListener("input", debounce(() => this.render(), 120));
    this.input.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => e.key === "ArrowDown" && this.list.querySelector(".row")?.focus());
    this.element = h("div", { class: "fill column" }, h("div", { class: "bar" }, this.input), h("div", { class: "scroll" }, this.list));
    /** @type {Set<string>} */
    this.open = new Set();
    this.shownClass = "";
    on("run-chosen", () => this.load());
    on("shown", () => this.check());
    this.render();
  }

  async load() {
    const run = store.run;
    if (!run) return;
    const { variables, texts } = await get("variables", { run: run.id });
    if (store.run !== run) return;
    // Names of another model mean something else.
    if (this.shownClass !== run.class) store.variables.clear();
    this.shownClass = run.class;
    store.texts = new Map(Object.entries(texts ?? {}));
    for (const v of variables) store.variables.set(v.name, v);
    /** @type {import("./store.js").Variable[]} */
    this.variables = variables;
    emit("variables");
    this.render();
  }

  render() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = (this.variables ?? []).filter((v) => !words.length || words.every((/** @type {string} */ w) => v.name.toLowerCase().includes(w) || (v.description ?? "").toLowerCase().includes(w)));
    if (!all.length) return replace(this.list, h("p", { class: "empty" }, this.variables ? "No variable fits." : "Run the model to see its variables."));
    /** @type {Node} */
    const root = { name: "", full: "", inside: new Map(), variable: null };
    for (const variable of all) {
      let node = root;
      let full = "";
      for (const part of parts(variable.name)) {
        full = full ? `${full}.${part}` : part;
        let next = node.inside.get(part);
        if (!next) node.inside.set(part, (next = { name: part, full, inside: new Map(), variable: null }));
        node = next;
      }
      node.variable = variable;
      node.full = variable.name;
    }
    const opensAll = words.length > 0 && all.length < 300;
    replace(this.list, [...root.inside.values()].map((n) => this.node(n, 0, opensAll)));
    this.check();
  }

  /** @param {Node} node @param {number} depth @param {boolean} opensAll @returns {HTMLElement} */
  node(node, depth, opensAll) {
    const { variable } = node;
    const isLeaf = !!variable && !node.inside.size;
    const inside = h("div", { role: "group", hidden: true });
    const isParameter = variable?.value !== null && variable?.value !== undefined;
    const unit = variable?.display?.unit ?? variable?.unit ?? "";
    const shown = isParameter && variable ? (variable.literals?.[/** @type {number} */ (variable.value) - 1] ?? (variable.kind === "boolean" ? String(!!variable.value)
      : show(displayed(variable.display, /** @type {number} */ (variable.value)), 5))) : "";
    const row = h("div", {
      class: `row${isParameter ? " parameter" : ""}${variable?.hidden ? " hidden-variable" : ""}`, role: "treeitem", tabindex: "-1", draggable: isLeaf ? "true" : null,
      "data-variable": variable ? node.full : null, "data-depth": depth, title: [node.full, variable?.description].filter(Boolean).join("\n"),
      "aria-expanded": isLeaf ? null : "false",
      onclick: () => (variable && !node.inside.size ? this.plots.toggle(node.full) : toggle()),
      ondragstart: (/** @type {DragEvent} */ e) => e.dataTransfer?.setData("application/x-saltus-variable", node.full),
    }, h("span", { class: "twist" }, isLeaf ? "" : "▸"), isLeaf ? h("span", { class: "tick", "aria-hidden": "true" }) : null, h("span", { class: "name" }, node.name),
      shown && h("span", { class: "amount" }, shown), h("span", { class: "unit" }, unit), h("span", { class: "hint" }, variable?.description ?? ""));
    row.style.paddingLeft = `${4 + depth * 13}px`;
    const toggle = () => {
      const isOpen = row.getAttribute("aria-expanded") === "true";
      row.setAttribute("aria-expanded", String(!isOpen));
      row.querySelector(".twist").textContent = isOpen ? "▸" : "▾";
      inside.hidden = isOpen;
      if (isOpen) this.open.delete(node.full);
      else this.open.add(node.full);
      if (!isOpen && !inside.childElementCount) {
        if (variable) inside.append(this.node({ ...node, inside: new Map() }, depth + 1, false));
        inside.append(...[...node.inside.values()].map((n) => this.node(n, depth + 1, opensAll)));
        this.check();
      }
    };
    row.toggle = isLeaf ? null : toggle;
    if (!isLeaf && (opensAll || this.open.has(node.full))) toggle();
    return h("div", {}, row, inside);
  }

  /** Ticks those that are drawn. */
  check() {
    const names = this.plots?.names() ?? new Set();
    for (const row of this.list.querySelectorAll("[data-variable]")) row.classList.toggle("plotted", names.has(row.dataset.variable));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const row = /** @type {any} */ (document.activeElement);
    if (!row?.classList.contains("row")) return;
    const visible = [...this.list.querySelectorAll(".row")].filter((r) => r.offsetParent);
    const at = visible.indexOf(row);
    const isOpen = row.getAttribute("aria-expanded") === "true";
    if (event.key === "ArrowDown") visible[at + 1]?.focus();
    else if (event.key === "ArrowUp") (visible[at - 1] ?? this.input).focus();
    else if (event.key === "ArrowRight" && row.toggle) isOpen ? visible[at + 1]?.focus() : row.toggle();
    else if (event.key === "ArrowLeft") isOpen ? row.toggle() : visible.slice(0, at).reverse().find((r) => Number(r.dataset.depth) < Number(row.dataset.depth))?.focus();
    else if (event.key === "Enter" || event.key === " ") row.click();
    else return;
    event.preventDefault();
  }
}
