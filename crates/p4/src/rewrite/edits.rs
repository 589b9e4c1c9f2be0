// SPDX-License-Identifier: Apache-2.0
//! Edits of the tree: read, change, insert, replace, remove, move. Each acts at once on the tree as the
//! edits before it left it. The rewriter checks names and references when it
//! finishes.

use super::errors::{EditError, Problem};
use super::lists::{InList, InOwner, ListEdit, Removal, Remove, ids, is_at};
use super::{NodeLocation, Rewriter, deep};
use crate::ast::{Declaration, Node, NodeId, Program, Statement, StatementKind};
use crate::visit::{Visit, Visited};
use crate::visit_mut::{VisitMut, VisitedMut};
use rustc_hash::FxHashSet;
use source::Span;
use std::any::Any;

impl Rewriter {
    /// Returns the node of this identity in the tree as changed so far.
    ///
    /// # Errors
    ///
    /// There is no such node, or it is of another kind.
    pub fn get<T: Node>(&self, at: NodeId) -> Result<&T, EditError> {
        let home = self.home(at)?;
        let mut find = Find { at, found: None, other: None };
        Declaration::accept(&self.tree.declarations[home], &mut find);
        find.found.ok_or_else(|| wrong_kind::<T>(at, find.other))
    }

    /// Changes a node in place. What `change` puts in must be copied, adopted, or out of the tree.
    ///
    /// # Errors
    ///
    /// There is no such node, it is of another kind, or the change puts in a node that is elsewhere in the
    /// tree; then the change is not made.
    pub fn edit<T: VisitedMut, R>(
        &mut self,
        at: NodeId,
        change: impl FnOnce(&mut T) -> R,
    ) -> Result<R, EditError> {
        let mut node = deep(|| self.get::<T>(at).cloned())?;
        let before = ids(&mut node);
        let result = change(&mut node);
        let after = ids(&mut node);
        let old: FxHashSet<NodeId> = before.iter().map(|(id, _)| *id).collect();
        self.check_detached(&after, &old)?;
        let home = self.home(at)?;
        let owner = self.tree.declarations[home].id;
        self.detach(&before);
        let new_owner = if owner == at { node.id() } else { owner };
        self.mark(&after, NodeLocation::In(new_owner));
        let mut put = Put { at, node: Some(node) };
        Declaration::accept_mut(&mut self.tree.declarations[home], &mut put);
        if new_owner != owner {
            self.rehome(home);
        }
        Ok(result)
    }

    /// Puts another node where this one is. The old one is out of the tree.
    ///
    /// # Errors
    ///
    /// As [`Rewriter::edit`].
    pub fn replace<T: VisitedMut>(&mut self, at: NodeId, with: T) -> Result<(), EditError> {
        self.edit(at, |node: &mut T| *node = with)
    }

    /// Puts nodes before a node of the same list: statements, declarations, states, select or switch
    /// cases, fields, keys, actions, entries and properties of tables, arguments, parameters, enum
    /// members, elements of list expressions. Nodes put before the same node one after the other stand in the
    /// order in which they were put. A statement that is the branch of an `if` or the body of a loop
    /// becomes a block.
    ///
    /// # Errors
    ///
    /// There is no such node, its list has nodes of another kind, or one of the new nodes is in the tree
    /// already or not of this rewriter.
    pub fn insert_before<T: VisitedMut>(
        &mut self,
        at: NodeId,
        nodes: Vec<T>,
    ) -> Result<(), EditError> {
        self.in_list(at, nodes, |list, index, nodes| {
            list.splice(index..index, nodes);
            Vec::new()
        })
    }

    /// Puts nodes after a node of the same list, otherwise as [`Rewriter::insert_before`]. What is
    /// put after the same node later stands nearer to it.
    ///
    /// # Errors
    ///
    /// As [`Rewriter::insert_before`].
    pub fn insert_after<T: VisitedMut>(
        &mut self,
        at: NodeId,
        nodes: Vec<T>,
    ) -> Result<(), EditError> {
        self.in_list(at, nodes, |list, index, nodes| {
            list.splice(index + 1..index + 1, nodes);
            Vec::new()
        })
    }

    /// Puts any number of nodes into a list in the place of one.
    ///
    /// # Errors
    ///
    /// As [`Rewriter::insert_before`].
    pub fn replace_with_list<T: VisitedMut>(
        &mut self,
        at: NodeId,
        nodes: Vec<T>,
    ) -> Result<(), EditError> {
        self.in_list(at, nodes, |list, index, nodes| list.splice(index..index + 1, nodes).collect())
    }

    /// Takes a node out of its list, to put it in elsewhere. The branch of an `if` or the body of a loop
    /// leaves an empty block.
    ///
    /// # Errors
    ///
    /// As [`Rewriter::insert_before`].
    pub fn take<T: VisitedMut>(&mut self, at: NodeId) -> Result<T, EditError> {
        let node = deep(|| self.get::<T>(at).cloned())?;
        self.replace_with_list::<T>(at, Vec::new())?;
        Ok(node)
    }

    /// Removes a node of any kind from its list; a declaration among statements with its statement. The
    /// branch of an `if` or the body of a loop leaves an empty block, an `else` branch nothing.
    ///
    /// # Errors
    ///
    /// There is no such node, or it is not in a list.
    pub fn remove(&mut self, at: NodeId) -> Result<(), EditError> {
        let home = self.home(at)?;
        if self.tree.declarations[home].id == at {
            let mut removed = self.tree.declarations.remove(home);
            self.detach(&ids(&mut removed));
            return Ok(());
        }
        let mut remove =
            Remove { at, id: NodeId(self.tree.node_count), removed: None, other: None };
        Declaration::accept_mut(&mut self.tree.declarations[home], &mut remove);
        let Remove { removed, other, .. } = remove;
        let Some(Removal { ids, block }) = removed else {
            let (found, span) = other.unwrap_or(("node", Span::NONE));
            return Err(EditError::new(at, span, Problem::NotInList { found }));
        };
        self.detach(&ids);
        if block {
            let id = self.fresh_id();
            self.mark(&[(id, Span::NONE)], NodeLocation::In(self.tree.declarations[home].id));
        }
        Ok(())
    }

    /// Puts nodes at the start of a list that belongs to a node: statements of a block statement,
    /// action, function, control (its `apply`), state or switch case; declarations of a control, parser or
    /// instance; parameters; select cases of a state; properties of a table, and so on. A list of the same kind
    /// that comes later in the text (constructor parameters) is reached by its elements or by
    /// [`Rewriter::edit`].
    ///
    /// # Errors
    ///
    /// There is no such node, it has no such list, or one of the new nodes is in the tree already or not of
    /// this rewriter.
    pub fn prepend<T: VisitedMut>(
        &mut self,
        owner: NodeId,
        nodes: Vec<T>,
    ) -> Result<(), EditError> {
        self.in_owner(owner, nodes, |list, nodes| {
            list.splice(0..0, nodes);
        })
    }

    /// Puts nodes at the end of a list that belongs to a node, otherwise as [`Rewriter::prepend`].
    ///
    /// # Errors
    ///
    /// As [`Rewriter::prepend`].
    pub fn append<T: VisitedMut>(&mut self, owner: NodeId, nodes: Vec<T>) -> Result<(), EditError> {
        self.in_owner(owner, nodes, Vec::extend)
    }

    /// Puts declarations at the end of the program.
    ///
    /// # Errors
    ///
    /// One of them is in the tree already or not of this rewriter.
    pub fn append_declarations(
        &mut self,
        mut declarations: Vec<Declaration>,
    ) -> Result<(), EditError> {
        self.check_detached(&ids(&mut declarations), &FxHashSet::default())?;
        let first = self.tree.declarations.len();
        self.tree.declarations.append(&mut declarations);
        (first..self.tree.declarations.len()).for_each(|index| self.rehome(index));
        Ok(())
    }

    /// Applies `act` to the list that contains a node. `act` returns the removed nodes.
    fn in_list<T: VisitedMut>(
        &mut self,
        at: NodeId,
        mut nodes: Vec<T>,
        act: impl FnOnce(&mut Vec<T>, usize, Vec<T>) -> Vec<T>,
    ) -> Result<(), EditError> {
        let home = self.home(at)?;
        let new = ids(&mut nodes);
        self.check_detached(&new, &FxHashSet::default())?;
        if self.tree.declarations[home].id == at {
            let Some(list) = (&mut self.tree.declarations as &mut dyn Any).downcast_mut() else {
                let span = self.tree.declarations[home].span;
                return Err(wrong_kind::<T>(at, Some((Declaration::KIND, span))));
            };
            let count = nodes.len();
            let mut old = act(list, home, nodes);
            self.detach(&ids(&mut old));
            let last = (home + count + 1).min(self.tree.declarations.len());
            (home..last).for_each(|index| self.rehome(index));
            return Ok(());
        }
        let is_plain = nodes.iter().all(|node| match (node as &dyn Any).downcast_ref() {
            Some(Statement { kind, .. }) => matches!(
                kind,
                StatementKind::Assign { .. }
                    | StatementKind::Call(_)
                    | StatementKind::Declaration(_)
            ),
            None => true,
        });
        let mut edit = InList {
            at,
            id: NodeId(self.tree.node_count),
            is_plain,
            act: Some(|list: &mut Vec<T>, index: usize| act(list, index, nodes)),
            outcome: None,
            other: None,
        };
        Declaration::accept_mut(&mut self.tree.declarations[home], &mut edit);
        let InList { outcome, other, .. } = edit;
        let owner = self.tree.declarations[home].id;
        match outcome {
            Some(ListEdit::Done { mut old, block }) => {
                self.detach(&ids(&mut old));
                self.mark(&new, NodeLocation::In(owner));
                if block {
                    let id = self.fresh_id();
                    self.mark(&[(id, Span::NONE)], NodeLocation::In(owner));
                }
                Ok(())
            }
            Some(ListEdit::LoopHeader(span)) => {
                Err(EditError::new(at, span, Problem::NotInLoopHeader))
            }
            None => Err(match other {
                Some((found, span)) if found == T::KIND => {
                    EditError::new(at, span, Problem::NotInList { found })
                }
                other => wrong_kind::<T>(at, other),
            }),
        }
    }

    /// Applies `act` to the first list of its kind that belongs to a node.
    fn in_owner<T: VisitedMut>(
        &mut self,
        owner: NodeId,
        mut nodes: Vec<T>,
        act: impl FnOnce(&mut Vec<T>, Vec<T>),
    ) -> Result<(), EditError> {
        let home = self.home(owner)?;
        let new = ids(&mut nodes);
        self.check_detached(&new, &FxHashSet::default())?;
        let mut edit = InOwner {
            owner,
            found: None,
            open: 0,
            act: Some(|list: &mut Vec<T>| act(list, nodes)),
            element: std::marker::PhantomData::<T>,
        };
        Declaration::accept_mut(&mut self.tree.declarations[home], &mut edit);
        if edit.act.is_none() {
            self.mark(&new, NodeLocation::In(self.tree.declarations[home].id));
            return Ok(());
        }
        let (kind, span) = edit.found.unwrap_or(("node", Span::NONE));
        let problem = Problem::NoSuchList { owner: kind, element: T::KIND };
        Err(EditError::new(owner, span, problem))
    }

    /// Returns the index of the top-level declaration that a node of the tree is in.
    pub(super) fn home(&self, at: NodeId) -> Result<usize, EditError> {
        let missing = || EditError::new(at, Span::NONE, Problem::NoSuchNode);
        match self.places.get(at.0 as usize) {
            Some(NodeLocation::In(owner)) => self
                .tree
                .declarations
                .iter()
                .position(|declaration| declaration.id == *owner)
                .ok_or_else(missing),
            _ => Err(missing()),
        }
    }

    /// Records the nodes of a top-level declaration as in the tree.
    pub(super) fn rehome(&mut self, index: usize) {
        let declaration = &mut self.tree.declarations[index];
        let owner = declaration.id;
        let inside = ids(declaration);
        self.mark(&inside, NodeLocation::In(owner));
    }

    /// Records nodes as out of the tree.
    pub(super) fn detach(&mut self, nodes: &[(NodeId, Span)]) {
        self.mark(nodes, NodeLocation::Detached);
    }

    fn mark(&mut self, nodes: &[(NodeId, Span)], place: NodeLocation) {
        self.places.resize(self.tree.node_count as usize, NodeLocation::Detached);
        for (id, _) in nodes {
            self.places[id.0 as usize] = place;
        }
    }

    /// Checks that new nodes are out of the tree, but for those in `old`, and that each is there once.
    fn check_detached(
        &self,
        new: &[(NodeId, Span)],
        old: &FxHashSet<NodeId>,
    ) -> Result<(), EditError> {
        let mut seen = FxHashSet::default();
        for (id, span) in new {
            let is_detached = match self.places.get(id.0 as usize) {
                Some(place) => *place == NodeLocation::Detached,
                None => id.0 < self.tree.node_count,
            };
            if !(is_detached || old.contains(id)) || !seen.insert(*id) {
                return Err(EditError::new(*id, *span, Problem::NotDetached));
            }
        }
        Ok(())
    }
}

/// The positions of all nodes of a program.
pub(super) fn places(program: &Program) -> Vec<NodeLocation> {
    struct Places {
        owner: NodeId,
        places: Vec<NodeLocation>,
    }
    impl<'a> Visit<'a> for Places {
        fn id(&mut self, id: &'a NodeId) {
            if let Some(place) = self.places.get_mut(id.0 as usize) {
                *place = NodeLocation::In(self.owner);
            }
        }
    }
    let places = vec![NodeLocation::Unassigned; program.node_count as usize];
    let mut visitor = Places { owner: NodeId(0), places };
    for declaration in &program.declarations {
        visitor.owner = declaration.id;
        visitor.declaration(declaration);
    }
    visitor.places
}

fn wrong_kind<T: Node>(at: NodeId, found: Option<(&'static str, Span)>) -> EditError {
    match found {
        Some((found, span)) => {
            EditError::new(at, span, Problem::WrongKind { expected: T::KIND, found })
        }
        None => EditError::new(at, Span::NONE, Problem::NoSuchNode),
    }
}

struct Find<'a, T> {
    at: NodeId,
    found: Option<&'a T>,
    other: Option<(&'static str, Span)>,
}

impl<'a, U: Node> Visit<'a> for Find<'a, U> {
    fn enter<T: Node>(&mut self, node: &'a T) -> bool {
        if self.found.is_some() {
            return false;
        }
        if node.id() == self.at {
            self.other = Some((T::KIND, node.span()));
            self.found = (node as &dyn Any).downcast_ref();
        }
        self.found.is_none()
    }

    fn list<T: Visited<'a>>(&mut self, list: &'a [T]) {
        for node in list {
            if self.found.is_some() {
                return;
            }
            // The statement of a declaration has the declaration's identity.
            if is_at(node, self.at)
                && let Some(found) = (node as &dyn Any).downcast_ref()
            {
                self.found = Some(found);
                return;
            }
            T::accept(node, self);
        }
    }
}

struct Put<T> {
    at: NodeId,
    node: Option<T>,
}

impl<U: Node> VisitMut for Put<U> {
    fn enter<T: Node>(&mut self, node: &mut T) -> bool {
        if is_at(node, self.at)
            && let Some(place) = (node as &mut dyn Any).downcast_mut::<U>()
            && let Some(new) = self.node.take()
        {
            *place = new;
        }
        self.node.is_some()
    }
}
