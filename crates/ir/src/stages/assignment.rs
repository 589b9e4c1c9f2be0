// SPDX-License-Identifier: Apache-2.0
//! [`Assignment`]: a stage for each instruction of a region. Checks one against [`Constraints`], and completes one of
//! which some stages are given. Nothing is cut here.

use super::constraints::{Constraints, Precedence, Reason};
use super::obstacles::span;
use crate::analysis::Point;
use crate::codes::stages as codes;
use crate::{Program, RegionId};
use source::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;

/// A stage for each instruction of a region, from 0. Terminators have none: each stage decides again by the
/// conditions that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    region: RegionId,
    count: u32,
    stages: Vec<Vec<u32>>,
}

/// A pair of instructions whose stages contradict a precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The precedence.
    pub precedence: Precedence,
    /// The stage of the instruction that comes first.
    pub before: u32,
    /// The stage of the other, which is earlier.
    pub after: u32,
}

/// Given stages that no assignment has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The instruction with a given stage, and that stage.
    pub at: (Point, u32),
    /// The given stage that it contradicts.
    pub other: (Point, u32),
    /// Precedences that lead from one to the other; empty where both are in one class.
    pub path: Vec<Precedence>,
}

impl Assignment {
    /// All instructions in stage 0 of `count`, which is at least 1.
    pub fn new(constraints: &Constraints, count: u32) -> Assignment {
        let stages = constraints.lengths().iter().map(|length| vec![0; *length]).collect();
        Assignment { region: constraints.region(), count: count.max(1), stages }
    }

    /// All instructions of each class in the stage of the class, of at least `count` stages.
    ///
    /// # Panics
    ///
    /// If there is not one stage for each class.
    pub fn of_classes(constraints: &Constraints, count: u32, stages: &[u32]) -> Assignment {
        assert_eq!(stages.len(), constraints.classes().len());
        let last = stages.iter().max().map_or(0, |last| *last);
        let mut assignment = Assignment::new(constraints, count.max(last + 1));
        for (class, points) in constraints.classes().iter().enumerate() {
            points.iter().for_each(|point| assignment.set(*point, stages[class]));
        }
        assignment
    }

    /// The region.
    pub fn region(&self) -> RegionId {
        self.region
    }

    /// The number of stages, empty ones among them.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The stage of an instruction; `None` for one that the region does not have or that is not reached.
    pub fn stage(&self, at: Point) -> Option<u32> {
        if at.region != self.region {
            return None;
        }
        self.stages.get(at.block.index())?.get(at.instruction as usize).copied()
    }

    /// Puts an instruction into a stage; the number of stages grows with it.
    ///
    /// # Panics
    ///
    /// If the region does not have the instruction, or it is not reached.
    pub fn set(&mut self, at: Point, stage: u32) {
        assert_eq!(at.region, self.region);
        self.stages[at.block.index()][at.instruction as usize] = stage;
        self.count = self.count.max(stage + 1);
    }

    /// How many stages have an instruction.
    pub fn used_stages(&self) -> usize {
        let mut used = vec![false; self.count as usize];
        self.stages.iter().flatten().for_each(|stage| used[*stage as usize] = true);
        used.into_iter().filter(|used| *used).count()
    }

    pub(super) fn fits(&self, constraints: &Constraints) -> bool {
        self.region == constraints.region()
            && self.stages.iter().map(Vec::len).eq(constraints.lengths().iter().copied())
    }
}

impl Constraints {
    /// The pairs that an assignment has in the wrong order.
    pub fn violations(&self, assignment: &Assignment) -> Vec<Violation> {
        let stage = |at: Point| assignment.stage(at).unwrap_or(0);
        let violation = |precedence: &Precedence| {
            let (before, after) = (stage(precedence.before), stage(precedence.after));
            let precedence = *precedence;
            (before > after).then_some(Violation { precedence, before, after })
        };
        self.precedences().iter().filter_map(violation).collect()
    }

    /// Completes stages that are given for some instructions: every other instruction gets the earliest stage that
    /// its predecessors allow. The assignment has as many stages as it takes.
    ///
    /// # Errors
    ///
    /// Given stages that contradict each other.
    pub fn complete(&self, fixed: &BTreeMap<Point, u32>) -> Result<Assignment, Box<Conflict>> {
        let given = self.given(fixed)?;
        // For each class its stage, and the class with a given stage that it follows from.
        let mut stages: Vec<(u32, Option<usize>)> = Vec::with_capacity(self.classes().len());
        for class in 0..self.classes().len() {
            let before = self.predecessors(class).iter().copied();
            let earliest = before.map(|before| stages[before]).max().unwrap_or((0, None));
            stages.push(match given[class] {
                Some((_, stage)) if stage >= earliest.0 => (stage, Some(class)),
                Some(at) => return Err(Box::new(self.conflict(&given, earliest.1, class, at))),
                None => earliest,
            });
        }
        let stages: Vec<u32> = stages.into_iter().map(|(stage, _)| stage).collect();
        let count = stages.iter().max().map_or(1, |last| last + 1);
        Ok(Assignment::of_classes(self, count, &stages))
    }

    /// The same, but every other instruction gets the latest stage that its successors allow, of `count` stages.
    ///
    /// # Errors
    ///
    /// Given stages that contradict each other, or are not below `count`.
    pub fn complete_late(
        &self,
        fixed: &BTreeMap<Point, u32>,
        count: u32,
    ) -> Result<Assignment, Box<Conflict>> {
        let early = self.complete(fixed)?;
        let given = self.given(fixed)?;
        let count = count.max(early.count());
        let mut stages = vec![count - 1; self.classes().len()];
        for class in (0..self.classes().len()).rev() {
            let after = self.successors(class).iter().map(|after| stages[*after]);
            let latest = after.min().unwrap_or(count - 1);
            stages[class] = given[class].map_or(latest, |(_, stage)| stage);
        }
        Ok(Assignment::of_classes(self, count, &stages))
    }

    /// Instructions that have a wanted stage are there or, where a precedence asks for it, later. The others are in the
    /// stage of their first user, or as early as possible if nothing waits for them. There are at least `count` stages.
    pub fn at_least(&self, wanted: &BTreeMap<Point, u32>, count: u32) -> Assignment {
        let mut is_wanted = vec![false; self.classes().len()];
        let mut stages = vec![0; self.classes().len()];
        for (&at, &stage) in wanted {
            if let Some(class) = self.class_of(at) {
                is_wanted[class] = true;
                stages[class] = stage.max(stages[class]);
            }
        }
        for class in 0..stages.len() {
            let before = self.predecessors(class).iter().map(|before| stages[*before]);
            stages[class] = before.max().unwrap_or(0).max(stages[class]);
        }
        for class in (0..stages.len()).rev().filter(|class| !is_wanted[*class]) {
            let after = self.successors(class).iter().map(|after| stages[*after]);
            stages[class] = after.min().unwrap_or(stages[class]);
        }
        Assignment::of_classes(self, count, &stages)
    }

    /// The given stage of each class, with the instruction that it is given for.
    fn given(
        &self,
        fixed: &BTreeMap<Point, u32>,
    ) -> Result<Vec<Option<(Point, u32)>>, Box<Conflict>> {
        let mut given: Vec<Option<(Point, u32)>> = vec![None; self.classes().len()];
        for (&at, &stage) in fixed {
            let Some(class) = self.class_of(at) else { continue };
            match given[class] {
                Some(other) if other.1 != stage => {
                    let path = Vec::new();
                    return Err(Box::new(Conflict { at: (at, stage), other, path }));
                }
                _ => given[class] = Some((at, stage)),
            }
        }
        Ok(given)
    }

    /// Explains why a class cannot have its given stage: another with a later one precedes it.
    fn conflict(
        &self,
        given: &[Option<(Point, u32)>],
        from: Option<usize>,
        to: usize,
        at: (Point, u32),
    ) -> Conflict {
        // Only given stages are above 0, so the later stage follows from one.
        let from = from.unwrap_or(to);
        let mut reached: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = vec![from];
        while let Some(class) = open.pop() {
            for &next in self.successors(class) {
                if next != from && !reached.contains_key(&next) {
                    reached.insert(next, class);
                    open.push(next);
                }
            }
        }
        let mut path = Vec::new();
        let mut class = to;
        while class != from
            && let Some(&before) = reached.get(&class)
        {
            path.extend(self.why(before, class));
            class = before;
        }
        path.reverse();
        Conflict { at, other: given[from].unwrap_or(at), path }
    }
}

impl Violation {
    /// The diagnostic, with both places.
    pub fn diagnostic(&self, program: &Program) -> Diagnostic {
        let Violation { precedence: Precedence { before, after, reason }, .. } = self;
        let message =
            format!("stage {} is too early: stage {} comes first", self.after, self.before);
        Diagnostic::error(codes::ILLEGAL, place(program, *after), message)
            .here(format!("in stage {}", self.after))
            .label(place(program, *before), format!("in stage {}", self.before))
            .note(reason.describe(program))
    }
}

impl Conflict {
    /// The diagnostic, with both places and what lies between them.
    pub fn diagnostic(&self, program: &Program) -> Diagnostic {
        let Conflict { at: (at, stage), other: (other, other_stage), path } = self;
        let message = match path.is_empty() {
            true => format!("one stage is needed, {stage} and {other_stage} are given"),
            false => format!("stage {stage} is too early: stage {other_stage} comes first"),
        };
        let diagnostic = Diagnostic::error(codes::ILLEGAL, place(program, *at), message)
            .here(format!("in stage {stage}"))
            .label(place(program, *other), format!("in stage {other_stage}"));
        let notes = path.iter().map(|precedence| precedence.reason.describe(program));
        notes.fold(diagnostic, Diagnostic::note)
    }
}

impl Reason {
    /// In words, as a sentence without a full stop.
    pub fn describe(self, program: &Program) -> String {
        match self {
            Reason::Value => "the value that one computes is used by the other".to_string(),
            Reason::Condition => "one decides whether the other runs".to_string(),
            Reason::Access(location) => {
                format!("both access {}, and one of them writes", location.describe(program))
            }
            Reason::EndOfBlock => "one of them may end the control".to_string(),
            Reason::SameObject(location) => {
                format!("all accesses to {} are in one stage", location.describe(program))
            }
            Reason::SameAtomicBlock(_) => {
                "all accesses of an `@atomic` block are in one stage".to_string()
            }
        }
    }
}

fn place(program: &Program, at: Point) -> source::Span {
    let block = program.regions[at.region.index()].blocks.get(at.block.index());
    let instruction = block.and_then(|block| block.instructions.get(at.instruction as usize));
    instruction.map_or(source::Span::NONE, |instruction| span(program, instruction.origin))
}

/// All violations as diagnostics.
pub(super) fn diagnostics(program: &Program, violations: &[Violation]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for violation in violations {
        found.push(violation.diagnostic(program));
    }
    found
}
