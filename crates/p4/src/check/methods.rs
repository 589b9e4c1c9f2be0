// SPDX-License-Identifier: Apache-2.0
//! Calls of members: built-in methods of headers and stacks, `apply` of tables, parsers and controls,
//! and sizes such as `minSizeInBits` (P4_16 v1.2.5 §8.18, §8.20, §8.21, §9, §13.10,
//! §14.2.2, §14.4, §15.1).

use super::arguments::Callable;
use super::{Checker, Node, ParameterRole, SyntacticContext};
use crate::ast::{Call, DeclarationKind, Expression, Name};
use crate::codes::typing as codes;
use crate::typed::{CallInfo, Callee, Constant, Type, TypeKind};
use num_bigint::BigInt;
use num_traits::Signed;
use source::Diagnostic;
use std::sync::Arc;

/// Whether a method returns the size of its object.
fn is_size_of(name: &str) -> bool {
    matches!(name, "minSizeInBits" | "minSizeInBytes" | "maxSizeInBits" | "maxSizeInBytes")
}

impl<'a> Checker<'a> {
    /// `Type.method(...)`.
    pub(super) fn call_on_type(
        &mut self,
        expression: &'a Expression,
        call: &'a Call,
        base: &'a Expression,
        ty: &Type,
        name: &'a Name,
    ) -> Type {
        if matches!(&**ty, TypeKind::Unknown) {
            self.synthesize_arguments(&call.arguments);
            return ty.clone();
        }
        if is_size_of(&name.text) {
            return self.call_size_of(expression, call, ty, name);
        }
        match (&**ty, &*name.text) {
            (TypeKind::Parser(node, _) | TypeKind::Control(node, _), "apply") => {
                let constructor_parameters = match self.node(*node) {
                    Node::Declaration(declaration) => match &declaration.kind {
                        DeclarationKind::Parser(parser) => {
                            Some(parser.constructor_parameters.as_slice())
                        }
                        DeclarationKind::Control(control) => {
                            Some(control.constructor_parameters.as_slice())
                        }
                        _ => None,
                    },
                    _ => None,
                };
                let needs_arguments = constructor_parameters
                    .is_none_or(|parameters| parameters.iter().any(|one| one.default.is_none()));
                if needs_arguments {
                    let shown = self.show(ty);
                    self.synthesize_arguments(&call.arguments);
                    self.report(
                        Diagnostic::error(
                            codes::CANNOT_INSTANTIATE,
                            base.span,
                            format!("`{shown}` cannot be applied without an instance"),
                        )
                        .note("only a parser or control without constructor parameters can"),
                    );
                    return self.known.void.clone();
                }
                self.call_block(expression, call, ty, Callee::DirectApply(*node))
            }
            _ => {
                let shown = self.show(ty);
                self.synthesize_arguments(&call.arguments);
                self.report(
                    Diagnostic::error(
                        codes::NOT_CALLABLE,
                        expression.span,
                        format!("`{}` cannot be called on the type `{shown}`", name.text),
                    )
                    .help("call it on a value or instance of this type"),
                );
                self.known.unknown.clone()
            }
        }
    }

    /// `value.method(...)`.
    pub(super) fn call_on_value(
        &mut self,
        expression: &'a Expression,
        call: &'a Call,
        base: &'a Expression,
        base_type: &Type,
        name: &'a Name,
    ) -> Type {
        let base_type = &self.solved(base_type);
        match (&**base_type, &*name.text) {
            (TypeKind::Unknown, _) => {
                self.synthesize_arguments(&call.arguments);
                self.known.unknown.clone()
            }
            (TypeKind::Header(..) | TypeKind::HeaderUnion(..), "isValid") => {
                self.no_arguments(call, "isValid");
                let result = self.known.bool.clone();
                self.record_builtin(expression, Callee::IsValid, result)
            }
            (TypeKind::Header(..), "setValid" | "setInvalid") => {
                self.no_arguments(call, &name.text);
                if let Err(why) = self.l_value(base) {
                    self.report(
                        Diagnostic::error(
                            codes::NOT_AN_L_VALUE,
                            base.span,
                            format!(
                                "`{}` changes its header, which is not writable here",
                                name.text
                            ),
                        )
                        .here(why),
                    );
                }
                let callee =
                    if &*name.text == "setValid" { Callee::SetValid } else { Callee::SetInvalid };
                let result = self.known.void.clone();
                self.record_builtin(expression, callee, result)
            }
            (TypeKind::HeaderUnion(..), "setValid") => {
                self.synthesize_arguments(&call.arguments);
                self.report(
                    Diagnostic::error(
                        codes::NOT_CALLABLE,
                        name.span,
                        "a header union has no `setValid`",
                    )
                    .help("make one of its headers valid: `union.header.setValid()`"),
                );
                self.known.void.clone()
            }
            (TypeKind::Stack(element, _), "push_front" | "pop_front")
                if matches!(
                    &**element,
                    TypeKind::Header(..) | TypeKind::HeaderUnion(..) | TypeKind::Variable(_)
                ) =>
            {
                self.call_push_or_pop(expression, call, base, name)
            }
            (TypeKind::Extern(node, arguments), _) => {
                self.call_extern_method(expression, call, base, (*node, arguments), name)
            }
            (TypeKind::Table(node), "apply") => {
                let table = *node;
                self.no_arguments(call, "apply");
                if !matches!(self.context, SyntacticContext::ControlApply | SyntacticContext::Table)
                {
                    let what = format!("table `{}`", self.name_of(table));
                    self.report_call_not_allowed(
                        expression,
                        &what,
                        "tables are applied in the apply block of a control",
                    );
                }
                let result = Arc::new(TypeKind::ApplyResult(table));
                self.record_builtin(expression, Callee::TableApply(table), result)
            }
            (TypeKind::Parser(node, _) | TypeKind::Control(node, _), "apply") => {
                self.call_block(expression, call, base_type, Callee::BlockApply(*node))
            }
            (_, method) if is_size_of(method) => {
                self.call_size_of(expression, call, base_type, name)
            }
            _ => {
                self.synthesize_arguments(&call.arguments);
                let ty = self.synthesize(&call.callee);
                self.report_not_callable(&call.callee, &ty);
                self.known.unknown.clone()
            }
        }
    }

    fn record_builtin(&mut self, expression: &'a Expression, callee: Callee, result: Type) -> Type {
        self.typed.calls.insert(
            expression.id,
            CallInfo {
                callee,
                type_arguments: Vec::new(),
                arguments: Vec::new(),
                result: result.clone(),
            },
        );
        result
    }

    fn no_arguments(&mut self, call: &'a Call, name: &str) {
        self.synthesize_arguments(&call.arguments);
        if let Some(first) = call.arguments.first() {
            self.error(
                codes::ARGUMENT_COUNT,
                first.value.span,
                format!("`{name}` takes no arguments"),
            );
        }
        if let Some(first) = call.type_arguments.first() {
            self.error(
                codes::TYPE_ARGUMENT_COUNT,
                first.span,
                format!("`{name}` takes no type arguments"),
            );
        }
    }

    fn call_push_or_pop(
        &mut self,
        expression: &'a Expression,
        call: &'a Call,
        base: &'a Expression,
        name: &'a Name,
    ) -> Type {
        if let Err(why) = self.l_value(base) {
            self.report(
                Diagnostic::error(
                    codes::NOT_AN_L_VALUE,
                    base.span,
                    format!("`{}` changes its stack, which is not writable here", name.text),
                )
                .here(why),
            );
        }
        let result = self.known.void.clone();
        match call.arguments.as_slice() {
            [argument] => {
                if let Some(amount) =
                    self.constant_integer(&argument.value, "how far a stack is moved")
                    && amount.is_negative()
                {
                    self.error(
                        codes::INVALID_INDEX,
                        argument.value.span,
                        format!("a stack cannot be moved by {amount}"),
                    );
                }
            }
            arguments => {
                self.synthesize_arguments(arguments);
                self.error(
                    codes::ARGUMENT_COUNT,
                    expression.span,
                    format!("`{}` takes one argument: how far to move", name.text),
                );
                return result;
            }
        }
        let callee = if &*name.text == "push_front" { Callee::PushFront } else { Callee::PopFront };
        self.record_builtin(expression, callee, result.clone());
        if let Some(info) = self.typed.calls.get_mut(&expression.id) {
            info.arguments = vec![Some(0)];
        }
        result
    }

    /// `apply` of a parser or control.
    fn call_block(
        &mut self,
        expression: &'a Expression,
        call: &'a Call,
        ty: &Type,
        callee: Callee,
    ) -> Type {
        let (node, arguments, is_parser) = match &**ty {
            TypeKind::Parser(node, arguments) => (*node, arguments.clone(), true),
            TypeKind::Control(node, arguments) => (*node, arguments.clone(), false),
            _ => return self.known.unknown.clone(),
        };
        let wanted =
            if is_parser { SyntacticContext::ParserState } else { SyntacticContext::ControlApply };
        if self.context != wanted {
            let (what, rule) = if is_parser {
                ("parser", "parsers are applied in parser states")
            } else {
                ("control", "controls are applied in the apply block of a control")
            };
            let what = format!("{what} `{}`", self.name_of(node));
            self.report_call_not_allowed(expression, &what, rule);
        }
        let Some(parameters) = self.block_parameters(node) else {
            return self.known.unknown.clone();
        };
        // Type parameters left out of `Type.apply` are inferred from the arguments.
        let type_parameters = self.type_parameters.get(&node).copied().unwrap_or(&[]);
        let settled = !arguments.iter().any(|ty| matches!(&**ty, TypeKind::DontCare));
        let object = if settled { self.substitution(node, &arguments) } else { Default::default() };
        let callable = Callable {
            callee,
            name: self.name_of(node).into(),
            declared: self.span_of(node),
            type_parameters: if settled { &[] } else { type_parameters },
            parameters,
            role: ParameterRole::RunTime,
            result: self.known.void.clone(),
            object,
        };
        self.call_one(expression, call, callable)
    }

    /// `minSizeInBits` and its like, on a type or a value (§9).
    pub(super) fn call_size_of(
        &mut self,
        expression: &'a Expression,
        call: &'a Call,
        ty: &Type,
        name: &'a Name,
    ) -> Type {
        let result = self.known.integer.clone();
        if !is_size_of(&name.text) {
            self.synthesize_arguments(&call.arguments);
            let shown = self.show(ty);
            self.error(
                codes::NO_SUCH_MEMBER,
                name.span,
                format!("`{shown}` has no method `{}`", name.text),
            );
            return self.known.unknown.clone();
        }
        self.no_arguments(call, &name.text);
        match self.size_bits(ty) {
            Some((least, greatest)) => {
                let size = match &*name.text {
                    "minSizeInBits" => least,
                    "maxSizeInBits" => greatest,
                    "minSizeInBytes" => least.div_ceil(8),
                    _ => greatest.div_ceil(8),
                };
                self.set_constant(expression, Constant::Integer(BigInt::from(size)));
            }
            // §9: cases with type variables are errors.
            None if super::inference::has_open_parts(ty)
                && !matches!(&**ty, TypeKind::Variable(_)) => {}
            None => {
                let shown = self.show(ty);
                self.error(
                    codes::INVALID_OPERAND,
                    expression.span,
                    format!("values of type `{shown}` have no size"),
                );
                return self.known.unknown.clone();
            }
        }
        self.record_builtin(expression, Callee::SizeOf, result)
    }
}
