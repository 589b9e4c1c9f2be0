// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of runs that stop, for the reference machine and for compiled programs.

use super::codes;
use lucid::core::{EventId, GlobalId, GlobalKind, Program};
use source::{Diagnostic, Span};

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
