// How the model is sorted: index and sizes, states, loops, events. A line leads to the text and to the diagram.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { row } from "./lines.js";
import { on, store } from "./store.js";

export class StructureView {
  constructor() {
    this.body = h("div", { class: "scroll tables" });
    this.element = h("div", { class: "fill column" }, this.body);
    this.isShown = false;
    this.isStale = true;
    on("opened", () => this.forget());
    on("saved-edit", () => this.forget());
    this.render(null);
  }

  /** The text has changed: it is sorted again when somebody looks. */
  forget() {
    this.isStale = true;
    this.load();
  }

  async load() {
    const opened = store.current;
    if (!this.isShown || !this.isStale || this.isLoading || !opened) return;
    this.isLoading = true;
    this.isStale = false;
    if (!opened.simulates) this.render(null);
    else {
      try {
        const { structure, messages } = await get("structure", { class: opened.name });
        if (store.current === opened) this.render(structure, messages);
      } finally {
        this.isLoading = false;
      }
    }
    this.isLoading = false;
    if (this.isStale) this.load();
  }

  /** @param {any} structure @param {any[]} [messages] */
  render(structure, messages = []) {
    if (!structure) return replace(this.body, h("p", { class: "empty" }, messages[0]?.message ?? "Open a model that can be simulated to see its states, loops and events."));
    const sizes = structure.sizes.map((/** @type {any} */ [text, n]) => `${n} ${text}`).join(", ");
    const longest = Math.max(1, ...structure.loops.map((/** @type {any} */ l) => l.size));
    replace(this.body,
      h("p", { class: "summary" }, h("b", {}, `index ${structure.index}`), ` · ${structure.nStates} state${structure.nStates === 1 ? "" : "s"} · ${structure.loops.filter((/** @type {any} */ l) => l.when === "between events").length} loops in ${structure.blocks} blocks between events · equations: ${sizes}`),
      this.table("States", structure.states, (line) => row(line, [], [h("span", { class: "hint" }, line.note)])),
      this.table("Determined by states", structure.dependent, (line) => row(line, [], [h("span", { class: "hint" }, line.note)])),
      this.table("Loops", structure.loops, (line) => this.loop(line, longest)),
      this.table("Events", structure.events, (line) => row(line, [h("span", { class: "number dim" }, line.kind)])),
      this.table("Initial conditions", structure.decisions, (line) => row(line, [])));
  }

  /** @param {any} line @param {number} longest */
  loop(line, longest) {
    const over = line.torn.length ? ` over ${line.torn.join(", ")}` : "";
    const title = { ...line, text: `${line.size} equation${line.size === 1 ? "" : "s"}, ${line.kind}, ${line.unknowns} iteration variable${line.unknowns === 1 ? "" : "s"}${over}` };
    const size = h("span", { class: "bar-fill" });
    size.style.width = `${(line.size / longest) * 100}%`;
    const inner = h("div", { class: "inner", hidden: true }, line.equations.map((/** @type {any} */ e) => row(e, [])), line.size > line.equations.length && h("p", { class: "hint more" }, `… ${line.size - line.equations.length} more`));
    const twist = h("button", { type: "button", class: "tool twist-button", "aria-expanded": "false", "aria-label": "Equations of the loop", title: "Equations", onclick: (/** @type {Event} */ e) => {
      e.stopPropagation();
      inner.hidden = !inner.hidden;
      twist.setAttribute("aria-expanded", String(!inner.hidden));
      twist.textContent = inner.hidden ? "▸" : "▾";
    }, onkeydown: (/** @type {Event} */ e) => e.stopPropagation() }, "▸");
    return h("div", {}, row(title, [twist, h("span", { class: "share" }, h("span", { class: "bar-track" }, size), h("span", { class: "number" }, line.size)), h("span", { class: "number dim wide" }, line.when)]), inner);
  }

  /** @param {string} title @param {any[]} lines @param {(line: any) => HTMLElement} make */
  table(title, lines, make) {
    return lines.length > 0 && h("section", { class: "line-table", "aria-label": title }, h("h3", {}, `${title} ${lines.length}`), h("div", {}, lines.map(make)));
  }
}
