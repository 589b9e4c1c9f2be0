// SPDX-License-Identifier: Apache-2.0
//! Passes the arguments of a call to an inlined body (P4_16 v1.2.5 §6.8): by copy-in and copy-out
//! through variables, or by substitution where that is equivalent: the body does not reach the argument
//! by another name, and no other argument overlaps with it while one of them is written.

use super::node_builder::NodeBuilder;
use super::obstacle::Obstacle;
use super::sites::Calls;
use super::substitute::Replacement;
use crate::ast::{
    Call, Declaration, Direction, Expression, ExpressionKind, Node, NodeId, Parameter, Statement,
    TypeRef,
};
use crate::typed::{CallInfo, Callee, Constant, Definition, Type, TypeKind};
use crate::visit::Visit;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What decides, beside the arguments, between copies and substitution.
pub(super) struct CallContext<'s> {
    /// The body reaches no storage but its parameters and its own variables.
    pub(super) is_closed: bool,
    /// Declarations of the caller that are visible wherever the body goes; `None` when the whole body
    /// goes to the place of the call.
    pub(super) visible: Option<&'s FxHashSet<NodeId>>,
    /// Names in the body that stay as they are, and would hide such a name of the caller.
    pub(super) kept_names: &'s FxHashSet<Arc<str>>,
    /// Parameters without direction take their values at run time, as those of actions do.
    pub(super) is_action: bool,
}

/// A variable that holds a parameter or a part of an l-value.
pub(super) struct Local {
    pub(super) name: Arc<str>,
    pub(super) ty: TypeRef,
    pub(super) value: Option<Expression>,
}

/// How each argument reaches the body, and the code around the body.
#[derive(Default)]
pub(super) struct PassedArguments {
    /// The replacement of each parameter in the body.
    pub(super) replacements: Vec<(NodeId, Replacement)>,
    /// Variables, in the order of their evaluation.
    pub(super) locals: Vec<Local>,
    /// Statements before the body.
    pub(super) before: Vec<Statement>,
    /// Statements after the body, and before an `exit` in it.
    pub(super) after: Vec<Statement>,
    /// The same statements where only some of the caller's names are visible.
    pub(super) after_elsewhere: Vec<Statement>,
    /// A name of the caller that `after_elsewhere` needs is hidden there.
    pub(super) is_hidden_elsewhere: bool,
}

/// A step into an l-value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(Arc<str>),
    Element(Constant),
}

/// The variable that an l-value is part of, and which part.
struct Reference {
    root: NodeId,
    name: Arc<str>,
    steps: Vec<Step>,
}

impl Reference {
    fn overlaps(&self, other: &Reference) -> bool {
        self.root == other.root && self.steps.iter().zip(&other.steps).all(|(one, two)| one == two)
    }
}

/// Decides for each argument between a copy and substitution. `fresh` returns unused names.
pub(super) fn pass(
    builder: &mut NodeBuilder<'_>,
    call: &Call,
    info: &CallInfo,
    parameters: Vec<Parameter>,
    context: &CallContext<'_>,
    fresh: &mut dyn FnMut(&str) -> Arc<str>,
) -> Result<PassedArguments, Obstacle> {
    let given: Vec<Option<usize>> =
        (0..parameters.len()).map(|index| info.arguments.get(index).copied().flatten()).collect();
    let value = |index: usize| -> Option<&Expression> {
        let at = given.get(index).copied().flatten()?;
        call.arguments.get(at).map(|argument| &argument.value)
    };
    let is_pure = call.arguments.iter().all(|argument| is_pure(builder, &argument.value));
    let references: Vec<Option<Reference>> = (0..parameters.len())
        .map(|index| value(index).and_then(|value| reference(builder, value)))
        .collect();
    let writes =
        |index: usize| matches!(parameters[index].direction, Direction::Out | Direction::InOut);
    // What each argument may change, as far as is known at compile time.
    let areas: Vec<Option<Reference>> = (0..parameters.len())
        .map(|index| value(index).filter(|_| writes(index)).and_then(|value| area(builder, value)))
        .collect();
    let conflict = |reference: &Reference, other: usize| match (writes(other), value(other)) {
        (_, None) => false,
        (true, Some(value)) => match &areas[other] {
            Some(area) => reference.overlaps(area),
            None => !matches!(value.kind, ExpressionKind::DontCare),
        },
        // A value that is copied is copied before.
        (false, _) => references[other].as_ref().is_some_and(|two| reference.overlaps(two)),
    };
    let in_place: Vec<bool> = (0..parameters.len())
        .map(|index| {
            let Some(reference) = &references[index] else { return false };
            is_pure
                && context.is_closed
                && context.visible.is_none_or(|visible| visible.contains(&reference.root))
                && !context.kept_names.contains(&reference.name)
                && (0..parameters.len()).all(|other| {
                    other == index
                        || !(writes(index) || writes(other))
                        || !conflict(reference, other)
                })
        })
        .collect();
    // In the order in which they are evaluated; what is left out comes last.
    let mut order: Vec<usize> = (0..parameters.len()).collect();
    order.sort_by_key(|index| given[*index].unwrap_or(usize::MAX));
    let mut copies: Vec<Option<(Expression, Arc<str>)>> = vec![None; parameters.len()];
    let mut passed = PassedArguments::default();
    for index in order {
        let parameter = &parameters[index];
        let ty = declared_type(builder, parameter)?;
        let is_late = value(index).is_none();
        let argument = match (value(index), &parameter.default) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(default)) => Some(default.clone()),
            (None, None) => None,
        };
        let is_object = matches!(
            *ty,
            TypeKind::Extern(..)
                | TypeKind::Parser(..)
                | TypeKind::Control(..)
                | TypeKind::Package(..)
        );
        let is_fixed = parameter.direction == Direction::None && !context.is_action;
        if is_object || is_fixed {
            let argument = argument.ok_or(Obstacle::Argument)?;
            let replacement = constant_stand(builder, argument, parameter, &ty, context)?;
            passed.replacements.push((parameter.id, replacement));
            continue;
        }
        if in_place[index] && !is_late {
            let argument = argument.clone().ok_or(Obstacle::Argument)?;
            let mut start = Some(Vec::new());
            if parameter.direction == Direction::Out {
                let base = |builder: &mut NodeBuilder<'_>| builder.rewriter.copy(&argument);
                start = builder.invalidation(&ty, &base);
            }
            if let Some(start) = start {
                passed.before.extend(start);
                passed.replacements.push((parameter.id, Replacement::Expression(argument)));
                continue;
            }
        }
        let name = fresh(&parameter.name.text);
        passed.replacements.push((parameter.id, Replacement::Name(name.clone())));
        let is_nothing =
            argument.as_ref().is_none_or(|value| matches!(value.kind, ExpressionKind::DontCare));
        let mut first = None;
        if let Some(argument) = argument.filter(|_| !is_nothing) {
            if writes(index) {
                let target = steady(builder, &argument, &mut passed, fresh)?;
                copies[index] = Some((target.clone(), name.clone()));
                if parameter.direction == Direction::InOut {
                    first = Some(builder.rewriter.copy(&target));
                }
            } else {
                first = Some(builder.rewriter.copy(&argument));
            }
        }
        let ty = builder.rewriter.copy(&parameter.ty);
        passed.locals.push(Local { name, ty, value: first });
    }
    for (index, copy) in copies.into_iter().enumerate() {
        let Some((target, name)) = copy else { continue };
        let is_visible = match (&references[index], context.visible) {
            (Some(reference), Some(visible)) => {
                passed.is_hidden_elsewhere |= context.kept_names.contains(&reference.name);
                visible.contains(&reference.root)
            }
            (None, Some(_)) => {
                passed.is_hidden_elsewhere = true;
                false
            }
            (_, None) => false,
        };
        let elsewhere = is_visible.then_some(&mut passed.after_elsewhere);
        for list in std::iter::once(&mut passed.after).chain(elsewhere) {
            let target = builder.rewriter.copy(&target);
            let value = builder.path(&name);
            list.push(builder.assign(target, value));
        }
    }
    Ok(passed)
}

/// Returns a value known at compile time, or an object, in the place of a parameter.
pub(super) fn constant_stand(
    builder: &mut NodeBuilder<'_>,
    argument: Expression,
    parameter: &Parameter,
    ty: &Type,
    context: &CallContext<'_>,
) -> Result<Replacement, Obstacle> {
    let mut names = super::substitute::Declared::default();
    names.expression(&argument);
    if names.names.iter().any(|name| context.kept_names.contains(name)) {
        return Err(Obstacle::Argument);
    }
    let typed = builder.rewriter.original();
    let model = builder.rewriter.model_of(argument.id);
    let own = typed.expression_types.get(&model);
    if own == Some(ty) || !is_value(ty) {
        return Ok(Replacement::Expression(argument));
    }
    let written = builder.rewriter.copy(&parameter.ty);
    let operand = builder.rewriter.copy(&argument);
    let cast = ExpressionKind::Cast(written, Box::new(operand));
    Ok(Replacement::Expression(builder.expression(cast)))
}

fn is_value(ty: &Type) -> bool {
    matches!(
        **ty,
        TypeKind::Bool
            | TypeKind::Bit(_)
            | TypeKind::Int(_)
            | TypeKind::Struct(..)
            | TypeKind::Header(..)
            | TypeKind::SerializableEnum(_)
            | TypeKind::NewType(_)
    )
}

/// Returns the type of a parameter, in which type parameters stay what they are.
pub(super) fn declared_type(
    builder: &NodeBuilder<'_>,
    parameter: &Parameter,
) -> Result<Type, Obstacle> {
    let model = builder.rewriter.model_of(parameter.id);
    let found = builder.rewriter.original().declared_types.get(&model);
    found.cloned().ok_or(Obstacle::UnwritableType)
}

/// Whether evaluating an expression changes nothing.
pub(super) fn is_pure(builder: &NodeBuilder<'_>, expression: &Expression) -> bool {
    let mut calls = Calls::default();
    calls.expression(expression);
    calls.0.iter().all(|call| {
        let model = builder.rewriter.model_of(*call);
        let info = builder.rewriter.original().calls.get(&model);
        info.is_some_and(|info| matches!(info.callee, Callee::IsValid | Callee::SizeOf))
    })
}

/// Returns the variable or parameter that an expression is or is a part of, if it can stand for a
/// parameter as it is: no conversion, no index known only at run time.
fn reference(builder: &NodeBuilder<'_>, expression: &Expression) -> Option<Reference> {
    let typed = builder.rewriter.original();
    let model = builder.rewriter.model_of(expression.id);
    if typed.implicit_casts.contains_key(&model) || typed.constants.contains_key(&model) {
        return None;
    }
    part(builder, expression)
}

/// Returns the variable that an l-value is a part of, with the steps into it that are certain.
fn area(builder: &NodeBuilder<'_>, expression: &Expression) -> Option<Reference> {
    if let Some(part) = part(builder, expression) {
        return Some(part);
    }
    match &expression.kind {
        ExpressionKind::Slice { base, .. }
        | ExpressionKind::PlusSlice { base, .. }
        | ExpressionKind::Member(base, _)
        | ExpressionKind::Index(base, _) => area(builder, base),
        _ => None,
    }
}

fn part(builder: &NodeBuilder<'_>, expression: &Expression) -> Option<Reference> {
    let typed = builder.rewriter.original();
    let type_of = |expression: &Expression| {
        typed.expression_types.get(&builder.rewriter.model_of(expression.id))
    };
    match &expression.kind {
        ExpressionKind::Path(path) => match builder.rewriter.definition(expression.id)? {
            Definition::Node(root) => {
                Some(Reference { root, name: path.name.text.clone(), steps: Vec::new() })
            }
            _ => None,
        },
        ExpressionKind::Member(base, name) => {
            let is_field = type_of(base).is_some_and(|ty| {
                matches!(
                    **ty,
                    TypeKind::Struct(..) | TypeKind::Header(..) | TypeKind::HeaderUnion(..)
                )
            });
            let mut reference = part(builder, base).filter(|_| is_field)?;
            // A member of a union shares its place with the others.
            if !type_of(base).is_some_and(|ty| matches!(**ty, TypeKind::HeaderUnion(..))) {
                reference.steps.push(Step::Field(name.text.clone()));
            }
            Some(reference)
        }
        ExpressionKind::Index(base, index) => {
            let index = typed.constants.get(&builder.rewriter.model_of(index.id))?.clone();
            let mut reference = part(builder, base)?;
            reference.steps.push(Step::Element(index));
            Some(reference)
        }
        _ => None,
    }
}

/// Returns an l-value that names the same place before and after the body, with its indices in
/// variables.
fn steady(
    builder: &mut NodeBuilder<'_>,
    target: &Expression,
    passed: &mut PassedArguments,
    fresh: &mut dyn FnMut(&str) -> Arc<str>,
) -> Result<Expression, Obstacle> {
    let is_constant = |builder: &NodeBuilder<'_>, expression: &Expression| {
        let model = builder.rewriter.model_of(Node::id(expression));
        builder.rewriter.original().constants.contains_key(&model)
    };
    let mut copy = builder.rewriter.copy(target);
    match &target.kind {
        ExpressionKind::Path(_) => {}
        ExpressionKind::Member(base, name) => {
            let model = builder.rewriter.model_of(base.id);
            let types = &builder.rewriter.original().expression_types;
            if types.get(&model).is_some_and(|ty| matches!(**ty, TypeKind::Stack(..))) {
                return Err(Obstacle::Argument);
            }
            let base = steady(builder, base, passed, fresh)?;
            copy.kind = ExpressionKind::Member(Box::new(base), name.clone());
        }
        ExpressionKind::Index(base, index) => {
            let base = steady(builder, base, passed, fresh)?;
            let index = match is_constant(builder, index) {
                true => builder.rewriter.copy(&**index),
                false => {
                    let model = builder.rewriter.model_of(index.id);
                    let typed = builder.rewriter.original();
                    let ty = typed.expression_types.get(&model).cloned();
                    let ty = builder.written(&ty.ok_or(Obstacle::UnwritableType)?)?;
                    let name = fresh("index");
                    let value = Some(builder.rewriter.copy(&**index));
                    passed.locals.push(Local { name: name.clone(), ty, value });
                    builder.path(&name)
                }
            };
            copy.kind = ExpressionKind::Index(Box::new(base), Box::new(index));
        }
        ExpressionKind::Slice { base, high, low } => {
            let base = steady(builder, base, passed, fresh)?;
            let (high, low) = (builder.rewriter.copy(&**high), builder.rewriter.copy(&**low));
            copy.kind = ExpressionKind::Slice {
                base: Box::new(base),
                high: Box::new(high),
                low: Box::new(low),
            };
        }
        _ => return Err(Obstacle::Argument),
    }
    Ok(copy)
}

/// Returns the declarations that are visible in all of a control or parser.
pub(super) fn visible_everywhere(home: &Declaration) -> FxHashSet<NodeId> {
    use crate::ast::DeclarationKind;
    let (signature, locals) = match &home.kind {
        DeclarationKind::Control(control) => (&control.signature, &control.locals),
        DeclarationKind::Parser(parser) => (&parser.signature, &parser.locals),
        _ => return FxHashSet::default(),
    };
    let parameters = signature.parameters.iter().map(|parameter| parameter.id);
    parameters.chain(locals.iter().map(|local| local.id)).collect()
}
