// SPDX-License-Identifier: Apache-2.0
//! Keysets of `select` cases and table entries: single values, masks, ranges, tuples and value sets
//! (P4_16 v1.2.5 §7.2.10.1, §8.16.1, §8.16.2, §8.16.3, §8.16.4,
//! §8.16.5, §13.6).

use super::Checker;
use crate::ast::{Expression, ExpressionKind};
use crate::codes::typing as codes;
use crate::typed::{Type, TypeKind};
use source::Diagnostic;
use std::sync::Arc;

impl<'a> Checker<'a> {
    /// Checks a keyset against the types of what it is compared with.
    pub(super) fn check_keyset(&mut self, keyset: &'a Expression, subjects: &[Type], what: &str) {
        if let [subject] = subjects {
            self.check_key(keyset, subject, what);
            return;
        }
        let whole: Type = Arc::new(TypeKind::Tuple(subjects.to_vec()));
        match &keyset.kind {
            ExpressionKind::Default | ExpressionKind::DontCare => {
                self.record_set(keyset, &whole);
            }
            ExpressionKind::TupleKeyset(elements) | ExpressionKind::List(elements) => {
                if elements.len() != subjects.len() {
                    for element in elements {
                        self.check_key(element, &self.known.unknown.clone(), what);
                    }
                    self.error(
                        codes::INVALID_KEYSET,
                        keyset.span,
                        format!(
                            "this has {}, but {} compared",
                            super::type_names::count(elements.len(), "element"),
                            if subjects.len() == 1 {
                                "1 value is".to_string()
                            } else {
                                format!("{} values are", subjects.len())
                            }
                        ),
                    );
                    return;
                }
                for (element, subject) in elements.iter().zip(subjects) {
                    self.check_key(element, subject, what);
                }
                self.record_set(keyset, &whole);
            }
            _ => {
                let found = self.synthesize_set(keyset);
                match &*found {
                    TypeKind::Set(element) => {
                        if !self.set_fits(element, subjects) {
                            self.report_keyset(keyset, &found, &whole);
                        }
                    }
                    TypeKind::Unknown => {}
                    TypeKind::Tuple(elements) if elements.as_slice() == subjects => {}
                    _ => self.report_keyset(keyset, &found, &whole),
                }
            }
        }
    }

    fn record_set(&mut self, keyset: &'a Expression, element: &Type) {
        self.typed.expression_types.insert(keyset.id, Arc::new(TypeKind::Set(element.clone())));
    }

    fn report_keyset(&mut self, keyset: &'a Expression, found: &Type, subject: &Type) {
        let (found_shown, subject_shown) = (self.show(found), self.show(subject));
        self.report(Diagnostic::error(
            codes::INVALID_KEYSET,
            keyset.span,
            format!("`{found_shown}` cannot be compared with `{subject_shown}`"),
        ));
    }

    /// Whether the elements of a value set can be compared with subjects: one by one, or as fields of
    /// a struct.
    fn set_fits(&self, element: &Type, subjects: &[Type]) -> bool {
        match &**element {
            TypeKind::Unknown | TypeKind::DontCare => true,
            TypeKind::Tuple(elements) => {
                elements.len() == subjects.len()
                    && elements.iter().zip(subjects).all(|(a, b)| self.key_types_fit(a, b))
            }
            TypeKind::Struct(..) => {
                let mut leaves = Vec::new();
                self.flatten(element, &mut leaves);
                leaves.len() == subjects.len()
                    && leaves.iter().zip(subjects).all(|(a, b)| self.key_types_fit(a, b))
            }
            _ => subjects.len() == 1 && self.key_types_fit(element, &subjects[0]),
        }
    }

    /// The types of a struct's fields, and of the fields of structs within.
    fn flatten(&self, ty: &Type, leaves: &mut Vec<Type>) {
        match &**ty {
            TypeKind::Struct(..) => {
                for field in self.fields_of(ty).iter() {
                    self.flatten(&field.ty, leaves);
                }
            }
            _ => leaves.push(ty.clone()),
        }
    }

    fn key_types_fit(&self, element: &Type, subject: &Type) -> bool {
        element == subject
            || matches!(&**subject, TypeKind::Unknown)
            || matches!(&**element, TypeKind::Unknown)
            || self.casts_implicitly(element, subject)
            || self.casts_implicitly(subject, element)
    }

    /// Checks one key of a keyset.
    pub(super) fn check_key(&mut self, key: &'a Expression, subject: &Type, what: &str) {
        match &key.kind {
            ExpressionKind::Default | ExpressionKind::DontCare => self.record_set(key, subject),
            ExpressionKind::Mask(left, right) | ExpressionKind::Range(left, right) => {
                let left_type = self.synthesize(left);
                let right_type = self.synthesize(right);
                let is_mask = matches!(key.kind, ExpressionKind::Mask(..));
                let number = match &**subject {
                    TypeKind::SerializableEnum(node) => {
                        self.underlying.get(node).cloned().unwrap_or_else(|| subject.clone())
                    }
                    TypeKind::Integer => {
                        if matches!(&*left_type, TypeKind::Integer) {
                            right_type
                        } else {
                            left_type
                        }
                    }
                    _ => subject.clone(),
                };
                let allowed = matches!(
                    &*self.representation(&number),
                    TypeKind::Bit(_)
                        | TypeKind::Int(_)
                        | TypeKind::Integer
                        | TypeKind::Variable(_)
                        | TypeKind::Unknown
                );
                if !allowed {
                    let shown = self.show(&number);
                    self.error(
                        codes::INVALID_KEYSET,
                        key.span,
                        format!(
                            "{} is not defined for type `{shown}`",
                            if is_mask { "a mask" } else { "a range" }
                        ),
                    );
                } else {
                    if !is_mask
                        && what == super::parsers::SELECT_CASE
                        && let (Some(low), Some(high)) =
                            (self.plain_integer(left), self.plain_integer(right))
                        && low > high
                    {
                        self.report(Diagnostic::warning(
                            codes::UNREACHABLE_CASE,
                            key.span,
                            format!("the range from {low} to {high} is empty"),
                        ));
                    }
                    for part in [&**left, &**right] {
                        self.coerce_key(part, &number, what);
                        self.require_compile_time(
                            part,
                            if is_mask { "a mask and its value" } else { "a bound of a range" },
                        );
                    }
                }
                self.record_set(key, &number);
            }
            ExpressionKind::TupleKeyset(elements) => {
                for element in elements {
                    self.check_key(element, &self.known.unknown.clone(), what);
                }
                match &**subject {
                    TypeKind::Tuple(types) if types.len() == elements.len() => {
                        for (element, ty) in elements.iter().zip(types) {
                            self.coerce(element, ty, what);
                        }
                        self.record_set(key, subject);
                    }
                    TypeKind::Unknown => {}
                    _ => {
                        self.error(
                            codes::INVALID_KEYSET,
                            key.span,
                            format!(
                                "this has {} elements, but one value is compared",
                                elements.len()
                            ),
                        );
                    }
                }
            }
            // `{ value }` for a single key, as older programs write it.
            ExpressionKind::List(elements)
                if elements.len() == 1 && !matches!(&**subject, TypeKind::Tuple(_)) =>
            {
                self.check_key(&elements[0], subject, what);
                self.record_set(key, subject);
            }
            _ => {
                let found = self.synthesize(key);
                if let TypeKind::Set(element) = &*found {
                    let element = element.clone();
                    if !self.set_fits(&element, std::slice::from_ref(subject)) {
                        self.report_keyset(key, &found, subject);
                    }
                    return;
                }
                self.coerce_key(key, subject, what);
            }
        }
    }

    /// Makes a key fit its subject; a `bit<W>` subject takes members of an enum over `bit<W>`.
    fn coerce_key(&mut self, key: &'a Expression, subject: &Type, what: &str) {
        if matches!(&**subject, TypeKind::Unknown) {
            return;
        }
        if matches!(&**subject, TypeKind::Integer) {
            let found = self.expression_type(key);
            if matches!(&*found, TypeKind::Bit(_) | TypeKind::Int(_)) {
                return;
            }
        }
        self.coerce(key, subject, what);
    }

    /// The type of an expression that may be a set.
    pub(super) fn synthesize_set(&mut self, expression: &'a Expression) -> Type {
        match &expression.kind {
            ExpressionKind::Mask(left, right) | ExpressionKind::Range(left, right) => {
                let left = self.synthesize(left);
                self.synthesize(right);
                let ty: Type = Arc::new(TypeKind::Set(left));
                self.typed.expression_types.insert(expression.id, ty.clone());
                ty
            }
            ExpressionKind::TupleKeyset(elements) => {
                let types = elements.iter().map(|element| self.synthesize_set(element)).collect();
                let ty: Type = Arc::new(TypeKind::Tuple(types));
                self.typed.expression_types.insert(expression.id, ty.clone());
                ty
            }
            _ => self.synthesize(expression),
        }
    }
}
