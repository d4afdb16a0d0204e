// Panels of signals with one time axis.
//
// Points come from the server, at most four a pixel column, for the visible part and as much on either side: panning draws what is there
// and asks for more when it ends.

import { postBlob, postNumbers } from "./api.js";
import { canvasPainter, svgPainter } from "./draw.js";
import { debounce, download, h, notice, replace, show, svg } from "./dom.js";
import { labels, padded, ticks } from "./scales.js";
import { overlayFiles } from "./runs.js";
import { emit, on, store, visibleRuns } from "./store.js";
import { differences, displayed, refusal, tellRefused, wantedUnits } from "./units.js";

/**
 * @typedef {{name: string, isBand?: boolean}} Shown
 * @typedef {{id: number, kind: "time"|"xy", signals: Shown[], canvas: HTMLCanvasElement, legend: HTMLElement, element: HTMLElement}} Panel
 * @typedef {{from: number, to: number, columns: number, rows: number, points: Map<string, Float64Array>, marks: Float64Array, units: string, refused: Map<string, string>, isLoading?: boolean}} Loaded
 */

const [LEFT, RIGHT, TOP, BOTTOM, LANE] = [64, 14, 8, 24, 22];
const COLORS = 8;

/** A value of a parameter in a legend. @param {string} text */
function short(text) {
  return Number.isFinite(Number(text)) ? show(Number(text), 4) : text;
}

export class Plots {
  constructor() {
    /** @type {Panel[]} */
    this.panels = [];
    this.nextId = 1;
    /** Visible part of the time; null is all. @type {[number, number]|null} */
    this.view = null;
    /** @type {number|null} */
    this.cursor = null;
    /** @type {number|null} */
    this.second = null;
    /** @type {number|null} */
    this.pointer = null;
    this.marksEvents = true;
    /** @type {Map<number, Loaded>} */
    this.loaded = new Map();
    /** @type {Map<string, {times: Float64Array, x: Float64Array, y: Float64Array, rows: number}>} */
    this.pairs = new Map();
    this.box = h("div", { class: "panels scroll" });
    this.readout = h("span", { class: "readout" });
    const tool = (/** @type {string} */ label, /** @type {string} */ title, /** @type {() => void} */ work) => h("button", { type: "button", class: "tool", title, onclick: work }, label);
    this.eventsButton = h("button", { type: "button", class: "tool", title: "Mark events", "aria-pressed": "true", onclick: () => {
      this.marksEvents = !this.marksEvents;
      this.eventsButton.setAttribute("aria-pressed", String(this.marksEvents));
      this.draw();
    } }, "Events");
    this.files = h("input", { type: "file", id: "reference", accept: ".csv,.mat,.parquet", multiple: true, hidden: true, "aria-label": "Reference files", onchange: () => overlayFiles([...this.files.files]).then(() => (this.files.value = "")) });
    this.element = h("section", { class: "plots fill column", "aria-label": "Plots" },
      h("div", { class: "bar" }, tool("+ Panel", "Another panel", () => this.add("time")), tool("+ x–y", "A panel of one signal over another", () => this.add("xy")), tool("+ File", "Results of a file (.csv, .mat, .parquet) over those of the model", () => this.files.click()), this.files,
        tool("Fit", "Show the whole run (double click)", () => this.fit()), this.eventsButton, this.readout, h("span", { class: "spring" }),
        tool("SVG", "Save the picture as SVG", () => this.exportSvg()), tool("PNG", "Save the picture as PNG", () => this.exportPng()), tool("CSV", "Save the signals as a table", () => this.exportCsv())),
      this.box);
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.loadSoon = debounce(() => this.load(), 15);
    on("runs", () => this.runsChanged());
    on("variables", () => this.draw());
    on("theme", () => this.legends());
    this.add("time");
  }

  /** @param {"time"|"xy"} kind */
  add(kind) {
    const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": kind === "xy" ? "x–y plot" : "Plot over time" });
    const legend = h("div", { class: "legend" });
    const id = this.nextId++;
    const element = h("div", { class: "panel", "data-panel": id }, legend, canvas,
      h("button", { type: "button", class: "close", title: "Close the panel", "aria-label": "Close the panel", onclick: () => this.remove(id) }, "×"));
    /** @type {Panel} */
    const panel = { id, kind, signals: [], canvas, legend, element };
    this.panels.push(panel);
    this.box.append(element);
    this.listen(panel);
    new ResizeObserver(() => this.resize()).observe(legend);
    this.activate(panel);
    this.resize();
    this.legends();
    return panel;
  }

  /** @param {number} id */
  remove(id) {
    const panel = this.panels.find((p) => p.id === id);
    this.panels = this.panels.filter((p) => p.id !== id);
    panel?.element.remove();
    if (!this.panels.length) this.add("time");
    else if (this.active === panel) this.activate(this.panels[this.panels.length - 1]);
    this.resize();
    emit("shown");
  }

  /** @param {Panel} panel */
  activate(panel) {
    this.active = panel;
    for (const p of this.panels) p.element.classList.toggle("active", p === panel && this.panels.length > 1);
    emit("shown");
  }

  /** Names of all signals that are drawn. */
  names() {
    return new Set(this.panels.flatMap((p) => p.signals.map((s) => s.name)));
  }

  /** Adds a signal to a panel, or takes it away. @param {string} name @param {Panel} [panel] @param {boolean} [keep] */
  toggle(name, panel = this.active, keep = false) {
    if (!panel) return;
    const has = panel.signals.some((s) => s.name === name);
    if (has && keep) return;
    panel.signals = has ? panel.signals.filter((s) => s.name !== name) : [...panel.signals, { name }];
    emit("shown");
    this.legends();
    this.load();
  }

  runsChanged() {
    for (const id of this.loaded.keys()) if (!store.runs.has(id)) this.loaded.delete(id);
    this.legends();
    this.loadSoon();
  }

  /** The time span of all visible runs. @returns {[number, number]} */
  span() {
    const runs = visibleRuns();
    if (!runs.length) return [0, 1];
    const live = runs.filter((r) => r.live && r.phase === "running");
    if (live.length) {
      const now = Math.max(...live.map((r) => r.time ?? 0));
      return [Math.max(0, now - 10), Math.max(now, 10)];
    }
    const from = Math.min(...runs.map((r) => r.start ?? 0));
    const to = Math.max(...runs.map((r) => (r.phase === "running" ? r.stop ?? 1 : r.time ?? r.stop ?? 1)));
    return to > from ? [from, to] : [from, from + 1];
  }

  /** @returns {[number, number]} */
  range() {
    return this.view ?? this.span();
  }

  fit() {
    this.view = null;
    this.loadSoon();
    this.draw();
  }

  /** Asks for points that are missing. */
  async load() {
    const [from, to] = this.range();
    const width = Math.max(100, this.box.clientWidth - LEFT - RIGHT);
    const names = [...new Set(this.panels.filter((p) => p.kind === "time").flatMap((p) => p.signals.map((s) => s.name)))];
    const jobs = visibleRuns().map(async (run) => {
      const have = this.loaded.get(run.id);
      const density = have ? have.columns / (have.to - have.from) : 0;
      const wanted = (width * devicePixelRatio) / (to - from);
      const units = wantedUnits(run, names);
      const isEnough = have && have.units === JSON.stringify(units) && have.rows === run.rows && have.from <= from && have.to >= to && density >= wanted * 0.6 && names.every((n) => have.points.has(n));
      if (isEnough || have?.isLoading) return;
      const margin = this.view ? to - from : 0;
      const part = { from: from - margin, to: to + margin };
      const columns = Math.round(width * devicePixelRatio * (this.view ? 3 : 1));
      if (have) have.isLoading = true;
      try {
        const { header, numbers } = await postNumbers("series", { run: run.id, names, ...part, columns, units, differences: differences(names) });
        /** @type {any} */
        const loaded = { ...part, columns, rows: run.rows, units: JSON.stringify(units), refused: new Map(header.refused.map((/** @type {any} */ r) => [r.name, refusal(r)])), points: new Map(), marks: numbers.subarray(header.marks.offset, header.marks.offset + 2 * header.marks.count) };
        for (const name of names) loaded.points.set(name, new Float64Array());
        for (const s of header.signals) loaded.points.set(s.name, numbers.subarray(s.offset, s.offset + 2 * s.count));
        this.loaded.set(run.id, loaded);
        tellRefused(run, header.refused);
        if (loaded.refused.size !== (have?.refused.size ?? 0)) this.legends();
      } catch (error) {
        if (have) have.isLoading = false;
        return;
      }
      this.draw();
      this.loadSoon();
    });
    for (const panel of this.panels.filter((p) => p.kind === "xy" && p.signals.length > 1)) {
      for (const run of visibleRuns()) jobs.push(this.loadPairs(panel, run));
    }
    await Promise.all(jobs);
    this.draw();
  }

  /** @param {Panel} panel @param {import("./store.js").Run} run */
  async loadPairs(panel, run) {
    const names = panel.signals.map((s) => s.name);
    const missing = names.slice(1).filter((n) => this.pairs.get(`${run.id} ${names[0]} ${n}`)?.rows !== run.rows);
    if (!missing.length) return;
    const { header, numbers } = await postNumbers("values", { run: run.id, names: [names[0], ...missing], count: 4000, units: wantedUnits(run, names), differences: differences(names) });
    // A column in other units than the model's cannot be drawn over it.
    if (header.names[0] !== names[0]) return;
    const [times, x] = [numbers.subarray(0, header.count), numbers.subarray(header.count, 2 * header.count)];
    header.names.slice(1).forEach((/** @type {string} */ name, /** @type {number} */ i) => {
      this.pairs.set(`${run.id} ${names[0]} ${name}`, { times, x, y: numbers.subarray((i + 2) * header.count, (i + 3) * header.count), rows: run.rows });
    });
  }

  resize() {
    const width = this.box.clientWidth;
    if (!width) return;
    const n = this.panels.length;
    for (const { canvas, legend } of this.panels) {
      const height = Math.max(120, Math.floor((this.box.clientHeight - 2) / n) - legend.offsetHeight - 1);
      const scale = devicePixelRatio || 1;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    this.loadSoon();
    this.draw();
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const palette = this.palette();
      for (const panel of this.panels) {
        const context = panel.canvas.getContext("2d");
        if (!context) continue;
        const scale = devicePixelRatio || 1;
        context.setTransform(scale, 0, 0, scale, 0, 0);
        const [w, hgt] = [panel.canvas.width / scale, panel.canvas.height / scale];
        context.clearRect(0, 0, w, hgt);
        this.paint(panel, canvasPainter(context), w, hgt, palette);
      }
      this.tell();
    });
  }

  palette() {
    const style = getComputedStyle(document.documentElement);
    const color = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    return {
      text: color("--text"), dim: color("--dim"), grid: color("--grid"), axis: color("--border"), accent: color("--accent"), event: color("--event"), back: color("--panel"),
      lines: Array.from({ length: COLORS }, (_, i) => color(`--line-${i}`)),
    };
  }

  /** Curves of a panel: one for each signal and visible run. @param {Panel} panel */
  curves(panel) {
    const runs = visibleRuns();
    const groups = new Map();
    for (const run of runs) if (run.group) groups.set(run.group, (groups.get(run.group) ?? 0) + 1);
    const seen = new Map();
    /** @type {{signal: Shown, run: import("./store.js").Run, color: string}[]} */
    const all = [];
    panel.signals.forEach((signal, s) => {
      if (panel.kind === "xy" && s === 0) return;
      runs.forEach((run, r) => {
        const index = panel.kind === "xy" ? s - 1 : s;
        let color = `line-${(index + r * Math.max(1, panel.signals.length - (panel.kind === "xy" ? 1 : 0))) % COLORS}`;
        if (run.group) {
          const at = seen.get(`${run.group} ${s}`) ?? 0;
          seen.set(`${run.group} ${s}`, at + 1);
          const part = at / Math.max(1, groups.get(run.group) - 1);
          color = `hsl(${(220 + s * 75 - part * 170 + 360) % 360} 70% 48%)`;
        }
        all.push({ signal, run, color });
      });
    });
    return all;
  }

  /** @param {string} color @param {any} palette */
  resolve(color, palette) {
    return color.startsWith("line-") ? palette.lines[Number(color.slice(5))] : color;
  }

  /** In units of display. @param {string} name @param {number} value */
  displayed(name, value) {
    return displayed(store.variables.get(name)?.display, value);
  }

  /** @param {string} name */
  unit(name) {
    const variable = store.variables.get(name);
    return variable?.display?.unit ?? variable?.unit ?? "";
  }

  /** @param {string} name */
  isDiscrete(name) {
    return ["boolean", "integer", "enumeration"].includes(store.variables.get(name)?.kind ?? "real");
  }

  /** @param {Panel} panel @param {import("./draw.js").Painter} painter @param {number} width @param {number} height @param {any} palette */
  paint(panel, painter, width, height, palette) {
    if (panel.kind === "xy") return this.paintPairs(panel, painter, width, height, palette);
    const [from, to] = this.range();
    const curves = this.curves(panel);
    const lanes = curves.filter((c) => this.isDiscrete(c.signal.name) && !c.signal.isBand);
    const bands = curves.filter((c) => c.signal.isBand);
    const lines = curves.filter((c) => !this.isDiscrete(c.signal.name) && !c.signal.isBand);
    const laneHeight = Math.min(LANE, (height - TOP - BOTTOM) / Math.max(1, lanes.length));
    const room = height - TOP - BOTTOM;
    const upper = lines.length || !lanes.length ? Math.max(40, room - lanes.length * laneHeight) : 0;
    const plotWidth = width - LEFT - RIGHT;
    const x = (/** @type {number} */ t) => LEFT + ((t - from) / (to - from)) * plotWidth;
    let [low, high] = [Infinity, -Infinity];
    for (const { signal, run } of lines) {
      const points = this.loaded.get(run.id)?.points.get(signal.name);
      if (!points) continue;
      for (let i = 0; i < points.length; i += 2) {
        if (points[i] < from || points[i] > to) continue;
        const v = this.displayed(signal.name, points[i + 1]);
        if (v < low) low = v;
        if (v > high) high = v;
      }
    }
    [low, high] = padded(low, high);
    const y = (/** @type {number} */ v) => TOP + upper - ((v - low) / (high - low)) * upper;
    const xs = ticks(from, to, plotWidth / 90);
    painter.clip(LEFT, TOP, plotWidth, room, () => {
      for (const band of bands) this.paintBand(band, painter, x, room, palette);
      for (const t of xs) painter.line([x(t), TOP, x(t), TOP + room], palette.grid, 1);
      if (upper) for (const v of ticks(low, high, upper / 34)) painter.line([LEFT, y(v), LEFT + plotWidth, y(v)], palette.grid, 1);
      if (this.marksEvents) this.paintMarks(painter, x, from, to, plotWidth, room, palette);
      for (const { signal, run, color } of lines) {
        const points = this.loaded.get(run.id)?.points.get(signal.name);
        if (!points) continue;
        const display = store.variables.get(signal.name)?.display;
        const [factor, offset] = display ? [display.factor, display.offset] : [1, 0];
        const out = new Array(points.length);
        const [kx, ky] = [plotWidth / (to - from), upper / (high - low)];
        for (let i = 0; i < points.length; i += 2) {
          out[i] = LEFT + (points[i] - from) * kx;
          out[i + 1] = TOP + upper - (points[i + 1] * factor + offset - low) * ky;
        }
        painter.line(out, this.resolve(color, palette), 1.5, run.reference ? [6, 3] : []);
      }
    });
    if (upper) {
      const ys = ticks(low, high, upper / 34);
      labels(ys).forEach((label, i) => painter.text(label, LEFT - 6, y(ys[i]), { color: palette.dim, align: "right" }));
      const units = [...new Set(lines.map((l) => this.unit(l.signal.name)))].filter(Boolean);
      if (units.length) painter.text(units.join(", "), 9, TOP + upper / 2, { color: palette.dim, align: "center", turned: true });
    }
    lanes.forEach((lane, i) => this.paintLane(lane, painter, x, TOP + upper + i * laneHeight, laneHeight, plotWidth, palette));
    painter.line([LEFT, TOP, LEFT, TOP + room, LEFT + plotWidth, TOP + room], palette.axis, 1);
    labels(xs).forEach((label, i) => painter.text(label, x(xs[i]), TOP + room + 11, { color: palette.dim, align: "center" }));
    painter.text("t / s", LEFT - 16, TOP + room + 11, { color: palette.dim, align: "right" });
    this.paintCursors(painter, x, from, to, room, palette);
  }

  /** @param {any} painter @param {(t: number) => number} x @param {number} from @param {number} to @param {number} room @param {any} palette */
  paintCursors(painter, x, from, to, room, palette) {
    const lines = [[this.pointer, palette.dim, [2, 3]], [this.cursor, palette.accent, []], [this.second, palette.accent, [5, 3]]];
    for (const [t, color, dash] of lines) if (t !== null && t >= from && t <= to) painter.line([x(t), TOP, x(t), TOP + room], color, 1, dash);
    // Where it is, at the axis; the one that moves last, above the others.
    for (const [t, color] of [lines[2], lines[1], lines[0]]) {
      if (t === null || t < from || t > to) continue;
      const text = show(t, 6);
      const width = text.length * 6.6 + 8;
      const at = Math.max(LEFT + width / 2, Math.min(x(to) - width / 2 + RIGHT, x(t)));
      painter.rect(at - width / 2, TOP + room + 3, width, 16, color);
      painter.text(text, at, TOP + room + 11, { color: palette.back, align: "center" });
    }
  }

  /** @param {any} painter @param {(t: number) => number} x @param {number} from @param {number} to @param {number} width @param {number} room @param {any} palette */
  paintMarks(painter, x, from, to, width, room, palette) {
    for (const run of visibleRuns().filter((r) => !r.reference).slice(-1)) {
      const marks = this.loaded.get(run.id)?.marks;
      if (!marks) continue;
      let n = 0;
      for (let i = 0; i < marks.length; i += 2) if (marks[i] >= from && marks[i] <= to) n++;
      // Too many lines would hide the curves: then they are ticks at the edge.
      const top = n > width / 6 ? TOP + room - 6 : TOP;
      for (let i = 0; i < marks.length; i += 2) if (marks[i] >= from && marks[i] <= to) painter.line([x(marks[i]), top, x(marks[i]), TOP + room], palette.event, 1);
    }
  }

  /** @param {any} curve @param {any} painter @param {(t: number) => number} x @param {number} top @param {number} height @param {number} width @param {any} palette */
  paintLane(curve, painter, x, top, height, width, palette) {
    const { signal, run, color } = curve;
    const variable = store.variables.get(signal.name);
    const points = this.loaded.get(run.id)?.points.get(signal.name);
    const stroke = this.resolve(color, palette);
    const last = signal.name.length > 11 ? `…${signal.name.slice(-10)}` : signal.name;
    painter.text(last, LEFT - 6, top + height / 2, { color: palette.dim, align: "right", size: 10 });
    painter.line([LEFT, top + height, LEFT + width, top + height], palette.grid, 1);
    if (!points?.length) return;
    const isBoolean = variable?.kind === "boolean";
    painter.clip(LEFT, top, width, height, () => {
      let [start, value] = [points[0], points[1]];
      const stretch = (/** @type {number} */ end) => {
        const [a, b] = [x(start), x(end)];
        if (isBoolean) {
          if (value) painter.rect(a, top + 4, Math.max(0.7, b - a), height - 8, stroke, 0.75);
          else painter.rect(a, top + height - 5, Math.max(0.7, b - a), 1.2, stroke, 0.75);
          return;
        }
        painter.rect(a, top + 3, Math.max(0.7, b - a), height - 6, stroke, 0.16 + 0.12 * (Math.abs(Math.round(value)) % 4));
        const label = variable?.literals?.[value - 1] ?? String(value);
        if (b - a > label.length * 6.5 + 6) painter.text(label, (Math.max(a, LEFT) + Math.min(b, LEFT + width)) / 2, top + height / 2, { color: palette.text, align: "center", size: 10 });
      };
      for (let i = 2; i < points.length; i += 2) {
        if (points[i + 1] !== value) {
          stretch(points[i]);
          [start, value] = [points[i], points[i + 1]];
        }
      }
      stretch(points[points.length - 2]);
    });
  }

  /** @param {any} band @param {any} painter @param {(t: number) => number} x @param {number} room @param {any} palette */
  paintBand(band, painter, x, room, palette) {
    const points = this.loaded.get(band.run.id)?.points.get(band.signal.name);
    if (!points?.length) return;
    const variable = store.variables.get(band.signal.name);
    let [start, value] = [points[0], points[1]];
    const stretch = (/** @type {number} */ end) => {
      const fill = palette.lines[Math.abs(Math.round(value)) % COLORS];
      const [a, b] = [x(start), x(end)];
      if (variable?.kind !== "boolean" || value) painter.rect(a, TOP, Math.max(0.7, b - a), room, fill, 0.12);
      const label = variable?.literals?.[value - 1] ?? "";
      if (b - a > label.length * 6.5 + 6) painter.text(label, (a + b) / 2, TOP + 8, { color: palette.dim, align: "center", size: 10 });
    };
    for (let i = 2; i < points.length; i += 2) {
      if (points[i + 1] !== value) {
        stretch(points[i]);
        [start, value] = [points[i], points[i + 1]];
      }
    }
    stretch(points[points.length - 2]);
  }

  /** @param {Panel} panel @param {any} painter @param {number} width @param {number} height @param {any} palette */
  paintPairs(panel, painter, width, height, palette) {
    const [w, room] = [width - LEFT - RIGHT, height - TOP - BOTTOM];
    const first = panel.signals[0]?.name;
    if (!first || panel.signals.length < 2) {
      painter.text("Add a signal for x, then those for y", width / 2, height / 2, { color: palette.dim, align: "center", size: 12 });
      return;
    }
    const curves = this.curves(panel).map((c) => ({ ...c, pair: this.pairs.get(`${c.run.id} ${first} ${c.signal.name}`) })).filter((c) => c.pair);
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { pair, signal } of /** @type {any[]} */ (curves)) {
      for (let i = 0; i < pair.x.length; i++) {
        const [a, b] = [this.displayed(first, pair.x[i]), this.displayed(signal.name, pair.y[i])];
        if (a < x0) x0 = a;
        if (a > x1) x1 = a;
        if (b < y0) y0 = b;
        if (b > y1) y1 = b;
      }
    }
    [x0, x1] = padded(x0, x1);
    [y0, y1] = padded(y0, y1);
    const x = (/** @type {number} */ v) => LEFT + ((v - x0) / (x1 - x0)) * w;
    const y = (/** @type {number} */ v) => TOP + room - ((v - y0) / (y1 - y0)) * room;
    const [xs, ys] = [ticks(x0, x1, w / 90), ticks(y0, y1, room / 34)];
    for (const v of xs) painter.line([x(v), TOP, x(v), TOP + room], palette.grid, 1);
    for (const v of ys) painter.line([LEFT, y(v), LEFT + w, y(v)], palette.grid, 1);
    painter.clip(LEFT, TOP, w, room, () => {
      for (const { pair, signal, color, run } of /** @type {any[]} */ (curves)) {
        const out = [];
        for (let i = 0; i < pair.x.length; i++) out.push(x(this.displayed(first, pair.x[i])), y(this.displayed(signal.name, pair.y[i])));
        painter.line(out, this.resolve(color, palette), 1.5, run.reference ? [6, 3] : []);
        // Where the cursors of the time axis are.
        for (const t of [this.cursor, this.second]) {
          const [a, b] = t === null ? [null, null] : [this.pairValue(pair, pair.x, t), this.pairValue(pair, pair.y, t)];
          if (a === null || b === null) continue;
          const [u, v] = [x(this.displayed(first, a)), y(this.displayed(signal.name, b))];
          painter.rect(u - 4, v - 4, 8, 8, palette.back);
          painter.rect(u - 3, v - 3, 6, 6, this.resolve(color, palette));
        }
      }
    });
    painter.line([LEFT, TOP, LEFT, TOP + room, LEFT + w, TOP + room], palette.axis, 1);
    const units = [...new Set(panel.signals.slice(1).map((s) => this.unit(s.name)))].filter(Boolean);
    if (units.length) painter.text(units.join(", "), 9, TOP + room / 2, { color: palette.dim, align: "center", turned: true });
    labels(xs).forEach((label, i) => painter.text(label, x(xs[i]), TOP + room + 11, { color: palette.dim, align: "center" }));
    labels(ys).forEach((label, i) => painter.text(label, LEFT - 6, y(ys[i]), { color: palette.dim, align: "right" }));
    painter.text(`${first}${this.unit(first) ? ` in ${this.unit(first)}` : ""}`, LEFT + w, TOP + room - 8, { color: palette.dim, align: "right" });
  }

  /** One of two signals over each other at a time. @param {any} pair @param {Float64Array} values @param {number} t */
  pairValue(pair, values, t) {
    const { times } = pair;
    const n = times.length;
    if (!n || t < times[0] || t > times[n - 1]) return null;
    const at = ((t - times[0]) / (times[n - 1] - times[0] || 1)) * (n - 1);
    const i = Math.min(Math.floor(at), n - 1);
    return i + 1 < n ? values[i] + (at - i) * (values[i + 1] - values[i]) : values[i];
  }

  /** The value of a signal at a time, from the loaded points. @param {import("./store.js").Run} run @param {string} name @param {number} t */
  value(run, name, t) {
    const points = this.loaded.get(run.id)?.points.get(name);
    if (!points?.length) return null;
    let [low, high] = [0, points.length / 2];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[2 * middle] <= t) low = middle + 1;
      else high = middle;
    }
    const at = low - 1;
    if (at < 0) return null;
    const v = points[2 * at + 1];
    if (this.isDiscrete(name) || low >= points.length / 2 || points[2 * at] === t) return this.displayed(name, v);
    const part = (t - points[2 * at]) / (points[2 * low] - points[2 * at]);
    return this.displayed(name, v + part * (points[2 * low + 1] - v));
  }

  /** @param {string} name @param {number|null} value */
  written(name, value) {
    const variable = store.variables.get(name);
    if (value !== null && variable?.kind === "boolean") return value ? "true" : "false";
    return (value !== null && variable?.literals?.[value - 1]) || show(value, 5);
  }

  /** Values at the cursor, in the legends. */
  tell() {
    const t = this.pointer ?? this.cursor;
    const parts = [];
    if (this.cursor !== null && (this.second ?? this.pointer) !== null) parts.push(`Δt = ${show(/** @type {number} */ (this.second ?? this.pointer) - this.cursor, 5)} s`);
    this.readout.textContent = parts.join("   ");
    for (const panel of this.panels) {
      const curves = this.curves(panel);
      panel.legend.querySelectorAll(".value").forEach((cell, i) => {
        const curve = curves[i];
        if (!curve || t === null) return void (cell.textContent = "");
        if (panel.kind === "xy") {
          const pair = this.pairs.get(`${curve.run.id} ${panel.signals[0].name} ${curve.signal.name}`);
          const [a, b] = pair ? [this.pairValue(pair, pair.x, t), this.pairValue(pair, pair.y, t)] : [null, null];
          return void (cell.textContent = a === null || b === null ? "" : `${show(this.displayed(curve.signal.name, b), 5)} at ${show(this.displayed(panel.signals[0].name, a), 5)}`);
        }
        const value = this.value(curve.run, curve.signal.name, t);
        const other = this.second !== null && this.cursor !== null ? [this.value(curve.run, curve.signal.name, this.cursor), this.value(curve.run, curve.signal.name, this.second)] : null;
        const delta = other && other[0] !== null && other[1] !== null && !this.isDiscrete(curve.signal.name) ? `  Δ ${show(other[1] - other[0], 4)}` : "";
        cell.textContent = `${this.written(curve.signal.name, value)}${delta}`;
      });
    }
  }

  legends() {
    const palette = this.palette();
    const several = visibleRuns().length > 1;
    for (const panel of this.panels) {
      const curves = this.curves(panel);
      const x = panel.kind === "xy" && panel.signals[0] ? [h("span", { class: "key" }, `x: ${panel.signals[0].name}`, this.cross(panel, panel.signals[0].name))] : [];
      const names = panel.signals.length ? curves.slice(0, 40).map(({ signal, run, color }) => {
        const swatch = h("span", { class: "swatch" });
        swatch.style.background = this.resolve(color, palette);
        const variable = store.variables.get(signal.name);
        const values = several ? run.reference ? ` ${run.class}` : ` #${run.id}${run.group ? ` ${short(run.values[run.values.length - 1]?.[1] ?? "")}` : ""}` : "";
        return h("span", { class: "key", title: variable?.description ?? "" }, swatch, `${signal.name}${values}`, h("span", { class: "unit" }, this.unit(signal.name)), h("span", { class: "value" }), this.loaded.get(run.id)?.refused.has(signal.name) && h("span", { class: "badge-text" }, this.loaded.get(run.id)?.refused.get(signal.name)),
          this.isDiscrete(signal.name) && h("button", { type: "button", title: "As bands behind the curves", "aria-label": `${signal.name} as bands`, onclick: () => { signal.isBand = !signal.isBand; this.draw(); } }, "▤"),
          this.cross(panel, signal.name));
      }) : [h("span", { class: "hint" }, visibleRuns().length ? "Choose variables, or drag them here" : "Run the model (Ctrl+Enter), then choose variables")];
      replace(panel.legend, x, names);
    }
    this.draw();
  }

  /** @param {Panel} panel @param {string} name */
  cross(panel, name) {
    return h("button", { type: "button", title: `Remove ${name}`, "aria-label": `Remove ${name}`, onclick: () => this.toggle(name, panel) }, "×");
  }

  /** @param {Panel} panel */
  listen(panel) {
    const { canvas, element } = panel;
    const time = (/** @type {MouseEvent} */ e) => {
      const [from, to] = this.range();
      return from + ((e.offsetX - LEFT) / (canvas.clientWidth - LEFT - RIGHT)) * (to - from);
    };
    /** @type {{x: number, view: [number, number], moved: boolean}|null} */
    let drag = null;
    canvas.addEventListener("pointerdown", (e) => {
      this.activate(panel);
      if (panel.kind === "xy" || e.button !== 0) return;
      drag = { x: e.offsetX, view: this.range(), moved: false };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (panel.kind === "xy") return;
      if (drag && Math.abs(e.offsetX - drag.x) > 3) drag.moved = true;
      if (drag?.moved) {
        const [from, to] = drag.view;
        const by = ((drag.x - e.offsetX) / (canvas.clientWidth - LEFT - RIGHT)) * (to - from);
        this.view = [from + by, to + by];
        this.loadSoon();
      }
      this.pointer = drag?.moved ? null : time(e);
      this.draw();
    });
    canvas.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved) {
        if (e.shiftKey) this.second = time(e);
        else {
          this.cursor = time(e);
          this.second = null;
          emit("cursor", this.cursor);
        }
        this.draw();
      }
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.draw();
    });
    canvas.addEventListener("dblclick", () => this.fit());
    canvas.addEventListener("wheel", (e) => {
      if (panel.kind === "xy") return;
      e.preventDefault();
      this.zoom(time(e), Math.exp(e.deltaY * 0.0015));
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => this.key(e));
    element.addEventListener("dragover", (e) => e.dataTransfer?.types.includes("application/x-saltus-variable") && e.preventDefault());
    element.addEventListener("drop", (e) => {
      const name = e.dataTransfer?.getData("application/x-saltus-variable");
      if (name) {
        e.preventDefault();
        this.activate(panel);
        this.toggle(name, panel, true);
      }
    });
  }

  /** @param {number} around @param {number} factor */
  zoom(around, factor) {
    const [from, to] = this.range();
    this.view = [around + (from - around) * factor, around + (to - around) * factor];
    this.loadSoon();
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const [from, to] = this.range();
    const step = (to - from) / 200;
    const at = this.cursor ?? (from + to) / 2;
    if (event.key === "ArrowLeft") this.cursor = at - step;
    else if (event.key === "ArrowRight") this.cursor = at + step;
    else if (event.key === "+" || event.key === "=") this.zoom(at, 0.7);
    else if (event.key === "-") this.zoom(at, 1.4);
    else if (event.key === "Home" || event.key === "0") this.fit();
    else if (event.key === "PageUp" || event.key === "PageDown") this.view = event.key === "PageUp" ? [from - step * 100, to - step * 100] : [from + step * 100, to + step * 100];
    else if (event.key === "Escape") [this.cursor, this.second] = [null, null];
    else return;
    event.preventDefault();
    this.loadSoon();
    this.draw();
    if (this.cursor !== null) emit("cursor", this.cursor);
  }

  /** Puts the cursor at a time and makes it visible. @param {number} t */
  jump(t) {
    this.cursor = t;
    this.second = null;
    const [from, to] = this.range();
    if (t < from || t > to) this.view = [t - (to - from) / 2, t + (to - from) / 2];
    this.loadSoon();
    this.draw();
  }

  picture() {
    const palette = this.palette();
    const width = this.box.clientWidth;
    const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": "sans-serif" });
    let top = 0;
    for (const panel of this.panels) {
      const height = panel.canvas.clientHeight;
      const group = svg("g", { transform: `translate(0 ${top})` });
      const painter = svgPainter(group);
      painter.rect(0, 0, width, height + 20, palette.back);
      let at = LEFT;
      for (const { signal, run, color } of this.curves(panel).slice(0, 12)) {
        const unit = this.unit(signal.name);
        const name = `${signal.name}${unit ? ` (${unit})` : ""}${visibleRuns().length > 1 ? (run.reference ? ` ${run.class}` : ` #${run.id}`) : ""}`;
        painter.line([at, 10, at + 14, 10], this.resolve(color, palette), 2);
        painter.text(name, at + 18, 10, { color: palette.text });
        at += 30 + name.length * 6.4;
      }
      const inner = svg("g", { transform: "translate(0 18)" });
      group.append(inner);
      const kept = [this.cursor, this.second, this.pointer];
      [this.cursor, this.second, this.pointer] = [null, null, null];
      this.paint(panel, svgPainter(inner), width, height, palette);
      [this.cursor, this.second, this.pointer] = kept;
      // Names of clips are those of the whole picture.
      for (const clip of group.querySelectorAll("clipPath")) clip.id = `p${panel.id}${clip.id}`;
      for (const user of group.querySelectorAll("[clip-path]")) user.setAttribute("clip-path", user.getAttribute("clip-path").replace("#", `#p${panel.id}`));
      root.append(group);
      top += height + 22;
    }
    root.setAttribute("viewBox", `0 0 ${width} ${top}`);
    root.setAttribute("width", width);
    root.setAttribute("height", top);
    return { text: new XMLSerializer().serializeToString(root), width, height: top };
  }

  exportSvg() {
    download(new Blob([this.picture().text], { type: "image/svg+xml" }), "plot.svg");
  }

  exportPng() {
    const { text, width, height } = this.picture();
    const image = new Image();
    const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    image.onload = () => {
      const canvas = h("canvas", { width: width * 2, height: height * 2 });
      canvas.getContext("2d").drawImage(image, 0, 0, width * 2, height * 2);
      URL.revokeObjectURL(address);
      canvas.toBlob((/** @type {Blob} */ blob) => download(blob, "plot.png"));
    };
    image.src = address;
  }

  async exportCsv() {
    const runs = visibleRuns();
    const names = [...this.names()];
    if (!runs.length || !names.length) return notice("Nothing is plotted");
    for (const run of runs) download(await postBlob("table", { run: run.id, names }), runs.length > 1 ? `run-${run.id}.csv` : "run.csv");
  }
}
