// SPDX-License-Identifier: Apache-2.0
// What time lines share: the part of the time in view, times as text, canvases, packed numbers, mouse and keyboard.
//
// A `model` has the whole time (`first`, `last`) and the part in view (`from`, `to`), in picoseconds. A `drawing` has its
// `model`, the `canvas` of the lanes and the `overview`, the `width` of both, and `left`, where time begins.

const run = JSON.parse(document.getElementById("run").textContent);
const element = (id) => document.getElementById(id);

function make(tag, properties, ...children) {
  const node = document.createElement(tag);
  Object.assign(node, properties);
  node.append(...children);
  return node;
}

// ---- time ----

// The shortest span that can be looked at, in picoseconds.
const SHORTEST = 200;

function look(model, from, to) {
  const whole = model.last - model.first;
  const span = Math.min(Math.max(to - from, SHORTEST), whole);
  let start = to - from < span ? (from + to - span) / 2 : from;
  start = Math.min(Math.max(start, model.first), model.last - span);
  model.from = start;
  model.to = start + span;
}

function zoom(model, factor, around) {
  const from = around - (around - model.from) * factor;
  look(model, from, from + (model.to - model.from) * factor);
}

// Times as people read them, with as many places as a step needs, in the unit that fits the largest.
function timeText(picoseconds, step, largest) {
  const units = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"]];
  const size = largest ?? Math.abs(picoseconds);
  const [scale, unit] = units.find(([scale]) => size >= scale * 10) ?? units[3];
  const value = picoseconds / scale;
  const places = step ? Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9)) : 3;
  const text = value.toFixed(Math.min(places, 12));
  const trimmed = step ? text : text.replace(/\.?0+$/, "");
  const [whole, rest] = trimmed.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return `${rest ? `${grouped}.${rest}` : grouped} ${unit}`;
}

function exactNanoseconds(picoseconds) {
  const whole = Math.floor(picoseconds / 1000), rest = picoseconds % 1000;
  const grouped = String(whole).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return rest === 0 ? `${grouped} ns` : `${grouped}.${String(rest).padStart(3, "0").replace(/0+$/, "")} ns`;
}

// The first position of a list in order whose value is not before this one.
function lowerBound(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// Reads numbers one after the other from a text that `columns.rs` wrote.
function unpack(text) {
  const binary = atob(text);
  let at = 0;
  return () => {
    let byte = binary.charCodeAt(at++);
    let value = byte & 0x7f;
    for (let scale = 128; byte & 0x80; scale *= 128) {
      byte = binary.charCodeAt(at++);
      value += (byte & 0x7f) * scale;
    }
    return value;
  };
}

// ---- drawing ----

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const setTheme = (isDark) => { document.documentElement.dataset.theme = isDark ? "dark" : "light"; };
setTheme(prefersDark.matches);

const AXIS = 26;

// Colours that most people with colour vision deficiencies can distinguish, then hues around the circle.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8b6bd6", "#8c6239",
  "#7a9a01", "#c2185b"];
const NO_NAME = "#8a8f98";

function colourOf(name) {
  if (name < 0) return NO_NAME;
  if (name < COLOURS.length) return COLOURS[name];
  return `hsl(${Math.round((name * 137.508) % 360)} 55% 48%)`;
}

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function prepareCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function xOf(drawing, time) {
  const { model } = drawing;
  return drawing.left + ((time - model.from) / (model.to - model.from)) * (drawing.width - drawing.left);
}

function timeOf(drawing, x) {
  const { model } = drawing;
  const part = (x - drawing.left) / Math.max(1, drawing.width - drawing.left);
  return model.from + part * (model.to - model.from);
}

// The height that lanes may take: that of the middle without what is above and below them. Of what takes the rest
// of the middle the least height counts.
function room(canvas) {
  const box = canvas.parentElement, middle = box.parentElement;
  // Without the box's own border.
  let height = middle.clientHeight - (box.offsetHeight - box.clientHeight);
  for (const other of middle.children) {
    const { position, flexGrow, minHeight } = getComputedStyle(other);
    if (other === box || position === "absolute") continue;
    height -= Number(flexGrow) > 0 ? parseFloat(minHeight) : other.offsetHeight;
  }
  return Math.max(120, height) - AXIS;
}

// The distance of two ticks of the axis.
function axisStep(drawing) {
  const { model, width, left } = drawing;
  const most = Math.max(2, Math.floor((width - left) / 110));
  const raw = (model.to - model.from) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  return Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw));
}

function drawAxis(drawing, context) {
  const { model, width, height } = drawing;
  const step = axisStep(drawing);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let tick = Math.ceil(model.from / step); tick * step <= model.to; tick++) {
    const time = tick * step;
    if (time < 0) continue;
    const x = xOf(drawing, time);
    context.strokeStyle = style("--line");
    context.beginPath();
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, height);
    context.stroke();
    if (x > drawing.left + 20 && x < width - 30) {
      context.fillStyle = style("--soft");
      context.fillText(timeText(time, step, model.to), x, AXIS / 2);
    }
  }
}

// The part in view, on the overview.
function drawPartInView(drawing, context, height) {
  const { model, width, left } = drawing;
  const scale = (width - left) / (model.last - model.first);
  const start = left + (model.from - model.first) * scale;
  const span = Math.max(2, (model.to - model.from) * scale);
  context.fillStyle = style("--strong");
  context.globalAlpha = 0.14;
  context.fillRect(start, 1, span, height - 2);
  context.globalAlpha = 1;
  context.strokeStyle = style("--strong");
  context.strokeRect(start + 0.5, 1.5, Math.max(1, span - 1), height - 3);
}

// A text beside the pointer, or none.
function showTip(event, text) {
  const tip = element("tip");
  tip.hidden = text === null;
  if (text === null) return;
  tip.textContent = text;
  const box = element("middle").getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX - box.left + 14, Math.max(0, box.width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${event.clientY - box.top + 16}px`;
}

// ---- mouse and keyboard ----

// Zoom, moves and keys. `actions` has `redraw()`, `step(forward)` to the next or previous item, `click(x, y)` on the
// canvas, `close()` of the details, `hover(event)` and `leave()`, and `keys`, further keys with what they do.
function steer(drawing, actions) {
  const { model, canvas, overview } = drawing;
  const { redraw } = actions;
  const middle = () => (model.from + model.to) / 2;
  element("zoom-in").addEventListener("click", () => { zoom(model, 0.5, middle()); redraw(); });
  element("zoom-out").addEventListener("click", () => { zoom(model, 2, middle()); redraw(); });
  element("fit").addEventListener("click", () => { look(model, model.first, model.last); redraw(); });
  element("previous").addEventListener("click", () => actions.step(false));
  element("next").addEventListener("click", () => actions.step(true));
  element("close").addEventListener("click", () => actions.close());
  element("theme").addEventListener("click", () => {
    setTheme(document.documentElement.dataset.theme === "light");
    redraw();
  });
  prefersDark.addEventListener("change", () => { setTheme(prefersDark.matches); redraw(); });

  canvas.addEventListener("wheel", (event) => {
    // Shift scrolls the lanes, where there are more than fit.
    if (event.shiftKey) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const move = (event.deltaX / drawing.width) * (model.to - model.from);
      look(model, model.from + move, model.to + move);
    } else {
      zoom(model, 1.0015 ** Math.max(-400, Math.min(400, event.deltaY)), timeOf(drawing, event.offsetX));
    }
    redraw();
  }, { passive: false });

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.offsetX, from: model.from, to: model.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) { actions.hover(event); return; }
    const moved = event.offsetX - drag.x;
    if (Math.abs(moved) > 3) drag.moved = true;
    if (!drag.moved) return;
    canvas.classList.add("dragging");
    const move = (moved / (drawing.width - drawing.left)) * (drag.to - drag.from);
    look(model, drag.from - move, drag.to - move);
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    const was = drag;
    drag = null;
    canvas.classList.remove("dragging");
    if (was && !was.moved) actions.click(event.offsetX, event.offsetY);
  });
  canvas.addEventListener("pointerleave", () => {
    element("tip").hidden = true;
    actions.leave();
  });

  const jump = (event) => {
    const part = (event.offsetX - drawing.left) / (drawing.width - drawing.left);
    const time = model.first + part * (model.last - model.first), half = (model.to - model.from) / 2;
    look(model, time - half, time + half);
    redraw();
  };
  overview.addEventListener("pointerdown", (event) => { overview.setPointerCapture(event.pointerId); jump(event); });
  overview.addEventListener("pointermove", (event) => { if (event.buttons & 1) jump(event); });

  document.addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT"].includes(event.target.tagName) && event.target.type !== "checkbox") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = (part) => look(model, model.from + part * (model.to - model.from), model.to + part * (model.to - model.from));
    const keys = {
      "+": () => zoom(model, 0.5, middle()), "=": () => zoom(model, 0.5, middle()), "-": () => zoom(model, 2, middle()),
      "0": () => look(model, model.first, model.last),
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
      n: () => actions.step(true), p: () => actions.step(false), Escape: () => actions.close(), ...actions.keys,
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
    redraw();
  });
  new ResizeObserver(redraw).observe(element("middle"));
}
