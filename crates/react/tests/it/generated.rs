// SPDX-License-Identifier: Apache-2.0
//! Generated P4R programs: values, fields, malleable and ordinary tables with all match kinds, defaults, registers and
//! arguments. Every header field leaves with the packet, so all that a program does is seen.

use std::fmt::Write;
use testing::Choices;

/// Header fields of 32 and of 16 bits.
const WIDE: [&str; 3] = ["a", "b", "c"];
const NARROW: [&str; 3] = ["p", "q", "r"];

/// A program, and what its pieces are called.
#[derive(Clone, Debug)]
pub struct GeneratedProgram {
    pub text: String,
}

struct Generator<'c> {
    choices: &'c mut Choices,
    wide: Vec<String>,
    narrow: Vec<String>,
    values: Vec<String>,
    writes: Writes,
}

/// Where programs write their register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// In any action and statement.
    Anywhere,
    /// In one statement, as chips do: passes that take time write it in the order of packets.
    Once,
}

fn field(name: &str) -> String {
    format!("hdr.d.{name}")
}

impl Generator<'_> {
    /// Something of 32 bits to read.
    fn wide_operand(&mut self) -> String {
        match self.choices.below(5) {
            0 => field(WIDE[self.choices.below(3)]),
            1 if !self.wide.is_empty() => format!("${{{}}}", self.choices.pick(&self.wide)),
            2 if !self.values.is_empty() => {
                format!("(bit<32>)${{{}}}", self.choices.pick(&self.values))
            }
            3 if !self.narrow.is_empty() => {
                format!("(bit<32>)${{{}}}", self.choices.pick(&self.narrow))
            }
            _ => format!("32w{}", self.choices.below(5)),
        }
    }

    /// Something of 32 bits to write.
    fn wide_target(&mut self) -> String {
        match self.choices.below(2) {
            1 if !self.wide.is_empty() => format!("${{{}}}", self.choices.pick(&self.wide)),
            _ => field(WIDE[self.choices.below(3)]),
        }
    }

    fn narrow_target(&mut self) -> String {
        match self.choices.below(2) {
            1 if !self.narrow.is_empty() => format!("${{{}}}", self.choices.pick(&self.narrow)),
            _ => field(NARROW[self.choices.below(3)]),
        }
    }

    fn statement(&mut self, parameter: &str) -> String {
        let operator = ["+", "-", "^", "&", "|"][self.choices.below(5)];
        let kinds = if self.writes == Writes::Once { 5 } else { 6 };
        match self.choices.below(kinds) {
            0 | 1 => {
                let (target, left) = (self.wide_target(), self.wide_operand());
                format!("{target} = {left} {operator} {parameter};")
            }
            2 => {
                let (target, left, right) =
                    (self.wide_target(), self.wide_operand(), self.wide_operand());
                format!("{target} = {left} {operator} {right};")
            }
            3 => {
                let target = self.narrow_target();
                format!("{target} = {target} + (bit<16>){parameter};")
            }
            4 => {
                let target = self.wide_target();
                format!("{target}[7:0] = ({parameter})[7:0];")
            }
            _ => {
                let operand = self.wide_operand();
                // The packet carries away what it wrote.
                format!(
                    "r.write(({operand}) & 15, {parameter}); \
                     hdr.d.wrote = (hdr.d.wrote << 12) ^ ({parameter} << 4) ^ (({operand}) & 15);"
                )
            }
        }
    }

    fn action(&mut self, name: &str) -> String {
        let count = 1 + self.choices.below(2);
        let body: Vec<String> = (0..count).map(|_| self.statement("x")).collect();
        format!("    action {name}(bit<32> x) {{ {} }}\n", body.join(" "))
    }

    fn table(&mut self, name: &str, is_malleable: bool) -> String {
        let mut keys = Vec::new();
        let mut has_prefix = false;
        for _ in 0..1 + self.choices.below(2) {
            let (expression, is_masked) = match self.choices.below(5) {
                0 if !self.wide.is_empty() => {
                    (format!("${{{}}}", self.choices.pick(&self.wide)), false)
                }
                1 if !self.narrow.is_empty() => {
                    (format!("${{{}}}", self.choices.pick(&self.narrow)), false)
                }
                2 if !self.narrow.is_empty() => {
                    (format!("${{{}}} & 0xff", self.choices.pick(&self.narrow)), true)
                }
                3 => (field(WIDE[self.choices.below(3)]), false),
                _ => (field(NARROW[self.choices.below(3)]), false),
            };
            let mut kind = ["exact", "ternary", "lpm", "range"][self.choices.below(4)];
            if is_masked {
                kind = "ternary";
            }
            if kind == "lpm" && std::mem::replace(&mut has_prefix, true) {
                kind = "exact";
            }
            let name = format!("k{}", keys.len());
            keys.push(format!("            {expression} : {kind} @name(\"{name}\");\n"));
        }
        let word = if is_malleable { "malleable " } else { "" };
        let default = match self.choices.below(3) {
            0 => "        default_action = one(3);\n",
            1 => "        default_action = two(1);\n",
            _ => "",
        };
        format!(
            "    {word}table {name} {{\n        key = {{\n{}        }}\n        actions = {{ one; two; idle; }}\n\
             {default}        size = 64;\n    }}\n",
            keys.concat()
        )
    }

    fn apply(&mut self, table: &str) -> String {
        match self.choices.below(5) {
            0 => format!(
                "        if ({table}.apply().hit) {{ hdr.d.seen = hdr.d.seen + 1; }} else {{ hdr.d.seen = hdr.d.seen + 2; }}\n"
            ),
            1 => format!("        if (!{table}.apply().hit) {{ hdr.d.c = hdr.d.c + 1; }}\n"),
            2 => format!(
                "        switch ({table}.apply().action_run) {{ one: {{ hdr.d.seen = hdr.d.seen + 4; }} two: {{ hdr.d.seen = hdr.d.seen + 8; }} default: {{ hdr.d.seen = hdr.d.seen + 16; }} }}\n"
            ),
            3 => {
                let statement = self.statement("32w2");
                format!("        {statement}\n        {table}.apply();\n")
            }
            _ => format!("        {table}.apply();\n"),
        }
    }
}

/// Draws a program.
pub fn program(choices: &mut Choices, writes: Writes) -> GeneratedProgram {
    let wide = (0..choices.below(3)).map(|at| format!("f{at}")).collect();
    let narrow = (0..choices.below(2)).map(|at| format!("g{at}")).collect();
    let values: Vec<String> = (0..1 + choices.below(2)).map(|at| format!("v{at}")).collect();
    let mut generator = Generator { choices, wide, narrow, values, writes };
    let mut text = String::from(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header d_t { bit<16> id; bit<32> a; bit<32> b; bit<32> c; bit<16> p; bit<16> q; bit<16> r; bit<8> seen; bit<32> wrote; }\n\
         struct headers_t { d_t d; }\nstruct meta_t { }\n",
    );
    for value in &generator.values {
        let _ = writeln!(text, "malleable value bit<16> {value} {{ init = 1; }}");
    }
    for (names, ty, of) in [(&generator.wide, 32, WIDE), (&generator.narrow, 16, NARROW)] {
        for name in names {
            let count = 1 + generator.choices.below(3);
            let first = generator.choices.below(3);
            let alternatives: Vec<String> =
                (0..count).map(|at| field(of[(first + at) % 3])).collect();
            let initial = generator.choices.pick(&alternatives);
            let _ = writeln!(
                text,
                "malleable field bit<{ty}> {name} {{ init = {initial}; alts {{ {} }} }}",
                alternatives.join(", ")
            );
        }
    }
    text.push_str(
        "parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {\n\
         \x20   state start { packet.extract(hdr.d); transition accept; }\n}\n\
         control V(inout headers_t hdr, inout meta_t meta) { apply { } }\n\
         control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {\n\
         \x20   register<bit<32>>(12) r;\n    action idle() { }\n\
         \x20   action leave() { hdr.d.seen = hdr.d.seen + 64; exit; }\n",
    );
    text.push_str(&generator.action("one"));
    text.push_str(&generator.action("two"));
    let tables = 1 + generator.choices.below(3);
    let mut applies = String::new();
    for at in 0..tables {
        let name = format!("t{at}");
        let is_malleable = at == 0 || generator.choices.chance(70);
        text.push_str(&generator.table(&name, is_malleable));
        applies.push_str(&generator.apply(&name));
    }
    if writes == Writes::Once {
        let operand = generator.wide_operand();
        let _ = writeln!(
            applies,
            "        r.write(({operand}) & 15, hdr.d.c); hdr.d.wrote = (hdr.d.c << 4) ^ (({operand}) & 15);"
        );
    }
    let ending = match generator.choices.below(6) {
        0 => "        if (hdr.d.seen == 3) { return; }\n        hdr.d.seen = hdr.d.seen ^ 128;\n",
        1 => "        if (hdr.d.seen == 3) { exit; }\n        hdr.d.seen = hdr.d.seen ^ 128;\n",
        2 => "        if (hdr.d.p == 2) { leave(); }\n        hdr.d.seen = hdr.d.seen ^ 128;\n",
        _ => "",
    };
    let _ = write!(
        text,
        "    apply {{\n        sm.egress_spec = 1;\n{applies}{ending}    }}\n}}\n\
         control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}\n\
         control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}\n\
         control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.d); }} }}\n"
    );
    let fields: String = generator
        .wide
        .iter()
        .chain(&generator.narrow)
        .map(|name| format!(", ing ${{{name}}}"))
        .collect();
    let _ = write!(
        text,
        "reaction react(ing hdr.d.id, ing hdr.d.a, ing hdr.d.p, ing hdr.d.seen, reg r[2:9]{fields}) {{ }}\n\
         V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    );
    GeneratedProgram { text }
}

/// Draws a packet with a number.
pub fn packet(choices: &mut Choices, id: u16) -> Vec<u8> {
    let mut bytes = id.to_be_bytes().to_vec();
    for _ in 0..3 {
        bytes.extend((choices.below(4) as u32).to_be_bytes());
    }
    for _ in 0..3 {
        bytes.extend((choices.below(4) as u16).to_be_bytes());
    }
    bytes.extend([0; 5]);
    bytes
}
