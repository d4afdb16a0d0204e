// The 3-D view: bodies of a run over time. A body is a component that has a type, a place, an orientation and sizes among the variables of the run.

import { postNumbers } from "./api.js";
import { h, replace, show } from "./dom.js";
import { body } from "./shapes.js";
import { emit, on, store } from "./store.js";

const NUMBERS = ["length", "width", "height", "extra", ...["r", "r_shape", "lengthDirection", "widthDirection", "color"].flatMap((n) => [1, 2, 3].map((i) => `${n}[${i}]`)),
  ...[1, 2, 3].flatMap((i) => [1, 2, 3].map((j) => `R.T[${i},${j}]`))];
const CHUNK = 900;
/** Of the lens: half of the picture is seen under this cotangent. */
const ZOOM = 1 / Math.tan(0.4);
/** Part of the picture that is filled when everything is shown. */
const FILLED = 0.9;

const VERTEX = `attribute vec3 position; attribute vec3 normal; uniform mat4 view; uniform mat4 model; uniform mat3 turn; varying vec3 n;
void main() { n = turn * normal; gl_Position = view * model * vec4(position, 1.0); }`;
const FRAGMENT = `precision mediump float; varying vec3 n; uniform vec3 color;
void main() { vec3 m = normalize(n); float light = 0.42 + 0.45 * abs(dot(m, normalize(vec3(0.4, 0.9, 0.5)))) + 0.18 * abs(dot(m, normalize(vec3(-0.7, 0.2, 0.3)))); gl_FragColor = vec4(color * light, 1.0); }`;

/** Prefixes of the components that are bodies. @param {Iterable<string>} names */
export function bodies(names) {
  const all = new Set(names);
  const end = ".lengthDirection[1]";
  return [...all].filter((n) => n.endsWith(end)).map((n) => n.slice(0, -end.length)).filter((p) => NUMBERS.every((n) => all.has(`${p}.${n}`)));
}

const VECTOR = [...["r", "coordinates", "color"].flatMap((n) => [1, 2, 3].map((i) => `${n}[${i}]`)), ...[1, 2, 3].flatMap((i) => [1, 2, 3].map((j) => `R.T[${i},${j}]`))];
/** Part of the scene that the longest vector of a quantity is long. */
const LONGEST = 0.25;
/** Width of an arrow as a part of the scene. */
const WIDTH = 0.02;

/** Prefixes of the components that are vectors: they have a place, an orientation and coordinates. @param {Iterable<string>} names */
export function vectors(names) {
  const all = new Set(names);
  const end = ".coordinates[1]";
  return [...all].filter((n) => n.endsWith(end)).map((n) => n.slice(0, -end.length)).filter((p) => VECTOR.every((n) => all.has(`${p}.${n}`)));
}

export class Animation {
  constructor() {
    this.canvas = h("canvas", { class: "space", tabindex: "0", role: "img", "aria-label": "3-D view" });
    this.slider = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time", class: "time", oninput: () => { this.pause(); this.setTime(this.from + Number(this.slider.value) * (this.to - this.from), true); } });
    this.playButton = h("button", { type: "button", class: "tool", title: "Play or pause (Space)", onclick: () => (this.isPlaying ? this.pause() : this.play()) }, "▶");
    this.speed = h("select", { "aria-label": "Speed", title: "Speed" }, [["0.1", "1/10"], ["0.25", "1/4"], ["1", "real time"], ["4", "4 ×"]].map(([value, text]) => h("option", { value, selected: value === "1" }, text)));
    this.follow = h("select", { id: "follow", "aria-label": "Body to follow", title: "The camera follows", onchange: () => this.draw() });
    this.label = h("span", { class: "readout" });
    this.empty = h("p", { class: "empty" }, "Run a model with 3-D bodies to see them move.");
    this.element = h("div", { class: "fill column" }, h("div", { class: "bar" }, this.playButton, this.slider, this.label, this.speed, this.follow, h("button", { type: "button", class: "tool", title: "Show everything", onclick: () => this.fit() }, "Fit")),
      this.empty, this.canvas);
    this.from = 0;
    this.to = 1;
    this.time = 0;
    this.count = 2;
    /** @type {number|null} */
    this.run = null;
    this.camera = { yaw: 0.6, pitch: 0.35, distance: 5, target: [0, 0, 0] };
    /** @type {any[]} */
    this.bodies = [];
    /** @type {any} */
    this.places = {};
    /** @type {number[]} */
    this.attributes = [];
    this.isShown = false;
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    on("variables", () => this.prepare());
    on("runs", () => store.run && store.run.rows !== this.rows && this.isShown && this.load());
    on("cursor", (t) => !this.isPlaying && this.setTime(t, false));
    on("event-chosen", ({ time }) => this.setTime(time, false));
    this.listen();
  }

  /** Finds the bodies of the chosen run. */
  prepare() {
    this.prefixes = bodies(store.variables.keys());
    this.arrows = vectors(store.variables.keys());
    this.rows = -1;
    const followed = this.follow.value;
    replace(this.follow, [["", "at rest"], ["*", "follow all"], ...[...this.prefixes, ...this.arrows].map((p) => [p, `follow ${p}`])].map(([value, text]) => h("option", { value, selected: value === followed }, text)));
    emit("has-bodies", this.prefixes.length + this.arrows.length > 0);
    if (this.isShown) this.load();
  }

  async load() {
    const run = store.run;
    if (!run || !(this.prefixes?.length || this.arrows?.length) || this.isLoading) return;
    this.isLoading = true;
    const rows = run.rows;
    try {
      const [from, to] = [run.start ?? 0, run.time ?? run.stop ?? 1];
      const count = Math.max(2, Math.min(1500, Math.ceil((to - from) * 60) + 1));
      const names = [...this.prefixes.flatMap((p) => NUMBERS.map((n) => `${p}.${n}`)), ...this.arrows.flatMap((p) => VECTOR.map((n) => `${p}.${n}`))];
      /** @type {Map<string, Float64Array>} */
      const values = new Map();
      for (let at = 0; at < names.length; at += CHUNK) {
        const { header, numbers } = await postNumbers("values", { run: run.id, names: names.slice(at, at + CHUNK), from, to, count });
        header.names.forEach((/** @type {string} */ name, /** @type {number} */ i) => values.set(name, numbers.subarray((i + 1) * count, (i + 2) * count)));
      }
      const isFirst = this.run !== run.id;
      Object.assign(this, { run: run.id, rows, from, to, count });
      this.bodies = this.prefixes.map((p) => {
        const columns = NUMBERS.map((n) => values.get(`${p}.${n}`) ?? new Float64Array(count));
        const [length, width, height, extra] = columns.slice(0, 4).map((c) => c[0]);
        return { name: p, type: store.texts.get(`${p}.shapeType`) ?? "box", columns, size: { length, width, height, extra }, buffers: null };
      });
      this.addArrows(values, count);
      this.empty.hidden = this.bodies.length > 0;
      if (isFirst) {
        this.time = from;
        this.fit();
      }
      this.setTime(Math.min(this.time, to), false);
    } finally {
      this.isLoading = false;
    }
  }

  /** Vectors of one quantity have one scale: the longest of the whole run is a part of the scene. @param {Map<string, Float64Array>} values @param {number} count */
  addArrows(values, count) {
    const column = (/** @type {string} */ name) => values.get(name) ?? new Float64Array(count);
    const all = this.arrows.map((p) => ({ p, columns: VECTOR.map((n) => column(`${p}.${n}`)), quantity: store.variables.get(`${p}.quantity`)?.value ?? 0 }));
    const size = this.extent(all.map(({ columns }) => columns.slice(0, 3)));
    /** @type {Map<number, number>} */
    const longest = new Map();
    for (const { columns, quantity } of all) {
      let most = longest.get(quantity) ?? 0;
      for (let i = 0; i < count; i++) most = Math.max(most, Math.hypot(columns[3][i], columns[4][i], columns[5][i]) || 0);
      longest.set(quantity, most);
    }
    const is = (/** @type {string} */ name) => !!(store.variables.get(name)?.value ?? values.get(name)?.[0]);
    for (const { p, columns, quantity } of all) {
      const most = longest.get(quantity) ?? 0;
      this.bodies.push({ name: p, type: is(`${p}.twoHeadedArrow`) ? "double arrow" : "arrow", columns, size: {}, buffers: null, scale: most > 0 ? (LONGEST * size) / most : 0, width: WIDTH * size, pointsHere: is(`${p}.headAtOrigin`) });
    }
  }

  /** How large everything is at the beginning. @param {Float64Array[][]} also places */
  extent(also) {
    const places = [...this.bodies.flatMap((b) => { const { at, end } = this.matrix(b); return [at, end]; }), ...also.map((place) => place.map((c) => c[0]))].filter((p) => p.every(Number.isFinite));
    const spans = [0, 1, 2].map((k) => Math.max(...places.map((p) => p[k])) - Math.min(...places.map((p) => p[k])));
    const size = Math.hypot(...spans);
    return size > 1e-9 && Number.isFinite(size) ? size : 1;
  }

  /** Where an arrow is. @param {any} b */
  arrow(b) {
    const [rx, ry, rz, cx, cy, cz, cr, cg, cb, ...T] = this.now(b);
    const v = [0, 1, 2].map((k) => (T[k] * cx + T[3 + k] * cy + T[6 + k] * cz) * b.scale);
    const length = Math.hypot(...v);
    const x = unit(v, [1, 0, 0]);
    const z = unit(cross(x, Math.abs(x[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]), [0, 0, 1]);
    const y = cross(z, x);
    const at = [rx, ry, rz].map((p, k) => (b.pointsHere ? p - v[k] : p));
    const small = Math.max(length, 1e-9);
    return { model: [...x.map((k) => k * length), 0, ...y.map((k) => k * b.width), 0, ...z.map((k) => k * b.width), 0, ...at, 1], turn: [...x.map((k) => k / small), ...y.map((k) => k / b.width), ...z.map((k) => k / b.width)], color: [cr, cg, cb].map((c) => c / 255), at, end: at.map((p, k) => p + v[k]) };
  }

  /** Numbers of a body at the present time. @param {any} b */
  now(b) {
    const at = Math.max(0, Math.min(this.count - 1, ((this.time - this.from) / (this.to - this.from || 1)) * (this.count - 1)));
    const i = Math.min(this.count - 2, Math.floor(at));
    const f = at - i;
    return b.columns.map((/** @type {Float64Array} */ c) => c[i] + f * (c[i + 1] - c[i]));
  }

  /** From coordinates of the body to those of the world. @param {any} b */
  matrix(b) {
    if (b.scale !== undefined) return this.arrow(b);
    const [length, width, height, , rx, ry, rz, sx, sy, sz, lx, ly, lz, wx, wy, wz, cr, cg, cb, ...T] = this.now(b);
    const ex = unit([lx, ly, lz], [1, 0, 0]);
    const ez = unit(cross(ex, [wx, wy, wz]), Math.abs(ex[0]) < 0.9 ? unit(cross(ex, [1, 0, 0]), [0, 0, 1]) : unit(cross(ex, [0, 1, 0]), [0, 0, 1]));
    const ey = cross(ez, ex);
    // The orientation leads from the world to the body: its rows are the axes.
    const toWorld = (/** @type {number[]} */ v) => [0, 1, 2].map((k) => T[k] * v[0] + T[3 + k] * v[1] + T[6 + k] * v[2]);
    const [x, y, z] = [toWorld(ex), toWorld(ey), toWorld(ez)];
    const s = toWorld([sx, sy, sz]);
    const at = [rx + s[0], ry + s[1], rz + s[2]];
    const model = [...x.map((v) => v * length), 0, ...y.map((v) => v * width), 0, ...z.map((v) => v * height), 0, ...at, 1];
    const small = (/** @type {number} */ v) => (Math.abs(v) < 1e-9 ? 1e-9 : v);
    const turn = [...x.map((v) => v / small(length)), ...y.map((v) => v / small(width)), ...z.map((v) => v / small(height))];
    return { model, turn, color: [cr, cg, cb].map((c) => c / 255), at, end: at.map((v, i) => v + x[i] * length) };
  }

  /** Moves the camera so that everything is seen during the whole run. */
  fit() {
    const points = this.corners();
    if (!points.length) return;
    const bounds = [0, 1, 2].map((k) => points.reduce(([a, b], p) => [Math.min(a, p[k]), Math.max(b, p[k])], [Infinity, -Infinity]));
    const target = bounds.map(([a, b]) => (a + b) / 2);
    this.camera.target = target;
    const { forward, right, up } = this.axes();
    const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const aspect = (this.canvas.clientWidth || 1) / (this.canvas.clientHeight || 1);
    const needed = (/** @type {number[]} */ p) => {
      const d = p.map((x, k) => x - target[k]);
      return (ZOOM / FILLED) * Math.max(Math.abs(dot(d, up)), Math.abs(dot(d, right)) / aspect) - dot(d, forward);
    };
    this.camera.distance = points.reduce((most, p) => Math.max(most, needed(p)), 1e-3);
    this.draw();
  }

  /** Corners of what is to be seen, at some times of the run. */
  corners() {
    const time = this.time;
    /** @type {number[][]} */
    const points = [];
    for (let i = 0; i <= 8; i++) {
      this.time = this.from + (i / 8) * (this.to - this.from);
      for (const b of this.bodies) {
        const { model } = this.matrix(b);
        // What has no volume is not seen.
        if (!model.every(Number.isFinite) || [0, 4, 8].some((k) => Math.hypot(model[k], model[k + 1], model[k + 2]) < 1e-12)) continue;
        for (const x of [0, 1]) for (const y of [-0.5, 0.5]) for (const z of [-0.5, 0.5]) points.push([0, 1, 2].map((k) => model[12 + k] + x * model[k] + y * model[4 + k] + z * model[8 + k]));
      }
    }
    this.time = time;
    return points;
  }

  play() {
    if (this.time >= this.to) this.time = this.from;
    this.isPlaying = true;
    this.playButton.textContent = "❚❚";
    let last = performance.now();
    const step = (/** @type {number} */ now) => {
      if (!this.isPlaying) return;
      const next = this.time + ((now - last) / 1000) * Number(this.speed.value);
      last = now;
      this.setTime(Math.min(next, this.to), true);
      if (next >= this.to) this.pause();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  pause() {
    this.isPlaying = false;
    this.playButton.textContent = "▶";
  }

  /** @param {number} t @param {boolean} tells */
  setTime(t, tells) {
    this.time = Math.max(this.from, Math.min(this.to, t));
    this.slider.value = String((this.time - this.from) / (this.to - this.from || 1));
    this.label.textContent = `${show(this.time, 4)} s`;
    if (tells) emit("animated", this.time);
    this.draw();
  }

  draw() {
    if (this.frame || !this.isShown) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.render();
    });
  }

  /** The programs of the graphics card, made once. */
  context() {
    if (this.gl !== undefined) return this.gl;
    const gl = this.canvas.getContext("webgl", { antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.gl = gl;
    if (!gl) {
      replace(this.empty, "This browser has no WebGL.");
      this.empty.hidden = false;
      return null;
    }
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.DEPTH_TEST);
    this.places = Object.fromEntries(["view", "model", "turn", "color"].map((n) => [n, gl.getUniformLocation(program, n)]));
    this.attributes = [gl.getAttribLocation(program, "position"), gl.getAttribLocation(program, "normal")];
    for (const a of this.attributes) gl.enableVertexAttribArray(a);
    return gl;
  }

  render() {
    const gl = this.context();
    if (!gl || !this.canvas.clientWidth) return;
    const scale = devicePixelRatio || 1;
    const [w, hgt] = [Math.round(this.canvas.clientWidth * scale), Math.round(this.canvas.clientHeight * scale)];
    if (this.canvas.width !== w || this.canvas.height !== hgt) [this.canvas.width, this.canvas.height] = [w, hgt];
    gl.viewport(0, 0, w, hgt);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const drawn = this.bodies.map((b) => ({ b, ...this.matrix(b) }));
    const followed = drawn.filter((d) => this.follow.value === "*" || d.b.name === this.follow.value);
    if (followed.length) this.camera.target = [0, 1, 2].map((i) => followed.reduce((s, d) => s + (d.at[i] + d.end[i]) / 2, 0) / followed.length);
    gl.uniformMatrix4fv(this.places.view, false, new Float32Array(this.lens(w / Math.max(1, hgt))));
    for (const { b, model, turn, color } of drawn) {
      if (![...model, ...color].every(Number.isFinite)) continue;
      b.buffers ??= this.upload(gl, b);
      b.buffers.all.forEach((/** @type {WebGLBuffer} */ buffer, /** @type {number} */ i) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.vertexAttribPointer(this.attributes[i], 3, gl.FLOAT, false, 0, 0);
      });
      gl.uniformMatrix4fv(this.places.model, false, new Float32Array(model));
      gl.uniformMatrix3fv(this.places.turn, false, new Float32Array(turn));
      gl.uniform3fv(this.places.color, new Float32Array(color));
      gl.drawArrays(gl.TRIANGLES, 0, b.buffers.count);
    }
  }

  /** @param {any} gl @param {any} b */
  upload(gl, b) {
    const mesh = body(b.type, b.size);
    const all = [mesh.positions, mesh.normals].map((numbers) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
      return buffer;
    });
    return { all, count: mesh.positions.length / 3 };
  }

  /** Where the camera looks to, and what is right and up there. */
  axes() {
    const { yaw, pitch } = this.camera;
    const forward = [-Math.cos(pitch) * Math.sin(yaw), -Math.sin(pitch), -Math.cos(pitch) * Math.cos(yaw)];
    const right = unit(cross(forward, [0, 1, 0]), [1, 0, 0]);
    return { forward, right, up: cross(right, forward) };
  }

  /** Perspective and camera in one matrix, column by column. @param {number} aspect */
  lens(aspect) {
    const { distance, target } = this.camera;
    const { forward, right, up } = this.axes();
    const eye = target.map((v, i) => v - forward[i] * distance);
    const [near, far, f] = [distance / 100, distance * 50, ZOOM];
    const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const [a, b] = [(far + near) / (near - far), (2 * far * near) / (near - far)];
    const columns = [0, 1, 2].map((i) => [(f / aspect) * right[i], f * up[i], -a * forward[i], forward[i]]);
    return [...columns.flat(), (-f / aspect) * dot(right, eye), -f * dot(up, eye), a * dot(forward, eye) + b, -dot(forward, eye)];
  }

  listen() {
    const { canvas } = this;
    /** @type {{x: number, y: number, pans: boolean}|null} */
    let drag = null;
    canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      drag = { x: e.clientX, y: e.clientY, pans: e.button === 2 || e.shiftKey };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      if (!drag) return;
      const [dx, dy] = [e.clientX - drag.x, e.clientY - drag.y];
      [drag.x, drag.y] = [e.clientX, e.clientY];
      if (drag.pans) {
        const { yaw, distance } = this.camera;
        const k = distance / canvas.clientHeight;
        this.camera.target = this.camera.target.map((v, i) => v + [-dx * k * Math.cos(yaw), dy * k, dx * k * Math.sin(yaw)][i]);
      } else this.turn(-dx * 0.008, dy * 0.008);
      this.draw();
    });
    canvas.addEventListener("pointerup", () => (drag = null));
    canvas.addEventListener("contextmenu", (/** @type {Event} */ e) => e.preventDefault());
    canvas.addEventListener("wheel", (/** @type {WheelEvent} */ e) => {
      e.preventDefault();
      this.camera.distance *= Math.exp(e.deltaY * 0.001);
      this.draw();
    }, { passive: false });
    canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
      /** @type {Record<string, [number, number]>} */
      const turns = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
      if (turns[e.key]) this.turn(...turns[e.key]);
      else if (e.key === " ") this.isPlaying ? this.pause() : this.play();
      else if (e.key === "+" || e.key === "-") this.camera.distance *= e.key === "+" ? 0.8 : 1.25;
      else return;
      e.preventDefault();
      this.draw();
    });
  }

  /** @param {number} yaw @param {number} pitch */
  turn(yaw, pitch) {
    this.camera.yaw += yaw;
    this.camera.pitch = Math.max(-1.5, Math.min(1.5, this.camera.pitch + pitch));
  }
}

/** @param {number[]} a @param {number[]} b */
function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** @param {number[]} v @param {number[]} otherwise */
function unit(v, otherwise) {
  const size = Math.hypot(...v);
  return size > 1e-12 ? v.map((x) => x / size) : otherwise;
}
