// Runs: started, shown, compared, thrown away.

import { get, post, postFile, Refused } from "./api.js";
import { h, notice, replace, show } from "./dom.js";
import { parts } from "./names.js";
import { currentValues, emit, on, store } from "./store.js";

const PHASES = ["waiting", "compiling", "running", "done", "failed", "cancelled", "interrupted"];
const OVER = PHASES.slice(3);

export class RunList {
  constructor() {
    this.list = h("div", { class: "run-list scroll" });
    this.element = h("div", { class: "fill column" }, this.list);
    on("runs", () => this.render());
    on("run-chosen", () => this.render());
    on("live-set", ({ name, value }) => store.run && post("set", { run: store.run.id, name, value }).catch((e) => notice(e.message, "error")));
    this.render();
  }

  render() {
    const runs = [...store.runs.values()].reverse();
    replace(this.list, runs.length ? runs.map((run) => this.row(run)) : h("p", { class: "empty" }, "No runs yet."));
  }

  /** @param {import("./store.js").Run} run */
  row(run) {
    const changes = (run.changes ?? []).map(([n, v, t]) => `${n} = ${show(v)} from ${show(t, 4)} s`);
    const values = [...run.values.map(([n, v]) => `${n} = ${v}`), ...changes].join(", ");
    const isOver = OVER.includes(run.phase);
    const part = run.time !== null && run.stop !== null && run.start !== null && run.stop > run.start ? (run.time - run.start) / (run.stop - run.start) : 0;
    const errors = run.messages.filter((m) => m.severity === "error");
    return h("div", { class: `run ${run.phase}${store.run?.id === run.id ? " chosen" : ""}`, "data-run": run.id },
      h("input", { type: "checkbox", checked: run.visible, title: "Draw this run", "aria-label": `Draw run ${run.id}`, onchange: (/** @type {any} */ e) => { run.visible = e.target.checked; emit("runs"); } }),
      h("button", { type: "button", class: "link", title: "Show its variables and events", onclick: () => choose(run) }, `#${run.id} ${run.reference ? run.class : parts(run.class).pop()}`),
      h("span", { class: "hint", title: values }, run.reference ? "a file" : values || "as written"),
      h("span", { class: "phase" }, run.phase === "running" ? (run.live ? `live, ${show(run.time, 5)} s` : `${Math.round(part * 100)} %`) : run.phase,
        run.phase !== "done" ? (OVER.includes(run.phase) && run.rows ? ` · ${run.rows} rows · until ${show(run.time, 4)} s` : "") : run.reference ? ` · ${run.rows} rows` : ` · ${run.rows} rows · ${run.events} events · ${show(run.seconds, 3)} s`),
      errors.length > 0 && h("span", { class: "error", title: errors[0].message }, errors[0].message),
      !isOver && h("button", { type: "button", class: "tool", title: "Stop the run", onclick: () => post("cancel", { run: run.id }) }, "Stop"),
      h("button", { type: "button", class: "close", title: "Throw the run away", "aria-label": `Throw run ${run.id} away`, onclick: () => post("remove", { run: run.id }) }, "×"));
  }
}

/** Shows the variables and events of a run. @param {import("./store.js").Run} run */
export function choose(run) {
  store.run = run;
  emit("run-chosen", run);
}

/** Shows a run that was asked for, as one that was started here. @param {import("./store.js").Run} run */
export function showAnswer(run) {
  if (!store.overlays) for (const other of store.runs.values()) other.visible = false;
  run.visible = run.isKnown = true;
  choose(run);
  emit("runs");
}

/** Starts a run of the open class; `also` are values besides those of the panel. @param {{live?: number, profile?: boolean, vary?: {names: string[], rows: any[][]}, also?: [string, string][]}} [how] */
export async function start({ also = [], ...more } = {}) {
  const opened = store.current;
  if (!opened?.simulates) return notice("Open a model that can be simulated", "error");
  const settings = store.settings.get(opened.name) ?? {};
  try {
    const { runs } = await post("run", { class: opened.name, values: [...new Map([...currentValues(), ...also])], settings, ...more });
    if (!store.overlays) for (const run of store.runs.values()) run.visible = false;
    for (const run of runs) heard(run, true);
  } catch (error) {
    notice(/** @type {Refused} */ (error).message, "error");
  }
}

/** Results of files over those of the model. @param {Iterable<File>} files */
export async function overlayFiles(files) {
  for (const file of files) {
    try {
      const { run } = await postFile("reference", file);
      heard(run, true);
    } catch (error) {
      notice(/** @type {Refused} */ (error).message, "error");
    }
  }
}

/** News of a run. @param {import("./store.js").Run} news @param {boolean} [isNew] */
export function heard(news, isNew = false) {
  const known = store.runs.get(news.id);
  if (!known) {
    if (!isNew && !store.isLoaded) return;
    store.runs.set(news.id, { ...news, visible: isNew });
  } else {
    if (isNew) known.visible = true;
    // The answer to a request may come behind the news.
    if (PHASES.indexOf(news.phase) >= PHASES.indexOf(known.phase)) Object.assign(known, news);
  }
  const run = /** @type {import("./store.js").Run} */ (store.runs.get(news.id));
  const hasBegun = run.rows > 0 && !run.isKnown;
  if (hasBegun && run.visible) {
    run.isKnown = true;
    // The variables stay those of the model, unless there is none.
    if (run.reference ? !store.run : !run.group || store.run?.group !== run.group) choose(run);
  }
  if (OVER.includes(run.phase)) emit("run-messages", run);
  if (run.phase === "failed" && !known?.hasFailed) {
    run.hasFailed = true;
    notice(run.messages[0]?.message ?? "The run failed", "error");
  }
  emit("runs");
}

/** The runs that the server has when the page is opened: the last one is shown, with those of its sweep. @param {import("./store.js").Run[]} runs */
export function first(runs) {
  const last = runs.filter((r) => !r.reference).pop() ?? runs[runs.length - 1];
  for (const run of runs) {
    store.runs.set(run.id, { ...run, visible: run === last || (!!run.group && run.group === last.group), isKnown: run.rows > 0 });
    if (run === last && run.rows) choose(/** @type {import("./store.js").Run} */ (store.runs.get(run.id)));
  }
  store.isLoaded = true;
  emit("runs");
}

/** @param {number} id */
export function forget(id) {
  store.runs.delete(id);
  if (store.run?.id === id) {
    const last = [...store.runs.values()].pop() ?? null;
    if (last) choose(last);
    else store.run = null;
  }
  emit("runs");
}

/** All runs of the server, after a connection was lost. */
export async function reload() {
  const { runs, searches } = await get("state");
  emit("searches", searches);
  const ids = new Set(runs.map((/** @type {any} */ r) => r.id));
  for (const id of [...store.runs.keys()]) if (!ids.has(id)) store.runs.delete(id);
  for (const run of runs) heard(run);
  if (store.run && !store.runs.has(store.run.id)) store.run = [...store.runs.values()].pop() ?? null;
  if (store.run) choose(store.run);
  emit("runs");
}
