// SPDX-License-Identifier: Apache-2.0
// Lanes of agents: dialogues in which nothing changed are low bars, commits are high, failures are red.

const IDLE = 0, COMMIT = 1, FAILURE = 2;

// The dialogues that overlap a time, by number: the first, and the one behind the last. They do not overlap each other.
function activitiesIn(own, from, to) {
  let low = 0, high = own.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (own[middle][1] < from) low = middle + 1; else high = middle;
  }
  let end = low, most = own.length;
  while (end < most) {
    const middle = (end + most) >> 1;
    if (own[middle][0] <= to) end = middle + 1; else most = middle;
  }
  return [low, end];
}

function agentFigures(model, row, from, to) {
  const own = model.run.activities[row.agent][1], counts = [0, 0, 0];
  const [begin, end] = activitiesIn(own, from, to);
  for (let at = begin; at < end; at++) counts[own[at][2]]++;
  const parts = [`${(end - begin).toLocaleString("en-US")} dialogues`];
  if (counts[COMMIT]) parts.push(`${counts[COMMIT].toLocaleString("en-US")} commits`);
  if (counts[FAILURE]) parts.push(`${counts[FAILURE].toLocaleString("en-US")} failed`);
  return parts.join(" \u00b7 ");
}

function drawAgent(drawing, context, row, top, height, colours) {
  const { model } = drawing;
  const own = model.run.activities[row.agent][1];
  const [begin, end] = activitiesIn(own, model.from, model.to);
  const low = top + height - 2, room = height - 5;
  // Of each column the highest bar; failures are drawn last.
  for (const kind of [IDLE, COMMIT, FAILURE]) {
    context.fillStyle = [colours.soft, colours.strong, colours.bad][kind];
    context.globalAlpha = kind === IDLE ? 0.5 : 0.9;
    const part = room * [0.35, 0.75, 1][kind];
    let drawn = -Infinity;
    for (let at = begin; at < end; at++) {
      if (own[at][2] !== kind) continue;
      const left = xOf(drawing, own[at][0]), right = Math.max(left + 1, xOf(drawing, own[at][1]));
      if (right <= drawn) continue;
      context.fillRect(left, low - part, right - left, part);
      drawn = right;
    }
  }
  context.globalAlpha = 1;
}

// The dialogue at a place, else the nearest within a few pixels.
function agentTip(drawing, row, x) {
  const own = drawing.model.run.activities[row.agent][1];
  const [begin, end] = activitiesIn(own, timeOf(drawing, x - 5), timeOf(drawing, x + 5));
  const time = timeOf(drawing, x);
  const distance = ([from, to]) => Math.max(from - time, time - to, 0);
  let best = null;
  for (let at = begin; at < end; at++) {
    // Of equally near ones the one that changed most.
    const isNearer = best === null || distance(own[at]) < distance(best)
      || (distance(own[at]) === distance(best) && own[at][2] > best[2]);
    if (isNearer) best = own[at];
  }
  return best === null ? null : best[3];
}
