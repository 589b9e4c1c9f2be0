// SPDX-License-Identifier: Apache-2.0
//! Costs of small tables on Tofino, counted by hand.

use super::*;
use crate::guard::{Condition, Guard};
use crate::problem::{Array, Gress, MatchKind, ProgramKey, ProgramTable, Unit, Variable};
use source::Span;

fn variable(name: &str, width_bits: u32) -> Variable {
    Variable { name: name.into(), width_bits }
}

fn unit(name: &str, guard: Guard) -> Unit {
    Unit {
        name: name.into(),
        span: Span::NONE,
        gress: Gress::Ingress,
        guard,
        mergeable: true,
        table: None,
        array: None,
        register_action: 0,
        demand: [(Resource::Statements, 1)].into(),
    }
}

fn shown(demand: &Demand) -> String {
    let list: Vec<String> =
        demand.iter().map(|(resource, amount)| format!("{} {amount}", resource.name())).collect();
    list.join(", ")
}

fn tofino() -> HardwareModel {
    HardwareModel::named("tofino", Span::NONE).unwrap()
}

#[test]
fn merged_units() {
    let (proto, flag) = (VariableId(0), VariableId(1));
    let problem = Problem {
        variables: vec![variable("proto", 8), variable("flag", 1)],
        arrays: vec![Array { name: "a".into(), cell_bits: 24, length: 40_960, span: Span::NONE }],
        units: vec![
            unit("tcp", Guard::when(proto, Condition::equals(6, 8))),
            unit("flagged", Guard::when(flag, Condition::equals(1, 1))),
            Unit { array: Some(ArrayId(0)), ..unit("count", Guard::always()) },
        ],
        ..Problem::default()
    };
    let cost = table(&problem, &tofino(), &[UnitId(0), UnitId(1), UnitId(2)]);
    // Rules: both, tcp, flagged, neither; the array of 40,960 cells of 32 bits takes 10 blocks and 1.
    assert_eq!(
        shown(&cost.demand),
        "tables 1, ternary-tables 1, sram-blocks 12, tcam-blocks 1, stateful-alus 1, \
         array-blocks 11, ternary-match-bits 9, match-bits 9, statements 3, actions 4, entries 4"
    );
    assert_eq!(
        shown(&cost.arrays[&ArrayId(0)]),
        "sram-blocks 10, array-blocks 10, register-actions 1"
    );
    let other = table(&problem, &tofino(), &[UnitId(0)]);
    // The crossbar carries `proto` once for both tables.
    assert_eq!(stage([&cost, &other])[&Resource::TernaryMatchBits], 9);
    assert_eq!(stage([&cost, &other])[&Resource::TcamBlocks], 2);
    assert_eq!(table(&problem, &tofino(), &[UnitId(2)]).rules, 0);
}

#[test]
fn tables_of_the_program() {
    let key = |kind, width_bits| ProgramKey { variable: VariableId(0), kind, width_bits };
    let check = |keys: Vec<ProgramKey>, entries, action_data_bits, expected: &str| {
        let own = ProgramTable { keys, entries, actions: 3, action_data_bits };
        let problem = Problem {
            variables: vec![variable("key", 128)],
            units: vec![Unit {
                table: Some(own),
                mergeable: false,
                demand: Demand::new(),
                ..unit("t", Guard::always())
            }],
            ..Problem::default()
        };
        assert_eq!(shown(&table(&problem, &tofino(), &[UnitId(0)]).demand), expected);
    };
    // 36 bits an entry: three a row; 3,000 entries take a block, 48 bits of data two a row, 2 blocks.
    check(
        vec![key(MatchKind::Exact, 32)],
        3000,
        48,
        "tables 1, sram-blocks 3, exact-match-bits 32, match-bits 32, action-data-bits 48, actions 3",
    );
    // 132 bits an entry: two rows.
    check(
        vec![key(MatchKind::Exact, 128)],
        1024,
        0,
        "tables 1, sram-blocks 2, exact-match-bits 128, match-bits 128, actions 3",
    );
    // Two blocks deep, three wide (96 of 44 bits); a block to find the action.
    check(
        vec![key(MatchKind::LongestPrefix, 96)],
        1000,
        0,
        "tables 1, ternary-tables 1, sram-blocks 1, tcam-blocks 6, ternary-match-bits 96, \
         match-bits 96, actions 3",
    );
    check(
        vec![key(MatchKind::Range, 16)],
        1,
        0,
        "tables 1, ternary-tables 1, sram-blocks 1, tcam-blocks 1, ternary-match-bits 32, \
         match-bits 32, actions 3",
    );
    check(vec![], 1, 0, "tables 1, actions 3");
}

#[test]
fn limits_that_are_passed() {
    let array = |length| Array { name: "a".into(), cell_bits: 32, length, span: Span::NONE };
    let check = |length, expected: &[(Scope, Resource, u64, u64)]| {
        let problem = Problem {
            arrays: vec![array(length)],
            units: vec![Unit { array: Some(ArrayId(0)), ..unit("a", Guard::always()) }],
            ..Problem::default()
        };
        let target = tofino();
        let cost = table(&problem, &target, &[UnitId(0)]);
        let mut list = table_excess(&target, &cost);
        list.extend(stage_excess(&target, [&cost]));
        let found: Vec<_> =
            list.iter().map(|each| (each.scope, each.resource, each.needed, each.limit)).collect();
        assert_eq!(found, expected);
    };
    check(35 * 4096, &[]);
    check(35 * 4096 + 1, &[(Scope::Array, Resource::ArrayBlocks, 36, 35)]);
    check(
        48 * 4096,
        &[
            (Scope::Array, Resource::ArrayBlocks, 48, 35),
            (Scope::Stage, Resource::ArrayBlocks, 49, 48),
        ],
    );
}

/// More rules than a table may have are an excess, not a long wait.
#[test]
fn cross_products_that_explode() {
    let variables = (0..30).map(|index| variable(&format!("v{index}"), 1)).collect();
    let units = (0..30)
        .map(|index| unit("u", Guard::when(VariableId(index), Condition::equals(1, 1))))
        .collect();
    let problem = Problem { variables, units, ..Problem::default() };
    let all: Vec<UnitId> = (0..30).map(UnitId).collect();
    let cost = table(&problem, &tofino(), &all);
    assert_eq!(cost.rules, 513);
    let list = table_excess(&tofino(), &cost);
    assert!(list.iter().any(|each| each.resource == Resource::Entries && each.limit == 512));
}
