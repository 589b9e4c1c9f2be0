// SPDX-License-Identifier: Apache-2.0
//! Actions: their declarations, and their mention in a table's list, default and entries with
//! arguments bound (P4_16 v1.2.5 §14.1, §14.2.1.2, §14.2.1.3, §20.3.2).

use super::arguments::Callable;
use super::inference::Substitution;
use super::parameters::ParameterOwner;
use super::tables::ListedAction;
use super::type_names::count;
use super::{Checker, Node, ParameterRole, SyntacticContext};
use crate::ast::{
    ActionRef, Argument, Block, Declaration, DeclarationKind, Direction, Expression, NodeId,
    Parameter, Path,
};
use crate::codes::typing as codes;
use crate::typed::{CallInfo, Callee, Definition};
use source::{Diagnostic, Span};

impl<'a> Checker<'a> {
    pub(super) fn check_action(
        &mut self,
        declaration: &'a Declaration,
        parameters: &'a [Parameter],
        body: &'a Block,
    ) {
        self.open_declarations.push(declaration);
        self.in_scope(|checker| {
            checker.declare_parameters(parameters, ParameterOwner::Action);
            let void = checker.known.void.clone();
            let outer_result = checker.result.replace(void);
            checker.in_context(SyntacticContext::Action, |checker| checker.check_block(body));
            checker.result = outer_result;
        });
        self.open_declarations.pop();
        self.declare(declaration.id, Node::Declaration(declaration));
    }

    /// The action that a path names, with its parameters.
    pub(super) fn find_action(&mut self, path: &'a Path) -> Option<(NodeId, &'a [Parameter])> {
        let Some(node) = self.lookup(path).and_then(|nodes| nodes.first().copied()) else {
            self.report_not_found(path, "action");
            return None;
        };
        self.used.insert(node);
        match self.node(node) {
            Node::Declaration(declaration) => match &declaration.kind {
                DeclarationKind::Action { parameters, .. } => Some((node, parameters)),
                _ => {
                    self.report_not_an_action(path, node);
                    None
                }
            },
            _ => {
                self.report_not_an_action(path, node);
                None
            }
        }
    }

    fn report_not_an_action(&mut self, path: &'a Path, node: NodeId) {
        let declared = self.span_of(node);
        self.report(
            Diagnostic::error(
                codes::NOT_CALLABLE,
                path.name.span,
                format!("`{}` is not an action", path.name.text),
            )
            .label(declared, "it is declared here"),
        );
    }

    /// An action in a table's `actions`: parameters with direction are bound here, the others are set
    /// by the control plane.
    pub(super) fn check_listed_action(
        &mut self,
        listed: &'a ActionRef,
    ) -> Option<ListedAction<'a>> {
        self.check_annotations(&listed.annotations);
        let Some((node, parameters)) = self.find_action(&listed.path) else {
            if let Some(arguments) = &listed.arguments {
                self.synthesize_arguments(arguments);
            }
            return None;
        };
        self.typed.definitions.insert(listed.id, Definition::Node(node));
        let arguments: &'a [Argument] = listed.arguments.as_deref().unwrap_or(&[]);
        let bound = self.bind_action(listed.span, node, parameters, arguments, false);
        if let Some(bound) = bound {
            self.record_action(listed.id, node, bound);
        }
        Some(ListedAction { node, arguments, reference: listed })
    }

    fn record_action(&mut self, id: NodeId, node: NodeId, arguments: Vec<Option<usize>>) {
        let result = self.known.void.clone();
        self.typed.calls.insert(
            id,
            CallInfo {
                callee: Callee::Action(node),
                type_arguments: Vec::new(),
                arguments,
                result,
            },
        );
    }

    /// Binds arguments of an action in a table. With `complete`, parameters from the control plane
    /// have to be given as well, as constants.
    fn bind_action(
        &mut self,
        span: Span,
        node: NodeId,
        parameters: &'a [Parameter],
        arguments: &'a [Argument],
        complete: bool,
    ) -> Option<Vec<Option<usize>>> {
        let name = self.name_of(node).to_string();
        let declared = self.span_of(node);
        let mut bound: Vec<Option<usize>> = vec![None; parameters.len()];
        for (index, argument) in arguments.iter().enumerate() {
            let position = match &argument.name {
                Some(given) => {
                    match parameters.iter().position(|one| one.name.text == given.text) {
                        Some(position) => position,
                        None => {
                            self.synthesize_arguments(arguments);
                            self.report(
                                Diagnostic::error(
                                    codes::ARGUMENT_NAMES,
                                    given.span,
                                    format!("`{name}` has no parameter `{}`", given.text),
                                )
                                .label(declared, "declared here"),
                            );
                            return None;
                        }
                    }
                }
                None => index,
            };
            if position >= parameters.len() || bound[position].is_some() {
                self.synthesize_arguments(arguments);
                self.report(
                    Diagnostic::error(
                        codes::INVALID_ACTION_ARGUMENTS,
                        argument.value.span,
                        format!("`{name}` takes {}", count(parameters.len(), "argument")),
                    )
                    .label(declared, "declared here"),
                );
                return None;
            }
            bound[position] = Some(index);
        }
        let callable = Callable {
            callee: Callee::Action(node),
            name: name.as_str().into(),
            declared,
            type_parameters: &[],
            parameters,
            role: ParameterRole::Action,
            result: self.known.void.clone(),
            object: Substitution::default(),
        };
        let mut fits = true;
        for (parameter, argument) in parameters.iter().zip(&bound) {
            let from_control_plane = parameter.direction == Direction::None;
            match argument {
                None if from_control_plane && !complete => {}
                None if from_control_plane && parameter.default.is_some() => {}
                None => {
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_ACTION_ARGUMENTS,
                            span,
                            format!(
                                "parameter `{}` of `{name}` needs an argument here",
                                parameter.name.text
                            ),
                        )
                        .label(parameter.span, "the parameter"),
                    );
                    fits = false;
                }
                Some(argument) if from_control_plane && !complete => {
                    let value = &arguments[*argument].value;
                    self.synthesize(value);
                    self.report(
                        Diagnostic::error(
                            codes::INVALID_ACTION_ARGUMENTS,
                            value.span,
                            format!(
                                "parameter `{}` of `{name}` cannot be bound here",
                                parameter.name.text
                            ),
                        )
                        .note("it has no direction, so the control plane sets it")
                        .label(parameter.span, "the parameter"),
                    );
                    fits = false;
                }
                Some(argument) => {
                    let value = &arguments[*argument].value;
                    let wanted = self.declared_type(parameter.id);
                    self.synthesize(value);
                    self.check_bound_argument(&callable, parameter, value, &wanted);
                    if complete && from_control_plane {
                        self.require_compile_time(
                            value,
                            &format!("argument `{}` of an action in a table", parameter.name.text),
                        );
                    }
                }
            }
        }
        fits.then_some(bound)
    }

    /// An action with all arguments, as `default_action` or in an entry. It has to be in the list, with
    /// the same arguments for parameters that have a direction.
    pub(super) fn check_complete_action(
        &mut self,
        id: NodeId,
        span: Span,
        path: &'a Path,
        arguments: &'a [Argument],
        listed: &[ListedAction<'a>],
    ) -> Option<NodeId> {
        let Some((node, parameters)) = self.find_action(path) else {
            self.synthesize_arguments(arguments);
            return None;
        };
        self.typed.definitions.insert(id, Definition::Node(node));
        let Some(entry) = listed.iter().find(|action| action.node == node).copied() else {
            self.synthesize_arguments(arguments);
            let mut diagnostic = Diagnostic::error(
                codes::ACTION_NOT_IN_TABLE,
                path.name.span,
                format!("action `{}` is not in the table's `actions`", path.name.text),
            );
            if let Some(other) =
                listed.iter().find(|action| action.reference.path.name.text == path.name.text)
            {
                diagnostic = diagnostic
                    .label(other.reference.span, "this is another action of the same name");
            } else {
                diagnostic = diagnostic.help(format!("add `{};` to `actions`", path.name.text));
            }
            self.report(diagnostic);
            return None;
        };
        let bound = self.bind_action(span, node, parameters, arguments, true)?;
        for (index, parameter) in parameters.iter().enumerate() {
            if parameter.direction == Direction::None {
                continue;
            }
            let here = bound[index].map(|argument| &arguments[argument].value);
            let there = self
                .typed
                .calls
                .get(&entry.reference.id)
                .and_then(|call| call.arguments.get(index).copied().flatten())
                .map(|argument| &entry.arguments[argument].value);
            if let (Some(here), Some(there)) = (here, there)
                && !self.same_expression(here, there)
            {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_ACTION_ARGUMENTS,
                        here.span,
                        format!(
                            "the argument for `{}` differs from that in `actions`",
                            parameter.name.text
                        ),
                    )
                    .label(there.span, "bound here"),
                );
                return None;
            }
        }
        self.record_action(id, node, bound);
        Some(node)
    }

    /// Whether two typed expressions are spelled alike and refer to the same declarations.
    fn same_expression(&self, left: &Expression, right: &Expression) -> bool {
        use crate::ast::ExpressionKind as Kind;
        if let (Some(left), Some(right)) = (self.constant(left), self.constant(right)) {
            return left == right;
        }
        match (&left.kind, &right.kind) {
            (Kind::Path(_), Kind::Path(_)) => {
                self.typed.definitions.get(&left.id) == self.typed.definitions.get(&right.id)
            }
            (Kind::Member(a, left), Kind::Member(b, right)) => {
                left.text == right.text && self.same_expression(a, b)
            }
            (Kind::Index(a, left), Kind::Index(b, right)) => {
                self.same_expression(a, b) && self.same_expression(left, right)
            }
            (
                Kind::Slice { base: a, high: left_high, low: left_low },
                Kind::Slice { base: b, high: right_high, low: right_low },
            ) => {
                self.same_expression(a, b)
                    && self.same_expression(left_high, right_high)
                    && self.same_expression(left_low, right_low)
            }
            (Kind::Unary(a, left), Kind::Unary(b, right)) => {
                a == b && self.same_expression(left, right)
            }
            (Kind::Binary(a, l1, r1), Kind::Binary(b, l2, r2)) => {
                a == b && self.same_expression(l1, l2) && self.same_expression(r1, r2)
            }
            (Kind::Cast(_, a), Kind::Cast(_, b)) => {
                self.expression_type(left) == self.expression_type(right)
                    && self.same_expression(a, b)
            }
            (Kind::Call(a), Kind::Call(b)) => {
                a.arguments.len() == b.arguments.len()
                    && self.typed.calls.get(&left.id).map(|call| call.callee)
                        == self.typed.calls.get(&right.id).map(|call| call.callee)
                    && match (&a.callee.kind, &b.callee.kind) {
                        (Kind::Member(a, _), Kind::Member(b, _)) => self.same_expression(a, b),
                        _ => true,
                    }
                    && a.arguments
                        .iter()
                        .zip(&b.arguments)
                        .all(|(a, b)| self.same_expression(&a.value, &b.value))
            }
            (Kind::Struct { fields: a, .. }, Kind::Struct { fields: b, .. }) => {
                a.len() == b.len()
                    && a.iter().all(|(name, left)| {
                        b.iter().any(|(other, right)| {
                            name.text == other.text && self.same_expression(left, right)
                        })
                    })
            }
            (Kind::List(a), Kind::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same_expression(a, b))
            }
            _ => false,
        }
    }
}
