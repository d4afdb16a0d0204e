// Names of the language: dots and brackets in quotes are letters.

/** The parts of a qualified name. @param {string} name @returns {string[]} */
export function parts(name) {
  return name.match(/(?:'(?:[^'\\]|\\.)*'|[^.'])+/g) ?? [name];
}

/** The name of the component that a path begins with. @param {string} path */
export function first(path) {
  return /^\s*('(?:[^'\\]|\\.)*'|[^.[]*)/.exec(path)?.[1] ?? path;
}
