// SPDX-License-Identifier: Apache-2.0
//! The instance of a parser or control that a call applies: where it is declared, what its constructor
//! got, what the control plane calls it, and how often it is applied.

use super::arguments::{CallContext, constant_stand, declared_type};
use super::node_builder::{NodeBuilder, given_name};
use super::obstacle::Obstacle;
use super::sites::Calls;
use super::substitute::Replacement;
use crate::ast::{Argument, Call, Declaration, DeclarationKind, ExpressionKind, NodeId, Parameter};
use crate::typed::{CallInfo, Callee, Definition};
use crate::visit::{Visit, walk_expression};
use std::sync::Arc;

/// The instance that a call applies.
pub(super) struct Applied {
    /// Its declaration; `None` where a type is applied directly (P4_16 v1.2.5 §15.1).
    pub(super) instance: Option<NodeId>,
    /// The prefix of new names.
    pub(super) label: Arc<str>,
    /// Its control-plane name, relative to the block around it.
    pub(super) prefix: String,
    constructor: Option<(Vec<Argument>, CallInfo)>,
    /// How many expressions refer to it.
    pub(super) uses: usize,
}

impl Applied {
    /// Returns the instance that a call in `home` applies.
    pub(super) fn of(
        builder: &NodeBuilder<'_>,
        home: &Declaration,
        call: &Call,
        info: &CallInfo,
    ) -> Result<Applied, Obstacle> {
        let rewriter = &*builder.rewriter;
        let typed = rewriter.original();
        if let Callee::DirectApply(callee) = info.callee {
            let named = typed.program.declarations.iter().find(|each| each.id == callee);
            let label = named.ok_or(Obstacle::NoBody)?.name.text.clone();
            let mut calls = Calls::default();
            calls.declaration(home);
            let is_same = |call: &&NodeId| {
                let info = typed.calls.get(&rewriter.model_of(**call));
                info.is_some_and(|info| info.callee == Callee::DirectApply(callee))
            };
            let uses = calls.0.iter().filter(is_same).count();
            let prefix = label.to_string();
            return Ok(Applied { instance: None, label, prefix, constructor: None, uses });
        }
        let ExpressionKind::Member(base, _) = &call.callee.kind else {
            return Err(Obstacle::DeclaredElsewhere);
        };
        let instance = match rewriter.definition(base.id) {
            Some(Definition::Node(node)) => node,
            _ => return Err(Obstacle::DeclaredElsewhere),
        };
        let locals = match &home.kind {
            DeclarationKind::Control(control) => &control.locals,
            DeclarationKind::Parser(parser) => &parser.locals,
            _ => return Err(Obstacle::DeclaredElsewhere),
        };
        let local = locals.iter().find(|local| local.id == instance);
        let local = local.ok_or(Obstacle::DeclaredElsewhere)?;
        let DeclarationKind::Instance { arguments, body: None, .. } = &local.kind else {
            return Err(Obstacle::DeclaredElsewhere);
        };
        let constructed = typed.calls.get(&rewriter.model_of(instance));
        let constructed = constructed.ok_or(Obstacle::DeclaredElsewhere)?.clone();
        let name = local.name.text.clone();
        let prefix =
            given_name(&local.annotations).map_or(name.to_string(), |given| given.to_string());
        let uses = uses_of(builder, home, instance);
        let constructor = Some((arguments.clone(), constructed));
        Ok(Applied { instance: Some(instance), label: name, prefix, constructor, uses })
    }

    /// Returns the replacements of the constructor's parameters.
    pub(super) fn constructor_replacements(
        &self,
        builder: &mut NodeBuilder<'_>,
        parameters: &[Parameter],
        context: &CallContext<'_>,
    ) -> Result<Vec<(NodeId, Replacement)>, Obstacle> {
        let mut replacements = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let (arguments, info) = self.constructor.as_ref().ok_or(Obstacle::DeclaredElsewhere)?;
            let given = info.arguments.get(index).copied().flatten();
            let value = given.and_then(|at| arguments.get(at)).map(|argument| &argument.value);
            let value = value.or(parameter.default.as_ref()).ok_or(Obstacle::Argument)?.clone();
            let ty = declared_type(builder, parameter)?;
            replacements
                .push((parameter.id, constant_stand(builder, value, parameter, &ty, context)?));
        }
        Ok(replacements)
    }
}

/// Returns how many expressions of a declaration refer to a node.
fn uses_of(builder: &NodeBuilder<'_>, home: &Declaration, node: NodeId) -> usize {
    struct Count<'m, 'r> {
        builder: &'m NodeBuilder<'r>,
        node: NodeId,
        count: usize,
    }
    impl<'a> Visit<'a> for Count<'_, '_> {
        fn expression(&mut self, expression: &'a crate::ast::Expression) {
            if matches!(expression.kind, ExpressionKind::Path(_))
                && self.builder.rewriter.definition(expression.id)
                    == Some(Definition::Node(self.node))
            {
                self.count += 1;
            }
            walk_expression(self, expression);
        }
    }
    let mut count = Count { builder, node, count: 0 };
    count.declaration(home);
    count.count
}
