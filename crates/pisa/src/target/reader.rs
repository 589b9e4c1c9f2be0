// SPDX-License-Identifier: Apache-2.0
//! Target files: TOML to a [`Target`], with a diagnostic for each mistake. Fields may be left out
//! where there is a sensible value; fields that nobody reads are errors, since a misspelt limit would
//! be no limit.

use super::codes::{MISSING, SYNTAX, UNKNOWN_FIELD, WRONG_VALUE};
use super::{
    AtomTemplate, Containers, DEFAULT_ENTRIES, Limits, MatchMemory, Matching, Memory, Provenance,
    StatefulAlu, Target,
};
use crate::problem::Resource;
use source::{Diagnostic, Diagnostics, FileId, Span, printable};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// More stages than any pipeline has; keeps sums small.
const MOST_STAGES: u64 = 1024;
/// No number of a target is larger; keeps products of two in 64 bits.
const MOST: u64 = 1 << 31;

pub(super) fn read(name: &str, file: FileId, text: &str) -> Result<Target, Diagnostics> {
    let mut reader = Reader { file, diagnostics: Diagnostics::new(), provenance: Vec::new() };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let range = error.span().unwrap_or(0..0);
        let message = format!("this is not TOML: {}", printable(error.message(), 80));
        reader.diagnostics.push(
            Diagnostic::error(SYNTAX, reader.span(range), message)
                .help("a target file has sections in brackets and fields as `name = value`"),
        );
    }
    if !errors.is_empty() {
        return Err(reader.diagnostics);
    }
    let mut root = Section::of("", document.span(), document.get_ref());
    let target = reader.target(name, &mut root);
    reader.finish(root);
    match target {
        Some(target) if !reader.diagnostics.has_errors() => Ok(target),
        _ => Err(reader.diagnostics),
    }
}

/// A table of the file and which of its fields have been asked for.
struct Section<'a> {
    /// With a dot at the end; empty for the file.
    path: String,
    range: Range<usize>,
    table: Option<&'a DeTable<'a>>,
    asked: Vec<String>,
}

impl<'a> Section<'a> {
    fn of(path: &str, range: Range<usize>, table: &'a DeTable<'a>) -> Section<'a> {
        Section { path: path.to_string(), range, table: Some(table), asked: Vec::new() }
    }

    fn get(&mut self, field: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.push(field.to_string());
        self.table?.iter().find(|(name, _)| name.get_ref() == field).map(|(_, value)| value)
    }
}

struct Reader {
    file: FileId,
    diagnostics: Diagnostics,
    provenance: Vec<Provenance>,
}

impl Reader {
    fn span(&self, range: Range<usize>) -> Span {
        let short = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        Span::new(self.file, short(range.start), short(range.end))
    }

    fn wrong(&mut self, range: Range<usize>, field: &str, wanted: &str, found: &str) {
        let span = self.span(range);
        self.diagnostics.push(
            Diagnostic::error(WRONG_VALUE, span, format!("`{field}` has to be {wanted}"))
                .here(format!("this is {found}"))
                .help(format!("write {wanted}")),
        );
    }

    fn missing(&mut self, section: &Section<'_>, field: &str, wanted: &str) {
        let path = format!("{}{field}", section.path);
        let span = self.span(section.range.start..section.range.start);
        self.diagnostics.push(
            Diagnostic::error(MISSING, span, format!("`{path}` is missing"))
                .help(format!("add `{field} = ...`: {wanted}")),
        );
    }

    fn section<'a>(&mut self, parent: &mut Section<'a>, field: &str) -> Section<'a> {
        let path = format!("{}{field}.", parent.path);
        let none = Section { path, range: parent.range.clone(), table: None, asked: Vec::new() };
        let Some(value) = parent.get(field) else { return none };
        match value.get_ref() {
            DeValue::Table(table) => Section { range: value.span(), table: Some(table), ..none },
            other => {
                let name = format!("{}{field}", parent.path);
                self.wrong(value.span(), &name, &format!("a section `[{name}]`"), &found(other));
                none
            }
        }
    }

    fn list<'a>(&mut self, parent: &mut Section<'a>, field: &str) -> Vec<Section<'a>> {
        let name = format!("{}{field}", parent.path);
        let Some(value) = parent.get(field) else { return Vec::new() };
        let wanted = format!("a list of sections `[[{name}]]`");
        let DeValue::Array(array) = value.get_ref() else {
            self.wrong(value.span(), &name, &wanted, &found(value.get_ref()));
            return Vec::new();
        };
        let mut sections = Vec::new();
        for element in array.iter() {
            match element.get_ref() {
                DeValue::Table(table) => {
                    sections.push(Section::of(&format!("{name}."), element.span(), table));
                }
                other => self.wrong(element.span(), &name, &wanted, &found(other)),
            }
        }
        sections
    }

    /// A value, perhaps with its source: `16` or `{ value = 16, source = "..." }`.
    fn value<'a>(
        &mut self,
        section: &mut Section<'a>,
        field: &str,
    ) -> Option<&'a Spanned<DeValue<'a>>> {
        let value = section.get(field)?;
        let DeValue::Table(table) = value.get_ref() else { return Some(value) };
        let path = format!("{}{field}", section.path);
        let mut inner = Section::of(&format!("{path}."), value.span(), table);
        let found = inner.get("value");
        if found.is_none() {
            self.missing(&inner, "value", "the number itself");
        }
        if let Some(source) = self.text(&mut inner, "source") {
            let value = found.map_or_else(String::new, |found| shown(found.get_ref()));
            self.provenance.push(Provenance { field: path, value, source });
        }
        self.finish(inner);
        found
    }

    fn number(
        &mut self,
        section: &mut Section<'_>,
        field: &str,
        allowed: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let value = self.value(section, field)?;
        let number = integer(value.get_ref()).filter(|number| allowed.contains(number));
        if number.is_none() {
            let wanted = format!("a whole number from {} to {}", allowed.start(), allowed.end());
            let path = format!("{}{field}", section.path);
            self.wrong(value.span(), &path, &wanted, &found(value.get_ref()));
        }
        number
    }

    fn small(&mut self, section: &mut Section<'_>, field: &str, otherwise: u32) -> u32 {
        let number = self.number(section, field, 0..=MOST_STAGES);
        number.and_then(|number| u32::try_from(number).ok()).unwrap_or(otherwise)
    }

    fn text(&mut self, section: &mut Section<'_>, field: &str) -> Option<String> {
        let value = section.get(field)?;
        let text = value.get_ref().as_str();
        if text.is_none() {
            let path = format!("{}{field}", section.path);
            self.wrong(value.span(), &path, "a text in quotes", &found(value.get_ref()));
        }
        text.map(str::to_string)
    }

    fn boolean(&mut self, section: &mut Section<'_>, field: &str, otherwise: bool) -> bool {
        let Some(value) = self.value(section, field) else { return otherwise };
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            let path = format!("{}{field}", section.path);
            self.wrong(value.span(), &path, "`true` or `false`", &found(value.get_ref()));
        }
        boolean.unwrap_or(otherwise)
    }

    fn match_memory(
        &mut self,
        section: &mut Section<'_>,
        field: &str,
        otherwise: MatchMemory,
    ) -> MatchMemory {
        let Some(value) = self.value(section, field) else { return otherwise };
        match value.get_ref().as_str() {
            Some("sram") => MatchMemory::Sram,
            Some("tcam") => MatchMemory::Tcam,
            Some("logic") => MatchMemory::Logic,
            _ => {
                let path = format!("{}{field}", section.path);
                let wanted = "`\"sram\"`, `\"tcam\"` or `\"logic\"`";
                self.wrong(value.span(), &path, wanted, &found(value.get_ref()));
                otherwise
            }
        }
    }

    fn limits(&mut self, section: &mut Section<'_>) -> Limits {
        Resource::ALL
            .into_iter()
            .filter_map(|each| Some((each, self.number(section, each.name(), 0..=MOST)?)))
            .collect()
    }

    fn target(&mut self, name: &str, root: &mut Section<'_>) -> Option<Target> {
        let description = self.text(root, "description").unwrap_or_default();
        if let Some(source) = self.text(root, "source") {
            let (field, value) = (String::new(), String::new());
            self.provenance.push(Provenance { field, value, source });
        }
        let mut pipeline = self.section(root, "pipeline");
        let ingress = self.number(&mut pipeline, "stages", 1..=MOST_STAGES);
        if !pipeline.table.is_some_and(|table| table.contains_key("stages")) {
            self.missing(&pipeline, "stages", "how many stages the pipeline has");
        }
        let egress = self.number(&mut pipeline, "egress-stages", 1..=MOST_STAGES).or(ingress);
        let shared = self.boolean(&mut pipeline, "shared", true);
        if shared && egress != ingress {
            let span = self.span(pipeline.range.clone());
            self.diagnostics.push(
                Diagnostic::error(
                    WRONG_VALUE,
                    span,
                    "`pipeline.egress-stages` differs from `pipeline.stages`, but the stages are shared",
                )
                .help("write `shared = false` if each half has stages of its own"),
            );
        }
        self.finish(pipeline);
        let mut limits = |field: &str| {
            let mut section = self.section(root, field);
            let limits = self.limits(&mut section);
            self.finish(section);
            limits
        };
        let (stage, mut table, array) = (limits("stage"), limits("table"), limits("array"));
        table.entry(Resource::Entries).or_insert(DEFAULT_ENTRIES);
        let memory = self.memory(root);
        let matching = self.matching(root);
        let stateful_alu = self.stateful_alu(root);
        let containers = self.containers(root);
        let stages = |number: u64| u32::try_from(number).ok();
        Some(Target {
            name: name.into(),
            description,
            ingress_stages: stages(ingress?)?,
            egress_stages: stages(egress?)?,
            shared,
            stage,
            table,
            array,
            memory,
            matching,
            stateful_alu,
            containers,
            provenance: std::mem::take(&mut self.provenance),
        })
    }

    fn memory(&mut self, root: &mut Section<'_>) -> Memory {
        let mut section = self.section(root, "memory");
        let mut size = |field: &str, least: u64, otherwise: u64| {
            self.number(&mut section, field, least..=MOST).unwrap_or(otherwise)
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
        self.finish(section);
        memory
    }

    fn matching(&mut self, root: &mut Section<'_>) -> Matching {
        let mut section = self.section(root, "match");
        let matching = Matching {
            exact: self.match_memory(&mut section, "exact", MatchMemory::Sram),
            longest_prefix: self.match_memory(&mut section, "longest-prefix", MatchMemory::Tcam),
            ternary: self.match_memory(&mut section, "ternary", MatchMemory::Tcam),
            range: self.match_memory(&mut section, "range", MatchMemory::Tcam),
            compiled: self.match_memory(&mut section, "compiled", MatchMemory::Tcam),
            range_bits_factor: self.number(&mut section, "range-bits-factor", 1..=128).unwrap_or(1),
        };
        self.finish(section);
        matching
    }

    fn stateful_alu(&mut self, root: &mut Section<'_>) -> StatefulAlu {
        let mut section = self.section(root, "stateful-alu");
        let cells = self.small(&mut section, "cells", 2);
        let mut cell_bits = Vec::new();
        if let Some(value) = self.value(&mut section, "cell-bits") {
            let numbers = value.get_ref().as_array().map(|array| {
                array
                    .iter()
                    .map(|each| integer(each.get_ref()).filter(|bits| *bits > 0 && *bits <= MOST))
                    .collect()
            });
            match numbers.flatten() {
                Some(numbers) => cell_bits = numbers,
                None => {
                    let found = found(value.get_ref());
                    let wanted = "a list of widths in bits";
                    self.wrong(value.span(), "stateful-alu.cell-bits", wanted, &found);
                }
            }
        }
        cell_bits.sort_unstable();
        let booleans = self.small(&mut section, "booleans", 2);
        let updates = self.small(&mut section, "updates", 2);
        let operands = self.small(&mut section, "operands", 2);
        let outputs = self.small(&mut section, "outputs", 1);
        let mut templates = Vec::new();
        for mut each in self.list(&mut section, "template") {
            let name = self.text(&mut each, "name");
            if !each.table.is_some_and(|table| table.contains_key("name")) {
                self.missing(&each, "name", "the template's name in quotes");
            }
            templates.push(AtomTemplate {
                name: name.unwrap_or_default().into(),
                description: self.text(&mut each, "description").unwrap_or_default(),
                cells: self.small(&mut each, "cells", 1),
                reads: self.boolean(&mut each, "reads", true),
                nesting: self.small(&mut each, "nesting", 0),
                updates: self.small(&mut each, "updates", 1),
                subtracts: self.boolean(&mut each, "subtracts", false),
            });
            self.finish(each);
        }
        self.finish(section);
        StatefulAlu { cells, cell_bits, booleans, updates, operands, outputs, templates }
    }

    fn containers(&mut self, root: &mut Section<'_>) -> Vec<Containers> {
        let mut containers = Vec::new();
        for mut each in self.list(root, "containers") {
            let mut number = |field: &str, most: u64, wanted: &str| {
                let number = self.number(&mut each, field, 1..=most);
                if !each.table.is_some_and(|table| table.contains_key(field)) {
                    self.missing(&each, field, wanted);
                }
                number.and_then(|number| u32::try_from(number).ok())
            };
            let width = number("width-bits", 4096, "the width of these containers");
            let count = number("count", 65536, "how many containers of this width there are");
            if let (Some(width_bits), Some(count)) = (width, count) {
                containers.push(Containers { width_bits, count });
            }
            self.finish(each);
        }
        containers
    }

    /// Reports what nobody asked for.
    fn finish(&mut self, section: Section<'_>) {
        let Some(table) = section.table else { return };
        for (name, _) in table.iter() {
            if section.asked.iter().any(|asked| asked == name.get_ref()) {
                continue;
            }
            let field = printable(&format!("{}{}", section.path, name.get_ref()), 80);
            let place = match section.path.strip_suffix('.') {
                Some(path) => format!("fields of `{path}`: {}", section.asked.join(", ")),
                None => format!("sections and fields: {}", section.asked.join(", ")),
            };
            let span = self.span(name.span());
            self.diagnostics.push(
                Diagnostic::error(UNKNOWN_FIELD, span, format!("targets have no field `{field}`"))
                    .note(place)
                    .help("correct the name, or take the field out"),
            );
        }
    }
}

fn integer(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Array(array) => {
            let list: Vec<String> = array.iter().map(|each| shown(each.get_ref())).collect();
            format!("[{}]", list.join(", "))
        }
        other => found(other),
    }
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text `{}`", printable(text, 40)),
        DeValue::Integer(integer) => format!("the number {integer}"),
        DeValue::Float(_) => "a number with a fraction".to_string(),
        DeValue::Boolean(boolean) => format!("`{boolean}`"),
        DeValue::Datetime(_) => "a date or time".to_string(),
        DeValue::Array(_) => "a list".to_string(),
        DeValue::Table(_) => "a section".to_string(),
    }
}
