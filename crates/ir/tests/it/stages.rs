// SPDX-License-Identifier: Apache-2.0
//! Stages of small programs in P4: which orders are legal and why not, what a cut looks like, what moves behind tables,
//! what is refused. That cuts keep the meaning is tested on devices, in `differential`.

use ir::analysis::Point;
use ir::effects::Location;
use ir::ready::ReadyProgram;
use ir::stages::{
    Assignment, Constraints, Moved, MovedActions, Precedence, Reason, Staged, behind_tables, cut,
};
use ir::{Operation, Place, Program};
use source::Diagnostics;
use std::collections::BTreeMap;

/// A v1model program whose ingress has these declarations and statements.
fn program(locals: &str, ingress: &str) -> Program {
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header h_t {{ bit<8> a; bit<8> b; bit<8> c; bit<8> d; }}\n\
         struct headers {{ h_t h; }}\nstruct metadata {{ bit<8> m; }}\n\
         parser P(packet_in p, out headers hdr, inout metadata meta, inout standard_metadata_t std) {{\n\
           state start {{ p.extract(hdr.h); transition accept; }} }}\n\
         control V(inout headers hdr, inout metadata meta) {{ apply {{}} }}\n\
         control I(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {{\n\
           {locals}\n apply {{ {ingress} }} }}\n\
         control E(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {{\n\
           apply {{ }} }}\n\
         control D(packet_out p, in headers hdr) {{ apply {{ p.emit(hdr.h); }} }}\n\
         V1Switch(P(), V(), I(), E(), V(), D()) main;\n"
    );
    let ready = ReadyProgram::of_text("a.p4", text).unwrap_or_else(|said| panic!("{said}"));
    Program::clone(ready.program())
}

fn ingress(program: &Program) -> usize {
    program.blocks_with_role("ig").start
}

fn constraints(program: &Program) -> Constraints {
    Constraints::of(program, ingress(program)).expect("it can be cut")
}

/// The instructions of ingress for which this holds.
fn points(program: &Program, is_it: impl Fn(&Operation) -> bool) -> Vec<Point> {
    let region = program.blocks[ingress(program)].region;
    let mut found = Vec::new();
    for (block, code) in program.regions[region.index()].blocks.iter().enumerate() {
        for (at, instruction) in code.instructions.iter().enumerate() {
            if is_it(&instruction.operation) {
                found.push(Point::new(region, block, at));
            }
        }
    }
    found
}

fn stores(program: &Program, slot: &str) -> Vec<Point> {
    let wanted = program.slot_named(slot).expect("there is one");
    points(
        program,
        |operation| matches!(operation, Operation::Store { place: Place::Slot(slot), .. } if *slot == wanted),
    )
}

fn accesses(program: &Program) -> Vec<Point> {
    points(program, |operation| matches!(operation, Operation::RegisterAccess { .. }))
}

fn messages(found: &Diagnostics) -> Vec<String> {
    found.iter().map(|each| format!("{}: {}", each.code, each.message)).collect()
}

const REGISTERS: &str = "register<bit<8>>(4) r; register<bit<8>>(4) s;";

#[test]
fn what_is_overwritten_is_in_no_earlier_stage_than_what_reads_it() {
    let program = program("", "hdr.h.b = hdr.h.a; hdr.h.a = 0; hdr.h.c = 7;");
    let constraints = constraints(&program);
    let slot = program.slot_named("hdr.h.a").expect("a field");
    let read = points(
        &program,
        |operation| matches!(operation, Operation::Load { place: Place::Slot(read), .. } if *read == slot),
    );
    let [read] = read[..] else { panic!("one load") };
    let [b] = stores(&program, "hdr.h.b")[..] else { panic!("one store") };
    let [a] = stores(&program, "hdr.h.a")[..] else { panic!("one store") };
    let [c] = stores(&program, "hdr.h.c")[..] else { panic!("one store") };
    let mut assignment = Assignment::new(&constraints, 3);
    assert_eq!(constraints.violations(&assignment), []);
    assignment.set(read, 2);
    assignment.set(b, 2);
    let [violation] = constraints.violations(&assignment)[..] else { panic!("one violation") };
    let Precedence { before, after, reason } = violation.precedence;
    assert_eq!((before, after, reason), (read, a, Reason::Access(Location::Slot(slot))));
    let found = cut(&program, ingress(&program), &assignment).expect_err("it is illegal");
    assert_eq!(messages(&found), ["IR-E0304: stage 0 is too early: stage 2 comes first"]);
    let early = constraints.complete(&BTreeMap::from([(read, 1)])).expect("legal");
    assert_eq!([a, b, c].map(|at| early.stage(at)), [Some(1), Some(1), Some(0)]);
}

#[test]
fn accesses_to_one_array_are_in_one_stage() {
    let text =
        "r.read(hdr.h.b, 0); s.read(meta.m, (bit<32>)hdr.h.b); r.write(1, meta.m); s.write(2, 5);";
    let program = program(REGISTERS, text);
    let constraints = constraints(&program);
    let classes: Vec<usize> =
        accesses(&program).iter().filter_map(|at| constraints.class_of(*at)).collect();
    // The write of `r` needs what `s` gave, and that an index from `r`: all four go together.
    assert_eq!(classes.len(), 4);
    assert!(classes.windows(2).all(|pair| pair[0] == pair[1]), "{classes:?}");
}

#[test]
fn accesses_of_an_atomic_block_are_in_one_stage() {
    let text = "r.write(0, hdr.h.a); s.write(0, hdr.h.b);";
    let class = |text: &str| {
        let program = program(REGISTERS, text);
        let constraints = constraints(&program);
        let at = accesses(&program);
        (constraints.class_of(at[0]), constraints.class_of(at[1]))
    };
    let (first, second) = class(text);
    assert_ne!(first, second);
    let (first, second) = class(&format!("@atomic {{ {text} }}"));
    assert_eq!(first, second);
}

#[test]
fn given_stages_are_completed_or_the_conflict_is_named() {
    let text = "bit<8> x; r.read(x, 0); x = x + 1; s.write((bit<32>)x, 7); hdr.h.d = x;";
    let program = program(REGISTERS, text);
    let constraints = constraints(&program);
    let [r, s] = accesses(&program)[..] else { panic!("two accesses") };
    let [d] = stores(&program, "hdr.h.d")[..] else { panic!("one store") };
    let early = constraints.complete(&BTreeMap::from([(r, 1), (s, 3)])).expect("legal");
    assert_eq!((early.stage(d), early.count()), (Some(1), 4));
    assert_eq!(constraints.violations(&early), []);
    let late = constraints.complete_late(&BTreeMap::from([(r, 1), (s, 3)]), 6).expect("legal");
    assert_eq!((late.stage(d), late.count()), (Some(5), 6));
    assert_eq!(constraints.violations(&late), []);
    let conflict = constraints.complete(&BTreeMap::from([(r, 2), (s, 1)])).expect_err("illegal");
    assert_eq!((conflict.at, conflict.other), ((s, 1), (r, 2)));
    assert!(!conflict.path.is_empty());
    let said = conflict.diagnostic(&program);
    assert_eq!(said.message, "stage 1 is too early: stage 2 comes first");
    assert!(!said.primary.span.is_none() && said.labels.len() == 1);
    // Wanted stages move to later ones instead.
    let moved = constraints.at_least(&BTreeMap::from([(r, 2), (s, 1)]), 1);
    assert_eq!((moved.stage(r), moved.stage(s)), (Some(2), Some(2)));
    assert_eq!(constraints.violations(&moved), []);
}

/// The code of ingress, stage by stage.
fn code(staged: &Staged) -> String {
    let text = ir::text::print_code(&staged.program);
    let regions = text.split("region ").filter(|part| part.contains("$stage"));
    regions.map(|part| format!("region {}\n", part.trim_end())).collect()
}

#[test]
fn a_stage_keeps_the_control_flow_that_it_needs() {
    let text = "bit<8> x; r.read(x, 0); if (x == 3) { hdr.h.b = 1; } hdr.h.c = 2;";
    let program = program(REGISTERS, text);
    let constraints = constraints(&program);
    let [b] = stores(&program, "hdr.h.b")[..] else { panic!("one store") };
    let [c] = stores(&program, "hdr.h.c")[..] else { panic!("one store") };
    let fixed = BTreeMap::from([(b, 2), (c, 1)]);
    let assignment = constraints.complete(&fixed).expect("legal");
    let staged = cut(&program, ingress(&program), &assignment).expect("it is legal");
    assert_eq!(ir::verify(&staged.program), Ok(()));
    assert_eq!(staged.stages, [2, 3, 4]);
    assert_eq!(staged.carried.len(), 1);
    let read = ir::text::parse(&ir::text::print(&staged.program)).expect("it reads");
    assert_eq!(read, staged.program);
    let expected = "\
region control I.$stage0 {
  block0:
    t0: bit<8> = register_access I.r[32w0]
    t1: bit<1> = equal t0, 8w3
    store I.$carried.condition, t1
    return
}
region control I.$stage1 {
  block0:
    store hdr.h.c, 8w2
    return
}
region control I.$stage2 {
  block0:
    t0: bit<1> = load I.$carried.condition
    branch t0, block1, block2
  block1:
    store hdr.h.b, 8w1
    goto block2
  block2:
    return
}
";
    assert_eq!(code(&staged), expected);
}

#[test]
fn stages_without_instructions_are_empty() {
    let program = program("", "hdr.h.a = 1;");
    let constraints = constraints(&program);
    let staged =
        cut(&program, ingress(&program), &Assignment::new(&constraints, 3)).expect("legal");
    assert_eq!((staged.stages.len(), staged.carried.len()), (3, 0));
    let region = &staged.program.regions[staged.program.blocks[staged.stages[2]].region.index()];
    assert!(region.blocks.len() == 1 && region.blocks[0].instructions.is_empty());
    // Bounds between the blocks of one role keep everything.
    let boundaries = ir::architecture::boundaries::Boundaries::of(&staged.program);
    let next = &boundaries.ends[staged.stages[0]].next;
    assert_eq!(next.iter().map(|it| it.to).collect::<Vec<_>>(), [staged.stages[1]]);
    assert!(
        boundaries.ends[staged.stages[2]].next.len() > 1
            || !boundaries.ends[staged.stages[2]].next.is_empty()
    );
}

const TABLE: &str = "register<bit<8>>(4) r; direct_meter<bit<8>>(MeterType.packets) n;\n\
    action set(bit<8> v) { n.read(meta.m); r.write(0, v); hdr.h.b = v; }\n\
    action leave() { n.read(meta.m); exit; }\n\
    table t { key = { hdr.h.a: exact; } actions = { set; leave; NoAction; } meters = n; \
    default_action = NoAction(); }";

#[test]
fn code_of_actions_moves_behind_the_table_without_what_belongs_to_the_entry() {
    let program = program(TABLE, "if (t.apply().hit) { hdr.h.c = 1; } hdr.h.d = 2;");
    let block = ingress(&program);
    let refused = Constraints::of(&program, block).expect_err("an action exits");
    assert_eq!(messages(&refused), ["IR-E0303: action `I.leave` of table `I.t` exits"]);
    let Moved { program: moved, sources } = behind_tables(&program, block, MovedActions::Stateful);
    assert_eq!(ir::verify(&moved), Ok(()));
    assert_eq!(moved.origins, program.origins);
    // Only metering stays, and what carries the color.
    for action in moved.actions.iter().filter(|it| &*it.name != "NoAction") {
        let code = &moved.regions[action.region.index()].blocks;
        let code: Vec<&Operation> =
            code.iter().flat_map(|it| &it.instructions).map(|it| &it.operation).collect();
        let stays = matches!(
            code[..],
            [Operation::MeterDirect { .. }, Operation::Store { .. }]
                | [Operation::MeterDirect { .. }]
        );
        assert!(stays, "{}: {code:?}", action.name);
    }
    let [access] = accesses(&moved)[..] else { panic!("one access") };
    let source = sources[&access];
    assert!(program.actions.iter().any(|action| action.region == source.region));
    let constraints = Constraints::of(&moved, block).expect("nothing exits in a table");
    let [apply] = points(&moved, |it| matches!(it, Operation::Apply { .. }))[..] else {
        panic!("one table")
    };
    let fixed = BTreeMap::from([(apply, 0), (access, 2)]);
    let assignment = constraints.complete(&fixed).expect("the access is behind the table");
    let staged = cut(&moved, block, &assignment).expect("it is legal");
    assert_eq!(ir::verify(&staged.program), Ok(()));
    let names: Vec<&str> =
        staged.program.slots[program.slots.len()..].iter().map(|slot| &*slot.name).collect();
    assert!(names.contains(&"I.$carried.I.t.action"), "{names:?}");
}

#[test]
fn parsers_and_loops_at_run_time_are_refused() {
    let text = "for (bit<8> i in 0..hdr.h.a) { hdr.h.b = hdr.h.b + i; }";
    let with_loop = program("", text);
    let found = Constraints::of(&with_loop, ingress(&with_loop)).expect_err("a loop");
    assert_eq!(messages(&found), ["IR-E0302: `I` has a loop that is not unrolled"]);
    let found = Constraints::of(&with_loop, 0).expect_err("a parser");
    assert_eq!(messages(&found), ["IR-E0301: `P` is no control"]);
}
