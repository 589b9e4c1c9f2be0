// SPDX-License-Identifier: Apache-2.0
//! Cuts the controls of a program by drawn assignments, and counts what the cuts were like.

use crate::Choices;
use crate::draw::{self, Draw};
use ir::Program;
use ir::analysis::Analysis;
use ir::architecture::stages_of;
use ir::stages::{Constraints, MovedActions, behind_tables, cut};
use std::fmt;

/// What cuts were like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutCounts {
    /// Cuts of controls.
    pub cuts: usize,
    /// Those with at least four stages that have instructions.
    pub with_four_stages: usize,
    /// Those of controls that allow four such stages at all.
    pub that_allow_four: usize,
    /// Those whose assignment was drawn exactly uniformly.
    pub exact: usize,
    /// Slots that carry temporaries.
    pub carried: usize,
    /// Register accesses, counts and meterings in cut controls.
    pub accesses: usize,
    /// Reasons why controls could not be cut.
    pub refused: Vec<String>,
}

impl CutCounts {
    /// Adds other counts.
    pub fn include(&mut self, other: &CutCounts) {
        self.cuts += other.cuts;
        self.with_four_stages += other.with_four_stages;
        self.that_allow_four += other.that_allow_four;
        self.exact += other.exact;
        self.carried += other.carried;
        self.accesses += other.accesses;
        self.refused.extend(other.refused.iter().cloned());
    }
}

impl fmt::Display for CutCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} cuts, {} with four stages and more ({:.1} %; {} allow it), {} drawn exactly, {} carried temporaries, \
             {} accesses of state, {} refused",
            self.cuts,
            self.with_four_stages,
            100.0 * self.with_four_stages as f64 / self.cuts.max(1) as f64,
            self.that_allow_four,
            self.exact,
            self.carried,
            self.accesses,
            self.refused.len()
        )
    }
}

/// Cuts every control that stages hold into `count` stages, by assignments that follow from the seed. A control without
/// instructions stays.
///
/// # Panics
///
/// If a drawn assignment is refused, or the result does not verify, or its text reads as another program.
pub fn cut_controls(program: &mut Program, count: u32, seed: u64) -> CutCounts {
    let mut counts = CutCounts::default();
    let mut choices = Choices::from_seed(seed);
    let controls: Vec<usize> = (0..program.blocks.len())
        .filter(|at| stages_of(program, &program.blocks[*at]).is_some())
        .collect();
    // From the last one, so that the others keep their numbers.
    for block in controls.into_iter().rev() {
        let moved = match choices.flag() {
            true => MovedActions::All,
            false => MovedActions::Stateful,
        };
        let prepared = behind_tables(program, block, moved).program;
        let constraints = match Constraints::of(&prepared, block) {
            Ok(constraints) => constraints,
            Err(found) => {
                counts.refused.extend(found.iter().map(|each| each.message.clone()));
                continue;
            }
        };
        if constraints.classes().is_empty() {
            continue;
        }
        let Draw { assignment, is_exact } = draw::draw(&constraints, count, &mut choices);
        let staged = match cut(&prepared, block, &assignment) {
            Ok(staged) => staged,
            Err(found) => panic!("a drawn assignment is refused: {found:?}"),
        };
        counts.cuts += 1;
        counts.with_four_stages += usize::from(assignment.used_stages() >= 4);
        counts.that_allow_four += usize::from(constraints.classes().len() >= 4);
        counts.exact += usize::from(is_exact);
        counts.carried += staged.carried.len();
        let region = constraints.region();
        let analysis = Analysis::of(&prepared);
        counts.accesses += analysis.accesses().iter().filter(|it| it.at.region == region).count();
        *program = staged.program;
    }
    if let Err(errors) = ir::verify(program) {
        panic!("the cut program does not verify: {}", errors[0]);
    }
    let text = ir::text::print(program);
    match ir::text::parse(&text) {
        Ok(read) => assert_eq!(&read, program, "the cut program reads as another one"),
        Err(errors) => panic!("the cut program's text is not read: {}", errors[0]),
    }
    counts
}
