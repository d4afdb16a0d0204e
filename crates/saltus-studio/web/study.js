// The numbers of a study: a map over two parameters, points over one. A click shows the run.

import { post } from "./api.js";
import { debounce, h, replace, show, svg } from "./dom.js";
import { choose } from "./runs.js";
import { axes, BOTTOM, heat, LEFT, next, RIGHT, room, sheet, TOP } from "./scatter.js";
import { emit, on, store } from "./store.js";
import { displayed } from "./units.js";

/** Parameters whose values differ between runs. @param {import("./store.js").Run[]} runs */
export function varied(runs) {
  const names = runs[0]?.values.map(([n]) => n) ?? [];
  return names.filter((name) => new Set(runs.map((r) => valueOf(r, name))).size > 1);
}

/** @param {import("./store.js").Run} run @param {string} name */
function valueOf(run, name) {
  return Number(run.values.find(([n]) => n === name)?.[1]);
}

export class StudyView {
  constructor() {
    this.group = h("select", { "aria-label": "Study", title: "Study", id: "study-group", onchange: () => {
      this.wanted = this.group.value;
      this.load();
    } });
    this.variable = h("select", { "aria-label": "Variable", title: "Variable", id: "study-variable", onchange: () => {
      this.known = "";
      this.numbers = new Map();
      this.load();
    } });
    this.number = h("select", { "aria-label": "Number", title: "Number of each run", id: "study-number", onchange: () => this.render() }, [["final", "final value"], ["maximum", "maximum"], ["minimum", "minimum"]].map(([value, text]) => h("option", { value }, text)));
    this.axis = h("select", { "aria-label": "Parameter of the horizontal axis", title: "Horizontal axis", id: "study-axis", onchange: () => this.render() });
    this.readout = h("span", { class: "readout", "aria-live": "polite" });
    this.body = h("div", { class: "scroll study" });
    this.element = h("div", { class: "fill column" }, h("div", { class: "bar" }, this.group, this.variable, this.number, this.axis, this.readout), this.body);
    this.isShown = false;
    /** The study that is shown. @type {string|null} */
    this.wanted = null;
    /** What the numbers are of. @type {string} */
    this.known = "";
    /** What the picture is of. @type {string} */
    this.drawn = "";
    /** @type {Map<number, any>} */
    this.numbers = new Map();
    /** @type {{run: import("./store.js").Run, element: SVGElement, text: string}[]} */
    this.spots = [];
    this.at = 0;
    this.width = 620;
    this.height = 240;
    new ResizeObserver(() => this.isShown && this.render()).observe(this.body);
    const soon = debounce(() => this.load(), 150);
    on("runs", soon);
    on("run-chosen", (run) => {
      this.wanted = run.group ?? this.wanted;
      soon();
    });
    on("variables", soon);
    on("shown", soon);
    this.render();
  }

  /** Runs of the chosen study that are over. */
  runs() {
    return [...store.runs.values()].filter((r) => r.group && r.group === this.group.value && r.rows > 0);
  }

  async load() {
    if (!this.isShown) return;
    const groups = [...new Set([...store.runs.values()].map((r) => r.group).filter(Boolean))].reverse();
    /** @type {string|null|undefined} */
    const chosen = groups.includes(this.wanted) ? this.wanted : groups[0];
    replace(this.group, groups.map((g) => h("option", { value: g, selected: g === chosen }, g)));
    // Those in the plots first.
    const shown = new Set([...document.querySelectorAll(".plotted[data-variable]")].map((e) => e.getAttribute("data-variable")));
    const names = [...store.variables.values()].filter((v) => (v.value === undefined || v.value === null) && !v.hidden).map((v) => v.name);
    const all = [...names.filter((n) => shown.has(n)), ...names.filter((n) => !shown.has(n))].slice(0, 2000);
    const variable = all.includes(this.variable.value) ? this.variable.value : all[0];
    replace(this.variable, all.map((n) => h("option", { value: n, selected: n === variable }, n)));
    const runs = this.runs();
    const wanted = `${chosen} ${variable} ${runs.map((r) => `${r.id}:${r.rows}`).join()}`;
    if (runs.length && variable && wanted !== this.known) {
      this.known = wanted;
      // Those of another variable must not stand under this name.
      this.numbers = new Map();
      const { numbers } = await post("numbers", { name: variable, runs: runs.map((r) => r.id) });
      if (this.known !== wanted) return;
      this.numbers = new Map(numbers.map((/** @type {any} */ n) => [n.run, n]));
      this.drawn = "";
    }
    this.render();
  }

  /** In units of display. @param {import("./store.js").Run} run */
  result(run) {
    const value = this.numbers.get(run.id)?.[this.number.value];
    const display = store.variables.get(this.variable.value)?.display;
    return value === null || value === undefined ? NaN : displayed(display, value);
  }

  render() {
    const runs = this.runs();
    const names = varied(runs);
    this.axis.hidden = names.length < 2;
    if (!runs.length || !names.length) {
      this.drawn = "";
      return replace(this.body, h("p", { class: "empty" }, "Sweep a parameter, a grid of two or samples: the numbers of the runs are shown here."));
    }
    const axis = names.includes(this.axis.value) ? this.axis.value : names[0];
    replace(this.axis, names.map((n) => h("option", { value: n, selected: n === axis }, n)));
    const others = names.filter((n) => n !== axis);
    const [xs, ys] = [axis, others[0]].map((n) => [...new Set(runs.map((r) => valueOf(r, n)))].sort((a, b) => a - b));
    // While runs are still on their way some cells of the map are empty.
    const isGrid = names.length === 2 && runs.length <= xs.length * ys.length && runs.length > Math.max(xs.length, ys.length);
    const variable = store.variables.get(this.variable.value);
    const unit = variable?.display?.unit ?? variable?.unit;
    const what = `${this.number.selectedOptions[0]?.textContent} of ${this.variable.value}${unit ? ` in ${unit}` : ""}`;
    const size = room(this.body);
    // Who has the focus keeps it while nothing changes.
    const drawn = [this.known, what, axis, this.numbers.size, ...size].join();
    if (drawn === this.drawn && this.spots.length) return this.mark();
    this.drawn = drawn;
    this.spots = [];
    [this.width, this.height] = size;
    const hasFocus = this.body.querySelector(".study-picture") === document.activeElement;
    const picture = sheet(size, `${what} over ${names.join(", ")}`, (e) => this.key(e));
    if (isGrid) this.map(picture, runs, axis, others[0], xs, ys);
    else this.points(picture, runs, axis, others[0] ?? null);
    picture.append(svg("text", { x: LEFT, y: this.height - 4, class: "axis-title" }, axis));
    const values = runs.map((r) => this.result(r)).filter((v) => !Number.isNaN(v));
    const best = (/** @type {(a: number, b: number) => boolean} */ better) => runs.reduce((a, b) => (Number.isNaN(this.result(a)) || better(this.result(b), this.result(a)) ? b : a));
    const line = (/** @type {string} */ title, /** @type {import("./store.js").Run} */ run) => h("p", {}, `${title}: ${show(this.result(run), 5)} at ${run.values.filter(([n]) => names.includes(n)).map(([n, v]) => `${n} = ${show(Number(v), 6)}`).join(", ")} `, h("button", { type: "button", class: "link", onclick: () => this.choose(run) }, `#${run.id}`));
    replace(this.body, h("figure", {}, picture), h("div", { class: "study-side" }, h("h3", {}, what), values.length > 0 && [line("lowest", best((a, b) => a < b)), line("highest", best((a, b) => a > b))],
      h("p", { class: "hint" }, `${runs.length} runs. A click or Enter shows one; arrow keys move.`)));
    if (hasFocus) picture.focus({ preventScroll: true });
    this.mark();
  }

  /** @param {any} picture @param {import("./store.js").Run[]} runs @param {string} x @param {string} y @param {number[]} xs @param {number[]} ys */
  map(picture, runs, x, y, xs, ys) {
    const [w, hgt] = [(this.width - LEFT - RIGHT) / xs.length, (this.height - TOP - BOTTOM) / ys.length];
    const values = runs.map((r) => this.result(r)).filter((v) => Number.isFinite(v));
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const part = (/** @type {number} */ v) => (high > low ? (v - low) / (high - low) : 0.5);
    for (const run of runs) {
      const [i, j] = [xs.indexOf(valueOf(run, x)), ys.indexOf(valueOf(run, y))];
      const value = this.result(run);
      this.spot(picture, run, svg("rect", { x: LEFT + i * w, y: TOP + (ys.length - 1 - j) * hgt, width: Math.max(0.5, w - 0.6), height: Math.max(0.5, hgt - 0.6), class: "spot cell" }), Number.isFinite(value) ? heat(part(value)) : null, `${x} = ${show(xs[i], 5)}, ${y} = ${show(ys[j], 5)}: ${show(value, 6)}`);
    }
    const some = (/** @type {number[]} */ all, /** @type {number} */ most) => all.map((v, i) => ({ v, i })).filter(({ i }) => i % Math.ceil(all.length / most) === 0);
    for (const { v, i } of some(xs, Math.max(2, Math.floor((this.width - LEFT - RIGHT) / 58)))) picture.append(svg("text", { x: LEFT + (i + 0.5) * w, y: this.height - BOTTOM + 13, class: "axis-label", "text-anchor": "middle" }, show(v, 4)));
    for (const { v, i } of some(ys, Math.max(2, Math.floor((this.height - TOP - BOTTOM) / 13)))) picture.append(svg("text", { x: LEFT - 6, y: TOP + (ys.length - 0.5 - i) * hgt + 4, class: "axis-label", "text-anchor": "end" }, show(v, 4)));
    picture.append(svg("text", { x: 2, y: 11, class: "axis-title" }, y));
    const steps = 24;
    for (let k = 0; k < steps; k++) picture.append(svg("rect", { x: this.width - RIGHT + 16, y: TOP + ((steps - 1 - k) * (this.height - TOP - BOTTOM)) / steps, width: 12, height: (this.height - TOP - BOTTOM) / steps + 0.5, fill: heat(k / (steps - 1)) }));
    for (const [v, at] of [[high, TOP + 8], [low, this.height - BOTTOM]]) picture.append(svg("text", { x: this.width - RIGHT + 32, y: at, class: "axis-label" }, show(v, 4)));
  }

  /** @param {any} picture @param {import("./store.js").Run[]} runs @param {string} x @param {string|null} other */
  points(picture, runs, x, other) {
    const known = runs.filter((r) => Number.isFinite(this.result(r)));
    const { px, py } = axes(picture, [this.width, this.height], known.map((r) => valueOf(r, x)), known.map((r) => this.result(r)));
    const ordered = [...known].sort((a, b) => valueOf(a, x) - valueOf(b, x));
    if (!other) picture.append(svg("polyline", { points: ordered.map((r) => `${px(valueOf(r, x))},${py(this.result(r))}`).join(" "), class: "study-line" }));
    const third = other ? known.map((r) => valueOf(r, other)) : [];
    const [low, high] = [Math.min(...third), Math.max(...third)];
    for (const run of ordered) {
      const fill = other && high > low ? heat((valueOf(run, other) - low) / (high - low)) : null;
      const values = run.values.filter(([n]) => n === x || n === other).map(([n, v]) => `${n} = ${show(Number(v), 6)}`).join(", ");
      this.spot(picture, run, svg("circle", { cx: px(valueOf(run, x)), cy: py(this.result(run)), r: 4.5, class: "spot dot" }), fill, `${values}: ${show(this.result(run), 6)}`);
    }
    if (other) picture.append(svg("text", { x: this.width - RIGHT + 8, y: TOP + 8, class: "axis-label" }, `colour: ${other}`), svg("text", { x: this.width - RIGHT + 8, y: TOP + 24, class: "axis-label" }, `${show(low, 3)} … ${show(high, 3)}`));
  }

  /** Something that stands for a run. @param {any} picture @param {import("./store.js").Run} run @param {any} element @param {string|null} fill @param {string} text */
  spot(picture, run, element, fill, text) {
    if (fill) element.style.fill = fill;
    element.setAttribute("data-spot", run.id);
    element.append(svg("title", {}, text));
    element.addEventListener("click", () => this.choose(run));
    const at = this.spots.push({ run, element, text }) - 1;
    element.addEventListener("pointerenter", () => {
      this.at = at;
      this.mark();
    });
    picture.append(element);
  }

  mark() {
    this.at = Math.max(0, Math.min(this.spots.length - 1, this.at));
    this.spots.forEach(({ element, run }, i) => {
      element.classList.toggle("current", i === this.at);
      element.classList.toggle("chosen", run === store.run);
    });
    this.readout.textContent = this.spots[this.at]?.text ?? "";
  }

  /** @param {import("./store.js").Run} run */
  choose(run) {
    for (const other of store.runs.values()) if (other.group === run.group) other.visible = other === run;
    choose(run);
    emit("runs");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const now = this.spots[this.at];
    if (!now) return;
    const to = next(this.spots, this.at, event.key);
    if (event.key === "Enter" || event.key === " ") this.choose(now.run);
    else if (to !== null) {
      this.at = to;
      this.mark();
    } else return;
    event.preventDefault();
  }
}
