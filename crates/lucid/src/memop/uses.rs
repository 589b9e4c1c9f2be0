// SPDX-License-Identifier: Apache-2.0
//! Checks that each method can run the memops that it is passed, also through memop parameters of functions
//! (Lucid §4.2, appendix C): `Array.update` runs two memops in one instruction, so each may compare once;
//! memops of three and four arguments have methods of their own.

use super::codes;
use super::declaration::analyze;
use super::rewrite;
use super::shape::{MemopDeclaration, Shape, each_memop};
use crate::check::{Builtin, CheckedProgram, Definition};
use crate::syntax::ast::{
    Declaration, DeclarationKind, Expression, ExpressionKind, NodeId, Parameter,
};
use crate::syntax::walk::each_expression;
use source::{Diagnostic, Diagnostics, Span};
use std::collections::HashMap;

/// The requirements of a method on a memop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Method {
    name: &'static str,
    arguments: usize,
    /// Whether it runs a second memop in the same instruction.
    shared: bool,
}

/// The memop arguments of a method, by position.
fn memop_arguments(builtin: Builtin, count: usize) -> Vec<(usize, Method)> {
    let method = |name, arguments, shared| Method { name, arguments, shared };
    match builtin {
        // The paper's spelling of getm and setm.
        Builtin::ArrayGet if count == 4 => vec![(2, method("Array.get", 2, false))],
        Builtin::ArraySet if count == 4 => vec![(2, method("Array.set", 2, false))],
        Builtin::ArrayGetm => vec![(2, method("Array.getm", 2, false))],
        Builtin::ArraySetm => vec![(2, method("Array.setm", 2, false))],
        Builtin::ArrayUpdate => {
            let update = method("Array.update", 2, true);
            vec![(2, update), (4, update)]
        }
        Builtin::ArrayUpdateComplex => vec![(2, method("Array.update_complex", 3, false))],
        Builtin::PairArrayUpdate => vec![(2, method("PairArray.update", 4, false))],
        _ => Vec::new(),
    }
}

/// A memop as its uses see it.
struct Memop<'p> {
    declared: MemopDeclaration<'p>,
    /// Comparisons of the condition, for two arguments.
    condition: Option<(&'p Expression, usize, &'p Expression, &'p Expression)>,
}

/// A use of a memop parameter by a function.
#[derive(Clone, Debug)]
struct MemopUse {
    parameter: usize,
    method: Method,
    /// Where the method is called.
    span: Span,
    /// Functions that hand the memop on, the nearest first.
    path: Vec<std::sync::Arc<str>>,
}

struct Uses<'p> {
    program: &'p CheckedProgram,
    memops: HashMap<NodeId, Memop<'p>>,
    /// By function.
    handed: HashMap<NodeId, Vec<MemopUse>>,
    found: Diagnostics,
}

/// Through which functions a memop goes.
fn handed_on(path: &[&str]) -> String {
    format!("it is passed to {}", path.join(", which passes it to "))
}

/// Checks all calls of a program.
pub(crate) fn check(program: &CheckedProgram) -> Diagnostics {
    let mut memops = HashMap::new();
    each_memop(&program.tree.declarations, &mut |declared| {
        let condition = match analyze(program, declared) {
            Ok(Shape::If(condition, yes, no)) => {
                let count = super::expression::comparisons(program, declared, condition);
                Some((condition, count, yes, no))
            }
            _ => None,
        };
        memops.insert(declared.name.id, Memop { declared, condition });
    });
    let mut uses = Uses { program, memops, handed: HashMap::new(), found: Diagnostics::new() };
    uses.declarations(&program.tree.declarations);
    uses.found
}

impl<'p> Uses<'p> {
    fn declarations(&mut self, declarations: &'p [Declaration]) {
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Function { name, parameters, body, .. } => {
                    let mut handed = Vec::new();
                    each_expression(body, &mut |it| self.call(it, parameters, &mut handed));
                    self.handed.insert(name.id, handed);
                }
                DeclarationKind::Handler { body, .. }
                | DeclarationKind::Event { body: Some(body), .. } => {
                    each_expression(body, &mut |it| self.call(it, &[], &mut Vec::new()));
                }
                DeclarationKind::Module { declarations, .. } => self.declarations(declarations),
                _ => {}
            }
        }
    }

    /// A call in a function with these parameters; what it does with them is added to `handed`.
    fn call(
        &mut self,
        call: &'p Expression,
        parameters: &'p [Parameter],
        handed: &mut Vec<MemopUse>,
    ) {
        let ExpressionKind::Call { function, arguments, .. } = &call.kind else { return };
        let Some(definition) = self.program.definitions.get(&function.id) else { return };
        let mut asked: Vec<MemopUse> = Vec::new();
        self.asked(definition, arguments.len(), call.span, &mut asked);
        for asks in asked {
            let Some(argument) = arguments.get(asks.parameter) else { continue };
            let ExpressionKind::Name(path) = &argument.kind else { continue };
            let Some(definition) = self.program.definitions.get(&path.id) else { continue };
            if let Definition::Local(id) = definition {
                let Some(at) = parameters.iter().position(|own| own.name.id == *id) else {
                    continue;
                };
                let same = |own: &MemopUse| own.parameter == at && own.method == asks.method;
                if !handed.iter().any(same) {
                    handed.push(MemopUse { parameter: at, ..asks });
                }
            } else {
                self.carried(definition, argument.span, &asks);
            }
        }
    }

    /// Checks the memop arguments of a call against the callee's uses.
    fn asked(&self, definition: &Definition, count: usize, span: Span, asked: &mut Vec<MemopUse>) {
        match definition {
            Definition::Builtin(builtin) => {
                for (parameter, method) in memop_arguments(*builtin, count) {
                    asked.push(MemopUse { parameter, method, span, path: Vec::new() });
                }
            }
            Definition::Function(id) => {
                let name = self.program.binders.get(id).map(|binder| binder.name.clone());
                for handed in self.handed.get(id).into_iter().flatten() {
                    let mut handed = handed.clone();
                    handed.path.insert(0, name.clone().unwrap_or_default());
                    asked.push(handed);
                }
            }
            Definition::Aliased { then, otherwise, .. } => {
                self.asked(then, count, span, asked);
                self.asked(otherwise, count, span, asked);
            }
            _ => {}
        }
    }

    /// Whether the method can carry the memop.
    fn carried(&mut self, definition: &Definition, span: Span, asks: &MemopUse) {
        let id = match definition {
            Definition::Memop(id) => id,
            Definition::Aliased { then, otherwise, .. } => {
                self.carried(then, span, asks);
                self.carried(otherwise, span, asks);
                return;
            }
            _ => return,
        };
        let Some(memop) = self.memops.get(id) else { return };
        let name = &memop.declared.name.name;
        let method = asks.method.name;
        let count = memop.declared.parameters.len();
        let diagnostic = if count != asks.method.arguments {
            let fitting = match count {
                2 => "Array.getm, Array.setm and Array.update take",
                3 => "Array.update_complex takes",
                4 => "PairArray.update takes",
                _ => return,
            };
            Diagnostic::error(
                codes::METHOD,
                span,
                format!(
                    "{method} takes a memop of {} arguments, and {name} has {count}",
                    asks.method.arguments
                ),
            )
            .help(format!("{fitting} memops of {count} arguments"))
        } else if let Some((condition, comparisons, yes, no)) = memop.condition
            && asks.method.shared
            && comparisons > 1
        {
            let mut diagnostic = Diagnostic::error(
                codes::METHOD,
                span,
                format!("{method} cannot carry memop {name}, whose condition compares twice"),
            )
            .label(condition.span, "the compound condition")
            .note(
                "Array.update runs two memops in one instruction of the stateful ALU, so each has \
                 one of its two comparators (Lucid appendix C)",
            )
            .help("Array.getm and Array.setm run one memop and can carry it");
            if let Some(text) = rewrite::compound(memop.declared, condition, yes, no) {
                diagnostic = diagnostic.help(format!(
                    "or as a memop of three arguments, for Array.update_complex:\n{text}"
                ));
            }
            diagnostic
        } else {
            return;
        };
        let diagnostic = diagnostic.label(memop.declared.name.span, format!("memop {name}"));
        self.found.push(if asks.path.is_empty() {
            diagnostic
        } else {
            let path: Vec<&str> = asks.path.iter().map(|name| &**name).collect();
            diagnostic
                .label(asks.span, format!("{method} is called here"))
                .note(format!("{}, which passes it to {method}", handed_on(&path)))
        });
    }
}
