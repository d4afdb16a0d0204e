// The text of a document: a text area over its coloured copy, of which only the visible lines exist.
//
// The server has the document; what is typed goes there as edits of a version. Edits of others come back and are merged with what was typed since.

import { get, post, Refused } from "./api.js";
import { debounce, h, notice, replace } from "./dom.js";
import { difference, moved, rebase, shiftOf } from "./merge.js";
import { emit, on, store } from "./store.js";

const LINE = 18;

export class Editor {
  constructor() {
    this.path = "";
    /** What the server has. */
    this.known = "";
    this.version = 0;
    /** The newest version that the server has told of; more than `version` while its text has not been asked for. */
    this.heardVersion = 0;
    this.isSending = false;
    /** @type {[number, number, string, boolean][]} */
    this.words = [];
    /** @type {any[]} */
    this.problems = [];
    /** @type {{start: number, end: number}|null} */
    this.marked = null;
    /** @type {number[]} */
    this.starts = [0];
    this.area = h("textarea", {
      class: "code input", spellcheck: "false", wrap: "off", autocapitalize: "off", autocomplete: "off", "aria-label": "Text of the model",
      oninput: () => this.typed(), onscroll: () => this.paint(), onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
      onclick: (/** @type {MouseEvent} */ e) => { this.closeList(); if (e.ctrlKey || e.metaKey) this.define(); },
      onmousemove: (/** @type {MouseEvent} */ e) => this.pointed(e), onmouseleave: () => this.unpoint(), onblur: () => setTimeout(() => this.closeList(), 150),
    });
    this.lines = h("div", { class: "code lines", "aria-hidden": "true" });
    this.gutter = h("div", { class: "code gutter", "aria-hidden": "true" });
    this.list = h("div", { class: "completion", role: "listbox", hidden: true });
    this.tip = h("div", { class: "tip", role: "tooltip", hidden: true });
    this.element = h("div", { class: "editor fill" }, this.gutter, h("div", { class: "pane" }, this.lines, this.area, this.list, this.tip));
    new ResizeObserver(() => this.paint()).observe(this.element);
    this.colourSoon = debounce(() => this.colour(), 60);
    this.hoverSoon = debounce((/** @type {number} */ x, /** @type {number} */ y) => this.hover(x, y), 350);
    on("document", (status) => this.heard(status));
    on("problems", (news) => this.heardProblems(news));
  }

  /** @param {import("./store.js").OpenClass} opened */
  show(opened) {
    const isSame = this.path === opened.document.path;
    this.path = opened.document.path;
    if (!isSame) {
      this.problems = [];
      this.words = [];
      this.take(opened.text, opened.document.version);
      this.heardVersion = 0;
      this.area.value = opened.text;
      this.measure();
    }
    this.area.readOnly = !!opened.document.readOnly;
    this.marked = null;
    this.goTo(opened.start, opened.start, false);
    this.colour();
  }

  /** @param {string} text @param {number} version */
  take(text, version) {
    this.known = text;
    this.version = version;
  }

  /** Waits until the server has what was typed. */
  async settled() {
    while (this.isSending) await new Promise((go) => setTimeout(go, 5));
  }

  measure() {
    const text = this.area.value;
    this.starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
    this.paint();
  }

  typed() {
    const before = this.shown ?? this.known;
    const edit = difference(before, this.area.value);
    this.shift(edit);
    this.measure();
    this.send();
    const at = this.area.selectionStart;
    if (!this.list.hidden || /[\w.]/.test(this.area.value[at - 1] ?? "")) this.completeSoon();
  }

  completeSoon = debounce(() => {
    const at = this.area.selectionStart;
    const before = this.area.value.slice(Math.max(0, at - 2), at);
    if (!this.list.hidden || before.endsWith(".") || /\w\w$/.test(before)) this.complete(false);
  }, 120);

  /** Moves what was said about the text along with it. @param {{start: number, end: number, text: string}} edit */
  shift(edit) {
    this.words = this.words.filter(([s, n]) => s + n <= edit.start || s >= edit.end).map(([s, n, k, d]) => [moved(s, edit), n, k, d]);
    this.problems = this.problems.filter((p) => p.end <= edit.start || p.start >= edit.end).map((p) => ({ ...p, start: moved(p.start, edit), end: moved(p.end, edit) }));
    this.marked = null;
    this.shown = this.area.value;
  }

  /**
   * Brings the text here and that of the server together. Only one call at a time does: it sends what was typed, one edit after the other, and asks
   * for what others wrote meanwhile.
   */
  async send() {
    if (this.isSending) return;
    this.isSending = true;
    while (this.path && (this.heardVersion > this.version || this.area.value !== this.known)) {
      const path = this.path;
      try {
        if (this.heardVersion > this.version) await this.fetch(path);
        else await this.sendEdit(path);
      } catch (error) {
        if (this.path !== path) continue;
        if (error instanceof Refused && error.status === 409) this.merge(error.body.text, error.body.version);
        else if (error instanceof Refused && [400, 403].includes(error.status)) {
          notice(error.message, "error");
          this.replaceText(this.known);
        } else {
          // The server is gone, or another one does not know the document yet; what was typed stays here and is sent when it is back.
          if (error instanceof Refused && error.status === 404) this.heardVersion = Infinity;
          await new Promise((go) => setTimeout(go, 800));
        }
      }
    }
    this.isSending = false;
  }

  /** @param {string} path */
  async sendEdit(path) {
    const text = this.area.value;
    const status = await post("edit", { path, version: this.version, ...difference(this.known, text), class: store.current?.name });
    if (this.path !== path) return;
    this.take(text, status.version);
    emit("status", status);
    this.colourSoon();
  }

  /** @param {string} path */
  async fetch(path) {
    this.heardVersion = 0;
    let document;
    try {
      document = await get("document", { path });
    } catch (error) {
      if (this.path === path) this.heardVersion = Infinity;
      if (!(error instanceof Refused && error.status === 404 && store.current)) throw error;
      // A server that was started anew does not know the document yet.
      const opened = await get("class", { name: store.current.name });
      this.heardVersion = 0;
      document = { ...opened.document, text: opened.text };
    }
    if (this.path !== path) return;
    if (document.version !== this.version || document.text !== this.known) this.merge(document.text, document.version);
    emit("status", document);
  }

  /** A text of the server that is newer than what is known. @param {string} text @param {number} version */
  merge(text, version) {
    const merged = rebase(this.known, this.area.value, text);
    this.take(text, version);
    this.replaceText(merged);
  }

  /** @param {string} text */
  replaceText(text) {
    const old = this.area.value;
    if (old === text) return;
    const edit = difference(old, text);
    const [from, to, top, left] = [this.area.selectionStart, this.area.selectionEnd, this.area.scrollTop, this.area.scrollLeft];
    this.area.value = text;
    this.area.setSelectionRange(moved(from, edit), moved(to, edit));
    [this.area.scrollTop, this.area.scrollLeft] = [top, left];
    this.shift(edit);
    this.measure();
    this.colourSoon();
  }

  /** @param {import("./store.js").DocumentStatus} status */
  heard(status) {
    if (status.path !== this.path) return;
    this.heardVersion = Math.max(this.heardVersion, status.version);
    this.send();
  }

  /** Asks for the present text, whatever version it is: a server that was started anew counts from another number. */
  async refresh() {
    this.heardVersion = Infinity;
    await this.send();
  }

  /** @param {"undo"|"redo"|"save"|"reload"|"format"} what @param {any} [more] */
  async command(what, more = {}) {
    await this.settled();
    try {
      const status = await post(what, { path: this.path, class: store.current?.name, ...more });
      if (status.text !== undefined) {
        if (status.version > this.version) this.merge(status.text, status.version);
        if (status.place && !this.element.hidden) this.goTo(status.place[1], status.place[1], false);
      }
      emit("status", status);
      if (what === "save") notice("Saved");
      if (what === "reload") await this.refresh();
    } catch (error) {
      if (error instanceof Refused && error.status === 409 && what === "save") emit("changed-on-disk", this.path);
      else notice(/** @type {Error} */ (error).message, "error");
    }
  }

  async colour() {
    const path = this.path;
    const { version, words } = await get("highlight", { path });
    if (path !== this.path || version !== this.version || this.area.value !== this.known) return;
    this.words = words;
    this.paint();
  }

  /** @param {any} news */
  heardProblems(news) {
    if (news.path !== this.path || news.version !== this.version) return;
    this.problems = news.problems;
    emit("own-problems", news);
    this.paint();
  }

  /** The line of a place, from 0. @param {number} at */
  line(at) {
    let [low, high] = [0, this.starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= at) low = middle;
      else high = middle;
    }
    return low;
  }

  paint() {
    const height = this.area.clientHeight;
    if (!height) return;
    const { scrollTop, scrollLeft } = this.area;
    const first = Math.max(0, Math.floor(scrollTop / LINE) - 2);
    const last = Math.min(this.starts.length, first + Math.ceil(height / LINE) + 5);
    const text = this.area.value;
    const from = this.starts[first];
    const to = last < this.starts.length ? this.starts[last] : text.length;
    let word = this.words.findIndex(([s, n]) => s + n > from);
    if (word < 0) word = this.words.length;
    const rows = [];
    const numbers = [];
    const current = this.line(this.area.selectionStart);
    for (let line = first; line < last; line++) {
      const start = this.starts[line];
      const end = line + 1 < this.starts.length ? this.starts[line + 1] - 1 : text.length;
      const problem = this.problems.filter((p) => p.start <= end && p.end >= start).sort((a, b) => (a.severity === "error" ? -1 : 1))[0];
      const row = h("div", { class: line === current ? "line current" : "line" });
      let at = start;
      while (word > 0 && this.words[word - 1][0] + this.words[word - 1][1] > start) word--;
      for (; word < this.words.length && this.words[word][0] < end; word++) {
        const [s, n, kind, isDeclared] = this.words[word];
        const [b, e] = [Math.max(s, start), Math.min(s + n, end)];
        if (b > at) row.append(text.slice(at, b));
        if (e > b) row.append(h("span", { class: `w-${kind}${isDeclared ? " declared" : ""}` }, text.slice(b, e)));
        at = Math.max(at, e);
        if (s + n > end) break;
      }
      if (at < end) row.append(text.slice(at, end));
      for (const p of this.problems) {
        if (p.start > end || p.end < start) continue;
        this.mark(row, Math.max(p.start, start) - start, Math.max(Math.min(p.end, end) - start, Math.max(p.start, start) - start + 1), p.severity);
      }
      if (this.marked && this.marked.start <= end && this.marked.end >= start) {
        row.classList.add("marked");
      }
      rows.push(row);
      numbers.push(h("div", { class: problem ? `line ${problem.severity}` : "line" }, line + 1));
    }
    replace(this.lines, rows);
    replace(this.gutter, numbers);
    this.lines.style.transform = `translate(${-scrollLeft}px, ${first * LINE - scrollTop}px)`;
    this.gutter.style.transform = `translateY(${first * LINE - scrollTop}px)`;
  }

  /** @param {HTMLElement} row @param {number} from @param {number} to @param {string} kind */
  mark(row, from, to, kind) {
    const mark = h("span", { class: `squiggle ${kind}` });
    mark.style.left = `calc(${from}ch + 6px)`;
    mark.style.width = `${Math.max(1, to - from)}ch`;
    row.append(mark);
  }

  /** @param {number} start @param {number} end @param {boolean} [focus] */
  goTo(start, end, focus = true) {
    this.area.setSelectionRange(start, end);
    const line = this.line(start);
    const height = this.area.clientHeight || 400;
    if (line * LINE < this.area.scrollTop || (line + 2) * LINE > this.area.scrollTop + height) this.area.scrollTop = Math.max(0, line * LINE - height / 3);
    if (focus) this.area.focus();
    this.paint();
  }

  /** Marks where something happened. @param {import("./store.js").Place} place */
  point(place) {
    const by = shiftOf(place, this.area.value, this.starts);
    if (by === null) {
      this.marked = null;
      notice(`Line ${place.line} was changed since the run: ${place.text?.trim()}`, "error");
      return this.goTo(this.starts[Math.min(place.line, this.starts.length) - 1], this.starts[Math.min(place.line, this.starts.length) - 1], false);
    }
    this.marked = { start: place.start + by, end: place.end + by };
    this.goTo(place.start + by, place.start + by, false);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (!this.list.hidden && ["ArrowDown", "ArrowUp", "Enter", "Tab", "Escape"].includes(event.key)) {
      event.preventDefault();
      event.stopPropagation();
      this.listKey(event.key);
    } else if (control && key === "z" && !event.shiftKey) {
      event.preventDefault();
      this.command("undo");
    } else if (control && (key === "y" || key === "z")) {
      event.preventDefault();
      this.command("redo");
    } else if (control && event.key === " ") {
      event.preventDefault();
      this.complete(true);
    } else if (event.key === "F12") {
      event.preventDefault();
      this.define();
    } else if (event.key === "Tab" && !event.shiftKey && !this.area.readOnly) {
      event.preventDefault();
      this.insert("  ");
    } else if (event.key === "Enter" && !control && !this.area.readOnly) {
      event.preventDefault();
      const line = this.line(this.area.selectionStart);
      const indent = /^ */.exec(this.area.value.slice(this.starts[line], this.area.selectionStart))?.[0] ?? "";
      this.insert(`\n${indent}`);
    }
    requestAnimationFrame(() => this.paint());
  }

  /** @param {string} text @param {number} [from] @param {number} [to] */
  insert(text, from = this.area.selectionStart, to = this.area.selectionEnd) {
    this.area.setRangeText(text, from, to, "end");
    this.typed();
    this.goTo(this.area.selectionStart, this.area.selectionStart);
  }

  /** @param {boolean} isAsked */
  async complete(isAsked) {
    await this.settled();
    const at = this.area.selectionStart;
    const found = await get("complete", { path: this.path, offset: at });
    if (this.area.selectionStart !== at) return;
    const begun = this.area.value.slice(found.start, at).toLowerCase();
    const items = found.items.filter((/** @type {any} */ i) => i.label.toLowerCase().startsWith(begun)).sort((/** @type {any} */ a, /** @type {any} */ b) => a.rank - b.rank).slice(0, 60);
    if (!items.length || (!isAsked && items.length === 1 && items[0].label === this.area.value.slice(found.start, at))) return this.closeList();
    this.found = { ...found, items };
    this.chosen = 0;
    const line = this.line(found.start);
    replace(this.list, items.map((/** @type {any} */ item, /** @type {number} */ i) => h("div", { class: "item", role: "option", onmousedown: (/** @type {Event} */ e) => { e.preventDefault(); this.take_(i); } },
      h("span", { class: `w-${item.kind}` }, item.label), h("span", { class: "hint" }, item.detail || item.description))));
    const x = (found.start - this.starts[line]) * this.letter() + 6 - this.area.scrollLeft;
    const y = (line + 1) * LINE - this.area.scrollTop;
    this.list.style.left = `${Math.max(0, Math.min(x, this.area.clientWidth - 330))}px`;
    const isBelow = y + 210 < this.area.clientHeight;
    this.list.style.top = isBelow ? `${y}px` : "";
    this.list.style.bottom = isBelow ? "" : `${this.area.clientHeight - y + LINE}px`;
    this.list.hidden = false;
    this.listKey("");
  }

  letter() {
    if (!this.width) {
      const probe = h("span", { class: "code probe" }, "0".repeat(100));
      document.body.append(probe);
      this.width = probe.getBoundingClientRect().width / 100;
      probe.remove();
    }
    return this.width;
  }

  /** @param {string} key */
  listKey(key) {
    const n = this.found?.items.length ?? 0;
    if (key === "Escape") return this.closeList();
    if (key === "Enter" || key === "Tab") return this.take_(this.chosen ?? 0);
    if (key === "ArrowDown") this.chosen = ((this.chosen ?? 0) + 1) % n;
    if (key === "ArrowUp") this.chosen = ((this.chosen ?? 0) + n - 1) % n;
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === this.chosen)));
    this.list.children[this.chosen ?? 0]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} i */
  take_(i) {
    const item = this.found?.items[i];
    this.closeList();
    if (item) this.insert(item.label, this.found.start, this.area.selectionStart);
    this.closeList();
  }

  closeList() {
    this.list.hidden = true;
  }

  async define() {
    const found = await get("definition", { path: this.path, offset: this.area.selectionStart });
    if (found?.class) emit("open", { name: found.class, place: found });
    else if (found?.path === this.path) this.goTo(found.start, found.end);
    else notice("No definition here");
  }

  /** @param {MouseEvent} event */
  pointed(event) {
    this.tip.hidden = true;
    const box = this.area.getBoundingClientRect();
    this.hoverSoon(event.clientX - box.left, event.clientY - box.top);
    this.isPointed = true;
  }

  unpoint() {
    this.isPointed = false;
    this.tip.hidden = true;
  }

  /** @param {number} x @param {number} y */
  async hover(x, y) {
    if (!this.isPointed) return;
    const line = Math.floor((y + this.area.scrollTop) / LINE);
    if (line >= this.starts.length) return;
    const end = line + 1 < this.starts.length ? this.starts[line + 1] - 1 : this.area.value.length;
    const at = this.starts[line] + Math.floor((x + this.area.scrollLeft - 6) / this.letter());
    if (at >= end || at < this.starts[line]) return;
    const problems = this.problems.filter((p) => p.start <= at && at <= p.end);
    const found = problems.length || this.area.value !== this.known ? null : await get("hover", { path: this.path, offset: at });
    if (!this.isPointed || (!found && !problems.length)) return;
    const pieces = problems.map((p) => h("p", { class: p.severity }, `${p.code}: ${p.message}`));
    if (found) pieces.push(...markdown(found.text));
    replace(this.tip, pieces);
    this.tip.hidden = false;
    const top = (line + 1) * LINE - this.area.scrollTop + 2;
    this.tip.style.left = `${Math.max(0, Math.min(x, this.area.clientWidth - 380))}px`;
    this.tip.style.top = top + this.tip.offsetHeight > this.area.clientHeight ? `${Math.max(0, top - LINE - this.tip.offsetHeight - 4)}px` : `${top}px`;
  }
}

/** The little of Markdown that hovers use: code and paragraphs. @param {string} text */
function markdown(text) {
  return text.split(/```/).flatMap((piece, i) => {
    if (i % 2) return [h("pre", {}, piece.replace(/^modelica\n/, "").trim())];
    return piece.split(/\n\s*\n/).map((p) => p.trim()).filter(Boolean).map((p) => h("p", {}, p.replace(/`/g, "")));
  });
}
