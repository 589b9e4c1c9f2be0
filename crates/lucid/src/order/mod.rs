// SPDX-License-Identifier: Apache-2.0
//! Checks that every handler accesses globals in the order of their declarations, each at most once
//! (Lucid §5, appendix A). This is the paper's type-and-effect system with its inference, run after
//! type inference: an effect is the set of passed places, a function is summarized once, and demands that
//! depend on its arguments are checked at its callers.
//!
//! A program that passes never accesses a global out of order, whatever its branches do. A rejected program
//! has an execution out of order, except that
//!
//! - all branches count as possible; the check ignores what their conditions imply;
//! - a loop with a variable number of rounds counts as one of no round or of at least two, which
//!   pass all of a vector that it iterates over;
//! - elements of a vector are distinct by their indexes only if one is the other plus a number;
//! - functions of a module with an interface have the effects that the interface declares, and handlers of
//!   events over globals run for all globals that the event's constraints allow;
//! - of a module alias whose condition is not known, functions of both modules count;
//! - each function must be callable with some arguments, and each handler may run, even if nothing
//!   calls or generates it.
//!
//! Calls marked `unordered` are exempt, except that event values keep their constraints.
//! `Table.install` is an access; the artifact's `table_install` statement is not, because the switch's
//! processor carries it out.

mod body;
mod body_check;
mod calls;
pub mod codes;
mod constraints;
mod effect;
mod facts;
mod gress;
mod index;
mod interfaces;
mod loops;
mod place;
mod report;
mod violation;

use crate::check::{CheckedProgram, Definition};
use crate::syntax::ast::{
    Block, Declaration, DeclarationKind, HandlerSort, NodeId, Parameter, ParserActionKind,
    ParserBlock, ParserStep,
};
use body_check::BodyCheck;
use effect::{Flow, OrderConstraint, PassedPlace, Reason, Summary, merge};
use gress::HandlerUses;
use index::{Index, Ordered};
use place::Base;
use source::{Diagnostics, Span};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use violation::{Owner, Violation};

/// Checks a whole program. Skips parts in which an earlier check reported errors.
pub fn check(program: &CheckedProgram) -> Diagnostics {
    let mut order = Order::new(program);
    order.declarations(&program.tree.declarations, &mut Vec::new());
    gress::check(&mut order);
    order.diagnostics()
}

/// The check of one program.
pub(crate) struct Order<'p> {
    program: &'p CheckedProgram,
    index: Index<'p>,
    /// Of functions checked so far, by binder.
    summaries: HashMap<NodeId, Rc<Summary>>,
    violations: Vec<Violation>,
    /// For a global and one behind it, who accesses them one after the other, and where the second.
    witnesses: BTreeMap<u32, BTreeMap<u32, (Arc<str>, Span)>>,
    handlers: Vec<HandlerUses>,
    found: Diagnostics,
}

impl<'p> Order<'p> {
    fn new(program: &'p CheckedProgram) -> Order<'p> {
        Order {
            program,
            index: Index::new(&program.tree),
            summaries: HashMap::new(),
            violations: Vec::new(),
            witnesses: BTreeMap::new(),
            handlers: Vec::new(),
            found: Diagnostics::new(),
        }
    }

    /// The violations; of one pair of accesses only the first.
    fn diagnostics(mut self) -> Diagnostics {
        let mut reported = HashSet::new();
        for violation in std::mem::take(&mut self.violations) {
            let demand = &violation.demand;
            let spans = match &demand.reason {
                Reason::Sequence { first, second, .. } => {
                    (first.outer(), first.span, second.outer(), second.span)
                }
                Reason::Declared { constraint, site, .. } => {
                    let (span, calls) = match site {
                        Some((span, calls)) => (*span, calls.as_ref()),
                        None => (*constraint, None),
                    };
                    (calls.map_or(span, |link| link.span), span, *constraint, *constraint)
                }
            };
            if reported.insert(spans) {
                let diagnostic = self.describe(&violation);
                self.found.push(diagnostic);
            }
        }
        self.found
    }

    /// Records an order that holds, for the help of other violations.
    fn satisfied(&mut self, who: &Arc<str>, demand: &OrderConstraint) {
        if let (Base::Global(before), Base::Global(after), Reason::Sequence { second, .. }) =
            (demand.before.base, demand.after.base, &demand.reason)
            && before != after
        {
            let witness = || (who.clone(), second.outer());
            self.witnesses.entry(before).or_default().entry(after).or_insert_with(witness);
        }
    }

    fn declarations(&mut self, declarations: &'p [Declaration], around: &mut Vec<usize>) {
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Function { name, parameters, constraints, body, .. } => {
                    let span = name.span;
                    let ordered = Ordered { name: &name.name, span, parameters, constraints };
                    let summary = self.function(name.id, ordered, body, around);
                    self.summaries.insert(name.id, Rc::new(summary));
                }
                DeclarationKind::Event { name, parameters, body: Some(body), .. } => {
                    let sort = HandlerSort::Ingress;
                    self.handler(Some(name.id), &name.name, sort, parameters, body, around);
                }
                DeclarationKind::Handler { event, sort, parameters, body } => {
                    let id = match self.program.definitions.get(&event.id) {
                        Some(Definition::Event(id)) => Some(*id),
                        _ => None,
                    };
                    if let Some(last) = event.segments.last() {
                        self.handler(id, &last.name, *sort, parameters, body, around);
                    }
                }
                DeclarationKind::Module { name, interface, declarations } => {
                    let Some(number) = self.index.module(name.id) else { continue };
                    around.push(number);
                    self.declarations(declarations, around);
                    if let Some(interface) = interface {
                        interfaces::check(self, &name.name, interface, declarations);
                    }
                    around.pop();
                }
                DeclarationKind::Parser { name, body, .. } => {
                    let who = format!("parser {}", name.name).into();
                    let owner = Owner::Handler { event: None };
                    let mut unit = BodyCheck::new(self, who, owner, around);
                    unit.parser_block(body, &mut Flow::default());
                }
                _ => {}
            }
        }
    }

    fn function(
        &mut self,
        id: NodeId,
        ordered: Ordered<'p>,
        body: &'p Block,
        around: &[usize],
    ) -> Summary {
        let who = format!("function {}", self.index.name_from(id, &[])).into();
        let mut unit = BodyCheck::new(self, who, Owner::Function, around);
        for parameter in ordered.parameters {
            unit.parameter(parameter.name.id, true);
        }
        let declared_end = constraints::declare_own(&mut unit, ordered);
        let mut flow = Flow::default();
        unit.block(body, &mut flow);
        unit.leave(&mut flow);
        let mut end: Vec<PassedPlace> = std::mem::take(&mut unit.returned);
        let end_declared = declared_end.is_some() || unit.end_declared;
        merge(&mut end, declared_end);
        Summary {
            name: ordered.name.clone(),
            parameters: unit.parameters,
            first: unit.first,
            demands: unit.demands,
            event_demands: unit.event_demands,
            end,
            end_declared,
            touches: unit.touches,
            opaque: false,
        }
    }

    fn handler(
        &mut self,
        event: Option<NodeId>,
        name: &Arc<str>,
        sort: HandlerSort,
        parameters: &'p [Parameter],
        body: &'p Block,
        around: &[usize],
    ) {
        let kind = match sort {
            HandlerSort::Ingress => "handler",
            HandlerSort::Control => "control handler",
            HandlerSort::Egress => "egress handler",
        };
        let name = event.map_or_else(|| name.clone(), |event| self.index.name_from(event, &[]));
        let who: Arc<str> = format!("{kind} {name}").into();
        let mut unit = BodyCheck::new(self, who.clone(), Owner::Handler { event }, around);
        for parameter in parameters {
            unit.parameter(parameter.name.id, true);
        }
        if let Some(event) = event {
            unit.assume_event(event, parameters);
        }
        unit.block(body, &mut Flow::default());
        let touches =
            HandlerUses { who, event, sort, parameters: unit.parameters, touches: unit.touches };
        self.handlers.push(touches);
    }
}

impl<'p> BodyCheck<'_, 'p> {
    /// A parser's events are made under the constraints of any other; parsers touch no globals.
    fn parser_block(&mut self, block: &'p ParserBlock, flow: &mut Flow) {
        for action in &block.actions {
            match &action.kind {
                ParserActionKind::Local { value, .. } | ParserActionKind::Assign { value, .. } => {
                    self.expression(value, flow);
                }
                ParserActionKind::Read { .. } | ParserActionKind::Skip { .. } => {}
            }
        }
        match &block.step {
            ParserStep::Match { subjects, branches, .. } => {
                self.expressions(subjects, flow);
                for branch in branches {
                    self.parser_block(&branch.body, &mut flow.clone());
                }
            }
            ParserStep::Generate { event, .. } => self.expression(event, flow),
            ParserStep::Call { arguments, .. } => self.expressions(arguments, flow),
            ParserStep::Drop { .. } => {}
        }
    }
}
