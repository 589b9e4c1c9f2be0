// SPDX-License-Identifier: Apache-2.0
//! A layout as JSON, for tools. At the top `target`, `program`, `stages_used`, `stages_available` (of
//! each half), `optimal` and `stages`. `optimal` is `true` where no layout has fewer stages, a number
//! where at least that many are needed, and `false` where nothing is known. Each stage has `tables`
//! (each with `gress`, `units`, `matches`, `arrays`, `resources`), `arrays` and `resources` (what is
//! taken, by names as in target files; the limits stand once, in `limits`).

use crate::cost::{self, Demand, Model, TableCost};
use crate::greedy::Clusters;
use crate::layout::{Layout, Optimality, PlacedTable};
use crate::problem::{ArrayId, Gress, MatchKind, Problem, Resource, UnitId};
use crate::report::{Reasons, reason_words};
use crate::target::{HardwareModel, Scope};
use serde_json::{Map, Value, json};

/// The document. `place` tells where a unit is in the source, such as `nat.dpt:12`; empty if that is
/// not known.
pub fn json(
    problem: &Problem,
    target: &HardwareModel,
    layout: &Layout,
    place: &dyn Fn(UnitId) -> String,
) -> String {
    let model = Model::new(problem, target);
    let clusters = Clusters::of(problem).ok();
    let reasons = clusters.as_ref().map(|clusters| Reasons::new(&model, clusters, layout));
    let unit = |id: UnitId| {
        let unit = &problem.units[id.0 as usize];
        let why = reasons.as_ref().and_then(|reasons| reason_words(problem, reasons.why(id)));
        let mut value = json!({ "name": &*unit.name, "place": place(id), "why": why });
        if let Some(table) = &unit.table {
            let keys: Vec<Value> = table
                .keys
                .iter()
                .map(|key| {
                    let variable = &problem.variables[key.variable.0 as usize];
                    json!({
                        "name": &*variable.name,
                        "match": match_kind(key.kind),
                        "width_bits": key.width_bits,
                    })
                })
                .collect();
            value["table"] = json!({
                "keys": keys,
                "entries": table.entries,
                "actions": table.actions,
                "action_data_bits": table.action_data_bits,
            });
        }
        value
    };
    let table = |table: &PlacedTable, cost: &TableCost| {
        let matches: Vec<&str> = cost
            .matched
            .keys()
            .map(|variable| &*problem.variables[variable.0 as usize].name)
            .collect();
        json!({
            "gress": table.gress.name(),
            "units": table.units.iter().map(|id| unit(*id)).collect::<Vec<_>>(),
            "matches": matches,
            "arrays": cost.arrays.keys().map(|id| &*array(problem, *id).name).collect::<Vec<_>>(),
            "resources": resources(&cost.demand),
        })
    };
    let stages: Vec<Value> = layout
        .stages
        .iter()
        .enumerate()
        .map(|(number, stage)| {
            let costs: Vec<TableCost> =
                stage.tables.iter().map(|table| model.table(&table.units)).collect();
            let arrays: Vec<Value> = costs
                .iter()
                .flat_map(|cost| &cost.arrays)
                .map(|(id, demand)| {
                    let array = array(problem, *id);
                    json!({
                        "name": &*array.name,
                        "length": array.length,
                        "cell_bits": array.cell_bits,
                        "resources": resources(demand),
                    })
                })
                .collect();
            let tables: Vec<Value> =
                stage.tables.iter().zip(&costs).map(|(it, cost)| table(it, cost)).collect();
            let mut value = json!({ "stage": number, "tables": tables, "arrays": arrays });
            if target.shared {
                value["resources"] = resources(&cost::stage(&costs));
            } else {
                let of = |wanted| {
                    let tables = stage.tables.iter().zip(&costs);
                    let costs = tables.filter(|(table, _)| table.gress == wanted);
                    resources(&cost::stage(costs.map(|(_, cost)| cost)))
                };
                value["resources"] = json!({
                    "ingress": of(Gress::Ingress),
                    "egress": of(Gress::Egress),
                });
            }
            value
        })
        .collect();
    let optimal = match layout.optimality {
        Optimality::Optimal => json!(true),
        Optimality::AtLeast(bound) => json!(bound),
        Optimality::Unknown => json!(false),
    };
    let limits: Map<String, Value> =
        [("stage", Scope::Stage), ("table", Scope::Table), ("array", Scope::Array)]
            .into_iter()
            .map(|(name, scope)| (name.to_string(), resources(target.limits(scope))))
            .collect();
    let document = json!({
        "program": &*problem.name,
        "target": &*layout.target,
        "stages_used": layout.stages.len(),
        "stages_available": { "ingress": target.ingress_stages, "egress": target.egress_stages },
        "optimal": optimal,
        "limits": limits,
        "stages": stages,
    });
    format!("{document:#}\n")
}

fn array(problem: &Problem, id: ArrayId) -> &crate::problem::Array {
    &problem.arrays[id.0 as usize]
}

fn resources(demand: &Demand) -> Value {
    let pairs = Resource::ALL
        .into_iter()
        .filter_map(|resource| Some((resource.name().to_string(), json!(demand.get(&resource)?))));
    Value::Object(pairs.collect())
}

fn match_kind(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::LongestPrefix => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
    }
}

#[cfg(test)]
mod tests;
