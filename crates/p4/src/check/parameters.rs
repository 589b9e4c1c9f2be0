// SPDX-License-Identifier: Apache-2.0
//! Parameters where they are declared: types, directions and default values that each kind of owner
//! allows (P4_16 v1.2.5 §6.8, §6.8.2, §20.3.1, §F).

use super::{Checker, Node, ParameterRole};
use crate::ast::{DeclarationKind, DeclaredName, Direction, NodeId, Parameter};
use crate::codes::typing as codes;
use crate::typed::{Type, TypeKind};
use source::Diagnostic;

/// The owner of the parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ParameterOwner {
    Parser,
    Control,
    Function,
    Extern,
    Action,
    ParserConstructor,
    ControlConstructor,
    ExternConstructor,
    Package,
}

impl ParameterOwner {
    fn role(self) -> ParameterRole {
        match self {
            ParameterOwner::Action => ParameterRole::Action,
            ParameterOwner::ParserConstructor
            | ParameterOwner::ControlConstructor
            | ParameterOwner::ExternConstructor
            | ParameterOwner::Package => ParameterRole::Constructor,
            _ => ParameterRole::RunTime,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            ParameterOwner::Parser => "a parser",
            ParameterOwner::Control => "a control",
            ParameterOwner::Function => "a function",
            ParameterOwner::Extern => "an extern function or method",
            ParameterOwner::Action => "an action",
            ParameterOwner::ParserConstructor => "a parser's constructor",
            ParameterOwner::ControlConstructor => "a control's constructor",
            ParameterOwner::ExternConstructor => "an extern object's constructor",
            ParameterOwner::Package => "a package",
        }
    }
}

impl<'a> Checker<'a> {
    /// Declares type parameters in the innermost scope and records them for `owner`.
    pub(super) fn declare_type_parameters(
        &mut self,
        owner: NodeId,
        parameters: &'a [DeclaredName],
    ) {
        for parameter in parameters {
            self.declare(parameter.id, Node::TypeParameter(parameter));
        }
        if !parameters.is_empty() {
            self.type_parameters.insert(owner, parameters);
        }
    }

    /// Types, checks and declares parameters in the innermost scope.
    pub(super) fn declare_parameters(
        &mut self,
        parameters: &'a [Parameter],
        owner: ParameterOwner,
    ) {
        let role = owner.role();
        let mut first_directionless: Option<&'a Parameter> = None;
        for parameter in parameters {
            self.check_annotations(&parameter.annotations);
            let ty = self.resolve_type(&parameter.ty);
            self.typed.declared_types.insert(parameter.id, ty.clone());
            self.check_parameter_type(parameter, &ty, owner);
            if super::inference::is_optional(parameter)
                && matches!(
                    owner,
                    ParameterOwner::Function
                        | ParameterOwner::Action
                        | ParameterOwner::ParserConstructor
                        | ParameterOwner::ControlConstructor
                )
                && self.this.is_none()
            {
                self.error(
                    codes::INVALID_PARAMETER,
                    parameter.span,
                    format!(
                        "parameter `{}` of {} cannot be `@optional`",
                        parameter.name.text,
                        owner.describe()
                    ),
                );
            }
            if role == ParameterRole::Constructor && parameter.direction != Direction::None {
                self.error(
                    codes::INVALID_PARAMETER,
                    parameter.span,
                    format!(
                        "parameter `{}` of a constructor cannot have a direction",
                        parameter.name.text
                    ),
                );
            }
            if owner == ParameterOwner::Action {
                match (parameter.direction, first_directionless) {
                    (Direction::None, None) => first_directionless = Some(parameter),
                    (Direction::None, Some(_)) | (_, None) => {}
                    (_, Some(first)) => {
                        self.report(
                            Diagnostic::error(
                                codes::INVALID_PARAMETER,
                                first.span,
                                format!(
                                    "parameter `{}` has no direction, so it must come after `{}`",
                                    first.name.text, parameter.name.text
                                ),
                            )
                            .label(parameter.span, "this has a direction")
                            .note("the control plane sets the parameters without direction; they are last"),
                        );
                        first_directionless = None;
                    }
                }
            }
            if let Some(default) = &parameter.default {
                if matches!(parameter.direction, Direction::Out | Direction::InOut) {
                    self.error(
                        codes::INVALID_PARAMETER,
                        default.span,
                        format!(
                            "parameter `{}` is written by its owner, so it cannot have a default",
                            parameter.name.text
                        ),
                    );
                } else if super::inference::is_optional(parameter) {
                    self.error(
                        codes::INVALID_PARAMETER,
                        default.span,
                        format!(
                            "parameter `{}` is `@optional`, so it needs no default",
                            parameter.name.text
                        ),
                    );
                }
                let what = format!("the default of parameter `{}`", parameter.name.text);
                // A type parameter may be what the default says.
                let wanted = super::inference::map_type(&ty, &mut |part| match part {
                    TypeKind::Variable(_) => Some(self.fresh_variable()),
                    _ => None,
                });
                self.in_context(super::SyntacticContext::ConstructorArguments, |checker| {
                    checker.check_against(default, &wanted, &what)
                });
                self.require_compile_time(default, &what);
            }
            self.declare(parameter.id, Node::Parameter(parameter, role));
        }
    }

    /// Whether a node is a type of parsers or controls, not one of these itself.
    fn is_block_type(&self, node: NodeId) -> bool {
        matches!(self.node(node), Node::Declaration(declaration) if matches!(
            declaration.kind,
            DeclarationKind::ParserType(_) | DeclarationKind::ControlType(_)
        ))
    }

    fn check_parameter_type(&mut self, parameter: &'a Parameter, ty: &Type, owner: ParameterOwner) {
        use ParameterOwner as Owner;
        let allowed = match &**ty {
            TypeKind::Unknown | TypeKind::Variable(_) => true,
            TypeKind::Void | TypeKind::DontCare => false,
            TypeKind::Package(..) => owner == Owner::Package,
            TypeKind::Parser(node, _) => {
                self.is_block_type(*node)
                    && matches!(owner, Owner::Package | Owner::ParserConstructor)
            }
            TypeKind::Control(node, _) => {
                self.is_block_type(*node)
                    && matches!(owner, Owner::Package | Owner::ControlConstructor)
            }
            TypeKind::Extern(..) => !matches!(owner, Owner::Action | Owner::Function),
            _ => true,
        };
        if !allowed {
            let shown = self.show(ty);
            self.error(
                codes::INVALID_PARAMETER,
                parameter.span,
                format!(
                    "parameter `{}` of {} cannot have type `{shown}`",
                    parameter.name.text,
                    owner.describe()
                ),
            );
            return;
        }
        let only_at_compile_time = self.is_compile_time_only(ty);
        let needs_no_direction = only_at_compile_time || matches!(&**ty, TypeKind::Extern(..));
        if needs_no_direction && parameter.direction != Direction::None {
            let shown = self.show(ty);
            self.report(
                Diagnostic::error(
                    codes::INVALID_PARAMETER,
                    parameter.span,
                    format!(
                        "parameter `{}` of type `{shown}` cannot have a direction",
                        parameter.name.text
                    ),
                )
                .note(if only_at_compile_time {
                    "values of this type are known at compile time"
                } else {
                    "extern objects are passed without direction"
                }),
            );
        } else if only_at_compile_time && owner == Owner::Action {
            let shown = self.show(ty);
            self.error(
                codes::INVALID_PARAMETER,
                parameter.span,
                format!(
                    "parameter `{}` of an action cannot have type `{shown}`",
                    parameter.name.text
                ),
            );
        }
    }
}
