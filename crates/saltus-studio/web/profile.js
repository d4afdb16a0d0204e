// What the time of a run went to, as tables with bars. A run is measured if it is asked to be.

import { get } from "./api.js";
import { h, replace, show } from "./dom.js";
import { bar, row } from "./lines.js";
import { start } from "./runs.js";
import { on, store } from "./store.js";

/** Lines that take less are left out, and counted. */
const SMALLEST_SHARE = 0.001;
const MOST_LINES = 200;

/** @param {number} seconds */
function duration(seconds) {
  if (seconds >= 1) return `${show(seconds, 3)} s`;
  return seconds >= 1e-3 ? `${show(seconds * 1e3, 3)} ms` : `${show(seconds * 1e6, 3)} µs`;
}

export class ProfileView {
  constructor() {
    this.title = h("span", { class: "hint" });
    this.body = h("div", { class: "scroll tables" });
    this.element = h("div", { class: "fill column" },
      h("div", { class: "bar" }, h("button", { type: "button", class: "tool", id: "run-profile", title: "Run the model and measure what the time goes to", onclick: () => start({ profile: true }) }, "▶ Run with profile"), this.title),
      this.body);
    this.isShown = false;
    /** @type {string} */
    this.known = "";
    on("run-chosen", () => this.load());
    on("runs", () => this.load());
    this.render(null);
  }

  async load() {
    const run = store.run;
    const wanted = run ? `${run.id} ${run.profile}` : "";
    if (!this.isShown || wanted === this.known) return;
    this.known = wanted;
    const profile = run?.profile ? (await get("profile", { run: run.id })).profile : null;
    if (store.run === run) this.render(profile);
  }

  /** @param {any} profile */
  render(profile) {
    this.title.textContent = profile ? `run #${store.run?.id}: ${duration(profile.seconds)}${profile.machineCode > 0 ? `, of that ${duration(profile.machineCode)} for machine code` : ""}` : "";
    if (!profile) return replace(this.body, h("p", { class: "empty" }, store.run ? "This run was not measured." : "Run the model with a profile to see what takes the time."));
    replace(this.body, profile.tables.filter((/** @type {any} */ t) => t.lines.length).map((/** @type {any} */ t) => this.table(t)));
  }

  /** @param {{title: string, lines: any[]}} table */
  table({ title, lines }) {
    const shown = lines.filter((l, i) => i < MOST_LINES && (i === 0 || l.share >= SMALLEST_SHARE));
    const rest = lines.filter((l) => !shown.includes(l));
    return h("section", { class: "line-table", "aria-label": title }, h("h3", {}, title),
      h("div", {}, shown.map((line) => row(line, [bar(line.share), h("span", { class: "number" }, `${line.estimated ? "≈ " : ""}${duration(line.seconds)}`), h("span", { class: "number dim" }, `${line.count} ×`)],
        [line.rejected > 0 && h("span", { class: "hint" }, `${line.rejected} rejected`), line.equations !== undefined && h("span", { class: "hint" }, `${Math.round(line.equations * 100)} % in equations`),
          line.for?.length > 1 && h("span", { class: "hint" }, line.for.map((/** @type {any} */ [name, share]) => `${name} ${Math.round(share * 100)} %`).join(", "))]))),
      rest.length > 0 && h("p", { class: "hint more" }, `… ${rest.length} more, ${duration(rest.reduce((sum, l) => sum + l.seconds, 0))}`));
  }
}
