// Searches: how far they are, what they have found, and the points that they have tried. A click on a point runs the model there.

import { get, post } from "./api.js";
import { debounce, h, replace, show, svg } from "./dom.js";
import { choose, showAnswer, start } from "./runs.js";
import { axes, heat, LEFT, next, RIGHT, room, sheet, TOP } from "./scatter.js";
import { emit, on, store } from "./store.js";

/** @typedef {{id: number, class: string, phase: string, kind: string, method: string, names: string[], aims: {text: string, value?: number, within?: number}[], trials: number,
 *  most: number, found: number[], value: number|null, remark: string|null, messages: import("./store.js").Message[], seconds: number, run: number|null}} Search */
/** @typedef {{at: number[], values?: number[], why?: string}} Trial */

export class SearchView {
  constructor() {
    this.list = h("select", { "aria-label": "Search", title: "Search", id: "search-list", onchange: () => { this.wanted = Number(this.list.value); this.load(); } });
    this.across = h("select", { "aria-label": "Horizontal axis", title: "Horizontal axis", id: "search-across", onchange: () => this.render() });
    this.up = h("select", { "aria-label": "Vertical axis", title: "Vertical axis", id: "search-up", onchange: () => this.render() });
    this.stop = h("button", { type: "button", class: "tool", id: "search-stop", onclick: () => post("search/cancel", { search: this.wanted }) }, "■ Stop");
    this.drop = h("button", { type: "button", class: "close", title: "Throw the search away", "aria-label": "Throw the search away", onclick: () => post("search/remove", { search: this.wanted }) }, "×");
    this.readout = h("span", { class: "readout", "aria-live": "polite" });
    this.body = h("div", { class: "scroll study" });
    this.element = h("div", { class: "fill column" }, h("div", { class: "bar" }, this.list, this.across, this.up, this.stop, this.drop, this.readout), this.body);
    this.isShown = false;
    /** @type {Map<number, Search>} */
    this.searches = new Map();
    /** @type {Map<number, Trial[]>} */
    this.trials = new Map();
    /** @type {number|null} */
    this.wanted = null;
    /** @type {{element: Element, trial: Trial, text: string}[]} */
    this.spots = [];
    /** Searches of this window whose answer has not been shown yet. @type {Set<number>} */
    this.asked = new Set();
    this.at = 0;
    this.drawn = "";
    new ResizeObserver(() => this.isShown && this.render()).observe(this.body);
    const soon = debounce(() => this.load(), 60);
    on("searches", (/** @type {Search[]} */ all) => {
      this.searches = new Map(all.map((s) => [s.id, s]));
      this.trials = new Map();
      soon();
    });
    on("search", (/** @type {Search} */ search) => {
      this.searches.set(search.id, search);
      this.answer();
      soon();
    });
    on("runs", () => this.answer());
    on("search-removed", (id) => {
      this.searches.delete(id);
      soon();
    });
    on("search-begun", (/** @type {Search} */ search) => {
      // The answer to the request may come behind the news.
      if (!this.searches.has(search.id)) this.searches.set(search.id, search);
      this.wanted = search.id;
      this.asked.add(search.id);
      this.at = 0;
      this.answer();
      soon();
    });
    this.render();
  }

  /** The answer of a search that was begun here is shown, as soon as its run is known. */
  answer() {
    for (const id of this.asked) {
      const run = store.runs.get(this.searches.get(id)?.run ?? -1);
      if (!run?.rows) continue;
      this.asked.delete(id);
      showAnswer(run);
    }
  }

  async load() {
    emit("search-count", this.searches.size);
    if (!this.isShown) return;
    const ids = [...this.searches.keys()].reverse();
    if (this.wanted === null || !this.searches.has(this.wanted)) this.wanted = ids[0] ?? null;
    replace(this.list, ids.map((id) => h("option", { value: id, selected: id === this.wanted }, `#${id} ${this.title(/** @type {Search} */ (this.searches.get(id)))}`)));
    const search = this.searches.get(this.wanted ?? -1);
    if (search) {
      const known = this.trials.get(search.id) ?? [];
      if (known.length < search.trials) {
        const { trials } = await get("trials", { search: search.id, from: known.length });
        const now = this.trials.get(search.id) ?? [];
        // Another answer may have come first.
        if (now.length === known.length) this.trials.set(search.id, [...now, ...trials]);
      }
    }
    this.render();
  }

  /** @param {Search} s */
  title(s) {
    const what = s.kind === "targets" ? s.aims.map((a) => `${a.text} = ${show(a.value)}`).join(", ") : `${s.kind} ${s.aims[0].text}`;
    return `${s.names.join(", ")}: ${what}`;
  }

  /** How good a point is: the objective, or how far from the targets; less is better. @param {Search} s @param {Trial} t */
  merit(s, t) {
    if (!t.values) return NaN;
    if (s.kind !== "targets") return s.kind === "largest" ? -t.values[0] : t.values[0];
    return Math.hypot(...s.aims.map((a, i) => /** @type {number[]} */ (t.values)[i] - /** @type {number} */ (a.value)));
  }

  /** What can stand at an axis: parameters, then expressions, then the distance from several targets. @param {Search} s @returns {{name: string, of: (t: Trial) => number}[]} */
  quantities(s) {
    const all = [...s.names.map((name, i) => ({ name, of: (/** @type {Trial} */ t) => t.at[i] })), ...s.aims.map((a, i) => ({ name: a.text, of: (/** @type {Trial} */ t) => t.values?.[i] ?? NaN }))];
    if (s.kind === "targets" && s.aims.length > 1) all.push({ name: "distance", of: (t) => this.merit(s, t) });
    return all;
  }

  render() {
    const search = this.searches.get(this.wanted ?? -1);
    const isGoing = search?.phase === "running" || search?.phase === "compiling";
    for (const control of [this.list, this.across, this.up, this.drop]) control.hidden = !search;
    this.stop.hidden = !isGoing;
    if (!search) {
      this.readout.textContent = this.drawn = "";
      return replace(this.body, h("p", { class: "empty" }, "Search… finds parameters with which a run meets targets, or with which an expression is smallest."));
    }
    const trials = this.trials.get(search.id) ?? [];
    const all = this.quantities(search);
    const fill = (/** @type {any} */ select, /** @type {number} */ usual) => {
      const now = all.some((q) => q.name === select.value) ? select.value : all[usual].name;
      replace(select, all.map((q) => h("option", { value: q.name, selected: q.name === now }, q.name)));
      return /** @type {typeof all[0]} */ (all.find((q) => q.name === now));
    };
    const x = fill(this.across, 0);
    // Two parameters are a plane; one stands under its value.
    const y = fill(this.up, search.names.length > 1 ? 1 : search.names.length);
    const size = room(this.body);
    const drawn = [search.id, search.phase, search.run, trials.length, x.name, y.name, ...size].join();
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const hasFocus = this.body.querySelector(".study-picture") === document.activeElement;
    const picture = sheet(size, this.title(search), (e) => this.key(e));
    this.points(picture, size, search, trials, x, y);
    replace(this.body, h("figure", {}, picture), this.side(search, trials));
    if (hasFocus) picture.focus({ preventScroll: true });
    this.mark();
  }

  /** @param {any} picture @param {[number, number]} size @param {Search} search @param {Trial[]} trials @param {{name: string, of: (t: Trial) => number}} x @param {{name: string, of: (t: Trial) => number}} y */
  points(picture, size, search, trials, x, y) {
    this.spots = [];
    const known = trials.filter((t) => Number.isFinite(x.of(t)) && Number.isFinite(y.of(t)));
    const { px, py } = axes(picture, size, known.map(x.of), known.map(y.of));
    const merits = known.map((t) => this.merit(search, t)).filter((m) => Number.isFinite(m));
    const [low, high] = [Math.min(...merits), Math.max(...merits)];
    const best = known.reduce((/** @type {Trial|null} */ a, t) => (a === null || Number.isNaN(this.merit(search, a)) || this.merit(search, t) < this.merit(search, a) ? t : a), null);
    picture.append(svg("polyline", { points: known.map((t) => `${px(x.of(t))},${py(y.of(t))}`).join(" "), class: "study-line trail" }));
    known.forEach((trial, i) => {
      const merit = this.merit(search, trial);
      const values = trial.values ? search.aims.map((a, k) => `${a.text} = ${show(trial.values?.[k], 6)}`).join(", ") : trial.why;
      const text = `${i + 1}: ${search.names.map((n, k) => `${n} = ${show(trial.at[k], 6)}`).join(", ")}: ${values}`;
      const element = svg("circle", { cx: px(x.of(trial)), cy: py(y.of(trial)), r: trial === best ? 6 : 4, class: `spot dot${trial.values ? "" : " failed"}${trial === best ? " best" : ""}`, "data-trial": i, onclick: () => this.choose(search, trial), onpointerenter: () => { this.at = i; this.mark(); } }, svg("title", {}, text));
      if (Number.isFinite(merit) && high > low) element.style.fill = heat(1 - (merit - low) / (high - low));
      this.spots.push({ element, trial, text });
      picture.append(element);
    });
    if (best) picture.append(picture.querySelector(".best"));
    picture.append(svg("text", { x: LEFT, y: size[1] - 4, class: "axis-title" }, x.name), svg("text", { x: 2, y: 11, class: "axis-title" }, y.name),
      svg("text", { x: size[0] - RIGHT + 8, y: TOP + 8, class: "axis-label" }, "light: better"));
  }

  /** @param {Search} search @param {Trial[]} trials */
  side(search, trials) {
    const n = trials.length;
    const isOver = search.phase !== "running" && search.phase !== "compiling";
    const state = search.phase === "compiling" ? "compiling" : search.phase === "running" ? `running, ${n} of at most ${search.most} points` : `${search.phase} after ${n === 1 ? "1 point" : `${n} points`}, ${show(search.seconds, 3)} s`;
    const failed = trials.filter((t) => !t.values).length;
    return h("div", { class: "study-side" }, h("h3", {}, this.title(search)), h("p", { class: "hint", id: "search-state" }, `${state} · ${search.method}`),
      search.found.length > 0 && h("p", { class: "answer", id: "search-answer" }, search.names.map((name, i) => h("span", {}, `${name} = ${show(search.found[i], 9)} `))),
      search.value !== null && search.value !== undefined && h("p", {}, `${search.kind === "targets" ? "left over" : search.kind === "largest" ? "maximum" : "minimum"}: ${show(search.value, 8)}`),
      search.remark && h("p", { class: "error" }, search.remark),
      search.messages.map((m) => h("p", { class: "error" }, m.message, (m.hints ?? []).map((t) => h("span", { class: "hint" }, ` ${t}`)))),
      search.run !== null && h("p", {}, "The run with it is ", h("button", { type: "button", class: "link", onclick: () => { const run = store.runs.get(/** @type {number} */ (search.run)); if (run) choose(run); } }, `#${search.run}`), "."),
      failed > 0 && h("p", { class: "hint" }, `${failed === 1 ? "1 point" : `${failed} points`} without a value: ${trials.find((t) => !t.values)?.why}`),
      isOver && n > 0 && h("p", { class: "hint" }, "A click or Enter on a point runs the model there; arrow keys move."));
  }

  mark() {
    this.at = Math.max(0, Math.min(this.spots.length - 1, this.at));
    this.spots.forEach(({ element }, i) => element.classList.toggle("current", i === this.at));
    this.readout.textContent = this.spots[this.at]?.text ?? "";
  }

  /** @param {Search} search @param {Trial} trial */
  choose(search, trial) {
    if (store.current?.name !== search.class) return emit("open", { name: search.class });
    start({ also: search.names.map((name, i) => [name, String(trial.at[i])]) });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const search = this.searches.get(this.wanted ?? -1);
    const now = this.spots[this.at];
    if (!search || !now) return;
    const to = next(this.spots, this.at, event.key);
    if (event.key === "Enter" || event.key === " ") this.choose(search, now.trial);
    else if (to !== null) {
      this.at = to;
      this.mark();
    } else return;
    event.preventDefault();
  }
}
