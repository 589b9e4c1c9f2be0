// SPDX-License-Identifier: Apache-2.0
//! Arguments against parameters: binding by position and name, directions, and the inference of type
//! arguments from them (P4_16 v1.2.5 §6.8, §6.8.2, §8.22). `calls` resolves the callee.

use super::inference::{Substitution, is_optional};
use super::type_names::count;
use super::{Checker, Node, ParameterRole};
use crate::ast::{
    Argument, DeclarationKind, DeclaredName, Direction, Expression, ExpressionKind, Parameter,
};
use crate::codes::typing as codes;
use crate::typed::{Callee, Type, TypeKind};
use source::{Diagnostic, Span};
use std::sync::Arc;

/// A callee with its parameters, before its arguments are bound.
#[derive(Clone)]
pub(super) struct Callable<'a> {
    pub(super) callee: Callee,
    pub(super) name: Arc<str>,
    pub(super) declared: Span,
    pub(super) type_parameters: &'a [DeclaredName],
    pub(super) parameters: &'a [Parameter],
    pub(super) role: ParameterRole,
    pub(super) result: Type,
    /// Type arguments of the object that a method belongs to.
    pub(super) object: Substitution,
}

impl<'a> Checker<'a> {
    /// Whether a type parameter stands only in parameters that the call leaves out.
    pub(super) fn is_only_left_out(
        &self,
        type_parameter: &DeclaredName,
        callable: &Callable<'a>,
        arguments: &[Option<usize>],
    ) -> bool {
        let mentions = |ty: &Type| {
            let mut found = false;
            super::inference::map_type(ty, &mut |part| {
                found |= matches!(part, TypeKind::Variable(node) if *node == type_parameter.id);
                None
            });
            found
        };
        let mut in_left_out = false;
        for (parameter, argument) in callable.parameters.iter().zip(arguments) {
            if mentions(&self.declared_type(parameter.id)) {
                if argument.is_some() {
                    return false;
                }
                in_left_out = true;
            }
        }
        in_left_out && !mentions(&callable.result)
    }

    /// Whether a type parameter is inferred as `int` or `string` where a run-time parameter has that type.
    pub(super) fn is_width_missing(
        &self,
        solution: &Type,
        type_parameter: &DeclaredName,
        callable: &Callable<'a>,
    ) -> bool {
        matches!(&**solution, TypeKind::Integer | TypeKind::String)
            && callable.parameters.iter().any(|parameter| {
                (parameter.direction != Direction::None
                    || matches!(callable.callee, Callee::Function(_)))
                    && matches!(&*self.declared_type(parameter.id), TypeKind::Variable(node) if *node == type_parameter.id)
            })
    }

    /// Binds arguments to parameters and checks each. Returns the index of the argument of each
    /// parameter.
    pub(super) fn check_arguments(
        &mut self,
        span: Span,
        callable: &Callable<'a>,
        arguments: &'a [Argument],
        substitution: &Substitution,
    ) -> Option<Vec<Option<usize>>> {
        let bound = match bind(callable.parameters, arguments) {
            Ok(bound) => bound,
            Err(error) => {
                self.synthesize_arguments(arguments);
                self.report_bind_error(span, callable, arguments, error);
                return None;
            }
        };
        let generic =
            !callable.type_parameters.is_empty() || callable.role == ParameterRole::Constructor;
        let mut deferred = Vec::new();
        let mut wanted_types = Vec::with_capacity(bound.len());
        for (parameter, argument) in callable.parameters.iter().zip(&bound) {
            let wanted = substitution.apply(&self.declared_type(parameter.id));
            wanted_types.push(wanted.clone());
            let Some(argument) = argument else { continue };
            let value = &arguments[*argument].value;
            if matches!(value.kind, ExpressionKind::DontCare) {
                self.typed.expression_types.insert(value.id, self.known.dont_care.clone());
                continue;
            }
            let found = self.synthesize(value);
            if !generic || !self.has_variables(&wanted) {
                continue;
            }
            // `int` says nothing about a type parameter as long as another argument may.
            if self.is_compile_time_only(&found) || matches!(&*found, TypeKind::DontCare) {
                deferred.push((wanted, found));
            } else {
                self.unify(&wanted, &found);
            }
        }
        for (wanted, found) in deferred {
            if !matches!(&*found, TypeKind::DontCare) {
                self.unify(&wanted, &found);
            }
        }
        for ((parameter, argument), wanted) in
            callable.parameters.iter().zip(&bound).zip(&wanted_types)
        {
            let Some(argument) = argument else { continue };
            let wanted = self.solved(wanted);
            self.check_bound_argument(callable, parameter, &arguments[*argument].value, &wanted);
        }
        Some(bound)
    }

    /// Checks one typed argument against its parameter of type `wanted`.
    pub(super) fn check_bound_argument(
        &mut self,
        callable: &Callable<'a>,
        parameter: &'a Parameter,
        value: &'a Expression,
        wanted: &Type,
    ) {
        let what = format!("parameter `{}` of `{}`", parameter.name.text, callable.name);
        if matches!(value.kind, ExpressionKind::DontCare) {
            let allowed = parameter.direction == Direction::Out
                || (callable.role == ParameterRole::Constructor
                    && matches!(callable.callee, Callee::Constructor(node, _)
                        if matches!(self.node(node), Node::Declaration(declaration)
                            if matches!(declaration.kind, DeclarationKind::PackageType(_)))));
            if !allowed {
                self.error(
                    codes::MISPLACED_FORM,
                    value.span,
                    format!("{what} needs a value; `_` is for `out` parameters"),
                );
            } else if parameter.direction == Direction::Out {
                self.typed.implicit_casts.insert(value.id, wanted.clone());
            }
            return;
        }
        match parameter.direction {
            Direction::Out | Direction::InOut => {
                let found = self.expression_type(value);
                if let Err(why) = self.l_value(value) {
                    if !matches!(&*found, TypeKind::Unknown) {
                        let direction =
                            if parameter.direction == Direction::Out { "out" } else { "inout" };
                        self.report(
                            Diagnostic::error(
                                codes::ARGUMENT_NOT_L_VALUE,
                                value.span,
                                format!(
                                    "{what} is `{direction}`, so its argument must be writable"
                                ),
                            )
                            .here(why)
                            .label(parameter.span, "the parameter"),
                        );
                    }
                    return;
                }
                let open = |ty: &Type| matches!(&**ty, TypeKind::Unknown | TypeKind::DontCare);
                let fits = found == *wanted
                    || open(&found)
                    || open(wanted)
                    || (self.has_variables(wanted) && self.unify(wanted, &found));
                if !fits {
                    self.report_mismatch(value, wanted, &what);
                }
            }
            Direction::In | Direction::None => {
                let fits = self.coerce(value, wanted, &what);
                if fits && self.wants_compile_time(callable, parameter, value, wanted) {
                    self.require_compile_time(value, &what);
                }
            }
        }
    }

    /// Whether an argument has to be known at compile time. For functions and externs a parameter
    /// without direction takes run-time values as well, as in p4c, because the published
    /// architectures rely on it.
    pub(super) fn wants_compile_time(
        &self,
        callable: &Callable<'a>,
        parameter: &'a Parameter,
        value: &'a Expression,
        wanted: &Type,
    ) -> bool {
        if parameter.direction != Direction::None || callable.role == ParameterRole::Action {
            return false;
        }
        match callable.callee {
            Callee::Function(_)
            | Callee::ExternFunction(_)
            | Callee::ExternMethod(_)
            | Callee::AbstractMethod(_) => match &**wanted {
                TypeKind::Integer => matches!(&*self.expression_type(value), TypeKind::Integer),
                _ => self.is_compile_time_only(wanted),
            },
            _ => true,
        }
    }

    pub(super) fn report_bind_error(
        &mut self,
        span: Span,
        callable: &Callable<'a>,
        arguments: &'a [Argument],
        error: BindError<'a>,
    ) {
        let name = &callable.name;
        let diagnostic = match error {
            BindError::TooMany(argument) => Diagnostic::error(
                codes::ARGUMENT_COUNT,
                argument.value.span,
                format!(
                    "`{name}` takes {}, but {} given",
                    count(callable.parameters.len(), "argument"),
                    if arguments.len() == 1 {
                        "1 is".to_string()
                    } else {
                        format!("{} are", arguments.len())
                    }
                ),
            )
            .label(callable.declared, "declared here"),
            BindError::Missing(_)
                if matches!(&*callable.result, TypeKind::Void)
                    && arguments.len() + 1 == callable.parameters.len()
                    && arguments.iter().all(|argument| argument.name.is_none())
                    && callable.parameters.first().is_some_and(|first| {
                        first.direction == Direction::Out
                            && arguments
                                .first()
                                .is_none_or(|argument| self.l_value(&argument.value).is_err())
                    }) =>
            {
                let names: Vec<&str> =
                    callable.parameters.iter().map(|parameter| &*parameter.name.text).collect();
                Diagnostic::error(
                    codes::ARGUMENT_COUNT,
                    span,
                    format!("`{name}` gives its result through an argument"),
                )
                .label(callable.parameters[0].span, "the result")
                .help(format!("put the variable for it first: `{name}({})`", names.join(", ")))
            }
            BindError::Missing(parameter) => Diagnostic::error(
                codes::ARGUMENT_COUNT,
                span,
                format!("the argument for `{}` of `{name}` is missing", parameter.name.text),
            )
            .label(parameter.span, "the parameter"),
            BindError::UnknownName(argument) => {
                let given = argument.name.as_ref();
                let text = given.map_or("", |name| &name.text);
                let mut diagnostic = Diagnostic::error(
                    codes::ARGUMENT_NAMES,
                    given.map_or(span, |name| name.span),
                    format!("`{name}` has no parameter `{text}`"),
                )
                .label(callable.declared, "declared here");
                let names = callable.parameters.iter().map(|parameter| &*parameter.name.text);
                if let Some(nearest) = source::nearest(text, names) {
                    diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
                }
                diagnostic
            }
            BindError::NamedTwice(argument) => Diagnostic::error(
                codes::ARGUMENT_NAMES,
                argument.name.as_ref().map_or(span, |name| name.span),
                "this argument is given twice".to_string(),
            ),
            BindError::Mixed(argument) => Diagnostic::error(
                codes::ARGUMENT_NAMES,
                argument.value.span,
                "either all arguments are named or none is".to_string(),
            ),
        };
        self.report(diagnostic);
    }
}

/// Returns the index of the argument of each parameter; `None` where it is left out, which default values
/// and `@optional` allow.
pub(super) fn bind<'a>(
    parameters: &'a [Parameter],
    arguments: &'a [Argument],
) -> Result<Vec<Option<usize>>, BindError<'a>> {
    let mut bound = vec![None; parameters.len()];
    let named = arguments.iter().any(|argument| argument.name.is_some());
    for (index, argument) in arguments.iter().enumerate() {
        let position = match &argument.name {
            Some(name) => parameters
                .iter()
                .position(|parameter| parameter.name.text == name.text)
                .ok_or(BindError::UnknownName(argument))?,
            None if named => return Err(BindError::Mixed(argument)),
            None if index < parameters.len() => index,
            None => return Err(BindError::TooMany(argument)),
        };
        if bound[position].is_some() {
            return Err(BindError::NamedTwice(argument));
        }
        bound[position] = Some(index);
    }
    for (parameter, argument) in parameters.iter().zip(&bound) {
        if argument.is_none() && parameter.default.is_none() && !is_optional(parameter) {
            return Err(BindError::Missing(parameter));
        }
    }
    Ok(bound)
}

/// Whether arguments fit parameters in number and names.
pub(super) fn fits(parameters: &[Parameter], arguments: &[Argument]) -> bool {
    bind(parameters, arguments).is_ok()
}

/// Why arguments do not fit parameters.
pub(super) enum BindError<'a> {
    TooMany(&'a Argument),
    Missing(&'a Parameter),
    UnknownName(&'a Argument),
    NamedTwice(&'a Argument),
    Mixed(&'a Argument),
}
