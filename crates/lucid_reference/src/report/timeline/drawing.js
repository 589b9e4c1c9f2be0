// SPDX-License-Identifier: Apache-2.0
// Draws the lanes and the overview on canvases. Few items are drawn one by one, with arrows from
// generating to handled events; many are summed up in columns.

const LEFT_MARGIN = 86, LEAST_LANE = 30, RADIUS = 5;
// More chosen items than this in the view are summed up.
const MOST_SINGLE = 3000;
const COLUMN = 4;

function makeDrawing(model, canvas, overview) {
  return {
    model, canvas, overview, left: LEFT_MARGIN, width: 0, height: 0, laneHeight: LEAST_LANE,
    // Of the items drawn one by one: number, x, y.
    places: [], where: new Map(), summed: false, selected: -1, hovered: -1,
  };
}

// Chosen switches have lanes, in order.
function rows(model) {
  const list = [], row = new Int32Array(model.run.switches).fill(-1);
  for (let lane = 0; lane < model.run.switches; lane++) {
    if (model.lanes[lane]) { row[lane] = list.length; list.push(lane); }
  }
  return { list, row };
}

// The most that a lane is high, without sub-rows; a sub-row needs so much.
const MOST_LANE = 160, SUB_ROW = 2 * RADIUS + 6;

function draw(drawing) {
  const { model, canvas } = drawing;
  const box = canvas.parentElement;
  const { list, row } = rows(model);
  const [from, to] = shown(model);
  drawing.width = Math.max(200, box.clientWidth);
  drawing.summed = to - from > MOST_SINGLE;
  const subRows = drawing.summed ? [] : subRowsOf(drawing, from, to);
  const most = Math.max(MOST_LANE, ...subRows.map((each) => (each.count + 1) * SUB_ROW));
  const fair = Math.floor(room(canvas) / Math.max(1, list.length));
  drawing.laneHeight = Math.max(LEAST_LANE, Math.min(most, fair));
  // The box of the lanes is as high as they are.
  drawing.height = list.length * drawing.laneHeight + AXIS;
  const context = prepareCanvas(canvas, drawing.width, drawing.height);
  context.font = "12px system-ui, sans-serif";

  drawLanes(drawing, context, list);
  drawAxis(drawing, context);
  context.save();
  context.beginPath();
  context.rect(LEFT_MARGIN, AXIS, drawing.width - LEFT_MARGIN, drawing.height - AXIS);
  context.clip();
  drawing.places = [];
  drawing.where = new Map();
  drawOutages(drawing, context, row);
  if (drawing.summed) drawColumns(drawing, context, from, to, row);
  else drawItems(drawing, context, from, to, row, subRows);
  context.restore();
  drawOverview(drawing);
}

// The time in which a link is down: a band in the lanes of both switches, with its beginning and end.
function drawOutages(drawing, context, row) {
  const { model, laneHeight } = drawing;
  const bad = style("--bad");
  for (const [from, fromPort, to, toPort, begin, end] of model.run.outages) {
    const left = xOf(drawing, begin), right = xOf(drawing, end ?? model.last);
    if (right < LEFT_MARGIN || left > drawing.width) continue;
    for (const lane of new Set([from, to])) {
      if (lane >= model.run.switches || row[lane] < 0) continue;
      const top = AXIS + row[lane] * laneHeight;
      context.fillStyle = context.strokeStyle = bad;
      context.globalAlpha = 0.13;
      context.fillRect(left, top, Math.max(2, right - left), laneHeight);
      context.globalAlpha = 0.8;
      context.lineWidth = 1.5;
      context.beginPath();
      for (const x of end === null ? [left] : [left, right]) {
        context.moveTo(x, top);
        context.lineTo(x, top + laneHeight);
      }
      context.stroke();
      context.textAlign = "left";
      context.textBaseline = "top";
      const text = `link ${from}:${fromPort} \u2013 ${to}:${toPort} down`;
      const start = Math.max(left, LEFT_MARGIN) + 5;
      if (start + context.measureText(text).width < Math.min(right, drawing.width)) {
        context.fillText(text, start, top + 3);
      }
      context.globalAlpha = 1;
    }
  }
}

function drawLanes(drawing, context, list) {
  const { laneHeight, width } = drawing;
  const lane = style("--lane"), text = style("--text"), line = style("--line");
  list.forEach((number, index) => {
    const top = AXIS + index * laneHeight;
    if (index % 2 === 0) {
      context.fillStyle = lane;
      context.fillRect(0, top, width, laneHeight);
    }
    context.fillStyle = text;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(`switch ${number}`, 14, top + laneHeight / 2);
  });
  context.strokeStyle = line;
  context.beginPath();
  context.moveTo(LEFT_MARGIN + 0.5, AXIS);
  context.lineTo(LEFT_MARGIN + 0.5, drawing.height);
  context.stroke();
}

// Bars a column, in each lane, coloured by name; heights by the logarithm of the count.
function drawColumns(drawing, context, from, to, row) {
  const { model, laneHeight, width } = drawing;
  const columns = Math.ceil((width - LEFT_MARGIN) / COLUMN);
  const names = model.run.names.length + 1;
  const bins = new Map();
  let most = 1;
  for (let position = from; position < to; position++) {
    const at = model.chosen[position];
    const column = Math.floor((xOf(drawing, model.time[at]) - LEFT_MARGIN) / COLUMN);
    const key = row[model.lane[at]] * columns + Math.min(column, columns - 1);
    let bin = bins.get(key);
    if (!bin) bins.set(key, (bin = { total: 0, names: new Uint32Array(names) }));
    bin.names[model.name[at] < 0 ? names - 1 : model.name[at]]++;
    bin.total++;
    if (bin.total > most) most = bin.total;
  }
  for (const [key, bin] of bins) {
    const index = Math.floor(key / columns), column = key % columns;
    const height = Math.max(2, (laneHeight - 6) * Math.log1p(bin.total) / Math.log1p(most));
    let bottom = AXIS + (index + 1) * laneHeight - 3;
    bin.names.forEach((count, name) => {
      if (count === 0) return;
      const part = height * count / bin.total;
      context.fillStyle = colourOf(name === names - 1 ? -1 : name);
      context.fillRect(LEFT_MARGIN + column * COLUMN, bottom - part, COLUMN - 1, part);
      bottom -= part;
    });
  }
}

// Sub-rows of the lanes: names whose marks would hide each other stand on different ones, in the order of the
// names. Of each lane the number of sub-rows, and the sub-row of each name.
function subRowsOf(drawing, from, to) {
  const { model } = drawing;
  const lanes = model.lanes.map(() => ({ near: [], meets: new Map(), row: new Map(), count: 1 }));
  for (let position = from; position < to; position++) {
    const at = model.chosen[position], name = model.name[at], lane = lanes[model.lane[at]];
    const x = xOf(drawing, model.time[at]);
    lane.near = lane.near.filter((other) => x - other.x < 2 * RADIUS);
    if (!lane.meets.has(name)) lane.meets.set(name, new Set());
    for (const other of lane.near) {
      if (other.name === name) continue;
      lane.meets.get(name).add(other.name);
      lane.meets.get(other.name).add(name);
    }
    // Of marks of one name the last is the nearest.
    lane.near = lane.near.filter((other) => other.name !== name);
    lane.near.push({ x, name });
  }
  for (const lane of lanes) {
    for (const name of [...lane.meets.keys()].sort((one, other) => one - other)) {
      const taken = new Set([...lane.meets.get(name)].map((other) => lane.row.get(other)));
      let free = 0;
      while (taken.has(free)) free++;
      lane.row.set(name, free);
      lane.count = Math.max(lane.count, free + 1);
    }
  }
  return lanes;
}

function drawItems(drawing, context, from, to, row, subRows) {
  const { model, laneHeight } = drawing;
  // Marks of one name at one place of the screen are a little apart, so that their number shows.
  const last = new Map();
  for (let position = from; position < to; position++) {
    const at = model.chosen[position], lane = model.lane[at], name = model.name[at];
    const x = xOf(drawing, model.time[at]);
    const { row: own, count } = subRows[lane];
    const height = Math.min(SUB_ROW + 10, (laneHeight - 4) / count);
    const key = lane * (model.run.names.length + 1) + name + 1;
    const before = last.get(key);
    const same = before && x - before.x < 1 ? before.same + 1 : 0;
    last.set(key, { x: same ? before.x : x, same });
    const spread = Math.max(0, (height - 2 * RADIUS) / 2);
    const apart = Math.min(3 * same, spread);
    const y = AXIS + (row[lane] + 0.5) * laneHeight + (own.get(name) - (count - 1) / 2) * height + apart;
    drawing.where.set(at, drawing.places.length);
    drawing.places.push({ at, x, y });
  }
  const related = relatedTo(model, drawing.selected);
  for (const place of drawing.places) {
    drawArrow(drawing, context, model.cause[place.at], place.at, row, related);
    for (const child of model.children.get(place.at) ?? []) {
      if (!drawing.where.has(child)) drawArrow(drawing, context, place.at, child, row, related);
    }
  }
  for (const { at, x, y } of drawing.places) drawMark(drawing, context, at, x, y, related);
}

// The selected item with its causes and all that came of it.
function relatedTo(model, selected) {
  const related = new Set();
  if (selected < 0) return related;
  for (let at = selected; at >= 0 && !related.has(at); at = model.cause[at]) related.add(at);
  const open = [selected];
  while (open.length > 0 && related.size < 5000) {
    for (const child of model.children.get(open.pop()) ?? []) {
      if (!related.has(child)) { related.add(child); open.push(child); }
    }
  }
  return related;
}

function placeOf(drawing, at, row) {
  const index = drawing.where.get(at);
  if (index !== undefined) return drawing.places[index];
  const { model } = drawing;
  if (row[model.lane[at]] < 0) return null;
  return { at, x: xOf(drawing, model.time[at]), y: AXIS + (row[model.lane[at]] + 0.5) * drawing.laneHeight };
}

function drawArrow(drawing, context, from, to, row, related) {
  if (from < 0) return;
  const start = placeOf(drawing, from, row), end = placeOf(drawing, to, row);
  if (!start || !end) return;
  const strong = related.has(from) && related.has(to);
  context.globalAlpha = strong ? 0.95 : related.size > 0 ? 0.12 : 0.4;
  context.lineWidth = strong ? 2 : 1.1;
  context.strokeStyle = context.fillStyle = colourOf(drawing.model.name[to]);
  const middle = (start.x + end.x) / 2;
  // Within a lane the arrow goes over it, so that it is seen.
  const bend = Math.abs(start.y - end.y) < 1 ? -Math.min(drawing.laneHeight * 0.42, 26) : 0;
  context.beginPath();
  context.moveTo(start.x, start.y);
  context.bezierCurveTo(middle, start.y + bend, middle, end.y + bend, end.x, end.y);
  context.stroke();
  if (Math.hypot(end.x - start.x, end.y - start.y) > 16) {
    // The head lies along the last part of the curve.
    const near = curveAt(start, { x: middle, y: start.y + bend }, { x: middle, y: end.y + bend }, end, 0.88);
    const angle = Math.atan2(end.y - near.y, end.x - near.x);
    const tip = { x: end.x - Math.cos(angle) * RADIUS, y: end.y - Math.sin(angle) * RADIUS };
    context.beginPath();
    context.moveTo(tip.x, tip.y);
    context.lineTo(tip.x - 8 * Math.cos(angle - 0.4), tip.y - 8 * Math.sin(angle - 0.4));
    context.lineTo(tip.x - 8 * Math.cos(angle + 0.4), tip.y - 8 * Math.sin(angle + 0.4));
    context.fill();
  }
  context.globalAlpha = 1;
}

// A point of a cubic curve.
function curveAt(start, first, second, end, part) {
  const rest = 1 - part;
  const mix = (name) => rest ** 3 * start[name] + 3 * rest ** 2 * part * first[name]
    + 3 * rest * part ** 2 * second[name] + part ** 3 * end[name];
  return { x: mix("x"), y: mix("y") };
}

function drawMark(drawing, context, at, x, y, related) {
  const { model } = drawing;
  const colour = colourOf(model.name[at]);
  context.globalAlpha = related.size > 0 && !related.has(at) ? 0.3 : 1;
  context.fillStyle = context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  switch (model.kind[at]) {
    case HANDLED:
      context.arc(x, y, RADIUS, 0, 2 * Math.PI);
      if (model.items.stage[at] === 0) context.fill(); else context.stroke();
      break;
    case LEFT:
      context.moveTo(x + RADIUS + 1, y);
      context.lineTo(x - RADIUS, y - RADIUS);
      context.lineTo(x - RADIUS, y + RADIUS);
      context.fill();
      break;
    case DROPPED:
      context.moveTo(x - RADIUS, y - RADIUS);
      context.lineTo(x + RADIUS, y + RADIUS);
      context.moveTo(x + RADIUS, y - RADIUS);
      context.lineTo(x - RADIUS, y + RADIUS);
      context.stroke();
      break;
    default:
      context.moveTo(x, y - RADIUS - 1);
      context.lineTo(x + RADIUS + 1, y);
      context.lineTo(x, y + RADIUS + 1);
      context.lineTo(x - RADIUS - 1, y);
      context.fill();
  }
  if (at === drawing.selected || at === drawing.hovered) {
    context.globalAlpha = 1;
    context.strokeStyle = style("--text");
    context.lineWidth = at === drawing.selected ? 2 : 1;
    context.beginPath();
    context.arc(x, y, RADIUS + 4, 0, 2 * Math.PI);
    context.stroke();
  }
  context.globalAlpha = 1;
}

// The whole run, with the part that the lanes show.
function drawOverview(drawing) {
  const { model, overview } = drawing;
  const width = drawing.width, height = 44;
  const context = prepareCanvas(overview, width, height);
  const columns = Math.max(1, Math.floor((width - LEFT_MARGIN) / 2));
  const counts = new Uint32Array(columns);
  let most = 1;
  for (const at of model.chosen) {
    const part = (model.time[at] - model.first) / (model.last - model.first);
    const column = Math.min(columns - 1, Math.floor(part * columns));
    if (++counts[column] > most) most = counts[column];
  }
  context.fillStyle = style("--soft");
  counts.forEach((count, column) => {
    if (count === 0) return;
    const bar = Math.max(2, (height - 8) * Math.log1p(count) / Math.log1p(most));
    context.fillRect(LEFT_MARGIN + column * 2, height - 3 - bar, 2, bar);
  });
  drawPartInView(drawing, context, height);
}

// The item drawn nearest to a place on the canvas, if any is near.
function itemNear(drawing, x, y) {
  let best = -1, distance = (RADIUS + 5) ** 2;
  for (const place of drawing.places) {
    const away = (place.x - x) ** 2 + (place.y - y) ** 2;
    if (away < distance) { distance = away; best = place.at; }
  }
  return best;
}
