// SPDX-License-Identifier: Apache-2.0
//! Visitors that find the list which holds a node or belongs to a node, and apply an edit's closure to
//! it.

use super::parts::Part;
use crate::ast::{Block, Node, NodeId, Statement, StatementKind};
use crate::visit_mut::{VisitMut, VisitedMut};
use source::Span;
use std::any::Any;

/// Returns the identities in a part, each with a place near it.
pub(super) fn ids<T: Part>(part: &mut T) -> Vec<(NodeId, Span)> {
    struct Ids(Vec<(NodeId, Span)>);
    impl VisitMut for Ids {
        fn id(&mut self, id: &mut NodeId) {
            self.0.push((*id, Span::NONE));
        }

        fn span(&mut self, span: &mut Span) {
            if let Some((_, place)) = self.0.last_mut()
                && *place == Span::NONE
            {
                *place = *span;
            }
        }
    }
    let mut ids = Ids(Vec::new());
    part.walk(&mut ids);
    ids.0
}

/// Whether an element of a list is what an identity names. A declaration among statements also names
/// its statement.
pub(super) fn is_at<T: Node>(node: &T, at: NodeId) -> bool {
    node.id() == at
        || match (node as &dyn Any).downcast_ref() {
            Some(Statement { kind: StatementKind::Declaration(declaration), .. }) => {
                declaration.id == at
            }
            _ => false,
        }
}

pub(super) enum ListEdit<T> {
    Done { old: Vec<T>, block: bool },
    LoopHeader(Span),
}

pub(super) struct InList<T, F> {
    pub(super) at: NodeId,
    /// The identity of a block that an edit creates around a branch or body.
    pub(super) id: NodeId,
    /// Whether all new nodes can be in the parentheses of a `for`.
    pub(super) is_plain: bool,
    pub(super) act: Option<F>,
    pub(super) outcome: Option<ListEdit<T>>,
    /// The kind of a node that is not in a list of the expected kind.
    pub(super) other: Option<(&'static str, Span)>,
}

impl<U: Node, F: FnOnce(&mut Vec<U>, usize) -> Vec<U>> VisitMut for InList<U, F> {
    fn enter<T: Node>(&mut self, node: &mut T) -> bool {
        if self.outcome.is_none() && node.id() == self.at {
            self.other = Some((T::KIND, node.span()));
        }
        self.outcome.is_none()
    }

    fn list<T: VisitedMut>(&mut self, list: &mut Vec<T>) {
        if self.outcome.is_some() {
            return;
        }
        if let Some(index) = list.iter().position(|node| is_at(node, self.at))
            && let Some(list) = (list as &mut dyn Any).downcast_mut()
            && let Some(act) = self.act.take()
        {
            self.outcome = Some(ListEdit::Done { old: act(list, index), block: false });
            return;
        }
        for node in list {
            T::accept_mut(node, self);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        if !self.enter(statement) {
            return;
        }
        if let StatementKind::For { init, update, .. } = &statement.kind
            && !self.is_plain
            && let Some(beside) = init.iter().chain(update).find(|each| is_at(*each, self.at))
        {
            self.outcome = Some(ListEdit::LoopHeader(beside.span));
            return;
        }
        if is_at(statement, self.at) && self.act.is_some() {
            // Only a branch or body comes here: statements of a list are dealt with above.
            let span = statement.span;
            let block = Block { annotations: Vec::new(), statements: Vec::new(), span };
            let kind = StatementKind::Block(block);
            let inner = std::mem::replace(statement, Statement { id: self.id, span, kind });
            let mut list = vec![inner];
            if let Some(wanted) = (&mut list as &mut dyn Any).downcast_mut()
                && let Some(act) = self.act.take()
            {
                self.outcome = Some(ListEdit::Done { old: act(wanted, 0), block: true });
                if let StatementKind::Block(block) = &mut statement.kind {
                    block.statements = list;
                }
                return;
            }
            if let Some(inner) = list.pop() {
                *statement = inner;
            }
        }
        crate::visit_mut::walk_statement(self, statement);
    }
}

pub(super) struct Removal {
    pub(super) ids: Vec<(NodeId, Span)>,
    /// An empty block replaced it.
    pub(super) block: bool,
}

pub(super) struct Remove {
    pub(super) at: NodeId,
    pub(super) id: NodeId,
    pub(super) removed: Option<Removal>,
    pub(super) other: Option<(&'static str, Span)>,
}

impl VisitMut for Remove {
    fn enter<T: Node>(&mut self, node: &mut T) -> bool {
        if self.removed.is_none() && node.id() == self.at {
            self.other = Some((T::KIND, node.span()));
        }
        self.removed.is_none()
    }

    fn list<T: VisitedMut>(&mut self, list: &mut Vec<T>) {
        if self.removed.is_some() {
            return;
        }
        if let Some(index) = list.iter().position(|node| is_at(node, self.at)) {
            let mut old = list.remove(index);
            self.removed = Some(Removal { ids: ids(&mut old), block: false });
            return;
        }
        for node in list {
            T::accept_mut(node, self);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        if !self.enter(statement) {
            return;
        }
        if is_at(statement, self.at) {
            let span = statement.span;
            let block = Block { annotations: Vec::new(), statements: Vec::new(), span };
            let empty = Statement { id: self.id, span, kind: StatementKind::Block(block) };
            let mut old = std::mem::replace(statement, empty);
            self.removed = Some(Removal { ids: ids(&mut old), block: true });
            return;
        }
        if let StatementKind::If { otherwise, .. } = &mut statement.kind
            && otherwise.as_ref().is_some_and(|branch| is_at(&**branch, self.at))
            && let Some(mut old) = otherwise.take()
        {
            self.removed = Some(Removal { ids: ids(&mut *old), block: false });
            return;
        }
        crate::visit_mut::walk_statement(self, statement);
    }
}

pub(super) struct InOwner<T, F> {
    pub(super) owner: NodeId,
    pub(super) found: Option<(&'static str, Span)>,
    /// Inside the owner, outside of the nodes in it. An argument and its value share an identity, so
    /// this can be two.
    pub(super) open: u32,
    pub(super) act: Option<F>,
    pub(super) element: std::marker::PhantomData<T>,
}

impl<U: Node, F: FnOnce(&mut Vec<U>)> VisitMut for InOwner<U, F> {
    fn enter<T: Node>(&mut self, node: &mut T) -> bool {
        if node.id() == self.owner {
            self.found = Some((T::KIND, node.span()));
            // The first list of a `for` is in its parentheses and is not its body.
            let is_loop = matches!(
                (node as &dyn Any).downcast_ref(),
                Some(Statement { kind: StatementKind::For { .. }, .. })
            );
            self.open += u32::from(!is_loop);
            return !is_loop;
        }
        self.found.is_none()
    }

    fn leave<T: Node>(&mut self, node: &mut T) {
        if node.id() == self.owner {
            self.open -= 1;
        }
    }

    fn list<T: VisitedMut>(&mut self, list: &mut Vec<T>) {
        if self.open > 0 {
            if let Some(list) = (list as &mut dyn Any).downcast_mut()
                && let Some(act) = self.act.take()
            {
                act(list);
            }
            return;
        }
        for node in list {
            T::accept_mut(node, self);
        }
    }
}
