// SPDX-License-Identifier: Apache-2.0
//! Generated v1model programs about state: registers with updates that do not commute, in controls and in actions of
//! tables, under conditions that depend on fields, on state and on tables. For tools that move state: order is visible
//! in every cell. The generator in `generator` covers the language; this one is small and every packet reaches most code.

use crate::Choices;
use std::fmt::Write;

/// Fields of the one header, of 32 bits.
const FIELDS: usize = 5;
/// Cells of an array.
const CELLS: u32 = 4;

/// A program with commands and packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatefulCase {
    /// The P4_16 program.
    pub text: String,
    /// Lines of BMv2's command text: entries of its tables.
    pub commands: Vec<String>,
    /// Ports and bytes of packets.
    pub packets: Vec<(u32, Vec<u8>)>,
}

/// Makes a program with `packet_count` packets.
pub fn stateful(choices: &mut Choices, packet_count: usize) -> StatefulCase {
    let tables = choices.below(3);
    let mut writer = Writer {
        registers: 2 + choices.below(4),
        counters: choices.below(2),
        choices,
        tables_left: (0..tables).rev().collect(),
        locals: 0,
        depth: 0,
        in_action: false,
    };
    let count = 4 + writer.choices.below(8);
    let body = writer.statements(count, 2);
    let mut declarations = String::new();
    for at in 0..writer.registers {
        let _ = writeln!(declarations, "    register<bit<32>>({CELLS}) r{at};");
    }
    for at in 0..writer.counters {
        let _ = writeln!(declarations, "    counter({CELLS}, CounterType.packets) c{at};");
    }
    let mut commands = Vec::new();
    for table in 0..tables {
        let direct = writer.choices.chance(40);
        for action in 0..2 {
            writer.in_action = true;
            let count = 1 + writer.choices.below(3);
            let body = writer.statements(count, 1);
            let counting = if direct { format!("        d{table}.count();\n") } else { "".into() };
            let _ = writeln!(
                declarations,
                "    action a{table}_{action}(bit<32> p{table}_{action}) {{\n{counting}{}    }}",
                body.replace("PARAMETER", &format!("p{table}_{action}"))
            );
        }
        if direct {
            let at = declarations.find("    action").unwrap_or(0);
            let line = format!("    direct_counter(CounterType.packets) d{table};\n");
            declarations.insert_str(at, &line);
        }
        let counters = if direct { format!(" counters = d{table};") } else { "".into() };
        let field = writer.choices.below(FIELDS);
        let _ = writeln!(
            declarations,
            "    table t{table} {{ key = {{ h.h.f{field} & 3: exact @name(\"k\"); }} \
             actions = {{ a{table}_0; a{table}_1; NoAction; }} \
             default_action = NoAction();{counters} }}"
        );
        for key in 0..3 {
            let action = writer.choices.below(2);
            let data = writer.choices.below(7);
            commands.push(format!("table_add t{table} a{table}_{action} {key} => {data}"));
        }
    }
    let text = program(&declarations, &body);
    let packets = (0..packet_count).map(|_| packet(writer.choices)).collect();
    StatefulCase { text, commands, packets }
}

fn packet(choices: &mut Choices) -> (u32, Vec<u8>) {
    let mut bytes = Vec::new();
    for _ in 0..FIELDS {
        bytes.extend((choices.below(8) as u32).to_be_bytes());
    }
    (choices.between(0, 3), bytes)
}

fn program(declarations: &str, body: &str) -> String {
    let fields: String = (0..FIELDS).map(|at| format!("bit<32> f{at}; ")).collect();
    format!(
        "#include <core.p4>\n#include <v1model.p4>\nheader h_t {{ {fields}}}\nstruct headers_t {{ h_t h; }}\n\
         struct meta_t {{ bit<32> m0; bit<32> m1; }}\n\
         parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {{\n\
         \x20   state start {{ p.extract(h.h); transition accept; }}\n}}\n\
         control V(inout headers_t h, inout meta_t m) {{ apply {{ }} }}\n\
         control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {{\n{declarations}\
         \x20   apply {{\n        s.egress_spec = 1;\n{body}    }}\n}}\n\
         control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {{ apply {{ }} }}\n\
         control D(packet_out p, in headers_t h) {{ apply {{ p.emit(h.h); }} }}\n\
         V1Switch(P(), V(), I(), E(), V(), D()) main;\n"
    )
}

struct Writer<'c> {
    choices: &'c mut Choices,
    registers: usize,
    counters: usize,
    /// Tables that are not applied yet; each is applied once at most.
    tables_left: Vec<usize>,
    locals: usize,
    depth: usize,
    in_action: bool,
}

impl Writer<'_> {
    fn statements(&mut self, count: usize, depth: usize) -> String {
        self.depth += 1;
        let text = (0..count).map(|_| self.statement(depth)).collect();
        self.depth -= 1;
        text
    }

    fn target(&mut self) -> String {
        match self.choices.below(6) {
            4 => "m.m0".to_string(),
            5 => "m.m1".to_string(),
            at => format!("h.h.f{}", at + 1),
        }
    }

    fn value(&mut self) -> String {
        match self.choices.weighted(&[50, 20, 20, if self.in_action { 30 } else { 0 }]) {
            0 => format!("h.h.f{}", self.choices.below(FIELDS)),
            1 => format!("m.m{}", self.choices.below(2)),
            2 => format!("32w{}", self.choices.below(9)),
            _ => "PARAMETER".to_string(),
        }
    }

    fn expression(&mut self) -> String {
        let (left, right) = (self.value(), self.value());
        match self.choices.below(7) {
            0 => left,
            1 | 2 => format!("{left} + {right}"),
            3 => format!("{left} - {right}"),
            4 => format!("{left} ^ {right}"),
            5 => format!("{left} * 3"),
            _ => format!("({left} & {right}) + 1"),
        }
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.value(), self.value());
        let operator = *self.choices.pick(&["<", "==", "!=", ">"]);
        match self.choices.below(3) {
            0 => format!("({left} & 1) == 1"),
            _ => format!("{left} {operator} {right}"),
        }
    }

    fn index(&mut self) -> String {
        match self.choices.below(4) {
            0 => format!("{}", self.choices.below(CELLS as usize)),
            _ => format!("({}) & {}", self.expression(), CELLS - 1),
        }
    }

    fn statement(&mut self, depth: usize) -> String {
        let indent = "    ".repeat(self.depth + 1);
        let has_table = !self.in_action && !self.tables_left.is_empty();
        let weights = [
            20,
            55,
            if depth > 0 { 14 } else { 0 },
            if has_table { 25 } else { 0 },
            if self.counters > 0 { 6 } else { 0 },
            if depth < 2 { 2 } else { 0 },
        ];
        match self.choices.weighted(&weights) {
            0 => format!("{indent}{} = {};\n", self.target(), self.expression()),
            1 => self.access(&indent),
            2 => {
                let (condition, count) = (self.condition(), 1 + self.choices.below(3));
                let then = self.statements(count, depth - 1);
                let text = format!("{indent}if ({condition}) {{\n{then}{indent}}}");
                match self.choices.flag() {
                    true => {
                        let otherwise = self.statements(1, depth - 1);
                        format!("{text} else {{\n{otherwise}{indent}}}\n")
                    }
                    false => format!("{text}\n"),
                }
            }
            3 => self.application(&indent, depth),
            4 => {
                let at = self.choices.below(self.counters);
                format!("{indent}c{at}.count({});\n", self.index())
            }
            _ => format!("{indent}exit;\n"),
        }
    }

    /// A read, an update or a write of a cell. Updates of one array do not commute.
    fn access(&mut self, indent: &str) -> String {
        let register = self.choices.below(self.registers);
        let (index, value) = (self.index(), self.expression());
        let (i, v) = (format!("i{}", self.locals), format!("v{}", self.locals));
        self.locals += 1;
        let head = format!(
            "{indent}bit<32> {i} = {index};\n{indent}bit<32> {v};\n{indent}r{register}.read({v}, {i});\n"
        );
        let target = self.target();
        match self.choices.below(6) {
            0 | 1 => format!("{head}{indent}r{register}.write({i}, {v} * 3 + ({value}));\n"),
            2 => format!(
                "{head}{indent}r{register}.write({i}, {v} * 3 + ({value}));\n{indent}{target} = {v};\n"
            ),
            3 => {
                let condition = self.condition();
                format!(
                    "{head}{indent}if ({condition}) {{ r{register}.write({i}, {v} * 5 + 1); }} \
                     else {{ r{register}.write({i}, {v} ^ ({value})); }}\n{indent}{target} = {v};\n"
                )
            }
            4 => format!("{head}{indent}{target} = {v} + ({value});\n"),
            _ => {
                format!("{head}{indent}r{register}.write({i}, {value});\n{indent}{target} = {v};\n")
            }
        }
    }

    fn application(&mut self, indent: &str, depth: usize) -> String {
        let Some(table) = self.tables_left.pop() else { return String::new() };
        match self.choices.below(3) {
            0 => format!("{indent}t{table}.apply();\n"),
            1 => {
                let then = self.statements(1, depth.saturating_sub(1));
                format!("{indent}if (t{table}.apply().hit) {{\n{then}{indent}}}\n")
            }
            _ => {
                let one = self.statements(1, depth.saturating_sub(1));
                let other = self.statements(1, depth.saturating_sub(1));
                format!(
                    "{indent}switch (t{table}.apply().action_run) {{\n\
                     {indent}    a{table}_0: {{\n{one}{indent}    }}\n\
                     {indent}    default: {{\n{other}{indent}    }}\n{indent}}}\n"
                )
            }
        }
    }
}
