// SPDX-License-Identifier: Apache-2.0
//! Generated controls with registers, tables and branches: state in indices and predicates, updates that do not commute,
//! arrays that a packet meets twice. And packets for them.

use crate::v1model::register;
use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall};
use ir::Bits;
use testing::Choices;

/// Packets of a case.
pub const PACKETS: usize = 40;

/// Services that do nothing.
pub struct Silent;

impl Environment for Silent {
    fn now_ps(&self) -> u64 {
        0
    }

    fn packet_length_bytes(&self) -> u64 {
        64
    }

    fn random_key(&self) -> RandomKey {
        RandomKey::default()
    }

    fn log_line(&mut self, _: &str) {}

    fn call_extern(&mut self, _: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err("no extern".to_string())
    }
}

/// Registers and tables.
pub fn declarations() -> String {
    let mut text: String = ["a", "b", "c", "d"].map(register).concat();
    text.push_str(
        "action set(bit<8> to) { meta.k = to; }
         action add(bit<32> at) { bit<32> old; a.read(old, at); a.write(at, old * 32w3 + 32w1); }
         action leave() { exit; }
         table chosen {
             key = { hdr.h.m : exact; } actions = { set; leave; NoAction; } default_action = NoAction;
             const entries = { 8w0 : set(8w3); 8w1 : set(8w5); 8w3 : leave(); }
         }
         table added {
             key = { meta.k : exact; } actions = { add; NoAction; } default_action = NoAction;
             const entries = { 8w0 : add(32w2); 8w3 : add(32w6); 8w5 : add(32w1); }
         }",
    );
    text
}

/// An index: mostly from the packet, mostly inside.
fn index(choices: &mut Choices) -> &'static str {
    const ALL: [&str; 8] = [
        "(hdr.h.i & 8w7)",
        "(hdr.h.j & 8w7)",
        "8w2",
        "(meta.k & 8w7)",
        "hdr.h.i",
        "((hdr.h.i + hdr.h.j) & 8w7)",
        "(x[7:0] & 8w7)",
        "hdr.h.v[7:0]",
    ];
    ALL[choices.below(ALL.len())]
}

fn condition(choices: &mut Choices) -> &'static str {
    const ALL: [&str; 7] = [
        "hdr.h.m == 1",
        "hdr.h.m == 2",
        "hdr.h.i < hdr.h.j",
        "x > 32w40",
        "y[0:0] == 1w1",
        "meta.k == 3",
        "hdr.h.v != 0",
    ];
    ALL[choices.below(ALL.len())]
}

/// Statements of a control.
pub fn statements(choices: &mut Choices, depth: u32) -> String {
    let count = choices.between(1, 4);
    let mut text = String::new();
    for _ in 0..count {
        let kind = choices.below(if depth > 0 { 9 } else { 7 });
        let array = ["a", "b", "c", "d"][choices.below(4)];
        text += &match kind {
            0 | 1 => {
                let index = index(choices);
                format!(
                    "{array}.read(x, (bit<32>){index}); {array}.write((bit<32>){index}, x * 3 + hdr.h.v);"
                )
            }
            2 => format!("{array}.read(y, (bit<32>){});", index(choices)),
            3 => format!("{array}.write((bit<32>){}, y + 1);", index(choices)),
            4 => format!("meta.k = {};", index(choices)),
            5 => ["chosen.apply();", "added.apply();"][choices.below(2)].to_string(),
            6 => format!("hdr.h.v = hdr.h.v + {};", ["x", "y", "32w7"][choices.below(3)]),
            kind => {
                let condition = condition(choices);
                let then = statements(choices, depth - 1);
                match kind {
                    7 => format!("if ({condition}) {{ {then} }}"),
                    _ => {
                        let other = statements(choices, depth - 1);
                        format!("if ({condition}) {{ {then} }} else {{ {other} }}")
                    }
                }
            }
        };
        text.push('\n');
    }
    text
}

/// The bytes of a packet.
pub fn packet(choices: &mut Choices) -> [u8; 11] {
    let [i, j, m] = [8, 8, 4].map(|bound| choices.below(bound) as u8);
    let outside = if choices.one_in(8) { 200 } else { 0 };
    let values = [choices.below(3) as u8, choices.below(60) as u8];
    [i + outside, j, m, 0, 0, 0, values[0], 0, 0, 0, values[1]]
}
