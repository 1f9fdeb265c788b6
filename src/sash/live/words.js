// Numbers, times and sizes as people read them. All times are UTC, in microseconds since 1970.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const SECOND = 1e6, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const two = (n) => String(n).padStart(2, "0");

/** A count or a rate, with at most one decimal. */
export function count(value) {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) >= 1e9 ? compact.format(value) : grouped.format(value);
}

/** A value of a series: short enough for an axis or a caption. */
export function value(number) {
  if (typeof number === "string") return number.replace("inf", "∞");
  if (number !== 0 && (Math.abs(number) >= 1e9 || Math.abs(number) < 1e-4)) {
    return number.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
  }
  const short = Math.abs(number) >= 1000 ? { maximumFractionDigits: 1 } : { maximumSignificantDigits: 5 };
  return new Intl.NumberFormat("en", short).format(number);
}

/** Bytes in a unit that reads well. */
export function bytes(size) {
  if (size === null || size === undefined) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) { size /= 1000; unit += 1; }
  return `${size >= 100 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** A length of time, in its largest unit or two. */
export function duration(micros) {
  if (micros === null || micros === undefined) return "–";
  const sign = micros < 0 ? "-" : "";
  const left = Math.abs(micros);
  if (left < SECOND) return `${sign}${Math.round(left / 1000)} ms`;
  const parts = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
  const first = parts.findIndex(([size]) => left >= size);
  const big = Math.floor(left / parts[first][0]);
  let words = `${big} ${parts[first][1]}`;
  if (first + 1 < parts.length && big < 10) {
    const small = Math.floor((left % parts[first][0]) / parts[first + 1][0]);
    if (small) words += ` ${small} ${parts[first + 1][1]}`;
  }
  return sign + words;
}

/** A moment: as exact as it has to be, and no more. */
export function moment(micros) {
  if (micros === null || micros === undefined) return "–";
  const date = new Date(Math.floor(micros / 1000));
  if (Number.isNaN(date.getTime())) return `${micros} µs`;
  const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
  const rest = ((micros % MINUTE) + MINUTE) % MINUTE;
  if (rest === 0) return `${day} ${time}`;
  const seconds = two(Math.floor(rest / SECOND));
  const fraction = rest % SECOND;
  if (fraction === 0) return `${day} ${time}:${seconds}`;
  return `${day} ${time}:${seconds}.${String(fraction).padStart(6, "0").replace(/0+$/, "")}`;
}

/** About `wanted` round numbers from low to high. */
export function numberTicks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high && ticks.length < 50; i += 1) {
    ticks.push(i * step);
  }
  return { ticks, digits: Math.max(0, Math.min(20, decimals(step))) };
}

/** How many decimals a step of an axis needs. */
function decimals(step) {
  const power = Math.floor(Math.log10(step) + 1e-9);
  return (Math.abs(step / 10 ** power - 2.5) < 1e-6 ? 1 : 0) - power;
}

const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => n),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => n * 1000),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14].map((n) => n * DAY),
];

/** Moments for an axis, with their labels: at most `most` of them. */
export function timeTicks(from, to, most) {
  const rough = (to - from) / Math.max(most, 1);
  const step = STEPS.find((s) => s >= rough);
  if (step === undefined) return monthTicks(from, to, rough);
  const offset = step % (7 * DAY) === 0 ? 4 * DAY : 0; // weeks begin on Monday
  const ticks = [];
  let day = "";
  for (let i = Math.ceil((from - offset) / step); i * step + offset <= to; i += 1) {
    const at = i * step + offset;
    const date = new Date(at / 1000);
    const thisDay = `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}`;
    let label = step >= DAY ? thisDay : clock(at, step);
    if (step < DAY && (thisDay !== day || at % DAY === 0)) label = `${thisDay} ${label}`;
    if (step < DAY && at % DAY === 0) label = thisDay;
    if (ticks.length === 0) label += step >= DAY ? ` ${date.getUTCFullYear()}` : "";
    day = thisDay;
    ticks.push({ at, label });
  }
  return ticks;
}

function clock(micros, step) {
  const date = new Date(Math.floor(micros / 1000));
  const minutes = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
  if (step >= MINUTE) return minutes;
  const seconds = two(date.getUTCSeconds());
  if (step >= SECOND) return `${minutes}:${seconds}`;
  const digits = step >= 1000 ? 3 : 6;
  const fraction = String(((micros % SECOND) + SECOND) % SECOND).padStart(6, "0").slice(0, digits);
  return `${minutes}:${seconds}.${fraction}`;
}

function monthTicks(from, to, rough) {
  const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000];
  const step = months.find((n) => n * 30.5 * DAY >= rough) ?? 120000;
  const first = new Date(from / 1000);
  const ticks = [];
  let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step;
  for (; ticks.length < 60; month += step) {
    const date = new Date(Date.UTC(2000, month - 24000));
    const at = date.getTime() * 1000;
    if (!(at <= to)) break;
    if (at < from) continue;
    const year = String(date.getUTCFullYear());
    const name = MONTHS[date.getUTCMonth()];
    const label = step >= 12 ? year : ticks.length === 0 || name === "Jan" ? `${name} ${year}` : name;
    ticks.push({ at, label });
  }
  return ticks;
}
