// SPDX-License-Identifier: Apache-2.0
//! What tools print of typed P4_16 programs: P4_16 text and effects, whatever language the program was written in.

use crate::compiled::Compiled;
use crate::console::{Console, Failure};
use ir::analysis::{Analysis, StatementTree};
use p4::ast::{Expression, ExpressionKind, NodeId};
use p4::typed::TypedProgram;
use p4::visit::{Visit, walk_expression, walk_program};
use source::{SourceMap, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// The form of a printed program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintForm {
    /// The text of `core.p4` and of the architecture stands in the program instead of its `#include`.
    pub expand_includes: bool,
    /// Functions, directly called actions, nested controls and sub-parsers are inlined where they can be.
    pub inline: bool,
}

/// Returns the spans of a program's calls.
fn call_spans(typed: &TypedProgram) -> HashMap<NodeId, Span> {
    struct Calls(HashMap<NodeId, Span>);
    impl<'a> Visit<'a> for Calls {
        fn expression(&mut self, expression: &'a Expression) {
            if matches!(expression.kind, ExpressionKind::Call(_)) {
                self.0.insert(expression.id, expression.span);
            }
            walk_expression(self, expression);
        }
    }
    let mut calls = Calls(HashMap::new());
    walk_program(&mut calls, &typed.program);
    calls.0
}

/// Prints a program as P4_16. Notes on the console name the calls that it could not inline.
///
/// # Errors
///
/// Errors of the inlined program.
pub fn print(
    typed: &Arc<TypedProgram>,
    map: SourceMap,
    form: PrintForm,
    console: &dyn Console,
) -> Result<String, Failure> {
    let text = |typed: &TypedProgram, map: &SourceMap| match form.expand_includes {
        true => p4::printer::print(&typed.program),
        false => p4::printer::print_with_includes(map, &typed.program),
    };
    if !form.inline {
        return Ok(text(typed, &map));
    }
    let inlined =
        p4::inline::inline_all(typed, map).map_err(|(found, map)| Failure::Found(map, found))?;
    let spans = call_spans(typed);
    for (call, obstacle) in &inlined.refused {
        let place = spans.get(call).and_then(|span| inlined.program.map.location(*span));
        let place = place.map_or(String::new(), |at| format!("{at}: "));
        console.note(&format!("{place}this call is not inlined: {obstacle}"));
    }
    Ok(text(&inlined.program.program, &inlined.program.map))
}

/// Reports the effects of a program's statements.
pub(crate) fn effects(compiled: &Compiled) -> String {
    let analysis = Analysis::of(compiled.ready.lowered());
    let tree = StatementTree::of(&compiled.ready.typed().program);
    ir::analysis_report::report(&analysis, &tree, &compiled.map)
}
