// SPDX-License-Identifier: Apache-2.0
//! [`cut`]: a control by a legal assignment as one block a stage.

use super::assignment::{Assignment, diagnostics};
use super::carried::CarriedSlots;
use super::constraints::Constraints;
use super::pieces::{Carried, Pieces};
use crate::analysis::{Analysis, Point};
use crate::codes::stages as codes;
use crate::{Program, RegionId};
use source::{Diagnostic, Diagnostics, Span};

/// A program in which a control is one block a stage.
#[derive(Clone, Debug)]
pub struct Staged {
    /// The program. The control's state, tables, actions and earlier slots have the numbers that they had.
    pub program: Program,
    /// The blocks of the stages, in order: indices into [`Program::blocks`]. They have the role of the control and
    /// follow each other; later blocks of the program have moved.
    pub stages: Vec<usize>,
    /// The temporaries that cross from a stage to a later one, in slots that are new.
    pub carried: Vec<Carried>,
}

/// Cuts a control, by its index in [`Program::blocks`], into one block a stage. An `exit` or early end needs no mark of
/// its own: each stage decides again, by conditions that earlier stages have computed, which of its code runs.
/// A stage without instructions has an empty region.
///
/// # Errors
///
/// What [`Constraints::of`] refuses, and each pair of instructions that the assignment has in the wrong order.
pub fn cut(
    program: &Program,
    block: usize,
    assignment: &Assignment,
) -> Result<Staged, Diagnostics> {
    let constraints = Constraints::of(program, block)?;
    if !assignment.fits(&constraints) {
        let mut found = Diagnostics::new();
        let message = "the stages are those of another region".to_string();
        found.push(Diagnostic::error(codes::ILLEGAL, Span::NONE, message));
        return Err(found);
    }
    let violations = constraints.violations(assignment);
    if !violations.is_empty() {
        return Err(diagnostics(program, &violations));
    }
    let control = &program.blocks[block];
    let analysis = Analysis::of(program);
    let region = control.region;
    let stage_of =
        |block: usize, at: usize| assignment.stage(Point::new(region, block, at)).unwrap_or(0);
    let pieces = Pieces {
        facts: analysis.region(region),
        stage_of: &stage_of,
        count: assignment.count(),
        exits_in: None,
    };
    let mut slots = CarriedSlots::new(program, &control.name);
    let (regions, carried) = pieces.cut(&mut slots);
    let slots = slots.finish();
    let mut program = program.clone();
    program.slots.extend(slots);
    let control = program.blocks.remove(block);
    let stages: Vec<usize> = (block..block + regions.len()).collect();
    for (stage, mut code) in regions.into_iter().enumerate() {
        code.name = format!("{}.$stage{stage}", code.name).into();
        let mut control = control.clone();
        match stage {
            0 => program.regions[region.index()] = code,
            _ => {
                // It reads what the stages before have left.
                control.parameters.iter_mut().for_each(|it| it.is_input |= it.is_output);
                control.region = RegionId(program.regions.len() as u32);
                program.regions.push(code);
            }
        }
        program.blocks.insert(block + stage, control);
    }
    Ok(Staged { program, stages, carried })
}
