// SPDX-License-Identifier: Apache-2.0
// The items of a time line: their list, the selected one, the search.
//
// A page has `model` with `time` and `chosen` (the numbers of the items that the filters leave, in order of time), its
// `drawing` with `selected`, `places` and `where`, and the functions `draw(drawing)`, `showStatus()`, `showDetails()`,
// `filtersChanged()` and `listLine(item)`, which makes the parts of a line of the list. Up to `MOST_SINGLE` items are
// drawn one by one.

const number = (value) => value.toLocaleString("en-US");

let drawn = false;
function redraw() {
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => {
    drawn = false;
    draw(drawing);
    showStatus();
    showList();
  });
}

// The first position in the chosen items whose time is not before this.
function firstAt(model, time) {
  let low = 0, high = model.chosen.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (model.time[model.chosen[middle]] < time) low = middle + 1; else high = middle;
  }
  return low;
}

// Positions [from, to) of chosen items that the view shows.
function shown(model) {
  return [firstAt(model, model.from), firstAt(model, model.to)];
}

// Most lines of the list.
const LISTED = 200;
let listed = "";

// The first items in view, a line each.
function showList() {
  const [from, to] = shown(model);
  const end = Math.min(to, from + LISTED);
  const state = `${from} ${to} ${model.chosen.length} ${model.chosen[from]} ${drawing.selected}`;
  if (state === listed) return;
  listed = state;
  const lines = [];
  for (let position = from; position < end; position++) {
    const at = model.chosen[position];
    const line = make("button", { className: at === drawing.selected ? "selected" : "" }, ...listLine(at));
    line.addEventListener("click", () => select(at, true));
    lines.push(make("li", {}, line));
  }
  if (to > end) lines.push(make("li", { className: "more", textContent: `and ${number(to - end)} more in view` }));
  if (lines.length === 0) lines.push(make("li", { className: "more", textContent: "nothing in view" }));
  element("list").replaceChildren(...lines);
}

// A dot in a colour.
function dotOf(colour) {
  const dot = make("span", { className: "dot" });
  dot.style.background = colour;
  return dot;
}

// Selects an item, or none with -1. `reveal` brings it into view, large enough to see it alone.
function select(at, reveal) {
  drawing.selected = at;
  if (at >= 0 && reveal) {
    const time = model.time[at];
    if (time < model.from || time > model.to) {
      const half = (model.to - model.from) / 2;
      look(model, time - half, time + half);
    }
    for (let tries = 0; tries < 60; tries++) {
      const [from, to] = shown(model);
      if (to - from <= MOST_SINGLE || model.to - model.from <= SHORTEST) break;
      zoom(model, 0.5, time);
    }
    drawing.scrollTo?.(at);
  }
  showDetails();
  redraw();
}

// The next or previous of the chosen items after the selected one; the first in view at first.
function step(forward) {
  if (model.chosen.length === 0) return;
  let position;
  if (drawing.selected < 0) {
    position = Math.min(firstAt(model, model.from), model.chosen.length - 1);
  } else {
    position = lowerBound(model.chosen, drawing.selected);
    if (model.chosen[position] === drawing.selected) position += forward ? 1 : -1;
    else if (!forward) position -= 1;
  }
  if (position >= 0 && position < model.chosen.length) select(model.chosen[position], true);
}

// A button that selects an item.
function referenceTo(at, text) {
  const button = make("button", { className: "reference", textContent: text });
  button.dataset.item = at;
  button.addEventListener("click", () => select(at, true));
  return button;
}

function makeSearch() {
  let waiting = 0;
  element("search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { model.search = event.target.value; filtersChanged(); }, 150);
  });
}

function appendRow(table, cells, tag) {
  table.append(make("tr", {}, ...cells.map((cell) => make(tag, {
    textContent: typeof cell === "number" ? number(cell) : cell }))));
}

// For tests and scripts: where an item stands in the window, if it is drawn by itself.
function placeInWindow(at) {
  const index = drawing.where.get(at);
  if (index === undefined) return null;
  const box = drawing.canvas.getBoundingClientRect(), found = drawing.places[index];
  return [box.left + found.x, box.top + found.y];
}
