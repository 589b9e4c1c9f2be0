// SPDX-License-Identifier: Apache-2.0
//! Declarations of enums, errors and match kinds (P4_16 v1.2.5 §7.1.2, §7.1.3, §7.2.1).

use super::{Checker, Node};
use crate::ast::{Declaration, DeclaredName, EnumMember, Expression, TypeRef};
use crate::codes::typing as codes;
use crate::typed::{Constant, Type, TypeKind};
use source::Diagnostic;
use std::sync::Arc;

impl<'a> Checker<'a> {
    pub(super) fn check_enum(
        &mut self,
        declaration: &'a Declaration,
        underlying: Option<&'a TypeRef>,
        members: &'a [EnumMember],
    ) {
        self.set_node(declaration.id, Node::Declaration(declaration));
        let mut base: Option<Type> = None;
        if let Some(written) = underlying {
            let ty = self.resolve_type(written);
            if !matches!(&*ty, TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Unknown) {
                let shown = self.show(&ty);
                self.error(
                    codes::INVALID_ENUM,
                    written.span,
                    format!("an enum's values are `bit<W>` or `int<W>`, not `{shown}`"),
                );
                base = Some(self.known.unknown.clone());
            } else {
                base = Some(ty);
            }
        }
        if let Some(base) = &base {
            self.underlying.insert(declaration.id, base.clone());
        }
        if members.is_empty() {
            self.error(
                codes::INVALID_ENUM,
                declaration.name.span,
                format!("enum `{}` has no members", declaration.name.text),
            );
        }
        let mut seen: rustc_hash::FxHashMap<&str, source::Span> = Default::default();
        let enum_type: Type = Arc::new(match base {
            Some(_) => TypeKind::SerializableEnum(declaration.id),
            None => TypeKind::Enum(declaration.id),
        });
        // Values may name earlier members.
        self.scopes.push(Default::default());
        for (index, member) in members.iter().enumerate() {
            self.set_node(member.id, Node::EnumMember(member));
            self.typed.declared_types.insert(member.id, enum_type.clone());
            self.values.insert(member.id, Constant::EnumMember(declaration.id, index));
            if let Some(first) = seen.insert(&member.name.text, member.name.span) {
                self.report(
                    Diagnostic::error(
                        codes::DUPLICATE_NAME,
                        member.name.span,
                        format!("member `{}` is declared twice", member.name.text),
                    )
                    .label(first, "first declared here"),
                );
            }
            match (&base, &member.value) {
                (Some(base), Some(value)) => self.check_enum_value(member, value, base),
                (Some(_), None) => self.error(
                    codes::INVALID_ENUM,
                    member.name.span,
                    format!("member `{}` needs a value, as the enum has a type", member.name.text),
                ),
                (None, Some(value)) => {
                    self.synthesize(value);
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_ENUM,
                            value.span,
                            format!("member `{}` cannot have a value", member.name.text),
                        )
                        .help(format!(
                            "give the enum a type: `enum bit<8> {}`",
                            declaration.name.text
                        )),
                    );
                }
                (None, None) => {}
            }
            if base.is_some() {
                self.declare_silently(member.id, Node::EnumMember(member));
            }
        }
        self.scopes.pop();
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    pub(super) fn check_enum_value(
        &mut self,
        member: &'a EnumMember,
        value: &'a Expression,
        base: &Type,
    ) {
        let what = format!("the value of member `{}`", member.name.text);
        let ty = self.synthesize(value);
        if let (TypeKind::Integer, Some(Constant::Integer(number))) = (&*ty, self.constant(value))
            && super::constants::wrap(number, base) != *number
            && !matches!(&**base, TypeKind::Unknown)
        {
            let (number, shown) = (number.clone(), self.show(base));
            self.error(
                codes::INVALID_ENUM,
                value.span,
                format!(
                    "the value {number} of member `{}` does not fit `{shown}`",
                    member.name.text
                ),
            );
            return;
        }
        if self.coerce(value, base, &what) && self.constant(value).is_none() {
            self.report_not_constant(value, &what);
        }
    }

    pub(super) fn declare_errors(&mut self, names: &'a [DeclaredName]) {
        for name in names {
            self.set_node(name.id, Node::Error(name));
            if let Some(first) = self.error_nodes.get(&name.name.text).copied() {
                self.report_declared_twice("error", name, first);
                continue;
            }
            self.error_nodes.insert(name.name.text.clone(), name.id);
            self.typed.errors.push(name.name.text.clone());
        }
    }

    pub(super) fn declare_match_kinds(&mut self, names: &'a [DeclaredName]) {
        for name in names {
            self.set_node(name.id, Node::MatchKind(name));
            if let Some(first) = self.match_kind_nodes.get(&name.name.text).copied() {
                self.report_declared_twice("match kind", name, first);
                continue;
            }
            self.match_kind_nodes.insert(name.name.text.clone(), name.id);
            self.typed.match_kinds.push(name.name.text.clone());
            let value = Constant::MatchKind(name.name.text.clone());
            self.values.insert(name.id, value);
            self.declare(name.id, Node::MatchKind(name));
        }
    }

    pub(super) fn report_declared_twice(
        &mut self,
        what: &str,
        name: &'a DeclaredName,
        first: crate::ast::NodeId,
    ) {
        let first_span = self.span_of(first);
        self.report(
            Diagnostic::error(
                codes::DUPLICATE_NAME,
                name.name.span,
                format!("{what} `{}` is declared twice", name.name.text),
            )
            .label(first_span, "first declared here"),
        );
    }
}
