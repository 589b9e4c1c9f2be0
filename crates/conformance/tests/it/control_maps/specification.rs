// SPDX-License-Identifier: Apache-2.0
//! Small programs as data: tables, actions, registers and counters of one ingress control. They print themselves
//! as v1model P4_16; maps change them as data.

use ir::Program;
use ir::ready::ReadyProgram;
use std::fmt::Write;
use std::sync::Arc;

/// How a key is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Exact,
    Lpm,
    Ternary,
    Range,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Lpm => "lpm",
            Kind::Ternary => "ternary",
            Kind::Range => "range",
        }
    }
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What is matched.
    pub expression: String,
    pub width_bits: u32,
    pub kind: Kind,
}

/// An action: `(parameter, width)` pairs and statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub name: String,
    pub parameters: Vec<(String, u32)>,
    pub body: String,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub keys: Vec<Key>,
    pub actions: Vec<String>,
    /// Action and arguments.
    pub default: (String, Vec<u64>),
    pub size: u64,
    /// The name of its direct counter.
    pub counter: Option<String>,
    pub idle_timeout: bool,
}

/// A register array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    pub name: String,
    pub width_bits: u32,
    pub size: u64,
}

/// A counter array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    pub name: String,
    pub size: u64,
}

/// What an access does to a register cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Adds a value; the old one goes into the packet.
    Add,
    /// Overwrites the cell without looking at it.
    Set,
    /// Adds one; nothing goes into the packet.
    Count,
}

/// A statement of the ingress control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// As it is.
    Text(String),
    /// Applies a table.
    Apply(String),
    /// A choice.
    If { condition: String, yes: Vec<Statement>, no: Vec<Statement> },
    /// Applies a table, and these where it missed.
    OnMiss { table: String, otherwise: Vec<Statement> },
    /// Accesses a register at an index of 32 bits with a value of 8 bits.
    Access { register: String, index: String, value: String, operation: Operation },
    /// Counts at an index of 32 bits.
    Count { counter: String, index: String },
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specification {
    /// `(name, width)` pairs.
    pub metadata: Vec<(String, u32)>,
    pub actions: Vec<Action>,
    pub tables: Vec<Table>,
    pub registers: Vec<Register>,
    pub counters: Vec<Counter>,
    pub statements: Vec<Statement>,
    /// The name of the digest.
    pub digest: String,
    /// How many names were made up.
    pub fresh: u32,
}

/// Where the control plane finds an object of this name.
pub fn full_name(name: &str) -> String {
    format!("I.{name}")
}

impl Specification {
    /// A name that nothing has.
    pub fn fresh(&mut self, stem: &str) -> String {
        self.fresh += 1;
        format!("{stem}_{}", self.fresh)
    }

    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.iter().find(|register| register.name == name)
    }

    /// Replaces statements, innermost first.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(Statement) -> Vec<Statement>) {
        let statements = std::mem::take(&mut self.statements);
        self.statements = rewritten(statements, change);
    }

    /// Tables that are applied as statements of their own.
    pub fn plainly_applied(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut copy = self.clone();
        copy.rewrite(&mut |statement| {
            if let Statement::Apply(table) = &statement {
                found.push(table.clone());
            }
            vec![statement]
        });
        found
    }

    /// The program, compiled.
    pub fn compile(&self) -> Arc<Program> {
        let text = self.text();
        match ReadyProgram::of_text("generated.p4", text.clone()) {
            Ok(ready) => ready.program().clone(),
            Err(why) => panic!("{why}\n{text}"),
        }
    }

    /// The program as P4_16.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "#include <core.p4>\n#include <v1model.p4>\n\
             header h_t { bit<8> a; bit<8> b; bit<16> c; bit<8> d; bit<8> w0; bit<8> w1; bit<8> r0; bit<8> r1; }\n\
             struct headers_t { h_t h; }\n",
        );
        text.push_str("struct metadata_t {");
        for (name, width) in &self.metadata {
            let _ = write!(text, " bit<{width}> {name};");
        }
        text.push_str(" }\n");
        let _ = writeln!(text, "struct {} {{ bit<8> a; bit<8> w0; }}", self.digest);
        text.push_str(
            "parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {\n\
             \x20   state start { packet.extract(hdr.h); transition accept; }\n}\n\
             control V(inout headers_t hdr, inout metadata_t meta) { apply { } }\n\
             control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {\n",
        );
        for Register { name, width_bits, size } in &self.registers {
            let _ = writeln!(text, "    register<bit<{width_bits}>>({size}) {name};");
        }
        for Counter { name, size } in &self.counters {
            let _ = writeln!(text, "    counter({size}, CounterType.packets_and_bytes) {name};");
        }
        for counter in self.tables.iter().filter_map(|table| table.counter.as_ref()) {
            let _ = writeln!(text, "    direct_counter(CounterType.packets_and_bytes) {counter};");
        }
        for Action { name, parameters, body } in &self.actions {
            let parameters: Vec<String> =
                parameters.iter().map(|(name, width)| format!("bit<{width}> {name}")).collect();
            let _ = writeln!(text, "    action {name}({}) {{ {body} }}", parameters.join(", "));
        }
        for table in &self.tables {
            table.print(&mut text);
        }
        text.push_str("    apply {\n");
        let mut locals = 0;
        self.print_statements(&self.statements, &mut text, &mut locals);
        text.push_str(
            "    }\n}\n\
             control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }\n\
             control C(inout headers_t hdr, inout metadata_t meta) { apply { } }\n\
             control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }\n\
             V1Switch(P(), V(), I(), E(), C(), D()) main;\n",
        );
        text
    }

    fn print_statements(&self, statements: &[Statement], text: &mut String, locals: &mut u32) {
        for statement in statements {
            match statement {
                Statement::Text(line) => {
                    let _ = writeln!(text, "        {line}");
                }
                Statement::Apply(table) => {
                    let _ = writeln!(text, "        {table}.apply();");
                }
                Statement::If { condition, yes, no } => {
                    let _ = writeln!(text, "        if ({condition}) {{");
                    self.print_statements(yes, text, locals);
                    text.push_str("        } else {\n");
                    self.print_statements(no, text, locals);
                    text.push_str("        }\n");
                }
                Statement::OnMiss { table, otherwise } => {
                    let _ = writeln!(text, "        if (!{table}.apply().hit) {{");
                    self.print_statements(otherwise, text, locals);
                    text.push_str("        }\n");
                }
                Statement::Access { register, index, value, operation } => {
                    *locals += 1;
                    let (old, at) = (format!("old_{locals}"), format!("at_{locals}"));
                    let _ = writeln!(text, "        bit<32> {at} = {index};");
                    let _ = match operation {
                        Operation::Add => writeln!(
                            text,
                            "        bit<8> {old}; {register}.read({old}, {at}); hdr.h.r0 = {old}; \
                             {register}.write({at}, {old} + {value});"
                        ),
                        Operation::Count => {
                            let width = self.register(register).map_or(8, |one| one.width_bits);
                            writeln!(
                                text,
                                "        bit<{width}> {old}; {register}.read({old}, {at}); \
                                 {register}.write({at}, {old} + 1);"
                            )
                        }
                        Operation::Set => {
                            writeln!(text, "        {register}.write({at}, {value});")
                        }
                    };
                }
                Statement::Count { counter, index } => {
                    let _ = writeln!(text, "        {counter}.count({index});");
                }
            }
        }
    }
}

impl Table {
    fn print(&self, text: &mut String) {
        let _ = writeln!(text, "    table {} {{", self.name);
        if !self.keys.is_empty() {
            text.push_str("        key = {");
            for (at, key) in self.keys.iter().enumerate() {
                let kind = key.kind.text();
                let _ = write!(text, " {}: {kind} @name(\"k{at}\");", key.expression);
            }
            text.push_str(" }\n");
        }
        let _ = writeln!(text, "        actions = {{ {}; }}", self.actions.join("; "));
        let (action, arguments) = &self.default;
        let arguments: Vec<String> = arguments.iter().map(u64::to_string).collect();
        let _ = writeln!(text, "        default_action = {action}({});", arguments.join(", "));
        let _ = writeln!(text, "        size = {};", self.size);
        if let Some(counter) = &self.counter {
            let _ = writeln!(text, "        counters = {counter};");
        }
        if self.idle_timeout {
            text.push_str("        support_timeout = true;\n");
        }
        text.push_str("    }\n");
    }
}

fn rewritten(
    statements: Vec<Statement>,
    change: &mut dyn FnMut(Statement) -> Vec<Statement>,
) -> Vec<Statement> {
    let mut done = Vec::new();
    for statement in statements {
        let statement = match statement {
            Statement::If { condition, yes, no } => {
                Statement::If { condition, yes: rewritten(yes, change), no: rewritten(no, change) }
            }
            Statement::OnMiss { table, otherwise } => {
                Statement::OnMiss { table, otherwise: rewritten(otherwise, change) }
            }
            other => other,
        };
        done.extend(change(statement));
    }
    done
}
