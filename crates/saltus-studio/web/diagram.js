// The diagram of a class. The server draws it; here it is looked at and taken hold of, and what was done becomes an edit of the text.

import { get, post, Refused } from "./api.js";
import { debounce, h, notice, replace, svg } from "./dom.js";
import { askElements, askName, openDialog } from "./dialog.js";
import { first, parts } from "./names.js";
import { emit, on, store } from "./store.js";
import { Wiring } from "./wiring.js";

/**
 * @typedef {[number, number]} Point
 * @typedef {{visible: boolean, origin: Point, extent: [Point, Point], rotation: number}} Placement
 * @typedef {{name: string, class: string, description: string, inherited: boolean, connector: boolean, placement?: Placement, bounds: [Point, Point],
 *   visible: boolean, at: Point, ports: {name: string, class: string, at: Point, visible: boolean}[]}} Component
 * @typedef {{system: any, components: Component[], connections: {from: string, to: string, points: Point[], inherited: boolean}[], notes: string[]}} Scene
 */

/** An edit that others have overtaken is asked for again. */
const MOST_TRIES = 20;

export class Diagram {
  constructor() {
    this.stage = h("div", { class: "stage", tabindex: "0", role: "application", "aria-label": "Diagram" });
    this.empty = h("p", { class: "empty", hidden: true });
    this.hint = h("span", { class: "hint" });
    const tool = (/** @type {string} */ label, /** @type {string} */ title, /** @type {() => void} */ work) => h("button", { type: "button", class: "tool", title, onclick: work }, label);
    this.layerButton = tool("Icon", "Show the icon instead of the diagram", () => this.setLayer(this.layer === "icon" ? "diagram" : "icon"));
    this.element = h("div", { class: "diagram fill column" },
      h("div", { class: "bar" }, tool("Fit", "Show everything (0)", () => this.fit()), tool("+", "Zoom in", () => this.zoom(0.8)), tool("−", "Zoom out", () => this.zoom(1.25)), this.layerButton,
        tool("Parameters…", "Parameters of the selected component, or of the class (Enter)", () => this.parameters()), tool("Rotate", "Turn the selected components (R)", () => this.rotate()), tool("Rename", "Rename the selected component (F2)", () => this.rename()), tool("Delete", "Delete what is selected (Del)", () => this.remove()), this.hint),
      this.empty, this.stage);
    this.layer = "diagram";
    /** What the pointer is doing. @type {any} */
    this.drag = null;
    /** Components of the chosen event. @type {string[]} */
    this.marked = [];
    /** @type {any} */
    this.root = null;
    /** @type {any} */
    this.overlay = null;
    /** @type {Scene|null} */
    this.scene = null;
    /** @type {Set<string>} */
    this.selected = new Set();
    /** @type {number|null} */
    this.connection = null;
    /** @type {[number, number, number, number]} */
    this.box = [-100, -100, 200, 200];
    this.isShown = false;
    /** The version of the text that is pictured, or an older one. @type {number|null} */
    this.version = null;
    /** The edits that were asked for. @type {Promise<any>} */
    this.before = Promise.resolve();
    /** Does a simulation change the picture? */
    this.isDynamic = false;
    this.wiring = new Wiring(this);
    this.loadSoon = debounce(() => this.load(), 60);
    on("add-class", (type) => this.addInView(type));
    on("opened", () => {
      this.wiring.end();
      this.version = null;
      this.selected.clear();
      this.connection = null;
      this.marked = [];
      this.isNew = true;
      this.layer = "diagram";
      this.load();
    });
    on("files", () => this.loadSoon());
    on("document", (status) => status.path === store.current?.document.path && this.loadSoon());
    on("event-chosen", ({ names, causes }) => this.mark([...names, ...causes.flatMap((/** @type {string} */ c) => c.match(/(?:'(?:[^'\\]|\\.)*'|[A-Za-z_])(?:'(?:[^'\\]|\\.)*'|[\w.[\]])*/g) ?? [])]));
    this.stage.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => this.down(e));
    this.stage.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => this.move(e));
    this.stage.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => this.up(e));
    this.stage.addEventListener("dblclick", () => this.parameters());
    this.stage.addEventListener("wheel", (/** @type {WheelEvent} */ e) => {
      e.preventDefault();
      this.zoom(Math.exp(e.deltaY * 0.0012), this.place(e));
    }, { passive: false });
    this.stage.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => this.key(e));
    this.stage.addEventListener("dragover", (/** @type {DragEvent} */ e) => e.dataTransfer?.types.includes("application/x-saltus-class") && e.preventDefault());
    this.stage.addEventListener("drop", (/** @type {DragEvent} */ e) => this.drop(e));
  }

  /** @param {"icon"|"diagram"} layer */
  setLayer(layer) {
    this.layer = layer;
    this.isNew = true;
    this.layerButton.setAttribute("aria-pressed", String(layer === "icon"));
    this.load();
  }

  async load() {
    const opened = store.current;
    if (!opened || !this.isShown) return void (this.isStale = true);
    this.isStale = false;
    const layer = this.layer;
    let found;
    try {
      found = await get("scene", { class: opened.name, layer, path: opened.document.path });
    } catch {
      // A text that is broken just now keeps the picture that it had.
      return;
    }
    if (store.current?.name !== opened.name || this.layer !== layer) return;
    // Answers may come in another order than they were asked for.
    if (this.version !== null && found.version < this.version) return;
    this.version = found.version;
    this.take(found);
    const { scene } = found;
    const isEmpty = !scene.components.some((/** @type {Component} */ c) => c.visible) && !this.root.querySelector("path, rect, ellipse, text, image, polygon, circle");
    this.empty.hidden = !isEmpty;
    this.empty.textContent = layer === "icon" ? "The class has no icon." : "The class has no diagram. Drag components here from the library.";
    this.hint.textContent = scene.notes.length ? `${scene.notes.length} graphics were left out: ${scene.notes[0]}` : "";
    emit("diagram", scene);
  }

  /** Shows a picture that the server has drawn. @param {any} found */
  take({ svg: text, scene, view, dynamic }) {
    this.scene = scene;
    this.view = view;
    this.isDynamic = dynamic;
    const picture = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const root = /** @type {any} */ (document.importNode(picture, true));
    root.classList.add("picture");
    this.root = root;
    this.overlay = svg("g", { class: "overlay" });
    root.append(this.overlay);
    if (this.isNew) {
      this.isNew = false;
      this.fit();
    } else this.show();
    replace(this.stage, root);
    this.decorate();
  }

  fit() {
    const [[x1, y1], [x2, y2]] = this.view ?? [[-100, -100], [100, 100]];
    const room = 0.03 * Math.max(x2 - x1, y2 - y1);
    this.box = [x1 - room, -y2 - room, x2 - x1 + 2 * room, y2 - y1 + 2 * room];
    this.show();
  }

  show() {
    this.root?.setAttribute("viewBox", this.box.join(" "));
    this.decorate();
  }

  /** @param {number} factor @param {Point} [around] */
  zoom(factor, around) {
    const [x, y, w, hgt] = this.box;
    const [cx, cy] = around ?? [x + w / 2, y + hgt / 2];
    this.box = [cx + (x - cx) * factor, cy + (y - cy) * factor, w * factor, hgt * factor];
    this.show();
  }

  /** Where the pointer is, in coordinates of the picture (y down). @param {MouseEvent} event @returns {Point} */
  place(event) {
    const matrix = this.root?.getScreenCTM?.()?.inverse();
    if (!matrix) return [0, 0];
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return [at.x, at.y];
  }

  /** @param {number} value @param {number} axis */
  snap(value, axis) {
    const step = this.scene?.system.grid?.[axis] || 2;
    return Math.round(value / step) * step;
  }

  /** @param {string} name */
  component(name) {
    return this.scene?.components.find((c) => c.name === name);
  }

  /** The group in the picture. @param {string} name @returns {any} */
  group(name) {
    return [...(this.root?.querySelectorAll(":scope > .component") ?? [])].find((g) => g.dataset.name === name);
  }

  get canEdit() {
    return !!store.current && !store.current.document.readOnly;
  }

  /** The connector under the pointer: `r.p`, or `p` for one of the class. @param {Point} at @returns {{name: string, at: Point}|null} */
  port(at) {
    const reach = Math.max(2.5, this.box[2] / 110);
    let best = null;
    let least = reach;
    for (const c of this.scene?.components ?? []) {
      if (!c.visible) continue;
      const ports = c.connector ? [{ name: c.name, at: c.at }] : c.ports.filter((p) => p.visible).map((p) => ({ name: `${c.name}.${p.name}`, at: p.at }));
      for (const p of ports) {
        const distance = Math.hypot(p.at[0] - at[0], -p.at[1] - at[1]);
        if (distance < least) [best, least] = [p, distance];
      }
    }
    return best;
  }

  /** @param {Point} at */
  componentAt(at) {
    const inside = (/** @type {Component} */ c) => c.visible && at[0] >= Math.min(c.bounds[0][0], c.bounds[1][0]) && at[0] <= Math.max(c.bounds[0][0], c.bounds[1][0]) && -at[1] >= Math.min(c.bounds[0][1], c.bounds[1][1]) && -at[1] <= Math.max(c.bounds[0][1], c.bounds[1][1]);
    return [...(this.scene?.components ?? [])].reverse().find(inside) ?? null;
  }

  /** The line near the pointer. @param {Point} at */
  connectionAt(at) {
    const reach = Math.max(1.2, this.box[2] / 180);
    return this.scene?.connections.findIndex(({ points }) => points.some((p, i) => i > 0 && distance(at, [points[i - 1][0], -points[i - 1][1]], [p[0], -p[1]]) < reach)) ?? -1;
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button > 1) return;
    this.wiring.end();
    this.stage.setPointerCapture(event.pointerId);
    this.stage.focus({ preventScroll: true });
    const at = this.place(event);
    const handle = /** @type {any} */ (event.target)?.dataset?.corner;
    if (event.button === 0 && handle !== undefined && this.canEdit) {
      this.drag = { kind: "resize", at, corner: Number(handle), name: [...this.selected][0] };
      return;
    }
    const port = event.button === 0 && this.canEdit && this.layer === "diagram" ? this.port(at) : null;
    const component = event.button === 0 ? this.componentAt(at) : null;
    if (port && !(component?.connector && event.altKey)) this.drag = { kind: "connect", at, from: port.name, start: port.at, moved: false, component };
    else if (component) this.grab(component, event, at);
    else {
      const line = event.button === 0 ? this.connectionAt(at) : -1;
      if (!event.shiftKey) this.selected.clear();
      this.connection = line >= 0 ? line : null;
      this.drag = { kind: "pan", x: event.clientX, y: event.clientY, box: [...this.box] };
      this.decorate();
    }
  }

  /** @param {Component} component @param {PointerEvent} event @param {Point} at */
  grab(component, event, at) {
    this.connection = null;
    if (event.shiftKey) this.selected.has(component.name) ? this.selected.delete(component.name) : this.selected.add(component.name);
    else if (!this.selected.has(component.name)) this.selected = new Set([component.name]);
    this.drag = { kind: "move", at, moved: false };
    this.decorate();
  }

  /** @param {PointerEvent} event */
  move(event) {
    const drag = this.drag;
    const at = this.place(event);
    if (!drag) return this.hover(at);
    if (drag.kind === "pan") {
      const scale = this.box[2] / Math.max(1, this.root?.getBoundingClientRect().width ?? 1);
      const factor = Math.max(scale, this.box[3] / Math.max(1, this.root?.getBoundingClientRect().height ?? 1));
      this.box = [drag.box[0] - (event.clientX - drag.x) * factor, drag.box[1] - (event.clientY - drag.y) * factor, drag.box[2], drag.box[3]];
      this.show();
    } else if (drag.kind === "move" && this.canEdit) {
      const [dx, dy] = [this.snap(at[0] - drag.at[0], 0), this.snap(at[1] - drag.at[1], 1)];
      if (dx || dy) drag.moved = true;
      drag.by = [dx, dy];
      for (const name of this.selected) this.group(name)?.setAttribute("transform", `translate(${dx} ${dy})`);
      this.bend(dx, dy);
      this.overlay?.setAttribute("transform", `translate(${dx} ${dy})`);
    } else if (drag.kind === "connect") {
      drag.moved ||= Math.hypot(at[0] - drag.at[0], at[1] - drag.at[1]) > 2;
      const to = this.port(at);
      drag.to = to && to.name !== drag.from ? to.name : null;
      const end = to ? [to.at[0], -to.at[1]] : at;
      const [x, y] = [drag.start[0], -drag.start[1]];
      replace(this.overlay, svg("path", { class: `rubber${drag.to ? (drag.why && drag.asked === drag.to ? " wrong" : " right") : ""}`, d: `M${x} ${y}H${(x + end[0]) / 2}V${end[1]}H${end[0]}` }));
      if (drag.to && drag.asked !== drag.to) this.askFits(drag);
    } else if (drag.kind === "resize") this.resize(drag, at);
  }

  /** @param {any} drag */
  async askFits(drag) {
    drag.asked = drag.to;
    const { why, elements } = await get("fits", { class: store.current?.name, from: drag.from, to: drag.to });
    if (drag.asked === drag.to) {
      // Which element is asked for behind it.
      drag.why = elements.length ? null : why;
      this.hint.textContent = why ?? "";
    }
  }

  /** Ends of lines follow a component that is moved. @param {number} dx @param {number} dy */
  bend(dx, dy) {
    // Where lines branch is known again when they are drawn anew.
    for (const dot of this.root?.querySelectorAll(":scope > .junction") ?? []) dot.setAttribute("visibility", "hidden");
    const isMoved = (/** @type {string} */ end) => this.selected.has(first(end));
    for (const group of this.root?.querySelectorAll(":scope > .connection") ?? []) {
      const connection = this.scene?.connections[Number(group.dataset.index)];
      if (!connection || connection.points.length < 2) continue;
      const [a, b] = [isMoved(connection.from), isMoved(connection.to)];
      if (!a && !b) continue;
      if (a && b) group.setAttribute("transform", `translate(${dx} ${dy})`);
      else {
        const points = connection.points.map(([x, y], i) => (a ? i === 0 : i === connection.points.length - 1) ? [x + dx, -y + dy] : [x, -y]);
        const path = group.querySelector("path, polyline");
        path?.setAttribute(path.tagName === "path" ? "d" : "points", path.tagName === "path" ? `M${points.map((p) => p.join(" ")).join("L")}` : points.map((p) => p.join(",")).join(" "));
      }
    }
  }

  /** @param {any} drag @param {Point} at */
  resize(drag, at) {
    const component = this.component(drag.name);
    if (!component?.placement) return;
    const { origin, extent, rotation } = component.placement;
    const angle = (-rotation * Math.PI) / 180;
    const [px, py] = [this.snap(at[0], 0) - origin[0], this.snap(-at[1], 1) - origin[1]];
    const local = [px * Math.cos(angle) - py * Math.sin(angle), px * Math.sin(angle) + py * Math.cos(angle)].map((v) => Math.round(v * 1e4) / 1e4);
    const next = [[...extent[0]], [...extent[1]]];
    next[drag.corner & 1][0] = local[0];
    next[drag.corner >> 1][1] = local[1];
    if (next[0][0] === next[1][0] || next[0][1] === next[1][1]) return;
    drag.placement = { visible: true, origin, extent: next, rotation };
    const turn = (/** @type {number[]} */ p) => [origin[0] + p[0] * Math.cos(-angle) - p[1] * Math.sin(-angle), -(origin[1] + p[0] * Math.sin(-angle) + p[1] * Math.cos(-angle))];
    const corners = [[next[0][0], next[0][1]], [next[1][0], next[0][1]], [next[1][0], next[1][1]], [next[0][0], next[1][1]]].map(turn);
    replace(this.overlay, svg("polygon", { class: "frame", points: corners.map((c) => c.join(",")).join(" ") }));
  }

  /** @param {PointerEvent} _event */
  async up(_event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    this.overlay?.removeAttribute("transform");
    if (drag.kind === "move" && drag.moved) {
      await this.shift(drag.by[0], -drag.by[1]);
    } else if (drag.kind === "resize" && drag.placement) await this.edit({ action: "place", component: drag.name, placement: drag.placement, layer: this.layer });
    else if (drag.kind === "connect") {
      if (drag.to) await this.connect(drag.from, drag.to);
      else if (!drag.moved && drag.component) this.selected = new Set([drag.component.name]);
      this.hint.textContent = "";
    }
    this.decorate();
  }

  /** One after the other: what is asked for is found for the picture behind the edits before it. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  inTurn(work) {
    const done = this.before.then(async () => {
      if ((this.version ?? 0) < (store.current?.document.version ?? 0)) await this.load();
      return work();
    });
    this.before = done.catch(() => {});
    return done;
  }

  /** Gives the selected components other places, in one step. @param {(placement: Placement) => Placement} change */
  placeSelected(change) {
    const names = [...this.selected];
    return this.inTurn(async () => {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const placed = names.map((name) => this.component(name)).filter((c) => c?.placement);
        const edits = placed.map((c) => ({ action: "place", component: c?.name, placement: change(/** @type {Placement} */ (c?.placement)), layer: this.layer }));
        if (await this.editAll(edits, { version: this.version }) !== null) return;
      }
      notice("The text is changed by others too fast", "error");
    });
  }

  /** @param {number} dx @param {number} dy */
  async shift(dx, dy) {
    await this.placeSelected((placement) => {
      const isPlain = placement.rotation === 0 && placement.origin[0] === 0 && placement.origin[1] === 0;
      const move = (/** @type {Point} */ [x, y]) => /** @type {Point} */ ([x + dx, y + dy]);
      return isPlain ? { ...placement, extent: [move(placement.extent[0]), move(placement.extent[1])] } : { ...placement, origin: move(placement.origin) };
    });
  }

  async rotate() {
    await this.placeSelected(({ origin, extent, rotation }) => {
      const angle = (rotation * Math.PI) / 180;
      const middle = [(extent[0][0] + extent[1][0]) / 2, (extent[0][1] + extent[1][1]) / 2];
      const centre = /** @type {Point} */ ([origin[0] + middle[0] * Math.cos(angle) - middle[1] * Math.sin(angle), origin[1] + middle[0] * Math.sin(angle) + middle[1] * Math.cos(angle)].map((v) => Math.round(v * 1e4) / 1e4));
      const turned = ((rotation + 90 + 180) % 360) - 180;
      const around = (/** @type {Point} */ p) => /** @type {Point} */ ([p[0] - middle[0], p[1] - middle[1]]);
      return { visible: true, origin: centre, extent: [around(extent[0]), around(extent[1])], rotation: turned };
    });
  }

  /** Asks for another name of the selected component. */
  rename() {
    const name = [...this.selected][0];
    const component = name && this.component(name);
    if (!component || component.inherited || !this.canEdit) return notice("Select a component of this class", "error");
    askName(`Rename ${name}`, name, async (given) => {
      if (given !== name && await this.edit({ action: "rename", component: name, name: given })) this.selected = new Set([given]);
      this.stage.focus({ preventScroll: true });
      this.decorate();
    });
  }

  async remove() {
    const line = this.connection !== null ? this.scene?.connections[this.connection] : null;
    const edits = [...this.selected].map((name) => /** @type {any} */ ({ action: "delete", component: name }));
    if (line) edits.unshift({ action: "disconnect", from: line.from, to: line.to });
    if (!await this.editAll(edits)) return;
    this.selected.clear();
    this.connection = null;
    this.decorate();
  }

  /** Connects two connectors that fit; of arrays the element is asked for. @param {string} from @param {string} to */
  async connect(from, to) {
    const { why, elements } = await get("fits", { class: store.current?.name, from, to });
    const work = (/** @type {Record<string, string>} */ chosen) => this.edit({ action: "connect", from: chosen.from ?? from, to: chosen.to ?? to });
    if (elements.length) askElements(why, elements, async (chosen) => {
      await work(chosen);
      this.stage.focus({ preventScroll: true });
    });
    else if (why) notice(why, "error");
    else await work({});
  }

  /** @param {DragEvent} event */
  async drop(event) {
    const type = event.dataTransfer?.getData("application/x-saltus-class");
    if (!type || !store.current) return;
    event.preventDefault();
    const [x, y] = this.place(event);
    await this.add(type, this.snap(x, 0), this.snap(-y, 1));
  }

  /** Adds a component where there is room in what is seen. @param {string} type */
  async addInView(type) {
    if (!this.canEdit) return notice("The open class cannot be changed", "error");
    if (!this.isShown || this.layer !== "diagram") return notice("Show the diagram of the class first", "error");
    const [x, y, width, height] = this.box;
    const isFree = (/** @type {number} */ cx, /** @type {number} */ cy) => (this.scene?.components ?? []).every(({ visible, bounds: [a, b] }) =>
      !visible || cx + 12 < Math.min(a[0], b[0]) || cx - 12 > Math.max(a[0], b[0]) || cy + 12 < Math.min(a[1], b[1]) || cy - 12 > Math.max(a[1], b[1]));
    const middle = [this.snap(x + width / 2, 0), this.snap(-y - height / 2, 1)];
    const places = [];
    for (let dx = -4; dx <= 4; dx++) for (let dy = -4; dy <= 4; dy++) places.push([middle[0] + 30 * dx, middle[1] + 30 * dy]);
    places.sort((a, b) => Math.hypot(a[0] - middle[0], a[1] - middle[1]) - Math.hypot(b[0] - middle[0], b[1] - middle[1]));
    const [cx, cy] = places.find(([cx, cy]) => isFree(cx, cy)) ?? middle;
    await this.add(type, cx, cy);
    this.stage.focus({ preventScroll: true });
  }

  /** @param {string} type @param {number} x @param {number} y */
  async add(type, x, y) {
    const short = parts(type).pop()?.replace(/[^A-Za-z0-9_]/g, "") || "component";
    const base = short[0].toLowerCase() + short.slice(1);
    const names = new Set(this.scene?.components.map((c) => c.name));
    let name = base;
    for (let i = 1; names.has(name); i++) name = `${base}${i}`;
    const done = await this.edit({ action: "add", type, name, placement: { origin: [0, 0], extent: [[x - 10, y - 10], [x + 10, y + 10]], rotation: 0 } });
    if (!done) return;
    this.selected = new Set([name]);
    this.decorate();
  }

  /** Several edits, in one step: all of them or none. @param {any[]} edits @param {any} [more] */
  async editAll(edits, more = {}) {
    return !edits.length || this.edit({ ...(edits.length > 1 ? { edits } : edits[0]), ...more });
  }

  /** Whether it was done; nothing if the picture that it was asked for on is not that of the text any more, and it is drawn anew. @param {any} body */
  async edit(body) {
    try {
      await post("diagram", { class: store.current?.name, ...body });
      await this.load();
      return true;
    } catch (error) {
      const isStale = body.version !== undefined && error instanceof Refused && error.status === 409;
      if (!isStale) notice(/** @type {Error} */ (error).message, "error");
      await this.load();
      return isStale ? null : false;
    }
  }

  parameters() {
    if (!store.current) return;
    const name = [...this.selected][0] ?? null;
    openDialog(store.current.name, name ? this.component(name) ?? null : null, (values) => this.editAll(values.map((v) => ({ action: "modify", ...v }))));
  }

  /** @param {KeyboardEvent} event */
  async key(event) {
    const step = this.scene?.system.grid ?? [2, 2];
    /** @type {Record<string, [number, number]>} */
    const arrows = { ArrowLeft: [-step[0], 0], ArrowRight: [step[0], 0], ArrowUp: [0, step[1]], ArrowDown: [0, -step[1]] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.wiring.key(event)) return event.preventDefault();
    if (arrows[event.key]) {
      event.preventDefault();
      const [dx, dy] = arrows[event.key];
      if (this.selected.size) await this.shift(dx, dy);
      else {
        this.box = [this.box[0] + dx * 5, this.box[1] - dy * 5, this.box[2], this.box[3]];
        this.show();
      }
    } else if (event.key === "Delete" || event.key === "Backspace") this.remove();
    else if (event.key === "F2") this.rename();
    else if (event.key === "r" || event.key === "R") this.rotate();
    else if (event.key === "c" || event.key === "C") this.wiring.begin();
    else if (event.key === "0") this.fit();
    else if (event.key === "+") this.zoom(0.8);
    else if (event.key === "-") this.zoom(1.25);
    else if (event.key === "Enter") this.parameters();
    else if (event.key === "Tab" && this.selected.size) {
      const names = (this.scene?.components ?? []).filter((c) => c.visible).map((c) => c.name);
      const next = names.indexOf([...this.selected][0]) + (event.shiftKey ? -1 : 1);
      // Behind the last one the focus goes on.
      this.selected = new Set(names[next] === undefined ? [] : [names[next]]);
      if (this.selected.size) event.preventDefault();
      this.decorate();
    } else if (event.key === " ") {
      const first = this.scene?.components.find((c) => c.visible);
      if (first && !this.selected.size) this.selected = new Set([first.name]);
      event.preventDefault();
      this.decorate();
    } else if (event.key === "Escape") {
      this.selected.clear();
      this.connection = null;
      this.marked = [];
      this.decorate();
    }
  }

  /** Marks the components that names begin with. @param {string[]} names */
  mark(names) {
    this.marked = [...new Set(names.map(first))];
    this.decorate();
  }

  hasMarks() {
    return (this.marked ?? []).some((/** @type {string} */ name) => this.component(name)?.visible);
  }

  /** @param {Point} at */
  hover(at) {
    const port = this.layer === "diagram" ? this.port(at) : null;
    const component = port ? null : this.componentAt(at);
    this.stage.style.cursor = port && this.canEdit ? "crosshair" : component ? "move" : "default";
    const c = component ?? (port ? this.component(first(port.name)) : null);
    if (this.over === (port?.name ?? c?.name)) return;
    this.over = port?.name ?? c?.name;
    this.hint.textContent = port ? port.name : c ? `${c.name}: ${c.class}${c.description ? ` – ${c.description}` : ""}` : "";
    this.decorate(c, port);
  }

  /** Frames of what is selected and marked. @param {Component|null} [over] @param {{at: Point}|null} [port] */
  decorate(over = null, port = null) {
    if (!this.overlay || this.drag) return;
    const out = [];
    const frame = (/** @type {Component} */ c, /** @type {string} */ kind) => {
      const [[x1, y1], [x2, y2]] = c.bounds;
      return svg("rect", { class: kind, x: Math.min(x1, x2) - 1, y: -Math.max(y1, y2) - 1, width: Math.abs(x2 - x1) + 2, height: Math.abs(y2 - y1) + 2 });
    };
    for (const name of this.marked ?? []) {
      const c = this.component(name);
      if (c?.visible) out.push(frame(c, "marked-frame"));
    }
    if (over?.visible) {
      out.push(frame(over, "over-frame"));
      for (const p of over.ports) if (p.visible) out.push(svg("circle", { class: "port-mark", cx: p.at[0], cy: -p.at[1], r: this.box[2] / 160 }));
    }
    if (port) out.push(svg("circle", { class: "port-mark near", cx: port.at[0], cy: -port.at[1], r: this.box[2] / 110 }));
    for (const name of this.selected) {
      const c = this.component(name);
      if (!c?.visible) continue;
      out.push(frame(c, "frame"));
      if (this.selected.size === 1 && this.canEdit && c.placement && !c.inherited) {
        const { origin, extent, rotation } = c.placement;
        const angle = (rotation * Math.PI) / 180;
        for (let corner = 0; corner < 4; corner++) {
          const p = [extent[corner & 1][0], extent[corner >> 1][1]];
          const size = this.box[2] / 130;
          out.push(svg("rect", { class: "handle", "data-corner": corner, x: origin[0] + p[0] * Math.cos(angle) - p[1] * Math.sin(angle) - size / 2, y: -(origin[1] + p[0] * Math.sin(angle) + p[1] * Math.cos(angle)) - size / 2, width: size, height: size }));
        }
      }
    }
    const line = this.connection !== null ? this.scene?.connections[this.connection] : null;
    if (line) out.push(svg("polyline", { class: "chosen-line", points: line.points.map(([x, y]) => `${x},${-y}`).join(" ") }));
    out.push(...this.wiring.marks());
    replace(this.overlay, out);
  }
}

/** From a point to a piece of a line. @param {Point} p @param {Point} a @param {Point} b */
function distance(p, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const part = Math.max(0, Math.min(1, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(p[0] - a[0] - part * dx, p[1] - a[1] - part * dy);
}
