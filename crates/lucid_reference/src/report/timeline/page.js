// SPDX-License-Identifier: Apache-2.0
// The page around the drawing: filters, legend, topology, details, counters; mouse and keyboard.

const model = makeModel(run);
const canvas = element("canvas");
const drawing = makeDrawing(model, canvas, element("overview"));

function showStatus() {
  const [from, to] = shown(model);
  const summed = drawing.summed ? ", summed up" : "";
  const omitted = run.omitted > 0 ? ` (${number(run.omitted)} later ones are not in this file)` : "";
  element("status").textContent = `${number(to - from)} of ${number(model.count)} shown${omitted}, ` +
    `${timeText(Math.max(0, model.from))} to ${timeText(model.to)}${summed}`;
}

function listLine(at) {
  return [make("span", { className: "time", textContent: exactNanoseconds(model.time[at]) }),
    make("span", { className: "kind", textContent: `switch ${model.lane[at]}` }), dotOf(colourOf(model.name[at])),
    make("span", { className: "what", textContent: itemText(model, at) }),
    make("span", { className: "kind", textContent: KINDS[model.kind[at]] })];
}

// ---- filters ----

function choice(list, key, label, colour, count, state, index) {
  const box = make("input", { type: "checkbox", checked: state[index] });
  box.dataset.index = index;
  box.addEventListener("change", () => {
    state[index] = box.checked;
    filtersChanged();
  });
  const parts = [box];
  if (colour) parts.push(dotOf(colour));
  parts.push(make("span", { className: "name", textContent: label, title: label }));
  parts.push(make("span", { className: "count", textContent: count.toLocaleString("en-US") }));
  const row = make("li", {}, make("label", {}, ...parts));
  row.dataset[key] = label;
  list.append(row);
}

function filtersChanged() {
  choose(model);
  for (const [id, state] of [["legend", model.names], ["switches", model.lanes]]) {
    for (const box of element(id).querySelectorAll("input")) box.checked = state[box.dataset.index];
  }
  for (const circle of document.querySelectorAll("#topology circle")) {
    circle.classList.toggle("hidden", !model.lanes[circle.dataset.switch]);
  }
  redraw();
}

function makeFilters() {
  run.names.forEach((name, index) => {
    if (model.nameCounts[index] > 0) {
      choice(element("legend"), "name", name, colourOf(index), model.nameCounts[index], model.names, index);
    }
  });
  const others = run.names.length;
  if (model.nameCounts[others] > 0) {
    choice(element("legend"), "name", "commands, links, packets", NO_NAME, model.nameCounts[others],
      model.names, others);
  }
  for (let number = 0; number < run.switches; number++) {
    choice(element("switches"), "switch", `switch ${number}`, null, model.laneCounts[number], model.lanes,
      number);
  }
  for (const [mark, meaning] of [["\u25cf", "handled"], ["\u25cb", "at egress"], ["\u25b6", "left"],
    ["\u2715", "dropped"], ["\u25c6", "command, link"]]) {
    element("marks").append(make("li", {}, make("b", { textContent: mark }), meaning));
  }
  for (const [id, state, value] of [["all-names", model.names, true], ["no-names", model.names, false],
    ["all-switches", model.lanes, true], ["no-switches", model.lanes, false]]) {
    element(id).addEventListener("click", () => { state.fill(value); filtersChanged(); });
  }
  makeSearch();
}

// ---- topology ----

function makeTopology() {
  const svg = element("topology");
  const size = 226, middle = size / 2, count = run.switches;
  svg.setAttribute("viewBox", `0 0 ${size} ${count === 1 ? 44 : size}`);
  const radius = count === 1 ? 0 : middle - 20;
  const node = count > 40 ? 3 : count > 16 ? 8 : 13;
  const place = (number) => {
    const angle = (2 * Math.PI * number) / count - Math.PI / 2;
    return count === 1 ? [middle, 22] : [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
  };
  const shape = (tag, attributes, title) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (title) {
      const text = document.createElementNS("http://www.w3.org/2000/svg", "title");
      text.textContent = title;
      made.append(text);
    }
    svg.append(made);
    return made;
  };
  // How many events went from switch to switch.
  const sent = new Map();
  for (let at = 0; at < model.count; at++) {
    const from = model.cause[at];
    if (from < 0 || model.lane[from] === model.lane[at]) continue;
    const key = [model.lane[from], model.lane[at]].sort((one, other) => one - other).join(" ");
    sent.set(key, (sent.get(key) ?? 0) + 1);
  }
  for (const [from, fromPort, to, toPort] of run.links) {
    const [x1, y1] = place(from), [x2, y2] = place(to);
    const events = sent.get([from, to].sort((one, other) => one - other).join(" ")) ?? 0;
    shape("line", { x1, y1, x2, y2, "stroke-width": 1 + Math.min(4, Math.log10(1 + events)) },
      `${from}:${fromPort} to ${to}:${toPort}: ${events.toLocaleString("en-US")} events`);
  }
  for (let number = 0; number < count; number++) {
    const [cx, cy] = place(number);
    const circle = shape("circle", { cx, cy, r: node, "data-switch": number }, `switch ${number}`);
    circle.addEventListener("click", () => {
      model.lanes[number] = !model.lanes[number];
      filtersChanged();
    });
    if (node > 3) shape("text", { x: cx, y: cy }).textContent = number;
  }
}

// ---- details ----

function dotted(at, text) {
  return make("h3", {}, dotOf(colourOf(model.name[at])), ` ${text}`);
}

function showDetails() {
  const box = element("details"), at = drawing.selected;
  box.replaceChildren();
  if (at < 0) {
    box.append(make("p", { textContent: "Click an event for its arguments, what it generated and what " +
      "it read and wrote. Scroll or press + and - to zoom, drag to move, 0 shows everything." }));
    return;
  }
  const items = model.items;
  box.append(dotted(at, itemName(model, at)));
  const what = model.kind[at] === HANDLED && items.stage[at] === 1 ? "handled at egress"
    : model.kind[at] === HANDLED && items.stage[at] === 2 ? "handled by the control processor" : KINDS[model.kind[at]];
  const port = items.port[at] === null ? "" : `, port ${items.port[at]}`;
  box.append(make("p", { textContent: `${what} at switch ${model.lane[at]}${port}` }));
  box.append(make("p", { id: "detail-time", textContent: exactNanoseconds(model.time[at]) }));
  if (items.note[at]) box.append(make("p", { textContent: items.note[at] }));

  const values = items.arguments[at];
  if (model.name[at] >= 0 && values && values.length > 0) {
    const table = make("table", { id: "detail-arguments" });
    values.forEach((value, index) => {
      const name = run.parameters[model.name[at]][index] ?? String(index);
      table.append(make("tr", {}, make("td", { textContent: name }), make("td", { textContent: String(value) })));
    });
    box.append(make("h4", { textContent: "Arguments" }), table);
  }
  const cause = model.cause[at];
  if (cause >= 0) {
    box.append(make("h4", { textContent: "Generated by" }), make("div", { id: "detail-cause" },
      referenceTo(cause, `${itemText(model, cause)} at switch ${model.lane[cause]}, ${exactNanoseconds(model.time[cause])}`)));
  }
  const details = run.details[at] ?? [];
  const part = (title, id, kinds, show) => {
    const found = details.filter((detail) => kinds.includes(detail[0]));
    if (found.length === 0) return;
    const list = make("ul", { id });
    for (const detail of found) list.append(make("li", {}, show(detail)));
    box.append(make("h4", { textContent: title }), list);
  };
  const text = (className) => (detail) => make("pre", { textContent: detail[1], className });
  part("Printed", "detail-printed", ["printed"], text(""));
  part("Faults", "detail-faults", ["fault"], text("bad"));
  part("Calls", "detail-calls", ["call"], text(""));
  part("State", "detail-accesses", ["access"], text(""));
  part("Generated", "detail-generated", ["generated"], ([, occurrence, name, where]) => {
    const targets = (model.ofOccurrence.get(occurrence) ?? []).filter((target) => target !== at);
    const target = targets.find((each) => model.items.stage[each] !== 1) ?? targets[0];
    const label = `${name} ${where}`;
    return target === undefined ? make("pre", { textContent: label }) : referenceTo(target, label);
  });
}

// ---- counters ----

function makeCounters() {
  const table = element("counters").querySelector("table");
  // Counters that are zero everywhere say nothing.
  const kept = run.counters.names.map((_, index) => index)
    .filter((index) => index === 0 || run.counters.rows.some((counts) => counts[index] > 0));
  const row = (cells, tag) => appendRow(table, cells, tag);
  row(["switch", ...kept.map((index) => run.counters.names[index])], "th");
  run.counters.rows.forEach((counts, number) => row([String(number), ...kept.map((index) => counts[index])], "td"));
  if (run.counters.rows.length > 1) {
    row(["all", ...kept.map((index) => run.counters.rows.reduce((sum, counts) => sum + counts[index], 0))], "td");
  }
}

// ---- input ----

function makeInput() {
  steer(drawing, {
    redraw, step,
    click(x, y) {
      if (drawing.summed) {
        zoom(model, 0.2, timeOf(drawing, x));
        redraw();
      } else {
        select(itemNear(drawing, x, y));
      }
    },
    close: () => select(-1),
    hover,
    leave() {
      drawing.hovered = -1;
      redraw();
    },
  });
  element("counters").addEventListener("toggle", redraw);
}

function hover(event) {
  const at = drawing.summed ? -1 : itemNear(drawing, event.offsetX, event.offsetY);
  if (at !== drawing.hovered) { drawing.hovered = at; redraw(); }
  showTip(event, at < 0 ? null
    : `${itemText(model, at)} ${KINDS[model.kind[at]]}, ${exactNanoseconds(model.time[at])}`);
}

element("title").textContent = run.title;
makeFilters();
makeTopology();
makeCounters();
makeInput();
showDetails();
redraw();
// For tests and scripts.
window.timeline = { model, drawing, place: placeInWindow };
