// SPDX-License-Identifier: Apache-2.0
// The run as arrays with indexes, and which part of it is chosen. Nothing here draws or touches the
// page.

const HANDLED = 0, LEFT = 1, DROPPED = 2, COMMAND = 3, LINK = 4;
const KINDS = ["handled", "left the network", "dropped", "command", "link"];

function makeModel(run) {
  const items = run.items;
  const count = items.kind.length;
  const time = Float64Array.from(items.time);
  const kind = Uint8Array.from(items.kind);
  const lane = Uint32Array.from(items.switch);
  const name = Int32Array.from(items.name);

  // Of each occurrence its items; the cause of an item is the handler of another occurrence.
  const handler = new Map();
  const ofOccurrence = new Map();
  for (let at = 0; at < count; at++) {
    const occurrence = items.occurrence[at];
    if (occurrence === null) continue;
    const list = ofOccurrence.get(occurrence);
    if (list) list.push(at); else ofOccurrence.set(occurrence, [at]);
    if (kind[at] === HANDLED && items.stage[at] !== 1 && !handler.has(occurrence)) {
      handler.set(occurrence, at);
    }
  }
  const cause = new Int32Array(count).fill(-1);
  const children = new Map();
  for (let at = 0; at < count; at++) {
    const by = items.cause[at];
    const from = by === null ? undefined : handler.get(by);
    if (from === undefined || from === at) continue;
    cause[at] = from;
    const list = children.get(from);
    if (list) list.push(at); else children.set(from, [at]);
  }

  const nameCounts = new Array(run.names.length + 1).fill(0);
  const laneCounts = new Array(run.switches).fill(0);
  for (let at = 0; at < count; at++) {
    nameCounts[name[at] < 0 ? run.names.length : name[at]]++;
    laneCounts[lane[at]]++;
  }
  const last = count ? time[count - 1] : 0;
  const model = {
    run, items, count, time, kind, lane, name, cause, children, ofOccurrence, nameCounts, laneCounts,
    // A little room at both ends, so that nothing sticks to the edge.
    first: -Math.max(last, 1000) * 0.02,
    last: Math.max(last, 1000) * 1.02,
    names: new Array(run.names.length + 1).fill(true),
    lanes: new Array(run.switches).fill(true),
    search: "",
    chosen: new Uint32Array(0),
    from: 0, to: 0,
  };
  model.from = model.first;
  model.to = model.last;
  choose(model);
  return model;
}

function itemName(model, at) {
  const name = model.name[at];
  if (name >= 0) return model.run.names[name];
  if (model.kind[at] === COMMAND) return model.items.arguments[at][0];
  if (model.kind[at] === LINK) return model.items.arguments[at][0];
  return "packet";
}

function argumentsText(model, at) {
  const name = model.name[at];
  const values = model.items.arguments[at];
  if (name < 0 || !values) return "";
  const parameters = model.run.parameters[name];
  return values.map((value, index) => `${parameters[index] ?? index}=${value}`).join(", ");
}

function itemText(model, at) {
  return model.name[at] < 0 ? itemName(model, at) : `${itemName(model, at)}(${argumentsText(model, at)})`;
}

// Which items the filters let through, in order of time.
function choose(model) {
  const words = model.search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = new Uint32Array(model.count);
  let length = 0;
  for (let at = 0; at < model.count; at++) {
    const name = model.name[at] < 0 ? model.run.names.length : model.name[at];
    if (!model.names[name] || !model.lanes[model.lane[at]]) continue;
    if (words.length > 0) {
      const text = `${itemText(model, at)} ${KINDS[model.kind[at]]} ${model.items.note[at] ?? ""}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) continue;
    }
    found[length++] = at;
  }
  model.chosen = found.subarray(0, length);
}
