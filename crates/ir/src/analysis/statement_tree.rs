// SPDX-License-Identifier: Apache-2.0
//! [`StatementTree`]: which nodes of the typed program stand in which statement: nested statements and the
//! expressions in all of them. Origins name single nodes; with the tree they are gathered by statements.

use p4::ast::*;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Statements, parser states and declarations among statements, with what is in them.
#[derive(Clone, Debug, Default)]
pub struct StatementTree {
    /// All nodes, each before those in it.
    nodes: Vec<u32>,
    ranges: HashMap<u32, Range<usize>>,
    enclosing: HashMap<u32, u32>,
}

impl StatementTree {
    /// Walks a program.
    pub fn of(program: &Program) -> StatementTree {
        let mut tree = StatementTree::default();
        program.declarations.iter().for_each(|declaration| tree.declaration(declaration, None));
        tree
    }

    /// A statement's node and the nodes in it; a node that is no statement alone.
    pub fn nodes_of(&self, statement: u32) -> BTreeSet<u32> {
        match self.ranges.get(&statement) {
            Some(range) => self.nodes[range.clone()].iter().copied().collect(),
            None => BTreeSet::from([statement]),
        }
    }

    /// The innermost statement that a node stands in: itself, if it is one.
    pub fn enclosing(&self, node: u32) -> Option<u32> {
        if self.ranges.contains_key(&node) {
            return Some(node);
        }
        self.enclosing.get(&node).copied()
    }

    /// All statements, in the order of the text.
    pub fn statements(&self) -> impl Iterator<Item = u32> + '_ {
        self.nodes.iter().copied().filter(|node| self.ranges.contains_key(node))
    }

    fn open(&mut self, id: NodeId) -> usize {
        self.nodes.push(id.0);
        self.nodes.len() - 1
    }

    fn close(&mut self, id: NodeId, first: usize) {
        self.ranges.insert(id.0, first..self.nodes.len());
    }

    fn node(&mut self, id: NodeId, of: Option<NodeId>) {
        self.nodes.push(id.0);
        if let Some(of) = of {
            self.enclosing.insert(id.0, of.0);
        }
    }

    fn declaration(&mut self, declaration: &Declaration, of: Option<NodeId>) {
        let id = declaration.id;
        match &declaration.kind {
            DeclarationKind::Variable { initializer, .. } => {
                let first = self.open(id);
                initializer.iter().for_each(|value| self.expression(value, Some(id)));
                self.close(id, first);
            }
            DeclarationKind::Instance { body, .. } => {
                body.iter().flatten().for_each(|inner| self.declaration(inner, of));
            }
            DeclarationKind::Action { body, .. } | DeclarationKind::Function { body, .. } => {
                self.block(body);
            }
            DeclarationKind::Parser(parser) => {
                parser.locals.iter().for_each(|local| self.declaration(local, of));
                parser.states.iter().for_each(|state| self.state(state));
            }
            DeclarationKind::Control(control) => {
                control.locals.iter().for_each(|local| self.declaration(local, of));
                self.block(&control.body);
            }
            DeclarationKind::Typedef(TypedefTarget::Declaration(inner)) => {
                self.declaration(inner, of);
            }
            _ => {}
        }
    }

    fn state(&mut self, state: &State) {
        let first = self.open(state.id);
        state.statements.iter().for_each(|statement| self.statement(statement));
        match &state.transition {
            Some(Transition::Direct(target)) => self.node(target.id, Some(state.id)),
            Some(Transition::Select { id, subjects, cases, .. }) => {
                self.node(*id, Some(state.id));
                let keysets = cases.iter().map(|case| &case.keyset);
                subjects.iter().chain(keysets).for_each(|it| self.expression(it, Some(state.id)));
                cases.iter().for_each(|case| self.node(case.target.id, Some(state.id)));
            }
            None => {}
        }
        self.close(state.id, first);
    }

    fn block(&mut self, block: &Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        let id = statement.id;
        let first = self.open(id);
        match &statement.kind {
            StatementKind::Assign { target, value, .. } => {
                self.expression(target, Some(id));
                self.expression(value, Some(id));
            }
            StatementKind::Call(expression) => self.expression(expression, Some(id)),
            StatementKind::If { condition, then, otherwise } => {
                self.expression(condition, Some(id));
                self.statement(then);
                otherwise.iter().for_each(|otherwise| self.statement(otherwise));
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.expression(value, Some(id)));
            }
            StatementKind::Switch { subject, cases } => {
                self.expression(subject, Some(id));
                cases.iter().filter_map(|case| case.body.as_ref()).for_each(|it| self.block(it));
            }
            StatementKind::For { init, condition, update, body, .. } => {
                init.iter().for_each(|statement| self.statement(statement));
                self.expression(condition, Some(id));
                update.iter().for_each(|statement| self.statement(statement));
                self.statement(body);
            }
            StatementKind::ForIn { variable, collection, body, .. } => {
                self.node(variable.id, Some(id));
                self.expression(collection, Some(id));
                self.statement(body);
            }
            StatementKind::Declaration(declaration) => self.declaration(declaration, Some(id)),
            // No checked program holds an extension.
            StatementKind::Extension(_)
            | StatementKind::Empty
            | StatementKind::Exit
            | StatementKind::Break
            | StatementKind::Continue => {}
        }
        self.close(id, first);
    }

    fn expression(&mut self, expression: &Expression, of: Option<NodeId>) {
        self.node(expression.id, of);
        let mut all = |parts: &[&Expression]| parts.iter().for_each(|it| self.expression(it, of));
        match &expression.kind {
            ExpressionKind::List(parts) | ExpressionKind::TupleKeyset(parts) => {
                parts.iter().for_each(|it| self.expression(it, of));
            }
            ExpressionKind::Struct { fields, .. } => {
                fields.iter().for_each(|(_, it)| self.expression(it, of));
            }
            ExpressionKind::Unary(_, operand)
            | ExpressionKind::Cast(_, operand)
            | ExpressionKind::Member(operand, _) => all(&[operand]),
            ExpressionKind::Binary(_, left, right)
            | ExpressionKind::Index(left, right)
            | ExpressionKind::Mask(left, right)
            | ExpressionKind::Range(left, right) => all(&[left, right]),
            ExpressionKind::Conditional(condition, then, otherwise) => {
                all(&[condition, then, otherwise]);
            }
            ExpressionKind::Slice { base, high, low } => all(&[base, high, low]),
            ExpressionKind::PlusSlice { base, low, width } => all(&[base, low, width]),
            ExpressionKind::Call(call) => {
                self.expression(&call.callee, of);
                call.arguments.iter().for_each(|it| self.expression(&it.value, of));
            }
            ExpressionKind::Integer { .. }
            | ExpressionKind::Bool(_)
            | ExpressionKind::String(_)
            | ExpressionKind::Path(_)
            | ExpressionKind::Type(_)
            | ExpressionKind::ErrorType
            | ExpressionKind::This
            | ExpressionKind::Dots
            | ExpressionKind::Default
            | ExpressionKind::DontCare
            | ExpressionKind::InvalidHeader
            | ExpressionKind::Extension(_)
            | ExpressionKind::Invalid => {}
        }
    }
}
