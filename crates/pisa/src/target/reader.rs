// SPDX-License-Identifier: Apache-2.0
//! HardwareModel files: TOML to a [`HardwareModel`], with a diagnostic for each mistake. Fields may be left out where there is
//! a sensible value. A field that no reader asks for is an error, since a misspelt limit would be no limit.

use super::codes::{MISSING, SYNTAX, UNKNOWN_FIELD, WRONG_VALUE};
use super::{
    AtomTemplate, Containers, DEFAULT_ENTRIES, HardwareModel, Limits, MatchMemory, Matching,
    Memory, Provenance, StatefulAlu,
};
use crate::problem::Resource;
use document::{Conventions, FieldNames, Fields, Format, Messages, Node, NodeKind};
use source::{Diagnostics, FileId, Severity};
use std::ops::RangeInclusive;

/// More stages than any pipeline has; keeps sums small.
const MAX_STAGES: u64 = 1024;
/// No number of a target is larger; keeps products of two in 64 bits.
const MAX_NUMBER: u64 = 1 << 31;

static CONVENTIONS: Conventions = Conventions {
    syntax: SYNTAX,
    syntax_help: "a target file has sections in brackets and fields as `name = value`",
    wrong_type: WRONG_VALUE,
    wrong_value: WRONG_VALUE,
    missing: MISSING,
    unknown_field: UNKNOWN_FIELD,
    repeated_field: UNKNOWN_FIELD,
    unused_fields: Severity::Error,
    field_names: FieldNames::Exact,
    note_fields: &[],
    reference: "",
    number_in_text: None,
};

pub(super) fn read(name: &str, file: FileId, text: &str) -> Result<HardwareModel, Diagnostics> {
    let messages = Messages::new(&CONVENTIONS, Format::Toml);
    let document = messages.parse(file, text);
    let root = document.as_ref().and_then(|node| Fields::of(node, "a target file", &messages));
    let target = root
        .and_then(|root| Reader { messages: &messages, provenance: Vec::new() }.target(name, root));
    target.filter(|_| !messages.has_errors()).ok_or_else(|| messages.into_diagnostics())
}

struct Reader<'n> {
    messages: &'n Messages,
    provenance: Vec<Provenance>,
}

impl<'n> Reader<'n> {
    /// Reads a value that may stand with its source: `16` or `{ value = 16, source = "..." }`.
    fn value(&mut self, section: &mut Fields<'n>, field: &'static str) -> Option<&'n Node> {
        let node = section.get(&[field])?;
        let NodeKind::Object(_) = node.kind else { return Some(node) };
        let mut inner = section.section(field);
        let found = inner.need(&["value"], "`value = 16`");
        if let Some(source) = inner.text("source") {
            let value = found.map_or_else(String::new, |found| shown(&found.kind));
            let field = section.path_of(field);
            self.provenance.push(Provenance { field, value, source: source.to_string() });
        }
        inner.finish();
        found
    }

    fn number(
        &mut self,
        section: &mut Fields<'n>,
        field: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let node = self.value(section, field)?;
        self.messages.number(node, &section.name_of(field), range)
    }

    fn count(&mut self, section: &mut Fields<'n>, field: &'static str, default: u32) -> u32 {
        self.number(section, field, 0..=MAX_STAGES).map_or(default, |number| number as u32)
    }

    fn truth(&mut self, section: &mut Fields<'n>, field: &'static str, default: bool) -> bool {
        let node = self.value(section, field);
        node.and_then(|node| self.messages.truth(node, &section.name_of(field))).unwrap_or(default)
    }

    fn match_memory(
        &mut self,
        section: &mut Fields<'n>,
        field: &'static str,
        default: MatchMemory,
    ) -> MatchMemory {
        let choices = [
            ("sram", MatchMemory::Sram),
            ("tcam", MatchMemory::Tcam),
            ("logic", MatchMemory::Logic),
        ];
        let node = self.value(section, field);
        node.and_then(|node| self.messages.choice(node, &section.name_of(field), &choices))
            .unwrap_or(default)
    }

    fn limits(&mut self, root: &mut Fields<'n>, field: &'static str) -> Limits {
        let mut section = root.section(field);
        let limits = Resource::ALL
            .into_iter()
            .filter_map(|each| {
                Some((each, self.number(&mut section, each.name(), 0..=MAX_NUMBER)?))
            })
            .collect();
        section.finish();
        limits
    }

    fn target(mut self, name: &str, mut root: Fields<'n>) -> Option<HardwareModel> {
        let description = root.text("description").unwrap_or_default().to_string();
        if let Some(source) = root.text("source") {
            let (field, value) = (String::new(), String::new());
            self.provenance.push(Provenance { field, value, source: source.to_string() });
        }
        let mut pipeline = root.section("pipeline");
        pipeline.need(&["stages"], "`stages = 12`");
        let ingress = self.number(&mut pipeline, "stages", 1..=MAX_STAGES);
        let egress = self.number(&mut pipeline, "egress-stages", 1..=MAX_STAGES).or(ingress);
        let shared = self.truth(&mut pipeline, "shared", true);
        if shared && egress != ingress {
            self.messages.error(
                WRONG_VALUE,
                pipeline.span_of("egress-stages"),
                "`pipeline.egress-stages` differs from `pipeline.stages`, but the stages are shared",
                "write `shared = false` if each half has stages of its own",
            );
        }
        pipeline.finish();
        let stage = self.limits(&mut root, "stage");
        let mut table = self.limits(&mut root, "table");
        let array = self.limits(&mut root, "array");
        table.entry(Resource::Entries).or_insert(DEFAULT_ENTRIES);
        let memory = self.memory(&mut root);
        let matching = self.matching(&mut root);
        let stateful_alu = self.stateful_alu(&mut root);
        let containers = self.containers(&mut root);
        root.finish();
        Some(HardwareModel {
            name: name.into(),
            description,
            ingress_stages: ingress? as u32,
            egress_stages: egress? as u32,
            shared,
            stage,
            table,
            array,
            memory,
            matching,
            stateful_alu,
            containers,
            provenance: self.provenance,
        })
    }

    fn memory(&mut self, root: &mut Fields<'n>) -> Memory {
        let mut section = root.section("memory");
        let mut size = |field: &'static str, min: u64, default: u64| {
            self.number(&mut section, field, min..=MAX_NUMBER).unwrap_or(default)
        };
        let memory = Memory {
            sram_block_words: size("sram-block-words", 1, 1024),
            sram_block_bits: size("sram-block-bits", 1, 128),
            tcam_block_words: size("tcam-block-words", 1, 512),
            tcam_block_bits: size("tcam-block-bits", 1, 44),
            array_overhead_blocks: size("array-overhead-blocks", 0, 0),
            exact_entry_overhead_bits: size("exact-entry-overhead-bits", 0, 0),
            ternary_indirection_blocks: size("ternary-indirection-blocks", 0, 0),
        };
        section.finish();
        memory
    }

    fn matching(&mut self, root: &mut Fields<'n>) -> Matching {
        let mut section = root.section("match");
        let matching = Matching {
            exact: self.match_memory(&mut section, "exact", MatchMemory::Sram),
            longest_prefix: self.match_memory(&mut section, "longest-prefix", MatchMemory::Tcam),
            ternary: self.match_memory(&mut section, "ternary", MatchMemory::Tcam),
            range: self.match_memory(&mut section, "range", MatchMemory::Tcam),
            compiled: self.match_memory(&mut section, "compiled", MatchMemory::Tcam),
            range_bits_factor: self.number(&mut section, "range-bits-factor", 1..=128).unwrap_or(1),
        };
        section.finish();
        matching
    }

    fn stateful_alu(&mut self, root: &mut Fields<'n>) -> StatefulAlu {
        let mut section = root.section("stateful-alu");
        let cells = self.count(&mut section, "cells", 2);
        let name = section.name_of("cell-bits");
        let widths = self.value(&mut section, "cell-bits");
        let widths = widths.and_then(|node| self.messages.list(node, &name)).unwrap_or_default();
        let widths = widths.iter();
        let mut cell_bits: Vec<u64> =
            widths.filter_map(|width| self.messages.number(width, &name, 1..=MAX_NUMBER)).collect();
        cell_bits.sort_unstable();
        let booleans = self.count(&mut section, "booleans", 2);
        let updates = self.count(&mut section, "updates", 2);
        let operands = self.count(&mut section, "operands", 2);
        let outputs = self.count(&mut section, "outputs", 1);
        let mut templates = Vec::new();
        for mut each in section.list("template") {
            each.need(&["name"], "`name = \"raw\"`");
            templates.push(AtomTemplate {
                name: each.text("name").unwrap_or_default().into(),
                description: each.text("description").unwrap_or_default().to_string(),
                cells: self.count(&mut each, "cells", 1),
                reads: self.truth(&mut each, "reads", true),
                nesting: self.count(&mut each, "nesting", 0),
                updates: self.count(&mut each, "updates", 1),
                subtracts: self.truth(&mut each, "subtracts", false),
            });
            each.finish();
        }
        section.finish();
        StatefulAlu { cells, cell_bits, booleans, updates, operands, outputs, templates }
    }

    fn containers(&mut self, root: &mut Fields<'n>) -> Vec<Containers> {
        let mut containers = Vec::new();
        for mut each in root.list("containers") {
            let mut number = |field: &'static str, max: u64, example: &str| {
                each.need(&[field], example);
                self.number(&mut each, field, 1..=max).map(|number| number as u32)
            };
            let width = number("width-bits", 4096, "`width-bits = 32`");
            let count = number("count", 65536, "`count = 64`");
            if let (Some(width_bits), Some(count)) = (width, count) {
                containers.push(Containers { width_bits, count });
            }
            each.finish();
        }
        containers
    }
}

/// A value as its provenance shows it.
fn shown(kind: &NodeKind) -> String {
    match kind {
        NodeKind::Text(text) => text.clone(),
        NodeKind::List(list) => {
            let list: Vec<String> = list.iter().map(|each| shown(&each.kind)).collect();
            format!("[{}]", list.join(", "))
        }
        other => other.described(),
    }
}
