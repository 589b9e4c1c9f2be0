// SPDX-License-Identifier: Apache-2.0
//! The report on sharding: which arrays of a program are sharded over pipelines, by which rule, because of which lines, and
//! what the phantoms cost. [`report`] gathers it; `text`, `json` and `svg` print it.

mod json;
mod run;
mod svg;
mod text;

pub use json::json;
pub use run::{MachineReport, RunReport, SharedReport};
pub use svg::svg;
pub use text::text;

use crate::resolution::{PhantomWidth, RING_DEPTH, phantom_width, resolution};
use crate::sharding::{ArraySharding, ControlSharding, Rule, ShardGroup, last_part};
use ir::OriginId;
use ir::Program;
use source::{SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};

/// What a report is about.
#[derive(Clone, Debug)]
pub struct Subject<'r> {
    /// The program's name.
    pub program: &'r str,
    /// The number of pipelines.
    pub pipelines: u32,
    /// Remarks, such as why there is no layout.
    pub remarks: Vec<String>,
}

/// A report.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The program's name.
    pub program: String,
    /// The number of pipelines.
    pub pipelines: u32,
    /// Remarks.
    pub remarks: Vec<String>,
    /// The controls with state, in the order in which packets pass them.
    pub controls: Vec<ControlReport>,
}

/// What is reported on a control.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlReport {
    /// `ingress` or `egress`.
    pub gress: &'static str,
    /// The control's name.
    pub name: String,
    /// What gave the stages.
    pub stage_source: String,
    /// The stages of the control.
    pub stages: usize,
    /// The stages of address resolution in front; `None` if nothing is resolved.
    pub resolution_stages: Option<usize>,
    /// Arrays.
    pub arrays: Vec<ArrayReport>,
    /// Groups.
    pub groups: Vec<GroupReport>,
    /// Names of counters, which each pipeline keeps for itself.
    pub counters: Vec<String>,
    /// The fields of phantoms; `None` without groups.
    pub phantom: Option<PhantomWidth>,
}

/// What is reported on an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayReport {
    /// The control-plane name.
    pub name: String,
    /// The number of cells.
    pub cells: u64,
    /// The width of a cell in bits; 0 if it is not known.
    pub width_bits: u32,
    /// What decided.
    pub rule: Rule,
    /// Where it is accessed, as `file:line`.
    pub lines: Vec<String>,
    /// Lines of other accesses that are part of the reason, with the arrays that they access.
    pub because: Vec<(String, String)>,
    /// The stage, from 0.
    pub stage: Option<usize>,
    /// The group.
    pub group: Option<usize>,
}

/// What is reported on a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupReport {
    /// The arrays' names.
    pub arrays: Vec<String>,
    /// The stage, from 0.
    pub stage: usize,
    /// The stage before it was moved.
    pub moved_from: Option<usize>,
    /// Whether cells lie in several pipelines.
    pub is_sharded: bool,
    /// The number of cells that are mapped to pipelines.
    pub cells: u64,
    /// When packets have a phantom for it.
    pub phantom: PhantomCondition,
    /// The stage after which it is known that a packet does not access it.
    pub known_after: Option<usize>,
}

/// Which packets have a phantom for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhantomCondition {
    /// Every packet, and it accesses the group.
    Always,
    /// Those that access it.
    Exact,
    /// Those that may access it; state decides.
    State,
}

impl PhantomCondition {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            PhantomCondition::Always => "always",
            PhantomCondition::Exact => "exact",
            PhantomCondition::State => "state",
        }
    }
}

impl Report {
    /// Returns the number of arrays by rule.
    pub fn counts(&self) -> BTreeMap<Rule, usize> {
        let mut counts = BTreeMap::new();
        for array in self.controls.iter().flat_map(|control| &control.arrays) {
            *counts.entry(array.rule).or_default() += 1;
        }
        counts
    }
}

/// Gathers the report.
pub fn report(
    subject: &Subject<'_>,
    program: &Program,
    controls: &mut [ControlSharding<'_>],
    map: &SourceMap,
) -> Report {
    let all: Vec<&str> =
        controls.iter().flat_map(|control| &control.arrays).map(|array| &*array.name).collect();
    let short: BTreeSet<&str> = all.iter().map(|name| last_part(name)).collect();
    let is_short = short.len() == all.len();
    let places = Places { program, map, is_short };
    Report {
        program: subject.program.to_string(),
        pipelines: subject.pipelines,
        remarks: subject.remarks.clone(),
        controls: controls
            .iter_mut()
            .filter(|control| !control.is_empty())
            .map(|control| of_control(subject, program, control, &places))
            .collect(),
    }
}

fn of_control(
    subject: &Subject<'_>,
    program: &Program,
    control: &mut ControlSharding<'_>,
    places: &Places<'_>,
) -> ControlReport {
    let has_groups = !control.groups.is_empty();
    let resolution_stages =
        has_groups.then(|| resolution(control)).flatten().map(|resolution| resolution.stages);
    let phantom = has_groups.then(|| {
        let mut stateful: Vec<usize> = control.groups.iter().map(|group| group.stage).collect();
        stateful.dedup();
        phantom_width(
            u64::from(subject.pipelines),
            (control.stages + resolution_stages.unwrap_or(0)) as u64,
            stateful.len() as u64,
            RING_DEPTH,
            control.groups.iter().map(|group| group.cells).max().unwrap_or(1),
        )
    });
    ControlReport {
        gress: control.gress.name(),
        name: program.blocks[control.block].name.to_string(),
        stage_source: control.stage_source.clone(),
        stages: control.stages,
        resolution_stages,
        arrays: control.arrays.iter().map(|array| of_array(control, array, places)).collect(),
        groups: control.groups.iter().map(|group| of_group(control, group, places)).collect(),
        counters: control.counters.iter().map(|name| name.to_string()).collect(),
        phantom,
    }
}

fn of_array(
    control: &ControlSharding<'_>,
    array: &ArraySharding,
    places: &Places<'_>,
) -> ArrayReport {
    let accesses = control.values.as_ref().map_or(&[][..], |values| values.accesses());
    let mut lines = Vec::new();
    for access in &array.accesses {
        for line in places.lines(accesses[*access].origin) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    let mut because: Vec<(String, String)> = Vec::new();
    for access in &array.because {
        let object = accesses[*access].object;
        let name = control.arrays.iter().find(|one| one.object == object);
        let name = name.map_or(String::new(), |one| places.name(&one.name));
        for line in places.lines(accesses[*access].origin) {
            if !because.contains(&(line.clone(), name.clone())) {
                because.push((line, name.clone()));
            }
        }
    }
    ArrayReport {
        name: places.name(&array.name),
        cells: array.cells,
        width_bits: array.width_bits,
        rule: array.rule,
        lines,
        because,
        stage: array.group.map(|group| control.groups[group].stage),
        group: array.group,
    }
}

fn of_group(control: &ControlSharding<'_>, group: &ShardGroup, places: &Places<'_>) -> GroupReport {
    let phantom = match group.is_certain() {
        true if group.predicate == ir::analysis::Predicate::TRUE => PhantomCondition::Always,
        true => PhantomCondition::Exact,
        false => PhantomCondition::State,
    };
    GroupReport {
        arrays: group.arrays.iter().map(|at| places.name(&control.arrays[*at].name)).collect(),
        stage: group.stage,
        moved_from: group.moved_from,
        is_sharded: group.is_sharded,
        cells: group.cells,
        phantom,
        known_after: group.known_after,
    }
}

/// Places in the source.
struct Places<'r> {
    program: &'r Program,
    map: &'r SourceMap,
    /// Whether the last parts of names tell arrays apart.
    is_short: bool,
}

impl Places<'_> {
    fn name(&self, name: &str) -> String {
        if self.is_short { last_part(name).to_string() } else { name.to_string() }
    }

    /// The lines of an origin, those of all accesses that were fused into one.
    fn lines(&self, origin: OriginId) -> Vec<String> {
        let origins = self.program.merged_origins(origin);
        let mut lines = Vec::new();
        for origin in origins {
            let line = self.line(origin);
            if !line.is_empty() && !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The line of an origin, or of the nearest call around it that has one.
    fn line(&self, origin: OriginId) -> String {
        let mut next = Some(origin);
        for _ in 0..=self.program.origins.len() {
            let Some(origin) = next.and_then(|id| self.program.origins.get(id.index())) else {
                break;
            };
            if let Some(place) = self.location(origin.span) {
                return place;
            }
            next = origin.parent;
        }
        String::new()
    }

    fn location(&self, span: Span) -> Option<String> {
        if span.is_none() {
            return None;
        }
        let location = self.map.location(span)?;
        let file = location.file.rsplit(['/', '\\']).next().unwrap_or(&location.file);
        Some(format!("{file}:{}", location.line))
    }
}
