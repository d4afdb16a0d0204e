// Pictures of plots: the same calls draw on a canvas and write SVG.

import { svg } from "./dom.js";

/** @typedef {{line: (points: number[], color: string, width: number, dash?: number[]) => void,
 *   rect: (x: number, y: number, w: number, h: number, fill: string, alpha?: number) => void,
 *   text: (text: string, x: number, y: number, options: {color: string, align?: CanvasTextAlign, size?: number, bold?: boolean, turned?: boolean}) => void,
 *   clip: (x: number, y: number, w: number, h: number, inside: () => void) => void}} Painter */

const FONT = "system-ui, sans-serif";

/** @param {CanvasRenderingContext2D} context @returns {Painter} */
export function canvasPainter(context) {
  return {
    line(points, color, width, dash = []) {
      context.strokeStyle = color;
      context.lineWidth = width;
      context.lineJoin = "round";
      context.setLineDash(dash);
      context.beginPath();
      let isDown = false;
      for (let i = 0; i < points.length; i += 2) {
        const y = points[i + 1];
        if (y !== y) isDown = false;
        else if (isDown) context.lineTo(points[i], y);
        else {
          context.moveTo(points[i], y);
          isDown = true;
        }
      }
      context.stroke();
      context.setLineDash([]);
    },
    rect(x, y, w, h, fill, alpha = 1) {
      context.globalAlpha = alpha;
      context.fillStyle = fill;
      context.fillRect(x, y, w, h);
      context.globalAlpha = 1;
    },
    text(text, x, y, { color, align = "left", size = 11, bold = false, turned = false }) {
      context.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
      context.fillStyle = color;
      context.textAlign = align;
      context.textBaseline = "middle";
      if (turned) {
        context.save();
        context.translate(x, y);
        context.rotate(-Math.PI / 2);
        context.fillText(text, 0, 0);
        context.restore();
      } else context.fillText(text, x, y);
    },
    clip(x, y, w, h, inside) {
      context.save();
      context.beginPath();
      context.rect(x, y, w, h);
      context.clip();
      inside();
      context.restore();
    },
  };
}

/** @param {SVGElement} root @returns {Painter} */
export function svgPainter(root) {
  let into = root;
  let n = 0;
  return {
    line(points, color, width, dash = []) {
      let path = "";
      let isDown = false;
      for (let i = 0; i < points.length; i += 2) {
        const [x, y] = [points[i], points[i + 1]];
        if (y !== y) isDown = false;
        else {
          path += `${isDown ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`;
          isDown = true;
        }
      }
      into.append(svg("path", { d: path, fill: "none", stroke: color, "stroke-width": width, "stroke-dasharray": dash.length ? dash.join(" ") : null, "stroke-linejoin": "round" }));
    },
    rect(x, y, w, h, fill, alpha = 1) {
      into.append(svg("rect", { x, y, width: Math.max(0, w), height: Math.max(0, h), fill, "fill-opacity": alpha }));
    },
    text(text, x, y, { color, align = "left", size = 11, bold = false, turned = false }) {
      const anchor = { left: "start", right: "end", center: "middle", start: "start", end: "end" }[align];
      into.append(svg("text", { x, y: y + size * 0.35, fill: color, "font-size": size, "font-family": FONT, "text-anchor": anchor, "font-weight": bold ? 600 : null, transform: turned ? `rotate(-90 ${x} ${y})` : null }, text));
    },
    clip(x, y, w, h, inside) {
      const id = `clip${++n}`;
      root.append(svg("clipPath", { id }, svg("rect", { x, y, width: w, height: h })));
      const before = into;
      const group = svg("g", { "clip-path": `url(#${id})` });
      before.append(group);
      into = group;
      inside();
      into = before;
    },
  };
}
