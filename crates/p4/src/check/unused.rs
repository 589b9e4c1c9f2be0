// SPDX-License-Identifier: Apache-2.0
//! Warnings about unused local declarations: tables, actions, instances, variables and constants of
//! parsers and controls. Other programs may use types and what the top level declares.

use super::Checker;
use super::annotations::string_body;
use crate::ast::{Annotation, Declaration, DeclarationKind};
use crate::codes::typing as codes;
use source::Diagnostic;

impl<'a> Checker<'a> {
    pub(super) fn warn_unused(&mut self) {
        let program = self.program;
        for declaration in &program.declarations {
            let locals = match &declaration.kind {
                DeclarationKind::Parser(parser) => &parser.locals,
                DeclarationKind::Control(control) => &control.locals,
                _ => continue,
            };
            for local in locals {
                self.warn_if_unused(local);
            }
        }
    }

    fn warn_if_unused(&mut self, declaration: &'a Declaration) {
        let what = match &declaration.kind {
            DeclarationKind::Table(_) => "table",
            DeclarationKind::Action { .. } => "action",
            DeclarationKind::Instance { .. } => "instance",
            DeclarationKind::Variable { .. } => "variable",
            DeclarationKind::Constant { .. } => "constant",
            DeclarationKind::ValueSet { .. } => "value set",
            _ => return,
        };
        if self.used.contains(&declaration.id)
            || declaration.name.text.starts_with('_')
            || declaration.annotations.iter().any(keeps_quiet)
        {
            return;
        }
        let diagnostic = Diagnostic::warning(
            codes::UNUSED,
            declaration.name.span,
            format!("{what} `{}` is never used", declaration.name.text),
        );
        self.report(match what {
            "table" => diagnostic.help(format!("apply it: `{}.apply();`", declaration.name.text)),
            _ => diagnostic,
        });
    }
}

/// `@noWarn("unused")`
fn keeps_quiet(annotation: &Annotation) -> bool {
    &*annotation.name.text == "noWarn" && string_body(annotation).as_deref() == Some("unused")
}
