// Zooming and moving: wheel, drag, pinch, keys and buttons, all as changes of what is in view.

const LEAST = 20; // microseconds in view

/** The stretch that a zoom leaves, with the moment `at` staying where it is. */
export function zoomed({ from, to }, factor, at, extent) {
  const most = extent ? Math.max((extent[1] - extent[0]) * 4, 4e6) : Infinity;
  const span = Math.min(Math.max((to - from) * factor, LEAST), Math.max(most, to - from));
  const start = Math.round(at - ((at - from) / (to - from)) * span);
  return { from: start, to: start + Math.max(LEAST, Math.round(span)) };
}

/** The stretch moved by so many microseconds, but not away from all there is. */
export function moved({ from, to }, by, extent) {
  let shift = Math.round(by);
  if (extent) {
    const room = (to - from) * 0.9;
    shift = Math.min(Math.max(shift, extent[0] - room - from), extent[1] + room - to);
    shift = Math.round(shift);
  }
  return { from: from + shift, to: to + shift };
}

/**
 * Listens on the chart. `act` has: zoom(factor, at), move(by), reset(), point(x or null).
 */
export function listen(chart, act) {
  const canvas = chart.canvas;
  const fingers = new Map();
  let pinch = null;
  const place = (event) => event.clientX - canvas.getBoundingClientRect().left;

  canvas.addEventListener("wheel", (event) => {
    if (!chart.view) return;
    event.preventDefault();
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const span = chart.view.to - chart.view.from;
    if (sideways) act.move((event.deltaX / chart.width) * span);
    else act.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * 0.0022))), chart.timeAt(place(event)));
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, place(event));
    canvas.setPointerCapture(event.pointerId);
    pinch = null;
  });

  canvas.addEventListener("pointermove", (event) => {
    if (!chart.view) return;
    const x = place(event);
    if (fingers.has(event.pointerId)) {
      const was = fingers.get(event.pointerId);
      if (fingers.size === 1 && Math.abs(x - was) < 2) return;
      fingers.set(event.pointerId, x);
      if (fingers.size === 1) {
        canvas.classList.add("dragging");
        act.move(chart.timeAt(was) - chart.timeAt(x));
      } else pinched();
    }
    act.point(x);
  });

  function pinched() {
    const [a, b] = [...fingers.values()];
    const apart = Math.max(10, Math.abs(a - b));
    if (pinch !== null) act.zoom(pinch / apart, chart.timeAt((a + b) / 2));
    pinch = apart;
  }

  const lift = (event) => {
    fingers.delete(event.pointerId);
    pinch = null;
    canvas.classList.remove("dragging");
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") act.point(null); });
  canvas.addEventListener("dblclick", () => act.reset());
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !chart.view) return;
    const span = chart.view.to - chart.view.from;
    const deeds = {
      "+": () => act.zoom(0.5), "=": () => act.zoom(0.5), "-": () => act.zoom(2),
      ArrowLeft: () => act.move(-span / 5), ArrowRight: () => act.move(span / 5),
      Home: () => act.reset(), 0: () => act.reset(), Escape: () => act.point(null),
    };
    if (!deeds[event.key]) return;
    event.preventDefault();
    deeds[event.key]();
  });
}
