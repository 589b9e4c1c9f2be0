// SPDX-License-Identifier: Apache-2.0
// The page around the drawing: filters, legend, list, details, totals; what mouse and keyboard do.

const started = performance.now();
const model = makeModel(run);
const canvas = element("canvas");
const drawing = makeDrawing(model, canvas, element("overview"));
element("lanes").append(make("div", { id: "extent" }));
model.order = "file";
model.showsIdle = false;
model.onlyInView = false;
layOutRows(drawing);

function showStatus() {
  const [from, to] = shown(model);
  const summed = drawing.summed ? ", summed up" : "";
  element("status").textContent = `${number(to - from)} of ${number(model.count)} events of frames in view${summed}, ` +
    `${timeText(Math.max(0, model.from))} to ${timeText(Math.max(0, Math.min(model.to, run.until)))}`;
}

function listLine(at) {
  return [make("span", { className: "time", textContent: exactTime(model.time[at]) }),
    make("span", { className: "kind", textContent: `${portName(model, model.port[at])} ${kindText(model, model.kind[at])}` }),
    dotOf(colourOf(model.flow[at] % 10)),
    make("span", { className: "what", textContent: `${flowText(model, model.flow[at])}, ${bytesText(model.length[at])}` })];
}

// ---- filters ----

function choice(list, name, label, count, isOn, change) {
  const box = make("input", { type: "checkbox", checked: isOn() });
  box.addEventListener("change", () => { change(box.checked); filtersChanged(); });
  box.isOn = isOn;
  const parts = [box, make("span", { className: "name", textContent: label, title: label })];
  if (count !== null) parts.push(make("span", { className: "count", textContent: number(count) }));
  const row = make("li", {}, make("label", {}, ...parts));
  row.dataset.name = name;
  list.append(row);
}

function filtersChanged() {
  choose(model);
  layOutRows(drawing);
  for (const box of document.querySelectorAll(".choices input")) box.checked = box.isOn();
  redraw();
}

function makeFilters() {
  for (const kind of [...model.kinds.keys()].sort((one, other) => (one & 3) - (other & 3) || one - other)) {
    choice(element("kinds"), kindText(model, kind), kindText(model, kind), model.kinds.get(kind),
      () => model.shownKinds.get(kind), (value) => model.shownKinds.set(kind, value));
  }
  const counts = new Float64Array(run.nodes.length);
  for (let at = 0; at < model.count; at++) counts[run.ports[model.port[at]][0]]++;
  run.nodes.forEach(([name], node) => {
    choice(element("nodes"), name, name, counts[node], () => model.nodes[node], (value) => { model.nodes[node] = value; });
  });
  const set = (id, change) => element(id).addEventListener("click", () => { change(); filtersChanged(); });
  const setKinds = (value) => { for (const key of model.shownKinds.keys()) model.shownKinds.set(key, value); };
  set("all-kinds", () => setKinds(true));
  set("no-kinds", () => setKinds(false));
  set("all-nodes", () => model.nodes.fill(true));
  set("no-nodes", () => model.nodes.fill(false));
  element("order").addEventListener("change", (event) => { model.order = event.target.value; filtersChanged(); });
  element("in-view").addEventListener("change", (event) => { model.onlyInView = event.target.checked; filtersChanged(); });
  element("idle").addEventListener("change", (event) => { model.showsIdle = event.target.checked; filtersChanged(); });
  makeSearch();
  for (const [colour, meaning] of [["--use", "use of the link, full height is 100 %"],
    ["--queue", "packets that wait: mean, least to most"], ["--bad", "frames dropped by the node"],
    ["--lost", "frames lost on the link"]]) {
    const mark = make("b", {});
    mark.style.background = `var(${colour})`;
    element("legend").append(make("li", {}, mark, make("span", { textContent: meaning })));
  }
  const [from, to] = run.window, hints = [];
  if (from > 0 || to !== null) {
    hints.push(`Single frames from ${timeText(from)} to ${to === null ? "the end" : timeText(to)}; sums of the whole run.`);
  }
  if (run.omitted) {
    hints.push(`Single frames until ${timeText(run.omitted[1])}; ${number(run.omitted[0])} later ones are only in the sums. ` +
      "--timeline-from and --timeline-to choose others.");
  }
  if (run.omittedActivities) hints.push(`${number(run.omittedActivities)} later dialogues of reactions are left out.`);
  element("kept").hidden = hints.length === 0;
  element("kept").textContent = hints.join(" ");
}

// ---- details ----

// The lane of an item comes into the window.
drawing.scrollTo = (at) => {
  const row = drawing.rowOfPort.get(model.port[at]);
  const box = element("lanes");
  if (row === undefined) return;
  const top = drawing.tops[row], room = box.clientHeight - AXIS;
  if (top < box.scrollTop || top + LANE > box.scrollTop + room) box.scrollTop = top - room / 2;
};

function reference(at) {
  return referenceTo(at, `${kindText(model, model.kind[at])} at ${portName(model, model.port[at])}, ${exactTime(model.time[at])}`);
}

function showDetails() {
  const box = element("details"), at = drawing.selected;
  box.replaceChildren();
  if (at < 0) {
    box.append(make("p", { textContent: "Zoom in until single frames are drawn, and click one for its fields and its path. " +
      "Scroll or press + and - to zoom, drag to move, 0 shows everything; shift and scroll moves the lanes." }));
    return;
  }
  const [source, destination, protocol, from, to, , , name] = run.flows[model.flow[at]];
  const end = (text, node) => (node === null || node === undefined ? text : `${text} (${run.nodes[node][0]})`);
  const port = model.port[at];
  box.append(make("h3", { textContent: `${kindText(model, model.kind[at])} at ${portName(model, port)}` }));
  box.append(make("p", { id: "detail-time", textContent: exactTime(model.time[at]) }));
  const table = make("table", { id: "detail-fields" });
  const field = (label, value) => {
    if (value) table.append(make("tr", {}, make("td", { textContent: label }), make("td", { textContent: value })));
  };
  field("protocol", protocol);
  field("source", end(source, from));
  field("destination", end(destination, to));
  field("length", bytesText(model.length[at]));
  field("application", name);
  field("link", `${portName(model, port)} \u2013 ${portName(model, peerOf(port))}`);
  if ((model.kind[at] & 3) === SENT && run.ports[port][2]) {
    field("on the wire", `${exactTime(Math.round(wireTime(model, at)))} at ${rateText(run.ports[port][2])}`);
  }
  box.append(make("h4", { textContent: "Frame" }), table);
  // The path of the frame: everything before, and what followed.
  const path = [];
  for (let before = model.cause[at]; before >= 0 && path.length < 64; before = model.cause[before]) path.unshift(before);
  path.push(at);
  for (let after = model.follower[at]; after >= 0 && path.length < 128; after = model.follower[after]) path.push(after);
  const list = make("ul", { id: "detail-path" });
  for (const each of path) {
    const item = make("li", {}, each === at ? make("b", { textContent: reference(at).textContent }) : reference(each));
    list.append(item);
  }
  box.append(make("h4", { textContent: "Path" }), list);
}

// ---- totals ----

function makeTotals() {
  const table = element("totals").querySelector("table");
  const row = (cells, tag) => appendRow(table, cells, tag);
  row(["link", "frames", "bytes", "use", "lost", "dropped", "queue mean", "max"], "th");
  run.ports.forEach((port, at) => {
    const totals = portTotals(model, at);
    if (totals[FRAMES] + totals[LOSSES] + totals[DROPS] === 0) return;
    row([rowName(model, { kind: "port", port: at }), totals[FRAMES], totals[BYTES],
      port[2] ? `${(100 * totals[BUSY] / run.until).toFixed(1)} %` : "-", totals[LOSSES], totals[DROPS],
      (totals[WAITING] / run.until).toFixed(1), totals[MOST]], "td");
  });
}

// ---- input ----

function makeInput() {
  const lanes = element("lanes");
  lanes.addEventListener("scroll", redraw);
  steer(drawing, {
    redraw, step,
    click(x, y) {
      const at = drawing.summed ? -1 : frameNear(drawing, x, y);
      if (at < 0 && drawing.summed && x > drawing.left) zoom(model, 0.2, timeOf(drawing, x));
      else select(at);
      redraw();
    },
    close: () => select(-1),
    hover,
    leave() {
      drawing.hovered = -1;
      redraw();
    },
    keys: {
      ArrowDown() { lanes.scrollTop += LANE; }, ArrowUp() { lanes.scrollTop -= LANE; },
      PageDown() { lanes.scrollTop += lanes.clientHeight - AXIS - LANE; },
      PageUp() { lanes.scrollTop -= lanes.clientHeight - AXIS - LANE; },
    },
  });
  element("totals").addEventListener("toggle", redraw);
}

function hover(event) {
  const at = drawing.summed ? -1 : frameNear(drawing, event.offsetX, event.offsetY);
  if (at !== drawing.hovered) { drawing.hovered = at; redraw(); }
  showTip(event, at >= 0 ? frameTip(at) : laneTip(event.offsetX, event.offsetY));
}

function frameTip(at) {
  return `${kindText(model, model.kind[at])} at ${portName(model, model.port[at])}, ${exactTime(model.time[at])}\n` +
    `${flowText(model, model.flow[at])}\n${bytesText(model.length[at])}`;
}

// What a lane did around a time.
function laneTip(x, y) {
  const at = rowAt(drawing, y), row = drawing.rows[at];
  if (!row) return null;
  if (x < drawing.left) return row.kind === "flow" ? flowText(model, row.flow) : rowName(model, row);
  if (row.kind === "links" || row.kind === "controller") {
    const near = run.remarks.filter((remark) => (row.kind === "links" ? remark[1] === null : remark[1] === row.name)
      && Math.abs(xOf(drawing, remark[0]) - x) < 7).slice(0, 8);
    return near.length ? near.map((remark) => `${exactTime(remark[0])}: ${remarkText(model, remark)}`).join("\n") : null;
  }
  if (row.kind === "agent") return agentTip(drawing, row, x);
  // At least a bucket: less is not known of sums.
  const time = timeOf(drawing, x), half = Math.max(model.run.width, timeOf(drawing, x + 4) - time) / 2;
  const from = Math.max(0, time - half), to = Math.min(run.until, time + half);
  if (to <= from) return null;
  const between = `${rowName(model, row)}\n${timeText(from)} to ${timeText(to)}`;
  if (row.kind === "flow") return `${between}\n${rateText(flowBytes(model, row.flow, from, to) * 8e12 / (to - from))} received`;
  const sums = portSums(model, row.port, from, to);
  const use = run.ports[row.port][2] ? `use ${percent(sums[BUSY] / (to - from))} of ${rateText(run.ports[row.port][2])}, ` : "";
  return `${between}\n${use}${rateText(sums[BYTES] * 8e12 / (to - from))}, ${number(Math.round(sums[FRAMES]))} frames` +
    `\n${(sums[WAITING] / (to - from)).toFixed(1)} packets wait on average, ${sums[LEAST]} to ${sums[MOST]}` +
    (sums[DROPS] + sums[LOSSES] > 0 ? `\n${number(Math.round(sums[DROPS]))} dropped, ${number(Math.round(sums[LOSSES]))} lost` : "");
}

element("title").textContent = run.title;
makeFilters();
makeTotals();
makeInput();
showDetails();
redraw();
// For tests and scripts.
window.timeline = { model, drawing, readyIn: performance.now() - started, place: placeInWindow };
