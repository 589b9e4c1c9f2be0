// SPDX-License-Identifier: Apache-2.0
//! Tables and actions in the flow analysis. An application of a table is a branch over its actions; their bodies
//! are followed where they run, and judged once, with what is known on all paths to them.

use super::facts::{Decision, FlowFacts, join};
use super::{Body, Flow};
use crate::ast::{
    Argument, Expression, ExpressionKind, NodeId, TableDeclaration, TablePropertyKind,
};
use crate::typed::Callee;
use source::Span;

/// A possible outcome of an application of a table.
pub(super) struct Outcome {
    /// The action; `None` when none of the program's runs.
    pub(super) action: Option<NodeId>,
    pub(super) on_hit: bool,
    pub(super) on_miss: bool,
    pub(super) facts: Option<FlowFacts>,
    pub(super) decision: Decision,
}

/// Joins what is known after these outcomes.
pub(super) fn all_of(outcomes: &[Outcome], wanted: impl Fn(&Outcome) -> bool) -> Option<FlowFacts> {
    let outcomes = outcomes.iter().filter(|outcome| wanted(outcome));
    join(outcomes.map(|outcome| (outcome.facts.clone(), Some(outcome.decision.clone()))))
}

impl<'a> Flow<'a> {
    /// The application of a table that an expression is: `t.apply()`, with the member that is asked for.
    pub(super) fn application(
        &self,
        expression: &'a Expression,
    ) -> Option<(NodeId, Span, Option<&'a str>)> {
        match &expression.kind {
            ExpressionKind::Member(base, name) => {
                let (table, span, _) = self.application(base)?;
                Some((table, span, Some(&*name.text)))
            }
            ExpressionKind::Call(_) => match self.program.calls.get(&expression.id)?.callee {
                Callee::TableApply(table) => Some((table, expression.span, None)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Follows the application of a table.
    pub(super) fn apply(
        &mut self,
        table: NodeId,
        site: Span,
        state: &Option<FlowFacts>,
    ) -> Vec<Outcome> {
        let Some((name, declaration)) = self.tables.get(&table).copied() else { return Vec::new() };
        self.arrive(table, site, state);
        let possible = PossibleOutcomes::of(self, declaration);
        let mut outcomes = Vec::new();
        for property in &declaration.properties {
            let TablePropertyKind::Actions(actions) = &property.kind else { continue };
            for action in actions {
                let node = self.action_of(action.id);
                let is_marked = |mark: &str| {
                    action.annotations.iter().any(|annotation| &*annotation.name.text == mark)
                };
                let is_listed = possible.entries.as_ref().is_none_or(|used| used.contains(&node));
                let on_hit = possible.has_keys && is_listed && !is_marked("defaultonly");
                let on_miss = match possible.has_keys || possible.is_default_fixed {
                    true => possible.default.is_some_and(|default| default == node),
                    // The control plane chooses.
                    false => !is_marked("tableonly"),
                };
                if !on_hit && !on_miss {
                    continue;
                }
                let mut facts = state.clone();
                let arguments: &'a [Argument] = action.arguments.as_deref().unwrap_or(&[]);
                self.call_action(action.id, node, arguments, site, &mut facts);
                let decision =
                    Decision { span: action.span, text: "this action runs".into(), test: None };
                outcomes.push(Outcome { action: node, on_hit, on_miss, facts, decision });
            }
        }
        if possible.default.is_none() {
            let text =
                if possible.has_keys { "the table misses" } else { "its default action runs" };
            let decision = Decision { span: name, text: text.into(), test: None };
            outcomes.push(Outcome {
                action: None,
                on_hit: false,
                on_miss: true,
                facts: state.clone(),
                decision,
            });
        }
        outcomes
    }

    /// The action that a reference or call names.
    fn action_of(&self, id: NodeId) -> Option<NodeId> {
        match self.program.calls.get(&id)?.callee {
            Callee::Action(node) => Some(node),
            _ => None,
        }
    }

    /// Follows an action from its arguments to its end.
    pub(super) fn call_action(
        &mut self,
        call: NodeId,
        action: Option<NodeId>,
        arguments: &'a [Argument],
        site: Span,
        state: &mut Option<FlowFacts>,
    ) {
        let directions = self.read_arguments(call, arguments, state);
        if let Some(id) = action
            && let Some(body) = self.actions.get(&id).copied()
        {
            self.arrive(id, site, state);
            let quiet = std::mem::replace(&mut self.quiet, true);
            self.run(body, state);
            self.quiet = quiet;
        }
        self.write_arguments(&directions, arguments, state);
    }

    /// Runs a body up to its end, `return` included.
    pub(super) fn run(&mut self, body: Body<'a>, state: &mut Option<FlowFacts>) {
        self.track_parameters(body.parameters, state);
        self.returns.push(Vec::new());
        self.block(body.block, state);
        let returned = self.returns.pop().unwrap_or_default();
        let returns = returned.into_iter().map(|(facts, span)| {
            let decision = Decision { span, text: "this `return` is reached".into(), test: None };
            (Some(facts), Some(decision))
        });
        *state = join(returns.chain([(state.take(), None)]));
    }

    /// Remembers what is known where an action or a table's keys are reached.
    fn arrive(&mut self, node: NodeId, site: Span, state: &Option<FlowFacts>) {
        if self.is_trial || state.is_none() || !self.local.contains(&node) {
            return;
        }
        let decision = Decision { span: site, text: "it runs from here".into(), test: None };
        self.arrivals.entry(node).or_default().push((state.clone(), Some(decision)));
    }
}

/// Which actions of a table can run.
struct PossibleOutcomes {
    has_keys: bool,
    /// The default action: `Some(None)` is one that cannot be followed.
    default: Option<Option<NodeId>>,
    is_default_fixed: bool,
    /// The actions of entries that the control plane cannot change.
    entries: Option<Vec<Option<NodeId>>>,
}

impl PossibleOutcomes {
    fn of(flow: &Flow<'_>, table: &TableDeclaration) -> PossibleOutcomes {
        let mut possible = PossibleOutcomes {
            has_keys: false,
            default: None,
            is_default_fixed: false,
            entries: None,
        };
        for property in &table.properties {
            match &property.kind {
                TablePropertyKind::Key(keys) => possible.has_keys = !keys.is_empty(),
                TablePropertyKind::Entries(entries) if property.is_const => {
                    let actions = entries.iter().map(|entry| flow.action_of(entry.action.id));
                    possible.entries = Some(actions.collect());
                }
                TablePropertyKind::Custom { name, value } if &*name.text == "default_action" => {
                    possible.default = Some(flow.action_of(value.id));
                    possible.is_default_fixed = property.is_const;
                }
                _ => {}
            }
        }
        possible
    }
}
