// SPDX-License-Identifier: Apache-2.0
// Draws single frames in the lanes of ports: a departure as a box as long as it is on the wire, an arrival as a point, a
// drop or loss as a cross; lines join departures with arrivals, and arrivals with departures of the same node.

function drawFrames(drawing, context, from, to, colours) {
  const { model } = drawing;
  for (let position = from; position < to; position++) {
    const at = model.chosen[position];
    const place = placeOf(drawing, at);
    if (!place || place.y < AXIS - LANE || place.y > drawing.height + LANE) continue;
    drawing.where.set(at, drawing.places.length);
    drawing.places.push(place);
  }
  const related = relatedTo(model, drawing.selected);
  for (const { at } of drawing.places) {
    drawLine(drawing, context, model.cause[at], at, related, colours);
    const next = model.follower[at];
    if (next >= 0 && !drawing.where.has(next)) drawLine(drawing, context, at, next, related, colours);
  }
  for (const place of drawing.places) drawFrame(drawing, context, place, related, colours);
}

// Departures stand in the upper half of a lane, arrivals in the lower one.
function placeOf(drawing, at) {
  const { model } = drawing;
  const row = drawing.rowOfPort.get(model.port[at]);
  if (row === undefined) return null;
  const height = rowHeight(drawing, row);
  const share = (model.kind[at] & 3) === RECEIVED ? 0.72 : 0.3;
  return { at, x: xOf(drawing, model.time[at]), y: rowTop(drawing, row) + share * height };
}

// How long a frame is on the wire.
function wireTime(model, at) {
  const rate = model.run.ports[model.port[at]][2];
  return rate ? (model.length[at] * 8e12) / rate : 0;
}

// The selected event with all before and after it.
function relatedTo(model, selected) {
  const related = new Set();
  for (let at = selected; at >= 0 && related.size < 1000; at = model.cause[at]) related.add(at);
  for (let at = selected; at >= 0 && related.size < 1000; at = model.follower[at]) related.add(at);
  return related;
}

function drawLine(drawing, context, from, to, related, colours) {
  if (from < 0 || to < 0) return;
  const { model } = drawing;
  const start = placeOf(drawing, from), end = placeOf(drawing, to);
  if (!start || !end) return;
  const isStrong = related.has(from) && related.has(to);
  const isInNode = (model.kind[from] & 3) === RECEIVED;
  context.globalAlpha = isStrong ? 0.95 : related.size > 0 ? 0.1 : 0.35;
  context.lineWidth = isStrong ? 2 : 1;
  context.strokeStyle = colourOf(model.flow[to] % 10);
  context.setLineDash(isInNode ? [3, 3] : []);
  context.beginPath();
  context.moveTo(start.x, start.y);
  context.lineTo(end.x, end.y);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function drawFrame(drawing, context, { at, x, y }, related, colours) {
  const { model } = drawing;
  const kind = model.kind[at] & 3;
  context.globalAlpha = related.size > 0 && !related.has(at) ? 0.3 : 1;
  context.fillStyle = context.strokeStyle = colourOf(model.flow[at] % 10);
  context.lineWidth = 2;
  context.beginPath();
  if (kind === SENT) {
    const begin = xOf(drawing, model.time[at] - wireTime(model, at));
    const long = Math.max(3, x - begin);
    context.fillRect(x - long, y - 5, long, 10);
    if (long > 6) {
      context.strokeStyle = colours.back;
      context.lineWidth = 1;
      context.strokeRect(x - long + 0.5, y - 5, long - 1, 10);
    }
  } else if (kind === RECEIVED) {
    context.arc(x, y, 3.5, 0, 2 * Math.PI);
    context.fill();
  } else {
    context.strokeStyle = kind === DROPPED ? colours.bad : colours.lost;
    context.moveTo(x - 5, y - 5);
    context.lineTo(x + 5, y + 5);
    context.moveTo(x + 5, y - 5);
    context.lineTo(x - 5, y + 5);
    context.stroke();
  }
  if (at === drawing.selected || at === drawing.hovered) {
    context.globalAlpha = 1;
    context.strokeStyle = colours.text;
    context.lineWidth = at === drawing.selected ? 2 : 1;
    context.beginPath();
    context.arc(x, y, 9, 0, 2 * Math.PI);
    context.stroke();
  }
  context.globalAlpha = 1;
}

// The frame drawn nearest to a place on the canvas, if any is near.
function frameNear(drawing, x, y) {
  let best = -1, distance = 10 ** 2;
  for (const place of drawing.places) {
    const isBox = (drawing.model.kind[place.at] & 3) === SENT;
    const long = isBox ? place.x - xOf(drawing, drawing.model.time[place.at] - wireTime(drawing.model, place.at)) : 0;
    const aside = Math.max(place.x - long - x, 0, x - place.x);
    // A point or cross on a box is meant, not the box.
    const away = aside ** 2 + (place.y - y) ** 2 + (isBox ? 16 : 0);
    if (away < distance) { distance = away; best = place.at; }
  }
  return best;
}
