// Configurations of a model with changing structure as a graph: which a run has visited, how often and for how long, and what leads from one to another.

import { get } from "./api.js";
import { debounce, h, replace, show, svg } from "./dom.js";
import { row } from "./lines.js";
import { emit, on, store } from "./store.js";

const [NODE_WIDTH, NODE_HEIGHT] = [132, 44];
/** Configurations that are drawn; all are listed. */
const MOST_NODES = 16;

/** @typedef {{name: string, states: string[], index: number, visits: number, spent: number}} Node */

export class ConfigurationView {
  constructor() {
    this.body = h("div", { class: "scroll study" });
    this.element = h("div", { class: "fill column" }, this.body);
    this.isShown = false;
    this.known = "";
    /** @type {any} */
    this.graph = null;
    new ResizeObserver(() => this.isShown && this.render(this.graph)).observe(this.body);
    const soon = debounce(() => this.load(), 150);
    on("run-chosen", () => this.tell());
    on("runs", () => {
      this.tell();
      soon();
    });
    this.render(null);
  }

  tell() {
    emit("has-configurations", (store.run?.configurations ?? 0) > 0);
    this.load();
  }

  async load() {
    const run = store.run;
    const wanted = run ? `${run.id} ${run.rows}` : "";
    if (!this.isShown || wanted === this.known || this.isLoading) return;
    this.isLoading = true;
    try {
      const found = run ? (await get("configurations", { run: run.id })).configurations : null;
      if (store.run === run) this.render(found);
      this.known = wanted;
    } finally {
      this.isLoading = false;
    }
  }

  /** @param {any} graph */
  render(graph) {
    this.graph = graph;
    if (!graph) return replace(this.body, h("p", { class: "empty" }, "The structure of this model does not change."));
    const visits = new Map([[1, 1]]);
    for (const { to, count } of graph.transitions) visits.set(to, (visits.get(to) ?? 0) + count);
    const whole = graph.spent.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) || 1;
    /** @type {Node[]} */
    const nodes = graph.configurations.map((/** @type {any} */ c, /** @type {number} */ i) => ({ ...c, name: c.name || "otherwise", visits: visits.get(i + 1) ?? 0, spent: graph.spent[i] }));
    const line = (/** @type {Node} */ n, /** @type {number} */ i) => row({ text: `${i + 1}  ${n.name}`, names: n.states }, [], [h("span", { class: "hint" }, `${n.visits} ×, ${show((100 * n.spent) / whole, 3)} % of the time, ${n.states.length} states, index ${n.index}`)]);
    replace(this.body, h("figure", {}, this.picture(nodes, graph.transitions, whole)),
      h("div", { class: "study-side wide" }, h("h3", {}, `${nodes.length} configurations, ${graph.n_segments} stretches`), nodes.map(line),
        h("h3", {}, "What decides"), graph.deciding.map((/** @type {any} */ d) => row(d, [], [h("span", { class: "hint" }, d.note)]))));
  }

  /** @param {Node[]} all @param {{from: number, to: number, count: number}[]} transitions @param {number} whole */
  picture(all, transitions, whole) {
    const nodes = all.slice(0, MOST_NODES);
    // As large as there is room, with letters of one size.
    const [width, height] = [Math.max(360, Math.min(760, this.body.clientWidth - 460)), Math.max(130, this.body.clientHeight - 12)];
    const [cx, cy] = [width / 2, height / 2];
    const places = nodes.map((_, i) => {
      const angle = Math.PI + (2 * Math.PI * i) / nodes.length;
      return nodes.length === 1 ? [cx, cy] : [cx + Math.cos(angle) * (width / 2 - NODE_WIDTH / 2 - 30), cy + Math.sin(angle) * (height / 2 - NODE_HEIGHT / 2 - 14)];
    });
    const most = Math.max(1, ...transitions.map((t) => t.count));
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "study-picture", role: "group", "aria-label": "Configurations and the transitions between them" },
      svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0 0L8 4L0 8z", class: "arrow-head" }))));
    for (const { from, to, count } of transitions.filter((t) => t.from <= nodes.length && t.to <= nodes.length)) {
      const [a, b] = [places[from - 1], places[to - 1]];
      const words = `${all[from - 1].name} → ${all[to - 1].name}: ${count} ×`;
      const edge = this.edge(a, b, from === to);
      const thickness = 1 + 3 * (Math.log1p(count) / Math.log1p(most));
      const element = svg("g", { class: "edge", tabindex: "0", role: "button", "aria-label": words, "data-edge": `${from}-${to}`, onclick: () => emit("filter-events", "configuration"), onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && emit("filter-events", "configuration") },
        svg("title", {}, words), svg("path", { d: edge.path, "stroke-width": thickness, "marker-end": "url(#arrow)" }), svg("text", { x: edge.label[0], y: edge.label[1], "text-anchor": "middle", class: "axis-label" }, `${count} ×`));
      picture.append(element);
    }
    nodes.forEach((node, i) => {
      const [x, y] = places[i];
      const choose = () => emit("look-at", { place: null, names: node.states });
      const label = node.name.length > 20 ? `${node.name.slice(0, 19)}…` : node.name;
      const share = svg("rect", { x: x - NODE_WIDTH / 2, y: y + NODE_HEIGHT / 2 - 4, width: NODE_WIDTH * (node.spent / whole), height: 4, class: "node-share" });
      picture.append(svg("g", { class: "node", tabindex: "0", role: "button", "data-node": i + 1, "aria-label": `${node.name}, ${node.visits} times`, onclick: choose, onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && choose() },
        svg("title", {}, `${node.name}\n${node.states.join(", ")}`), svg("rect", { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2, width: NODE_WIDTH, height: NODE_HEIGHT, rx: 6 }), share,
        svg("text", { x, y: y - 5, "text-anchor": "middle", class: "axis-title" }, label), svg("text", { x, y: y + 11, "text-anchor": "middle", class: "axis-label" }, `${node.visits} × · ${node.states.length} states`)));
    });
    return picture;
  }

  /** From border to border, bent so that there and back are two lines. @param {number[]} a @param {number[]} b @param {boolean} isLoop */
  edge(a, b, isLoop) {
    if (isLoop) {
      const [x, y] = [a[0], a[1] - NODE_HEIGHT / 2];
      return { path: `M${x - 20} ${y}C${x - 30} ${y - 34} ${x + 30} ${y - 34} ${x + 20} ${y - 2}`, label: [x, y - 28] };
    }
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = Math.hypot(dx, dy);
    const bend = Math.min(60, length * 0.18);
    const middle = [(a[0] + b[0]) / 2 - (dy / length) * bend, (a[1] + b[1]) / 2 + (dx / length) * bend];
    const border = (/** @type {number[]} */ at) => {
      const [ux, uy] = [middle[0] - at[0], middle[1] - at[1]];
      const scale = Math.min((NODE_WIDTH / 2 + 3) / Math.max(1e-9, Math.abs(ux)), (NODE_HEIGHT / 2 + 3) / Math.max(1e-9, Math.abs(uy)));
      return [at[0] + ux * scale, at[1] + uy * scale];
    };
    const [from, to] = [border(a), border(b)];
    const n = (/** @type {number} */ v) => v.toFixed(1);
    return { path: `M${n(from[0])} ${n(from[1])}Q${n(middle[0])} ${n(middle[1])} ${n(to[0])} ${n(to[1])}`, label: [(from[0] + to[0] + 2 * middle[0]) / 4, (from[1] + to[1] + 2 * middle[1]) / 4 + 4] };
  }
}
