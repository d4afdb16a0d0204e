// Lines of tables that lead to a place in the text and to components of the diagram, with shares as bars.

import { h } from "./dom.js";
import { emit } from "./store.js";

/**
 * @typedef {{text: string, place?: import("./store.js").Place|null, names?: string[]}} Line
 */

/** `Ball.mo:8` @param {import("./store.js").Place|null|undefined} place */
export function placeText(place) {
  return place ? `${place.path.split("/").pop()}:${place.line}` : "";
}

/** The text and the diagram go to what a line is about. @param {Line} line */
export function lookAt(line) {
  // An equation without variables beside it names them in its text.
  const names = line.names?.length ? line.names : line.text.match(/[A-Za-z_][\w.[\]]*/g) ?? [];
  emit("look-at", { place: line.place ?? null, names });
}

/** A share as a bar with its number. @param {number} share */
export function bar(share) {
  const part = Math.max(0, Math.min(1, share));
  const fill = h("span", { class: "bar-fill" });
  fill.style.width = `${part * 100}%`;
  return h("span", { class: "share", title: `${(part * 100).toFixed(2)} %` }, h("span", { class: "bar-track" }, fill), h("span", { class: "number" }, `${(part * 100).toFixed(part < 0.0995 ? 1 : 0)} %`));
}

/**
 * A line that can be chosen with pointer and keyboard; `cells` are before the text, `after` behind it.
 * @param {Line} line @param {any[]} cells @param {any[]} [after]
 */
export function row(line, cells, after = []) {
  const choose = () => {
    element.parentElement?.querySelectorAll(".chosen").forEach((/** @type {Element} */ e) => e.classList.remove("chosen"));
    element.classList.add("chosen");
    lookAt(line);
  };
  const element = h("div", { class: "line-row", role: "button", tabindex: "0", title: line.text, onclick: choose, onkeydown: (/** @type {KeyboardEvent} */ e) => {
    if (e.key === "Enter" || e.key === " ") choose();
    else if (e.key === "ArrowDown") /** @type {HTMLElement|null} */ (element.nextElementSibling)?.focus();
    else if (e.key === "ArrowUp") /** @type {HTMLElement|null} */ (element.previousElementSibling)?.focus();
    else return;
    e.preventDefault();
  } }, cells, h("span", { class: "line-text" }, line.text), after, h("span", { class: "hint line-place" }, placeText(line.place)));
  return element;
}
