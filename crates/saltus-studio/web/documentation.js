// The documentation of a class: its HTML, cleaned by the server, in a frame that runs nothing.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { emit, on, store } from "./store.js";

export class Documentation {
  constructor() {
    this.element = h("div", { class: "fill column" });
    this.isShown = false;
    on("opened", () => this.isShown && this.load());
  }

  async load() {
    const opened = store.current;
    if (!opened) return;
    const { info, revisions } = await get("documentation", { class: opened.name });
    if (store.current?.name !== opened.name) return;
    if (!info && !revisions) return replace(this.element, h("p", { class: "empty" }, opened.description || "The class has no documentation."));
    // No scripts: the sandbox does not allow them, and neither does the content policy.
    const frame = h("iframe", { sandbox: "allow-same-origin", title: `Documentation of ${opened.name}`, class: "fill" });
    const theme = document.documentElement.dataset.theme ?? "";
    const title = document.createElement("h1");
    title.textContent = opened.name;
    const about = document.createElement("p");
    about.textContent = opened.description;
    const before = new XMLSerializer().serializeToString(title) + new XMLSerializer().serializeToString(about);
    frame.srcdoc = `<!doctype html><html data-theme="${theme}"><head><meta charset="utf-8"><link rel="stylesheet" href="/documentation.css"></head><body>${before}${info ?? ""}${revisions ? `<h4>Revisions</h4>${revisions}` : ""}</body></html>`;
    frame.addEventListener("load", () => {
      for (const link of frame.contentDocument?.querySelectorAll("a[href^='modelica:']") ?? []) {
        link.addEventListener("click", (/** @type {Event} */ event) => {
          event.preventDefault();
          const written = /** @type {string} */ (link.getAttribute("href")).replace(/^modelica:\/+/, "").split("#")[0];
          emit("open", { name: decoded(written) });
        });
      }
      // The frame shows nothing from elsewhere; a window of its own does, and knows nothing of this one.
      for (const link of frame.contentDocument?.querySelectorAll("a[href^='http:'], a[href^='https:']") ?? []) {
        link.addEventListener("click", (/** @type {Event} */ event) => {
          event.preventDefault();
          window.open(/** @type {string} */ (link.getAttribute("href")), "_blank", "noopener,noreferrer");
        });
      }
    });
    replace(this.element, frame);
  }
}

/** Text with `%41` for `A`; as it is written if that makes no sense. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
