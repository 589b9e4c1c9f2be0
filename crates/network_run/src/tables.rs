// SPDX-License-Identifier: Apache-2.0
//! The tables of a run: applications by kind, links, switches.

use crate::results::{ApplicationResult, FlowResult, Measured, PartResult, Results};
use crate::statistics::Sample;
use crate::table::{Cell, Table};
use network_file::model::{Application, Network};
use std::collections::BTreeMap;

/// Flow sizes by which completion times are reported, in bytes (pFabric, SIGCOMM 2013).
const SIZE_CLASSES: [(u64, &str); 3] =
    [(100_000, "up to 100 KB"), (10_000_000, "up to 10 MB"), (u64::MAX, "larger")];

/// Makes all tables that have rows.
pub fn tables(network: &Network, results: &Results) -> Vec<Table> {
    let mut all = application_tables(network, results);
    all.push(links(network, results));
    all.push(switches(network, results));
    all.push(hosts(network, results));
    all.retain(|table| !table.rows.is_empty());
    all
}

fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

fn share(part: u64, whole: u64) -> Cell {
    if whole == 0 { Cell::Empty } else { Cell::Share(part as f64 / whole as f64) }
}

/// A count, if something counted.
fn optional(count: Option<u64>) -> Cell {
    count.map_or(Cell::Empty, Cell::Count)
}

fn application_tables(network: &Network, results: &Results) -> Vec<Table> {
    let mut ping = Table::new(
        "ping",
        &[
            ("from", "from"),
            ("to", "to"),
            ("sent", "sent"),
            ("received", "received"),
            ("loss", "loss"),
            ("rtt min", "rtt_min_ps"),
            ("avg", "rtt_avg_ps"),
            ("max", "rtt_max_ps"),
            ("mdev", "rtt_mdev_ps"),
            ("ttl", "ttl"),
        ],
    );
    let mut tcp = Table::new(
        "tcp",
        &[
            ("name", "name"),
            ("from", "from"),
            ("to", "to"),
            ("bytes", "bytes"),
            ("goodput", "goodput_bps"),
            ("completed in", "completion_ps"),
            ("retransmissions", "retransmissions"),
            ("timeouts", "timeouts"),
            ("marks", "ecn_echoes"),
            ("rtt avg", "rtt_avg_ps"),
        ],
    );
    let mut flows = Table::new(
        "flows",
        &[
            ("name", "name"),
            ("from", "from"),
            ("size", "size"),
            ("started", "started"),
            ("completed", "completed"),
            ("bytes", "bytes"),
            ("mean", "completion_mean_ps"),
            ("p50", "completion_p50_ps"),
            ("p99", "completion_p99_ps"),
            ("max", "completion_max_ps"),
            ("retransmissions", "retransmissions"),
            ("timeouts", "timeouts"),
        ],
    );
    let mut requests = Table::new(
        "requests",
        &[
            ("name", "name"),
            ("from", "from"),
            ("to", "to"),
            ("answered", "answered"),
            ("failed", "failed"),
            ("mean", "latency_mean_ps"),
            ("p50", "latency_p50_ps"),
            ("p99", "latency_p99_ps"),
            ("max", "latency_max_ps"),
            ("retransmissions", "retransmissions"),
            ("timeouts", "timeouts"),
        ],
    );
    let mut udp = Table::new(
        "udp",
        &[
            ("name", "name"),
            ("from", "from"),
            ("to", "to"),
            ("sent", "sent"),
            ("received", "received"),
            ("loss", "loss"),
            ("goodput", "goodput_bps"),
            ("delay avg", "delay_avg_ps"),
            ("jitter", "jitter_ps"),
            ("marks", "ecn_marks"),
            ("out of order", "out_of_order"),
        ],
    );
    let mut frames = Table::new(
        "frames",
        &[("name", "name"), ("from", "from"), ("sent", "sent"), ("bytes", "bytes")],
    );
    // Flows by the name of their applications, with their hosts.
    let mut groups: BTreeMap<String, (Vec<&str>, Vec<FlowResult>)> = BTreeMap::new();
    for ApplicationResult { index, parts } in &results.applications {
        let host = &network.hosts[index.host];
        let application = &host.applications[index.application];
        let names = || [text(&application.name), text(&host.name)];
        for part in parts {
            let to = || text(destination(network, part));
            match &part.measured {
                Measured::Ping { sent, round_trips_ps, ttl } => {
                    let sample: Sample = round_trips_ps.iter().copied().collect();
                    let received = round_trips_ps.len() as u64;
                    ping.rows.push(vec![
                        text(&host.name),
                        to(),
                        Cell::Count(*sent),
                        Cell::Count(received),
                        share(sent.saturating_sub(received), *sent),
                        Cell::time(sample.least()),
                        Cell::time(sample.mean()),
                        Cell::time(sample.largest()),
                        Cell::time(sample.deviation()),
                        ttl.map_or(Cell::Empty, |ttl| Cell::Count(ttl.into())),
                    ]);
                }
                Measured::Flows(all) if part.destination.is_some() => {
                    for flow in all {
                        let [name, from] = names();
                        tcp.rows.push(vec![
                            name,
                            from,
                            to(),
                            Cell::Bytes(flow.bytes),
                            Cell::Rate(flow.goodput_bps()),
                            match flow.has_failed {
                                true => text("failed"),
                                false => Cell::time(flow.completion_ps()),
                            },
                            Cell::Count(flow.retransmissions),
                            optional(flow.timeouts),
                            optional(flow.marks),
                            Cell::time(flow.round_trip_ps),
                        ]);
                    }
                }
                Measured::Flows(all) => {
                    let name = application.group.as_ref().unwrap_or(&application.name);
                    let group = groups.entry(name.clone()).or_default();
                    group.0.push(&host.name);
                    group.1.extend(all);
                }
                Measured::Requests { failed, retransmissions, timeouts, .. } => {
                    let sent_again = [Cell::Count(*retransmissions), Cell::Count(*timeouts)];
                    requests.rows.push(request_row(names(), to(), part, *failed, sent_again));
                }
                Measured::Memcached { lost, .. } => {
                    let sent_again = [Cell::Empty, Cell::Empty];
                    requests.rows.push(request_row(names(), to(), part, *lost, sent_again));
                }
                Measured::Datagrams {
                    sent,
                    received,
                    delay_ps,
                    jitter_ps,
                    marks,
                    out_of_order,
                    ..
                } => {
                    let [name, from] = names();
                    udp.rows.push(vec![
                        name,
                        from,
                        to(),
                        Cell::Count(*sent),
                        Cell::Count(*received),
                        share(sent.saturating_sub(*received), *sent),
                        Cell::Rate(part.measured.goodput_bps()),
                        Cell::time(*delay_ps),
                        Cell::Time(*jitter_ps),
                        optional(*marks),
                        Cell::Count(*out_of_order),
                    ]);
                }
                Measured::Frames { sent, bytes } => {
                    let [name, from] = names();
                    frames.rows.push(vec![name, from, Cell::Count(*sent), Cell::Bytes(*bytes)]);
                }
            }
        }
    }
    for (name, (hosts, all)) in &groups {
        let from = match hosts[..] {
            [host] => host.to_string(),
            _ => format!("{} hosts", hosts.len()),
        };
        add_flows(&mut flows, [text(name), text(from)], all);
    }
    vec![ping, tcp, flows, requests, udp, frames]
}

/// A row of requests with their latencies.
fn request_row(
    [name, from]: [Cell; 2],
    to: Cell,
    part: &PartResult,
    failed: u64,
    [retransmissions, timeouts]: [Cell; 2],
) -> Vec<Cell> {
    let sample = part.measured.completions();
    vec![
        name,
        from,
        to,
        Cell::Count(sample.count() as u64),
        Cell::Count(failed),
        Cell::time(sample.mean()),
        Cell::time(sample.percentile(0.5)),
        Cell::time(sample.percentile(0.99)),
        Cell::time(sample.largest()),
        retransmissions,
        timeouts,
    ]
}

/// Adds a row for each class of sizes, and one for all flows.
fn add_flows(table: &mut Table, [name, from]: [Cell; 2], flows: &[FlowResult]) {
    let mut from_bytes = 0;
    let mut classes: Vec<(u64, u64, &str)> = Vec::new();
    for (to_bytes, title) in SIZE_CLASSES {
        classes.push((from_bytes, to_bytes, title));
        from_bytes = to_bytes;
    }
    classes.push((0, u64::MAX, "all"));
    for (from_bytes, to_bytes, title) in classes {
        let is_in = |bytes: u64| (bytes > from_bytes || from_bytes == 0) && bytes <= to_bytes;
        let of_class: Vec<_> = flows.iter().filter(|flow| is_in(flow.bytes)).collect();
        if of_class.is_empty() {
            continue;
        }
        let sample: Sample = of_class.iter().filter_map(|flow| flow.completion_ps()).collect();
        table.rows.push(vec![
            name.clone(),
            from.clone(),
            text(title),
            Cell::Count(of_class.len() as u64),
            Cell::Count(sample.count() as u64),
            Cell::Bytes(of_class.iter().map(|flow| flow.bytes).sum()),
            Cell::time(sample.mean()),
            Cell::time(sample.percentile(0.5)),
            Cell::time(sample.percentile(0.99)),
            Cell::time(sample.largest()),
            Cell::Count(of_class.iter().map(|flow| flow.retransmissions).sum()),
            Cell::Count(of_class.iter().filter_map(|flow| flow.timeouts).sum()),
        ]);
    }
}

/// The host that a part sends to, or its address.
fn destination(network: &Network, part: &PartResult) -> String {
    let Some(address) = part.destination else { return "several".to_string() };
    let has = |host: &&network_file::model::Host| host.has_address(address);
    match network.hosts.iter().find(has) {
        Some(host) => host.name.clone(),
        None => address.to_string(),
    }
}

fn links(network: &Network, results: &Results) -> Table {
    let mut table = Table::new(
        "links",
        &[
            ("link", "link"),
            ("frames", "frames"),
            ("bytes", "bytes"),
            ("use", "use"),
            ("lost", "lost"),
            ("lost down", "lost_while_down"),
            ("queue full", "queue_full"),
            ("queue mean", "queue_mean_packets"),
            ("p99", "queue_p99_packets"),
            ("max", "queue_max_packets"),
        ],
    );
    let mut unused = 0;
    let mut rows: Vec<(f64, Vec<Cell>)> = Vec::new();
    for (link, directions) in network.links.iter().zip(&results.links) {
        for (side, direction) in directions.iter().enumerate() {
            if direction.sent == 0 && direction.dropped == 0 && direction.link.lost_while_down == 0
            {
                unused += 1;
                continue;
            }
            let [from, to] = [&link.ends[side], &link.ends[1 - side]];
            let row = vec![
                text(format!("{} -> {}", network.port_name(from), network.port_name(to))),
                Cell::Count(direction.sent),
                Cell::Bytes(direction.sent_bytes),
                direction.utilization.map_or(Cell::Empty, Cell::Share),
                Cell::Count(direction.link.lost),
                Cell::Count(direction.link.lost_while_down),
                Cell::Count(direction.dropped),
                Cell::Number(direction.mean_queue),
                Cell::Count(direction.p99_queue),
                Cell::Count(direction.peak_queue),
            ];
            rows.push((direction.utilization.unwrap_or(0.0), row));
        }
    }
    // The busiest first; equal ones in the order of the file.
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    table.rows = rows.into_iter().map(|(_, row)| row).collect();
    if unused > 0 {
        table.notes.push(format!("{unused} directions of links carried nothing"));
    }
    table.notes.push(
        "a queue holds packets that wait for the port, not the one on the wire; mean and p99 are over time"
            .to_string(),
    );
    table
}

fn switches(network: &Network, results: &Results) -> Table {
    let mut table = Table::new(
        "switches",
        &[
            ("switch", "switch"),
            ("received", "received"),
            ("sent", "sent"),
            ("dropped", "dropped"),
            ("reasons", "reasons"),
        ],
    );
    for (switch, result) in network.switches.iter().zip(&results.switches) {
        if result.received == 0 {
            continue;
        }
        let reasons: Vec<String> =
            result.drops.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        table.rows.push(vec![
            text(&switch.name),
            Cell::Count(result.received),
            Cell::Count(result.sent),
            Cell::Count(result.drops.iter().map(|(_, count)| count).sum()),
            text(reasons.join(", ")),
        ]);
    }
    table
}

/// Hosts that dropped something.
fn hosts(network: &Network, results: &Results) -> Table {
    let mut table = Table::new(
        "hosts that dropped frames",
        &[
            ("host", "host"),
            ("queue full", "queue_full"),
            ("no route", "no_route"),
            ("no ARP/ND answer", "unresolved"),
            ("for others", "not_for_host"),
            ("checksum", "checksum"),
            ("malformed", "malformed"),
            ("no socket", "no_socket"),
        ],
    );
    for (host, counts) in network.hosts.iter().zip(&results.hosts) {
        let drops = counts.drops();
        if drops.iter().any(|(_, count)| *count > 0) {
            let mut row = vec![text(&host.name)];
            row.extend(drops.map(|(_, count)| Cell::Count(count)));
            table.rows.push(row);
        }
    }
    table
}

/// The name of an application with its host, for messages.
pub(crate) fn title(host: &str, application: &Application) -> String {
    format!("`{}` of `{host}`", application.name)
}
