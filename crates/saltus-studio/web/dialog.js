// The dialog of parameters: by tab and group, defaults grey, changed ones marked; what is entered is written into the model.

import { get } from "./api.js";
import { h, notice, replace, show, tabs } from "./dom.js";
import { currentValues, emit, on } from "./store.js";
import { displayed, entered, isPlain } from "./units.js";

/** @typedef {{name: string, description: string, type: string, base: string, tab: string, group: string, unit: string, value: string, default: string,
 *   evaluated: string, display: {unit: string, factor: number, offset: number}|null, modified: boolean, final: boolean, enabled: boolean|null, choices: {value: string, label: string}[], dimensions: string[]}} Entry */

/** Parameters that a run of the open class can set. @type {Set<string>} */
let settable = new Set();
on("parameters", (names) => (settable = new Set(names)));

/**
 * @param {string} name the class that is shown
 * @param {{name: string, class: string, description: string}|null} component
 * @param {(values: {path: string, value: string|null}[]) => Promise<boolean>} modify in one step
 */
export async function openDialog(name, component, modify) {
  let found;
  try {
    found = await get("dialog", { class: name, component: component?.name ?? "" });
  } catch (error) {
    return notice(/** @type {Error} */ (error).message, "error");
  }
  /** @type {Entry[]} */
  const all = found.parameters;
  /** @type {Map<string, string|null>} */
  const changes = new Map();
  const pages = [...new Set(all.map((p) => p.tab))].map((tab, i) => ({ id: `dialog-${i}`, label: tab, panel: page(all.filter((p) => p.tab === tab), changes) }));
  const body = h("div", { class: "dialog-body" });
  if (pages.length) {
    const { bar } = tabs(pages);
    append(body, pages.length > 1 ? [bar] : [], pages.map((p) => p.panel));
  } else replace(body, h("p", { class: "empty" }, "There are no parameters."));
  const dialog = h("dialog", { class: "dialog wide", id: "parameter-dialog", "aria-label": "Parameters" }, h("form", { method: "dialog", onsubmit: async () => {
    if (changes.size) await modify([...changes].map(([path, value]) => ({ path: component ? `${component.name}.${path}` : path, value })));
  } }, h("h2", {}, component ? component.name : name), h("p", { class: "hint" }, component ? `${component.class}${component.description ? ` – ${component.description}` : ""}` : ""), body,
    h("div", { class: "buttons" }, component && h("button", { type: "button", onclick: () => { dialog.close(); emit("open", { name: component.class }); } }, "Open class"), h("span", { class: "spring" }),
      h("button", { type: "button", id: "dialog-next-run", title: "Use these values for the next run; the text stays as it is", onclick: () => forNextRun(component, all, changes, dialog) }, "Next run"),
      h("button", { type: "submit", class: "primary" }, "Write"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * What was entered becomes values for the next run, as far as it is plain numbers, truth values and literals of parameters that a run can set.
 * @param {{name: string}|null} component @param {Entry[]} all @param {Map<string, string|null>} changes @param {any} dialog
 */
function forNextRun(component, all, changes, dialog) {
  const values = currentValues();
  const refused = [];
  for (const [path, text] of changes) {
    const entry = all.find((p) => p.name === path);
    const name = component ? `${component.name}.${path}` : path;
    const literal = entry?.choices.length && text ? text.split(".").pop() ?? text : text;
    const isPlain = literal !== null && (Number.isFinite(Number(literal)) || literal === "true" || literal === "false" || !!entry?.choices.some((c) => c.value === text));
    if (text === null) values.delete(name);
    else if (isPlain && settable.has(name)) values.set(name, /** @type {string} */ (Number.isFinite(Number(text)) ? text : literal));
    else refused.push(name);
  }
  emit("next-run");
  if (refused.length) return notice(`Only Write can set ${refused.join(", ")}: a run takes plain values of parameters that are not final`, "error");
  dialog.close();
}

/** Enter in a list of choices means the dialog, as it does in other fields. @param {KeyboardEvent} event */
function submits(event) {
  if (event.key !== "Enter") return;
  event.preventDefault();
  /** @type {any} */ (event.target).form.requestSubmit();
}

/**
 * Which elements of arrays a connection means.
 * @param {string} why @param {{end: string, texts: string[], sizes: (number|null)[]}[]} elements
 * @param {(chosen: Record<string, string>) => void} done names of the ends that have got indices
 */
export function askElements(why, elements, done) {
  const lines = elements.map(({ end, texts, sizes }) => {
    const fields = sizes.map((size, i) => (size === null || size > 100 ? h("input", { type: "text", class: "number", value: "1", "aria-label": `Index ${i + 1}` })
      : h("select", { "aria-label": `Index ${i + 1}`, onkeydown: submits }, Array.from({ length: size }, (_, k) => h("option", { value: k + 1 }, String(k + 1))))));
    return { end, fields, line: h("p", { class: "element" }, texts.map((text, i) => [text, fields[i]])), name: () => texts.map((text, i) => text + (fields[i]?.value.trim() ?? "")).join("") };
  });
  const dialog = h("dialog", { class: "dialog", id: "element-dialog", "aria-label": "Element" }, h("form", { method: "dialog", onsubmit: () => done(Object.fromEntries(lines.map((l) => [l.end, l.name()]))) },
    h("h2", {}, "Connect which element?"), h("p", { class: "hint" }, why), lines.map((l) => l.line),
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Connect"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  lines[0]?.fields[0]?.focus();
}

/** A small dialog with one line of text. @param {string} title @param {string} text @param {(text: string) => void} done */
export function askName(title, text, done) {
  const input = h("input", { type: "text", value: text, id: "name-input", "aria-label": "Name", spellcheck: "false" });
  const dialog = h("dialog", { class: "dialog", id: "name-dialog", "aria-label": title }, h("form", { method: "dialog", onsubmit: () => input.value.trim() && done(input.value.trim()) }, h("h2", {}, title), input,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Rename"), h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  input.select();
}

/** @param {HTMLElement} into @param {...any[]} lists */
function append(into, ...lists) {
  for (const list of lists) into.append(...list);
}

/** @param {Entry[]} all @param {Map<string, string|null>} changes */
function page(all, changes) {
  const groups = [...new Set(all.map((p) => p.group))];
  return h("div", { class: "parameters dialog-page" }, groups.map((group) => h("fieldset", {}, h("legend", {}, group), all.filter((p) => p.group === group).map((p) => field(p, changes)))));
}

/** @param {Entry} p @param {Map<string, string|null>} changes */
function field(p, changes) {
  const id = `dialog-${p.name}`;
  const isOff = p.final || p.enabled === false;
  // Numbers are shown and entered in the unit of display; an expression stays as it is written.
  const shown = (/** @type {string} */ text) => (p.display && isPlain(text) ? show(displayed(p.display, Number(text)), 12) : text);
  const given = p.modified ? shown(p.value) : "";
  const unit = h("span", { class: "unit" });
  const tellUnit = (/** @type {string} */ text) => (unit.textContent = p.display && isPlain(text) ? p.display.unit : p.unit);
  tellUnit(p.value || p.default);
  const set = (/** @type {any} */ element, /** @type {string} */ text) => {
    if (text === given) changes.delete(p.name);
    else changes.set(p.name, text === "" ? null : p.display && isPlain(text) ? entered(p.display, text) : text);
    tellUnit(text || p.default);
    element.closest(".field").classList.toggle("changed", text !== "");
  };
  let control;
  if (p.choices.length || p.base === "Boolean") {
    const choices = p.choices.length ? p.choices : [{ value: "false", label: "false" }, { value: "true", label: "true" }];
    control = h("select", { id, disabled: isOff, onchange: (/** @type {any} */ e) => set(e.target, e.target.value) }, h("option", { value: "", selected: !p.modified }, p.default || p.value || "–"),
      choices.map((c) => h("option", { value: c.value, selected: p.modified && p.value === c.value }, c.label || c.value)));
  } else control = h("input", { id, type: "text", disabled: isOff, value: given, placeholder: shown(p.modified ? p.default : p.value || p.default), spellcheck: "false", oninput: (/** @type {any} */ e) => set(e.target, e.target.value.trim()) });
  return h("div", { class: `field${p.modified ? " changed" : ""}`, title: [p.type, p.evaluated && p.evaluated !== p.value ? `= ${p.evaluated} ${p.unit}`.trim() : ""].filter(Boolean).join("\n") },
    h("label", { for: id }, p.name, p.dimensions.length ? `[${p.dimensions.join(", ")}]` : ""), control, unit, h("span", { class: "hint" }, p.description));
}
