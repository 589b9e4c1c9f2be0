// SPDX-License-Identifier: Apache-2.0
//! `Builder` of a body: locals with unique names, statements of the open block, the stack of inlined calls,
//! and the counts that limits apply to.

use super::values::{Value, mentions};
use crate::core::{
    Access, Expression, ExpressionKind, GlobalId, Local, LocalId, ParserAction, Statement,
    StatementKind, Type,
};
use crate::syntax::ast::UnaryOperator;
use source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// The use of the body, which determines what it may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A handler; it may contain all statements.
    Handler,
    /// The value of a constant or a global, evaluated at compile time; messages name it so.
    Constant(&'static str),
    /// The result of an action.
    Action,
    /// A parser.
    Parser,
}

/// The values of locals, where they are known at compile time.
pub(super) type Environment = HashMap<LocalId, Expression>;

/// A body under construction.
pub(super) struct Builder {
    pub purpose: Purpose,
    pub locals: Vec<Local>,
    /// How often each name was used.
    names: HashMap<Arc<str>, u32>,
    /// Of the open block.
    pub statements: Vec<Statement>,
    /// Of the open block of a parser.
    pub parser_actions: Vec<ParserAction>,
    /// Call sites that the open function is inlined through.
    pub calls: Vec<Span>,
    inlined_at: Arc<[Span]>,
    /// Statements so far.
    pub statement_count: u32,
    /// Expressions and statements of the source elaborated so far.
    pub steps: u32,
    /// The values of locals, if they are known at compile time.
    pub known: Environment,
    /// How many blocks are open.
    pub depth: u32,
}

impl Builder {
    pub fn new(purpose: Purpose) -> Builder {
        Builder {
            purpose,
            locals: Vec::new(),
            names: HashMap::new(),
            statements: Vec::new(),
            parser_actions: Vec::new(),
            calls: Vec::new(),
            inlined_at: Arc::new([]),
            statement_count: 0,
            steps: 0,
            known: Environment::new(),
            depth: 0,
        }
    }

    /// A name like this one that no other local has.
    pub fn unique(&mut self, name: &str) -> Arc<str> {
        let count = match self.names.get_mut(name) {
            Some(count) => count,
            None => self.names.entry(name.into()).or_insert(0),
        };
        *count += 1;
        match *count {
            1 => name.into(),
            count => format!("{name}~{count}").into(),
        }
    }

    /// A new local; the name has to be unique.
    pub fn local(&mut self, name: Arc<str>, ty: Type, span: Span) -> LocalId {
        self.locals.push(Local { name, ty, span });
        LocalId(self.locals.len() as u32 - 1)
    }

    /// A new local for a value that has no name in the source.
    pub fn temporary(&mut self, name: &str, ty: Type, span: Span) -> LocalId {
        let name = self.unique(name);
        self.local(name, ty, span)
    }

    pub fn emit(&mut self, kind: StatementKind, span: Span) {
        self.statement_count += 1;
        let inlined_at = self.inlined_at.clone();
        self.statements.push(Statement { kind, span, inlined_at });
    }

    /// Emits a branch, unless both sides are empty.
    pub fn choose(
        &mut self,
        condition: Expression,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
        span: Span,
    ) {
        let (condition, then, otherwise) = match (then.is_empty(), otherwise.is_empty()) {
            (true, true) => return,
            (true, false) => {
                (Expression::unary(UnaryOperator::Not, condition, span), otherwise, then)
            }
            _ => (condition, then, otherwise),
        };
        self.emit(StatementKind::If { condition, then, otherwise }, span);
    }

    /// Begins a block; pass the result to [`Builder::close`].
    pub fn open(&mut self) -> Vec<Statement> {
        self.depth += 1;
        std::mem::take(&mut self.statements)
    }

    /// Ends a block; its statements.
    pub fn close(&mut self, outer: Vec<Statement>) -> Vec<Statement> {
        self.depth -= 1;
        std::mem::replace(&mut self.statements, outer)
    }

    /// Enters an inlined function.
    pub fn enter(&mut self, call: Span) {
        self.calls.push(call);
        self.inlined_at = self.calls.as_slice().into();
    }

    /// Leaves an inlined function.
    pub fn leave(&mut self) {
        self.calls.pop();
        self.inlined_at = self.calls.as_slice().into();
    }

    /// `local = value`
    pub fn assign(&mut self, local: LocalId, value: Expression, no_inline: bool, span: Span) {
        self.emit(StatementKind::Assign { local, value, no_inline }, span);
    }

    /// Assigns values to locals at once: no value sees another's new value.
    pub fn assign_together(
        &mut self,
        mut pairs: Vec<(LocalId, Expression)>,
        no_inline: bool,
        span: Span,
    ) {
        let places: HashMap<LocalId, usize> =
            pairs.iter().enumerate().map(|(at, (target, _))| (*target, at)).collect();
        for (at, (target, value)) in pairs.iter_mut().enumerate() {
            if mentions(value, &|local| places.get(&local).is_some_and(|place| *place < at)) {
                let ty = value.ty;
                let name = format!("{}.new", self.locals[target.0 as usize].name);
                let kept = self.temporary(&name, ty, span);
                let kind = ExpressionKind::Local(kept);
                let value = std::mem::replace(value, Expression { kind, ty, span });
                self.assign(kept, value, false, span);
            }
        }
        for (local, value) in pairs {
            self.assign(local, value, no_inline, span);
        }
    }

    /// An access to a global.
    pub fn access(
        &mut self,
        global: GlobalId,
        index: Expression,
        access: Access,
        result: Option<LocalId>,
        span: Span,
    ) {
        self.emit(StatementKind::Access { global, index, access, result }, span);
    }
}

/// The local, if the value is one.
pub(super) fn as_local(value: &Value) -> Option<LocalId> {
    match value {
        Value::Scalar(Expression { kind: ExpressionKind::Local(local), .. }) => Some(*local),
        _ => None,
    }
}
