// SPDX-License-Identifier: Apache-2.0
//! Parts of values: `a.b`, `a[i]`, `a[h:l]` and `a[l +: w]` (P4_16 v1.2.5 §8.7, §8.8, §8.13, §8.14,
//! §8.17 to §8.21, §8.20.1), and members of enums and `error` (§8.2, §8.3). Calls of methods are in
//! `calls`.

use super::constants::fold_slice;
use super::scopes::is_type;
use super::{Checker, Node};
use crate::ast::{DeclarationKind, Expression, ExpressionKind, Name};
use crate::codes::typing as codes;
use crate::typed::{Constant, Definition, Type, TypeKind};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use source::Diagnostic;
use std::sync::Arc;

impl<'a> Checker<'a> {
    pub(super) fn synthesize_member(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        name: &'a Name,
    ) -> Type {
        if matches!(base.kind, ExpressionKind::ErrorType) {
            return self.error_member(expression, base, name);
        }
        if self.names_type(base)
            && let Some(ty) = self.type_expression(base)
        {
            return self.type_member(expression, base, &ty, name);
        }
        let base_type = self.synthesize(base);
        self.value_member(expression, base, &base_type, name)
    }

    /// Whether an expression is the name of a type.
    pub(super) fn names_type(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Type(_) => true,
            ExpressionKind::Path(path) => self
                .lookup(path)
                .and_then(|nodes| nodes.first().copied())
                .is_some_and(|node| is_type(self.node(node))),
            _ => false,
        }
    }

    fn error_member(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        name: &'a Name,
    ) -> Type {
        self.typed.expression_types.insert(base.id, self.known.error.clone());
        match self.error_nodes.get(&name.text).copied() {
            Some(node) => {
                self.used.insert(node);
                self.typed.definitions.insert(expression.id, Definition::Node(node));
                self.set_constant(expression, Constant::Error(name.text.clone()));
            }
            None => {
                let mut diagnostic = Diagnostic::error(
                    codes::NO_SUCH_MEMBER,
                    name.span,
                    format!("there is no error `{}`", name.text),
                );
                let nearest =
                    source::nearest(&name.text, self.typed.errors.iter().map(|name| &**name));
                if let Some(nearest) = nearest {
                    diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
                } else if self.typed.errors.is_empty() {
                    diagnostic = diagnostic.help("add `#include <core.p4>`");
                }
                self.report(diagnostic);
                return self.known.unknown.clone();
            }
        }
        self.known.error.clone()
    }

    /// `Enum.member`; other members of types are only called.
    fn type_member(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        ty: &Type,
        name: &'a Name,
    ) -> Type {
        match &**ty {
            TypeKind::Unknown => ty.clone(),
            TypeKind::Enum(node) | TypeKind::SerializableEnum(node) => {
                let Node::Declaration(declaration) = self.node(*node) else { return ty.clone() };
                let DeclarationKind::Enum { members, .. } = &declaration.kind else {
                    return ty.clone();
                };
                match members.iter().position(|member| member.name.text == name.text) {
                    Some(index) => {
                        self.typed
                            .definitions
                            .insert(expression.id, Definition::Node(members[index].id));
                        self.set_constant(expression, Constant::EnumMember(*node, index));
                        ty.clone()
                    }
                    None => {
                        let nearest = source::nearest(
                            &name.text,
                            members.iter().map(|member| &*member.name.text),
                        );
                        self.report_no_member(name, ty, declaration.name.span, nearest);
                        self.known.unknown.clone()
                    }
                }
            }
            TypeKind::Error => self.error_member(expression, base, name),
            _ => {
                let shown = self.show(ty);
                self.report(
                    Diagnostic::error(
                        codes::NOT_A_VALUE,
                        base.span,
                        format!("`{shown}` is a type, so it has no `{}`", name.text),
                    )
                    .help("name a variable, parameter or instance of this type"),
                );
                self.known.unknown.clone()
            }
        }
    }

    fn report_no_member(
        &mut self,
        name: &'a Name,
        ty: &Type,
        declared: source::Span,
        nearest: Option<&str>,
    ) {
        let shown = self.show(ty);
        let mut diagnostic = Diagnostic::error(
            codes::NO_SUCH_MEMBER,
            name.span,
            format!("`{shown}` has no member `{}`", name.text),
        );
        if !declared.is_none() {
            diagnostic = diagnostic.label(declared, format!("`{shown}` is declared here"));
        }
        let is_header = matches!(&**ty, TypeKind::Header(..) | TypeKind::HeaderUnion(..));
        let method = ["isValid", "setValid", "setInvalid"].into_iter().find(|method| {
            method.eq_ignore_ascii_case(&name.text)
                || (is_header && source::nearest(&name.text, [*method]).is_some())
        });
        diagnostic = match (&**ty, method, nearest) {
            (TypeKind::Header(..) | TypeKind::HeaderUnion(..), Some(method), _) => {
                diagnostic.help(format!("did you mean `{method}()`?"))
            }
            (TypeKind::Struct(..), Some(method), _) => diagnostic
                .note("a struct is neither valid nor invalid; its headers are")
                .help(format!("name the header: `... .header.{method}()`")),
            (_, _, Some(nearest)) => diagnostic.help(format!("did you mean `{nearest}`?")),
            _ => diagnostic,
        };
        self.report(diagnostic);
    }

    fn value_member(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        base_type: &Type,
        name: &'a Name,
    ) -> Type {
        let base_type = self.solved(base_type);
        match &*base_type {
            TypeKind::Unknown => return base_type,
            TypeKind::Struct(node, _)
            | TypeKind::Header(node, _)
            | TypeKind::HeaderUnion(node, _) => {
                if let Some(ty) = self.field_type(&base_type, &name.text) {
                    if let Some(Constant::Struct(fields)) = self.constant(base)
                        && let Some((_, value)) =
                            fields.iter().find(|(field, _)| *field == name.text)
                    {
                        let value = value.clone();
                        self.set_constant(expression, value);
                    }
                    return ty;
                }
                let node = *node;
                let is_header = !matches!(&*base_type, TypeKind::Struct(..));
                if is_header && matches!(&*name.text, "isValid" | "setValid" | "setInvalid") {
                    return self.known.function.clone();
                }
                let fields = self.fields_of(&base_type);
                let nearest = source::nearest(&name.text, fields.iter().map(|field| &*field.name));
                let declared = self.span_of(node);
                self.report_no_member(name, &base_type, declared, nearest);
            }
            TypeKind::AnonymousStruct(_) => match self.field_type(&base_type, &name.text) {
                Some(ty) => return ty,
                None => {
                    self.report_no_member(name, &base_type, source::Span::NONE, None);
                }
            },
            TypeKind::Stack(element, size) => {
                let of_headers = matches!(
                    &**element,
                    TypeKind::Header(..) | TypeKind::HeaderUnion(..) | TypeKind::Variable(_)
                );
                match &*name.text {
                    "size" => {
                        self.set_constant(expression, Constant::Integer(BigInt::from(*size)));
                        return self.known.bit32.clone();
                    }
                    "next" | "last" | "lastIndex" if of_headers => {
                        if !self.in_parser() {
                            self.report(
                                Diagnostic::error(
                                    codes::STACK_CURSOR_OUTSIDE_PARSER,
                                    name.span,
                                    format!("`{}` can only be used in a parser", name.text),
                                )
                                .help("elsewhere name the element: `stack[0]`"),
                            );
                            return self.known.unknown.clone();
                        }
                        return if &*name.text == "lastIndex" {
                            self.known.bit32.clone()
                        } else {
                            element.clone()
                        };
                    }
                    "push_front" | "pop_front" if of_headers => return self.known.function.clone(),
                    _ => {
                        let names =
                            ["next", "last", "lastIndex", "size", "push_front", "pop_front"];
                        let nearest = source::nearest(&name.text, names);
                        self.report_no_member(name, &base_type, source::Span::NONE, nearest);
                    }
                }
            }
            TypeKind::Extern(node, _) => {
                let node = *node;
                let methods = self.extern_methods(node);
                if methods.iter().any(|method| method.name.text == name.text) {
                    return self.known.function.clone();
                }
                let nearest =
                    source::nearest(&name.text, methods.iter().map(|method| &*method.name.text));
                let declared = self.span_of(node);
                self.report_no_member(name, &base_type, declared, nearest);
            }
            TypeKind::Table(_) | TypeKind::Parser(..) | TypeKind::Control(..)
                if &*name.text == "apply" =>
            {
                return self.known.function.clone();
            }
            TypeKind::Table(node) | TypeKind::Parser(node, _) | TypeKind::Control(node, _) => {
                let declared = self.span_of(*node);
                let nearest = source::nearest(&name.text, ["apply"]);
                self.report_no_member(name, &base_type, declared, nearest);
            }
            TypeKind::ApplyResult(node) => match &*name.text {
                "hit" | "miss" => return self.known.bool.clone(),
                "action_run" => return Arc::new(TypeKind::ActionRun(*node)),
                _ => {
                    let nearest = source::nearest(&name.text, ["hit", "miss", "action_run"]);
                    self.report_no_member(name, &base_type, source::Span::NONE, nearest);
                }
            },
            _ => {
                let shown = self.show(&base_type);
                self.error(
                    codes::NO_SUCH_MEMBER,
                    name.span,
                    format!("a value of type `{shown}` has no member `{}`", name.text),
                );
            }
        }
        self.known.unknown.clone()
    }

    pub(super) fn synthesize_index(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        index: &'a Expression,
    ) -> Type {
        let base_type = self.synthesize(base);
        let index_type = self.synthesize(index);
        let index_type = self.enum_to_underlying(index, &index_type);
        if matches!(&*base_type, TypeKind::Unknown) {
            return base_type;
        }
        let length = match &*base_type {
            TypeKind::Stack(_, size) => *size as usize,
            TypeKind::Tuple(elements) => elements.len(),
            _ => {
                let shown = self.show(&base_type);
                let mut diagnostic = Diagnostic::error(
                    codes::INVALID_INDEX,
                    expression.span,
                    format!("a value of type `{shown}` has no elements"),
                );
                if let TypeKind::Bit(_) | TypeKind::Int(_) = &*base_type {
                    diagnostic = diagnostic.help("one bit is `value[i:i]`");
                }
                self.report(diagnostic);
                return self.known.unknown.clone();
            }
        };
        if !matches!(
            &*index_type,
            TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Integer | TypeKind::Unknown
        ) {
            let shown = self.show(&index_type);
            self.error(
                codes::INVALID_INDEX,
                index.span,
                format!("an index is a number, not a value of type `{shown}`"),
            );
        }
        let value = self.integer_value(index);
        if let Some(value) = &value
            && length > 0
            && (value.is_negative() || value.to_usize().is_none_or(|value| value >= length))
        {
            self.report(
                Diagnostic::error(
                    codes::INVALID_INDEX,
                    index.span,
                    format!("there is no element {value}"),
                )
                .here(match length {
                    0 => "there are no elements".to_string(),
                    _ => format!("elements are 0 to {}", length - 1),
                }),
            );
            if matches!(&*base_type, TypeKind::Tuple(_)) {
                return self.known.unknown.clone();
            }
        }
        if let (Some(Constant::List(values)), Some(at)) =
            (self.constant(base), value.as_ref().and_then(|value| value.to_usize()))
            && let Some(value) = values.get(at).cloned()
        {
            self.set_constant(expression, value);
        }
        match &*base_type {
            TypeKind::Stack(element, _) => {
                if value.is_none() && matches!(&*index_type, TypeKind::Integer) {
                    self.require_compile_time(index, "an index of type `int`");
                }
                element.clone()
            }
            TypeKind::Tuple(elements) => match value.and_then(|value| value.to_usize()) {
                Some(at) => elements.get(at).cloned().unwrap_or_else(|| self.known.unknown.clone()),
                None => {
                    if !matches!(&*index_type, TypeKind::Unknown) {
                        self.report_not_constant(index, "the index of a tuple");
                    }
                    self.known.unknown.clone()
                }
            },
            _ => self.known.unknown.clone(),
        }
    }

    /// The width of what a slice is cut from; reports what cannot be cut.
    fn sliced_width(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        ty: &Type,
    ) -> Option<u32> {
        let ty = self.enum_to_underlying(base, ty);
        match &*ty {
            TypeKind::Bit(width) | TypeKind::Int(width) => Some(*width),
            // The two's complement of any length (§8.9).
            TypeKind::Integer if self.integer_value(base).is_some() => Some(super::MAX_WIDTH_BITS),
            TypeKind::Unknown => None,
            _ => {
                let shown = self.show(&ty);
                let mut diagnostic = Diagnostic::error(
                    codes::INVALID_SLICE,
                    expression.span,
                    format!("a value of type `{shown}` has no bits to cut out"),
                );
                if let TypeKind::Integer = &*ty {
                    diagnostic = diagnostic.help("give the number a width, such as `32w1`");
                }
                self.report(diagnostic);
                None
            }
        }
    }

    pub(super) fn synthesize_slice(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        high: &'a Expression,
        low: &'a Expression,
    ) -> Type {
        let base_type = self.synthesize(base);
        let high_value = self.constant_integer(high, "the high bit of a slice");
        let low_value = self.constant_integer(low, "the low bit of a slice");
        let Some(width) = self.sliced_width(expression, base, &base_type) else {
            return self.known.unknown.clone();
        };
        let (Some(high_value), Some(low_value)) = (high_value, low_value) else {
            return self.known.unknown.clone();
        };
        for (bound, value) in [(high, &high_value), (low, &low_value)] {
            if value.is_negative() || value.to_u32().is_none_or(|value| value >= width) {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_SLICE,
                        bound.span,
                        format!("there is no bit {value}"),
                    )
                    .here(match width {
                        0 => "there are no bits".to_string(),
                        _ => format!("bits are 0 to {}", width - 1),
                    }),
                );
                return self.known.unknown.clone();
            }
        }
        let (Some(high_bit), Some(low_bit)) = (high_value.to_u32(), low_value.to_u32()) else {
            return self.known.unknown.clone();
        };
        if high_bit < low_bit {
            self.report(
                Diagnostic::error(
                    codes::INVALID_SLICE,
                    expression.span,
                    format!("the high bit {high_bit} is below the low bit {low_bit}"),
                )
                .help(format!("write `[{low_bit}:{high_bit}]`")),
            );
            return self.known.unknown.clone();
        }
        if let Some(value) = self.integer_value(base) {
            self.set_constant(expression, fold_slice(&value, width, high_bit, low_bit));
        }
        Arc::new(TypeKind::Bit(high_bit - low_bit + 1))
    }

    pub(super) fn synthesize_plus_slice(
        &mut self,
        expression: &'a Expression,
        base: &'a Expression,
        low: &'a Expression,
        width: &'a Expression,
    ) -> Type {
        let base_type = self.synthesize(base);
        let low_type = self.synthesize(low);
        let low_type = self.enum_to_underlying(low, &low_type);
        if !matches!(
            &*low_type,
            TypeKind::Bit(_) | TypeKind::Integer | TypeKind::Unknown | TypeKind::Int(_)
        ) {
            let shown = self.show(&low_type);
            self.error(
                codes::INVALID_SLICE,
                low.span,
                format!("the low bit is a number, not a value of type `{shown}`"),
            );
        }
        let width_value = self.constant_integer(width, "the width of a slice");
        let Some(base_width) = self.sliced_width(expression, base, &base_type) else {
            return self.known.unknown.clone();
        };
        let Some(width_value) = width_value else { return self.known.unknown.clone() };
        let Some(bits) = width_value.to_u32().filter(|bits| (1..=base_width).contains(bits)) else {
            self.report(
                Diagnostic::error(
                    codes::INVALID_SLICE,
                    width.span,
                    format!("a slice of {width_value} bits does not fit"),
                )
                .here(format!("the base has {base_width} bits")),
            );
            return self.known.unknown.clone();
        };
        if let Some(low_value) = self.integer_value(low) {
            match low_value.to_u32().filter(|low| low.saturating_add(bits) <= base_width) {
                Some(low_bit) => {
                    if let Some(value) = self.integer_value(base) {
                        let folded = fold_slice(&value, base_width, low_bit + bits - 1, low_bit);
                        self.set_constant(expression, folded);
                    }
                }
                None => {
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_SLICE,
                            low.span,
                            format!("{bits} bits from bit {low_value} do not fit"),
                        )
                        .here(format!("the base has {base_width} bits")),
                    );
                }
            }
        }
        Arc::new(TypeKind::Bit(bits))
    }
}
