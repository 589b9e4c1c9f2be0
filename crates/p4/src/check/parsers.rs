// SPDX-License-Identifier: Apache-2.0
//! Parser states and transitions (P4_16 v1.2.5 §13.3 to §13.6). Which states can be reached is in
//! `parser_graph`.

use super::{Checker, Node, SyntacticContext};
use crate::ast::{
    Declaration, Expression, ParserDeclaration, Path, SelectCase, State, StateRef, Transition,
};
use crate::codes::typing as codes;
use crate::typed::{Definition, Type, TypeKind};
use source::Diagnostic;
use std::sync::Arc;

/// The noun for the keyset of a case in messages.
pub(super) const SELECT_CASE: &str = "a case of this `select`";

impl<'a> Checker<'a> {
    pub(super) fn check_states(
        &mut self,
        declaration: &'a Declaration,
        parser: &'a ParserDeclaration,
    ) {
        for state in &parser.states {
            self.check_annotations(&state.annotations);
            if matches!(&*state.name.text, "accept" | "reject") {
                self.error(
                    codes::RESERVED_STATE,
                    state.name.span,
                    format!("state `{}` is built in and cannot be declared", state.name.text),
                );
                continue;
            }
            self.declare(state.id, Node::State(state));
        }
        if !parser.states.iter().any(|state| &*state.name.text == "start") {
            let mut diagnostic = Diagnostic::error(
                codes::NO_START_STATE,
                declaration.name.span,
                format!("parser `{}` has no `start` state", declaration.name.text),
            )
            .help("parsing begins in the state called `start`");
            let similar = parser
                .states
                .iter()
                .find(|state| source::nearest(&state.name.text, ["start"]).is_some());
            if let Some(state) = similar {
                diagnostic = diagnostic.label(state.name.span, "perhaps this one");
            }
            self.report(diagnostic);
        }
        for state in &parser.states {
            self.check_state(state);
        }
        self.check_parser_graph(declaration, parser);
    }

    fn check_state(&mut self, state: &'a State) {
        self.in_context(SyntacticContext::ParserState, |checker| {
            checker.in_scope(|checker| {
                checker.check_statements(&state.statements);
                match &state.transition {
                    None => {}
                    Some(Transition::Direct(target)) => checker.check_target(target),
                    Some(Transition::Select { id, subjects, cases, .. }) => {
                        checker.check_select(*id, subjects, cases);
                    }
                }
            });
        });
    }

    fn check_target(&mut self, target: &'a StateRef) {
        let definition = match &*target.name.text {
            "accept" => Definition::Accept,
            "reject" => Definition::Reject,
            _ => {
                let path = Path { absolute: false, name: target.name.clone() };
                let state = self
                    .lookup_where(&path, |node| matches!(node, Node::State(_)))
                    .and_then(|nodes| nodes.first().copied());
                match state {
                    Some(node) => {
                        self.used.insert(node);
                        Definition::Node(node)
                    }
                    None => {
                        match self.lookup(&path).and_then(|nodes| nodes.first().copied()) {
                            Some(other) => {
                                let declared = self.span_of(other);
                                self.report(
                                    Diagnostic::error(
                                        codes::NOT_A_STATE,
                                        target.name.span,
                                        format!("`{}` is not a parser state", target.name.text),
                                    )
                                    .label(declared, "it is declared here"),
                                );
                            }
                            None => self.report_not_found(&path, super::scopes::PARSER_STATE),
                        }
                        return;
                    }
                }
            }
        };
        self.typed.definitions.insert(target.id, definition);
    }

    fn check_select(
        &mut self,
        id: crate::ast::NodeId,
        subjects: &'a [Expression],
        cases: &'a [SelectCase],
    ) {
        let types: Vec<Type> = subjects
            .iter()
            .map(|subject| {
                let ty = self.synthesize(subject);
                self.check_select_subject(subject, &ty)
            })
            .collect();
        let whole = Arc::new(TypeKind::Tuple(types.clone()));
        self.typed.expression_types.insert(id, whole);
        for case in cases {
            self.check_keyset(&case.keyset, &types, SELECT_CASE);
            self.check_target(&case.target);
        }
    }

    fn check_select_subject(&mut self, subject: &'a Expression, ty: &Type) -> Type {
        let allowed = match &**ty {
            TypeKind::Bit(_)
            | TypeKind::Int(_)
            | TypeKind::Integer
            | TypeKind::Bool
            | TypeKind::Enum(_)
            | TypeKind::SerializableEnum(_)
            | TypeKind::Error
            | TypeKind::Variable(_)
            | TypeKind::Unknown => true,
            TypeKind::NewType(_) => true,
            TypeKind::Tuple(elements) => elements.iter().all(|element| {
                matches!(
                    &*self.representation(element),
                    TypeKind::Bit(_)
                        | TypeKind::Int(_)
                        | TypeKind::Integer
                        | TypeKind::Bool
                        | TypeKind::Enum(_)
                        | TypeKind::SerializableEnum(_)
                        | TypeKind::Error
                        | TypeKind::Unknown
                )
            }),
            _ => false,
        };
        if allowed {
            return ty.clone();
        }
        let shown = self.show(ty);
        self.error(
            codes::INVALID_SELECT_SUBJECT,
            subject.span,
            format!("a value of type `{shown}` cannot be looked at in `select`"),
        );
        self.known.unknown.clone()
    }
}
