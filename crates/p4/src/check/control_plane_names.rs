// SPDX-License-Identifier: Apache-2.0
//! Control-plane names: reports two tables, actions or instances with one name (P4_16 v1.2.5 §18.3.1,
//! §20.3.3.1). Lowering checks the names of instances within instances.

use super::Checker;
use super::annotations::string_body;
use crate::ast::{Declaration, DeclarationKind};
use crate::codes::typing as codes;
use rustc_hash::FxHashMap;
use source::Diagnostic;

impl<'a> Checker<'a> {
    pub(super) fn check_control_plane_names(&mut self) {
        let mut seen: FxHashMap<(&'static str, String), &'a Declaration> = FxHashMap::default();
        let program = self.program;
        for declaration in &program.declarations {
            match &declaration.kind {
                DeclarationKind::Action { .. } => {
                    self.check_control_plane_name("", declaration, &mut seen);
                }
                DeclarationKind::Control(control) => {
                    for local in &control.locals {
                        self.check_control_plane_name(&declaration.name.text, local, &mut seen);
                    }
                }
                DeclarationKind::Parser(parser) => {
                    for local in &parser.locals {
                        self.check_control_plane_name(&declaration.name.text, local, &mut seen);
                    }
                }
                _ => {}
            }
        }
    }

    fn check_control_plane_name(
        &mut self,
        scope: &str,
        declaration: &'a Declaration,
        seen: &mut FxHashMap<(&'static str, String), &'a Declaration>,
    ) {
        let kind = match &declaration.kind {
            DeclarationKind::Action { .. } => "action",
            DeclarationKind::Table(_) => "table",
            DeclarationKind::ValueSet { .. } => "value set",
            _ => return,
        };
        let mut given = None;
        for annotation in &declaration.annotations {
            match &*annotation.name.text {
                "hidden" => return,
                "name" => given = string_body(annotation),
                _ => {}
            }
        }
        // Translated P4_14 programs have actions that stand for `NoAction` of the core library.
        if scope.is_empty() && &*declaration.name.text == "NoAction" {
            return;
        }
        let local = given.as_deref().unwrap_or(&declaration.name.text);
        let full = match local.strip_prefix('.') {
            Some(absolute) => absolute.to_string(),
            None if scope.is_empty() => local.to_string(),
            None => format!("{scope}.{local}"),
        };
        match seen.get(&(kind, full.clone())) {
            Some(first) => {
                let message = format!("two {kind}s have the control-plane name `{full}`");
                // Programs translated from P4_14 repeat an action in each control that uses it, and
                // inlining copies `NoAction`; a control plane that looks up the name still finds one.
                let is_copy = kind == "action"
                    && (full == "NoAction" || first.name.text == declaration.name.text);
                let diagnostic = if is_copy {
                    Diagnostic::warning(
                        codes::REPEATED_CONTROL_PLANE_NAME,
                        declaration.name.span,
                        message,
                    )
                } else {
                    Diagnostic::error(
                        codes::DUPLICATE_CONTROL_PLANE_NAME,
                        declaration.name.span,
                        message,
                    )
                };
                self.report(
                    diagnostic
                        .label(first.name.span, "the first one")
                        .help("give one of them another `@name`, or hide it with `@hidden`"),
                );
            }
            None => {
                seen.insert((kind, full), declaration);
            }
        }
    }
}
