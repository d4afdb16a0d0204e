// The keys, shown by F1 or `?`.

import { h } from "./dom.js";

/** @type {[string, [string, string][]][]} */
const KEYS = [
  ["Everywhere", [["Ctrl+Enter", "Run"], ["Ctrl+S", "Save"], ["Ctrl+Z, Ctrl+Shift+Z", "Undo, redo"], ["Ctrl+K", "Search a class"], ["Ctrl+Shift+F", "Standard layout of the text"], ["F1", "These keys"]]],
  ["Library", [["↑ ↓", "Next class"], ["→ ←", "Open, close a package"], ["Enter", "Show the class"], ["Insert, A", "Add it to the diagram as a component"]]],
  ["Diagram", [["Space, Tab", "Select the first, the next component"], ["Arrows", "Move what is selected, or the picture"], ["C", "Connect: arrows and Tab choose a connector, Enter takes it, Esc gives up"],
    ["Enter", "Parameters"], ["R", "Turn"], ["F2", "Rename"], ["Delete", "Delete"], ["0 + −", "Show everything, zoom in, zoom out"], ["Esc", "Select nothing"]]],
];

export function openHelp() {
  if (document.getElementById("help-dialog")) return;
  const dialog = h("dialog", { class: "dialog", id: "help-dialog", "aria-label": "Keys" }, h("form", { method: "dialog" }, h("h2", {}, "Keys"),
    KEYS.map(([where, keys]) => h("table", { class: "keys" }, h("caption", {}, where), keys.map(([key, does]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, does))))),
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Close"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
