// Borders between parts of the page that can be moved, by pointer and by keys.

import { h } from "./dom.js";

/**
 * @param {HTMLElement} root whose custom property is the size
 * @param {string} property @param {"x"|"y"} axis @param {number} sign 1 if the part grows with the coordinate
 * @param {[number, number]} limits @param {string} label @param {() => void} done
 */
export function splitter(root, property, axis, sign, limits, label, done) {
  const key = `saltus-${property}`;
  const set = (/** @type {number} */ size) => {
    const value = Math.max(limits[0], Math.min(limits[1], size));
    root.style.setProperty(property, `${value}px`);
    bar.setAttribute("aria-valuenow", String(Math.round(value)));
    localStorage.setItem(key, String(value));
    done();
  };
  const now = () => parseFloat(getComputedStyle(root).getPropertyValue(property)) || limits[0];
  const bar = h("div", { class: `splitter ${axis}`, role: "separator", tabindex: "0", "aria-label": label, "aria-orientation": axis === "x" ? "vertical" : "horizontal",
    onpointerdown: (/** @type {PointerEvent} */ e) => {
      e.preventDefault();
      bar.setPointerCapture(e.pointerId);
      const [start, size] = [axis === "x" ? e.clientX : e.clientY, now()];
      const move = (/** @type {PointerEvent} */ m) => set(size + sign * ((axis === "x" ? m.clientX : m.clientY) - start));
      bar.addEventListener("pointermove", move);
      bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), { once: true });
    },
    onkeydown: (/** @type {KeyboardEvent} */ e) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[e.key];
      if (step) {
        e.preventDefault();
        set(now() + sign * step * 16);
      }
    } });
  const kept = Number(localStorage.getItem(key));
  if (kept) set(kept);
  return bar;
}
