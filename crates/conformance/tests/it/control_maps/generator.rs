// SPDX-License-Identifier: Apache-2.0
//! Random programs as written.

use crate::control_maps::specification::{
    Action, Counter, Key, Kind, Operation, Register, Specification, Statement, Table,
};
use testing::Choices;

/// Fields that are matched, with their widths.
const FIELDS: &[(&str, u32)] = &[("hdr.h.a", 8), ("hdr.h.b", 8), ("hdr.h.c", 16), ("hdr.h.d", 8)];

/// Names of registers and counters. Each is accessed at the field `b`, so `b` decides which instance owns a cell.
pub const ADDED: &str = "sums";
pub const OVERWRITTEN: &str = "latest";
pub const COUNTED: &str = "seen";

/// A program.
pub fn specification(choices: &mut Choices) -> Specification {
    let mut program = Specification { digest: "news_t".to_string(), ..Specification::default() };
    for number in 0..choices.between(1, 3) {
        let table = table(choices, number, &mut program);
        program.statements.push(Statement::Apply(table.name.clone()));
        program.tables.push(table);
    }
    let size = u64::from(choices.between(3, 8));
    let index = |size: u64| match size {
        8 => "(bit<32>)(hdr.h.b & 7)".to_string(),
        _ => "(bit<32>)(hdr.h.b & 1)".to_string(),
    };
    for (name, operation) in [(ADDED, Operation::Add), (OVERWRITTEN, Operation::Set)] {
        let size = if choices.chance(50) { 8 } else { size };
        program.registers.push(Register { name: name.to_string(), width_bits: 8, size });
        program.statements.push(Statement::Access {
            register: name.to_string(),
            index: index(size),
            value: (*choices.pick(&["hdr.h.a", "hdr.h.w0"])).to_string(),
            operation,
        });
    }
    program.counters.push(Counter { name: COUNTED.to_string(), size: 8 });
    program.statements.push(Statement::Count {
        counter: COUNTED.to_string(),
        index: "(bit<32>)(hdr.h.b & 7)".to_string(),
    });
    let digest =
        Statement::Text(format!("digest<{}>(1, {{ hdr.h.a, hdr.h.w0 }});", program.digest));
    program.statements.push(Statement::If {
        condition: "hdr.h.w1[0:0] == 1".to_string(),
        yes: vec![digest],
        no: Vec::new(),
    });
    program
}

fn table(choices: &mut Choices, number: u32, program: &mut Specification) -> Table {
    let action = |stem: &str, parameters: &[(&str, u32)], body: &str| Action {
        name: format!("{stem}_{number}"),
        parameters: parameters.iter().map(|(name, width)| (name.to_string(), *width)).collect(),
        body: body.to_string(),
    };
    let actions = [
        action("forward", &[("port", 9)], "std.egress_spec = port;"),
        action(
            "mark",
            &[("value", 8), ("more", 8)],
            "hdr.h.w0 = value; hdr.h.w1 = hdr.h.w1 ^ more;",
        ),
        action("add", &[("value", 8)], "hdr.h.w0 = hdr.h.w0 + value;"),
        action("leave", &[], ""),
    ];
    let default = match choices.below(3) {
        0 => (actions[0].name.clone(), vec![u64::from(choices.between(1, 3))]),
        1 => (actions[2].name.clone(), vec![u64::from(choices.between(1, 255))]),
        _ => (actions[3].name.clone(), Vec::new()),
    };
    let mut keys: Vec<Key> = Vec::new();
    for _ in 0..choices.between(1, 2) {
        let (field, width_bits) = *choices.pick(FIELDS);
        if keys.iter().any(|key| key.expression == field) {
            continue;
        }
        let has_lpm = keys.iter().any(|key| key.kind == Kind::Lpm);
        let kind = *choices.pick(&[Kind::Exact, Kind::Lpm, Kind::Ternary, Kind::Range]);
        let kind = if has_lpm && kind == Kind::Lpm { Kind::Exact } else { kind };
        keys.push(Key { expression: field.to_string(), width_bits, kind });
    }
    let table = Table {
        name: format!("t{number}"),
        keys,
        actions: actions.iter().map(|action| action.name.clone()).collect(),
        default,
        size: *choices.pick(&[3, 5, 64]),
        counter: choices.chance(70).then(|| format!("hits_{number}")),
        idle_timeout: choices.chance(60),
    };
    program.actions.extend(actions);
    table
}
