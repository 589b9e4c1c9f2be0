// SPDX-License-Identifier: Apache-2.0
//! A flow analysis that warns about reads of variables without a value on some path and of fields of headers
//! that are valid on no path (P4_16 v1.2.5 §8.27). Facts and their joins are in `facts`, tables and
//! actions in `tables`, expressions in `reads`.

mod conditions;
mod facts;
mod reads;
mod tables;

use super::locations::{Location, location};
use crate::ast::{
    Block, ControlDeclaration, Declaration, DeclarationKind, Direction, Expression, ExpressionKind,
    FieldList, Name, NodeId, Parameter, ParserDeclaration, Statement, StatementKind, SwitchCase,
    TableDeclaration, Transition,
};
use crate::codes::typing as codes;
use crate::typed::{Constant, Definition, Type, TypeKind, TypedProgram};
use crate::visit::{Visit, walk_declaration, walk_expression, walk_statement};
use conditions::Test;
use facts::{Arrival, Decision, FlowFacts, join};
use reads::is_scalar;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Diagnostics, Span};

/// Scalars of a variable that are followed each; of a variable with more none is.
const MAX_SCALARS: usize = 64;

/// Elements of a stack that are followed each; a larger stack is followed as one.
const MAX_ELEMENTS: u32 = 16;

/// Analyzes a program without errors.
pub(super) fn warn(program: &TypedProgram, diagnostics: &mut Diagnostics) {
    let mut flow = Flow {
        program,
        found: Vec::new(),
        directions: FxHashMap::default(),
        structs: FxHashMap::default(),
        actions: FxHashMap::default(),
        tables: FxHashMap::default(),
        elsewhere: FxHashSet::default(),
        tracked: FxHashMap::default(),
        reported: FxHashSet::default(),
        ever_written: FxHashSet::default(),
        local: FxHashSet::default(),
        arrivals: FxHashMap::default(),
        returns: Vec::new(),
        loops: Vec::new(),
        quiet: false,
        is_trial: false,
    };
    for declaration in &program.program.declarations {
        flow.index(declaration);
    }
    for declaration in &program.program.declarations {
        flow.declaration(declaration);
    }
    flow.found.sort_by_key(|diagnostic| diagnostic.primary.span);
    flow.found.into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
}

struct Flow<'a> {
    program: &'a TypedProgram,
    found: Vec<Diagnostic>,
    /// Directions of the parameters of everything that can be called.
    directions: FxHashMap<NodeId, Vec<Direction>>,
    structs: FxHashMap<NodeId, &'a FieldList>,
    actions: FxHashMap<NodeId, Body<'a>>,
    tables: FxHashMap<NodeId, (Span, &'a TableDeclaration)>,
    /// Variables that functions of object initializers name, which run at other times.
    elsewhere: FxHashSet<NodeId>,
    /// Variables without a first value and `out` parameters.
    tracked: FxHashMap<NodeId, Tracked>,
    reported: FxHashSet<Span>,
    ever_written: FxHashSet<NodeId>,
    /// Actions and tables of the control under analysis.
    local: FxHashSet<NodeId>,
    /// What is known where these are reached.
    arrivals: FxHashMap<NodeId, Vec<Arrival>>,
    /// What is known at each `return` of the bodies under analysis, the innermost last.
    returns: Vec<Vec<(FlowFacts, Span)>>,
    loops: Vec<Loop>,
    /// Reports nothing: in bodies that are judged elsewhere, and while the analysis iterates.
    quiet: bool,
    /// Follows code only to see what it may write.
    is_trial: bool,
}

#[derive(Clone, Copy)]
struct Body<'a> {
    parameters: &'a [Parameter],
    block: &'a Block,
}

/// What is known at the `break` and `continue` statements of a loop.
#[derive(Default)]
struct Loop {
    breaks: Vec<FlowFacts>,
    continues: Vec<FlowFacts>,
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
            DeclarationKind::Action { parameters, body } => {
                self.directions.insert(id, directions(parameters));
                self.actions.insert(id, Body { parameters, block: body });
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
            DeclarationKind::Struct(fields) | DeclarationKind::HeaderUnion(fields) => {
                self.structs.insert(id, fields);
            }
            DeclarationKind::Typedef(crate::ast::TypedefTarget::Declaration(inner)) => {
                self.index(inner);
            }
            DeclarationKind::Table(table) => {
                self.tables.insert(id, (declaration.name.span, table));
            }
            DeclarationKind::Instance { body: Some(body), .. } => {
                let mut names = Names { program: self.program, found: &mut self.elsewhere };
                names.list(body);
                body.iter().for_each(|member| self.index(member));
            }
            _ => {}
        }
    }

    fn track_parameters(&mut self, parameters: &'a [Parameter], state: &mut Option<FlowFacts>) {
        for parameter in parameters {
            if parameter.direction == Direction::Out {
                self.track(parameter.id, &parameter.name, state);
            }
        }
    }

    /// Begins to follow a variable without a value.
    fn track(&mut self, id: NodeId, name: &Name, state: &mut Option<FlowFacts>) {
        let (Some(known), Some(ty)) = (state, self.program.declared_types.get(&id)) else { return };
        self.tracked.insert(id, Tracked { name: name.text.clone(), span: name.span });
        let place = Location { root: id, path: Vec::new() };
        known.write(&place);
        if self.elsewhere.contains(&id) {
            return;
        }
        let (mut scalars, mut headers) = (Vec::new(), Vec::new());
        self.parts(place, ty, &mut scalars, &mut headers);
        if scalars.len() <= MAX_SCALARS {
            scalars.into_iter().for_each(|place| known.declare(place));
        }
        headers.into_iter().for_each(|place| known.invalidate(place));
    }

    /// Lists the scalars and headers that a variable consists of; a stack or union is one.
    fn parts(
        &self,
        place: Location,
        ty: &'a Type,
        scalars: &mut Vec<Location>,
        headers: &mut Vec<Location>,
    ) {
        if scalars.len() > MAX_SCALARS {
            return;
        }
        match &**ty {
            TypeKind::Struct(node, _) | TypeKind::HeaderUnion(node, _) => {
                let fields = self.structs.get(node).map_or(&[][..], |it| &it.fields);
                for field in fields {
                    if let Some(ty) = self.program.declared_types.get(&field.id) {
                        let mut place = place.clone();
                        place.path.push(field.name.text.clone());
                        self.parts(place, ty, scalars, headers);
                    }
                }
            }
            TypeKind::Stack(element, size) if *size <= MAX_ELEMENTS => {
                for index in 0..*size {
                    let mut place = place.clone();
                    place.path.push(format!("[{index}]").into());
                    self.parts(place, element, scalars, headers);
                }
            }
            TypeKind::Header(..) | TypeKind::Stack(..) => headers.push(place),
            ty if is_scalar(ty) => scalars.push(place),
            _ => {}
        }
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        if asks_for_silence(&declaration.annotations) {
            return;
        }
        match &declaration.kind {
            DeclarationKind::Action { parameters, body } => {
                self.body(Body { parameters, block: body }, FlowFacts::default());
            }
            DeclarationKind::Function { signature, body } => {
                let body = Body { parameters: &signature.parameters, block: body };
                self.body(body, FlowFacts::default());
            }
            DeclarationKind::Control(control) => self.control(control),
            DeclarationKind::Parser(parser) => self.parser(parser),
            _ => {}
        }
    }

    /// An action, function or `apply` block with what is known at its beginning.
    fn body(&mut self, body: Body<'a>, known: FlowFacts) {
        let mut state = Some(known);
        self.run(body, &mut state);
        self.warn_not_written(body.parameters, &state);
    }

    fn control(&mut self, control: &'a ControlDeclaration) {
        self.local = control.locals.iter().map(|local| local.id).collect();
        let mut state = Some(FlowFacts::default());
        for local in &control.locals {
            if let DeclarationKind::Variable { initializer, .. } = &local.kind {
                self.variable(local, initializer.as_ref(), &mut state);
            }
        }
        let body = Body { parameters: &control.signature.parameters, block: &control.body };
        self.body(body, state.unwrap_or_default());
        self.is_trial = true;
        for local in &control.locals {
            let arrivals = self.arrivals.remove(&local.id).unwrap_or_default();
            // Without a way to it, what is outside of it counts as written.
            let known = join(arrivals).unwrap_or_default();
            match &local.kind {
                DeclarationKind::Action { parameters, body } => {
                    self.body(Body { parameters, block: body }, known);
                }
                DeclarationKind::Table(table) => {
                    let mut state = Some(known);
                    for property in &table.properties {
                        if let crate::ast::TablePropertyKind::Key(keys) = &property.kind {
                            keys.iter().for_each(|key| self.read(&key.expression, &mut state));
                        }
                    }
                }
                _ => {}
            }
        }
        self.is_trial = false;
    }

    fn parser(&mut self, parser: &'a ParserDeclaration) {
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
        let mut ways: Vec<Vec<(usize, Span)>> = vec![Vec::new(); parser.states.len()];
        for &from in &order {
            for target in targets(&parser.states[from].transition) {
                if let Some(to) = by_name.get(&*target.text) {
                    ways[*to].push((from, target.span));
                }
            }
        }
        let mut ends: Vec<Option<FlowFacts>> = vec![None; parser.states.len()];
        let arrivals = |index: usize, ends: &[Option<FlowFacts>]| {
            let begin = (index == first).then(|| (start.clone(), None));
            let before = ways[index].iter().map(|(from, span)| {
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

    fn parser_state(&mut self, state: &'a crate::ast::State, known: &mut Option<FlowFacts>) {
        self.statements(&state.statements, known);
        if let Some(Transition::Select { subjects, .. }) = &state.transition {
            for subject in subjects {
                self.read(subject, known);
            }
        }
    }

    /// Warns about `out` parameters without a value at the end; headers that are not written are
    /// invalid, which may be meant.
    fn warn_not_written(&mut self, parameters: &'a [Parameter], end: &Option<FlowFacts>) {
        for parameter in parameters {
            let ty = self.program.declared_types.get(&parameter.id);
            if parameter.direction != Direction::Out || !ty.is_some_and(|ty| is_scalar(ty)) {
                continue;
            }
            let name = &parameter.name;
            if !self.ever_written.contains(&parameter.id) {
                self.found.push(Diagnostic::warning(
                    codes::OUT_NOT_WRITTEN,
                    name.span,
                    format!("`out` parameter `{}` is never written", name.text),
                ));
                continue;
            }
            let place = Location { root: parameter.id, path: Vec::new() };
            let Some(unset) = end.as_ref().and_then(|known| known.unset(&place)) else { continue };
            let diagnostic = Diagnostic::warning(
                codes::OUT_NOT_ALWAYS_WRITTEN,
                name.span,
                format!("`out` parameter `{}` has no value on some path", name.text),
            );
            let diagnostic = reads::with_path(diagnostic, unset);
            self.report(name.span, diagnostic);
        }
    }

    fn block(&mut self, block: &'a Block, state: &mut Option<FlowFacts>) {
        let asked_to = asks_for_silence(&block.annotations);
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
            self.found.push(diagnostic);
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
                if operator.is_none() {
                    self.assign(location(self.program, target), target, value, state);
                }
            }
            StatementKind::Call(call) => self.read(call, state),
            StatementKind::If { condition, then, otherwise } => {
                let (mut holds, mut fails) = self.condition(condition, state);
                self.statement(then, &mut holds);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise, &mut fails);
                }
                *state = self.join_branches(condition, holds, fails);
            }
            StatementKind::Block(block) => self.block(block, state),
            StatementKind::Empty | StatementKind::Extension(_) => {}
            StatementKind::Return(value) => {
                if let Some(value) = value {
                    self.read(value, state);
                }
                if let (Some(known), Some(returns)) = (state.take(), self.returns.last_mut()) {
                    returns.push((known, statement.span));
                }
            }
            StatementKind::Exit => *state = None,
            StatementKind::Break => {
                if let (Some(known), Some(innermost)) = (state.take(), self.loops.last_mut()) {
                    innermost.breaks.push(known);
                }
            }
            StatementKind::Continue => {
                if let (Some(known), Some(innermost)) = (state.take(), self.loops.last_mut()) {
                    innermost.continues.push(known);
                }
            }
            StatementKind::Switch { subject, cases } => self.switch(subject, cases, state),
            StatementKind::For { init, condition, update, body, .. } => {
                self.statements(init, state);
                let first = self.first_outcome(init, condition);
                self.loosen(std::iter::once(&**body).chain(update), state);
                self.read(condition, state);
                let skipped = state.clone().filter(|_| first != Some(true));
                self.rounds(body, update, condition.span, skipped, state);
            }
            StatementKind::ForIn { collection, body, .. } => {
                self.read(collection, state);
                let runs = self.has_elements(collection);
                self.loosen(std::iter::once(&**body), state);
                let skipped = state.clone().filter(|_| !runs);
                self.rounds(body, &[], collection.span, skipped, state);
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
            Some(initializer) => {
                self.read(initializer, state);
                let place = Location { root: declaration.id, path: Vec::new() };
                state.iter_mut().for_each(|known| known.write(&place));
                self.assign(Some(place), initializer, initializer, state);
            }
            None => self.track(declaration.id, &declaration.name, state),
        }
    }

    /// Remembers the value that a variable or field gets.
    fn assign(
        &self,
        place: Option<Location>,
        target: &'a Expression,
        value: &'a Expression,
        state: &mut Option<FlowFacts>,
    ) {
        let is_part = matches!(
            target.kind,
            ExpressionKind::Index(..)
                | ExpressionKind::Slice { .. }
                | ExpressionKind::PlusSlice { .. }
        );
        let (Some(place), Some(known)) = (place.filter(|_| !is_part), state) else { return };
        let ty = self.program.expression_types.get(&value.id).map(|ty| &**ty);
        let constant = self.program.constants.get(&value.id);
        let condition = match (constant, ty) {
            (None, Some(TypeKind::Bool)) => Test::of(self.program, value),
            _ => None,
        };
        known.assign(place, constant, condition);
    }

    /// The test of a condition.
    fn test(
        &self,
        condition: &'a Expression,
        state: &Option<FlowFacts>,
    ) -> Option<std::rc::Rc<Test>> {
        let known = state.as_ref()?;
        Some(known.resolved(&Test::of(self.program, condition)?))
    }

    /// Follows a condition to what is known where it holds and where it does not.
    fn condition(
        &mut self,
        condition: &'a Expression,
        state: &mut Option<FlowFacts>,
    ) -> (Option<FlowFacts>, Option<FlowFacts>) {
        if let ExpressionKind::Unary(crate::ast::UnaryOperator::Not, inner) = &condition.kind {
            let (holds, fails) = self.condition(inner, state);
            return (fails, holds);
        }
        if let Some((table, site, Some(asked @ ("hit" | "miss")))) = self.application(condition) {
            let outcomes = self.apply(table, site, state);
            let hit = tables::all_of(&outcomes, |it| it.on_hit);
            let miss = tables::all_of(&outcomes, |it| it.on_miss);
            return if asked == "hit" { (hit, miss) } else { (miss, hit) };
        }
        self.read(condition, state);
        self.assume(condition, state);
        let (mut holds, mut fails) = (state.clone(), state.take());
        if let Some(test) = self.test(condition, &holds) {
            holds.iter_mut().for_each(|known| known.assume(&test, true));
            fails.iter_mut().for_each(|known| known.assume(&test, false));
        }
        (holds, fails)
    }

    fn join_branches(
        &self,
        condition: &'a Expression,
        holds: Option<FlowFacts>,
        fails: Option<FlowFacts>,
    ) -> Option<FlowFacts> {
        let test = match (&holds, &fails) {
            (Some(known), Some(fails)) if !known.is_like(fails) => self.test(condition, &holds),
            _ => None,
        };
        let decision = |outcome: bool, text: &str| Decision {
            span: condition.span,
            text: text.into(),
            test: test.clone().map(|test| (test, outcome)),
        };
        join([
            (holds, Some(decision(true, "this is true"))),
            (fails, Some(decision(false, "this is false"))),
        ])
    }

    fn switch(
        &mut self,
        subject: &'a Expression,
        cases: &'a [SwitchCase],
        state: &mut Option<FlowFacts>,
    ) {
        let application = self.application(subject).filter(|it| it.2 == Some("action_run"));
        let outcomes = match application {
            Some((table, site, _)) => Some(self.apply(table, site, state)),
            None => {
                self.read(subject, state);
                None
            }
        };
        let mut arrivals: Vec<Arrival> = Vec::new();
        let mut seen: Vec<&'a Expression> = Vec::new();
        let mut group: Vec<&'a Expression> = Vec::new();
        let decided = |flow: &Flow<'a>, labels: &[&'a Expression], outcome: bool| {
            let values = labels.iter().map(|label| flow.program.constants.get(&label.id).cloned());
            let values = values.collect::<Option<Vec<Constant>>>()?;
            Some((Test::one_of(flow.program, subject, values)?, outcome))
        };
        let among = |flow: &Flow<'a>, outcome: &tables::Outcome, labels: &[&'a Expression]| {
            labels.iter().any(|label| {
                match (flow.program.definitions.get(&label.id), outcome.action) {
                    (Some(Definition::Node(node)), Some(action)) => *node == action,
                    _ => false,
                }
            })
        };
        let excluded = |flow: &Flow<'a>, labels: &[&'a Expression], outcome: bool| {
            let constants = &flow.program.constants;
            let value = constants.get(&subject.id);
            let is_among = labels.iter().any(|label| constants.get(&label.id) == value);
            value.is_some() && is_among != outcome
        };
        let begin = |flow: &Flow<'a>, labels: &[&'a Expression], outcome: bool| match &outcomes {
            Some(outcomes) => tables::all_of(outcomes, |it| among(flow, it, labels) == outcome),
            None if excluded(flow, labels, outcome) => None,
            None => {
                let mut state = state.clone();
                if let (Some(known), Some((test, outcome))) =
                    (&mut state, decided(flow, labels, outcome))
                {
                    known.assume(&test, outcome);
                }
                state
            }
        };
        let mut is_complete = false;
        for case in cases {
            let is_default = matches!(case.label.kind, ExpressionKind::Default);
            is_complete |= is_default;
            if !is_default {
                seen.push(&case.label);
                group.push(&case.label);
            }
            let Some(body) = &case.body else { continue };
            let (labels, outcome) = if is_default { (&seen, false) } else { (&group, true) };
            let mut branch = begin(self, labels, outcome);
            let decision = Decision {
                span: case.label.span,
                text: "this case is taken".into(),
                test: decided(self, labels, outcome),
            };
            // A case that guards against later changes is no mistake.
            let quiet = self.quiet;
            self.quiet |= branch.is_none() && (is_default || outcomes.is_none());
            self.block(body, &mut branch);
            self.quiet = quiet;
            arrivals.push((branch, Some(decision)));
            group.clear();
        }
        if !is_complete {
            let decision = Decision {
                span: subject.span,
                text: "no case is taken".into(),
                test: decided(self, &seen, false),
            };
            arrivals.push((begin(self, &seen, false), Some(decision)));
        }
        *state = join(arrivals);
    }

    /// The rounds of a loop behind its condition, to what is known behind the loop.
    fn rounds(
        &mut self,
        body: &'a Statement,
        update: &'a [Statement],
        span: Span,
        skipped: Option<FlowFacts>,
        state: &mut Option<FlowFacts>,
    ) {
        self.loops.push(Loop::default());
        self.statement(body, state);
        let ended = self.loops.pop().unwrap_or_default();
        let continues = ended.continues.into_iter().map(|known| (Some(known), None));
        *state = join(continues.chain([(state.take(), None)]));
        if state.is_some() {
            self.statements(update, state);
        }
        let skip = Decision { span, text: "this loop has no round".into(), test: None };
        let breaks = ended.breaks.into_iter().map(|known| (Some(known), None));
        *state = join(breaks.chain([(state.take(), None), (skipped, Some(skip))]));
    }

    /// The outcome of a loop's condition before its first round, where both sides are known.
    fn first_outcome(&self, init: &'a [Statement], condition: &'a Expression) -> Option<bool> {
        use crate::ast::BinaryOperator as Operator;
        let ExpressionKind::Binary(operator, left, right) = &condition.kind else { return None };
        let value = |expression: &Expression| -> Option<Constant> {
            if let Some(value) = self.program.constants.get(&expression.id) {
                return Some(value.clone());
            }
            let place = location(self.program, expression).filter(|it| it.path.is_empty())?;
            init.iter().find_map(|statement| match &statement.kind {
                StatementKind::Declaration(declaration) if declaration.id == place.root => {
                    match &declaration.kind {
                        DeclarationKind::Variable { initializer: Some(value), .. } => {
                            self.program.constants.get(&value.id).cloned()
                        }
                        _ => None,
                    }
                }
                StatementKind::Assign { target, operator: None, value }
                    if location(self.program, target).as_ref() == Some(&place) =>
                {
                    self.program.constants.get(&value.id).cloned()
                }
                _ => None,
            })
        };
        let (Constant::Integer(left), Constant::Integer(right)) = (value(left)?, value(right)?)
        else {
            return None;
        };
        Some(match operator {
            Operator::Less => left < right,
            Operator::LessEqual => left <= right,
            Operator::Greater => left > right,
            Operator::GreaterEqual => left >= right,
            Operator::Equal => left == right,
            Operator::NotEqual => left != right,
            _ => return None,
        })
    }

    /// Whether a loop over the collection has a round for certain.
    fn has_elements(&self, collection: &'a Expression) -> bool {
        if let ExpressionKind::Range(low, high) = &collection.kind {
            return match (self.program.constants.get(&low.id), self.program.constants.get(&high.id))
            {
                (Some(Constant::Integer(low)), Some(Constant::Integer(high))) => low <= high,
                _ => false,
            };
        }
        match self.program.expression_types.get(&collection.id).map(|ty| &**ty) {
            Some(TypeKind::Stack(_, size)) => *size > 0,
            _ => true,
        }
    }

    /// What the statements of a loop change may be changed when its body begins again.
    fn loosen(
        &mut self,
        statements: impl Iterator<Item = &'a Statement>,
        state: &mut Option<FlowFacts>,
    ) {
        let Some(known) = state else { return };
        let outer = (self.quiet, self.is_trial);
        (self.quiet, self.is_trial) = (true, true);
        let mut writes = Writes { flow: self, state: Some(known.clone()), changed: Vec::new() };
        statements.for_each(|statement| writes.statement(statement));
        let (after, changed) = (writes.state.take(), std::mem::take(&mut writes.changed));
        (self.quiet, self.is_trial) = outer;
        known.loosen(after.unwrap_or_default(), &changed);
    }

    fn write(&mut self, target: &'a Expression, state: &mut Option<FlowFacts>) {
        if let Some(place) = location(self.program, target) {
            self.ever_written.insert(place.root);
            if let Some(known) = state {
                known.write(&place);
            }
        }
    }
}

/// Applies all assignments, calls and declarations of a statement in the order of the text, as if nothing
/// returned and every branch was taken.
struct Writes<'f, 'a> {
    flow: &'f mut Flow<'a>,
    state: Option<FlowFacts>,
    changed: Vec<Location>,
}

impl<'a> Visit<'a> for Writes<'_, 'a> {
    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Assign { target, .. } => {
                self.changed.extend(location(self.flow.program, target));
                self.flow.statement_inner(statement, &mut self.state);
                return;
            }
            StatementKind::Call(_) | StatementKind::Declaration(_) => {
                self.flow.statement_inner(statement, &mut self.state);
            }
            StatementKind::If { condition, .. } => self.flow.read(condition, &mut self.state),
            _ => {}
        }
        walk_statement(self, statement);
    }

    fn expression(&mut self, expression: &'a Expression) {
        // Arguments and objects of calls may be changed by them.
        if let ExpressionKind::Call(call) = &expression.kind {
            let objects = match &call.callee.kind {
                ExpressionKind::Member(base, _) => Some(&**base),
                _ => None,
            };
            let arguments = call.arguments.iter().map(|argument| &argument.value);
            let places = objects.into_iter().chain(arguments);
            self.changed.extend(places.filter_map(|it| location(self.flow.program, it)));
        }
        walk_expression(self, expression);
    }
}

/// Collects what names refer to.
struct Names<'f, 'a> {
    program: &'a TypedProgram,
    found: &'f mut FxHashSet<NodeId>,
}

impl<'a> Visit<'a> for Names<'_, 'a> {
    fn declaration(&mut self, declaration: &'a Declaration) {
        walk_declaration(self, declaration);
    }

    fn expression(&mut self, expression: &'a Expression) {
        if let Some(Definition::Node(node)) = self.program.definitions.get(&expression.id) {
            self.found.insert(*node);
        }
        walk_expression(self, expression);
    }
}

/// Whether code is marked by the reference compiler's name for these warnings.
fn asks_for_silence(annotations: &[crate::ast::Annotation]) -> bool {
    annotations.iter().any(|annotation| {
        &*annotation.name.text == "noWarn"
            && super::annotations::string_body(annotation).as_deref() == Some("uninitialized-use")
    })
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
