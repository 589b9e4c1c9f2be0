// SPDX-License-Identifier: Apache-2.0
//! One body under check: what its names stand for, what is known about their order, and what it asks
//! of its callers. An order that is known at once is decided here; one that depends on parameters is
//! asked of the callers of a function, and must follow from the declared constraints of an event.
//! How a body's statements get here is `body`'s.

use super::Order;
use super::effect::{Demand, Flow, Passed, Reason, Site, Touch, merge};
use super::facts::{Fact, Facts};
use super::place::{Base, Place, Relation};
use super::report::{Kind, Violation};
use crate::check::Size;
use crate::syntax::ast::NodeId;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a body belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Has no callers: constraints must be declared with its event.
    Handler { event: Option<NodeId> },
    /// Asks its callers.
    Function,
}

/// See the module's text.
pub(crate) struct Unit<'c, 'p> {
    pub order: &'c mut Order<'p>,
    /// `handler setArr1`, `function f`.
    pub who: Arc<str>,
    pub owner: Owner,
    /// The modules around it.
    pub around: Vec<usize>,
    /// Parameters that callers hand over.
    pub parameters: Vec<NodeId>,
    /// What locals stand for, if it is a global.
    pub places: HashMap<NodeId, Place>,
    /// Loop variables whose value is known.
    pub rounds: HashMap<NodeId, Size>,
    /// What holds: declared constraints, and what was asked for so far.
    pub facts: Facts,
    /// Where each fact comes from.
    pub reasons: Vec<Demand>,
    /// What it asks of its callers.
    pub demands: Vec<Demand>,
    demanded: HashSet<(Place, Place, bool)>,
    /// What events that it makes ask of its callers, whether or not it follows from the rest: an
    /// unordered call leaves out the rest.
    pub event_demands: Vec<Demand>,
    event_demanded: HashSet<(Place, Place, bool)>,
    /// What must not have been passed before.
    pub first: Vec<Passed>,
    /// What has been passed where it returns.
    pub returned: Vec<Passed>,
    /// Whether it calls something of which a declared end is known, but not that it begins before.
    pub end_declared: bool,
    pub touches: Vec<Touch>,
    /// What is among them.
    touched: HashSet<Place>,
    made: HashSet<(NodeId, Vec<Option<Place>>)>,
    /// Product of the rounds of unrolled loops around.
    pub unrolled: u128,
}

impl<'c, 'p> Unit<'c, 'p> {
    pub(crate) fn new(
        order: &'c mut Order<'p>,
        who: Arc<str>,
        owner: Owner,
        around: &[usize],
    ) -> Unit<'c, 'p> {
        Unit {
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

    /// Makes a parameter stand for itself.
    pub(crate) fn parameter(&mut self, id: NodeId, handed_over: bool) {
        self.places.insert(id, Place::whole(Base::Parameter(id)));
        if handed_over {
            self.parameters.push(id);
        }
    }

    /// Takes a constraint for granted.
    pub(crate) fn assume(&mut self, demand: Demand) {
        self.facts.add(Fact {
            before: demand.before.clone(),
            after: demand.after.clone(),
            strict: demand.strict,
        });
        self.reasons.push(demand);
    }

    /// Notes what it has to do with globals, whatever the order.
    pub(crate) fn touch(&mut self, touch: Touch) {
        let new = match &touch {
            Touch::Access { place, .. } => self.touched.insert(place.clone()),
            Touch::Event { event, arguments, .. } => self.made.insert((*event, arguments.clone())),
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

    /// Holds a demand against the declarations, the facts, or the callers. What is wrong is noted;
    /// the answer says whether later places can still be held against the first one.
    pub(crate) fn require(&mut self, demand: Demand) -> Held {
        let Demand { before, after, strict, .. } = &demand;
        let kind = match before.relation(after) {
            Relation::Before => {
                self.order.satisfied(&self.who, &demand);
                return Held::Yes;
            }
            Relation::Same | Relation::Holds if !strict => return Held::Yes,
            Relation::After => Kind::Reversed,
            Relation::Same | Relation::Holds | Relation::Within => Kind::Repeated,
            Relation::Unclear => Kind::Unclear,
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
                    return Held::Yes;
                }
                let refuted = if *strict {
                    self.facts.refutation(before, after)
                } else {
                    self.facts.implies(after, before).then(Vec::new)
                };
                match refuted {
                    Some(way) => {
                        let way = way.into_iter().map(|fact| self.reasons[fact].clone()).collect();
                        Kind::Contradiction(way)
                    }
                    None if asks => {
                        self.ask(demand);
                        return Held::Yes;
                    }
                    None => Kind::Undeclared,
                }
            }
        };
        let settled = !matches!(kind, Kind::Contradiction(_) | Kind::Undeclared);
        self.order.violations.push(Violation {
            who: self.who.clone(),
            owner: self.owner.clone(),
            demand,
            kind,
        });
        if settled { Held::No } else { Held::Unknown }
    }

    /// Asks the callers for an order.
    pub(crate) fn ask(&mut self, demand: Demand) {
        let key = (demand.before.clone(), demand.after.clone(), demand.strict);
        if self.demanded.insert(key) {
            self.assume(demand.clone());
            self.demands.push(demand);
        }
    }

    /// One access.
    pub(crate) fn pass(&mut self, flow: &mut Flow, place: Place, site: Site) {
        if flow.stopped {
            return;
        }
        let late = self.enter(flow, &place, &site, false);
        flow.passed = late;
        merge(&mut flow.passed, [Passed { place, site }]);
    }

    /// Holds an access against what has been passed, and returns what of that stays the latest
    /// because the access comes too late.
    pub(crate) fn enter(
        &mut self,
        flow: &Flow,
        place: &Place,
        site: &Site,
        next_round: bool,
    ) -> Vec<Passed> {
        if flow.passed.is_empty() {
            self.begin_with(Passed { place: place.clone(), site: site.clone() });
            return Vec::new();
        }
        let mut late = Vec::new();
        for passed in &flow.passed {
            let held = self.require(Demand {
                before: passed.place.clone(),
                after: place.clone(),
                strict: true,
                reason: Reason::Sequence {
                    first: passed.site.clone(),
                    second: site.clone(),
                    next_round,
                },
            });
            if held == Held::No {
                late.push(passed.clone());
            }
        }
        late
    }

    /// Notes a place that must not have been passed before the body begins, unless that follows from
    /// one that is noted.
    pub(crate) fn begin_with(&mut self, passed: Passed) {
        let follows = |own: &Passed| {
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

    /// Notes what has been passed where the body returns.
    pub(crate) fn leave(&mut self, flow: &mut Flow) {
        if !flow.stopped {
            let passed = std::mem::take(&mut flow.passed);
            merge(&mut self.returned, passed);
            flow.stopped = true;
        }
    }
}

/// What came of a demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// It holds, or callers are asked.
    Yes,
    /// The second place is at or before the first, or cannot be shown to be behind it.
    No,
    /// Nothing says so; complained about once.
    Unknown,
}
