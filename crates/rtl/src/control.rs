// SPDX-License-Identifier: Apache-2.0
//! From a control whose arrays `scale` has judged to a [`Plan`].

use crate::codes;
use crate::logic::Header;
use crate::plan::Plan;
use crate::program::{FirstValues, Resolution, Source, SourceDecision, SourceGroup, plan};
use crate::shape::Shape;
use ir::analysis::ControlValues;
use scale::sharding::{ControlSharding, Rule};
use scale::staged::{NotStaged, StagedControl, stage};
use source::{Diagnostic, Diagnostics, Span};

/// A control as hardware.
#[derive(Clone, Debug)]
pub struct ControlPlan {
    /// The plan.
    pub plan: Plan,
    /// Where packets carry which slots of the program in stages.
    pub header: Header,
    /// The control in stages, as the simulator runs it.
    pub staged: StagedControl,
    /// What the hardware leaves out.
    pub warnings: Diagnostics,
}

/// Makes the plan of a control.
///
/// # Errors
///
/// What hardware cannot hold, all of it.
pub fn control_plan(
    control: &mut ControlSharding<'_>,
    name: &str,
    shape: Shape,
    first_values: &FirstValues,
) -> Result<ControlPlan, Diagnostics> {
    let mut found = Diagnostics::new();
    two_cells(control, &mut found);
    two_phantoms(control, &mut found);
    let staged = match stage(control) {
        Ok(staged) => staged,
        Err(reason) => {
            found.append(not_staged(control, reason));
            return Err(found);
        }
    };
    let region = |block: usize| staged.front.blocks[block].region;
    let groups = staged.groups.iter().map(|group| SourceGroup {
        name: group.name.clone(),
        stage: group.stage,
        cells: group.cells,
        registers: group.registers().collect(),
        decision: group.decision.map(|decision| SourceDecision {
            after: decision.after,
            region: region(decision.block),
            answer: decision.slot,
        }),
    });
    let source = Source {
        name: name.to_owned(),
        program: &staged.program,
        stages: staged.stages.iter().map(|block| staged.program.blocks[*block].region).collect(),
        resolution: Resolution::Code {
            program: &staged.front,
            region: region(staged.resolution),
            shared_slots: staged.program.slots.len(),
            reads: staged.reads.clone(),
            answers: staged.groups.iter().map(|it| (it.slots.happens, it.slots.index)).collect(),
        },
        groups: groups.collect(),
        first_values: first_values.clone(),
    };
    let made = plan(&source, shape);
    match made {
        Ok((plan, header)) if found.is_empty() => {
            let warnings = counters(control);
            Ok(ControlPlan { plan, header, staged, warnings })
        }
        Ok(_) => Err(found),
        Err(errors) => {
            found.append(errors);
            Err(found)
        }
    }
}

/// Warns of counters.
fn counters(control: &ControlSharding<'_>) -> Diagnostics {
    let mut found = Diagnostics::new();
    if !control.counters.is_empty() {
        let names: Vec<String> = control.counters.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("the hardware leaves out counters: {}", names.join(", "));
        found.push(
            Diagnostic::warning(codes::COUNTERS, Span::NONE, message)
                .help("count in a register array what the hardware should count"),
        );
    }
    found
}

/// Refuses arrays of which one packet accesses two cells.
fn two_cells(control: &ControlSharding<'_>, found: &mut Diagnostics) {
    let Some(values) = &control.values else { return };
    for array in control.arrays.iter().filter(|array| array.rule == Rule::TwoCells) {
        let origins = &values.program().origins;
        let origin = array.accesses.last().map(|access| values.accesses()[*access].origin);
        let origin = origin.and_then(|origin| origins.get(origin.index()));
        let span = origin.map_or(Span::NONE, |origin| origin.span);
        let message = format!("a packet accesses two cells of array `{}`", array.name);
        found.push(
            Diagnostic::error(codes::TWO_ACCESSES, span, message)
                .help("access one cell, or use two arrays"),
        );
    }
}

/// Refuses stages in which a packet may have two phantoms: a lane of the channel carries one a cycle.
fn two_phantoms(control: &mut ControlSharding<'_>, found: &mut Diagnostics) {
    let groups: Vec<_> =
        control.groups.iter().map(|group| (group.stage, group.may, group.arrays[0])).collect();
    let Some(values) = &mut control.values else { return };
    for (at, (stage, may, array)) in groups.iter().enumerate() {
        for (other_stage, other_may, other_array) in &groups[..at] {
            let predicates = values.values_mut().predicates_mut();
            if stage != other_stage
                || predicates.and(*may, *other_may) == ir::analysis::Predicate::FALSE
            {
                continue;
            }
            let names = [*other_array, *array].map(|array| control.arrays[array].name.clone());
            let message = format!(
                "only state tells which of arrays `{}` and `{}` a packet accesses in stage {stage}",
                names[0], names[1]
            );
            found.push(
                Diagnostic::error(codes::TWO_ACCESSES, Span::NONE, message)
                    .help("access one array in front of the other, or join them to one"),
            );
        }
    }
}

/// Why no machine runs a control.
fn not_staged(control: &ControlSharding<'_>, reason: NotStaged) -> Diagnostics {
    if let NotStaged::Cut(errors) = reason {
        return errors;
    }
    let mut found = Diagnostics::new();
    let program = control.values.as_ref().map(ControlValues::program);
    let place = program.map_or(Span::NONE, |program| reason.span(program));
    let message = format!("no hardware runs the control: {reason}");
    found.push(
        Diagnostic::error(codes::CONTROL, place, message)
            .help("`plane scale` tells what the program's arrays allow"),
    );
    found
}
