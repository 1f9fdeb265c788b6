// The page: what is picked, what is in view, and a poll every second.

import { Chart } from "./chart.js";
import { listen, moved, zoomed } from "./moves.js";
import { byId, caption, showEmpty, showHealth, showState, showTable, showTip } from "./panels.js";
import { Picker } from "./picker.js";

const EVERY = 1000; // milliseconds between polls
const SPEAK = 15000; // and between summaries for screen readers

// view: null for all there is, {span} for the newest stretch, {from, to} for a fixed one
const picked = { key: null, window: null, aggregate: null, view: null };
let about = null, health = null, data = null, drawn = "", pointed = null, spokenAt = 0;

const chart = new Chart(byId("chart"));
const picker = new Picker(byId("key"), byId("key-list"), (text) => ask("keys", { search: text }), (key, label) => {
  picked.key = key;
  picker.show(label);
  changed();
});

class Refused extends Error {}

async function ask(name, params = {}) {
  const query = new URLSearchParams(params).toString();
  const patience = name === "series" ? 60000 : 8000; // the first look at a long series takes seconds
  const answer = await fetch(`api/${name}${query ? `?${query}` : ""}`, { signal: AbortSignal.timeout(patience) });
  if (answer.status === 401) throw new Refused();
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

// ---- what is picked ----------------------------------------------------------------------------

function readHash() {
  const params = new URLSearchParams(location.hash.slice(1));
  for (const name of ["key", "window", "aggregate"]) picked[name] = params.get(name) ?? picked[name];
  const [from, to, span] = ["from", "to", "span"].map((name) => Number(params.get(name) ?? NaN));
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to) && from < to) picked.view = { from, to };
  else picked.view = Number.isSafeInteger(span) && span > 0 ? { span } : null;
}

function writeHash() {
  const params = new URLSearchParams();
  for (const name of ["key", "window", "aggregate"]) if (picked[name] !== null) params.set(name, picked[name]);
  for (const [name, value] of Object.entries(picked.view ?? {})) params.set(name, value);
  history.replaceState(null, "", `#${params}`);
}

function fill(select, names, chosen, isText) {
  select.replaceChildren(...names.map((name) => {
    const option = document.createElement("option");
    option.value = name;
    option.textContent = isText(name) ? `${name} (text)` : name;
    option.disabled = isText(name);
    return option;
  }));
  select.value = chosen;
}

/** Keep what was picked where it still exists, else take the first of each. */
async function settle() {
  const isText = (name) => health.kinds[name] === "text";
  const drawable = about.aggregates.filter((name) => !isText(name));
  if (!about.windows.includes(picked.window)) picked.window = about.windows[0];
  if (!drawable.includes(picked.aggregate)) picked.aggregate = drawable[0] ?? null;
  fill(byId("window"), about.windows, picked.window, () => false);
  fill(byId("aggregate"), about.aggregates, picked.aggregate, isText);
  byId("key-field").hidden = about.keys.length === 0;
  byId("key-label").textContent = about.keys.join(" · ") || "key";
  if (picked.key === null || !isKey(picked.key)) {
    const { keys } = await ask("keys");
    picked.key = keys.length ? keys[0].key : null;
  }
  if (picked.key !== null) picker.show(JSON.parse(picked.key).map((part) => part ?? "null").join(" · "));
}

function isKey(text) {
  try {
    const parts = JSON.parse(text);
    return Array.isArray(parts) && parts.length === about.keys.length;
  } catch {
    return false;
  }
}

// ---- what is in view ---------------------------------------------------------------------------

function look(view) {
  picked.view = view;
  if (view && "from" in view && data) chart.show(data, view, chart.watermark);
  changed();
}

const following = () => picked.view === null || "span" in picked.view;
const inView = () => (chart.view ? { ...chart.view } : null);

const act = {
  zoom(factor, at) {
    const view = inView();
    if (!view) return;
    if (at === undefined && following()) {
      const next = zoomed(view, factor, view.to, data?.extent);
      look({ span: next.to - next.from });
    } else look(zoomed(view, factor, at ?? (view.from + view.to) / 2, data?.extent));
  },
  move(by) {
    const view = inView();
    if (view) look(moved(view, by, data?.extent));
  },
  reset() { look(null); },
  point(x) { point(x === null ? null : chart.nearest(x)); },
};

function byHand(part) {
  const view = inView();
  if (view) act.move((view.to - view.from) * part);
}

function follow() {
  const view = inView();
  if (view) look(following() ? view : { span: view.to - view.from });
}

// ---- asking and showing ------------------------------------------------------------------------

let asking = false, again = false, fitted = true;

/** Something was picked or moved: show it soon. One question at a time is under way. */
async function changed() {
  writeHash();
  byId("follow").setAttribute("aria-pressed", String(following()));
  if (asking) { again = true; return; }
  asking = true;
  try {
    do {
      again = false;
      await draw();
    } while (again);
  } catch (error) {
    failed(error);
  } finally {
    asking = false;
  }
}

async function draw() {
  if (!about) return;
  await settle();
  if (picked.key === null) return nothing("No window has been told yet.");
  const place = { key: picked.key, window: picked.window };
  const view = picked.view;
  const asked = JSON.stringify(picked);
  const columns = chart.columns;
  const [table, series] = await Promise.all([
    ask("table", { ...place, rows: 50 }),
    picked.aggregate && ask("series", { ...place, aggregate: picked.aggregate, columns, ...view }),
  ]);
  if (table.rows === undefined || (series && series.points === undefined)) return;
  showTable(table.rows, about, health.kinds, picked.aggregate);
  if (JSON.stringify(picked) !== asked && again) {
    if (series) data = series; // the view has moved on: the next answer is drawn
    return;
  }
  drawn = seen();
  if (!series) return nothing("All aggregates are texts, which have no line: see the table.");
  data = series;
  const to = series.from === null ? null : { from: series.from, to: series.to };
  chart.show(data, to, health.last?.watermark ?? null);
  fitted = !fitted || chart.columns === columns; // the labels took another width: ask once more
  again ||= !fitted;
  if (!series.points.length) {
    return nothing(series.extent ? "No windows in this stretch of time." : "This key has no such windows.", false);
  }
  byId("nothing").hidden = true;
  summarise();
  if (pointed) point(data.points.find(([at]) => at === pointed[0]) ?? null);
}

function nothing(words, clear = true) {
  if (clear) { data = null; chart.show(null, null, null); }
  byId("nothing").textContent = words;
  byId("nothing").hidden = false;
  byId("caption").textContent = "";
  point(null);
}

function summarise() {
  const words = caption(data);
  byId("caption").textContent = words;
  if (Date.now() - spokenAt < SPEAK) return;
  spokenAt = Date.now();
  byId("spoken").textContent = `${picker.label} ${picked.window} ${picked.aggregate}: ${words}`;
}

let tipTimer = 0;

function point(found) {
  const same = found && pointed && found[0] === pointed[0] && found[1] === pointed[1];
  pointed = found;
  chart.hover = found;
  chart.draw();
  if (same && !byId("tip").hidden) return;
  showTip(chart, found);
  clearTimeout(tipTimer);
  if (found) tipTimer = setTimeout(() => exactTip(found), 60);
}

async function exactTip(found) {
  try {
    const { rows } = await ask("table", { key: picked.key, window: picked.window, at: found[0], rows: 1 });
    if (pointed !== found || !rows?.length) return;
    showTip(chart, found, rows[0], rows[0].values[about.aggregates.indexOf(picked.aggregate)]);
  } catch (error) {
    failed(error);
  }
}

// ---- polling -----------------------------------------------------------------------------------

/** What the last answer depended on, besides what is picked. */
const seen = () => JSON.stringify([health.id, health.batch, health.last?.watermark, about]);

async function poll() {
  const found = await ask("health");
  if (found.missing) {
    about = null;
    showState("starting", "waiting");
    return showEmpty("No pipeline has written here yet", found.missing, "Start it with sash run. This page goes on looking.");
  }
  if (found.broken) {
    about = null;
    showState("broken", "cannot be read");
    return showEmpty("This history cannot be shown", found.broken);
  }
  health = found;
  about = found.about;
  showEmpty(null);
  showHealth(health, about);
  if (drawn !== seen()) await changed();
  return undefined;
}

function failed(error) {
  if (error instanceof Refused) showState("refused", "needs its token: open the address that sash live printed");
  else showState("lost", "connection lost, trying again");
}

async function polling() {
  if (!document.hidden) {
    try { await poll(); } catch (error) { failed(error); }
  }
  setTimeout(polling, EVERY);
}

byId("window").addEventListener("change", (event) => { picked.window = event.target.value; changed(); });
byId("aggregate").addEventListener("change", (event) => { picked.aggregate = event.target.value; changed(); });
byId("back").addEventListener("click", () => byHand(-0.25));
byId("forth").addEventListener("click", () => byHand(0.25));
byId("in").addEventListener("click", () => act.zoom(0.5));
byId("out").addEventListener("click", () => act.zoom(2));
byId("whole").addEventListener("click", () => act.reset());
byId("follow").addEventListener("click", follow);
addEventListener("hashchange", () => { readHash(); changed(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.draw());
let resized = 0;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(changed, 150); });
listen(chart, act);
readHash();
polling();
