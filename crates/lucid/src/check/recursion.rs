// SPDX-License-Identifier: Apache-2.0
//! Detects recursive functions. A function can be called only after its declaration, so recursion always
//! appears as an undeclared name; this file finds the cycle of calls for the message.

use super::Checker;
use super::codes;
use crate::syntax::ast::{Block, Declaration, DeclarationKind, ExpressionKind, Path};
use crate::syntax::walk::each_expression;
use source::{Diagnostic, Span};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

impl Checker {
    /// Whether a call of something that is not declared yet is part of a circle of functions; then
    /// that is reported.
    pub(super) fn recursive(&mut self, path: &Path) -> bool {
        let ([callee], Some(caller)) = (&path.segments[..], self.function_name.clone()) else {
            return false;
        };
        let tree = self.out.tree.clone();
        let mut declarations = &tree.declarations;
        // The modules around this place, by where they are.
        while let Some(inner) =
            declarations.iter().find_map(|declaration| match &declaration.kind {
                DeclarationKind::Module { declarations, .. }
                    if around(declaration.span, path.span) =>
                {
                    Some(declarations)
                }
                _ => None,
            })
        {
            declarations = inner;
        }
        let scope = self.innermost();
        let reported =
            |checker: &Checker, name: &Arc<str>| checker.circles.contains(&(scope, name.clone()));
        if reported(self, &callee.name) && reported(self, &caller) {
            return true;
        }
        let functions = functions(declarations);
        let Some(circle) = call_path(&functions, &callee.name, &caller) else { return false };
        let message = if circle.len() == 1 {
            format!("function `{caller}` calls itself")
        } else {
            let mut names: Vec<String> =
                [&caller].into_iter().chain(&circle).map(|name| format!("`{name}`")).collect();
            if names.len() > SHOWN_OF_CIRCLE {
                names.drain(SHOWN_OF_CIRCLE - 1..names.len() - 1);
                names.insert(SHOWN_OF_CIRCLE - 1, "...".to_owned());
            }
            format!("functions call each other in a circle: {}", names.join(", "))
        };
        let mut diagnostic = Diagnostic::error(codes::RECURSION, path.span, message)
            .note("functions are put in place of their calls, so they must end somewhere")
            .help("to do something again, generate an event");
        for name in circle.iter().take(SHOWN_OF_CIRCLE) {
            if let Some((span, _)) = functions.get(name) {
                diagnostic = diagnostic.label(*span, format!("`{name}` is declared here"));
            }
        }
        self.circles.extend(circle.into_iter().map(|name| (scope, name)));
        self.diagnostics.push(diagnostic);
        true
    }
}

/// Limit of the functions of a cycle that a message names.
const SHOWN_OF_CIRCLE: usize = 6;

type Functions<'a> = HashMap<Arc<str>, (Span, &'a Block)>;

fn functions(declarations: &[Declaration]) -> Functions<'_> {
    let functions = declarations.iter().filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Function { name, body, .. } => {
            Some((name.name.clone(), (name.span, body)))
        }
        _ => None,
    });
    functions.collect()
}

fn around(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// The shortest path of calls from one function to another, both included; `None` if there is none.
fn call_path(functions: &Functions<'_>, from: &Arc<str>, to: &Arc<str>) -> Option<Vec<Arc<str>>> {
    let mut caller: HashMap<Arc<str>, Arc<str>> = HashMap::new();
    let mut queue = VecDeque::from([from.clone()]);
    while let Some(name) = queue.pop_front() {
        let Some((_, body)) = functions.get(&name) else { continue };
        if name == *to {
            let mut path = vec![name];
            while let Some(before) = path.last().and_then(|last| caller.get(last)) {
                let before = before.clone();
                path.push(before.clone());
                if before == *from {
                    break;
                }
            }
            path.reverse();
            return Some(path);
        }
        let mut called = Vec::new();
        each_expression(body, &mut |expression| {
            // Names without modules.
            if let ExpressionKind::Call { function, .. } = &expression.kind
                && let [segment] = &function.segments[..]
            {
                called.push(segment.name.clone());
            }
        });
        for callee in called {
            if callee != *from && !caller.contains_key(&callee) {
                caller.insert(callee.clone(), name.clone());
                queue.push_back(callee);
            }
        }
    }
    None
}
