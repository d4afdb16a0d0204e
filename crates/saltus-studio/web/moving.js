// The diagram at a moment of a run: what `DynamicSelect` says, and values on ports. The slider, the cursor of the plots and chosen events set the moment.

import { get, postNumbers } from "./api.js";
import { h, replace, show, svg } from "./dom.js";
import { parts } from "./names.js";
import { emit, on, store } from "./store.js";
import { displayed } from "./units.js";

/** Variables that are shown at one port. */
const MOST_AT_PORT = 2;
const MOST_PORTS = 400;

export class Moving {
  /** @param {import("./diagram.js").Diagram} diagram */
  constructor(diagram) {
    this.diagram = diagram;
    /** @type {number|null} */
    this.time = null;
    this.isBusy = false;
    this.isWanted = false;
    /** The picture is that of a moment. */
    this.isMoved = false;
    this.hasValues = false;
    this.slider = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, class: "time moment", id: "moment", "aria-label": "Time of the diagram", title: "Time of the diagram", oninput: () => {
      const { from, to } = this.span();
      emit("animated", from + Number(this.slider.value) * (to - from));
    } });
    this.button = h("button", { type: "button", class: "tool", id: "port-values", title: "Values of the run at the ports of components", "aria-pressed": "false", onclick: () => {
      this.hasValues = !this.hasValues;
      this.button.setAttribute("aria-pressed", String(this.hasValues));
      if (this.time === null) this.time = this.span().to;
      if (!this.hasValues) this.show([]);
      this.draw();
    } }, "Values");
    this.label = h("span", { class: "readout" });
    this.bar = h("div", { class: "bar", hidden: true }, this.button, this.slider, this.label);
    diagram.element.append(this.bar);
    for (const name of ["animated", "cursor"]) on(name, (t) => this.go(t));
    on("event-chosen", ({ time }) => this.go(time));
    on("run-chosen", () => this.runChosen());
    on("opened", () => {
      this.time = null;
      this.isMoved = false;
      this.runChosen();
    });
    on("runs", () => this.controls());
    on("variables", () => this.draw());
    // A picture that was loaded anew is the static one.
    on("diagram", () => !this.isBusy && this.draw());
  }

  /** The run whose moment is drawn: the chosen one, if it is of the open class. */
  run() {
    const run = store.run;
    return run && run.class === store.current?.name && run.rows > 0 ? run : null;
  }

  span() {
    const run = this.run();
    return { from: run?.start ?? 0, to: run?.time ?? run?.stop ?? 1 };
  }

  /** Another run at the same time; without one of this class the diagram is as it is written. */
  runChosen() {
    this.show([]);
    if (this.run() && this.time !== null) return void this.draw();
    if (this.isMoved) this.diagram.loadSoon();
    this.isMoved = false;
    this.controls();
  }

  controls() {
    this.bar.hidden = !this.run();
    this.slider.hidden = !(this.diagram.isDynamic || this.hasValues);
    this.label.textContent = this.time === null || this.slider.hidden ? "" : `${show(this.time, 4)} s`;
  }

  /** @param {number} time */
  go(time) {
    const { from, to } = this.span();
    this.time = Math.max(from, Math.min(to, time));
    this.slider.value = String((this.time - from) / (to - from || 1));
    this.draw();
  }

  /** One request at a time; the last moment that was asked for is drawn. */
  async draw() {
    this.controls();
    const { diagram } = this;
    const run = this.run();
    const isWorth = run && this.time !== null && diagram.isShown && diagram.scene && (diagram.isDynamic || this.hasValues);
    if (!isWorth || diagram.drag) return;
    if (this.isBusy) return void (this.isWanted = true);
    this.isBusy = true;
    this.isWanted = false;
    try {
      const [opened, layer, time] = [store.current, diagram.layer, this.time];
      if (diagram.isDynamic) {
        const found = await get("scene", { class: opened?.name, layer, run: run.id, time });
        if (store.current === opened && diagram.layer === layer && !diagram.drag) {
          diagram.take(found);
          this.isMoved = true;
        }
      }
      if (this.hasValues && this.time !== null) await this.ports(run, this.time);
    } catch {
      // Without the server the picture stays; it is drawn again with the next moment.
    } finally {
      this.isBusy = false;
    }
    if (this.isWanted) this.draw();
  }

  /** Names of variables at the ports, where they are, and on which side of its component. */
  places() {
    const places = [];
    for (const c of this.diagram.scene?.components ?? []) {
      if (!c.visible) continue;
      const [[x1], [x2]] = c.bounds;
      const ports = c.connector ? [{ name: c.name, at: c.at }] : c.ports.filter((p) => p.visible).map((p) => ({ name: `${c.name}.${p.name}`, at: p.at }));
      for (const port of ports) {
        const inside = store.variables.has(port.name) ? [port.name] : [...store.variables.keys()].filter((n) => n.startsWith(`${port.name}.`) && !/[[(]/.test(n.slice(port.name.length)));
        const names = inside.filter((n) => !store.variables.get(n)?.hidden).slice(0, MOST_AT_PORT);
        if (names.length) places.push({ ...port, names, isLeft: port.at[0] < (x1 + x2) / 2 });
      }
    }
    return places.slice(0, MOST_PORTS);
  }

  /** @param {import("./store.js").Run} run @param {number} time */
  async ports(run, time) {
    const places = this.places();
    const names = [...new Set(places.flatMap((p) => p.names))].slice(0, 1000);
    const { header, numbers } = await postNumbers("values", { run: run.id, names, from: time, to: time, count: 1 });
    const values = new Map(header.names.map((/** @type {string} */ n, /** @type {number} */ i) => [n, numbers[i + 1]]));
    if (!this.hasValues) return;
    const size = Math.max(2.2, Math.min(5, this.diagram.box[2] / 60));
    this.show(places.map(({ at, names, isLeft, name }) => svg("text", { class: "port-value", x: at[0] + (isLeft ? -size * 0.5 : size * 0.5), y: isLeft ? -at[1] + size * 1.3 : -at[1] - size * (1.1 * names.length - 0.7), "font-size": size, "text-anchor": isLeft ? "end" : "start", "data-port": name },
      names.map((n, i) => svg("tspan", { x: at[0] + (isLeft ? -size * 0.5 : size * 0.5), dy: i ? size * 1.1 : 0 }, this.written(n, values.get(n)))))));
  }

  /** `v 3.2 V` @param {string} name @param {number|undefined} value */
  written(name, value) {
    const variable = store.variables.get(name);
    const display = variable?.display;
    if (value === undefined || Number.isNaN(value)) return "–";
    const text = variable?.kind === "boolean" ? String(!!value) : variable?.literals?.[value - 1] ?? show(displayed(display, value), 3);
    const short = parts(name).pop();
    return `${short} ${text} ${display?.unit ?? variable?.unit ?? ""}`.trim();
  }

  /** @param {Element[]} texts */
  show(texts) {
    const { root, overlay } = this.diagram;
    if (!root || !overlay) return;
    let group = root.querySelector(".port-values");
    if (!group) root.insertBefore((group = svg("g", { class: "port-values" })), overlay);
    replace(group, texts);
  }
}
