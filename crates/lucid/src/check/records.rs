// SPDX-License-Identifier: Apache-2.0
//! Checks record literals, updates and fields. The type of a literal follows from its use or, if the use
//! does not determine it, from its labels: the latest declared type with these labels.

use super::Checker;
use super::checked::{Size, Type, UserTypeBody};
use super::codes;
use super::reports::TypeExpectation;
use crate::syntax::ast::{Expression, NodeId, Segment};
use source::Diagnostic;
use std::sync::Arc;

type Fields = Vec<(Arc<str>, Type)>;

impl Checker {
    pub(super) fn record_literal(
        &mut self,
        e: &Expression,
        fields: &[(Segment, Expression)],
        expected: Option<&Type>,
    ) -> Type {
        for (at, (label, _)) in fields.iter().enumerate() {
            if let Some((first, _)) =
                fields[..at].iter().find(|(other, _)| other.name == label.name)
            {
                let (name, first) = (label.name.clone(), first.span);
                self.duplicate("field", &name, label.span, first);
            }
        }
        let Some((ty, types)) = self.literal_type(e, fields, expected) else {
            for (_, value) in fields {
                self.infer(value);
            }
            return Type::Error;
        };
        self.check_fields(&ty, &types, fields);
        let missing: Vec<&str> = types
            .iter()
            .filter(|(label, _)| !fields.iter().any(|(other, _)| other.name == *label))
            .map(|(label, _)| &**label)
            .collect();
        if !missing.is_empty() {
            let shown = self.describe(&self.variables.resolve(&ty));
            let mut diagnostic = Diagnostic::error(
                codes::FIELD,
                e.span,
                format!("the record has no value for `{}`", missing.join("`, `")),
            )
            .note(format!("it is {shown}, which has {}", list_labels(&types)));
            if let Some(binder) = self.type_binder(&ty) {
                diagnostic = diagnostic.label(binder.span, "declared here");
            }
            self.diagnostics.push(diagnostic);
        }
        self.built(&ty, e.span);
        ty
    }

    /// The type of a literal and its fields.
    fn literal_type(
        &mut self,
        e: &Expression,
        fields: &[(Segment, Expression)],
        expected: Option<&Type>,
    ) -> Option<(Type, Fields)> {
        if let Some(expected) = expected
            && let Some(types) = self.visible_fields(expected)
        {
            return Some((expected.clone(), types));
        }
        let has = |types: &Fields, label: &Segment| types.iter().any(|(of, _)| *of == label.name);
        let exact = self.latest_record(|types| {
            types.len() == fields.len() && fields.iter().all(|(label, _)| has(types, label))
        });
        let near =
            exact.or_else(|| self.latest_record(|types| fields.iter().all(|(l, _)| has(types, l))));
        let near = near.or_else(|| {
            let first = fields.first()?;
            self.latest_record(|types| has(types, &first.0))
        });
        match near {
            Some(definition) => {
                let ty = self.fresh_user(definition);
                let types = self.visible_fields(&ty)?;
                Some((ty, types))
            }
            None => {
                let (label, span) = match fields.first() {
                    Some((label, _)) => (label.name.clone(), label.span),
                    None => ("".into(), e.span),
                };
                let diagnostic = Diagnostic::error(
                    codes::FIELD,
                    span,
                    format!("no record type has a field `{label}`"),
                );
                let diagnostic = self.suggest_label(diagnostic, &label);
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    fn check_fields(&mut self, ty: &Type, types: &Fields, fields: &[(Segment, Expression)]) {
        let declared = self.type_binder(ty);
        for (label, value) in fields {
            match types.iter().find(|(other, _)| *other == label.name) {
                Some((_, wanted)) => {
                    let place = declared.as_ref().map_or(label.span, |binder| binder.span);
                    let text = format!("the field `{}` is {{}}", label.name);
                    let why = TypeExpectation::new(place, text);
                    self.expect(value, wanted, Some(&why));
                }
                None => {
                    self.infer(value);
                    self.no_such_field(ty, types, label);
                }
            }
        }
    }

    pub(super) fn record_update(
        &mut self,
        e: &Expression,
        record: &Expression,
        fields: &[(Segment, Expression)],
    ) -> Type {
        let mut ty = self.infer(record);
        if matches!(self.variables.head(&ty), Type::Variable(_))
            && let Some((label, _)) = fields.first()
            && let Some(definition) =
                self.latest_record(|types| types.iter().any(|(of, _)| *of == label.name))
        {
            let known = self.fresh_user(definition);
            self.unify(&ty, &known);
            ty = known;
        }
        let Some(types) = self.visible_fields(&ty) else {
            for (_, value) in fields {
                self.infer(value);
            }
            self.no_record(record, &ty);
            return Type::Error;
        };
        self.check_fields(&ty, &types, fields);
        self.built(&ty, e.span);
        ty
    }

    pub(super) fn field(&mut self, _e: &Expression, record: &Expression, label: &Segment) -> Type {
        let mut ty = self.infer(record);
        if let Type::Variable(variable) = self.variables.head(&ty)
            && !self.variables.is_rigid(variable)
        {
            let Some(definition) =
                self.latest_record(|types| types.iter().any(|(of, _)| *of == label.name))
            else {
                let diagnostic = Diagnostic::error(
                    codes::FIELD,
                    label.span,
                    format!("no record type has a field `{}`", label.name),
                );
                let diagnostic = self.suggest_label(diagnostic, &label.name);
                self.diagnostics.push(diagnostic);
                return Type::Error;
            };
            let known = self.fresh_user(definition);
            self.unify(&ty, &known);
            ty = known;
        }
        let Some(types) = self.visible_fields(&ty) else {
            self.no_record(record, &ty);
            return Type::Error;
        };
        match types.iter().find(|(other, _)| *other == label.name) {
            Some((_, field)) => field.clone(),
            None => {
                self.no_such_field(&ty, &types, label);
                Type::Error
            }
        }
    }

    fn no_record(&mut self, record: &Expression, ty: &Type) {
        let ty = self.variables.resolve(ty);
        if ty == Type::Error {
            return;
        }
        let shown = self.describe(&ty);
        let mut diagnostic =
            Diagnostic::error(codes::FIELD, record.span, format!("{shown} has no fields"));
        if let Type::User { definition, .. } = &ty
            && !self.is_transparent(*definition)
        {
            diagnostic = Diagnostic::error(
                codes::FIELD,
                record.span,
                format!("the fields of {shown} are visible only inside its module"),
            )
            .help("use a function that the module's interface lists");
        }
        if let Some((place, name)) = self.declaration_of(record) {
            diagnostic = diagnostic.label(place, format!("`{name}` is {shown}"));
        }
        self.diagnostics.push(diagnostic);
    }

    fn no_such_field(&mut self, ty: &Type, types: &Fields, label: &Segment) {
        let shown = self.describe(&self.variables.resolve(ty));
        let mut diagnostic = Diagnostic::error(
            codes::FIELD,
            label.span,
            format!("{shown} has no field `{}`", label.name),
        );
        diagnostic = match source::nearest(&label.name, types.iter().map(|(name, _)| &**name)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.note(format!("it has {}", list_labels(types))),
        };
        if let Some(binder) = self.type_binder(ty) {
            diagnostic = diagnostic.label(binder.span, "declared here");
        }
        self.diagnostics.push(diagnostic);
    }

    fn suggest_label(&self, diagnostic: Diagnostic, label: &str) -> Diagnostic {
        let mut labels: Vec<Arc<str>> = Vec::new();
        for definition in &self.records {
            if !self.is_transparent(*definition) {
                continue;
            }
            if let Some(types) = self.record_body(*definition) {
                labels.extend(types.iter().map(|(label, _)| label.clone()));
            }
        }
        match source::nearest(label, labels.iter().map(|label| &**label)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic,
        }
    }

    /// The fields of a type as far as they are visible here.
    fn visible_fields(&self, ty: &Type) -> Option<Fields> {
        match self.see_through(ty) {
            Type::Record(fields) => Some(fields),
            _ => None,
        }
    }

    fn record_body(&self, definition: NodeId) -> Option<&Fields> {
        match &self.out.user_types.get(&definition)?.body {
            UserTypeBody::Known(Type::Record(fields)) => Some(fields),
            _ => None,
        }
    }

    /// The latest visible record type that is as wanted.
    fn latest_record(&self, wanted: impl Fn(&Fields) -> bool) -> Option<NodeId> {
        let mut records = self.records.iter().rev().copied();
        records.find(|definition| {
            self.is_transparent(*definition) && self.record_body(*definition).is_some_and(&wanted)
        })
    }

    /// A user type with sizes to be inferred.
    fn fresh_user(&mut self, definition: NodeId) -> Type {
        let Some(user) = self.out.user_types.get(&definition) else { return Type::Error };
        let (name, count) = (user.name.clone(), user.parameters.len());
        let sizes: Vec<Size> = (0..count).map(|_| self.variables.fresh_size()).collect();
        Type::User { definition, name, sizes }
    }

    /// Where a user type is declared.
    pub(super) fn type_binder(&self, ty: &Type) -> Option<Segment> {
        match self.variables.head(ty) {
            Type::User { definition, .. } => self.out.binders.get(&definition).cloned(),
            _ => None,
        }
    }
}

fn list_labels(fields: &Fields) -> String {
    let labels: Vec<String> = fields.iter().map(|(label, _)| format!("`{label}`")).collect();
    labels.join(", ")
}
