// SPDX-License-Identifier: Apache-2.0
//! Malleables in controls behind a pipeline, such as that of `update_checksum` on v1model and deparsers with digests on Tofino:
//! at the end of the pipeline they are copied to fields that are added to the metadata.

use super::translator::Translator;
use crate::language::Gress;
use crate::language::dialect::referred;
use p4::ast::{Declaration, DeclarationKind, Expression, ExpressionKind};
use p4::visit_mut::{VisitMut, walk_expression};
use source::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The field of the metadata that holds a copy.
fn copy_name(malleable: &str) -> String {
    format!("p4r_{malleable}")
}

impl Translator<'_> {
    /// The malleables that a pipeline copies, with the expressions of the copies.
    pub(super) fn copies_for_tails(&self, gress: Gress) -> Vec<(String, Arc<str>)> {
        let mut copies = BTreeSet::new();
        for tail in self.program.tails.iter().filter(|tail| tail.gress == gress) {
            for name in self.usage.copied.get(&gress).into_iter().flatten() {
                copies.insert((format!("{}.{}", tail.parameters.1, copy_name(name)), name.clone()));
            }
        }
        copies.into_iter().collect()
    }

    /// Adds the fields for copies to a struct of metadata.
    pub(super) fn add_copies(&mut self, metadata: &Declaration) {
        let tails = self.program.tails.iter().filter(|tail| tail.metadata == metadata.id);
        let names = tails.filter_map(|tail| self.usage.copied.get(&tail.gress)).flatten();
        let names: BTreeSet<Arc<str>> = names.cloned().collect();
        if names.is_empty() {
            return;
        }
        let mut fields = String::new();
        for name in names {
            let value = self.program.declarations.value(&name).map(|value| &value.ty);
            let ty = value.or_else(|| self.program.declarations.field(&name).map(|one| &one.ty));
            if let Some(ty) = ty {
                let ty = p4::printer::print_type_ref(ty);
                fields.push_str(&format!("{ty} {}; ", copy_name(&name)));
            }
        }
        let made = self.declarations(Span::NONE, &format!("struct x {{ {fields} }}")).pop();
        let mut changed = metadata.clone();
        if let (
            DeclarationKind::Struct(list),
            Some(Declaration { kind: DeclarationKind::Struct(added), .. }),
        ) = (&mut changed.kind, made)
        {
            list.fields.extend(added.fields);
            let replaced = self.rewriter.replace(metadata.id, changed);
            debug_assert!(replaced.is_ok(), "{replaced:?}");
        }
    }

    /// Makes a control behind a pipeline read the copies.
    pub(super) fn read_copies(&mut self, control: &Declaration) {
        let Some(tail) = self.program.tails_of(control.id).next() else { return };
        struct Copies<'t, 'p> {
            translator: &'t mut Translator<'p>,
            parameter: Arc<str>,
            count: usize,
        }
        impl VisitMut for Copies<'_, '_> {
            fn expression(&mut self, expression: &mut Expression) {
                let name = match &expression.kind {
                    ExpressionKind::Extension(reference) => referred(reference).map(copy_name),
                    _ => None,
                };
                let Some(name) = name else { return walk_expression(self, expression) };
                let text = format!("{}.{name}", self.parameter);
                if let Some(made) = self.translator.expression(expression.span, &text, Vec::new()) {
                    *expression = made;
                    self.count += 1;
                }
            }
        }
        let parameter = tail.parameters.0.clone();
        let mut changed = control.clone();
        let mut copies = Copies { translator: self, parameter, count: 0 };
        copies.declaration(&mut changed);
        if copies.count > 0 {
            let replaced = self.rewriter.replace(control.id, changed);
            debug_assert!(replaced.is_ok(), "{replaced:?}");
        }
    }
}
