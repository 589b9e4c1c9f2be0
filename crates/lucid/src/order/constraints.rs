// SPDX-License-Identifier: Apache-2.0
//! Converts constraints as written, `[start <= p; p < q; end q]`, to demands: of functions, events and
//! entries of interfaces. `body_check` and `interfaces` check them.

use super::Order;
use super::body_check::BodyCheck;
use super::codes;
use super::effect::{Access, AccessSite, Flow, OrderConstraint, PassedPlace, Reason, Summary};
use super::facts::{Fact, Facts};
use super::index::Ordered;
use super::place::{Base, Place};
use crate::check::Definition;
use crate::syntax::ast::{Constraint, Path};
use source::{Diagnostic, Span};
use std::sync::Arc;

/// Constraints in terms of the parameters they are declared with.
#[derive(Debug)]
pub(crate) struct Constraints {
    pub demands: Vec<OrderConstraint>,
    /// Places that `start` is at or before.
    pub first: Vec<Place>,
    /// The passed places at the end, and the constraint that declares them.
    pub end: Option<(Place, Span)>,
    /// Name and parameters.
    pub empty: Summary,
}

impl Constraints {
    /// Of a function, or of a function in an interface. `name` is how it is called where they count.
    pub(crate) fn of_function(
        order: &mut Order<'_>,
        ordered: Ordered<'_>,
        name: &Arc<str>,
    ) -> Constraints {
        Constraints::read(order, ordered, &format!("function {name}"), false)
    }

    /// Of an event.
    pub(crate) fn of_event(
        order: &mut Order<'_>,
        ordered: Ordered<'_>,
        name: &Arc<str>,
    ) -> Constraints {
        Constraints::read(order, ordered, &format!("event {name}"), true)
    }

    fn read(order: &mut Order<'_>, ordered: Ordered<'_>, who: &str, of_event: bool) -> Constraints {
        let parameters = ordered.parameters.iter().map(|each| each.name.id).collect();
        let empty = Summary { name: ordered.name.clone(), parameters, ..Summary::default() };
        let mut constraints =
            Constraints { demands: Vec::new(), first: Vec::new(), end: None, empty };
        for constraint in ordered.constraints {
            match constraint {
                Constraint::Chain { operands, strict, .. } => {
                    for (pair, strict) in operands.windows(2).zip(strict) {
                        constraints
                            .pair(order, ordered, &pair[0], &pair[1], *strict, who, of_event);
                    }
                }
                Constraint::End { operand, span } => {
                    let Some(place) = operand_place(order, ordered, operand) else { continue };
                    if let Some((_, first)) = constraints.end {
                        order.found.push(
                            Diagnostic::error(
                                codes::CONSTRAINT,
                                *span,
                                "a function has one end; here is a second",
                            )
                            .label(first, "the first")
                            .help("keep the later of the two"),
                        );
                        continue;
                    }
                    constraints.end = Some((place, *span));
                }
            }
        }
        constraints.infer(order, ordered);
        constraints
    }

    /// Without constraints, a function with a single global starts before it and ends behind it,
    /// as in the reference implementation.
    fn infer(&mut self, order: &Order<'_>, ordered: Ordered<'_>) {
        if !ordered.constraints.is_empty() {
            return;
        }
        let program = order.program;
        let mut globals = ordered.parameters.iter().filter(|parameter| {
            program.types.get(&parameter.name.id).is_some_and(|ty| program.is_global(ty))
        });
        if let (Some(only), None) = (globals.next(), globals.next()) {
            let place = Place::whole(Base::Parameter(only.name.id));
            self.first.push(place.clone());
            self.end = Some((place, only.name.span));
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one pair of operands")]
    fn pair(
        &mut self,
        order: &mut Order<'_>,
        ordered: Ordered<'_>,
        left: &Path,
        right: &Path,
        strict: bool,
        who: &str,
        of_event: bool,
    ) {
        let (Some(before), Some(after)) =
            (operand_place(order, ordered, left), operand_place(order, ordered, right))
        else {
            return;
        };
        if after.base == Base::Start {
            order.found.push(
                Diagnostic::error(codes::CONSTRAINT, right.span, "nothing comes before the start")
                    .help("write `start <= ...` at the beginning of a constraint"),
            );
            return;
        }
        if before.base == Base::Start {
            self.first.push(after);
            return;
        }
        let name = |path: &Path| path.segments.last().map(|last| last.name.clone());
        let names = (name(left).unwrap_or_default(), name(right).unwrap_or_default());
        self.demands.push(OrderConstraint {
            before,
            after,
            strict,
            reason: Reason::Declared {
                who: who.into(),
                names,
                constraint: left.span.to(right.span),
                site: None,
                of_event,
            },
        });
    }

    /// The summary that the constraints alone give.
    pub(crate) fn summary(self) -> Summary {
        let site = AccessSite {
            access: Access::Opaque(self.empty.name.clone()),
            span: Span::NONE,
            calls: None,
        };
        let passed = |place: Place| PassedPlace { place, site: site.clone() };
        let mut facts = Facts::default();
        for OrderConstraint { before, after, strict, .. } in &self.demands {
            facts.add(Fact { before: before.clone(), after: after.clone(), strict: *strict });
        }
        let starts_before = |(end, _): &(Place, Span)| {
            self.first.iter().any(|first| facts.implies_or_same(first, end))
        };
        let end_declared = !self.end.iter().all(starts_before);
        Summary {
            first: self.first.into_iter().map(passed).collect(),
            demands: self.demands,
            end: self.end.into_iter().map(|(place, _)| passed(place)).collect(),
            end_declared,
            opaque: true,
            ..self.empty
        }
    }
}

/// The place of an operand of a constraint.
fn operand_place(order: &Order<'_>, ordered: Ordered<'_>, operand: &Path) -> Option<Place> {
    let name = &operand.segments.last()?.name;
    let parameter = ordered.parameters.iter().rfind(|parameter| parameter.name.name == *name);
    let simple = operand.segments.len() == 1;
    let program = order.program;
    match program.definitions.get(&operand.id) {
        Some(Definition::Global(id)) => {
            let number = order.index.global_numbers.get(id)?;
            Some(Place::whole(Base::Global(*number)))
        }
        // The type checker has reported operands that are not globals.
        _ => match parameter.filter(|_| simple) {
            Some(parameter) => Some(Place::whole(Base::Parameter(parameter.name.id))),
            None if simple && **name == *"start" => Some(Place::whole(Base::Start)),
            None => None,
        },
    }
}

/// Adds the constraints that a function declares to its demands.
pub(crate) fn declare_own(
    unit: &mut BodyCheck<'_, '_>,
    ordered: Ordered<'_>,
) -> Option<PassedPlace> {
    if ordered.constraints.is_empty() {
        return None;
    }
    let name = ordered.name.clone();
    let constraints = Constraints::of_function(unit.order, ordered, &name);
    for place in constraints.first {
        let span = ordered.span;
        let site = AccessSite { access: Access::Declared, span, calls: None };
        unit.enter(&Flow::default(), &place, &site, false);
    }
    for demand in constraints.demands {
        unit.require(demand);
    }
    constraints.end.map(|(place, span)| PassedPlace {
        place,
        site: AccessSite { access: Access::Declared, span, calls: None },
    })
}
