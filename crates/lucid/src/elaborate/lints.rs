// SPDX-License-Identifier: Apache-2.0
//! Warnings that need the lengths of arrays, which only the core program has: accesses whose constant index is
//! beyond the end of the array.

use super::{SHOWN_CALLS, codes};
use crate::core::walk::{bodies, each_statement};
use crate::core::{GlobalKind, Program, Statement, StatementKind};
use source::{Diagnostic, Diagnostics, Span};
use std::collections::HashSet;

/// Warns about accesses of cells that no array has.
pub fn lint(program: &Program) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut reported = HashSet::new();
    for body in program.events.iter().flat_map(bodies) {
        each_statement(&body.statements, &mut |statement| {
            if let Some((diagnostic, access)) = access_beyond_end(program, statement)
                && reported.insert(access)
            {
                found.push(diagnostic);
            }
        });
    }
    found
}

/// A warning, and the access that it is about: the array's number and the place of the index.
fn access_beyond_end(
    program: &Program,
    statement: &Statement,
) -> Option<(Diagnostic, (u32, Span))> {
    let StatementKind::Access { global: id, index, .. } = &statement.kind else { return None };
    let index_value = index.as_int()?;
    let global = program.globals.get(id.0 as usize)?;
    let length = match global.kind {
        GlobalKind::Array { length, .. } | GlobalKind::PairArray { length, .. } => length,
        GlobalKind::Counter { .. } | GlobalKind::Table(_) => return None,
    };
    if index_value < u128::from(length) {
        return None;
    }
    let place = if index.span.is_none() { statement.span } else { index.span };
    let cells = match length {
        1 => "1 cell: its index is 0".to_owned(),
        _ => format!("{length} cells: indexes are 0 to {}", length - 1),
    };
    let mut diagnostic = Diagnostic::warning(
        codes::BEYOND_END,
        place,
        format!("index {index_value} is beyond the end of `{}`", global.name),
    )
    .label(global.span, format!("`{}` has {cells}", global.name));
    if statement.span != place {
        diagnostic = diagnostic.label(statement.span, "accessed here");
    }
    for call in statement.inlined_at.iter().rev().take(SHOWN_CALLS) {
        if *call != place && *call != statement.span {
            diagnostic = diagnostic.label(*call, "called from here");
        }
    }
    let diagnostic = diagnostic
        .note("an access beyond the end reads 0 and writes nothing in a run; hardware may do something else")
        .help("use an index below the length, or make the array longer");
    Some((diagnostic, (id.0, place)))
}
