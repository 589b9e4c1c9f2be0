// SPDX-License-Identifier: Apache-2.0
//! A flow analysis that warns about reads of variables that nothing can have written and of fields
//! of headers that cannot be valid (P4_16 v1.2.5 §8.27). It warns only if that holds on
//! every path to the read.

mod reads;

use super::locations::{FlowFacts, location};
use crate::ast::{
    Block, ControlDeclaration, Declaration, DeclarationKind, Direction, Expression, ExpressionKind,
    NodeId, Parameter, ParserDeclaration, Statement, StatementKind, Transition,
};
use crate::codes::typing as codes;
use crate::typed::TypedProgram;
use crate::visit::{Visit, walk_statement};
use reads::is_scalar;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Diagnostics, Span};

/// Analyzes a program without errors.
pub(super) fn warn(program: &TypedProgram, diagnostics: &mut Diagnostics) {
    let mut flow = Flow {
        program,
        diagnostics,
        directions: FxHashMap::default(),
        tracked: FxHashMap::default(),
        reported: FxHashSet::default(),
        ever_written: FxHashSet::default(),
        quiet: false,
    };
    for declaration in &program.program.declarations {
        flow.index(declaration);
    }
    for declaration in &program.program.declarations {
        flow.declaration(declaration);
    }
}

struct Flow<'a> {
    program: &'a TypedProgram,
    diagnostics: &'a mut Diagnostics,
    /// Directions of the parameters of everything that can be called.
    directions: FxHashMap<NodeId, Vec<Direction>>,
    /// Variables without a first value and `out` parameters of the code under analysis.
    tracked: FxHashMap<NodeId, Tracked>,
    reported: FxHashSet<Span>,
    ever_written: FxHashSet<NodeId>,
    /// Reports nothing, while the analysis iterates to a fixed point.
    quiet: bool,
}

struct Tracked {
    name: std::sync::Arc<str>,
    span: Span,
}

fn directions(parameters: &[Parameter]) -> Vec<Direction> {
    parameters.iter().map(|parameter| parameter.direction).collect()
}

impl<'a> Flow<'a> {
    fn index(&mut self, declaration: &'a Declaration) {
        let id = declaration.id;
        match &declaration.kind {
            DeclarationKind::Action { parameters, .. } => {
                self.directions.insert(id, directions(parameters));
            }
            DeclarationKind::Function { signature, .. }
            | DeclarationKind::ExternFunction(signature) => {
                self.directions.insert(id, directions(&signature.parameters));
            }
            DeclarationKind::ExternObject { methods, .. } => {
                for method in methods {
                    self.directions.insert(method.id, directions(&method.signature.parameters));
                }
            }
            DeclarationKind::Parser(parser) => {
                self.directions.insert(id, directions(&parser.signature.parameters));
                parser.locals.iter().for_each(|local| self.index(local));
            }
            DeclarationKind::Control(control) => {
                self.directions.insert(id, directions(&control.signature.parameters));
                control.locals.iter().for_each(|local| self.index(local));
            }
            DeclarationKind::ParserType(block) | DeclarationKind::ControlType(block) => {
                self.directions.insert(id, directions(&block.parameters));
            }
            DeclarationKind::Instance { body: Some(body), .. } => {
                body.iter().for_each(|member| self.index(member));
            }
            _ => {}
        }
    }

    fn track_parameters(&mut self, parameters: &'a [Parameter]) {
        for parameter in parameters {
            if parameter.direction == Direction::Out {
                self.track(parameter.id, &parameter.name);
            }
        }
    }

    fn track(&mut self, id: NodeId, name: &crate::ast::Name) {
        self.tracked.insert(id, Tracked { name: name.text.clone(), span: name.span });
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        match &declaration.kind {
            DeclarationKind::Action { parameters, body } => self.action(parameters, body),
            DeclarationKind::Function { signature, body } => {
                self.action(&signature.parameters, body);
            }
            DeclarationKind::Control(control) => self.control(control),
            DeclarationKind::Parser(parser) => self.parser(parser),
            _ => {}
        }
    }

    /// An action or function by itself: what is outside of it counts as written.
    fn action(&mut self, parameters: &'a [Parameter], body: &'a Block) {
        let outer = std::mem::take(&mut self.tracked);
        self.track_parameters(parameters);
        let mut state = Some(FlowFacts::default());
        self.block(body, &mut state);
        self.warn_not_written(parameters);
        self.tracked = outer;
    }

    fn control(&mut self, control: &'a ControlDeclaration) {
        self.tracked.clear();
        let mut state = Some(FlowFacts::default());
        // Whatever an action writes may be written before any statement of `apply`.
        for local in &control.locals {
            if let DeclarationKind::Action { body, .. } = &local.kind {
                self.block_writes(body, &mut state);
            }
        }
        for local in &control.locals {
            if let DeclarationKind::Action { parameters, body } = &local.kind {
                self.action(parameters, body);
            }
        }
        self.track_parameters(&control.signature.parameters);
        for local in &control.locals {
            match &local.kind {
                DeclarationKind::Variable { initializer, .. } => {
                    self.variable(local, initializer.as_ref(), &mut state);
                }
                DeclarationKind::Table(table) => {
                    for property in &table.properties {
                        if let crate::ast::TablePropertyKind::Actions(actions) = &property.kind {
                            for action in actions {
                                self.arguments(
                                    action.id,
                                    action.arguments.as_deref().unwrap_or(&[]),
                                    &mut state,
                                    true,
                                );
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        self.block(&control.body, &mut state);
        self.warn_not_written(&control.signature.parameters);
    }

    fn parser(&mut self, parser: &'a ParserDeclaration) {
        self.tracked.clear();
        self.track_parameters(&parser.signature.parameters);
        let mut start = Some(FlowFacts::default());
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
        let mut entry: Vec<Option<FlowFacts>> = vec![None; parser.states.len()];
        entry[first] = start;
        let mut waiting = vec![first];
        self.quiet = true;
        while let Some(index) = waiting.pop() {
            let mut state = entry[index].clone();
            self.parser_state(&parser.states[index], &mut state);
            let Some(after) = state else { continue };
            for target in targets(&parser.states[index].transition) {
                let Some(next) = by_name.get(target).copied() else { continue };
                let changed = match &mut entry[next] {
                    Some(known) => {
                        let before = known.clone();
                        known.join(&after);
                        *known != before
                    }
                    slot => {
                        *slot = Some(after.clone());
                        true
                    }
                };
                if changed && !waiting.contains(&next) {
                    waiting.push(next);
                }
            }
        }
        self.quiet = false;
        for (state, known) in parser.states.iter().zip(entry) {
            if known.is_some() {
                let mut known = known;
                self.parser_state(state, &mut known);
            }
        }
        self.warn_not_written(&parser.signature.parameters);
    }

    fn parser_state(&mut self, state: &'a crate::ast::State, known: &mut Option<FlowFacts>) {
        self.statements(&state.statements, known);
        if let Some(Transition::Select { subjects, .. }) = &state.transition {
            for subject in subjects {
                self.read(subject, known);
            }
        }
    }

    /// Warns about `out` parameters that nothing writes; headers that are not written are invalid,
    /// which may be meant.
    fn warn_not_written(&mut self, parameters: &'a [Parameter]) {
        for parameter in parameters {
            if parameter.direction != Direction::Out || self.ever_written.contains(&parameter.id) {
                continue;
            }
            let ty = self.program.declared_types.get(&parameter.id);
            if !ty.is_some_and(|ty| is_scalar(ty)) {
                continue;
            }
            self.diagnostics.push(Diagnostic::warning(
                codes::OUT_NOT_WRITTEN,
                parameter.name.span,
                format!("`out` parameter `{}` is never written", parameter.name.text),
            ));
        }
    }

    fn block(&mut self, block: &'a Block, state: &mut Option<FlowFacts>) {
        // The reference compiler's name for these warnings.
        let asked_to = block.annotations.iter().any(|annotation| {
            &*annotation.name.text == "noWarn"
                && super::annotations::string_body(annotation).as_deref()
                    == Some("uninitialized-use")
        });
        let quiet = self.quiet;
        self.quiet |= asked_to;
        self.statements(&block.statements, state);
        self.quiet = quiet;
    }

    fn statements(&mut self, statements: &'a [Statement], state: &mut Option<FlowFacts>) {
        let mut warned = false;
        for statement in statements {
            if state.is_none() && !warned && !matches!(statement.kind, StatementKind::Empty) {
                warned = true;
                self.report(
                    statement.span,
                    Diagnostic::warning(
                        codes::UNREACHABLE_STATEMENT,
                        statement.span,
                        "this statement is never reached",
                    ),
                );
            }
            self.statement(statement, state);
        }
    }

    fn report(&mut self, span: Span, diagnostic: Diagnostic) {
        if !self.quiet && self.reported.insert(span) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn statement(&mut self, statement: &'a Statement, state: &mut Option<FlowFacts>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.statement_inner(statement, state));
    }

    fn statement_inner(&mut self, statement: &'a Statement, state: &mut Option<FlowFacts>) {
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.read(value, state);
                if operator.is_some() {
                    self.read(target, state);
                }
                self.read_indexes(target, state);
                self.write(target, state);
            }
            StatementKind::Call(call) => self.read(call, state),
            StatementKind::If { condition, then, otherwise } => {
                self.read(condition, state);
                self.assume(condition, state);
                let mut other = state.clone();
                self.statement(then, state);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise, &mut other);
                }
                join(state, other);
            }
            StatementKind::Block(block) => self.block(block, state),
            StatementKind::Empty | StatementKind::Extension(_) => {}
            StatementKind::Return(value) => {
                if let Some(value) = value {
                    self.read(value, state);
                }
                *state = None;
            }
            StatementKind::Exit | StatementKind::Break | StatementKind::Continue => *state = None,
            StatementKind::Switch { subject, cases } => {
                self.read(subject, state);
                let mut after = None;
                let mut complete = false;
                for case in cases {
                    complete |= matches!(case.label.kind, ExpressionKind::Default);
                    if let Some(body) = &case.body {
                        let mut branch = state.clone();
                        self.block(body, &mut branch);
                        join(&mut after, branch);
                    }
                }
                if !complete {
                    join(&mut after, state.clone());
                }
                *state = after;
            }
            StatementKind::For { init, condition, update, body, .. } => {
                self.statements(init, state);
                // What the loop writes may be written when its body begins again.
                self.statement_writes(body, state);
                for step in update {
                    self.statement_writes(step, state);
                }
                self.read(condition, state);
                let after = state.clone();
                self.statement(body, state);
                if state.is_some() {
                    self.statements(update, state);
                }
                *state = after;
            }
            StatementKind::ForIn { collection, body, .. } => {
                self.read(collection, state);
                self.statement_writes(body, state);
                let after = state.clone();
                self.statement(body, state);
                *state = after;
            }
            StatementKind::Declaration(declaration) => {
                if let DeclarationKind::Variable { initializer, .. } = &declaration.kind {
                    self.variable(declaration, initializer.as_ref(), state);
                }
            }
        }
    }

    fn variable(
        &mut self,
        declaration: &'a Declaration,
        initializer: Option<&'a Expression>,
        state: &mut Option<FlowFacts>,
    ) {
        match initializer {
            Some(initializer) => self.read(initializer, state),
            None => self.track(declaration.id, &declaration.name),
        }
    }

    /// Marks what statements may write, without looking at reads.
    fn block_writes(&mut self, block: &'a Block, state: &mut Option<FlowFacts>) {
        for statement in &block.statements {
            self.statement_writes(statement, state);
        }
    }

    fn statement_writes(&mut self, statement: &'a Statement, state: &mut Option<FlowFacts>) {
        let Some(known) = state.clone() else { return };
        let tracked = std::mem::take(&mut self.tracked);
        let quiet = std::mem::replace(&mut self.quiet, true);
        let mut writes = Writes { flow: self, state: Some(known) };
        writes.statement(statement);
        *state = writes.state;
        self.quiet = quiet;
        self.tracked = tracked;
    }

    fn write(&mut self, target: &'a Expression, state: &mut Option<FlowFacts>) {
        if let Some(place) = location(self.program, target) {
            self.ever_written.insert(place.root);
            if let Some(known) = state {
                known.write(place);
            }
        }
    }
}

/// Applies all assignments, calls and declarations of a statement in the order of the text, as if nothing
/// returned and every branch was taken.
struct Writes<'f, 'a> {
    flow: &'f mut Flow<'a>,
    state: Option<FlowFacts>,
}

impl<'a> Visit<'a> for Writes<'_, 'a> {
    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Assign { .. }
            | StatementKind::Call(_)
            | StatementKind::Declaration(_) => {
                self.flow.statement_inner(statement, &mut self.state);
                return;
            }
            StatementKind::If { condition, .. } => self.flow.read(condition, &mut self.state),
            _ => {}
        }
        walk_statement(self, statement);
    }

    fn expression(&mut self, _: &'a Expression) {}
}

fn targets(transition: &Option<Transition>) -> Vec<&str> {
    match transition {
        None => Vec::new(),
        Some(Transition::Direct(target)) => vec![&*target.name.text],
        Some(Transition::Select { cases, .. }) => {
            cases.iter().map(|case| &*case.target.name.text).collect()
        }
    }
}

fn join(state: &mut Option<FlowFacts>, other: Option<FlowFacts>) {
    match (state.as_mut(), other) {
        (Some(known), Some(other)) => known.join(&other),
        (None, Some(other)) => *state = Some(other),
        (_, None) => {}
    }
}
