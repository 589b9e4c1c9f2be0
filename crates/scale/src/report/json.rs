// SPDX-License-Identifier: Apache-2.0
//! The report on sharding as JSON. At the top `program`, `pipelines`, `remarks`, `counts` (arrays by rule) and `controls`.
//! Each control has `arrays` (each with `name`, `cells`, `sharded`, `rule`, `lines`, `stage`, `group`), `groups`, and the
//! `phantom`'s fields in bits.

use super::{ArrayReport, ControlReport, GroupReport, Report};
use crate::resolution::PAPER_PHANTOM_BITS;
use serde_json::{Map, Value, json};

/// Returns the document, which ends with a line break.
pub fn json(report: &Report) -> String {
    let counts: Map<String, Value> = report
        .counts()
        .into_iter()
        .map(|(rule, count)| (rule.name().to_string(), count.into()))
        .collect();
    let controls: Vec<Value> = report.controls.iter().map(of_control).collect();
    let document = json!({
        "program": report.program,
        "pipelines": report.pipelines,
        "remarks": report.remarks,
        "counts": counts,
        "controls": controls,
    });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn of_control(control: &ControlReport) -> Value {
    let phantom = control.phantom.map(|phantom| {
        json!({
            "bits": phantom.bits(),
            "packet": phantom.packet,
            "stage": phantom.stage,
            "pipeline": phantom.pipeline,
            "index": phantom.index,
            "kind": phantom.kind,
            "paper": PAPER_PHANTOM_BITS,
        })
    });
    json!({
        "gress": control.gress,
        "name": control.name,
        "stage_source": control.stage_source,
        "stages": control.stages,
        "resolution_stages": control.resolution_stages,
        "arrays": control.arrays.iter().map(of_array).collect::<Vec<Value>>(),
        "groups": control.groups.iter().map(of_group).collect::<Vec<Value>>(),
        "counters": control.counters,
        "phantom": phantom,
    })
}

fn of_array(array: &ArrayReport) -> Value {
    let because: Vec<Value> =
        array.because.iter().map(|(line, name)| json!({ "line": line, "array": name })).collect();
    json!({
        "name": array.name,
        "cells": array.cells,
        "width_bits": array.width_bits,
        "sharded": array.rule.is_sharded(),
        "rule": array.rule.name(),
        "reason": array.rule.sentence(),
        "lines": array.lines,
        "because": because,
        "stage": array.stage,
        "group": array.group,
    })
}

fn of_group(group: &GroupReport) -> Value {
    json!({
        "arrays": group.arrays,
        "stage": group.stage,
        "moved_from": group.moved_from,
        "sharded": group.is_sharded,
        "cells": group.cells,
        "phantom": group.phantom.name(),
        "known_after": group.known_after,
    })
}
