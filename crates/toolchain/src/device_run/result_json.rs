// SPDX-License-Identifier: Apache-2.0
//! The result of a run as JSON: ports, drops, counters, registers, digests and captures. `docs/run-json.md` documents the
//! fields; numbers from 2^53 on are strings, because many readers of JSON round them.

use super::ended::Ended;
use super::{DeviceRun, Engines};
use crate::port_captures::Written;
use crate::threads::Pipelines;
use device::{Device, DigestMessage, PortStatistics};
use ir::{CountUnit, CounterId, MatchKind, Program, RegisterId, TableId};
use network_run::json_numbers::{integer, number};
use serde_json::{Map, Value, json};
use state::{CounterValue, EntryRecord};
use std::path::PathBuf;

/// Returns the result as one line.
pub(super) fn text(
    device: &Device,
    engine: &str,
    ended: &Ended,
    run: &DeviceRun<'_>,
    written: &Written,
) -> String {
    let statistics = device.statistics();
    let total =
        statistics.ports.values().fold(PortStatistics::default(), |sum, port| PortStatistics {
            received_packets: sum.received_packets + port.received_packets,
            received_bytes: sum.received_bytes + port.received_bytes,
            sent_packets: sum.sent_packets + port.sent_packets,
            sent_bytes: sum.sent_bytes + port.sent_bytes,
        });
    let ports = statistics.ports.iter().map(|(number, port)| {
        let mut object = Map::new();
        object.insert("port".to_string(), json!(number));
        object.extend(traffic(port));
        Value::Object(object)
    });
    let reasons = statistics.drops.iter();
    let reasons: Map<String, Value> =
        reasons.map(|(reason, count)| (reason.name().to_string(), integer(*count))).collect();
    let progress = ended.progress.unwrap_or_default();
    let mut result = json!({
        "program": run.program.display().to_string(),
        "engine": engine,
        "verified": run.engines == Engines::SideBySide && ended.error.is_none(),
        "complete": ended.error.is_none() && !progress.is_cut,
        "error": ended.error,
        "ports": ports.collect::<Vec<_>>(),
        "total": traffic(&total),
        "dropped": { "packets": integer(statistics.dropped_packets()), "reasons": reasons },
        "multicast_copies": integer(statistics.replicated),
        "clones": integer(statistics.cloned),
        "resubmitted": integer(statistics.resubmitted),
        "recirculated": integer(statistics.recirculated),
        "snapped_packets": integer(progress.packets_snapped),
        "counters": counters(device),
        "registers": registers(device),
        "digests": ended.digests.iter().map(digest).collect::<Vec<_>>(),
        "captures": { "written": paths(&written.written), "earlier": paths(&written.earlier) },
    });
    match &ended.pipelines {
        None => {}
        Some(Pipelines::One(reason)) => result["one_thread_because"] = json!(reason),
        Some(Pipelines::Many(workers)) => {
            let workers = workers.iter().map(|worker| {
                json!({
                    "packets": integer(worker.packets),
                    "accesses": integer(worker.accesses),
                    "migrations": integer(worker.migrations),
                })
            });
            result["pipelines"] = workers.collect();
        }
    }
    format!("{result}\n")
}

fn traffic(port: &PortStatistics) -> Map<String, Value> {
    [
        ("packets_in", port.received_packets),
        ("bytes_in", port.received_bytes),
        ("packets_out", port.sent_packets),
        ("bytes_out", port.sent_bytes),
    ]
    .into_iter()
    .map(|(name, count)| (name.to_string(), integer(count)))
    .collect()
}

fn paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

fn digest(digest: &DigestMessage) -> Value {
    let fields = digest.fields.iter();
    let fields: Map<String, Value> =
        fields.map(|(name, value)| (name.to_string(), number(value))).collect();
    json!({
        "name": &*digest.name,
        "packet": integer(digest.packet),
        "time_ps": integer(digest.time_ps),
        "fields": fields,
    })
}

/// The counters with their cells that are not zero.
fn counters(device: &Device) -> Vec<Value> {
    let program = device.program();
    let counters = program.counters.iter().enumerate().map(|(at, counter)| {
        let id = CounterId(at as u32);
        let unit = match counter.unit {
            CountUnit::Packets => "packets",
            CountUnit::Bytes => "bytes",
            CountUnit::PacketsAndBytes => "packets_and_bytes",
        };
        match counter.size {
            Some(size) => {
                let cells = device.cells();
                let value = |index| Some((index, cells.counter(id, index)?));
                let values = (0..size).filter_map(value).filter(|(_, value)| is_counted(*value));
                let cells = values.map(|(index, value)| {
                    let mut cell = count(value);
                    cell.insert("index".to_string(), integer(index));
                    Value::Object(cell)
                });
                json!({
                    "name": &*counter.name,
                    "unit": unit,
                    "size": integer(size),
                    "cells": cells.collect::<Vec<_>>(),
                })
            }
            None => json!({
                "name": &*counter.name,
                "unit": unit,
                "entries": counted_entries(device, &program, id),
            }),
        }
    });
    counters.collect()
}

fn is_counted(value: CounterValue) -> bool {
    value != CounterValue::default()
}

fn count(value: CounterValue) -> Map<String, Value> {
    let parts = [("packets", value.packets), ("bytes", value.bytes)];
    parts.into_iter().map(|(name, count)| (name.to_string(), integer(count))).collect()
}

/// The entries and default actions that a direct counter has counted.
fn counted_entries(device: &Device, program: &Program, counter: CounterId) -> Vec<Value> {
    let (configuration, cells) = (device.configuration(), device.cells());
    let mut found = Vec::new();
    for (at, table) in program.tables.iter().enumerate() {
        if !table.direct_counters.contains(&counter) {
            continue;
        }
        let Some(state) = configuration.table(TableId(at as u32)) else { continue };
        let mut add = |entry: Option<&EntryRecord>| {
            let value = cells.direct_counter(counter, entry);
            if !is_counted(value) {
                return;
            }
            let mut object = count(value);
            object.insert("table".to_string(), json!(&*table.name));
            if let Some(entry) = entry {
                let matched = table.keys.iter().filter(|key| key.match_kind != MatchKind::Selector);
                let keys: Map<String, Value> = matched
                    .zip(&entry.keys)
                    .map(|(key, pattern)| {
                        (key.name.to_string(), json!(state::pattern_text(pattern)))
                    })
                    .collect();
                object.insert("keys".to_string(), Value::Object(keys));
            } else {
                object.insert("default_action".to_string(), json!(true));
            }
            found.push(Value::Object(object));
        };
        for entry in state.entries_by_age() {
            add(Some(entry));
        }
        add(None);
    }
    found
}

/// The registers with their cells that are not zero.
fn registers(device: &Device) -> Vec<Value> {
    let (program, cells) = (device.program(), device.cells());
    let register = |(at, register): (usize, &ir::RegisterArray)| {
        let values = cells.register(RegisterId(at as u32));
        let value = |index| Some((index, values?.read(index)?));
        let values = (0..register.size).filter_map(value).filter(|(_, value)| !value.is_zero());
        let values = values
            .map(|(index, value)| json!({ "index": integer(index), "value": number(&value) }));
        json!({
            "name": &*register.name,
            "width_bits": register.width_bits,
            "size": integer(register.size),
            "cells": values.collect::<Vec<_>>(),
        })
    };
    program.registers.iter().enumerate().map(register).collect()
}
