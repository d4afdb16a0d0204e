// The page: puts the parts together and carries news between them.

import { get, listen, post, Refused } from "./api.js";
import { Animation } from "./animation.js";
import { ConfigurationView } from "./configurations.js";
import { Diagram } from "./diagram.js";
import { Documentation } from "./documentation.js";
import { h, notice, replace, show, tabs } from "./dom.js";
import { Editor } from "./editor.js";
import { EventTable } from "./events.js";
import { drawIcon } from "./icons.js";
import { openHelp } from "./help.js";
import { splitter } from "./layout.js";
import { Moving } from "./moving.js";
import { parts } from "./names.js";
import { Parameters } from "./parameters.js";
import { Plots } from "./plots.js";
import { ProfileView } from "./profile.js";
import { choose, first as showFirst, forget, heard, reload, RunList, start } from "./runs.js";
import { currentValues, emit, on, store } from "./store.js";
import { StructureView } from "./structure.js";
import { openSearch } from "./search.js";
import { SearchView } from "./searches.js";
import { StudyView } from "./study.js";
import { openSweep } from "./sweep.js";
import { LibraryTree } from "./tree.js";
import { VariableTree } from "./variables.js";

const editor = new Editor();
const plots = new Plots();
const variables = new VariableTree(plots);
const parameters = new Parameters();
const events = new EventTable();
const runs = new RunList();
const structure = new StructureView();
const profile = new ProfileView();
const study = new StudyView();
const searches = new SearchView();
const configurations = new ConfigurationView();
const documentation = new Documentation();
const animation = new Animation();
const diagram = new Diagram();
const moving = new Moving(diagram);
const library = new LibraryTree((name) => open(name), drawIcon);
/** What the user wants to see of documents, if they have it. */
let preferred = "diagram";
let shown = "diagram";

// Left: what there is. Middle: the document. Right: results. Below: what happened.
const side = tabs([
  { id: "library", label: "Library", panel: library.element },
  { id: "variables", label: "Variables", panel: variables.element },
  { id: "parameters", label: "Parameters", panel: parameters.element },
]);
const documentTabs = tabs([
  { id: "diagram", label: "Diagram", panel: diagram.element },
  { id: "text", label: "Text", panel: editor.element },
  { id: "documentation", label: "Documentation", panel: documentation.element },
  { id: "animation", label: "3-D", panel: animation.element },
], (id, byUser) => {
  if (byUser) preferred = id;
  shown = id;
  diagram.isShown = id === "diagram" || preferred === "diagram";
  if (id === "diagram" && diagram.isStale) diagram.load();
  animation.isShown = id === "animation";
  if (animation.isShown) animation.load();
  animation.draw();
  documentation.isShown = id === "documentation";
  if (documentation.isShown) documentation.load();
  editor.paint();
});
const problems = h("div", { class: "fill scroll problems" });
const dock = tabs([
  { id: "events", label: "Events", panel: events.element },
  { id: "problems", label: "Problems", panel: problems },
  { id: "runs", label: "Runs", panel: runs.element },
  { id: "study", label: "Study", panel: study.element },
  { id: "search", label: "Search", panel: searches.element },
  { id: "structure", label: "Structure", panel: structure.element },
  { id: "profile", label: "Profile", panel: profile.element },
  { id: "configurations", label: "Configurations", panel: configurations.element },
], (id) => {
  for (const [name, view] of /** @type {[string, any][]} */ ([["study", study], ["search", searches], ["structure", structure], ["profile", profile], ["configurations", configurations]])) {
    view.isShown = id === name;
    view.load();
  }
});

// The head of the page.
const path = h("nav", { class: "path", "aria-label": "Class" });
const saveButton = h("button", { type: "button", class: "tool", title: "Save the file (Ctrl+S)", disabled: true, onclick: () => editor.command("save") }, "Save");
const undoButton = h("button", { type: "button", class: "tool", title: "Undo (Ctrl+Z)", disabled: true, "aria-label": "Undo", onclick: () => editor.command("undo") }, "↶");
const redoButton = h("button", { type: "button", class: "tool", title: "Redo (Ctrl+Y)", disabled: true, "aria-label": "Redo", onclick: () => editor.command("redo") }, "↷");
const formatButton = h("button", { type: "button", class: "tool", id: "format", title: "Bring the text into the standard layout (Ctrl+Shift+F)", onclick: () => editor.command("format") }, "Format");
const runButton = h("button", { type: "button", class: "primary", id: "run", title: "Simulate (Ctrl+Enter)", onclick: () => start() }, "▶ Run");
const stopButton = h("button", { type: "button", class: "tool", id: "stop", title: "Stop the run", disabled: true, onclick: () => running().forEach((r) => post("cancel", { run: r.id })) }, "■ Stop");
const progress = h("progress", { max: 1, value: 0, "aria-label": "Progress of the run" });
const overlay = h("input", { type: "checkbox", id: "overlay", onchange: (/** @type {any} */ e) => (store.overlays = e.target.checked) });
/** @param {string} name @param {string} label @param {string} title */
const setting = (name, label, title) => {
  const input = h("input", { type: "text", class: "number", inputmode: "decimal", id: `setting-${name}`, title, "aria-label": title, onchange: () => {
    const text = input.value.trim().replace(",", ".");
    const number = Number(text);
    const isRight = text === "" || Number.isFinite(number);
    input.classList.toggle("wrong", !isRight);
    if (!isRight || !store.current) return;
    const all = { ...(store.settings.get(store.current.name) ?? {}) };
    if (text === "") delete all[name];
    else all[name] = number;
    store.settings.set(store.current.name, all);
  } });
  return { input, element: h("label", { class: "setting", title }, label, input) };
};
const stopTime = setting("stop", "Stop", "Stop time in seconds");
const tolerance = setting("tolerance", "Tolerance", "Relative tolerance");
const solver = h("select", { id: "setting-solver", title: "Integration method", "aria-label": "Integration method", onchange: () => {
  if (store.current) store.settings.set(store.current.name, { ...(store.settings.get(store.current.name) ?? {}), solver: solver.value });
} });
const live = h("button", { type: "button", class: "tool", id: "live", title: "Run with the clock; parameters can be changed meanwhile", onclick: () => start({ live: Number(speed.value) }) }, "Live");
const speed = h("select", { id: "speed", title: "Speed of live runs: seconds of the model in a second", "aria-label": "Speed of live runs", onchange: () => {
  for (const run of running().filter((r) => r.live)) post("set", { run: run.id, value: Number(speed.value) }).catch((error) => notice(error.message, "error"));
} }, [["0.1", "× 0.1"], ["0.25", "× ¼"], ["1", "× 1"], ["4", "× 4"], ["10", "× 10"], ["100", "× 100"]].map(([value, text]) => h("option", { value, selected: value === "1" }, text)));
const sweep = h("button", { type: "button", class: "tool", id: "sweep", title: "Run for several values of one or more parameters", onclick: () => openSweep(parameters.parameters.filter((p) => !p.fixed)) }, "Sweep…");
const search = h("button", { type: "button", class: "tool", id: "search", title: "Find parameters with which a run meets targets, or is best", onclick: () => openSearch(parameters.parameters.filter((p) => !p.fixed && !p.structural), [...plots.names()]) }, "Search…");
const help = h("button", { type: "button", class: "tool", id: "help", title: "Keys (F1)", "aria-label": "Keys", onclick: openHelp }, "?");
const theme = h("button", { type: "button", class: "tool", id: "theme", title: "Light or dark", onclick: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark") }, "◐");
const offline = h("div", { class: "offline", role: "alert", hidden: true });
const conflict = h("div", { class: "offline", role: "alert", hidden: true });
const statusLine = h("footer", { class: "status" });

const root = h("div", { id: "studio" },
  h("header", { class: "head" }, h("img", { src: "/icon.svg", width: 22, height: 22, alt: "Saltus" }), path, h("span", { class: "spring" }), undoButton, redoButton, formatButton, saveButton, h("span", { class: "gap" }),
    stopTime.element, tolerance.element, solver, runButton, stopButton, progress, live, speed, sweep, search, h("label", { class: "setting", title: "Keep earlier runs in the plots" }, overlay, "Overlay"), help, theme),
  h("main", {},
    h("section", { class: "side column", "aria-label": "Library, variables, parameters" }, side.bar, library.element, variables.element, parameters.element),
    h("section", { class: "document column", "aria-label": "Document" }, documentTabs.bar, offline, conflict, diagram.element, editor.element, documentation.element, animation.element),
    h("section", { class: "results column" }, plots.element),
    h("section", { class: "dock column", "aria-label": "Events, problems, runs" }, dock.bar, events.element, problems, runs.element, study.element, searches.element, structure.element, profile.element, configurations.element)),
  statusLine);
document.body.append(root);
const page = document.documentElement;
root.querySelector("main")?.append(
  splitter(page, "--side", "x", 1, [160, 600], "Width of the side bar", () => {}),
  splitter(page, "--results", "x", -1, [240, 2400], "Width of the plots", () => {}),
  splitter(page, "--dock", "y", -1, [60, 700], "Height of events and problems", () => {}));

/** @param {string} name */
function setTheme(name) {
  page.dataset.theme = name;
  localStorage.setItem("saltus-theme", name);
  emit("theme");
}
setTheme(localStorage.getItem("saltus-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));

function running() {
  return [...store.runs.values()].filter((r) => ["waiting", "compiling", "running"].includes(r.phase));
}

/** @param {string} name @param {any} [place] @param {any} [known] the class, if the server has sent it already */
async function open(name, place, known) {
  try {
    await editor.settled();
    const opened = known ?? await get("class", { name });
    store.current = opened;
    document.title = `${parts(opened.name).pop()} – Saltus Studio`;
    history.replaceState(null, "", location.href);
    sessionStorage.setItem("saltus-class", opened.name);
    editor.show(opened);
    status(opened.document);
    if (place) {
      documentTabs.choose("text");
      editor.goTo(place.start, place.end);
    }
    const above = parts(opened.name);
    replace(path, above.map((part, i) => [i > 0 && h("span", { class: "dot" }, "."), h("button", { type: "button", class: "link", title: above.slice(0, i + 1).join("."), onclick: () => open(above.slice(0, i + 1).join(".")) }, part)]));
    runButton.disabled = live.disabled = speed.disabled = sweep.disabled = search.disabled = !opened.simulates;
    emit("opened", opened);
    library.reveal(opened.name);
  } catch (error) {
    notice(/** @type {Error} */ (error).message, "error");
  }
}

/** @param {import("./store.js").DocumentStatus} now */
function status(now) {
  if (!store.current || now.path !== store.current.document.path) return;
  store.current.document = now;
  saveButton.disabled = !now.dirty || !!now.readOnly;
  undoButton.disabled = !now.undo;
  redoButton.disabled = !now.redo;
  formatButton.disabled = !!now.readOnly;
  undoButton.title = now.undo ? `Undo: ${now.undo} (Ctrl+Z)` : "Undo (Ctrl+Z)";
  replace(statusLine, h("span", { title: now.path }, now.path.split("/").slice(-2).join("/")), now.readOnly && h("span", { class: "badge-text" }, `read only: ${now.readOnly}`), now.dirty && h("span", { class: "badge-text" }, "not saved"),
    h("span", { class: "spring" }), h("span", {}, store.current.words), h("span", {}, store.isConnected ? "" : "not connected"));
  conflict.hidden = !now.changedOnDisk;
  if (now.changedOnDisk) {
    replace(conflict, "The file was changed on disk, and there is text here that is not saved. ",
      h("button", { type: "button", onclick: () => editor.command("reload") }, "Take the file"), h("button", { type: "button", onclick: () => editor.command("save", { overwrite: true }) }, "Keep this text"));
  }
}

on("status", (now) => {
  status(now);
  emit("saved-edit");
});
on("open", ({ name, place }) => open(name, place));
on("changed-on-disk", () => notice("The file was changed on disk", "error"));
on("settings", (settings) => {
  const given = store.settings.get(store.current?.name ?? "") ?? {};
  stopTime.input.placeholder = settings ? show(settings.stop) : "";
  tolerance.input.placeholder = settings ? show(settings.tolerance) : "";
  stopTime.input.value = given.stop ?? "";
  tolerance.input.value = given.tolerance ?? "";
  replace(solver, (settings?.solvers ?? ["auto"]).map((/** @type {string} */ s) => h("option", { value: s === "auto" ? "" : s, selected: given.solver === s }, s)));
});
on("runs", () => {
  const now = running();
  stopButton.disabled = !now.length;
  const run = now.find((r) => r.phase === "running" && !r.live);
  if (run && run.time !== null && run.stop !== null && run.start !== null) progress.value = (run.time - run.start) / (run.stop - run.start || 1);
  else progress.value = 0;
  dock.label("runs", store.runs.size ? `Runs ${store.runs.size}` : "Runs");
});
on("run-chosen", () => {
  // What can be changed in a live run is beside them.
  if (!plots.names().size && !store.run?.live) side.choose("variables");
});
documentTabs.show("animation", false);
dock.show("configurations", false);
on("has-configurations", (is) => dock.show("configurations", is));
on("filter-events", (words) => {
  dock.choose("events");
  events.filter(words);
});
on("search-begun", () => dock.choose("search"));
on("search-count", (n) => dock.label("search", n ? `Search ${n}` : "Search"));
on("has-bodies", (is) => documentTabs.show("animation", is));
on("animated", (t) => {
  plots.cursor = t;
  plots.draw();
});
on("event-count", (n) => dock.label("events", n ? `Events ${n}` : "Events"));
on("event-chosen", ({ time, place }) => {
  plots.jump(time);
  // A diagram that shows the component stays.
  if (place) goTo(place, shown === "diagram" && diagram.hasMarks());
});
on("look-at", ({ place, names }) => {
  diagram.mark(names);
  const isMarked = shown === "diagram" && diagram.hasMarks();
  if (place) goTo(place, isMarked);
  else if (!isMarked) notice("It is not a component of this diagram");
});
on("place", (place) => goTo(place));
on("diagram", (scene) => {
  if (preferred !== "diagram") return;
  const hasDiagram = scene.components.some((/** @type {any} */ c) => c.visible && !c.connector);
  documentTabs.choose(hasDiagram || diagram.layer === "icon" ? "diagram" : "text");
});

/** Goes to a place of a text, in the open document or in that of its class. @param {import("./store.js").Place} place @param {boolean} [stays] */
async function goTo(place, stays = false) {
  if (!stays) documentTabs.choose("text");
  if (store.current?.document.path === place.path) editor.point(place);
  else {
    notice(`${place.path.split("/").pop()}, line ${place.line}`);
    emit("foreign-place", place);
  }
}

/** @type {any[]} */
let ownProblems = [];
/** What the last run of a class had to say, with its number. @type {Map<string, {id: number, messages: any[]}>} */
const runProblems = new Map();
function showProblems() {
  const all = [...ownProblems, ...(runProblems.get(store.current?.name ?? "")?.messages ?? [])];
  const n = all.filter((p) => p.severity === "error").length;
  dock.label("problems", all.length ? `Problems ${n || all.length}` : "Problems");
  replace(problems, all.length ? all.map((p) => h("div", { class: `problem ${p.severity}`, tabindex: "0", role: "button", onclick: () => p.go?.(), onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && p.go?.() },
    h("span", { class: "code-name" }, p.code ?? ""), h("span", { class: "text" }, p.message, (p.hints ?? []).map((/** @type {string} */ hint) => h("span", { class: "hint" }, ` hint: ${hint}`))), h("span", { class: "hint" }, p.line ? `line ${p.line}` : ""))) : h("p", { class: "empty" }, "No problems."));
}
on("own-problems", (news) => {
  ownProblems = news.problems.map((/** @type {any} */ p) => ({ ...p, go: () => { documentTabs.choose("text"); editor.goTo(p.start, p.end); } }));
  showProblems();
});
on("run-messages", (run) => {
  const known = runProblems.get(run.class);
  if (run.reference || (known && known.id > run.id)) return;
  runProblems.set(run.class, { id: run.id, messages: run.messages.map((/** @type {any} */ m) => ({ ...m, line: m.place?.line, go: () => m.place && goTo(m.place) })) });
  showProblems();
  if (run.phase === "failed" && known?.id !== run.id && run.class === store.current?.name) dock.choose("problems");
});
on("opened", () => {
  ownProblems = [];
  showProblems();
});
showProblems();

document.addEventListener("keydown", (event) => {
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (event.key === "F1") openHelp();
  else if (control && event.key === "Enter") start();
  else if (control && event.shiftKey && key === "f") editor.command("format");
  else if (control && key === "s") editor.command("save");
  else if (control && (key === "k" || key === "p")) {
    side.choose("library");
    library.input.focus();
    library.input.select();
  } else if (control && key === "z" && document.activeElement?.tagName !== "INPUT" && document.activeElement !== editor.area) editor.command(event.shiftKey ? "redo" : "undo");
  else return;
  event.preventDefault();
});
// A question that was not answered because the server is gone is asked again when it is back.
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof TypeError) && !(event.reason instanceof Refused)) return;
  event.preventDefault();
  if (event.reason instanceof Refused && event.reason.status >= 500) notice(event.reason.message, "error");
});
addEventListener("beforeunload", (event) => {
  // The server has what was typed, unless it is gone.
  if (editor.area.value !== editor.known) event.preventDefault();
});

listen((message) => {
  if (message.type === "run") heard(message.run);
  else if (message.type === "removed") forget(message.run);
  else if (message.type === "search") emit("search", message.search);
  else if (message.type === "search-removed") emit("search-removed", message.search);
  else if (message.type === "document") {
    status(message.document);
    emit("document", message.document);
  } else if (message.type === "tree") {
    library.reload();
    emit("files");
  } else if (message.type === "problems") emit("problems", message);
  else if (message.type === "notice") notice(message.text, "error");
}, async (isConnected, why) => {
  const wasConnected = store.isConnected;
  store.isConnected = isConnected;
  const isRefused = why instanceof Refused;
  offline.hidden = isConnected;
  if (!isConnected) replace(offline, isRefused ? `The server refuses this page: ${why.message}` : "The server does not answer. What you type stays here; start `saltus studio` again and it goes on.");
  if (isConnected && !wasConnected) {
    await reload();
    await editor.refresh();
    emit("reconnected");
  }
});

const before = sessionStorage.getItem("saltus-class");
const first = await get("state", { open: before ?? "" }).catch((error) => {
  offline.hidden = false;
  replace(offline, error.message);
  return null;
});
if (first) {
  showFirst(first.runs);
  emit("searches", first.searches);
  const name = before ?? first.class;
  if (name) await open(name, undefined, first.opened);
  else statusLine.textContent = first.target;
  page.dataset.ready = "true";
}
/** For measurements and tests. */
Object.assign(window, { saltus: { animation, searches, diagram, moving, parameters, profile, store, structure, study, plots, editor, events, open, start, choose, currentValues } });
