// SPDX-License-Identifier: Apache-2.0
//! What of the IR occurred in generated programs: operations, operators, table kinds, requests,
//! algorithms, widths. So nothing of the language is silently missing from a run.

use ir::{HashAlgorithm, Instruction, Operation, Program, Terminator, ValueType};
use std::collections::BTreeMap;

/// In how many programs each thing occurred.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    programs: u64,
    counts: BTreeMap<String, u64>,
}

/// What every long run is expected to have.
pub const EXPECTED: &[&str] = &[
    "binary Add",
    "binary AddSaturatingSigned",
    "binary AddSaturatingUnsigned",
    "binary And",
    "binary Concat",
    "binary DivideUnsigned",
    "binary Equal",
    "binary LessEqualSigned",
    "binary LessEqualUnsigned",
    "binary LessSigned",
    "binary LessUnsigned",
    "binary Multiply",
    "binary NotEqual",
    "binary Or",
    "binary RemainderUnsigned",
    "binary ShiftLeft",
    "binary ShiftRightArithmetic",
    "binary ShiftRightLogical",
    "binary Subtract",
    "binary SubtractSaturatingSigned",
    "binary SubtractSaturatingUnsigned",
    "binary Xor",
    "hash Crc16",
    "hash Crc32",
    "hash Csum16",
    "hash Custom 16",
    "hash Custom 32",
    "hash Identity",
    "hash Random",
    "hash Xor16",
    "hash with payload",
    "key Exact",
    "key Lpm",
    "key Optional",
    "key Range",
    "key Selector",
    "key Ternary",
    "operation Advance",
    "operation Apply",
    "operation Count",
    "operation Emit",
    "operation Extract",
    "operation Extract varbit",
    "operation Load",
    "operation Load element",
    "operation Log",
    "operation Lookahead",
    "operation Meter",
    "operation MeterDirect",
    "operation PacketLength",
    "operation RegisterAccess",
    "operation RegisterAccess fused",
    "operation RegisterAccess guarded",
    "operation Request",
    "operation Select",
    "operation ShiftStack",
    "operation Slice",
    "operation Store",
    "operation Store element",
    "operation ValueSetContains",
    "request clone_e2e",
    "request clone_i2e",
    "request digest",
    "request recirculate",
    "request resubmit",
    "request truncate",
    "resize SignExtend",
    "resize Truncate",
    "resize ZeroExtend",
    "table const entries",
    "table entries",
    "table profile",
    "table selector",
    "table with direct counter",
    "table with direct meter",
    "table without keys",
    "terminator Branch",
    "terminator Exit",
    "terminator Goto",
    "terminator Reject",
    "terminator Return",
    "terminator Switch",
    "unary Negate",
    "unary Not",
    "union",
    "width 1",
    "width 129 and more",
    "width 2..=8",
    "width 65..=128",
    "width 9..=64",
];

impl Coverage {
    /// Counts what a program has.
    pub fn add(&mut self, program: &Program) {
        self.programs += 1;
        let mut found = BTreeMap::new();
        let mut note = |name: String| {
            found.insert(name, ());
        };
        for region in &program.regions {
            for block in &region.blocks {
                note(format!("terminator {}", variant(&block.terminator)));
                if let Terminator::Switch { cases, .. } = &block.terminator
                    && cases.len() > 4
                {
                    note("terminator Switch of more than 4".to_string());
                }
                for instruction in &block.instructions {
                    operation(instruction, program, &mut note);
                }
            }
            for ty in &region.temps {
                note(width_class(*ty));
            }
        }
        for table in &program.tables {
            for key in &table.keys {
                note(format!("key {:?}", key.match_kind));
            }
            if table.keys.is_empty() {
                note("table without keys".to_string());
            }
            if !table.entries.is_empty() {
                let kind = if table.const_entries { "const entries" } else { "entries" };
                note(format!("table {kind}"));
            }
            if let Some(profile) = table.implementation {
                let selector = program.action_profiles[profile.index()].selector.is_some();
                note(format!("table {}", if selector { "selector" } else { "profile" }));
            }
            if !table.direct_counters.is_empty() {
                note("table with direct counter".to_string());
            }
            if !table.direct_meters.is_empty() {
                note("table with direct meter".to_string());
            }
        }
        for request in &program.requests {
            note(format!("request {}", request.name));
        }
        if !program.unions.is_empty() {
            note("union".to_string());
        }
        for name in found.into_keys() {
            *self.counts.entry(name).or_default() += 1;
        }
    }

    /// What of [`EXPECTED`] no program had.
    pub fn missing(&self) -> Vec<&'static str> {
        EXPECTED.iter().copied().filter(|name| !self.counts.contains_key(*name)).collect()
    }

    /// A line a thing, with the number of programs that had it.
    pub fn table(&self) -> String {
        let mut text = format!("{:<40} {:>10}\n", "in how many programs", self.programs);
        for (name, count) in &self.counts {
            text.push_str(&format!("{name:<40} {count:>10}\n"));
        }
        for name in self.missing() {
            text.push_str(&format!("{name:<40} {:>10}\n", "MISSING"));
        }
        text
    }
}

fn width_class(ty: ValueType) -> String {
    let class = match ty {
        ValueType::Varbit(_) => return "width varbit".to_string(),
        ValueType::Bits(1) => "1",
        ValueType::Bits(..=8) => "2..=8",
        ValueType::Bits(9..=64) => "9..=64",
        ValueType::Bits(65..=128) => "65..=128",
        ValueType::Bits(_) => "129 and more",
    };
    format!("width {class}")
}

/// The first word of a value's debug text: the variant's name.
fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.chars().take_while(|letter| letter.is_alphanumeric()).collect()
}

fn operation(instruction: &Instruction, program: &Program, note: &mut impl FnMut(String)) {
    let name = variant(&instruction.operation);
    note(format!("operation {name}"));
    match &instruction.operation {
        Operation::Unary { operation, .. } => note(format!("unary {operation:?}")),
        Operation::Binary { operation, .. } => note(format!("binary {operation:?}")),
        Operation::Resize { kind, .. } => note(format!("resize {kind:?}")),
        Operation::Extract { varbit_bits: Some(_), .. } => {
            note("operation Extract varbit".to_string());
        }
        Operation::Load { place: ir::Place::Element { .. }, .. }
        | Operation::Store { place: ir::Place::Element { .. }, .. } => {
            note(format!("operation {name} element"));
        }
        Operation::Hash { algorithm, payload, .. } => {
            note(match algorithm {
                HashAlgorithm::Custom(id) => {
                    format!(
                        "hash Custom {}",
                        program.calculations[id.index()].parameters.width_bits
                    )
                }
                plain => format!("hash {plain:?}"),
            });
            if *payload {
                note("hash with payload".to_string());
            }
        }
        Operation::RegisterAccess { register, guard, old, update, .. } => {
            if guard.is_some() {
                note("operation RegisterAccess guarded".to_string());
            }
            if old.is_some() && update.is_some() {
                note("operation RegisterAccess fused".to_string());
            }
            if program.registers[register.index()].width_bits > 64 {
                note("operation RegisterAccess wide".to_string());
            }
            for inner in update.iter().flat_map(|update| &update.body) {
                operation(inner, program, note);
            }
        }
        _ => {}
    }
}
