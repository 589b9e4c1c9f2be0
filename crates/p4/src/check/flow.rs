// SPDX-License-Identifier: Apache-2.0
//! A flow analysis that warns about reads of variables without a value on some path and of fields of headers
//! that are valid on no path (P4_16 v1.2.5 §8.27). Statements are followed here; `facts` has what is known and
//! its joins.

mod branches;
mod conditions;
mod facts;
mod loops;
mod parsers;
mod reads;
mod tables;

use super::locations::{Location, location};
use crate::ast::{
    Block, ControlDeclaration, Declaration, DeclarationKind, Direction, Expression, ExpressionKind,
    FieldList, Name, NodeId, Parameter, Statement, StatementKind, TableDeclaration,
};
use crate::codes::typing as codes;
use crate::typed::{Definition, Type, TypeKind, TypedProgram};
use crate::visit::{Visit, walk_declaration, walk_expression};
use conditions::Test;
use facts::{Arrival, FlowFacts, join};
use loops::Loop;
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
            // If no path applies it, all variables outside of it count as written.
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

    fn write(&mut self, target: &'a Expression, state: &mut Option<FlowFacts>) {
        if let Some(place) = location(self.program, target) {
            self.ever_written.insert(place.root);
            if let Some(known) = state {
                known.write(&place);
            }
        }
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
