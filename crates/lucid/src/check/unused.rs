// SPDX-License-Identifier: Apache-2.0
//! Warnings about unused declarations. It reports only certain mistakes: it ignores parameters that an
//! event, a table or a memop requires, items that a module or an included file exports, and files without
//! handlers, which are libraries.

use super::Checker;
use super::codes;
use crate::syntax::ast::{
    Binder, Block, Declaration, DeclarationKind, ExpressionKind, Parameter, Program, StatementKind,
};
use source::{Code, Diagnostic, FileId};

impl Checker {
    pub(super) fn unused(&mut self, tree: &Program) {
        let handles = |declaration: &Declaration| {
            matches!(
                declaration.kind,
                DeclarationKind::Handler { .. } | DeclarationKind::Event { body: Some(_), .. }
            )
        };
        let Some(main) = main_file(tree) else { return };
        let own = || tree.declarations.iter().filter(|declaration| declaration.span.file == main);
        let is_program = own().any(handles);
        for declaration in own() {
            self.unused_in(declaration, is_program, false);
        }
    }

    /// If not `reported`, checks only the bodies of functions and handlers: other files may use the rest.
    fn unused_in(&mut self, declaration: &Declaration, reported: bool, listed: bool) {
        match &declaration.kind {
            DeclarationKind::Global { name, .. } if reported => {
                self.warn(codes::UNUSED_GLOBAL, name, "global", "remove it");
            }
            DeclarationKind::Function { name, parameters, body, .. } => {
                if reported {
                    self.warn(codes::UNUSED_FUNCTION, name, "function", "remove it");
                }
                // An interface may want parameters that one module does without.
                if !listed {
                    self.unused_parameters(parameters);
                }
                self.unused_locals(body);
            }
            DeclarationKind::Memop { name, body, .. } => {
                if reported {
                    self.warn(codes::UNUSED_FUNCTION, name, "memop", "remove it");
                }
                self.unused_locals(body);
            }
            DeclarationKind::Action { name, body, .. } => {
                if reported {
                    self.warn(codes::UNUSED_FUNCTION, name, "action", "remove it");
                }
                self.unused_locals(body);
            }
            DeclarationKind::Event { body: Some(body), .. }
            | DeclarationKind::Handler { body, .. } => self.unused_locals(body),
            DeclarationKind::Module { declarations, interface, .. } => {
                for inner in declarations {
                    self.unused_in(inner, false, listed || interface.is_some());
                }
            }
            _ => {}
        }
    }

    fn unused_parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            self.warn(
                codes::UNUSED_PARAMETER,
                &parameter.name,
                "parameter",
                "remove it, or begin its name with `_`",
            );
        }
    }

    fn unused_locals(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Local { name, value, .. } => {
                    let help = match value.kind {
                        ExpressionKind::Call { .. } => {
                            "keep only the call, or begin the name with `_`"
                        }
                        _ => "remove it, or begin its name with `_`",
                    };
                    self.warn(codes::UNUSED_LOCAL, name, "local", help);
                }
                StatementKind::If { then, otherwise, .. } => {
                    self.unused_locals(then);
                    if let Some(otherwise) = otherwise {
                        self.unused_locals(otherwise);
                    }
                }
                StatementKind::Match { branches, .. } => {
                    for branch in branches {
                        self.unused_locals(&branch.body);
                    }
                }
                StatementKind::For { body, .. } => self.unused_locals(body),
                _ => {}
            }
        }
    }

    fn warn(&mut self, code: Code, name: &Binder, what: &str, help: &str) {
        let meant = name.name.starts_with('_') || matches!(&*name.name, "unused" | "dummy");
        if meant || self.used.contains(&name.id) {
            return;
        }
        let read = matches!(what, "local" | "parameter");
        let never = if read { "never read" } else { "never used" };
        let message = format!("{what} `{}` is {never}", name.name);
        self.diagnostics.push(Diagnostic::warning(code, name.span, message).help(help));
    }
}

/// The program's own file, which is loaded before those that it includes.
fn main_file(tree: &Program) -> Option<FileId> {
    tree.declarations.iter().map(|declaration| declaration.span.file).min()
}
