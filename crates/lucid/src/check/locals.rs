// SPDX-License-Identifier: Apache-2.0
//! The locals in scope, by name and in order.

use crate::syntax::ast::NodeId;
use std::collections::HashMap;
use std::sync::Arc;

/// Locals; a later one hides an earlier one of its name.
#[derive(Default)]
pub(super) struct Locals {
    order: Vec<(Arc<str>, NodeId)>,
    by_name: HashMap<Arc<str>, Vec<NodeId>>,
}

impl Locals {
    pub fn push(&mut self, name: Arc<str>, id: NodeId) {
        self.by_name.entry(name.clone()).or_default().push(id);
        self.order.push((name, id));
    }

    pub fn get(&self, name: &Arc<str>) -> Option<NodeId> {
        self.by_name.get(name)?.last().copied()
    }

    pub fn first(&self) -> Option<NodeId> {
        self.order.first().map(|(_, id)| *id)
    }

    pub fn latest_first(&self) -> impl Iterator<Item = &(Arc<str>, NodeId)> {
        self.order.iter().rev()
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Ends the scopes of all but the first so many.
    pub fn truncate(&mut self, length: usize) {
        while self.order.len() > length {
            if let Some((name, _)) = self.order.pop()
                && let Some(ids) = self.by_name.get_mut(&name)
            {
                ids.pop();
            }
        }
    }
}
