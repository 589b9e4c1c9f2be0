// SPDX-License-Identifier: Apache-2.0
//! The report of an analysis for people: each statement of each block and action with its line, what it reads
//! and writes, what guards it, which state it accesses, and what is live after it.

use crate::analysis::{
    AccessSlices, Analysis, CellIndex, Condition, Point, Slice, StateAccess, StatementInstance,
    StatementTree,
};
use crate::effects::{Effects, Location};
use crate::{HeaderId, OriginId, Program, RegionId, SlotSet, Terminator};
use p4::ast::NodeId;
use source::{SourceMap, Span};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The report. The program is the one as lowered from the typed program that the tree is of.
pub fn report(analysis: &Analysis<'_>, tree: &StatementTree, map: &SourceMap) -> String {
    let program = analysis.program();
    let mut printer = Printer { analysis, program, map, out: String::new() };
    let mut done: BTreeSet<RegionId> = BTreeSet::new();
    for (at, block) in program.blocks.iter().enumerate() {
        let title = format!("{} `{}`", block.role, block.name);
        let entered = analysis.liveness().at_block_start(at).clone();
        printer.region(&title, block.region, tree, Some(&entered));
        done.insert(block.region);
        for region in program.regions_of_block(at) {
            if done.insert(region) {
                let title = format!("action `{}`", program.regions[region.index()].name);
                printer.region(&title, region, tree, None);
            }
        }
    }
    printer.out
}

struct Printer<'a, 'p> {
    analysis: &'a Analysis<'p>,
    program: &'p Program,
    map: &'a SourceMap,
    out: String,
}

impl Printer<'_, '_> {
    fn line(&mut self, label: &str, text: &str) {
        if !text.is_empty() {
            let _ = writeln!(self.out, "    {label:<15}{text}");
        }
    }

    fn region(
        &mut self,
        title: &str,
        region: RegionId,
        tree: &StatementTree,
        entered: Option<&SlotSet>,
    ) {
        let _ = writeln!(self.out, "{title}");
        if let Some(live) = entered {
            let live = self.slots(live);
            self.line("live at start", &live);
        }
        for (node, instance) in self.analysis.statements_of_region(region, tree) {
            self.statement(node, &instance);
        }
        self.out.push('\n');
    }

    fn statement(&mut self, node: NodeId, instance: &StatementInstance) {
        if instance.effects == Effects::default() {
            return;
        }
        let origins = &self.program.origins;
        let first = instance.calls.first().copied();
        let own = origins.iter().find(|it| it.node == Some(node) && it.parent == first);
        let place = self.place(own.map_or(Span::NONE, |origin| origin.span));
        let _ = writeln!(self.out, "  {place}");
        for call in &instance.calls {
            let call = &origins[call.index()];
            if call.node.is_some() && !call.span.is_none() {
                let place = self.place(call.span);
                self.line("in", &place);
            }
        }
        let Effects { reads, writes, may_end_block } = &instance.effects;
        let (reads, writes) = (self.locations(reads), self.locations(writes));
        self.line("reads", &reads);
        self.line("writes", &writes);
        if *may_end_block {
            self.line("may end", "the block");
        }
        for guard in &instance.guards {
            let guard = self.guard(guard);
            self.line("if", &guard);
        }
        let all = self.analysis.accesses().iter().enumerate();
        let here: Vec<usize> =
            all.filter(|(_, it)| instance.code.contains(&it.at)).map(|(at, _)| at).collect();
        for at in here {
            let access =
                self.access(&self.analysis.accesses()[at], &self.analysis.access_slices()[at]);
            self.line("accesses", &access);
        }
        let mut live = SlotSet::empty(self.program);
        let after: Vec<Point> = match instance.after.is_empty() {
            true => instance.code.last().copied().into_iter().collect(),
            false => instance.after.iter().copied().collect(),
        };
        for point in after {
            live.unite(&self.analysis.live_at(point));
        }
        let live = self.slots(&live);
        self.line("live after", &live);
    }

    /// File, line and first line of the text.
    fn place(&self, span: Span) -> String {
        let Some(location) = self.map.location(span) else { return "(no place)".to_string() };
        let text = self.map.slice(span).lines().next().unwrap_or_default().trim();
        format!("{}:{}  {text}", location.file, location.line)
    }

    fn locations(&self, locations: &BTreeSet<Location>) -> String {
        let mut slots = SlotSet::empty(self.program);
        let mut others = Vec::new();
        for location in locations {
            match location {
                Location::Slot(slot) => slots.insert(*slot),
                other => others.push(other.describe(self.program)),
            }
        }
        let slots = self.slots(&slots);
        others.splice(0..0, (!slots.is_empty()).then_some(slots));
        others.join(", ")
    }

    /// Names of slots; headers of which all slots are in the set by their names with `.*`.
    fn slots(&self, set: &SlotSet) -> String {
        let mut rest = set.clone();
        let mut names: Vec<(u32, String)> = Vec::new();
        for (at, header) in self.program.headers.iter().enumerate() {
            let fields = self.program.header_type(HeaderId(at as u32)).fields.len();
            let all: Vec<_> = (0..fields).map(|at| header.field_slot(at)).collect();
            let all = || all.iter().copied().chain([header.valid_slot()]);
            if fields > 0 && all().all(|slot| set.contains(slot)) {
                all().for_each(|slot| rest.remove(slot));
                names.push((header.first_slot.0, format!("{}.*", header.name)));
            }
        }
        names.extend(
            rest.iter().map(|slot| (slot.0, self.program.slots[slot.index()].name.to_string())),
        );
        names.sort();
        names.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ")
    }

    fn guard(&self, guard: &Condition) -> String {
        match guard {
            Condition::Action { table, action, .. } => format!(
                "table {} runs {}",
                self.program.tables[table.index()].name,
                self.program.actions[action.index()].name
            ),
            Condition::Branch { at, taken, origin, .. } => {
                let region = &self.program.regions[at.region.index()];
                let place = self.origin_place(*origin);
                let taken: Vec<String> = match &region.blocks[at.block.index()].terminator {
                    Terminator::Switch { cases, .. } => taken
                        .iter()
                        .map(|successor| match cases.get(*successor) {
                            Some((value, _)) => value.to_string(),
                            None => "default".to_string(),
                        })
                        .collect(),
                    _ => taken
                        .iter()
                        .map(|successor| if *successor == 0 { "true" } else { "false" }.to_string())
                        .collect(),
                };
                format!("{place}  is {}", taken.join(" or "))
            }
        }
    }

    fn origin_place(&self, origin: OriginId) -> String {
        let span = self.program.origins.get(origin.index()).map_or(Span::NONE, |it| it.span);
        self.place(span)
    }

    fn access(&self, access: &StateAccess, slices: &AccessSlices) -> String {
        let AccessSlices { index, guard } = slices;
        let what = match (access.reads, access.writes) {
            (true, true) => "read and written",
            (true, false) => "read",
            (false, true) => "written",
            (false, false) => "touched",
        };
        let from = |slice: &Slice| {
            let mut parts = vec![format!("{} instructions", slice.code.len())];
            let inputs = slice.inputs.iter().copied();
            let inputs = self.slots(&SlotSet::of(self.program, inputs));
            if !inputs.is_empty() {
                parts.push(format!("from {inputs}"));
            }
            if slice.reads_packet {
                parts.push("from the packet".to_string());
            }
            if !slice.sources.is_empty() {
                parts.push(format!("on {}", self.locations(&slice.sources)));
            }
            parts.join(", ")
        };
        let index = match &access.index {
            CellIndex::Operand(_) => from(index),
            CellIndex::Entry => format!("the table's entry: {}", from(index)),
            CellIndex::Whole => "all of it".to_string(),
        };
        format!("{} {what}; index: {index}; guard: {}", access.names.join(" + "), from(guard))
    }
}
