// SPDX-License-Identifier: Apache-2.0
//! What keeps a programmable block from being cut into stages, as diagnostics.

use crate::analysis::Analysis;
use crate::codes::stages as codes;
use crate::{BlockKind, Operation, OriginId, Program, Region, TableId, Terminator};
use source::{Diagnostic, Diagnostics, Span};

/// The place of an origin in the source.
pub(super) fn span(program: &Program, origin: OriginId) -> Span {
    program.origins.get(origin.index()).map_or(Span::NONE, |origin| origin.span)
}

/// Everything that keeps a block from being cut.
pub(super) fn obstacles(analysis: &Analysis<'_>, block: usize) -> Diagnostics {
    let program = analysis.program();
    let mut found = Diagnostics::new();
    let Some(declared) = program.blocks.get(block) else {
        let message = format!("the program has no block {block}");
        found.push(Diagnostic::error(codes::NOT_A_CONTROL, Span::NONE, message));
        return found;
    };
    if declared.kind != BlockKind::Control {
        let message = format!("`{}` is no control", declared.name);
        let place = span(program, declared.origin);
        let diagnostic = Diagnostic::error(codes::NOT_A_CONTROL, place, message);
        found.push(diagnostic.note("only controls are cut into stages"));
        return found;
    }
    let facts = analysis.region(declared.region);
    if facts.has_loop {
        let message = format!("`{}` has a loop that is not unrolled", declared.name);
        found.push(
            Diagnostic::error(codes::LOOP, span(program, declared.origin), message)
                .note("a packet passes each stage once")
                .help("give the loop a constant bound"),
        );
    }
    let mut tables: Vec<TableId> = Vec::new();
    for &at in &facts.order {
        for instruction in &facts.region.blocks[at].instructions {
            let Operation::Apply { table, .. } = &instruction.operation else { continue };
            if tables.contains(table) {
                continue;
            }
            tables.push(*table);
            let table = &program.tables[table.index()];
            for listed in &table.actions {
                let action = &program.actions[listed.action.index()];
                if exits(&program.regions[action.region.index()]) {
                    let message =
                        format!("action `{}` of table `{}` exits", action.name, table.name);
                    let place = span(program, action.origin);
                    found.push(
                        Diagnostic::error(codes::EXIT, place, message)
                            .label(span(program, instruction.origin), "the table is applied here")
                            .note("later stages cannot see that the action ended the control")
                            .help("move the code of actions behind their tables first"),
                    );
                }
            }
        }
    }
    found
}

/// Whether the code may end the whole block.
pub(super) fn exits(region: &Region) -> bool {
    region.blocks.iter().any(|block| matches!(block.terminator, Terminator::Exit))
}
