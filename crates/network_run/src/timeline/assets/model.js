// SPDX-License-Identifier: Apache-2.0
// The run as arrays: events of frames, depths of queues, sums over time. Nothing here draws or touches the page.

const SENT = 0, RECEIVED = 1, LOST = 2, DROPPED = 3;
const KINDS = ["sent", "received", "lost", "dropped"];

// Sums of a bucket of a port, in the order of the data.
const FRAMES = 0, BYTES = 1, BUSY = 2, LOSSES = 3, DROPS = 4, WAITING = 5, LEAST = 6, MOST = 7, VALUES = 8;

function makeModel(run) {
  const model = { run, ...readFrames(run), ...readSeries(run), samples: readSamples(run) };
  delete run.frames;
  delete run.samples;
  delete run.series;
  const { count, time } = model;
  // A controller's remark is of one lane, a change of a link of another.
  model.controllers = [...new Set(run.remarks.map(([, controller]) => controller).filter((name) => name !== null))];
  const last = Math.max(run.until, count > 0 ? time[count - 1] : 0, ...run.remarks.map(([at]) => at), 1000);
  Object.assign(model, {
    // A little room at both ends, so that nothing sticks to the edge.
    first: -last * 0.01, last: last * 1.01,
    nodes: run.nodes.map(() => true), kinds: new Map(), search: "", chosen: new Uint32Array(0),
  });
  model.from = model.first;
  model.to = model.last;
  for (let at = 0; at < count; at++) {
    const key = model.kind[at];
    model.kinds.set(key, (model.kinds.get(key) ?? 0) + 1);
  }
  model.shownKinds = new Map([...model.kinds.keys()].map((key) => [key, true]));
  choose(model);
  return model;
}

// Frames: time, kind with reason, port, flow, length, cause and what follows, by number.
function readFrames(run) {
  const next = unpack(run.frames);
  // A byte ends a number if its highest bit is 0; six numbers are an event.
  let count = 0;
  const binary = atob(run.frames);
  for (let at = 0; at < binary.length; at++) count += binary.charCodeAt(at) < 0x80;
  count /= 6;
  const time = new Float64Array(count), kind = new Uint16Array(count), port = new Uint32Array(count);
  const flow = new Uint32Array(count), length = new Uint32Array(count);
  const cause = new Int32Array(count).fill(-1), follower = new Int32Array(count).fill(-1);
  let now = 0;
  for (let at = 0; at < count; at++) {
    now += next();
    time[at] = now;
    kind[at] = next();
    port[at] = next();
    flow[at] = next();
    length[at] = next();
    const back = next();
    if (back > 0) {
      cause[at] = at - back;
      // Of several copies the first.
      if (follower[at - back] < 0) follower[at - back] = at;
    }
  }
  return { count, time, kind, port, flow, length, cause, follower };
}

// Of each port the times at which its queue changed, and how many packets waited from then on.
function readSamples(run) {
  const next = unpack(run.samples);
  return run.ports.map(() => {
    const count = next(), time = new Float64Array(count), depth = new Uint32Array(count);
    let now = 0;
    for (let at = 0; at < count; at++) {
      now += next();
      time[at] = now;
      depth[at] = next();
    }
    return { time, depth };
  });
}

// Of each port and flow the number of the first bucket and the values of all.
function readSeries(run) {
  const next = unpack(run.series);
  const read = (values) => {
    const first = next(), count = next(), sums = new Float64Array(count * values);
    for (let at = 0; at < sums.length; at++) sums[at] = next();
    return { first, count, sums };
  };
  const ports = run.ports.map(() => read(VALUES));
  const flows = Array.from({ length: next() }, () => read(1));
  return { ports, flowSeries: flows };
}

// ---- names ----

function portName(model, port) {
  return model.run.ports[port][1];
}

// The other end of a port's link: both are neighbours in the list.
function peerOf(port) {
  return port ^ 1;
}

function flowText(model, flow) {
  const [source, destination, protocol, from, to, , , name] = model.run.flows[flow];
  if (flow === 0) return "a flow beyond those kept apart";
  const end = (text, node) => (node === null ? text : `${model.run.nodes[node][0]} (${text})`);
  return `${protocol} ${end(source, from)} \u2192 ${end(destination, to)}${name ? `, ${name}` : ""}`;
}

function kindText(model, kind) {
  const reason = model.run.reasons[kind >> 2];
  return reason ? `${KINDS[kind & 3]}: ${reason}` : KINDS[kind & 3];
}

function bytesText(bytes) {
  return `${bytes.toLocaleString("en-US")} B`;
}

function rateText(rate) {
  const units = [[1e12, "Tb/s"], [1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"]];
  const [scale, unit] = units.find(([scale]) => rate >= scale) ?? [1, "b/s"];
  const value = rate / scale;
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
}

// Times with units, exact to the picosecond.
function exactTime(picoseconds) {
  if (picoseconds < 1e9) return exactNanoseconds(picoseconds);
  const [scale, unit] = picoseconds >= 1e12 ? [12, "s"] : [9, "ms"];
  const digits = String(Math.round(picoseconds)).padStart(scale + 1, "0");
  const rest = digits.slice(-scale).replace(/(...)(?=.)/g, "$1 ").replace(/[0 ]+$/, "");
  const whole = digits.slice(0, -scale).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return rest ? `${whole}.${rest} ${unit}` : `${whole} ${unit}`;
}

// ---- choice ----

// Which frames the filters let through, in order of time. Words are looked for in the texts of flows, ports and kinds,
// of which there are few, not in those of frames.
function choose(model) {
  const { run, count, kind, port, flow } = model;
  const words = model.search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const hits = (texts) => texts.map((text) => words.reduce(
    (bits, word, at) => (text.toLowerCase().includes(word) ? bits | (1 << at) : bits), 0));
  const all = (1 << words.length) - 1;
  const inFlow = words.length ? hits(run.flows.map((_, at) => flowText(model, at))) : [];
  const inPort = words.length ? hits(run.ports.map((_, at) => portName(model, at))) : [];
  const inKind = new Map(words.length ? [...model.kinds.keys()].map((key) => [key, hits([kindText(model, key)])[0]]) : []);
  const isShown = run.ports.map(([node]) => model.nodes[node]);
  const found = new Uint32Array(count);
  let length = 0;
  for (let at = 0; at < count; at++) {
    if (!isShown[port[at]] || !model.shownKinds.get(kind[at])) continue;
    if (all && (inFlow[flow[at]] | inPort[port[at]] | inKind.get(kind[at])) !== all) continue;
    found[length++] = at;
  }
  model.chosen = found.subarray(0, length);
}

// ---- sums ----

// The sums of a port between two times: parts of buckets count by their share.
function portSums(model, port, from, to) {
  const { first, count, sums } = model.ports[port];
  const width = model.run.width;
  const total = new Float64Array(VALUES);
  total[LEAST] = Infinity;
  const begin = Math.max(0, Math.floor(from / width) - first), end = Math.min(count, Math.ceil(to / width) - first);
  for (let at = begin; at < end; at++) {
    const start = (first + at) * width;
    const share = Math.max(0, Math.min(to, start + width) - Math.max(from, start)) / width;
    if (share <= 0) continue;
    for (let value = 0; value < LEAST; value++) total[value] += sums[at * VALUES + value] * share;
    total[LEAST] = Math.min(total[LEAST], sums[at * VALUES + LEAST]);
    total[MOST] = Math.max(total[MOST], sums[at * VALUES + MOST]);
  }
  // Without buckets the queue is empty.
  if (end - begin < Math.ceil((to - from) / width) || total[LEAST] === Infinity) total[LEAST] = 0;
  return total;
}

// The sums of a port over the whole run, as they were counted.
function portTotals(model, port) {
  const { count, sums } = model.ports[port];
  const total = new Float64Array(VALUES);
  for (let at = 0; at < count; at++) {
    for (let value = 0; value < LEAST; value++) total[value] += sums[at * VALUES + value];
    total[MOST] = Math.max(total[MOST], sums[at * VALUES + MOST]);
  }
  return total;
}

// The bytes of a flow between two times.
function flowBytes(model, flow, from, to) {
  const { first, count, sums } = model.flowSeries[flow];
  const width = model.run.width;
  let total = 0;
  const begin = Math.max(0, Math.floor(from / width) - first), end = Math.min(count, Math.ceil(to / width) - first);
  for (let at = begin; at < end; at++) {
    const start = (first + at) * width;
    total += sums[at] * Math.max(0, Math.min(to, start + width) - Math.max(from, start)) / width;
  }
  return total;
}
