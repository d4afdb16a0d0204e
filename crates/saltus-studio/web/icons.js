// Icons of classes in the tree, asked for when they come into view.

import { getText } from "./api.js";
import { h } from "./dom.js";

/** @type {Map<string, Promise<string>>} */
const known = new Map();
/** @type {WeakMap<Element, string>} */
const wanted = new WeakMap();
const watcher = new IntersectionObserver((all) => {
  for (const { target, isIntersecting } of all) {
    const name = wanted.get(target);
    if (!isIntersecting || !name) continue;
    watcher.unobserve(target);
    put(target, name);
  }
}, { rootMargin: "100px" });

/** The address of a picture, empty if there is none. @param {string} name */
function address(name) {
  let found = known.get(name);
  if (!found) {
    found = getText("icon", { class: name }).then((text) => (text ? URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })) : "")).catch(() => "");
    known.set(name, found);
  }
  return found;
}

/** @param {Element} row @param {string} name */
async function put(row, name) {
  const source = await address(name);
  // A picture that is shown as an image runs nothing and loads nothing.
  if (source) row.querySelector(".badge")?.replaceWith(h("img", { class: "icon", src: source, alt: "", draggable: "false" }));
}

/** @param {import("./tree.js").Entry} entry @param {Element} row */
export function drawIcon(entry, row) {
  wanted.set(row, entry.full);
  watcher.observe(row);
}
