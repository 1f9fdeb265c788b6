// The chart: draws what the server says of a series in a stretch of time, at the screen's resolution.

import { numberTicks, timeTicks, value as valueText } from "./words.js";

const TOP = 22, BOTTOM = 42, RIGHT = 14;
const FOOT = 9; // height of the lane of late rows
const RINGS = 60; // so many corrected windows are ringed; more would hide the line

const axis = (size) => `${size}px system-ui, "Segoe UI", "DejaVu Sans", sans-serif`;

/** The number of a point's value; infinities come as text. */
export function numberOf(value) {
  return typeof value === "string" ? Number(value.replace("inf", "Infinity")) : value;
}

/** Draws a line in device pixels where `x` and `y` give pixels. */
function trace(pen, points, x, y) {
  pen.beginPath();
  for (const [at, value] of points) pen.lineTo(x(at), y(numberOf(value)));
  pen.stroke();
}

export class Chart {
  constructor(canvas) {
    this.canvas = canvas;
    this.data = null; // an answer of the server
    this.view = null; // {from, to}: may be ahead of the data while the user moves
    this.watermark = null;
    this.hover = null; // a point
    this.left = 52;
    this.asked = false;
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  resize() {
    this.ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.draw();
  }

  /** How many columns of device pixels the line has. */
  get columns() {
    return Math.max(1, Math.min(4000, Math.round((this.width - this.left - RIGHT) * this.ratio)));
  }

  show(data, view, watermark) {
    this.data = data;
    this.view = view;
    this.watermark = watermark;
    this.paint();
  }

  /** Draw before the next frame. */
  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.paint(); });
  }

  x(at) {
    const { from, to } = this.view;
    return this.left + ((at - from) / (to - from)) * (this.width - this.left - RIGHT);
  }

  /** The moment at a place on the screen. */
  timeAt(x) {
    const { from, to } = this.view;
    return from + ((x - this.left) / (this.width - this.left - RIGHT)) * (to - from);
  }

  y(value) {
    const floor = this.height - BOTTOM;
    const place = floor - ((value - this.low) / (this.high - this.low)) * (floor - TOP);
    return Math.max(-40, Math.min(this.height + 40, place)); // infinities end outside
  }

  /** The point that is nearest to a place on the screen, if one is near. */
  nearest(x) {
    if (!this.data || !this.view) return null;
    let best = null;
    for (const point of this.data.points) {
      const away = Math.abs(this.x(point[0]) - x);
      if (best === null || away < best.away) best = { point, away };
    }
    return best && best.away <= 40 ? best.point : null;
  }

  paint() {
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    if (!this.data || !this.view || this.view.from === null || this.width < 80) return;
    const style = getComputedStyle(document.documentElement);
    this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
    this.scale(pen);
    this.grid(pen);
    this.drawWatermark(pen);
    pen.save();
    pen.beginPath();
    pen.rect(this.left, 0, this.width - this.left - RIGHT + 1, this.height);
    pen.clip();
    this.drawLine(pen);
    pen.restore();
    this.drawMarks(pen);
    this.drawHover(pen);
  }

  /** Choose the values at both ends of the axis, and how much room their labels need. */
  scale(pen) {
    const seen = this.data.points.filter(([at]) => at >= this.view.from && at < this.view.to);
    const values = (seen.length ? seen : this.data.points).map((p) => numberOf(p[1])).filter(Number.isFinite);
    let low = Infinity, high = -Infinity;
    for (const one of values) { low = Math.min(low, one); high = Math.max(high, one); }
    if (low > high) [low, high] = [0, 1];
    const pad = high > low ? (high - low) * 0.06 : Math.abs(low) * 0.1 || 1;
    this.low = low >= 0 && low - pad < 0 ? 0 : low - pad;
    this.high = high + pad;
    const { ticks, digits } = numberTicks(this.low, this.high, Math.max(2, (this.height - TOP - BOTTOM) / 50));
    const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const short = (tick) => (Math.abs(tick) >= 1e7 ? valueText(Number(tick.toPrecision(6))) : format.format(tick + 0));
    this.ticks = ticks.map((at) => ({ at, label: short(at) }));
    pen.font = axis(12);
    const widest = Math.max(24, ...this.ticks.map((t) => pen.measureText(t.label).width));
    this.left = Math.min(Math.ceil((widest + 10) / 10) * 10, Math.round(this.width / 3));
  }

  grid(pen) {
    const floor = this.height - BOTTOM;
    const line = (x0, y0, x1, y1) => { pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1); pen.stroke(); };
    pen.font = axis(12);
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const { at, label } of this.ticks) {
      const y = Math.round(this.y(at)) + 0.5;
      pen.strokeStyle = this.colour("line");
      line(this.left, y, this.width - RIGHT, y);
      pen.fillStyle = this.colour("soft");
      pen.fillText(label, this.left - 8, y);
    }
    pen.textBaseline = "alphabetic";
    pen.textAlign = "center";
    pen.strokeStyle = this.colour("strong");
    line(this.left, floor + 0.5, this.width - RIGHT, floor + 0.5);
    const most = (this.width - this.left - RIGHT) / 88;
    for (const { at, label } of timeTicks(this.view.from, this.view.to, most)) {
      const x = Math.round(this.x(at)) + 0.5;
      line(x, floor + FOOT + 2, x, floor + FOOT + 7);
      const half = pen.measureText(label).width / 2;
      pen.fillText(label, Math.min(Math.max(x, this.left - 40 + half), this.width - half), this.height - 12);
    }
  }

  drawLine(pen) {
    const { points, before, after, open_from: openFrom } = this.data;
    const all = [before, ...points, after].filter((p) => p !== null);
    const x = (at) => this.x(at), y = (value) => this.y(value);
    const first = openFrom === null ? -1 : all.findIndex(([at]) => at >= openFrom);
    const done = first < 0 ? all : all.slice(0, first);
    const open = first < 0 ? [] : all.slice(Math.max(0, first - 1));
    pen.strokeStyle = this.colour("blue");
    pen.lineWidth = points.length > 400 ? 1.1 : 1.7;
    pen.lineJoin = "round";
    trace(pen, done, x, y);
    pen.save();
    pen.globalAlpha = 0.65;
    pen.setLineDash([4, 3]);
    trace(pen, open, x, y);
    pen.restore();
  }

  dots(pen, points, openFrom) {
    pen.strokeStyle = this.colour("blue");
    pen.lineWidth = 1.5;
    for (const [at, value] of points) {
      pen.beginPath();
      pen.arc(this.x(at), this.y(numberOf(value)), 2.6, 0, 7);
      const open = openFrom !== null && at >= openFrom;
      pen.fillStyle = this.colour(open ? "card" : "blue");
      pen.fill();
      if (open) pen.stroke();
    }
  }

  /** Corrected windows at the top and on the line, late rows at the foot. */
  drawMarks(pen) {
    const inside = (marks) => marks.filter(([at]) => at >= this.view.from && at < this.view.to);
    const corrected = inside(this.data.corrections);
    const points = inside(this.data.points);
    if (points.length <= 80) this.dots(pen, points, this.data.open_from);
    pen.fillStyle = this.colour("orange");
    pen.strokeStyle = this.colour("orange");
    for (const [at, count] of corrected) pen.fillRect(this.x(at) - 0.75, 4, 1.5, Math.min(6 + count, 12));
    if (corrected.length <= RINGS && points.length === this.data.windows) {
      pen.lineWidth = 1.8;
      const places = new Map(points);
      for (const [at] of corrected) {
        if (!places.has(at)) continue;
        pen.beginPath();
        pen.arc(this.x(at), this.y(numberOf(places.get(at))), 5, 0, 7);
        pen.stroke();
      }
    }
    pen.fillStyle = this.colour("red");
    const floor = this.height - BOTTOM;
    for (const [at] of inside(this.data.late)) pen.fillRect(this.x(at) - 0.75, floor + 1, 1.5, FOOT);
  }

  drawWatermark(pen) {
    const at = this.watermark;
    if (at === null || at < this.view.from || at > this.view.to) return;
    const x = Math.round(this.x(at)) + 0.5;
    pen.save();
    pen.strokeStyle = this.colour("soft");
    pen.lineWidth = 1.5;
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(x, TOP - 8);
    pen.lineTo(x, this.height - BOTTOM + FOOT);
    pen.stroke();
    pen.restore();
  }

  drawHover(pen) {
    if (!this.hover) return;
    const [at, value] = this.hover;
    if (at < this.view.from || at >= this.view.to) return;
    const x = this.x(at), y = Math.max(4, Math.min(this.height - 4, this.y(numberOf(value))));
    pen.strokeStyle = this.colour("strong");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(Math.round(x) + 0.5, TOP - 8);
    pen.lineTo(Math.round(x) + 0.5, this.height - BOTTOM);
    pen.stroke();
    pen.beginPath();
    pen.arc(x, y, 4.5, 0, 7);
    pen.fillStyle = this.colour("blue");
    pen.fill();
    pen.lineWidth = 2;
    pen.strokeStyle = this.colour("card");
    pen.stroke();
  }
}
