// The record of events as a table: lines are asked for as they scroll into view.

import { get } from "./api.js";
import { debounce, h, replace, show } from "./dom.js";
import { emit, on, store } from "./store.js";

const HEIGHT = 22;
const PAGE = 200;

export class EventTable {
  constructor() {
    /** @type {Map<number, any[]>} */
    this.pages = new Map();
    this.matching = 0;
    /** @type {number|null} */
    this.chosen = null;
    this.input = h("input", { type: "search", placeholder: "Filter: kind, relation, variable", "aria-label": "Filter events", id: "event-filter", spellcheck: "false" });
    this.input.addEventListener("input", debounce(() => this.reset(), 150));
    this.count = h("span", { class: "hint" });
    this.rows = h("div", { class: "rows" });
    this.tall = h("div", { class: "tall" }, this.rows);
    this.scroll = h("div", { class: "scroll table", tabindex: "0", role: "grid", "aria-label": "Events", onscroll: () => this.paint(), onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e) }, this.tall);
    this.detail = h("div", { class: "detail scroll" });
    this.element = h("div", { class: "fill column" }, h("div", { class: "bar" }, this.input, this.count),
      h("div", { class: "event head" }, ["#", "time / s", "kind", "cause", "changes", "rounds"].map((t) => h("span", {}, t))), h("div", { class: "split" }, this.scroll, this.detail));
    new ResizeObserver(() => this.paint()).observe(this.scroll);
    on("run-chosen", () => this.reset());
    on("runs", debounce(() => this.grow(), 200));
    on("cursor", (t) => this.near(t));
  }

  reset() {
    this.pages.clear();
    this.chosen = null;
    replace(this.detail, h("p", { class: "empty" }, "Choose an event: the plot and the text go there."));
    this.scroll.scrollTop = 0;
    this.page(0);
  }

  /** Shows the events with these words. @param {string} words */
  filter(words) {
    this.input.value = words;
    this.reset();
  }

  /** A run that goes on has more events. */
  grow() {
    if (!store.run) return;
    if (store.run.events !== this.known) {
      const last = Math.floor(Math.max(0, this.matching - 1) / PAGE);
      this.pages.delete(last);
      this.page(last);
    }
  }

  /** @param {number} n */
  async page(n) {
    const run = store.run;
    if (!run || this.pages.has(n)) return this.paint();
    this.pages.set(n, []);
    const filter = this.input.value;
    const found = await get("events", { run: run.id, offset: n * PAGE, limit: PAGE, filter });
    if (run !== store.run || filter !== this.input.value) return;
    this.pages.set(n, found.events);
    this.matching = found.matching;
    this.known = found.total;
    this.count.textContent = found.matching === found.total ? `${found.total} ${found.total === 1 ? "event" : "events"}` : `${found.matching} of ${found.total} events`;
    emit("event-count", found.total);
    // A browser does not scroll further than this.
    this.tall.style.height = `${Math.min(found.matching * HEIGHT, 1.5e7)}px`;
    this.paint();
  }

  /** Lines above the visible ones: a table that is too tall is scrolled in proportion. */
  first() {
    const tall = this.matching * HEIGHT;
    const factor = tall > 1.5e7 ? tall / 1.5e7 : 1;
    return Math.floor((this.scroll.scrollTop * factor) / HEIGHT);
  }

  paint() {
    const visible = Math.ceil(this.scroll.clientHeight / HEIGHT) + 1;
    const first = Math.max(0, Math.min(this.first(), this.matching - visible + 1));
    const rows = [];
    for (let i = first; i < Math.min(first + visible, this.matching); i++) {
      const page = this.pages.get(Math.floor(i / PAGE));
      if (!page) {
        this.page(Math.floor(i / PAGE));
        continue;
      }
      const event = page[i % PAGE];
      if (event) rows.push(this.row(event, i));
    }
    replace(this.rows, rows.length ? rows : h("p", { class: "empty" }, store.run ? "No events." : "Run the model to see its events."));
    this.rows.style.transform = `translateY(${this.scroll.scrollTop}px)`;
  }

  /** @param {any} event @param {number} at */
  row(event, at) {
    const cause = event.causes.map((/** @type {any} */ c) => c.text).join(", ");
    const changes = event.changes.map((/** @type {any} */ c) => this.change(c)).join(", ");
    return h("div", { class: `event${event.index === this.chosen ? " chosen" : ""}`, role: "row", "data-event": event.index, onclick: () => this.choose(event, at) },
      [event.index, show(event.time, 8), event.kind, event.note ?? cause, changes, event.rounds].map((t) => h("span", { title: String(t) }, t)));
  }

  /** @param {[string, number|null, number|null]} change */
  change([name, before, after]) {
    const variable = store.variables.get(name);
    const text = (/** @type {number|null} */ v) => (v === null ? "–" : variable?.kind === "boolean" ? String(!!v) : variable?.literals?.[v - 1] ?? show(v, 5));
    return `${name} ${text(before)} → ${text(after)}`;
  }

  /** @param {any} event @param {number} at */
  choose(event, at) {
    this.chosen = event.index;
    this.at = at;
    this.paint();
    const place = event.causes.find((/** @type {any} */ c) => c.place)?.place ?? null;
    replace(this.detail, h("p", {}, h("b", {}, `${event.kind} event at ${show(event.time, 12)} s`), event.restart ? " · restarts the integration" : ""),
      event.note && h("p", {}, event.note),
      event.causes.map((/** @type {any} */ c) => h("p", {}, h("code", {}, c.text), c.place && h("button", { type: "button", class: "link", onclick: () => emit("place", c.place) }, ` ${c.place.path.split("/").pop()}:${c.place.line}`))),
      event.changes.length > 0 && h("ul", {}, event.changes.map((/** @type {any} */ c) => h("li", {}, this.change(c)))),
      event.consequences.length > 0 && h("p", {}, "then ", event.consequences.map((/** @type {any} */ c) => `${c[1]} ${c[2]} (round ${c[0]})`).join(", ")),
      event.mixed > 0 && h("p", {}, `${event.mixed} looks at mixed loops`));
    emit("event-chosen", { time: event.time, place, names: event.changes.map((/** @type {any} */ c) => c[0]), causes: event.causes.map((/** @type {any} */ c) => c.text) });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const at = Math.max(0, Math.min(this.matching - 1, (this.at ?? -1) + step));
    const next = this.pages.get(Math.floor(at / PAGE))?.[at % PAGE];
    if (!next) return;
    const top = at * HEIGHT;
    if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
    if (top + HEIGHT > this.scroll.scrollTop + this.scroll.clientHeight) this.scroll.scrollTop = top + HEIGHT - this.scroll.clientHeight;
    this.choose(next, at);
  }

  /** Scrolls to the events at a time. @param {number} t */
  async near(t) {
    if (!store.run || this.input.value || this.element.hidden) return;
    const { at } = await get("events", { run: store.run.id, offset: 0, limit: 0, at: t });
    if (at !== undefined && this.matching * HEIGHT < 1.5e7) this.scroll.scrollTop = Math.max(0, at * HEIGHT - this.scroll.clientHeight / 2);
  }
}
