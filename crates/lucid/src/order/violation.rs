// SPDX-License-Identifier: Apache-2.0
//! Violations of the order of accesses: the demand that does not hold, the body that makes it, and the
//! reason. `body_check` finds them and `report` turns them into diagnostics.

use super::effect::OrderConstraint;
use crate::syntax::ast::NodeId;
use std::sync::Arc;

/// The owner of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// It has no callers; its event must declare the constraints.
    Handler { event: Option<NodeId> },
    /// Its demands go to its callers.
    Function,
}

/// The reason why a demand does not hold.
#[derive(Clone, Debug)]
pub(crate) enum ViolationKind {
    /// The declarations have the other order.
    Reversed,
    /// They are the same, or one is a part of the other.
    Repeated,
    /// Elements of one vector whose order is unknown.
    Unclear,
    /// No fact implies it.
    Undeclared,
    /// These demands imply the opposite order.
    Contradiction(Vec<OrderConstraint>),
}

/// A demand that does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub who: Arc<str>,
    pub owner: Owner,
    pub demand: OrderConstraint,
    pub kind: ViolationKind,
}
