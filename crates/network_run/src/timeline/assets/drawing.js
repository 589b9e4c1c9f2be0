// SPDX-License-Identifier: Apache-2.0
// Draws lanes on a canvas as high as the window, however many lanes there are: use, queues and drops over time, rates of
// flows, changes of links and commands. `frames.js` draws single frames.

const LEFT_MARGIN = 270, LANE = 42, NARROW_LANE = 26;
// More chosen frames than this in the view are not drawn one by one.
const MOST_SINGLE = 3000;
// The width of a column of sums, in pixels.
const COLUMN = 2;

function makeDrawing(model, canvas, overview) {
  return {
    model, canvas, overview, left: LEFT_MARGIN, width: 0, height: 0, rows: [], tops: [], total: 0, scroll: 0,
    // Of the frames drawn one by one: number, x, y.
    places: [], where: new Map(), rowOfPort: new Map(), summed: false, selected: -1, hovered: -1,
  };
}

function layOutRows(drawing) {
  drawing.rows = makeRows(drawing.model);
  drawing.tops = [];
  drawing.rowOfPort = new Map();
  let top = 0;
  drawing.rows.forEach((row, at) => {
    drawing.tops.push(top);
    top += row.kind === "links" || row.kind === "controller" ? NARROW_LANE : LANE;
    if (row.kind === "port") drawing.rowOfPort.set(row.port, at);
  });
  drawing.total = top;
}

function rowHeight(drawing, at) {
  return (drawing.tops[at + 1] ?? drawing.total) - drawing.tops[at];
}

// The top of a lane on the canvas.
function rowTop(drawing, at) {
  return AXIS + drawing.tops[at] - drawing.scroll;
}

// The lane at a place of the canvas, or -1.
function rowAt(drawing, y) {
  if (y < AXIS) return -1;
  const at = lowerBound(drawing.tops, y - AXIS + drawing.scroll + 1e-6) - 1;
  return at < drawing.rows.length && y - AXIS + drawing.scroll < drawing.total ? at : -1;
}

function draw(drawing) {
  const { model, canvas } = drawing;
  if (model.onlyInView) layOutRows(drawing);
  const box = canvas.parentElement;
  drawing.width = Math.max(300, box.clientWidth);
  drawing.height = Math.max(120, box.clientHeight);
  // The canvas stays in the window; an empty element gives the box the height of all lanes.
  element("extent").style.height = `${Math.max(0, drawing.total + AXIS - drawing.height)}px`;
  drawing.scroll = box.scrollTop;
  const [from, to] = shown(model);
  drawing.summed = to - from > MOST_SINGLE;
  const context = prepareCanvas(canvas, drawing.width, drawing.height);
  const colours = Object.fromEntries(["lane", "text", "soft", "line", "bad", "use", "queue", "lost", "strong", "back"]
    .map((name) => [name, style(`--${name}`)]));
  context.font = "12px system-ui, sans-serif";
  const begin = Math.max(0, rowAt(drawing, AXIS));
  let end = begin;
  while (end < drawing.rows.length && rowTop(drawing, end) < drawing.height) end++;
  for (let at = begin; at < end; at++) drawLane(drawing, context, at, colours);
  context.save();
  context.beginPath();
  context.rect(drawing.left, AXIS, drawing.width - drawing.left, drawing.height - AXIS);
  context.clip();
  drawing.places = [];
  drawing.where = new Map();
  if (!drawing.summed) drawFrames(drawing, context, from, to, colours);
  context.restore();
  drawEnd(drawing, context, colours);
  // The axis is in front of lanes that have been scrolled out.
  context.clearRect(0, 0, drawing.width, AXIS);
  drawAxis({ ...drawing, height: AXIS }, context);
  drawOverview(drawing, colours);
}

// What lies behind the end of the run: frames that hosts had handed over.
function drawEnd(drawing, context, colours) {
  const { model, width, height } = drawing;
  const x = Math.max(drawing.left, xOf(drawing, model.run.until));
  if (model.last < model.run.until * 1.02 || x >= width) return;
  const bottom = Math.min(height, AXIS + drawing.total - drawing.scroll);
  context.fillStyle = colours.back;
  context.globalAlpha = 0.6;
  context.fillRect(x, AXIS, width - x, bottom - AXIS);
  context.globalAlpha = 1;
  context.fillStyle = context.strokeStyle = colours.soft;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(x, AXIS);
  context.lineTo(x, bottom);
  context.stroke();
  context.setLineDash([]);
  context.textAlign = "left";
  context.textBaseline = "top";
  if (x + 90 < width) context.fillText("end of the run", x + 5, AXIS + 4);
}

function drawLane(drawing, context, at, colours) {
  const { model, width, left } = drawing;
  const row = drawing.rows[at], top = rowTop(drawing, at), height = rowHeight(drawing, at);
  if (at % 2 === 0) {
    context.fillStyle = colours.lane;
    context.fillRect(0, top, width, height);
  }
  context.save();
  context.beginPath();
  context.rect(left, top, width - left, height);
  context.clip();
  drawGrid(drawing, context, top, height, colours);
  if (row.kind === "port") drawPort(drawing, context, row, top, height, colours);
  else if (row.kind === "flow") drawFlow(drawing, context, row, top, height, colours);
  else if (row.kind === "agent") drawAgent(drawing, context, row, top, height, colours);
  else drawRemarks(drawing, context, row, top, height, colours);
  context.restore();
  context.save();
  context.beginPath();
  context.rect(0, top, left - 6, height);
  context.clip();
  const figures = rowFigures(model, row);
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = colours.text;
  context.fillText(rowName(model, row), 12, top + (figures ? height * 0.32 : height / 2));
  if (figures) {
    context.fillStyle = colours.soft;
    context.font = "11px system-ui, sans-serif";
    context.fillText(figures, 12, top + height * 0.71);
    context.font = "12px system-ui, sans-serif";
  }
  context.restore();
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(left + 0.5, top);
  context.lineTo(left + 0.5, top + height);
  context.stroke();
}

// Lines at the steps of the axis.
function drawGrid(drawing, context, top, height, colours) {
  const { model, width } = drawing;
  const step = axisStep(drawing);
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  for (let tick = Math.max(0, Math.ceil(model.from / step)); tick * step <= model.to; tick++) {
    const x = Math.round(xOf(drawing, tick * step)) + 0.5;
    if (x > width) break;
    context.moveTo(x, top);
    context.lineTo(x, top + height);
  }
  context.stroke();
}

// Calls `each` with the first and last time and the place of each column between two times.
function columns(drawing, from, to, each) {
  const begin = Math.max(drawing.left, xOf(drawing, from)), end = Math.min(drawing.width, xOf(drawing, to));
  for (let x = Math.floor(begin / COLUMN) * COLUMN; x < end; x += COLUMN) {
    const start = Math.max(from, timeOf(drawing, x)), stop = Math.min(to, timeOf(drawing, x + COLUMN));
    if (stop > start) each(start, stop, x);
  }
}

function drawPort(drawing, context, row, top, height, colours) {
  const { model } = drawing;
  const { first, count } = model.ports[row.port];
  const width = model.run.width;
  drawOutages(drawing, context, row.port, top, height, colours);
  const hasRate = Boolean(model.run.ports[row.port][2]);
  const begin = Math.max(0, first * width), end = (first + count) * width, low = top + height - 2, room = height - 5;
  // Few packets look few.
  const most = Math.max(10, row.totals[MOST]);
  const depths = [], drops = [];
  context.fillStyle = colours.use;
  // Behind single frames the use is pale.
  context.globalAlpha = drawing.summed ? 0.55 : 0.18;
  columns(drawing, begin, end, (start, stop, x) => {
    const sums = portSums(model, row.port, start, stop);
    // Without a rate the share of the busiest bucket's bytes.
    const share = hasRate ? sums[BUSY] / (stop - start) : sums[BYTES] / (stop - start) / largestRate(model, row.port);
    const part = Math.min(1, share) * room;
    // Little use is seen too.
    if (part > 0) context.fillRect(x, low - Math.max(1.5, part), COLUMN, Math.max(1.5, part));
    if (sums[MOST] > 0) depths.push([x, sums[WAITING] / (stop - start), sums[LEAST], sums[MOST]]);
    if (sums[DROPS] + sums[LOSSES] > 0) drops.push([x, sums[DROPS], sums[LOSSES]]);
  });
  context.globalAlpha = 1;
  if (row.totals[MOST] > 0) drawQueue(drawing, context, row, { depths, low, room, most }, colours);
  for (const [x, dropped, lost] of drops) {
    // Red ones from the top, the more the longer.
    const part = Math.min(room, 3 + 4 * Math.log2(1 + dropped + lost));
    context.fillStyle = dropped >= lost ? colours.bad : colours.lost;
    context.fillRect(x, top + 1, COLUMN, part);
  }
}

// The mean number of waiting packets as a line in a band from the least to the most; each change of it where single
// changes can be seen.
function drawQueue(drawing, context, row, { depths, low, room, most }, colours) {
  const { model } = drawing;
  const y = (depth) => low - (depth / most) * room;
  context.fillStyle = context.strokeStyle = colours.queue;
  context.lineWidth = 1.4;
  const { time, depth } = model.samples[row.port];
  const isKnown = model.from >= model.run.window[0]
    && Math.min(model.to, model.run.until) <= Math.min(model.run.samplesUntil, model.run.window[1] ?? Infinity);
  const begin = Math.max(0, lowerBound(time, model.from) - 1), end = lowerBound(time, model.to);
  if (isKnown && end - begin < (drawing.width - drawing.left) / 2) {
    // Lines where packets wait; nothing of an empty queue.
    context.beginPath();
    let before = begin === 0 && (time.length === 0 || time[0] > model.from) ? 0 : depth[begin];
    let start = drawing.left;
    const line = (x, next) => {
      if (before > 0) { context.moveTo(start, y(before)); context.lineTo(x, y(before)); }
      if (before + next > 0) { context.moveTo(x, y(before)); context.lineTo(x, y(next)); }
      [start, before] = [x, next];
    };
    for (let at = begin; at < end; at++) line(Math.max(drawing.left, xOf(drawing, time[at])), depth[at]);
    line(Math.min(drawing.width, xOf(drawing, model.run.until)), before);
    context.stroke();
    return;
  }
  context.globalAlpha = 0.25;
  for (const [x, , least, largest] of depths) context.fillRect(x, y(largest), COLUMN, Math.max(1, y(least) - y(largest)));
  context.globalAlpha = 1;
  context.beginPath();
  let before = null;
  for (const [x, mean] of depths) {
    if (before === null || x > before + COLUMN) context.moveTo(x, y(mean)); else context.lineTo(x, y(mean));
    before = x;
  }
  context.stroke();
}

// The most bytes a picosecond in any bucket of a port.
function largestRate(model, port) {
  const series = model.ports[port];
  if (series.largest === undefined) {
    let most = 0;
    for (let at = 0; at < series.count; at++) most = Math.max(most, series.sums[at * VALUES + BYTES]);
    series.largest = Math.max(most, 1) / model.run.width;
  }
  return series.largest;
}

function drawFlow(drawing, context, row, top, height, colours) {
  const { model } = drawing;
  const { first, count, sums } = model.flowSeries[row.flow];
  const width = model.run.width, low = top + height - 2, room = height - 5;
  if (row.most === undefined) row.most = sums.reduce((most, bytes) => Math.max(most, bytes), 1);
  context.fillStyle = colourOf(row.flow % 10);
  context.globalAlpha = 0.7;
  columns(drawing, first * width, (first + count) * width, (start, stop, x) => {
    const rate = flowBytes(model, row.flow, start, stop) / (stop - start);
    const part = Math.min(1, rate * width / row.most) * room;
    if (part > 0) context.fillRect(x, low - part, COLUMN, part);
  });
  context.globalAlpha = 1;
  context.fillStyle = colours.soft;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "top";
  context.fillText(`${rateText(row.most * 8e12 / width)} at most`, drawing.width - 6, top + 2);
  context.font = "12px system-ui, sans-serif";
}

// The time in which the link of a port is down: a band.
function drawOutages(drawing, context, port, top, height, colours) {
  for (const [of, begin, end] of drawing.model.run.outages) {
    if (of >> 1 !== port >> 1) continue;
    const left = xOf(drawing, begin), right = xOf(drawing, end ?? drawing.model.run.until);
    if (right < drawing.left || left > drawing.width) continue;
    context.fillStyle = context.strokeStyle = colours.bad;
    context.globalAlpha = 0.16;
    context.fillRect(left, top, Math.max(2, right - left), height);
    context.globalAlpha = 0.9;
    context.textAlign = "left";
    context.textBaseline = "top";
    const start = Math.max(left, drawing.left) + 4;
    if (start + 70 < Math.min(right, drawing.width)) context.fillText("link down", start, top + 3);
    context.globalAlpha = 1;
  }
}

// Diamonds for changes of links and for what controllers do; their text where there is room.
function drawRemarks(drawing, context, row, top, height, colours) {
  const { model } = drawing;
  const own = model.run.remarks.filter(([, controller]) => (row.kind === "links" ? controller === null : controller === row.name));
  const middle = top + height / 2;
  context.textAlign = "left";
  context.textBaseline = "middle";
  own.forEach(([time, , , text], at) => {
    const x = xOf(drawing, time);
    if (x < drawing.left - 10 || x > drawing.width + 10) return;
    context.fillStyle = row.kind !== "links" ? colours.strong : text === "down" ? colours.bad : colours.text;
    context.beginPath();
    context.moveTo(x, middle - 6);
    context.lineTo(x + 6, middle);
    context.lineTo(x, middle + 6);
    context.lineTo(x - 6, middle);
    context.fill();
    const label = remarkText(model, own[at]);
    const next = at + 1 < own.length ? xOf(drawing, own[at + 1][0]) : drawing.width;
    if (x + 10 + context.measureText(label).width < next - 8) {
      context.fillStyle = colours.soft;
      context.fillText(label, x + 10, middle);
    }
  });
}

function remarkText(model, [, controller, node, text]) {
  if (controller !== null) return node === null ? text : `${model.run.nodes[node][0]}: ${text}`;
  const name = model.run.links[node >> 1];
  const ends = `${portName(model, node)} \u2013 ${portName(model, peerOf(node))}`;
  return `${name ?? ends} ${text}`;
}

// The whole run: bytes sent over time as bars, drops and losses in red, with the part that the lanes show.
function drawOverview(drawing, colours) {
  const { model, overview, width, left } = drawing;
  const height = 44;
  const context = prepareCanvas(overview, width, height);
  if (!model.overviewSums) {
    const count = Math.ceil(Math.max(1, model.last) / model.run.width) + 1;
    const sums = { bytes: new Float64Array(count), gone: new Float64Array(count) };
    model.ports.forEach(({ first, count: own, sums: values }) => {
      for (let at = 0; at < own && first + at < count; at++) {
        sums.bytes[first + at] += values[at * VALUES + BYTES];
        sums.gone[first + at] += values[at * VALUES + DROPS] + values[at * VALUES + LOSSES];
      }
    });
    model.overviewSums = sums;
  }
  const { bytes, gone } = model.overviewSums;
  const x = (time) => left + ((time - model.first) / (model.last - model.first)) * (width - left);
  const columns = new Map();
  bytes.forEach((value, at) => {
    const column = Math.floor(x((at + 0.5) * model.run.width) / 2) * 2;
    const entry = columns.get(column) ?? [0, 0, 0];
    columns.set(column, [entry[0] + value, entry[1] + gone[at], entry[2] + 1]);
  });
  const most = Math.max(1, ...[...columns.values()].map(([sum, , count]) => sum / count));
  const wide = Math.max(2, x(model.run.width) - x(0));
  for (const [column, [sum, lost, count]] of columns) {
    const part = ((height - 10) * sum) / count / most;
    context.fillStyle = colours.soft;
    context.fillRect(column, height - 3 - part, wide, part);
    if (lost > 0) {
      context.fillStyle = colours.bad;
      context.fillRect(column, 1, wide, 4);
    }
  }
  context.fillStyle = colours.soft;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.font = "12px system-ui, sans-serif";
  context.fillText("all ports: bytes sent,", 12, 15);
  context.fillText("red: drops and losses", 12, 31);
  drawPartInView(drawing, context, height);
}
