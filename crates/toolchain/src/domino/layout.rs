// SPDX-License-Identifier: Apache-2.0
//! The layout problem of a Domino program: a unit for each codelet. A stateful codelet has an array, which holds the cells
//! of all its globals.

use super::{after_passes, read};
use domino::core::Core;
use domino::passes::codelets::{Codelet, codelets};
use domino::passes::print_statement;
use frontend::{Console, Failure, LayoutProblem, ProgramFile};
use pisa::guard::Guard;
use pisa::problem::{
    Array, ArrayId, Dependency, DependencyKind, Gress, Problem, Resource, Unit, UnitId,
};
use source::Span;
use std::collections::BTreeSet;

/// Width of a global's cell.
const CELL_BITS: u32 = 32;

/// Returns the problem.
pub(super) fn problem(
    file: &ProgramFile<'_>,
    console: &dyn Console,
) -> Result<LayoutProblem, Failure> {
    let checked = read(file)?;
    console.warnings(&checked.map, &checked.warnings);
    let core = after_passes(&checked)?;
    let codelets = codelets(&core);
    let mut problem = Problem { name: file.title().into(), ..Problem::default() };
    for codelet in &codelets.codelets {
        let array = (!codelet.states.is_empty()).then(|| {
            problem.arrays.push(array(&core, codelet));
            ArrayId(problem.arrays.len() as u32 - 1)
        });
        problem.units.push(unit(&core, codelet, array));
    }
    problem.dependencies = codelets
        .dependencies
        .iter()
        .map(|(before, after)| Dependency {
            before: UnitId(*before as u32),
            after: UnitId(*after as u32),
            kind: DependencyKind::Action,
        })
        .collect();
    Ok(LayoutProblem { problem, map: checked.map, scheduler: BTreeSet::new() })
}

fn array(core: &Core, codelet: &Codelet) -> Array {
    let globals = codelet.states.iter().map(|global| &core.globals[*global]);
    Array {
        name: codelet.name(core).into(),
        cell_bits: CELL_BITS * codelet.states.len() as u32,
        length: globals.clone().map(|global| global.cells() as u64).max().unwrap_or(1),
        span: globals.map(|global| global.span).next().unwrap_or(Span::NONE),
    }
}

fn unit(core: &Core, codelet: &Codelet, array: Option<ArrayId>) -> Unit {
    // The last statement is the one whose operands the others are.
    let statements = codelet.statements.iter().map(|at| &core.body[*at]);
    let last = statements.clone().next_back();
    let name = match array {
        Some(_) => {
            format!("codelet of {}", codelet.name(core).replace('+', " and "))
        }
        None => last.map_or(String::new(), |statement| print_statement(core, statement)),
    };
    let span = statements.map(|statement| statement.span).rfind(|span| !span.is_none());
    let instructions = u64::from(array.is_none());
    Unit {
        name: name.into(),
        span: span.unwrap_or(Span::NONE),
        gress: Gress::Ingress,
        guard: Guard::always(),
        mergeable: false,
        table: None,
        array,
        register_action: 0,
        demand: [(Resource::Instructions, instructions)]
            .into_iter()
            .filter(|(_, amount)| *amount > 0)
            .collect(),
    }
}
