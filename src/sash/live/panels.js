// What stands around the chart: tiles, table, caption and tip. Text goes in as text only.

import { numberOf } from "./chart.js";
import { bytes, count, duration, moment, value } from "./words.js";

export const byId = (id) => document.getElementById(id);

function put(id, text) {
  const place = byId(id);
  if (place.textContent !== text) place.textContent = text;
}

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

const STATES = {
  running: () => "running",
  stopped: () => "stopped",
  starting: () => "starting",
  silent: (health) => `no news for ${duration(health.seconds * 1e6)}`,
};

export function showState(state, words) {
  put("state", words);
  byId("state").dataset.state = state;
}

const rate = (rows) => count(rows == null ? rows : rows >= 100 ? Math.round(rows) : rows);

export function showHealth(health, about) {
  const last = health.last ?? {};
  showState(health.state, STATES[health.state](health));
  put("tile-rate", rate(last.rows_per_second));
  put("tile-rows", count(last.rows_total));
  put("tile-rows-more", last.rows == null ? "" : `+${count(last.rows)}`);
  put("tile-watermark", last.watermark == null ? "–" : moment(Math.floor(last.watermark / 1e6) * 1e6));
  put("tile-lag", health.lag === null ? "" : `${duration(health.lag)} behind the rows`);
  put("tile-open-name", health.open === null ? "windows" : "open windows");
  put("tile-open", count(health.open ?? health.windows));
  put("tile-open-more", health.open === null ? "kept" : `of ${count(health.windows)}`);
  put("tile-corrections", count(health.corrections));
  put("tile-late", count(health.late_rows));
  put("tile-bytes", bytes(last.state_bytes));
  put("name", about.name);
  document.title = `${about.name} · Sash live`;
  const facts = [`emits ${about.emit}`];
  if (about.watermark) facts.push(`watermark ${about.watermark}`);
  if (about.lateness) facts.push(`lateness ${about.lateness}`);
  put("facts", facts.join(" · "));
  spark(byId("spark"), health.recent.map(([, rate]) => rate ?? 0));
}

function spark(canvas, rates) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  if (rates.length < 2) return;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const top = Math.max(...rates) || 1;
  const line = new Path2D();
  rates.forEach((rate, i) => {
    line.lineTo((i / (rates.length - 1)) * width, height - 3 - (rate / top) * (height - 8));
  });
  const style = getComputedStyle(document.documentElement);
  pen.strokeStyle = style.getPropertyValue("--blue");
  pen.lineWidth = 1.3;
  pen.stroke(line);
  line.lineTo(width, height);
  line.lineTo(0, height);
  pen.fillStyle = style.getPropertyValue("--blue-soft");
  pen.fill(line);
}

export function showTable(rows, about, kinds, aggregate) {
  const numeric = about.aggregates.map((name) => kinds[name] !== "text");
  const head = document.createElement("tr");
  head.append(element("th", "from (UTC)", "from"), element("th", "to (UTC)"));
  about.aggregates.forEach((name, i) => head.append(element("th", name, numeric[i] ? "number" : "text")));
  head.append(element("th", "revision", "number"), element("th", "state"));
  for (const cell of head.children) cell.scope = "col";
  const body = rows.map((row) => {
    const line = document.createElement("tr");
    line.className = row.complete ? "" : "open";
    line.append(element("td", moment(row.start), "from"), element("td", moment(row.end)));
    row.values.forEach((text, i) => {
      const chosen = about.aggregates[i] === aggregate ? " chosen" : "";
      const cell = element("td", text ?? "–", (numeric[i] ? "number" : "text") + chosen);
      if (!numeric[i] && text !== null) cell.title = text;
      line.append(cell);
    });
    line.append(element("td", String(row.revision), "number"));
    const state = element("td", row.complete ? "complete" : "open");
    if (row.corrections) state.append(element("span", ` ${corrected(row.corrections)}`, "mark"));
    line.append(state);
    return line;
  });
  byId("table").tHead.replaceChildren(head);
  byId("table").tBodies[0].replaceChildren(...body);
}

const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${count(n)} times`);
const corrected = (n) => `corrected ${times(n)}`;
const sum = (marks) => marks.reduce((total, [, n]) => total + n, 0);
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many}`;

/** Say in words what the chart shows. */
export function caption(data) {
  if (!data.points.length) return "";
  let least = data.points[0], greatest = data.points[0];
  for (const point of data.points) {
    if (numberOf(point[1]) < numberOf(least[1])) least = point;
    if (numberOf(point[1]) > numberOf(greatest[1])) greatest = point;
  }
  const parts = [
    `${plural(data.windows, "window", "windows")}, ${moment(data.points[0][0])} to ${moment(data.points.at(-1)[0])} UTC`,
    `least ${value(least[1])}, greatest ${value(greatest[1])}, last ${value(data.points.at(-1)[1])}`,
  ];
  if (data.nans) parts.push(`${count(data.nans)} not a number`);
  if (data.corrections.length) parts.push(plural(sum(data.corrections), "correction", "corrections"));
  if (data.late.length) parts.push(plural(sum(data.late), "row too late", "rows too late"));
  return parts.join(" · ");
}

/** Show a point: its value at once, and the window's exact text when that is known. */
export function showTip(chart, point, row, exact) {
  const tip = byId("tip");
  tip.hidden = !point;
  if (!point) return;
  const lines = [element("b", exact ?? value(point[1]))];
  lines.push(element("span", row ? `${moment(row.start)} to ${moment(row.end)} UTC` : `${moment(point[0])} UTC`));
  if (row) {
    const state = `${row.complete ? "complete" : "open"}, revision ${row.revision}`;
    lines.push(element("span", row.corrections ? `${state}, ${corrected(row.corrections)}` : state));
  }
  tip.replaceChildren(...lines);
  const x = chart.x(point[0]);
  const left = x + 14 + tip.offsetWidth > chart.width ? x - 14 - tip.offsetWidth : x + 14;
  tip.style.left = `${Math.max(0, left)}px`;
  const top = chart.y(numberOf(point[1])) - tip.offsetHeight - 12;
  tip.style.top = `${Math.max(0, Math.min(top, chart.height - tip.offsetHeight - 44))}px`;
}

/** Say why there is nothing to see, or clear that (null). */
export function showEmpty(title, text = "", hint = "") {
  byId("empty").hidden = title === null;
  byId("shown").hidden = title !== null;
  if (title === null) return;
  put("empty-title", title);
  put("empty-text", text);
  put("empty-hint", hint);
}
