// SPDX-License-Identifier: Apache-2.0
//! What references refer to while a program is being changed: by the checker's tables in original
//! nodes, by those of their models in copies, and by scope in new code.

use super::Rewriter;
use super::scopes::Bind;
use crate::ast::NodeId;
use crate::typed::{Callee, Definition};

/// Which parameters of something a call passes arguments to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Those of the node itself.
    RunTime,
    /// Those of its constructor.
    Constructor,
}

impl Rewriter {
    /// Returns the node that a copy was made of, through all copies; for other nodes, the node
    /// itself.
    pub fn model_of(&self, node: NodeId) -> NodeId {
        let mut model = node;
        while let Some(earlier) = self.models.get(&model) {
            model = *earlier;
        }
        model
    }

    /// Returns the node that a reference refers to. In a copy that is the copy of what the model refers
    /// to, where both were copied together. In new code it is the declaration in scope, if
    /// [`Rewriter::rename`] or [`Rewriter::prune`] has resolved it.
    pub fn definition(&self, reference: NodeId) -> Option<Definition> {
        if let Some(bound) = self.bound.get(&reference) {
            return Some(*bound);
        }
        let Some(model) = self.models.get(&reference) else {
            return self.typed.definitions.get(&reference).copied();
        };
        Some(match self.definition(*model)? {
            Definition::Node(target) => Definition::Node(self.copied_with(reference, target)),
            other => other,
        })
    }

    /// Returns the node that stands for `target` as seen from `node`: `target` is what the
    /// original's tables say of the model of `node`.
    pub(super) fn mapped(&self, node: NodeId, target: NodeId) -> NodeId {
        match self.models.get(&node) {
            Some(model) => self.copied_with(node, self.mapped(*model, target)),
            None => target,
        }
    }

    /// Returns the copy of `target` that was made together with the copy `node`, or `target`.
    fn copied_with(&self, node: NodeId, target: NodeId) -> NodeId {
        let index = self.copies.partition_point(|copied| copied.end <= node.0);
        let copied = self.copies.get(index).filter(|copied| copied.first <= node.0);
        copied.and_then(|copied| copied.new.get(&target).copied()).unwrap_or(target)
    }

    /// Returns the declarations that a call may pass arguments to.
    pub(super) fn callees(&self, call: NodeId) -> Vec<(NodeId, Role)> {
        let Some(info) = self.typed.calls.get(&self.model_of(call)) else { return Vec::new() };
        let found = match info.callee {
            Callee::Function(node)
            | Callee::ExternFunction(node)
            | Callee::Action(node)
            | Callee::ExternMethod(node)
            | Callee::AbstractMethod(node)
            | Callee::TableApply(node)
            | Callee::BlockApply(node)
            | Callee::DirectApply(node) => vec![(node, Role::RunTime)],
            Callee::Constructor(node, overload) => std::iter::once(node)
                .chain(overload)
                .map(|node| (node, Role::Constructor))
                .collect(),
            Callee::IsValid
            | Callee::SetValid
            | Callee::SetInvalid
            | Callee::PushFront
            | Callee::PopFront
            | Callee::SizeOf => Vec::new(),
        };
        found.into_iter().map(|(node, role)| (self.mapped(call, node), role)).collect()
    }

    /// Whether a node is new code or a copy of new code, about which the checker's tables have nothing.
    pub(super) fn is_new(&self, node: NodeId) -> bool {
        self.model_of(node).0 >= self.typed.program.node_count
    }

    /// Finds out what the references in new code refer to.
    pub(super) fn bind(&mut self) {
        self.bound.clear();
        let mut bind = Bind::new(|node| self.is_new(node));
        bind.program(&self.tree);
        let found = bind.found;
        self.bound.extend(found.into_iter().map(|(at, to)| (at, Definition::Node(to))));
    }
}
