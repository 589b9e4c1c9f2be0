// SPDX-License-Identifier: Apache-2.0
//! Parsers (P4_16 v1.2.5 §13.3 to §13.6, §13.10): states become basic blocks, transitions become
//! terminators. Keysets are in `keysets`, the methods of `packet_in` in `packets`.

use super::{Lowered, Lowering, Value};
use crate::{Bits, BlockId, Operand, Terminator};
use p4::ast::{
    Expression, ExpressionKind, NodeId, ParserDeclaration, SelectCase, State, StateRef, Transition,
};
use p4::typed::Definition;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The parser whose states are being lowered.
pub(super) struct StateMachine {
    accept: BlockId,
    blocks: HashMap<NodeId, BlockId>,
    waiting: Vec<NodeId>,
}

impl<'a> Lowering<'a> {
    /// The states of a parser, from the current block on; `accept` goes to a given block.
    pub(super) fn parser_body(
        &mut self,
        parser: &'a ParserDeclaration,
        accept: BlockId,
    ) -> Lowered<()> {
        for local in &parser.locals {
            self.local_declaration(local)?;
        }
        let machine = StateMachine { accept, blocks: HashMap::new(), waiting: Vec::new() };
        let outer = self.machine.replace(machine);
        let repeating = self.repeating;
        let outcome = self.reachable_states(parser, repeating);
        self.repeating = repeating;
        self.machine = outer;
        outcome
    }

    fn reachable_states(&mut self, parser: &'a ParserDeclaration, repeating: bool) -> Lowered<()> {
        let states: HashMap<NodeId, &'a State> =
            parser.states.iter().map(|state| (state.id, state)).collect();
        let Some(start) = parser.states.iter().find(|state| &*state.name.text == "start") else {
            return Err(self.missing_fact("a start state"));
        };
        let cyclic = self.states_in_cycles(parser);
        let first = self.state_block(start);
        self.terminate(Terminator::Goto(first));
        let mut outcome = Ok(());
        while let Some(id) = self.machine.as_mut().and_then(|machine| machine.waiting.pop()) {
            let Some(state) = states.get(&id) else { continue };
            self.check_growth()?;
            let block = self.state_block(state);
            self.start_block(block);
            self.repeating = repeating || cyclic.contains(&id);
            if let Err(reported) = self.atomically(&state.annotations, |this| this.state(state)) {
                outcome = Err(reported);
                if self.exhausted {
                    break;
                }
            }
        }
        outcome
    }

    fn state_block(&mut self, state: &State) -> BlockId {
        if let Some(block) = self.machine.as_ref().and_then(|machine| machine.blocks.get(&state.id))
        {
            return *block;
        }
        let name: Arc<str> = match self.nesting() {
            0 => state.name.text.clone(),
            _ => format!("{}.{}", self.prefix(), state.name.text).into(),
        };
        let block = self.new_block(&name);
        if let Some(machine) = &mut self.machine {
            machine.blocks.insert(state.id, block);
            machine.waiting.push(state.id);
        }
        block
    }

    fn states_in_cycles(&self, parser: &ParserDeclaration) -> HashSet<NodeId> {
        let mut edges: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for state in &parser.states {
            let references: Vec<&StateRef> = match &state.transition {
                Some(Transition::Direct(target)) => vec![target],
                Some(Transition::Select { cases, .. }) => {
                    cases.iter().map(|case| &case.target).collect()
                }
                None => Vec::new(),
            };
            let targets = references
                .into_iter()
                .filter_map(|target| match self.typed.definitions.get(&target.id) {
                    Some(Definition::Node(id)) => Some(*id),
                    _ => None,
                })
                .collect();
            edges.insert(state.id, targets);
        }
        let reaches_itself = |start: &NodeId| {
            let mut seen = HashSet::new();
            let mut work: Vec<NodeId> = edges.get(start).cloned().unwrap_or_default();
            while let Some(at) = work.pop() {
                if at == *start {
                    return true;
                }
                if seen.insert(at) {
                    work.extend(edges.get(&at).into_iter().flatten());
                }
            }
            false
        };
        edges.keys().filter(|id| reaches_itself(id)).copied().collect()
    }

    fn state(&mut self, state: &'a State) -> Lowered<()> {
        self.at(state.id, state.span);
        self.statements(&state.statements)?;
        match &state.transition {
            None => self.terminate(Terminator::Reject(super::number(16, 0))),
            Some(Transition::Direct(target)) => {
                self.at(target.id, target.name.span);
                let target = self.transition_target(target)?;
                self.terminate(Terminator::Goto(target));
            }
            Some(Transition::Select { id, span, subjects, cases }) => {
                self.at(*id, *span);
                self.select_transition(subjects, cases)?;
            }
        }
        Ok(())
    }

    /// The block of a state's name. For `reject` it is a new block that rejects.
    fn transition_target(&mut self, target: &StateRef) -> Lowered<BlockId> {
        match self.typed.definitions.get(&target.id) {
            Some(Definition::Accept) => match &self.machine {
                Some(machine) => Ok(machine.accept),
                None => Err(self.missing_fact("the parser of a state")),
            },
            Some(Definition::Reject) => Ok(self.rejecting_block("NoError")),
            Some(Definition::Node(id)) => match self.nodes.get(*id) {
                Some(super::nodes::Node::State(state)) => Ok(self.state_block(state)),
                _ => Err(self.missing_fact("a state")),
            },
            None => Err(self.missing_fact("what a state's name refers to")),
        }
    }

    /// A new block that rejects with an error.
    fn rejecting_block(&mut self, error: &str) -> BlockId {
        let here = self.current_block();
        let block = self.new_block("");
        self.start_block(block);
        let error = self.error_operand(error);
        self.terminate(Terminator::Reject(error));
        self.start_block(here);
        block
    }

    /// `select` (§13.6): the first case that matches; none rejects with `NoMatch`.
    fn select_transition(
        &mut self,
        subjects: &'a [Expression],
        cases: &'a [SelectCase],
    ) -> Lowered<()> {
        let mut values = Vec::with_capacity(subjects.len());
        for subject in subjects {
            values.push(self.evaluate(subject)?);
        }
        let subject = match values.len() {
            1 => values.remove(0),
            _ => Value::Struct(
                values
                    .into_iter()
                    .enumerate()
                    .map(|(index, value)| (Arc::from(index.to_string()), value))
                    .collect(),
            ),
        };
        if let Value::Scalar(operand) = &subject
            && let Some(terminator) = self.exact_cases(operand, cases)?
        {
            self.terminate(terminator);
            return Ok(());
        }
        for case in cases {
            let matches = self.keyset_matches(&subject, &case.keyset)?;
            let target = self.transition_target(&case.target)?;
            if self.known_true(&matches) {
                self.terminate(Terminator::Goto(target));
                return Ok(());
            }
            let otherwise = self.new_block("");
            let branch = Terminator::Branch { condition: matches, then: target, otherwise };
            self.terminate(branch);
            self.start_block(otherwise);
        }
        let error = self.error_operand("NoMatch");
        self.terminate(Terminator::Reject(error));
        Ok(())
    }

    /// One switch, when all keysets are constants of the subject or fit anything.
    fn exact_cases(
        &mut self,
        subject: &Operand,
        cases: &'a [SelectCase],
    ) -> Lowered<Option<Terminator>> {
        let width = match self.operand_type(subject) {
            crate::ValueType::Bits(width) => width,
            crate::ValueType::Varbit(_) => return Ok(None),
        };
        let mut targets: Vec<(Bits, BlockId)> = Vec::with_capacity(cases.len());
        let mut constants = Vec::with_capacity(cases.len());
        for case in cases {
            if matches!(
                case.keyset.kind,
                ExpressionKind::Default | ExpressionKind::DontCare | ExpressionKind::Dots
            ) {
                constants.push(None);
                break;
            }
            if !self.typed.constants.contains_key(&case.keyset.id)
                || matches!(case.keyset.kind, ExpressionKind::Mask(..) | ExpressionKind::Range(..))
            {
                return Ok(None);
            }
            let bits = match self.evaluate(&case.keyset)? {
                Value::Scalar(Operand::Constant(bits)) if bits.width_bits() == width => bits,
                Value::Integer(value) => Bits::from_bigint(width, &value),
                _ => return Ok(None),
            };
            constants.push(Some(bits));
        }
        let mut default = None;
        for (case, constant) in cases.iter().zip(constants) {
            let target = self.transition_target(&case.target)?;
            match constant {
                Some(bits) if targets.iter().all(|(known, _)| *known != bits) => {
                    targets.push((bits, target));
                }
                Some(_) => {}
                None => default = Some(target),
            }
        }
        let default = match default {
            Some(default) => default,
            None => self.rejecting_block("NoMatch"),
        };
        if targets.is_empty() {
            return Ok(Some(Terminator::Goto(default)));
        }
        Ok(Some(Terminator::Switch { value: subject.clone(), cases: targets, default }))
    }
}
