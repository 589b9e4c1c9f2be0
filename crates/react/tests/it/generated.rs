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
    target: Target,
}

/// The architecture of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    V1model,
    /// One access of the register a packet, by a register action; the egress has headers and metadata of its own.
    Tna,
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
        let kinds = if self.writes == Writes::Once { 5 } else { 7 };
        match self.choices.below(kinds) {
            0 => field(WIDE[self.choices.below(3)]),
            1 if !self.wide.is_empty() => format!("${{{}}}", self.choices.pick(&self.wide)),
            2 | 5 | 6 if !self.values.is_empty() => {
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
        let is_once = self.writes == Writes::Once || self.target == Target::Tna;
        let kinds = if is_once { 5 } else { 6 };
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
        let (counter, counters) = match self.target == Target::V1model && name == "t0" {
            true => (
                format!("    direct_counter(CounterType.packets_and_bytes) {name}_count;\n"),
                format!("        counters = {name}_count;\n"),
            ),
            false => (String::new(), String::new()),
        };
        format!(
            "{counter}    {word}table {name} {{\n        key = {{\n{}        }}\n        actions = {{ one; two; idle; }}\n\
             {default}{counters}        size = 64;\n    }}\n",
            keys.concat()
        )
    }

    fn apply(&mut self, table: &str) -> String {
        let kinds = if self.writes == Writes::Once { 5 } else { 7 };
        match self.choices.below(kinds) {
            0 => format!(
                "        if ({table}.apply().hit) {{ hdr.d.seen = hdr.d.seen + 1; }} else {{ hdr.d.seen = hdr.d.seen + 2; }}\n"
            ),
            1 => format!("        if (!{table}.apply().hit) {{ hdr.d.c = hdr.d.c + 1; }}\n"),
            2 => format!(
                "        switch ({table}.apply().action_run) {{ one: {{ hdr.d.seen = hdr.d.seen + 4; }} two: {{ hdr.d.seen = hdr.d.seen + 8; }} default: {{ hdr.d.seen = hdr.d.seen + 16; }} }}\n"
            ),
            5 => {
                let action = ["one", "two"][self.choices.below(2)];
                let operand = self.wide_operand();
                format!("        {table}.apply();\n        {action}({operand});\n")
            }
            6 => {
                let (target, one, two) =
                    (self.narrow_target(), self.wide_operand(), self.wide_operand());
                let hash = match self.target {
                    Target::V1model => format!(
                        "hash({target}, HashAlgorithm.crc16, 16w0, {{ {one}, {two} }}, 32w8);"
                    ),
                    Target::Tna => format!("{target} = (bit<16>)h.get({{ {one}, {two} }});"),
                };
                format!("        {hash}\n        {table}.apply();\n")
            }
            3 => {
                let statement = self.statement("32w2");
                format!("        {statement}\n        {table}.apply();\n")
            }
            _ => format!("        {table}.apply();\n"),
        }
    }
}

impl Generator<'_> {
    /// The register of a program for Tofino with its action, and the statement that accesses it.
    fn register_action(&mut self) -> (String, String) {
        let operator = ["+", "^", "|"][self.choices.below(3)];
        let operand = self.wide_operand();
        let bits = [4, 9, 32][self.choices.below(3)];
        let size = [12, 16][self.choices.below(2)];
        let kind = self.choices.below(6);
        let (parameter, before, after) = match kind {
            // The old value, which nobody takes.
            0 => (", out bit<32> result", "result = value; ", ""),
            1 | 2 => ("", "", ""),
            _ => (", out bit<32> result", "", " result = value;"),
        };
        let index = self.wide_operand();
        let index = match bits {
            32 => format!("({index}) & 15"),
            bits => format!("(bit<{bits}>)(({index}) & 15)"),
        };
        let (action, statement) = match kind {
            2 => (
                format!("    action touch() {{ store.execute({index}); }}\n"),
                "        touch();\n".to_string(),
            ),
            0 | 1 => (String::new(), format!("        store.execute({index});\n")),
            3 => (String::new(), format!("        hdr.d.wrote = store.execute({index});\n")),
            4 => (
                String::new(),
                format!(
                    "        bit<32> kept = store.execute({index});\n        hdr.d.wrote = kept + 1;\n"
                ),
            ),
            _ => (
                String::new(),
                format!("        if (store.execute({index}) > 5) {{ hdr.d.wrote = 1; }}\n"),
            ),
        };
        let declarations = format!(
            "    Register<bit<32>, bit<{bits}>>({size}, 0) r;\n\
             \x20   RegisterAction<bit<32>, bit<{bits}>, bit<32>>(r) store = {{\n\
             \x20       void apply(inout bit<32> value{parameter}) {{ {before}value = value {operator} ({operand});{after} }}\n\
             \x20   }};\n{action}"
        );
        (declarations, statement)
    }
}

const TNA_PARSERS: &str = "\
parser P(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic); packet.advance(PORT_METADATA_SIZE); packet.extract(hdr.d); transition accept;
    }
}
parser Q(packet_in packet, out headers_t hdr, out meta_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start { packet.extract(intrinsic); packet.extract(hdr.d); transition accept; }
}
control F(packet_out packet, inout headers_t hdr, in meta_t meta, in egress_intrinsic_metadata_for_deparser_t sm) {
    apply { packet.emit(hdr.d); }
}
control I(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t parsed, inout ingress_intrinsic_metadata_for_deparser_t sm,
    inout ingress_intrinsic_metadata_for_tm_t tm) {
    Hash<bit<3>>(HashAlgorithm_t.CRC16) h;
";

const TNA_EGRESS: &str = "\
control E(inout headers_t hdr, inout meta_t meta, in egress_intrinsic_metadata_t intrinsic,
    in egress_intrinsic_metadata_from_parser_t parsed, inout egress_intrinsic_metadata_for_deparser_t sm,
    inout egress_intrinsic_metadata_for_output_port_t port) {
";

const V1MODEL_PARSERS: &str = "\
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.d); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    register<bit<32>>(12) r;
";

/// Draws a program.
pub fn program(choices: &mut Choices, writes: Writes, target: Target) -> GeneratedProgram {
    let wide = (0..choices.below(3)).map(|at| format!("f{at}")).collect();
    let narrow = (0..choices.below(2)).map(|at| format!("g{at}")).collect();
    let values: Vec<String> = (0..1 + choices.below(4)).map(|at| format!("v{at}")).collect();
    let mut generator = Generator { choices, wide, narrow, values, writes, target };
    let include = if target == Target::Tna { "tna.p4" } else { "v1model.p4" };
    let mut text = format!("#include <core.p4>\n#include <{include}>\n");
    text.push_str(
        "header d_t { bit<16> id; bit<32> a; bit<32> b; bit<32> c; bit<16> p; bit<16> q; bit<16> r; bit<8> seen; bit<32> wrote; }\n\
         struct headers_t { d_t d; }\nstruct meta_t { }\n\
         struct told_t { bit<16> what; bit<32> which; bit<16> id; }\n",
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
    text.push_str(if target == Target::Tna { TNA_PARSERS } else { V1MODEL_PARSERS });
    text.push_str(
        "    action idle() { }\n    action leave() { hdr.d.seen = hdr.d.seen + 64; exit; }\n",
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
    if target == Target::Tna {
        let (declarations, statement) = generator.register_action();
        text.push_str(&declarations);
        // In front of the tables or behind them.
        match generator.choices.flag() {
            true => applies.insert_str(0, &statement),
            false => applies.push_str(&statement),
        }
    } else if writes == Writes::Once {
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
    let forward =
        if target == Target::Tna { "tm.ucast_egress_port = 1;" } else { "sm.egress_spec = 1;" };
    let told = match generator.wide.first() {
        Some(name) => format!("${{v0}}, ${{{name}}}, hdr.d.id"),
        None => "${v0}, hdr.d.c, hdr.d.id".to_string(),
    };
    let digests = if writes == Writes::Once { 1 } else { 3 };
    let digest = match (target, generator.choices.below(digests)) {
        (_, 0) => String::new(),
        (Target::Tna, _) => "        sm.digest_type = 1;\n".to_string(),
        (_, 1) => format!("        digest<told_t>(1, {{ {told} }});\n"),
        _ => "        digest<told_t>(1, { what = ${v0}, which = hdr.d.c, id = hdr.d.id });\n"
            .to_string(),
    };
    applies.push_str(&digest);
    let _ = write!(text, "    apply {{\n        {forward}\n{applies}{ending}    }}\n}}\n");
    let mut egress = String::new();
    let inputs: Vec<String> = ["v0".to_string()]
        .iter()
        .chain(&generator.wide)
        .map(|name| format!("${{{name}}}"))
        .collect();
    let inputs = inputs.join(", ");
    match target {
        Target::V1model => {
            // Egress commits after ingress.
            let sum = match writes {
                Writes::Anywhere => format!(
                    "update_checksum(hdr.d.p != 1, {{ {inputs} }}, hdr.d.r, HashAlgorithm.csum16);"
                ),
                Writes::Once => String::new(),
            };
            let leaving = if inputs.contains("f0") { "if (hdr.d.p == 0) { exit; } " } else { "" };
            let _ = write!(
                text,
                "control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{ \
                 apply {{ {leaving}hdr.d.b = hdr.d.b + 1; }} }}\n\
                 control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ {sum} }} }}\n\
                 control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.d); }} }}\n"
            );
        }
        Target::Tna => {
            let _ = write!(
                text,
                "control D(packet_out packet, inout headers_t hdr, in meta_t meta, \
                 in ingress_intrinsic_metadata_for_deparser_t sm) {{\n    Checksum() sum;\n\
                 \x20   Digest<told_t>() told;\n\
                 \x20   apply {{\n        hdr.d.r = sum.update({{ {inputs} }});\n\
                 \x20       if (sm.digest_type == 1) {{ told.pack({{ {told} }}); }}\n\
                 \x20       packet.emit(hdr.d);\n    }}\n}}\n"
            );
            text.push_str(TNA_EGRESS);
            // The pipelines commit one after the other.
            if writes == Writes::Anywhere {
                let _ = write!(
                    text,
                    "    Register<bit<16>, bit<2>>(3) sent;\n\
                     \x20   RegisterAction<bit<16>, bit<2>, bit<16>>(sent) count = {{\n\
                     \x20       void apply(inout bit<16> value) {{ value = value + 1; }}\n    }};\n\
                     \x20   action up(bit<32> x) {{ hdr.d.a = hdr.d.a + x; }}\n\
                     \x20   action down(bit<32> x) {{ hdr.d.a = hdr.d.a - x; }}\n    action rest() {{ }}\n\
                     \x20   malleable table s {{\n        key = {{ hdr.d.q : exact; }}\n\
                     \x20       actions = {{ up; down; rest; }}\n        size = 16;\n    }}\n\
                     \x20   apply {{\n        count.execute(hdr.d.p[1:0]);\n        s.apply();\n\
                     \x20       hdr.d.q = hdr.d.q ^ ${{v0}};\n        if (hdr.d.q == 1) {{ return; }}\n\
                     \x20       hdr.d.c = hdr.d.c + 1;\n    }}\n}}\n"
                );
                egress.push_str(", egr hdr.d.c as gone, reg sent");
            } else {
                text.push_str("    apply { }\n}\n");
            }
        }
    }
    let fields: String = generator
        .wide
        .iter()
        .chain(&generator.narrow)
        .map(|name| format!(", ing ${{{name}}}"))
        .collect();
    let main = match target {
        Target::V1model => "V1Switch(P(), V(), I(), E(), C(), D()) main;",
        Target::Tna => "Pipeline(P(), I(), D(), Q(), E(), F()) pipe;\nSwitch(pipe) main;",
    };
    // A second reaction, of another rate, that takes the register too, or takes it alone.
    let own = "ing hdr.d.id, ing hdr.d.a, ing hdr.d.p, ing hdr.d.seen";
    let (first, second) = match generator.choices.below(3) {
        0 => (", reg r[2:9]", ""),
        1 => ("", ", reg r[2:9]"),
        _ => (", reg r[2:9]", ", reg r[2:9]"),
    };
    let _ = writeln!(text, "reaction react({own}{first}{fields}{egress}) {{ }}");
    if !second.is_empty() {
        let _ = writeln!(text, "@rate(\"8us\")\nreaction slow({own}{second}) {{ }}");
    }
    let _ = writeln!(text, "{main}");
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
