// SPDX-License-Identifier: Apache-2.0
//! Checks that ingress and egress use different globals: a global is in one stage of one of the two
//! pipelines (reference manual, egress handlers). A handler of an event over globals counts for each choice
//! of globals that the event is made with.

use super::Order;
use super::codes;
use super::effect::{AccessSite, GlobalUse};
use super::place::{Base, Place};
use crate::syntax::ast::{HandlerSort, NodeId};
use source::Diagnostic;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The globals that a handler uses.
#[derive(Clone, Debug)]
pub(crate) struct HandlerUses {
    pub who: Arc<str>,
    pub event: Option<NodeId>,
    pub sort: HandlerSort,
    pub parameters: Vec<NodeId>,
    pub touches: Vec<GlobalUse>,
}

/// Limit of checked choices of globals for events; no program that fits a switch has as many.
const CHOICES: usize = 100_000;

/// Reports each global that handlers of both pipelines touch.
pub(crate) fn check(order: &mut Order<'_>) {
    if order.handlers.iter().all(|handler| handler.sort != HandlerSort::Egress) {
        return;
    }
    let mut ingress: BTreeMap<u32, (Arc<str>, AccessSite)> = BTreeMap::new();
    let mut egress: BTreeMap<u32, (Arc<str>, AccessSite)> = BTreeMap::new();
    // Handlers of events without globals run as they are; others with what events are made with.
    let mut work: Vec<(usize, Vec<Option<Place>>)> = (0..order.handlers.len())
        .map(|handler| (handler, vec![None; order.handlers[handler].parameters.len()]))
        .collect();
    let mut seen: HashSet<(usize, Vec<Option<Place>>)> = work.iter().cloned().collect();
    while let Some((handler, arguments)) = work.pop() {
        let HandlerUses { who, sort, parameters, touches, .. } = &order.handlers[handler];
        let outside = |place: &Place| -> Option<Place> {
            match place.base {
                Base::Start => None,
                Base::Global(_) => Some(place.clone()),
                Base::Parameter(id) => {
                    let at = parameters.iter().position(|own| *own == id)?;
                    let mut outside = arguments.get(at)?.clone()?;
                    outside.steps.extend(place.steps.iter().cloned());
                    Some(outside)
                }
            }
        };
        let touched = match sort {
            HandlerSort::Ingress => Some(&mut ingress),
            HandlerSort::Egress => Some(&mut egress),
            // Runs on the switch's processor.
            HandlerSort::Control => None,
        };
        let mut made = Vec::new();
        if let Some(touched) = touched {
            for touch in touches {
                match touch {
                    GlobalUse::Access { place, site } => {
                        if let Some(Place { base: Base::Global(number), .. }) = outside(place) {
                            touched.entry(number).or_insert_with(|| (who.clone(), site.clone()));
                        }
                    }
                    GlobalUse::Event { event, arguments, .. } => {
                        let arguments: Vec<Option<Place>> =
                            arguments.iter().map(|place| outside(place.as_ref()?)).collect();
                        made.push((*event, arguments));
                    }
                }
            }
        }
        for (event, arguments) in made {
            for (handler, touches) in order.handlers.iter().enumerate() {
                let known = seen.len() >= CHOICES || touches.event != Some(event);
                if !known && seen.insert((handler, arguments.clone())) {
                    work.push((handler, arguments.clone()));
                }
            }
        }
    }
    for (number, (ingress_handler, ingress_site)) in &ingress {
        let Some((egress_handler, egress_site)) = egress.get(number) else { continue };
        let global = order.index.globals[*number as usize].clone();
        order.found.push(
            Diagnostic::error(
                codes::BOTH_PIPELINES,
                egress_site.outer(),
                format!("{egress_handler} uses {}, which {ingress_handler} uses too", global.name),
            )
            .here("used as events leave the switch")
            .label(ingress_site.outer(), "used as events arrive")
            .label(global.span, format!("{} is declared here", global.name))
            .note("ingress and egress are two pipelines, and a global is in a stage of one of them")
            .help(format!(
                "declare a second global for egress, or use {} in one of the two and pass what \
                 the other needs in the event",
                global.name
            )),
        );
    }
}
