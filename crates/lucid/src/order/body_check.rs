// SPDX-License-Identifier: Apache-2.0
//! `BodyCheck`: the order check of one body: the places that its names stand for, the known order of
//! places, and the demands on its callers. It decides a known order at once; a function passes an order
//! that depends on parameters on to its callers, and an event's constraints must imply it.

use super::Order;
use super::effect::{AccessSite, Flow, GlobalUse, OrderConstraint, PassedPlace, Reason, merge};
use super::facts::{Fact, Facts};
use super::place::{Base, Place, Relation};
use super::violation::{Owner, Violation, ViolationKind};
use crate::check::Size;
use crate::syntax::ast::NodeId;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// See the module's text.
pub(crate) struct BodyCheck<'c, 'p> {
    pub order: &'c mut Order<'p>,
    /// `handler setArr1`, `function f`.
    pub who: Arc<str>,
    pub owner: Owner,
    /// The modules around it.
    pub around: Vec<usize>,
    /// Parameters whose values callers pass.
    pub parameters: Vec<NodeId>,
    /// The places of locals that are globals.
    pub places: HashMap<NodeId, Place>,
    /// Loop variables whose value is known.
    pub rounds: HashMap<NodeId, Size>,
    /// Known orders: declared constraints and earlier demands.
    pub facts: Facts,
    /// Where each fact comes from.
    pub reasons: Vec<OrderConstraint>,
    /// Its demands on its callers.
    pub demands: Vec<OrderConstraint>,
    demanded: HashSet<(Place, Place, bool)>,
    /// Demands of the events that it makes, even if other demands imply them: an
    /// unordered call leaves out the rest.
    pub event_demands: Vec<OrderConstraint>,
    event_demanded: HashSet<(Place, Place, bool)>,
    /// Places that must not have been passed before.
    pub first: Vec<PassedPlace>,
    /// The passed places at its returns.
    pub returned: Vec<PassedPlace>,
    /// Whether it calls something of which a declared end is known, but not that it begins before.
    pub end_declared: bool,
    pub touches: Vec<GlobalUse>,
    /// What is among them.
    touched: HashSet<Place>,
    made: HashSet<(NodeId, Vec<Option<Place>>)>,
    /// Product of the rounds of unrolled loops around.
    pub unrolled: u128,
}

impl<'c, 'p> BodyCheck<'c, 'p> {
    pub(crate) fn new(
        order: &'c mut Order<'p>,
        who: Arc<str>,
        owner: Owner,
        around: &[usize],
    ) -> BodyCheck<'c, 'p> {
        BodyCheck {
            order,
            who,
            owner,
            around: around.to_vec(),
            parameters: Vec::new(),
            places: HashMap::new(),
            rounds: HashMap::new(),
            facts: Facts::default(),
            reasons: Vec::new(),
            demands: Vec::new(),
            demanded: HashSet::new(),
            event_demands: Vec::new(),
            event_demanded: HashSet::new(),
            first: Vec::new(),
            returned: Vec::new(),
            end_declared: false,
            touches: Vec::new(),
            touched: HashSet::new(),
            made: HashSet::new(),
            unrolled: 1,
        }
    }

    /// Adds a parameter, whose place is itself.
    pub(crate) fn parameter(&mut self, id: NodeId, handed_over: bool) {
        self.places.insert(id, Place::whole(Base::Parameter(id)));
        if handed_over {
            self.parameters.push(id);
        }
    }

    /// Takes a constraint for granted.
    pub(crate) fn assume(&mut self, demand: OrderConstraint) {
        self.facts.add(Fact {
            before: demand.before.clone(),
            after: demand.after.clone(),
            strict: demand.strict,
        });
        self.reasons.push(demand);
    }

    /// Records a use of globals, regardless of the order.
    pub(crate) fn touch(&mut self, touch: GlobalUse) {
        let new = match &touch {
            GlobalUse::Access { place, .. } => self.touched.insert(place.clone()),
            GlobalUse::Event { event, arguments, .. } => {
                self.made.insert((*event, arguments.clone()))
            }
        };
        if new {
            self.touches.push(touch);
        }
    }

    /// Whether callers know what this place stands for.
    fn is_callers(&self, place: &Place) -> bool {
        match place.base {
            Base::Parameter(id) => self.parameters.contains(&id),
            Base::Start | Base::Global(_) => true,
        }
    }

    /// Checks a demand by the declarations and the facts, or passes it to the callers. Records a violation;
    /// the result says whether later places can still be compared with the first one.
    pub(crate) fn require(&mut self, demand: OrderConstraint) -> ConstraintOutcome {
        let OrderConstraint { before, after, strict, .. } = &demand;
        let kind = match before.relation(after) {
            Relation::Before => {
                self.order.satisfied(&self.who, &demand);
                return ConstraintOutcome::Yes;
            }
            Relation::Same | Relation::Holds if !strict => return ConstraintOutcome::Yes,
            Relation::After => ViolationKind::Reversed,
            Relation::Same | Relation::Holds | Relation::Within => ViolationKind::Repeated,
            Relation::Unclear => ViolationKind::Unclear,
            Relation::Open => {
                let asks = self.owner == Owner::Function
                    && self.is_callers(before)
                    && self.is_callers(after);
                if asks && matches!(demand.reason, Reason::Declared { of_event: true, .. }) {
                    let key = (before.clone(), after.clone(), *strict);
                    if self.event_demanded.insert(key) {
                        self.event_demands.push(demand.clone());
                    }
                }
                let follows = if *strict {
                    self.facts.implies(before, after)
                } else {
                    self.facts.implies_or_same(before, after)
                };
                if follows {
                    return ConstraintOutcome::Yes;
                }
                let refuted = if *strict {
                    self.facts.refutation(before, after)
                } else {
                    self.facts.implies(after, before).then(Vec::new)
                };
                match refuted {
                    Some(path) => {
                        let path =
                            path.into_iter().map(|fact| self.reasons[fact].clone()).collect();
                        ViolationKind::Contradiction(path)
                    }
                    None if asks => {
                        self.ask(demand);
                        return ConstraintOutcome::Yes;
                    }
                    None => ViolationKind::Undeclared,
                }
            }
        };
        let settled = !matches!(kind, ViolationKind::Contradiction(_) | ViolationKind::Undeclared);
        self.order.violations.push(Violation {
            who: self.who.clone(),
            owner: self.owner.clone(),
            demand,
            kind,
        });
        if settled { ConstraintOutcome::No } else { ConstraintOutcome::Unknown }
    }

    /// Adds a demand on the callers.
    pub(crate) fn ask(&mut self, demand: OrderConstraint) {
        let key = (demand.before.clone(), demand.after.clone(), demand.strict);
        if self.demanded.insert(key) {
            self.assume(demand.clone());
            self.demands.push(demand);
        }
    }

    /// One access.
    pub(crate) fn pass(&mut self, flow: &mut Flow, place: Place, site: AccessSite) {
        if flow.stopped {
            return;
        }
        let late = self.enter(flow, &place, &site, false);
        flow.passed = late;
        merge(&mut flow.passed, [PassedPlace { place, site }]);
    }

    /// Checks an access against the passed places, and returns those that stay the latest
    /// because the access comes too late.
    pub(crate) fn enter(
        &mut self,
        flow: &Flow,
        place: &Place,
        site: &AccessSite,
        next_round: bool,
    ) -> Vec<PassedPlace> {
        if flow.passed.is_empty() {
            self.begin_with(PassedPlace { place: place.clone(), site: site.clone() });
            return Vec::new();
        }
        let mut late = Vec::new();
        for passed in &flow.passed {
            let held = self.require(OrderConstraint {
                before: passed.place.clone(),
                after: place.clone(),
                strict: true,
                reason: Reason::Sequence {
                    first: passed.site.clone(),
                    second: site.clone(),
                    next_round,
                },
            });
            if held == ConstraintOutcome::No {
                late.push(passed.clone());
            }
        }
        late
    }

    /// Records a place that must not have been passed before the body begins, unless that follows from
    /// one that is noted.
    pub(crate) fn begin_with(&mut self, passed: PassedPlace) {
        let follows = |own: &PassedPlace| {
            matches!(
                own.place.relation(&passed.place),
                Relation::Before | Relation::Same | Relation::Holds
            )
        };
        if self.first.iter().any(follows) {
            return;
        }
        self.first.retain(|own| {
            !matches!(passed.place.relation(&own.place), Relation::Before | Relation::Holds)
        });
        self.first.push(passed);
    }

    /// Records the passed places at a return.
    pub(crate) fn leave(&mut self, flow: &mut Flow) {
        if !flow.stopped {
            let passed = std::mem::take(&mut flow.passed);
            merge(&mut self.returned, passed);
            flow.stopped = true;
        }
    }
}

/// The result of checking a demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConstraintOutcome {
    /// It holds, or it became a demand on the callers.
    Yes,
    /// The second place is at or before the first, or cannot be shown to be behind it.
    No,
    /// Neither holds nor is refuted; reported once.
    Unknown,
}
