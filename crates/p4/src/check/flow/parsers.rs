// SPDX-License-Identifier: Apache-2.0
//! Parsers in the flow analysis: states are followed until their facts settle, then once more to report.

use super::Flow;
use super::facts::{Decision, FlowFacts, join};
use crate::ast::{DeclarationKind, Name, ParserDeclaration, State, Transition};
use rustc_hash::FxHashMap;
use source::Span;

impl<'a> Flow<'a> {
    pub(super) fn parser(&mut self, parser: &'a ParserDeclaration) {
        let mut start = Some(FlowFacts::default());
        self.track_parameters(&parser.signature.parameters, &mut start);
        for local in &parser.locals {
            if let DeclarationKind::Variable { initializer, .. } = &local.kind {
                self.variable(local, initializer.as_ref(), &mut start);
            }
        }
        let by_name: FxHashMap<&str, usize> = parser
            .states
            .iter()
            .enumerate()
            .map(|(index, state)| (&*state.name.text, index))
            .collect();
        let Some(first) = by_name.get("start").copied() else { return };
        let order = states_in_order(parser, &by_name, first);
        let mut predecessors: Vec<Vec<(usize, Span)>> = vec![Vec::new(); parser.states.len()];
        for &from in &order {
            for target in targets(&parser.states[from].transition) {
                if let Some(to) = by_name.get(&*target.text) {
                    predecessors[*to].push((from, target.span));
                }
            }
        }
        let mut ends: Vec<Option<FlowFacts>> = vec![None; parser.states.len()];
        let arrivals = |index: usize, ends: &[Option<FlowFacts>]| {
            let begin = (index == first).then(|| (start.clone(), None));
            let before = predecessors[index].iter().map(|(from, span)| {
                let text = "the parser comes from here".into();
                (ends[*from].clone(), Some(Decision { span: *span, text, test: None }))
            });
            join(begin.into_iter().chain(before))
        };
        self.quiet = true;
        self.is_trial = true;
        // Each round but the last takes a variable's value or a header's validity away somewhere.
        let mut rounds = 0..4 * parser.states.len() + 4;
        let is_settled = rounds.any(|_| {
            let mut has_changed = false;
            for &index in &order {
                let mut state = arrivals(index, &ends);
                self.parser_state(&parser.states[index], &mut state);
                has_changed |= match (&ends[index], &state) {
                    (Some(before), Some(after)) => !before.is_like(after),
                    (None, None) => false,
                    _ => true,
                };
                ends[index] = state;
            }
            !has_changed
        });
        self.quiet = false;
        self.is_trial = false;
        if !is_settled {
            return;
        }
        let mut accepted = Vec::new();
        for &index in &order {
            let mut state = arrivals(index, &ends);
            self.parser_state(&parser.states[index], &mut state);
            for target in targets(&parser.states[index].transition) {
                if &*target.text == "accept" {
                    let text = "the parser ends here".into();
                    let decision = Decision { span: target.span, text, test: None };
                    accepted.push((state.clone(), Some(decision)));
                }
            }
        }
        self.warn_not_written(&parser.signature.parameters, &join(accepted));
    }

    fn parser_state(&mut self, state: &'a State, known: &mut Option<FlowFacts>) {
        self.statements(&state.statements, known);
        if let Some(Transition::Select { subjects, .. }) = &state.transition {
            for subject in subjects {
                self.read(subject, known);
            }
        }
    }
}

/// The states that `start` reaches, each behind one that leads to it.
fn states_in_order(
    parser: &ParserDeclaration,
    by_name: &FxHashMap<&str, usize>,
    first: usize,
) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; parser.states.len()];
    // A state with its targets that are still to be visited.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let next_of = |index: usize| -> Vec<usize> {
        let names = targets(&parser.states[index].transition);
        names.into_iter().filter_map(|name| by_name.get(&*name.text).copied()).collect()
    };
    seen[first] = true;
    open.push((first, next_of(first)));
    while let Some((index, rest)) = open.last_mut() {
        match rest.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                open.push((next, next_of(next)));
            }
            Some(_) => {}
            None => {
                order.push(*index);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

fn targets(transition: &Option<Transition>) -> Vec<&Name> {
    match transition {
        None => Vec::new(),
        Some(Transition::Direct(target)) => vec![&target.name],
        Some(Transition::Select { cases, .. }) => {
            cases.iter().map(|case| &case.target.name).collect()
        }
    }
}
