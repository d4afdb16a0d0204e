// The search of the documentation: words of names and descriptions, best first. The list of classes is loaded
// when the field is entered, by a script element, because pages from the file system cannot fetch.
"use strict";

(() => {
  const field = document.getElementById("search");
  const found = document.getElementById("found");
  const MOST = 40;
  let isAsked = false;
  let chosen = -1;

  const load = () => {
    if (isAsked) return;
    isAsked = true;
    const script = document.createElement("script");
    script.src = "search.js";
    document.head.append(script);
  };

  /** How well a class fits: 0 is not at all. */
  const score = (name, description, words) => {
    const lower = name.toLowerCase();
    const last = lower.slice(lower.lastIndexOf(".") + 1);
    let sum = 0;
    for (const word of words) {
      if (last === word) sum += 100;
      else if (last.startsWith(word)) sum += 60;
      else if (last.includes(word)) sum += 40;
      else if (lower.includes(word)) sum += 20;
      else if (description.toLowerCase().includes(word)) sum += 10;
      else return 0;
    }
    return sum - lower.split(".").length;
  };

  const choose = (at) => {
    const lines = found.children;
    if (lines[chosen]) lines[chosen].classList.remove("chosen");
    chosen = Math.max(-1, Math.min(at, lines.length - 1));
    if (lines[chosen]) {
      lines[chosen].classList.add("chosen");
      lines[chosen].scrollIntoView({ block: "nearest" });
    }
  };

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const classes = window.saltusClasses || [];
    const hits = [];
    if (words.length > 0) {
      for (const [name, file, description] of classes) {
        const points = score(name, description, words);
        if (points > 0) hits.push({ points, name, file, description });
      }
    }
    hits.sort((a, b) => b.points - a.points || a.name.length - b.name.length || (a.name < b.name ? -1 : 1));
    found.replaceChildren(
      ...hits.slice(0, MOST).map(({ name, file, description }) => {
        const line = document.createElement("li");
        const link = document.createElement("a");
        const hint = document.createElement("small");
        link.href = file;
        link.textContent = name;
        hint.textContent = description;
        link.append(hint);
        line.append(link);
        return line;
      }),
    );
    found.hidden = hits.length === 0;
    chosen = -1;
    if (hits.length > 0) choose(0);
  };

  window.saltusFound = show;
  field.addEventListener("focus", load);
  field.addEventListener("input", () => {
    load();
    show();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") found.children[chosen]?.querySelector("a")?.click();
    else if (event.key === "Escape") {
      found.hidden = true;
      field.blur();
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = document.activeElement instanceof HTMLInputElement;
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      field.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!found.contains(event.target) && event.target !== field) found.hidden = true;
  });
})();
