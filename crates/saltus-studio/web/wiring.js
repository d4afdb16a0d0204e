// Connecting by keyboard: the connectors of the picture one after the other, the first that is taken, then the second.

import { svg } from "./dom.js";
import { first } from "./names.js";

/** @typedef {{name: string, at: [number, number]}} Port */

export class Wiring {
  /** @param {import("./diagram.js").Diagram} diagram */
  constructor(diagram) {
    this.diagram = diagram;
    /** The connector that is pointed at, while one is looked for. @type {string|null} */
    this.now = null;
    /** The one that was taken. @type {string|null} */
    this.from = null;
  }

  /** All connectors that are seen: those of the class, and those of components. @returns {Port[]} */
  ports() {
    const all = (this.diagram.scene?.components ?? []).filter((c) => c.visible);
    return all.flatMap((c) => (c.connector ? [{ name: c.name, at: c.at }] : c.ports.filter((p) => p.visible).map((p) => ({ name: `${c.name}.${p.name}`, at: p.at }))));
  }

  /** Begins at the selected component. */
  begin() {
    const { diagram } = this;
    const ports = diagram.canEdit && diagram.layer === "diagram" ? this.ports() : [];
    if (!ports.length) return void (diagram.hint.textContent = "There is no connector to begin at.");
    const [selected] = diagram.selected;
    this.from = null;
    this.point(ports.find((p) => first(p.name) === selected) ?? ports[0]);
    diagram.stage.focus({ preventScroll: true });
  }

  end() {
    if (this.now === null) return;
    this.now = this.from = null;
    this.diagram.hint.textContent = "";
    this.diagram.decorate();
  }

  /** @param {Port} port */
  point(port) {
    this.now = port.name;
    this.diagram.hint.textContent = this.from ? `${this.from} → ${port.name}: Enter connects, Esc gives up` : `From ${port.name}: arrows and Tab choose, Enter takes it`;
    this.diagram.decorate();
  }

  /** Whether the key was meant for a connection. @param {KeyboardEvent} event */
  key(event) {
    if (this.now === null) return false;
    const ports = this.ports();
    const at = ports.findIndex((p) => p.name === this.now);
    /** @type {Record<string, [number, number]>} */
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key === "Escape" || at < 0) this.end();
    else if (event.key === "Tab") this.point(ports[(at + (event.shiftKey ? ports.length - 1 : 1)) % ports.length]);
    else if (ways[event.key]) this.point(nearest(ports, ports[at], ways[event.key]) ?? ports[at]);
    else if (event.key === "Enter" || event.key === " ") this.take(ports, at);
    return true;
  }

  /** @param {Port[]} ports @param {number} at */
  async take(ports, at) {
    const { name } = ports[at];
    if (this.from === null) {
      this.from = name;
      return this.point(ports[(at + 1) % ports.length]);
    }
    const { from } = this;
    if (from === name) return;
    this.end();
    await this.diagram.connect(from, name);
  }

  /** What shows where it is. */
  marks() {
    if (this.now === null) return [];
    const { diagram } = this;
    const ports = this.ports();
    const place = (/** @type {string|null} */ name) => ports.find((p) => p.name === name)?.at;
    const [from, now] = [place(this.from), place(this.now)];
    const radius = diagram.box[2] / 90;
    return [
      from && now && svg("path", { class: "rubber right", d: `M${from[0]} ${-from[1]}H${(from[0] + now[0]) / 2}V${-now[1]}H${now[0]}` }),
      ...[from, now].map((at) => at && svg("circle", { class: "port-mark near", cx: at[0], cy: -at[1], r: radius })),
    ].filter(Boolean);
  }
}

/** The next one in a direction: near, and not much to the side. @param {Port[]} ports @param {Port} from @param {[number, number]} way */
function nearest(ports, from, way) {
  let best = null;
  let least = Infinity;
  for (const port of ports) {
    const [dx, dy] = [port.at[0] - from.at[0], port.at[1] - from.at[1]];
    const ahead = dx * way[0] + dy * way[1];
    const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (ahead > 0.1 && ahead + 2 * aside < least) [best, least] = [port, ahead + 2 * aside];
  }
  return best;
}
