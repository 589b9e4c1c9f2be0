// SPDX-License-Identifier: Apache-2.0
//! Checks a layout against a problem and a hardware model: each unit once, arrays whole, dependencies, merged tables,
//! and every limit. Shares no accounting with the layouters: `count` computes the resources of tables a second time,
//! from the documentation of targets.

mod count;

use crate::layout::{Layout, PlacedTable};
use crate::problem::{ArrayId, DependencyKind, Gress, Problem, Resource, UnitId};
use crate::target::HardwareModel;
use std::fmt;

/// One mistake in a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// More stages than the half has.
    TooManyStages {
        /// Which half.
        gress: Gress,
        /// So many are used.
        used: usize,
        /// So many there are.
        available: usize,
    },
    /// The last stage holds nothing.
    EmptyLastStage,
    /// A table of no units.
    EmptyTable {
        /// Where.
        stage: usize,
    },
    /// A unit that is nowhere.
    Missing {
        /// Which.
        unit: UnitId,
    },
    /// A unit that is at several places.
    Repeated {
        /// Which.
        unit: UnitId,
    },
    /// A unit that the problem does not have.
    Unknown {
        /// Which.
        unit: UnitId,
    },
    /// A unit in a table of the other half.
    WrongHalf {
        /// Which.
        unit: UnitId,
    },
    /// Units that may not share a table do.
    MayNotMerge {
        /// One that may not be merged.
        unit: UnitId,
        /// One that shares its table.
        with: UnitId,
    },
    /// The units of an array are in several tables.
    ArrayApart {
        /// Which array.
        array: ArrayId,
    },
    /// A dependency that is not respected.
    Dependency {
        /// This should come first.
        before: UnitId,
        /// Then this.
        after: UnitId,
        /// At this distance.
        kind: DependencyKind,
    },
    /// More of a resource than there is.
    Limit {
        /// Where.
        stage: usize,
        /// Whose limit: a table's, by its place in the stage; none: the stage's.
        table: Option<usize>,
        /// An array's limit.
        array: Option<ArrayId>,
        /// Of what.
        resource: Resource,
        /// So much is taken.
        taken: u64,
        /// So much there is.
        limit: u64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::TooManyStages { gress, used, available } => {
                write!(formatter, "{gress:?} uses {used} stages of {available}")
            }
            Violation::EmptyLastStage => formatter.write_str("the last stage is empty"),
            Violation::EmptyTable { stage } => {
                write!(formatter, "a table of stage {stage} is empty")
            }
            Violation::Missing { unit } => write!(formatter, "unit {} is nowhere", unit.0),
            Violation::Repeated { unit } => {
                write!(formatter, "unit {} is at several places", unit.0)
            }
            Violation::Unknown { unit } => write!(formatter, "there is no unit {}", unit.0),
            Violation::WrongHalf { unit } => {
                write!(formatter, "unit {} is in a table of the other half", unit.0)
            }
            Violation::MayNotMerge { unit, with } => {
                write!(formatter, "unit {} may not share a table with {}", unit.0, with.0)
            }
            Violation::ArrayApart { array } => {
                write!(formatter, "array {} is in several tables", array.0)
            }
            Violation::Dependency { before, after, kind } => {
                write!(formatter, "unit {} has to come before {} ({kind:?})", before.0, after.0)
            }
            Violation::Limit { stage, table, array, resource, taken, limit } => {
                write!(formatter, "stage {stage}")?;
                if let Some(table) = table {
                    write!(formatter, ", table {table}")?;
                }
                if let Some(array) = array {
                    write!(formatter, ", array {}", array.0)?;
                }
                write!(formatter, ": {taken} {} of {limit}", resource.words())
            }
        }
    }
}

/// All that is wrong with a layout; nothing if it is one.
pub fn check(problem: &Problem, target: &HardwareModel, layout: &Layout) -> Vec<Violation> {
    let mut violations = Vec::new();
    stages(target, layout, &mut violations);
    let places = places(problem, layout, &mut violations);
    tables(problem, layout, &mut violations);
    arrays(problem, &places, &mut violations);
    dependencies(problem, &places, &mut violations);
    count::limits(problem, target, layout, &mut violations);
    violations
}

/// Stage and table of each unit.
type Places = Vec<Option<(usize, usize)>>;

fn stages(target: &HardwareModel, layout: &Layout, violations: &mut Vec<Violation>) {
    let halves = [
        (Gress::Ingress, target.ingress_stages as usize),
        (Gress::Egress, target.egress_stages as usize),
    ];
    for (gress, available) in halves {
        let in_half = |tables: &[PlacedTable]| tables.iter().any(|table| table.gress == gress);
        let used = layout
            .stages
            .iter()
            .enumerate()
            .filter(|(_, stage)| in_half(&stage.tables))
            .map(|(index, _)| index + 1)
            .max()
            .unwrap_or(0);
        if used > available {
            violations.push(Violation::TooManyStages { gress, used, available });
        }
    }
    if layout.stages.last().is_some_and(|stage| stage.tables.is_empty()) {
        violations.push(Violation::EmptyLastStage);
    }
}

fn places(problem: &Problem, layout: &Layout, violations: &mut Vec<Violation>) -> Places {
    let mut places: Places = vec![None; problem.units.len()];
    for (stage, tables) in layout.stages.iter().enumerate() {
        for (table, placed) in tables.tables.iter().enumerate() {
            for unit in &placed.units {
                match places.get_mut(unit.0 as usize) {
                    None => violations.push(Violation::Unknown { unit: *unit }),
                    Some(Some(_)) => violations.push(Violation::Repeated { unit: *unit }),
                    Some(place) => *place = Some((stage, table)),
                }
            }
        }
    }
    for (index, place) in places.iter().enumerate() {
        if place.is_none() {
            violations.push(Violation::Missing { unit: UnitId(index as u32) });
        }
    }
    places
}

fn tables(problem: &Problem, layout: &Layout, violations: &mut Vec<Violation>) {
    for (index, stage) in layout.stages.iter().enumerate() {
        for table in &stage.tables {
            if table.units.is_empty() {
                violations.push(Violation::EmptyTable { stage: index });
            }
            for unit in &table.units {
                let Some(known) = problem.units.get(unit.0 as usize) else { continue };
                if known.gress != table.gress {
                    violations.push(Violation::WrongHalf { unit: *unit });
                }
                let alone = !known.mergeable || known.table.is_some();
                if alone && let Some(with) = table.units.iter().find(|other| *other != unit) {
                    violations.push(Violation::MayNotMerge { unit: *unit, with: *with });
                }
            }
        }
    }
}

fn arrays(problem: &Problem, places: &Places, violations: &mut Vec<Violation>) {
    for index in 0..problem.arrays.len() {
        let array = ArrayId(index as u32);
        let mut tables: Vec<(usize, usize)> = problem
            .units
            .iter()
            .zip(places)
            .filter(|(unit, _)| unit.array == Some(array))
            .filter_map(|(_, place)| *place)
            .collect();
        tables.sort_unstable();
        tables.dedup();
        if tables.len() > 1 {
            violations.push(Violation::ArrayApart { array });
        }
    }
}

fn dependencies(problem: &Problem, places: &Places, violations: &mut Vec<Violation>) {
    for dependency in &problem.dependencies {
        let (before, after) = (dependency.before, dependency.after);
        let unit = |id: UnitId| problem.units.get(id.0 as usize);
        let (Some(first), Some(second)) = (unit(before), unit(after)) else { continue };
        // All of ingress comes before all of egress.
        if first.gress != second.gress {
            continue;
        }
        let (Some(one), Some(other)) = (places[before.0 as usize], places[after.0 as usize]) else {
            continue;
        };
        let respected = match dependency.kind {
            DependencyKind::Match | DependencyKind::Action => one.0 < other.0,
            DependencyKind::Successor => one.0 < other.0 || (one.0 == other.0 && one.1 != other.1),
            DependencyKind::Anti => one.0 <= other.0,
        };
        if !respected {
            violations.push(Violation::Dependency { before, after, kind: dependency.kind });
        }
    }
}

#[cfg(test)]
mod tests;
