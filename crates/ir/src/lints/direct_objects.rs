// SPDX-License-Identifier: Apache-2.0
//! Direct counters and meters that no table names, so that they have no entries to count or meter for.

use super::{Lints, last_part};
use crate::OriginId;
use crate::codes::lints as codes;
use source::Diagnostic;

impl Lints<'_> {
    pub(super) fn direct_objects(&mut self) {
        let program = self.program;
        let mut lonely: Vec<(&str, &str, OriginId)> = Vec::new();
        for (at, counter) in program.counters.iter().enumerate() {
            let mut counters = program.tables.iter().flat_map(|table| &table.direct_counters);
            if counter.size.is_none() && !counters.any(|it| it.index() == at) {
                lonely.push(("counter", &counter.name, counter.origin));
            }
        }
        for (at, meter) in program.meters.iter().enumerate() {
            let mut meters = program.tables.iter().flat_map(|table| &table.direct_meters);
            if meter.size.is_none() && !meters.any(|it| it.index() == at) {
                lonely.push(("meter", &meter.name, meter.origin));
            }
        }
        for (kind, name, origin) in lonely {
            self.found.push(
                Diagnostic::warning(
                    codes::UNATTACHED_DIRECT_OBJECT,
                    self.span(origin),
                    format!("no table names the direct {kind} `{}`", last_part(name)),
                )
                .note(format!("a direct {kind} has a cell for each entry of its table"))
                .help(format!("add it to the table's properties, or use a {kind} with an index")),
            );
        }
    }
}
