// SPDX-License-Identifier: Apache-2.0
//! The graph of a parser's states: states that are never reached, and parsers that never end (P4_16
//! v1.2.5 §13.4 to §13.6). Cases that are never taken are in `select_coverage`.

use super::Checker;
use crate::ast::{Declaration, ExpressionKind, ParserDeclaration, State, StateRef, Transition};
use crate::codes::typing as codes;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Diagnostic;

impl<'a> Checker<'a> {
    pub(super) fn check_parser_graph(
        &mut self,
        declaration: &'a Declaration,
        parser: &'a ParserDeclaration,
    ) {
        let states: FxHashMap<&str, &'a State> =
            parser.states.iter().map(|state| (&*state.name.text, state)).collect();
        let Some(start) = states.get("start") else {
            // Without `start` reachability is unknown, but the cases of each state can be checked.
            for state in &parser.states {
                self.warn_unreachable_cases_of(state);
            }
            return;
        };
        let mut without_transition: Vec<&'a State> = Vec::new();
        let mut reached: FxHashSet<&str> = FxHashSet::default();
        let mut waiting: Vec<&'a State> = vec![start];
        let (mut accepts, mut rejects) = (false, false);
        reached.insert("start");
        while let Some(state) = waiting.pop() {
            let mut follow = |target: &'a StateRef| match &*target.name.text {
                "accept" => accepts = true,
                "reject" => rejects = true,
                name => match states.get(name) {
                    Some(next) => {
                        if reached.insert(name) {
                            waiting.push(next);
                        }
                    }
                    // An unknown state is already reported; assume that it accepts.
                    None => accepts = true,
                },
            };
            match &state.transition {
                None => {
                    rejects = true;
                    without_transition.push(state);
                }
                Some(Transition::Direct(target)) => follow(target),
                Some(Transition::Select { cases, .. }) => {
                    let mut complete = false;
                    for case in cases {
                        follow(&case.target);
                        complete |= matches!(
                            case.keyset.kind,
                            ExpressionKind::Default | ExpressionKind::DontCare
                        );
                    }
                    rejects |= !complete;
                }
            }
            // `verify` and a packet that is too short reject as well, but no parser ends by them alone.
        }
        for state in &parser.states {
            if !reached.contains(&*state.name.text)
                && !matches!(&*state.name.text, "accept" | "reject")
            {
                self.report(Diagnostic::warning(
                    codes::UNREACHABLE_STATE,
                    state.name.span,
                    format!("state `{}` is never reached", state.name.text),
                ));
            }
            self.warn_unreachable_cases_of(state);
        }
        if !accepts && !rejects {
            self.report(
                Diagnostic::error(
                    codes::PARSER_NEVER_ENDS,
                    declaration.name.span,
                    format!("parser `{}` never ends", declaration.name.text),
                )
                .note("no path through its states reaches `accept` or `reject`"),
            );
        } else if let (false, Some(state)) = (accepts, without_transition.first()) {
            self.report(
                Diagnostic::warning(
                    codes::NEVER_ACCEPTS,
                    state.name.span,
                    format!(
                        "state `{}` has no `transition`, so it rejects every packet",
                        state.name.text
                    ),
                )
                .help("end it with `transition accept;`"),
            );
        } else if !accepts {
            self.report(
                Diagnostic::warning(
                    codes::NEVER_ACCEPTS,
                    declaration.name.span,
                    format!("parser `{}` rejects every packet", declaration.name.text),
                )
                .note("no path through its states reaches `accept`"),
            );
        }
    }

    fn warn_unreachable_cases_of(&mut self, state: &'a State) {
        if let Some(Transition::Select { id, cases, .. }) = &state.transition {
            self.warn_unreachable_cases(*id, cases);
        }
    }
}
