// SPDX-License-Identifier: Apache-2.0
//! Violations of the order of accesses: the demand that does not hold, the body that makes it, and the
//! reason. `body_check` finds them and `report` turns them into diagnostics.

use super::effect::Demand;
use crate::syntax::ast::NodeId;
use std::sync::Arc;

/// What a body belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Has no callers: constraints must be declared with its event.
    Handler { event: Option<NodeId> },
    /// Asks its callers.
    Function,
}

/// What is wrong with a demand.
#[derive(Clone, Debug)]
pub(crate) enum ViolationKind {
    /// The declarations have the other order.
    Reversed,
    /// They are the same, or one is a part of the other.
    Repeated,
    /// Elements of one vector that cannot be told apart.
    Unclear,
    /// Nothing says that it holds.
    Undeclared,
    /// These demands say the contrary.
    Contradiction(Vec<Demand>),
}

/// A demand that does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub who: Arc<str>,
    pub owner: Owner,
    pub demand: Demand,
    pub kind: ViolationKind,
}
