// The dialog of a search: parameters with bounds, targets or an expression that shall be smallest or largest. What it asks for is the file of a
// study, as `saltus run` reads it; a file can be opened and saved.

import { post, Refused } from "./api.js";
import { download, h, notice, replace, show } from "./dom.js";
import { currentValues, emit, store } from "./store.js";
import { parameterLine } from "./sweep.js";

/** @typedef {import("./sweep.js").Parameter} Parameter */

const KINDS = [["targets", "meet targets"], ["smallest", "make smallest"], ["largest", "make largest"]];
const EXAMPLES = "x · max(x) · at(x, 0.5) · integral(x^2) · event(h < 0).time · count(h < 0)";

/** @param {string} text */
const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));
/** A key or a text of TOML. @param {string} text */
const quoted = (text) => JSON.stringify(text).replace(/\u007f/g, "\\u007f");
/** @param {string} text */
const value = (text) => (isNumber(text) || text === "true" || text === "false" ? text.trim() : quoted(text));

/** One unknown: its name, bounds, and where the search begins. @param {Parameter[]} parameters @param {number} index @param {() => void} changed */
function unknown(parameters, index, changed) {
  const { name, field, around, parameter } = parameterLine(parameters, index);
  const [min, max, begin] = [field("min", ""), field("max", ""), field("start", "")];
  begin.placeholder = "middle";
  const guess = () => {
    [min.value, max.value] = around().map((v) => show(v, 5));
    begin.value = "";
  };
  name.addEventListener("change", () => { guess(); changed(); });
  for (const input of [min, max, begin]) input.addEventListener("input", changed);
  guess();
  return {
    name, parameter,
    element: h("div", { class: "sweep-line" }, h("label", { class: "setting" }, "find", name), h("label", { class: "setting" }, "from", min), h("label", { class: "setting" }, "to", max), h("label", { class: "setting" }, "start", begin)),
    /** @param {any} u */
    set: (u) => {
      if (![...name.options].some((o) => o.value === u.name)) name.append(h("option", { value: u.name }, u.name));
      name.value = u.name;
      [min.value, max.value, begin.value] = [u.min, u.max, u.start].map((v) => (typeof v === "number" && Number.isFinite(v) ? String(v) : ""));
    },
    text: () => {
      const all = [["start", begin.value], ["min", min.value], ["max", max.value]].filter(([, v]) => v.trim() !== "");
      return `parameters.${quoted(name.value)} = { ${all.map(([k, v]) => `${k} = ${isNumber(v) ? Number(v) : quoted(v)}`).join(", ")} }`;
    },
  };
}

/** An expression and what it shall be. @param {number} index @param {string} first @param {() => void} changed */
function target(index, first, changed) {
  const text = h("input", { type: "text", value: first, class: "expression", "aria-label": `Expression ${index + 1}`, spellcheck: "false", oninput: changed });
  const wanted = h("input", { type: "text", class: "number", value: "0", "aria-label": `Value ${index + 1}`, inputmode: "decimal", oninput: changed });
  const equals = h("label", { class: "setting" }, "=", wanted);
  return { text, wanted, equals, element: h("div", { class: "sweep-line" }, text, equals) };
}

/** @param {Parameter[]} all Parameters that can be set without compiling @param {string[]} variables to begin with */
export function openSearch(all, variables) {
  const opened = store.current;
  const parameters = all.filter((p) => p.kind === "real");
  if (!opened || !parameters.length) return notice("No parameter can be searched for without compiling", "error");
  let isOfFile = false;
  const changed = () => {
    isOfFile = false;
    render();
  };
  /** @type {ReturnType<typeof unknown>[]} */
  const unknowns = [unknown(parameters, 0, changed)];
  const targets = [target(0, variables[0] ?? "", changed)];
  const kind = h("select", { id: "search-kind", "aria-label": "Kind of search", onchange: changed }, KINDS.map(([v, t]) => h("option", { value: v }, t)));
  const most = h("input", { type: "text", class: "number", value: "", placeholder: "500", "aria-label": "Most runs", inputmode: "numeric", oninput: changed });
  const tolerance = h("input", { type: "text", class: "number", value: "", placeholder: "1e-9", "aria-label": "Tolerance of the search", inputmode: "decimal", oninput: changed });
  const lines = h("div", { class: "sweep-lines" });
  const aims = h("div", { class: "sweep-lines" });
  const hint = h("p", { class: "hint" });
  const file = h("textarea", { class: "study-file", id: "study-file", rows: 9, spellcheck: "false", "aria-label": "Study file", oninput: () => { isOfFile = true; } });
  const said = h("div", { class: "problems", id: "search-problems", role: "alert" });
  const fewer = (/** @type {any[]} */ list) => h("button", { type: "button", title: "Remove the last one", onclick: () => { if (list.length > 1) list.pop(); changed(); } }, "−");
  const moreUnknowns = h("button", { type: "button", id: "more-unknowns", onclick: () => { unknowns.push(unknown(parameters, unknowns.length, changed)); changed(); } }, "+ Parameter");
  const moreTargets = h("button", { type: "button", id: "more-targets", onclick: () => { targets.push(target(targets.length, variables[targets.length] ?? "", changed)); changed(); } }, "+ Target");
  const [fewerUnknowns, fewerTargets] = [fewer(unknowns), fewer(targets)];

  /** The study as `saltus run` reads it. */
  const written = () => {
    const settings = store.settings.get(opened.name) ?? {};
    const isLibrary = opened.document.readOnly;
    const out = ["[model]", `class = ${quoted(opened.name)}`];
    if (!isLibrary) out.push(`files = [${quoted(opened.document.path)}]`);
    const values = [...currentValues()].filter(([n]) => !unknowns.some((u) => u.name.value === n));
    if (values.length) out.push("", "[values]", ...values.map(([n, v]) => `${quoted(n)} = ${value(v)}`));
    const experiment = [["stop-time", settings.stop], ["tolerance", settings.tolerance], ["solver", settings.solver ? quoted(settings.solver) : undefined]].filter(([, v]) => v !== undefined);
    if (experiment.length) out.push("", "[experiment]", ...experiment.map(([k, v]) => `${k} = ${v}`));
    out.push("", kind.value === "targets" ? "[search]" : "[optimize]", ...unknowns.map((u) => u.text()));
    if (kind.value === "targets") out.push(...targets.map((t) => `targets.${quoted(t.text.value)} = ${isNumber(t.wanted.value) ? Number(t.wanted.value) : quoted(t.wanted.value)}`));
    else out.push(`${kind.value === "smallest" ? "minimize" : "maximize"} = ${quoted(targets[0].text.value)}`);
    if (isNumber(tolerance.value)) out.push(`tolerance = ${Number(tolerance.value)}`);
    if (isNumber(most.value)) out.push(`most-runs = ${Number(most.value)}`);
    return `${out.join("\n")}\n`;
  };

  const render = () => {
    const isMeeting = kind.value === "targets";
    if (!isMeeting) targets.length = 1;
    for (const t of targets) t.equals.hidden = !isMeeting;
    moreTargets.hidden = fewerTargets.hidden = !isMeeting;
    fewerTargets.disabled = targets.length < 2;
    fewerUnknowns.disabled = unknowns.length < 2;
    moreUnknowns.disabled = unknowns.length >= parameters.length;
    most.placeholder = isMeeting ? "500" : "2000";
    tolerance.placeholder = isMeeting ? "1e-9" : "1e-6";
    const method = !isMeeting ? "Simplex of Nelder and Mead, within the bounds." : unknowns.length > 1 || targets.length > 1 ? "Least squares: as many targets as parameters, or more." : "False position between the bounds: the value must be above the target at one end and below it at the other.";
    hint.textContent = `${method} A variable stands for its last value; other expressions: ${EXAMPLES}`;
    replace(lines, unknowns.map((u) => u.element));
    replace(aims, targets.map((t) => t.element));
    if (!isOfFile) file.value = written();
  };

  /** Shows what is wrong, each with its line of the file. @param {import("./store.js").Message[]} messages */
  const refuse = (messages) => {
    details.open = true;
    replace(said, messages.map((m) => h("p", { class: "error" }, `${m.place ? `line ${m.place.line}: ` : ""}${m.message}`, (m.hints ?? []).map((t) => h("span", { class: "hint" }, ` ${t}`)))));
  };

  const input = h("input", { type: "file", accept: ".toml", hidden: true, id: "study-open", onchange: async () => {
    const chosen = input.files?.[0];
    if (!chosen) return;
    const text = await chosen.text();
    input.value = "";
    await take(text);
  } });
  /** Shows a study file in the dialog. @param {string} text */
  const take = async (text) => {
    let found;
    try {
      found = await post("study", { text });
    } catch (error) {
      return refuse([{ severity: "error", message: /** @type {Error} */ (error).message }]);
    }
    file.value = text;
    isOfFile = true;
    if (found.messages) return refuse(found.messages);
    if (!found.goal) return refuse([{ severity: "error", message: "expected `search` or `optimize` in the study" }]);
    replace(said);
    kind.value = found.goal.kind;
    unknowns.length = targets.length = 0;
    for (const u of found.goal.unknowns) {
      const line = unknown(parameters, unknowns.length, changed);
      line.set(u);
      unknowns.push(line);
    }
    for (const t of found.goal.targets) {
      const line = target(targets.length, t.text, changed);
      line.wanted.value = String(t.value ?? 0);
      targets.push(line);
    }
    tolerance.value = String(found.goal.tolerance);
    most.value = String(found.goal.most);
    render();
    if (found.class && found.class !== opened.name) said.append(h("p", { class: "hint" }, `It is about ${found.class}.`));
    if (found.more.length) said.append(h("p", { class: "hint" }, `The file says more than this dialog shows (${found.more.join(", ")}). A change here writes it anew without that; files are written by saltus run alone.`));
  };

  const details = h("details", {}, h("summary", {}, "Study file"), file,
    h("div", { class: "buttons" }, h("button", { type: "button", id: "study-save", onclick: () => download(new Blob([file.value], { type: "application/toml" }), `${opened.name.split(".").pop()}-search.toml`) }, "Save…"),
      h("button", { type: "button", onclick: () => input.click() }, "Open…"), input));
  const dialog = h("dialog", { class: "dialog wide", id: "search-dialog", "aria-label": "Search" }, h("form", { method: "dialog", onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    try {
      const answer = await post("search", { class: opened.name, text: file.value });
      if (answer.messages) return refuse(answer.messages);
      dialog.close();
      emit("search-begun", answer.search);
    } catch (error) {
      refuse([{ severity: "error", message: /** @type {Refused} */ (error).message }]);
    }
  } }, h("h2", {}, "Search"), h("label", { class: "setting" }, "search to", kind), moreUnknowns, fewerUnknowns, lines, aims, moreTargets, fewerTargets,
    h("label", { class: "setting" }, "tolerance", tolerance), h("label", { class: "setting" }, "most runs", most), hint, details, said,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Search"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
  dialog.addEventListener("close", () => dialog.remove());
  render();
  document.body.append(dialog);
  dialog.showModal();
}
