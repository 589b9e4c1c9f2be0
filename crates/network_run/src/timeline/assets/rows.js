// SPDX-License-Identifier: Apache-2.0
// Which lanes there are, in which order: links, controllers, ports, flows.

function makeRows(model) {
  const { run } = model;
  const rows = [];
  if (run.remarks.some(([, controller]) => controller === null)) rows.push({ kind: "links" });
  model.controllers.forEach((name) => rows.push({ kind: "controller", name }));
  const reacting = run.activities.map(([node], agent) => ({ kind: "agent", node, agent }));
  rows.push(...reacting.filter(({ node }) => model.nodes[node]));
  const ports = run.ports.map((_, port) => ({ kind: "port", port, totals: portTotals(model, port) }));
  const isUsed = ({ totals }) => totals[FRAMES] + totals[LOSSES] + totals[DROPS] > 0;
  const isInView = inView(model);
  const kept = ports.filter((row) => model.nodes[run.ports[row.port][0]] && (model.showsIdle || isUsed(row))
    && isInView(row));
  const keys = {
    use: ({ totals }) => totals[BUSY], queue: ({ totals }) => totals[WAITING],
    lost: ({ totals }) => totals[LOSSES] + totals[DROPS],
  };
  const key = keys[model.order];
  // Ports of a node stand together, nodes in the order of the file.
  kept.sort(key ? (one, other) => key(other) - key(one)
    : (one, other) => run.ports[one.port][0] - run.ports[other.port][0] || one.port - other.port);
  if (!key) kept.sort((one, other) => run.ports[one.port][0] - run.ports[other.port][0] || comparePorts(model, one, other));
  rows.push(...kept);
  const flows = run.flowRows.filter((flow) => isFlowShown(model, flow)
    && (!model.onlyInView || flowBytes(model, flow, model.from, model.to) > 0));
  rows.push(...flows.map((flow) => ({ kind: "flow", flow })));
  const hasOthers = (model.flowSeries[0]?.count ?? 0) > 0;
  if (hasOthers) rows.push({ kind: "flow", flow: 0 });
  return rows;
}

// Whether a port sent, received or dropped frames in the view, if the user wants only such ports.
function inView(model) {
  if (!model.onlyInView) return () => true;
  const [from, to] = shown(model);
  if (to - from <= MOST_SINGLE) {
    const ports = new Set();
    for (let position = from; position < to; position++) ports.add(model.port[model.chosen[position]]);
    return ({ port }) => ports.has(port);
  }
  return ({ port }) => {
    const sums = portSums(model, port, model.from, model.to);
    return sums[FRAMES] + sums[LOSSES] + sums[DROPS] > 0;
  };
}

function comparePorts(model, one, other) {
  const number = ({ port }) => Number(portName(model, port).split(":").at(-1)) || 0;
  return number(one) - number(other);
}

function isFlowShown(model, flow) {
  const [, , , from, to] = model.run.flows[flow];
  return [from, to].some((node) => node === null || model.nodes[node]);
}

// The name of a lane.
function rowName(model, row) {
  switch (row.kind) {
    case "links": return "links up and down";
    case "controller": return `controller ${row.name}`;
    case "agent": return `reactions of ${model.run.nodes[row.node][0]}`;
    case "port": return `${portName(model, row.port)} \u2192 ${portName(model, peerOf(row.port))}`;
    default: {
      if (row.flow === 0) return "other flows";
      const [source, destination, protocol, from, to, , , name] = model.run.flows[row.flow];
      const end = (text, node) => (node === null ? text : model.run.nodes[node][0]);
      return `${end(source, from)} \u2192 ${end(destination, to)} ${name ?? protocol}`;
    }
  }
}

// What a lane did in the view, in a few words.
function rowFigures(model, row) {
  const from = Math.max(0, model.from), to = Math.min(model.to, model.run.until);
  if (to <= from) return "";
  if (row.kind === "flow") return `${rateText(flowBytes(model, row.flow, from, to) * 8e12 / (to - from))} received`;
  if (row.kind === "agent") return agentFigures(model, row, from, to);
  if (row.kind !== "port") return "";
  const sums = portSums(model, row.port, from, to);
  const parts = [];
  if (model.run.ports[row.port][2]) parts.push(percent(sums[BUSY] / (to - from)));
  else parts.push(rateText(sums[BYTES] * 8e12 / (to - from)));
  const gone = Math.round(sums[DROPS]), lost = Math.round(sums[LOSSES]);
  if (gone) parts.push(`${gone.toLocaleString("en-US")} dropped`);
  if (lost) parts.push(`${lost.toLocaleString("en-US")} lost`);
  if (sums[MOST] > 0) parts.push(`queue ${(sums[WAITING] / (to - from)).toFixed(1)}, max ${sums[MOST]}`);
  return parts.join(" \u00b7 ");
}

function percent(share) {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}
