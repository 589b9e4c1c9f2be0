// SPDX-License-Identifier: Apache-2.0
//! Types of expressions from the inside out (P4_16 v1.2.5 §8). Operators, members, calls and casts
//! have their own files; the type that the context expects is checked in `assignability`.

use super::constants::wrap;
use super::scopes::is_type;
use super::{Checker, Node};
use crate::ast::{DeclarationKind, Expression, ExpressionKind, NodeId, Path};
use crate::codes::typing as codes;
use crate::typed::{Constant, Definition, Type, TypeKind};
use source::Diagnostic;
use std::sync::Arc;

impl<'a> Checker<'a> {
    /// The type of an expression by itself. It is recorded, as is its value if it is constant.
    pub(super) fn synthesize(&mut self, expression: &'a Expression) -> Type {
        let ty = self.deeper(|checker| checker.synthesize_inner(expression));
        self.typed.expression_types.insert(expression.id, ty.clone());
        ty
    }

    fn synthesize_inner(&mut self, expression: &'a Expression) -> Type {
        match &expression.kind {
            ExpressionKind::Integer { value, width } => {
                let ty = match width {
                    None => self.known.integer.clone(),
                    Some((width, signed)) => {
                        let limit = super::MAX_WIDTH_BITS;
                        if *width > limit || (*signed && *width == 0) {
                            self.error(
                                codes::INVALID_WIDTH,
                                expression.span,
                                format!("{width} bits is no valid width for a number"),
                            );
                            return self.known.unknown.clone();
                        }
                        Arc::new(if *signed {
                            TypeKind::Int(*width)
                        } else {
                            TypeKind::Bit(*width)
                        })
                    }
                };
                // The parser has warned about bits that are dropped here.
                let wrapped = wrap(value, &ty);
                self.set_constant(expression, Constant::Integer(wrapped));
                ty
            }
            ExpressionKind::Bool(value) => {
                self.set_constant(expression, Constant::Bool(*value));
                self.known.bool.clone()
            }
            ExpressionKind::String(value) => {
                self.set_constant(expression, Constant::String(value.clone()));
                self.known.string.clone()
            }
            ExpressionKind::Path(path) => self.synthesize_path(expression, path),
            ExpressionKind::Type(written) => {
                let ty = self.resolve_constructed_type(written);
                if !matches!(&*ty, TypeKind::Unknown) {
                    let shown = self.show(&ty);
                    self.error(
                        codes::NOT_A_VALUE,
                        expression.span,
                        format!("`{shown}` is a type, but a value is expected here"),
                    );
                }
                self.known.unknown.clone()
            }
            ExpressionKind::ErrorType => {
                self.error(
                    codes::NOT_A_VALUE,
                    expression.span,
                    "`error` is a type; name one of its members: `error.Name`",
                );
                self.known.unknown.clone()
            }
            ExpressionKind::This => match self.this {
                Some(instance) => {
                    self.typed.definitions.insert(expression.id, Definition::Node(instance.id));
                    self.declared_type(instance.id)
                }
                None => {
                    self.error(
                        codes::MISPLACED_FORM,
                        expression.span,
                        "`this` can only be used in the functions of an object initializer",
                    );
                    self.known.unknown.clone()
                }
            },
            ExpressionKind::Dots
            | ExpressionKind::InvalidHeader
            | ExpressionKind::Default
            | ExpressionKind::DontCare => self.known.dont_care.clone(),
            ExpressionKind::List(elements) => {
                let types: Vec<Type> =
                    elements.iter().map(|element| self.synthesize(element)).collect();
                if let Some(values) =
                    elements.iter().map(|element| self.constant(element).cloned()).collect()
                {
                    self.set_constant(expression, Constant::List(values));
                }
                let given = match elements.last().map(|last| &last.kind) {
                    Some(ExpressionKind::Dots) => &types[..types.len() - 1],
                    _ => &types[..],
                };
                Arc::new(TypeKind::Tuple(given.to_vec()))
            }
            ExpressionKind::Struct { fields, .. } => {
                let mut types: Vec<(Arc<str>, Type)> = Vec::with_capacity(fields.len());
                for (index, (name, value)) in fields.iter().enumerate() {
                    let ty = self.synthesize(value);
                    if let Some((first, _)) =
                        fields[..index].iter().find(|(earlier, _)| earlier.text == name.text)
                    {
                        self.report(
                            Diagnostic::error(
                                codes::INVALID_FIELDS,
                                name.span,
                                format!("field `{}` is given twice", name.text),
                            )
                            .label(first.span, "first given here"),
                        );
                        continue;
                    }
                    types.push((name.text.clone(), ty));
                }
                if let Some(values) = fields
                    .iter()
                    .map(|(name, value)| {
                        self.constant(value).map(|value| (name.text.clone(), value.clone()))
                    })
                    .collect()
                {
                    self.set_constant(expression, Constant::Struct(values));
                }
                Arc::new(TypeKind::AnonymousStruct(types))
            }
            ExpressionKind::Unary(operator, value) => {
                self.synthesize_unary(expression, *operator, value)
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.synthesize_binary(expression, *operator, left, right)
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                self.synthesize_conditional(expression, condition, then, otherwise)
            }
            ExpressionKind::Cast(written, value) => {
                self.synthesize_cast(expression, written, value)
            }
            ExpressionKind::Member(base, name) => self.synthesize_member(expression, base, name),
            ExpressionKind::Index(base, index) => self.synthesize_index(expression, base, index),
            ExpressionKind::Slice { base, high, low } => {
                self.synthesize_slice(expression, base, high, low)
            }
            ExpressionKind::PlusSlice { base, low, width } => {
                self.synthesize_plus_slice(expression, base, low, width)
            }
            ExpressionKind::Call(call) => self.synthesize_call(expression, call),
            ExpressionKind::Mask(..)
            | ExpressionKind::Range(..)
            | ExpressionKind::TupleKeyset(_) => {
                self.synthesize_set(expression);
                self.error(
                    codes::MISPLACED_FORM,
                    expression.span,
                    "a set of values can only stand in a keyset",
                );
                self.known.unknown.clone()
            }
            ExpressionKind::Extension(extension) => {
                self.synthesize_extension(expression, extension)
            }
            ExpressionKind::Invalid => self.known.unknown.clone(),
        }
    }

    fn synthesize_path(&mut self, expression: &'a Expression, path: &'a Path) -> Type {
        let Some(nodes) = self.lookup(path) else {
            self.report_not_found(path, "value");
            return self.known.unknown.clone();
        };
        let (first, overloaded) = (nodes[0], nodes.len() > 1);
        self.used.insert(first);
        self.typed.definitions.insert(expression.id, Definition::Node(first));
        if let Some(value) = self.values.get(&first) {
            self.typed.constants.insert(expression.id, value.clone());
        }
        if overloaded {
            return self.known.function.clone();
        }
        self.type_of_value(first, expression)
    }

    /// The type of what a value's name refers to.
    fn type_of_value(&mut self, node: NodeId, expression: &'a Expression) -> Type {
        let what = match self.node(node) {
            Node::Declaration(declaration) => match &declaration.kind {
                DeclarationKind::Constant { .. }
                | DeclarationKind::Variable { .. }
                | DeclarationKind::Instance { .. }
                | DeclarationKind::ValueSet { .. } => return self.declared_type(node),
                DeclarationKind::Table(_) => return Arc::new(TypeKind::Table(node)),
                DeclarationKind::Action { .. } => return Arc::new(TypeKind::Action(node)),
                DeclarationKind::Function { .. } | DeclarationKind::ExternFunction(_) => {
                    return self.known.function.clone();
                }
                _ => "a type",
            },
            Node::Parameter(..) | Node::LoopVariable(_) => return self.declared_type(node),
            Node::TypeParameter(_) => "a type",
            Node::State(_) => "a parser state",
            Node::EnumMember(_) => return self.declared_type(node),
            Node::Field(_) | Node::None => return self.known.unknown.clone(),
            Node::Error(_) => return self.known.error.clone(),
            Node::MatchKind(_) => return self.known.match_kind.clone(),
            Node::Method(_) => return self.known.function.clone(),
        };
        let name = self.name_of(node).to_string();
        let declared = self.span_of(node);
        let mut diagnostic = Diagnostic::error(
            codes::NOT_A_VALUE,
            expression.span,
            format!("`{name}` is {what}, but a value is expected here"),
        );
        diagnostic = diagnostic.label(declared, "declared here");
        if is_type(self.node(node)) && what == "a type" {
            diagnostic = diagnostic.help(format!("an instance is made with `{name}(...)`"));
        }
        self.report(diagnostic);
        self.known.unknown.clone()
    }
}
