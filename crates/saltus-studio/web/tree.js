// The tree of libraries: loaded as it is opened, with search.

import { get } from "./api.js";
import { debounce, h, replace } from "./dom.js";
import { parts } from "./names.js";
import { emit } from "./store.js";

/** @typedef {{name: string, full: string, words: string, description?: string, children?: boolean, own?: boolean}} Entry */

/** @type {Record<string, string>} */
const LETTERS = { package: "P", model: "M", block: "B", connector: "C", function: "f", record: "R", type: "T", class: "M", enumeration: "E" };

/** A picture that says what kind of class it is, until its icon is there. @param {string} words */
export function badge(words) {
  const kind = words.split(" ").pop() ?? "";
  return h("span", { class: `badge ${kind}`, "aria-hidden": "true" }, LETTERS[kind] ?? "·");
}

export class LibraryTree {
  /** @param {(name: string) => void} open @param {(entry: Entry, row: HTMLElement) => void} [decorate] */
  constructor(open, decorate) {
    this.open = open;
    this.decorate = decorate;
    this.list = h("div", { class: "tree", role: "tree", "aria-label": "Classes", onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e) });
    this.found = h("div", { class: "tree", role: "tree", "aria-label": "Found classes", hidden: true, onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e) });
    const input = h("input", { type: "search", placeholder: "Search classes", "aria-label": "Search classes", id: "class-search", spellcheck: "false" });
    const search = debounce(() => this.search(input.value.trim()), 180);
    input.addEventListener("input", search);
    input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "ArrowDown") (this.found.hidden ? this.list : this.found).querySelector(".row")?.focus();
      if (event.key === "Enter") this.found.querySelector(".row")?.click();
    });
    this.input = input;
    this.element = h("div", { class: "fill column" }, h("div", { class: "bar" }, input), h("div", { class: "scroll" }, this.list, this.found));
    this.load(this.list, "", 0);
  }

  /** @param {HTMLElement} into @param {string} name @param {number} depth */
  async load(into, name, depth) {
    const { classes } = await get("tree", { package: name });
    replace(into, classes.map((/** @type {Entry} */ entry) => this.node(entry, depth)));
  }

  /** @param {Entry} entry @param {number} depth */
  node(entry, depth) {
    const inside = h("div", { role: "group", hidden: true });
    const row = h("div", {
      class: "row", role: "treeitem", tabindex: "-1", draggable: "true", "data-class": entry.full, "data-depth": depth,
      title: entry.description || entry.words, "aria-expanded": entry.children ? "false" : null,
      onclick: () => this.open(entry.full),
      ondragstart: (/** @type {DragEvent} */ e) => e.dataTransfer?.setData("application/x-saltus-class", entry.full),
    }, h("span", { class: "twist", onclick: (/** @type {Event} */ e) => { e.stopPropagation(); toggle(); } }, entry.children ? "▸" : ""), badge(entry.words),
      h("span", { class: "name" }, entry.name), h("span", { class: "hint" }, entry.description ?? ""));
    row.style.paddingLeft = `${4 + depth * 13}px`;
    const toggle = async () => {
      if (!entry.children) return;
      const isOpen = row.getAttribute("aria-expanded") === "true";
      row.setAttribute("aria-expanded", String(!isOpen));
      row.querySelector(".twist").textContent = isOpen ? "▸" : "▾";
      inside.hidden = isOpen;
      if (!isOpen && !inside.childElementCount) await this.load(inside, entry.full, depth + 1);
    };
    row.toggle = toggle;
    this.decorate?.(entry, row);
    return h("div", {}, row, inside);
  }

  /** @param {string} query */
  async search(query) {
    this.found.hidden = !query;
    this.list.hidden = !!query;
    if (!query) return;
    const { classes } = await get("search", { query });
    if (this.input.value.trim() !== query) return;
    replace(this.found, classes.length ? classes.map((/** @type {Entry} */ entry) => {
      const node = this.node({ ...entry, description: entry.full.slice(0, -entry.name.length - 1) }, 0);
      return node;
    }) : h("p", { class: "empty" }, "No class has this name."));
  }

  /** Files have come or gone. */
  async reload() {
    const current = this.list.querySelector(".row.current")?.dataset.class;
    await this.load(this.list, "", 0);
    if (current) await this.reveal(current);
  }

  /** Opens the packages above a class and marks it. @param {string} name */
  async reveal(name) {
    const above = parts(name);
    for (let n = 1; n < above.length; n++) {
      const row = this.row(above.slice(0, n).join("."));
      if (!row) return;
      if (row.getAttribute("aria-expanded") === "false") await row.toggle();
    }
    for (const row of this.element.querySelectorAll(".row.current")) row.classList.remove("current");
    const row = this.row(name);
    row?.classList.add("current");
    row?.scrollIntoView({ block: "nearest" });
    if (row) row.tabIndex = 0;
  }

  /** @param {string} name @returns {any} */
  row(name) {
    return [...this.list.querySelectorAll(".row")].find((row) => row.dataset.class === name);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const row = /** @type {any} */ (document.activeElement);
    if (!row?.classList.contains("row")) return;
    const visible = /** @type {any[]} */ ([...event.currentTarget ? /** @type {Element} */ (event.currentTarget).querySelectorAll(".row") : []]).filter((r) => r.offsetParent);
    const at = visible.indexOf(row);
    const isOpen = row.getAttribute("aria-expanded") === "true";
    if (event.key === "ArrowDown") visible[at + 1]?.focus();
    else if (event.key === "ArrowUp") (visible[at - 1] ?? this.input).focus();
    else if (event.key === "ArrowRight") isOpen ? visible[at + 1]?.focus() : row.toggle();
    else if (event.key === "ArrowLeft") isOpen ? row.toggle() : visible.slice(0, at).reverse().find((r) => Number(r.dataset.depth) < Number(row.dataset.depth))?.focus();
    else if (event.key === "Enter" || event.key === " ") row.click();
    else if ((event.key === "Insert" || event.key.toLowerCase() === "a") && !event.ctrlKey && !event.metaKey && !event.altKey) emit("add-class", row.dataset.class);
    else return;
    event.preventDefault();
  }
}
