// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of runs: those that stop one, and warnings about full tables. For the reference machine and for compiled
//! programs.

use super::codes;
use lucid::core::{EventId, GlobalId, GlobalKind, Program};
use source::{Diagnostic, Diagnostics, Span};

/// An access beyond the end of an array: at which switch, when (picoseconds), in whose handler; of
/// which array, at which index, and where that stands in the program.
pub fn out_of_range(
    program: &Program,
    (switch, time_ps, event): (u32, u64, EventId),
    (global, index, span): (GlobalId, u128, Span),
) -> Diagnostic {
    let declared = &program.globals[global.0 as usize];
    let length = match &declared.kind {
        GlobalKind::Array { length, .. } | GlobalKind::PairArray { length, .. } => *length,
        GlobalKind::Counter { .. } => 1,
        GlobalKind::Table(_) => 0,
    };
    let message = format!(
        "index {index} is beyond the end of `{}`, which has {length} cells (switch {switch}, {} ns, \
         event `{}`)",
        declared.name,
        time_ps / 1000,
        program.events[event.0 as usize].name
    );
    Diagnostic::error(codes::OUT_OF_RANGE, span, message)
        .here("accessed here")
        .label(declared.span, format!("indices 0 to {}", length.saturating_sub(1)))
        .help("make the array longer, or the index narrower (a hash of fewer bits, a mask)")
        .note("outside the array a switch reads zero and writes nothing; a run can be configured to continue")
}

/// Warns that a table of a switch was full at a time in picoseconds, once for each table: an install of a handler at
/// this place, or a command.
pub fn warn_table_full(
    warnings: &mut Diagnostics,
    program: &Program,
    table: GlobalId,
    (switch, time_ps): (u32, u64),
    install: Option<Span>,
) {
    let declared = &program.globals[table.0 as usize];
    let capacity = match &declared.kind {
        GlobalKind::Table(table) => table.capacity,
        _ => return,
    };
    let is_same = |warning: &Diagnostic| {
        warning.code == codes::TABLE_FULL
            && (warning.primary.span == declared.span
                || warning.labels.iter().any(|label| label.span == declared.span))
    };
    if warnings.iter().any(is_same) {
        return;
    }
    let entries = if capacity == 1 { "entry" } else { "entries" };
    let message = format!(
        "table `{}` is full with {capacity} {entries}; an entry was not installed at switch {switch} at {} ns",
        declared.name,
        time_ps / 1000
    );
    let warning = match install {
        Some(span) => Diagnostic::warning(codes::TABLE_FULL, span, message)
            .here("installed here")
            .label(declared.span, "declared here"),
        None => Diagnostic::warning(codes::TABLE_FULL, declared.span, message)
            .here("declared here")
            .note("the entry came from a command"),
    };
    warnings.push(warning.help("declare the table with a larger size"));
}
