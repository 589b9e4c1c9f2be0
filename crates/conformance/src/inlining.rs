// SPDX-License-Identifier: Apache-2.0
//! Inlining of programs from outside: the result prints, is accepted again, and shows the control plane
//! the same tables, actions and objects by the same names. The crate `differential` runs inlined programs.

use ir::Program;
use ir::ready::ReadyProgram;
use p4::compile::compile;
use p4::inline::{Inlined, Obstacle, inline_all};
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use p4::typed::TypedProgram;
use source::{Diagnostics, Severity, SourceMap};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The result of inlining a program.
#[derive(Debug)]
pub enum Trial {
    /// The inlined program is accepted and looks the same to the control plane.
    Same(Box<Inlined>),
    /// It is not; the text says why.
    Broken(String),
}

/// Inlines a checked program. `ready` is what it lowers to, if it has a `main`.
pub fn trial(
    typed: &Arc<TypedProgram>,
    map: SourceMap,
    ready: Option<&ReadyProgram>,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Trial {
    match inline_all(typed, map) {
        Err((found, map)) => Trial::Broken(first_error(&found, &map)),
        Ok(inlined) => compare(inlined, ready, loader, options),
    }
}

fn compare(
    inlined: Inlined,
    ready: Option<&ReadyProgram>,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> Trial {
    if let Some((_, obstacle)) = inlined.refused.iter().find(|(_, why)| is_mistake(why)) {
        return Trial::Broken(obstacle.to_string());
    }
    let text = inlined.program.print();
    let options = PreprocessorOptions { defines: Vec::new(), ..options.clone() };
    let mut again = compile("inlined.p4", text.clone(), loader, &options);
    let ready_again = ReadyProgram::of(&mut again);
    if again.diagnostics.has_errors() {
        let why = first_error(&again.diagnostics, &again.map);
        return Trial::Broken(format!("the printed text is refused: {why}"));
    }
    match (ready, ready_again) {
        (Some(first), Some(second)) => {
            let (before, after) = (names(first.lowered()), names(second.lowered()));
            let lost: Vec<&String> = before.difference(&after).collect();
            let new: Vec<&String> = after.difference(&before).collect();
            match lost.is_empty() && new.is_empty() {
                true => Trial::Same(Box::new(inlined)),
                false => Trial::Broken(format!("names differ: lost {lost:?}, new {new:?}")),
            }
        }
        (None, None) => Trial::Same(Box::new(inlined)),
        _ => Trial::Broken("one of the two has no `main`".to_string()),
    }
}

/// Whether an obstacle is a mistake of the inliner.
fn is_mistake(obstacle: &Obstacle) -> bool {
    matches!(obstacle, Obstacle::Refused(_) | Obstacle::Edit(_) | Obstacle::NoSuchCall)
}

fn first_error(found: &Diagnostics, map: &SourceMap) -> String {
    let first = found.iter().find(|each| each.severity == Severity::Error);
    let Some(first) = first else { return "no error".to_string() };
    let place = map.location(first.primary.span);
    let place = place.map_or(String::new(), |at| format!("{}:{}: ", at.file, at.line));
    format!("{place}{}: {}", first.code, first.message)
}

/// Returns the control-plane names of a program with their shapes, a line for each.
pub fn names(program: &Program) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for table in &program.tables {
        let keys: Vec<String> =
            table.keys.iter().map(|key| format!("{} {:?}", key.name, key.match_kind)).collect();
        let actions: Vec<String> = table
            .actions
            .iter()
            .map(|listed| {
                let action = &program.actions[listed.action.index()];
                let parameters: Vec<&str> =
                    action.parameters.iter().map(|parameter| &*parameter.name).collect();
                let (only, default) = (listed.table_only, listed.default_only);
                format!("{}{parameters:?} {only} {default}", action.name)
            })
            .collect();
        let default = table.default_action.action;
        let default = table.actions.get(default as usize).map(|each| each.action);
        let default = default.map(|action| &program.actions[action.index()].name);
        let size = table.size;
        seen.insert(format!("table {} {size:?} {keys:?} {actions:?} {default:?}", table.name));
    }
    for register in &program.registers {
        seen.insert(format!("register {} {}", register.name, register.size));
    }
    for counter in &program.counters {
        seen.insert(format!("counter {} {:?} {:?}", counter.name, counter.unit, counter.size));
    }
    for meter in &program.meters {
        seen.insert(format!("meter {} {:?} {:?}", meter.name, meter.unit, meter.size));
    }
    for profile in &program.action_profiles {
        seen.insert(format!("profile {} {:?}", profile.name, profile.size));
    }
    for calculation in &program.calculations {
        seen.insert(format!(
            "calculation {} {}",
            calculation.name, calculation.parameters.width_bits
        ));
    }
    for set in &program.value_sets {
        seen.insert(format!("value set {} {}", set.name, set.size));
    }
    seen
}
