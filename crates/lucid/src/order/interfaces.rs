// SPDX-License-Identifier: Apache-2.0
//! Checks interfaces of modules against the bodies behind them. Callers outside know only an interface's
//! constraints, so these must imply what the body needs and declare what it passes.

use super::Order;
use super::codes;
use super::constraints::Constraints;
use super::effect::{AccessSite, OrderConstraint, Reason, Summary};
use super::facts::{Fact, Facts};
use super::index::{Ordered, interface_entry};
use super::place::{Base, Place, Relation};
use crate::syntax::ast::{
    Constraint, Declaration, DeclarationKind, InterfaceItem, InterfaceItemKind,
};
use source::Diagnostic;
use std::sync::Arc;

/// Checks the interfaces of modules against the functions and events behind them.
pub(crate) fn check<'p>(
    order: &mut Order<'p>,
    module_name: &str,
    interface: &'p [InterfaceItem],
    declarations: &'p [Declaration],
) {
    for item in interface {
        match &item.kind {
            InterfaceItemKind::Function { name, .. } => {
                // Of two of a name, the later counts.
                let body = declarations.iter().rev().find_map(|each| match &each.kind {
                    DeclarationKind::Function { name: own, .. } if own.name == name.name => {
                        Some(own.id)
                    }
                    _ => None,
                });
                let Some(summary) = body.and_then(|id| order.summaries.get(&id).cloned()) else {
                    continue;
                };
                if let Some(ordered) = interface_entry(item, &name.name) {
                    held_against(order, module_name, ordered, &summary, false);
                }
            }
            InterfaceItemKind::Event { name, .. } => {
                let event = declarations.iter().rev().find_map(|each| match &each.kind {
                    DeclarationKind::Event { name: own, .. } if own.name == name.name => {
                        order.index.events.get(&own.id).copied()
                    }
                    _ => None,
                });
                if let (Some(event), Some(ordered)) = (event, interface_entry(item, &name.name)) {
                    let own = Constraints::of_event(order, event, &name.name);
                    let summary = Summary { demands: own.demands, ..own.empty };
                    held_against(order, module_name, ordered, &summary, true);
                }
            }
            InterfaceItemKind::Module { name, interface } => {
                let inner = declarations.iter().rev().find_map(|each| match &each.kind {
                    DeclarationKind::Module { name: own, declarations, .. }
                        if own.name == name.name =>
                    {
                        Some(declarations)
                    }
                    _ => None,
                });
                if let Some(declarations) = inner {
                    let full = format!("{module_name}.{}", name.name);
                    check(order, &full, interface, declarations);
                }
            }
            _ => {}
        }
    }
}

/// A constraint that an interface lacks.
struct Missing {
    /// The constraint that would declare it.
    constraint: String,
    /// The missing guarantee, in words.
    need: String,
    /// The access that needs it.
    site: Option<AccessSite>,
}

/// Whether an interface's constraints imply what a body needs, and its end what a body passes.
fn held_against(
    order: &mut Order<'_>,
    module_name: &str,
    ordered: Ordered<'_>,
    body: &Summary,
    event: bool,
) {
    let name: Arc<str> = format!("{module_name}.{}", ordered.name).into();
    let shown = if event {
        Constraints::of_event(order, ordered, &name)
    } else {
        Constraints::of_function(order, ordered, &name)
    };
    let missing = left_out(order, &shown, body);
    if missing.is_empty() {
        return;
    }
    let what = if event { "event" } else { "function" };
    let mut diagnostic = Diagnostic::error(
        codes::INTERFACE,
        ordered.span,
        format!("the interface of {module_name} is too weak for {what} {}", ordered.name),
    )
    .here(missing[0].need.clone());
    if let Some(site) = &missing[0].site {
        diagnostic = diagnostic.label(site.span, "because of this");
    }
    for other in &missing[1..] {
        diagnostic = diagnostic.note(format!("and {}", other.need));
    }
    let has_end = ordered.constraints.iter().any(|each| matches!(each, Constraint::End { .. }));
    let mut written: Vec<&str> = Vec::new();
    for Missing { constraint, .. } in &missing {
        let ends_twice = has_end && constraint.starts_with("end ");
        if !ends_twice && !written.contains(&&**constraint) {
            written.push(constraint);
        }
    }
    let advice = if written.is_empty() {
        "move the interface's `end` to the last global that the body passes".to_owned()
    } else {
        format!("add to the interface: `[{}]`", written.join("; "))
    };
    order
        .found
        .push(diagnostic.note("callers outside the module know only its interface").help(advice));
}

/// Demands and effects of a body that the constraints lack.
fn left_out(order: &Order<'_>, shown: &Constraints, body: &Summary) -> Vec<Missing> {
    let start = Place::whole(Base::Start);
    let mut facts = Facts::default();
    for OrderConstraint { before, after, strict, .. } in &shown.demands {
        facts.add(Fact { before: before.clone(), after: after.clone(), strict: *strict });
    }
    for first in &shown.first {
        facts.add(Fact { before: start.clone(), after: first.clone(), strict: false });
    }
    // The body's parameters as the interface names them.
    let outside = |place: &Place| -> Place {
        let base = match place.base {
            Base::Parameter(id) => body
                .parameters
                .iter()
                .position(|own| *own == id)
                .and_then(|at| shown.empty.parameters.get(at))
                .map_or(place.base, |id| Base::Parameter(*id)),
            base => base,
        };
        Place { base, steps: place.steps.clone() }
    };
    let whole = |place: &Place| order.show(&Place::whole(place.base));
    let mut missing = Vec::new();
    for first in &body.first {
        let place = outside(&first.place);
        if !facts.implies_or_same(&start, &place) {
            missing.push(Missing {
                constraint: format!("start <= {}", whole(&place)),
                need: format!("it needs {} not to have been passed before", order.show(&place)),
                site: Some(first.site.clone()),
            });
        }
    }
    for demand in &body.demands {
        let (before, after) = (outside(&demand.before), outside(&demand.after));
        let follows = if demand.strict {
            facts.implies(&before, &after)
        } else {
            facts.implies_or_same(&before, &after)
        };
        if !follows {
            let sign = if demand.strict { "<" } else { "<=" };
            missing.push(Missing {
                constraint: format!("{} {sign} {}", whole(&before), whole(&after)),
                need: format!("it needs {} before {}", order.show(&before), order.show(&after)),
                site: match &demand.reason {
                    Reason::Sequence { second, .. } => Some(second.clone()),
                    Reason::Declared { .. } => None,
                },
            });
        }
    }
    for passed in &body.end {
        let place = outside(&passed.place);
        let is_declared = shown.end.as_ref().is_some_and(|(end, _)| {
            matches!(end.relation(&place), Relation::Same | Relation::Holds | Relation::After)
                || facts.implies(&place, end)
        });
        if !is_declared {
            missing.push(Missing {
                constraint: format!("end {}", whole(&place)),
                need: format!("it has passed {} when it returns", order.show(&place)),
                site: Some(passed.site.clone()),
            });
        }
    }
    missing
}
