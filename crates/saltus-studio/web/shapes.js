// Bodies of the 3-D view: triangles with normals. A body reaches from 0 to 1 along x and from -½ to ½ along y and z.

/** @typedef {{positions: number[], normals: number[]}} Mesh */

const N = 32;

/** @returns {Mesh} */
const empty = () => ({ positions: [], normals: [] });

/** @param {Mesh} mesh @param {number[][]} points three or four @param {number[][]} normals one, or one for each */
function face(mesh, points, normals) {
  const normal = (/** @type {number} */ i) => normals[normals.length > 1 ? i : 0];
  for (const i of points.length === 4 ? [0, 1, 2, 0, 2, 3] : [0, 1, 2]) {
    mesh.positions.push(...points[i]);
    mesh.normals.push(...normal(i));
  }
}

export function box() {
  const mesh = empty();
  for (let axis = 0; axis < 3; axis++) {
    for (const sign of [-1, 1]) {
      const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
      const normal = [0, 0, 0];
      normal[axis] = sign;
      const corner = (/** @type {number} */ a, /** @type {number} */ b) => {
        const p = [0, 0, 0];
        [p[axis], p[u], p[v]] = [sign / 2, a / 2, b / 2];
        p[0] += 0.5;
        return p;
      };
      face(mesh, [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)], [normal]);
    }
  }
  return mesh;
}

export function sphere() {
  const mesh = empty();
  const at = (/** @type {number} */ i, /** @type {number} */ j) => {
    const [a, b] = [(i / (N / 2)) * Math.PI, (j / N) * 2 * Math.PI];
    return [-Math.cos(a), Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b)];
  };
  for (let i = 0; i < N / 2; i++) {
    for (let j = 0; j < N; j++) {
      const normals = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
      face(mesh, normals.map(([x, y, z]) => [0.5 + x / 2, y / 2, z / 2]), normals);
    }
  }
  return mesh;
}

/** Part of a cone around x: its radius is 1 at one end. @param {number} end radius at the other @param {number} inner part of it that is hollow */
export function cylinder(end = 1, inner = 0) {
  const mesh = empty();
  const ring = (/** @type {number} */ x, /** @type {number} */ r, /** @type {number} */ j) => [x, (r / 2) * Math.cos((j / N) * 2 * Math.PI), (r / 2) * Math.sin((j / N) * 2 * Math.PI)];
  const slope = (1 - end) / 2;
  const out = (/** @type {number} */ j, /** @type {number} */ sign) => [slope * sign, sign * Math.cos((j / N) * 2 * Math.PI), sign * Math.sin((j / N) * 2 * Math.PI)];
  for (let j = 0; j < N; j++) {
    face(mesh, [ring(0, 1, j), ring(1, end, j), ring(1, end, j + 1), ring(0, 1, j + 1)], [out(j, 1), out(j, 1), out(j + 1, 1), out(j + 1, 1)]);
    if (inner > 0) face(mesh, [ring(0, inner, j), ring(1, end * inner, j), ring(1, end * inner, j + 1), ring(0, inner, j + 1)], [out(j, -1), out(j, -1), out(j + 1, -1), out(j + 1, -1)]);
    face(mesh, [ring(0, 1, j), ring(0, inner, j), ring(0, inner, j + 1), ring(0, 1, j + 1)], [[-1, 0, 0]]);
    face(mesh, [ring(1, end, j), ring(1, end * inner, j), ring(1, end * inner, j + 1), ring(1, end, j + 1)], [[1, 0, 0]]);
  }
  return mesh;
}

/** An outline in the plane across an axis, made thick. @param {number[][]} outline @param {(u: number, v: number, w: number) => number[]} put */
function prism(outline, put) {
  const mesh = empty();
  const centre = [outline.reduce((s, p) => s + p[0], 0) / outline.length, outline.reduce((s, p) => s + p[1], 0) / outline.length];
  const zero = put(0, 0, 0);
  const direction = (/** @type {number} */ u, /** @type {number} */ v, /** @type {number} */ w) => put(u, v, w).map((x, i) => x - zero[i]);
  outline.forEach((a, i) => {
    const b = outline[(i + 1) % outline.length];
    const normal = direction(b[1] - a[1], a[0] - b[0], 0);
    face(mesh, [put(a[0], a[1], -0.5), put(b[0], b[1], -0.5), put(b[0], b[1], 0.5), put(a[0], a[1], 0.5)], [normal]);
    for (const w of [-0.5, 0.5]) face(mesh, [put(centre[0], centre[1], w), put(a[0], a[1], w), put(b[0], b[1], w)], [direction(0, 0, Math.sign(w))]);
  });
  return mesh;
}

/** A bar with round ends, whose centres are at the ends of its length. @param {number} ratio of width and length */
export function beam(ratio) {
  const outline = [];
  for (const [x, from] of [[1, -90], [0, 90]]) {
    for (let i = 0; i <= N / 2; i++) {
      const a = ((from + (i * 360) / N) * Math.PI) / 180;
      outline.push([x + (ratio / 2) * Math.cos(a), Math.sin(a) / 2]);
    }
  }
  return prism(outline, (u, v, w) => [u, v, w]);
}

/** @param {number} teeth */
export function gear(teeth) {
  const outline = [];
  const n = Math.max(3, Math.min(200, Math.round(Math.abs(teeth)) || 20));
  for (let i = 0; i < n; i++) {
    for (const [part, r] of [[0, 0.46], [0.25, 0.46], [0.4, 0.54], [0.6, 0.54], [0.75, 0.46]]) {
      const a = ((i + part) / n) * 2 * Math.PI;
      outline.push([r * Math.cos(a), r * Math.sin(a)]);
    }
  }
  return prism(outline, (u, v, w) => [w + 0.5, u, v]);
}

/** A wire around x. @param {number} windings @param {number} wire its diameter by that of the spring */
export function spring(windings, wire) {
  const mesh = empty();
  const n = Math.max(1, Math.min(60, Math.abs(windings) || 5));
  const [steps, sides] = [Math.ceil(n * 20), 8];
  const at = (/** @type {number} */ i, /** @type {number} */ j) => {
    const [a, b] = [(i / steps) * n * 2 * Math.PI, (j / sides) * 2 * Math.PI];
    const r = 0.5 + (wire / 2) * Math.cos(b);
    const position = [i / steps + (wire / 2) * Math.sin(b) * 0.2, r * Math.cos(a), r * Math.sin(a)];
    return { position, normal: [Math.sin(b), Math.cos(b) * Math.cos(a), Math.cos(b) * Math.sin(a)] };
  };
  for (let i = 0; i < steps; i++) {
    for (let j = 0; j < sides; j++) {
      const all = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
      face(mesh, all.map((p) => p.position), all.map((p) => p.normal));
    }
  }
  return mesh;
}

/** An arrow of length 1 along x: a shaft, and one head or two at its end. @param {boolean} isDouble @returns {Mesh} */
export function arrow(isDouble) {
  const mesh = empty();
  const part = (/** @type {Mesh} */ of, /** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ width) => {
    for (let i = 0; i < of.positions.length; i += 3) {
      mesh.positions.push(from + of.positions[i] * (to - from), of.positions[i + 1] * width, of.positions[i + 2] * width);
      mesh.normals.push(of.normals[i], of.normals[i + 1], of.normals[i + 2]);
    }
  };
  const heads = isDouble ? [0.6, 0.8] : [0.8];
  part(cylinder(), 0, heads[0], 0.35);
  for (const at of heads) part(cylinder(0), at, at + 0.2, 1);
  return mesh;
}

/** The body of a type, with its sizes where they change its form. @param {string} type @param {{length: number, width: number, height: number, extra: number}} size @returns {Mesh} */
export function body(type, { length, width, height, extra }) {
  switch (type) {
    case "arrow": return arrow(false);
    case "double arrow": return arrow(true);
    case "sphere": return sphere();
    case "cylinder": return cylinder();
    case "pipecylinder": return cylinder(1, Math.min(0.999, Math.abs(extra)));
    case "pipe": return cylinder(1, Math.min(0.999, Math.abs(extra)));
    case "cone": return cylinder(Math.min(1, Math.abs(extra)), 0);
    case "beam": return beam(Math.abs(width / (length || 1)));
    case "gearwheel": return gear(extra);
    case "spring": return spring(extra, Math.min(0.5, Math.abs(height / (width || 1)) || 0.1));
    default: return box();
  }
}
