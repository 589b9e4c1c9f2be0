// SPDX-License-Identifier: Apache-2.0
//! Effects: the places that a body has passed, with the access and the calls of each (Lucid §5.2, the stage
//! of the typing judgement). The paper's stage is one number; here it is a set of places, so two branches
//! need not end at the same place. `body` computes the effects of a body.

use super::place::{Place, Relation};
use crate::syntax::ast::NodeId;
use source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// What an access does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// `Array.get`, `Array.getm`
    Read,
    /// `Array.set`, `Array.setm`
    Write,
    /// `Array.update`, `Array.update_complex`, `PairArray.update`
    Update,
    /// `Counter.add`
    Count,
    /// `Table.lookup`
    LookUp,
    /// `Table.install`
    Install,
    /// A call of a function of which only its interface is known; its name.
    Opaque(Arc<str>),
    /// `start <= p` or `end p` in a function's own constraints.
    Declared,
}

/// A call that leads to an access; the outermost first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The call.
    pub span: Span,
    /// What is called.
    pub function: Arc<str>,
    pub next: Option<Rc<Link>>,
}

/// Where an access happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessSite {
    pub access: Access,
    /// The access itself, in the body that has it.
    pub span: Span,
    /// The calls that lead there.
    pub calls: Option<Rc<Link>>,
}

impl AccessSite {
    /// The place in the checked body: the outermost call, or the access.
    pub(crate) fn outer(&self) -> Span {
        self.calls.as_ref().map_or(self.span, |link| link.span)
    }

    /// The same access, reached through one more call.
    pub(crate) fn through(&self, span: Span, function: &Arc<str>) -> AccessSite {
        let link = Link { span, function: function.clone(), next: self.calls.clone() };
        AccessSite { calls: Some(Rc::new(link)), ..self.clone() }
    }
}

/// A place that has been passed, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassedPlace {
    pub place: Place,
    pub site: AccessSite,
}

/// The passed places at a point of the body. An empty list means: those passed before
/// the body began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    pub passed: Vec<PassedPlace>,
    /// Whether no path reaches this point.
    pub stopped: bool,
}

impl Flow {
    /// The places that may have been passed on either of two paths.
    pub(crate) fn join(self, other: Flow) -> Flow {
        if self.stopped {
            return other;
        }
        if other.stopped {
            return self;
        }
        let mut passed = self.passed;
        merge(&mut passed, other.passed);
        Flow { passed, stopped: false }
    }
}

/// Adds what has been passed on another path; of two places of which one is behind the other, the
/// later is enough.
pub(crate) fn merge(passed: &mut Vec<PassedPlace>, others: impl IntoIterator<Item = PassedPlace>) {
    for other in others {
        let covered = |own: &PassedPlace| {
            matches!(
                other.place.relation(&own.place),
                Relation::Before | Relation::Same | Relation::Within
            )
        };
        if passed.iter().any(covered) {
            continue;
        }
        passed.retain(|own| {
            !matches!(own.place.relation(&other.place), Relation::Before | Relation::Within)
        });
        passed.push(other);
    }
}

/// The reason why one place must come before another.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// They are accessed in this order.
    Sequence {
        first: AccessSite,
        second: AccessSite,
        /// Whether the second access is one round of a loop later.
        next_round: bool,
    },
    /// A constraint in the source.
    Declared {
        /// The source of the demand: `event update`, `function f`.
        who: Arc<str>,
        /// The names of the operands as they are in the constraint.
        names: (Arc<str>, Arc<str>),
        /// The constraint.
        constraint: Span,
        /// The call or event value that it is checked for, and the calls that lead there.
        site: Option<(Span, Option<Rc<Link>>)>,
        /// Whether an event asks, whose handler relies on it even if the call is unordered.
        of_event: bool,
    },
}

/// A demand of a body on its callers: `before < after` (or `<=`).
#[derive(Clone, Debug)]
pub(crate) struct OrderConstraint {
    pub before: Place,
    pub after: Place,
    pub strict: bool,
    pub reason: Reason,
}

/// A use of globals by a body, regardless of the order.
#[derive(Clone, Debug)]
pub(crate) enum GlobalUse {
    /// An access.
    Access { place: Place, site: AccessSite },
    /// An event value made, with the places of its arguments.
    Event { event: NodeId, arguments: Vec<Option<Place>>, span: Span },
}

impl GlobalUse {
    /// Generalizes it to all rounds of a loop.
    pub(crate) fn any_round(&mut self, variable: NodeId) {
        match self {
            GlobalUse::Access { place, .. } => *place = place.of_all_rounds(variable),
            GlobalUse::Event { arguments, .. } => {
                for place in arguments.iter_mut().flatten() {
                    *place = place.of_all_rounds(variable);
                }
            }
        }
    }
}

/// The summary of a function's accesses for its callers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    pub name: Arc<str>,
    /// Its parameters in order.
    pub parameters: Vec<NodeId>,
    /// Places that must not have been passed when it is called.
    pub first: Vec<PassedPlace>,
    /// Its demands on its arguments.
    pub demands: Vec<OrderConstraint>,
    /// Those that events ask, even if they follow from others: for unordered calls.
    pub event_demands: Vec<OrderConstraint>,
    /// The passed places when it returns.
    pub end: Vec<PassedPlace>,
    /// Whether the end is declared by a constraint, without one for its begin.
    pub end_declared: bool,
    /// All that it touches.
    pub touches: Vec<GlobalUse>,
    /// Known by its interface only: messages name the call as the access.
    pub opaque: bool,
}
