// What the parts of the page share, and how they learn of changes.

/**
 * @typedef {{path: string, version: number, dirty: boolean, readOnly: string|null, undo: string|null, redo: string|null,
 *   changedOnDisk: boolean}} DocumentStatus
 * @typedef {{name: string, words: string, description: string, start: number, end: number, line: number, simulates: boolean,
 *   document: DocumentStatus, text: string}} OpenClass
 * @typedef {{id: number, class: string, phase: string, group: string|null, live: boolean, values: [string, string][], changes?: [string, number, number][], time: number|null,
 *   start: number|null, stop: number|null, steps: number|null, rows: number, events: number, messages: Message[], seconds: number,
 *   reference?: boolean, profile?: boolean, configurations?: number, visible?: boolean, isKnown?: boolean, hasFailed?: boolean}} Run
 * @typedef {{path: string, line: number, column: number, start: number, end: number, text?: string, lineStart?: number,
 *   nth?: number, alike?: number}} Place
 * @typedef {{code?: string, severity: string, message: string, notes?: string[], hints?: string[], place?: Place|null}} Message
 * @typedef {{name: string, kind: string, unit?: string, description?: string, display?: {unit: string, factor: number, offset: number}|null,
 *   difference?: boolean, literals?: string[]|null, value?: number|null, hidden?: boolean, settable?: boolean}} Variable
 */

export const store = {
  /** @type {OpenClass|null} */
  current: null,
  /** @type {Map<number, Run>} */
  runs: new Map(),
  /** Whose variables are shown. @type {Run|null} */
  run: null,
  /** By name. @type {Map<string, Variable>} */
  variables: new Map(),
  /** Texts of the model of the run, by name. @type {Map<string, string>} */
  texts: new Map(),
  /** Values for the next run, by class and name. @type {Map<string, Map<string, string>>} */
  values: new Map(),
  /** Experiment settings that differ from those of the model, by class. @type {Map<string, any>} */
  settings: new Map(),
  isConnected: true,
  /** Earlier runs stay in the plots when another one is started. */
  overlays: false,
  /** The runs of the server are known. */
  isLoaded: false,
};

/** @type {Map<string, ((detail: any) => void)[]>} */
const listeners = new Map();

/** @param {string} event @param {(detail: any) => void} work */
export function on(event, work) {
  listeners.set(event, [...(listeners.get(event) ?? []), work]);
}

/** @param {string} event @param {any} [detail] */
export function emit(event, detail) {
  for (const work of listeners.get(event) ?? []) work(detail);
}

/** Values of the current class for the next run. */
export function currentValues() {
  const name = store.current?.name ?? "";
  let values = store.values.get(name);
  if (!values) store.values.set(name, (values = new Map()));
  return values;
}

/** Runs whose curves are shown, the oldest first. */
export function visibleRuns() {
  return [...store.runs.values()].filter((run) => run.visible && run.rows > 0);
}
