// Elements of the page. Texts become text nodes, never HTML.

/** @typedef {Node|string|number|null|undefined|false} Child */

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties] `class`, `title`, … are attributes, `on…` functions are listeners
 * @param {...(Child|Child[])} children
 * @returns {any}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  setAll(element, properties);
  append(element, children);
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child|Child[])} children
 * @returns {any}
 */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAll(element, properties);
  append(element, children);
  return element;
}

/** @param {Element} element @param {Record<string, any>} properties */
export function setAll(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) {
      if (!name.startsWith("on")) element.removeAttribute(name);
    } else if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "value") /** @type {any} */ (element).value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {Element} element @param {any[]} children */
export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** @param {Element} element @param {...any} children */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** A number as people read it. @param {number|null|undefined} value @param {number} [digits] */
export function show(value, digits = 6) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(0, digits - 2)).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

let timer = 0;

/** A short message at the lower edge. @param {string} text @param {"info"|"error"} [kind] */
export function notice(text, kind = "info") {
  let box = document.getElementById("notice");
  if (!box) {
    box = h("div", { id: "notice", role: "status", "aria-live": "polite" });
    document.body.append(/** @type {Node} */ (box));
  }
  const shown = /** @type {HTMLElement} */ (box);
  shown.textContent = text;
  shown.className = `shown ${kind}`;
  clearTimeout(timer);
  timer = window.setTimeout(() => (shown.className = ""), kind === "error" ? 6000 : 3000);
}

/** Saves something on the user's disk. @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** @template {(...a: any[]) => void} F @param {F} work @param {number} pause */
export function debounce(work, pause) {
  let waiting = 0;
  return (/** @type {any[]} */ ...all) => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => work(...all), pause);
  };
}

/**
 * Tabs that the arrow keys move through.
 * @param {{id: string, label: string, panel: HTMLElement}[]} tabs
 * @param {(id: string, byUser: boolean) => void} [chosen]
 */
export function tabs(tabs, chosen) {
  const buttons = tabs.map(({ id, label }) =>
    h("button", { role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, type: "button", onclick: () => choose(id, true) }, label));
  const bar = h("div", { class: "tabs", role: "tablist", onkeydown: (/** @type {KeyboardEvent} */ event) => {
    const at = buttons.findIndex((b) => b === document.activeElement);
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step && at >= 0) {
      const visible = buttons.filter((b) => !b.hidden);
      const next = visible[(visible.indexOf(buttons[at]) + step + visible.length) % visible.length];
      next.focus();
      next.click();
    }
  } }, buttons);
  /** @param {string} id @param {boolean} [byUser] */
  const choose = (id, byUser = false) => {
    tabs.forEach((tab, i) => {
      const is = tab.id === id;
      buttons[i].setAttribute("aria-selected", String(is));
      buttons[i].tabIndex = is ? 0 : -1;
      tab.panel.hidden = !is;
    });
    chosen?.(id, byUser);
  };
  tabs.forEach(({ id, panel }) => {
    panel.id = `panel-${id}`;
    panel.setAttribute("role", "tabpanel");
  });
  choose(tabs[0].id);
  return { bar, choose, label: (/** @type {string} */ id, /** @type {string} */ label) => {
    const at = tabs.findIndex((t) => t.id === id);
    buttons[at].textContent = label;
  }, show: (/** @type {string} */ id, /** @type {boolean} */ is) => {
    buttons[tabs.findIndex((t) => t.id === id)].hidden = !is;
  } };
}
