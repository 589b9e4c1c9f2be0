// SPDX-License-Identifier: Apache-2.0
//! Checks calls: accesses by built-in methods, functions by their summaries, and event values by the
//! constraints of their events. A call never walks the body of the function again.

use super::body_check::{BodyCheck, ConstraintOutcome};
use super::constraints::Constraints;
use super::effect::{
    Access, AccessSite, Flow, GlobalUse, OrderConstraint, PassedPlace, Reason, Summary, merge,
};
use super::index::View;
use super::place::{Base, Place, Step};
use crate::check::{Builtin, Definition, Instantiation, SizeTerm};
use crate::syntax::ast::{Expression, NodeId, Parameter, Path};
use source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// What a method of the language does to its first argument.
fn access(builtin: Builtin, arguments: usize) -> Option<Access> {
    Some(match builtin {
        Builtin::ArrayGet | Builtin::ArrayGetm => Access::Read,
        Builtin::ArraySet | Builtin::ArraySetm => Access::Write,
        Builtin::ArrayUpdate | Builtin::ArrayUpdateComplex | Builtin::PairArrayUpdate => {
            Access::Update
        }
        Builtin::CounterAdd => Access::Count,
        Builtin::TableLookup => Access::LookUp,
        Builtin::TableInstall | Builtin::TableInstallTernary => Access::Install,
        _ => return None,
    })
    .filter(|_| arguments > 0)
}

/// The call that is checked.
struct Call<'a> {
    span: Span,
    /// The callee's name here.
    name: Arc<str>,
    /// Its arguments' places, those that have one.
    arguments: &'a [Option<Place>],
    instantiation: Option<&'a Instantiation>,
}

impl<'p> BodyCheck<'_, 'p> {
    /// A call whose arguments have been evaluated.
    pub(crate) fn call(
        &mut self,
        span: Span,
        function: &'p Path,
        arguments: &'p [Expression],
        unordered: bool,
        flow: &mut Flow,
    ) {
        let Some(definition) = self.order.program.definitions.get(&function.id) else { return };
        if let Definition::Builtin(builtin) = definition {
            let Some(access) = access(*builtin, arguments.len()) else { return };
            match self.place(&arguments[0]) {
                Some(place) => {
                    let site = AccessSite { access, span, calls: None };
                    self.touch(GlobalUse::Access { place: place.clone(), site: site.clone() });
                    if !unordered {
                        self.pass(flow, place, site);
                    }
                }
                None if self.holds_globals(&arguments[0]) => self.no_place(&arguments[0]),
                None => {}
            }
            return;
        }
        let places: Vec<Option<Place>> = arguments
            .iter()
            .map(|argument| {
                let place = self.place(argument);
                if place.is_none() && self.holds_globals(argument) {
                    self.no_place(argument);
                }
                place
            })
            .collect();
        let instantiation = self.order.program.instantiations.get(&function.id);
        self.callee(definition, span, &places, instantiation, unordered, flow);
    }

    fn callee(
        &mut self,
        definition: &Definition,
        span: Span,
        arguments: &[Option<Place>],
        instantiation: Option<&Instantiation>,
        unordered: bool,
        flow: &mut Flow,
    ) {
        match definition {
            Definition::Function(id) => {
                let Some(inside) = self.order.summaries.get(id).cloned() else { return };
                let call = Call { span, name: self.name_of(*id), arguments, instantiation };
                self.touch_all(&inside, &call);
                let seen = match self.order.index.view(*id, &self.around) {
                    View::Inside => inside,
                    // The interface's order does not count then, but what its events ask does.
                    View::Interface(_) if unordered => inside,
                    View::Interface(ordered) => {
                        let name = call.name.clone();
                        Rc::new(Constraints::of_function(self.order, ordered, &name).summary())
                    }
                };
                self.apply(&seen, &call, unordered, flow);
            }
            Definition::Event(id) => self.make_event(*id, span, arguments, flow),
            // Either of the two may be meant, so both must do.
            Definition::Aliased { then, otherwise, .. } => {
                let mut other = flow.clone();
                self.callee(then, span, arguments, instantiation, unordered, flow);
                self.callee(otherwise, span, arguments, instantiation, unordered, &mut other);
                *flow = std::mem::take(flow).join(other);
            }
            _ => {}
        }
    }

    /// Checks a function's summary against the passed places.
    fn apply(&mut self, summary: &Summary, call: &Call<'_>, unordered: bool, flow: &mut Flow) {
        if flow.stopped {
            return;
        }
        let demands = if unordered { &summary.event_demands } else { &summary.demands };
        for demand in demands {
            let (Some(before), Some(after)) = (
                handed_over(&demand.before, summary, call),
                handed_over(&demand.after, summary, call),
            ) else {
                continue;
            };
            let reason = reason_through(&demand.reason, summary, call);
            self.require(OrderConstraint { before, after, strict: demand.strict, reason });
        }
        if unordered {
            return;
        }
        let mut late = Vec::new();
        for first in &summary.first {
            let Some(place) = handed_over(&first.place, summary, call) else { continue };
            let site = site_through(&first.site, summary, call);
            merge(&mut late, self.enter(flow, &place, &site, false));
        }
        let end: Vec<PassedPlace> = summary
            .end
            .iter()
            .filter_map(|passed| {
                let place = handed_over(&passed.place, summary, call)?;
                Some(PassedPlace { place, site: site_through(&passed.site, summary, call) })
            })
            .collect();
        if !end.is_empty() {
            // What was passed before the call is before its first accesses, and so before its end,
            // unless that end is only declared.
            self.end_declared |= summary.end_declared;
            if !summary.end_declared {
                flow.passed = late;
            }
            merge(&mut flow.passed, end);
        }
    }

    /// Records the globals that a function uses, in any order.
    fn touch_all(&mut self, summary: &Summary, call: &Call<'_>) {
        for touch in &summary.touches {
            match touch {
                GlobalUse::Access { place, site } => {
                    if let Some(place) = handed_over(place, summary, call) {
                        let site = site.through(call.span, &call.name);
                        self.touch(GlobalUse::Access { place, site });
                    }
                }
                GlobalUse::Event { event, arguments, span } => {
                    let arguments = arguments
                        .iter()
                        .map(|place| handed_over(place.as_ref()?, summary, call))
                        .collect();
                    self.touch(GlobalUse::Event { event: *event, arguments, span: *span });
                }
            }
        }
    }

    /// An event value: its event's constraints must hold, because the handler relies on them. Making
    /// it passes no stage.
    fn make_event(
        &mut self,
        event: NodeId,
        span: Span,
        arguments: &[Option<Place>],
        flow: &mut Flow,
    ) {
        if flow.stopped {
            return;
        }
        let name = self.name_of(event);
        let ordered = match self.order.index.view(event, &self.around) {
            View::Interface(ordered) => Some(ordered),
            View::Inside => self.order.index.events.get(&event).copied(),
        };
        if arguments.iter().any(Option::is_some) {
            let arguments = arguments.to_vec();
            self.touch(GlobalUse::Event { event, arguments, span });
        }
        let Some(ordered) = ordered else { return };
        let constraints = Constraints::of_event(self.order, ordered, &name);
        let summary = Summary { demands: constraints.demands, ..constraints.empty };
        let call = Call { span, name, arguments, instantiation: None };
        for demand in &summary.demands {
            let (Some(before), Some(after)) = (
                handed_over(&demand.before, &summary, &call),
                handed_over(&demand.after, &summary, &call),
            ) else {
                continue;
            };
            let Reason::Declared { who, names, constraint, of_event, .. } = &demand.reason else {
                continue;
            };
            let reason = Reason::Declared {
                who: who.clone(),
                names: names.clone(),
                constraint: *constraint,
                site: Some((span, None)),
                of_event: *of_event,
            };
            let _: ConstraintOutcome =
                self.require(OrderConstraint { before, after, strict: demand.strict, reason });
        }
    }

    /// The arguments of an event in a pattern: they are in the order that the event asks for.
    pub(crate) fn event_pattern(&mut self, event: &'p Path, parameters: &'p [Parameter]) {
        for parameter in parameters {
            self.parameter(parameter.name.id, false);
        }
        if let Some(Definition::Event(id)) = self.order.program.definitions.get(&event.id) {
            self.assume_event(*id, parameters);
        }
    }

    /// Takes an event's constraints for granted, for these parameters of its handler or pattern.
    pub(crate) fn assume_event(&mut self, event: NodeId, parameters: &[Parameter]) {
        let Some(ordered) = self.order.index.events.get(&event).copied() else { return };
        let name = self.name_of(event);
        let constraints = Constraints::of_event(self.order, ordered, &name);
        let arguments: Vec<Option<Place>> = parameters
            .iter()
            .map(|parameter| Some(Place::whole(Base::Parameter(parameter.name.id))))
            .collect();
        let summary = constraints.empty;
        let call = Call { span: ordered.span, name, arguments: &arguments, instantiation: None };
        for demand in constraints.demands {
            if let (Some(before), Some(after)) = (
                handed_over(&demand.before, &summary, &call),
                handed_over(&demand.after, &summary, &call),
            ) {
                self.assume(OrderConstraint { before, after, ..demand });
            }
        }
    }
}

/// A place of a callee as its caller sees it.
fn handed_over(place: &Place, summary: &Summary, call: &Call<'_>) -> Option<Place> {
    let base = match place.base {
        Base::Start => return None,
        Base::Global(_) => Place::whole(place.base),
        Base::Parameter(id) => {
            let at = summary.parameters.iter().position(|parameter| *parameter == id)?;
            call.arguments.get(at)?.clone()?
        }
    };
    // A size that the call says nothing about is not the same in two calls.
    let unknown = |term: SizeTerm| match term {
        SizeTerm::Variable(variable) => call
            .instantiation
            .is_none_or(|instantiation| !instantiation.sizes.contains_key(&variable)),
        SizeTerm::Symbolic(_) | SizeTerm::Loop(_) => false,
    };
    let own = place.cut_before(unknown);
    let mut steps = base.steps;
    for step in own.steps {
        steps.push(match (step, call.instantiation) {
            (Step::Element(index), Some(instantiation)) => {
                Step::Element(instantiation.apply_to_size(&index))
            }
            (step, _) => step,
        });
    }
    Some(Place { base: base.base, steps })
}

/// An access of a callee as its caller sees it.
fn site_through(site: &AccessSite, summary: &Summary, call: &Call<'_>) -> AccessSite {
    if summary.opaque {
        return AccessSite {
            access: Access::Opaque(call.name.clone()),
            span: call.span,
            calls: None,
        };
    }
    site.through(call.span, &call.name)
}

fn reason_through(reason: &Reason, summary: &Summary, call: &Call<'_>) -> Reason {
    match reason {
        Reason::Sequence { first, second, next_round } => Reason::Sequence {
            first: site_through(first, summary, call),
            second: site_through(second, summary, call),
            next_round: *next_round,
        },
        Reason::Declared { who, names, constraint, site, of_event } => {
            let site = match site {
                None => (call.span, None),
                Some((span, calls)) => {
                    let inner =
                        AccessSite { access: Access::Declared, span: *span, calls: calls.clone() };
                    (*span, inner.through(call.span, &call.name).calls)
                }
            };
            Reason::Declared {
                who: who.clone(),
                names: names.clone(),
                constraint: *constraint,
                site: Some(site),
                of_event: *of_event,
            }
        }
    }
}
