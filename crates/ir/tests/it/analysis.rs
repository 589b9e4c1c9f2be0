// SPDX-License-Identifier: Apache-2.0
//! What `ir::analysis` says of small programs in P4: liveness across blocks, slices, guards, instances of
//! statements, accesses and their names, and boundaries of architectures.

use ir::analysis::{AccessSlices, Analysis, CellIndex, Condition, Point, StatementTree, Use};
use ir::architecture::boundaries::Boundaries;
use ir::effects::Location;
use ir::ready::ReadyProgram;
use ir::{Operation, Place, Program, SlotSet};
use p4::ast::NodeId;
use std::collections::BTreeSet;

/// A v1model program with these declarations in ingress, ingress code and egress code.
fn ready(locals: &str, ingress: &str, egress: &str) -> ReadyProgram {
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header h_t {{ bit<8> a; bit<8> b; bit<16> c; }}\n\
         struct headers {{ h_t h; }}\n\
         struct metadata {{ bit<32> i; bit<32> j; @field_list(1) bit<8> kept; bit<8> lost; }}\n\
         parser P(packet_in p, out headers hdr, inout metadata meta, inout standard_metadata_t std) {{\n\
           state start {{ p.extract(hdr.h); transition accept; }} }}\n\
         control V(inout headers hdr, inout metadata meta) {{ apply {{}} }}\n\
         control I(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {{\n\
           {locals}\n apply {{ {ingress} }} }}\n\
         control E(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {{\n\
           apply {{ {egress} }} }}\n\
         control D(packet_out p, in headers hdr) {{ apply {{ p.emit(hdr.h); }} }}\n\
         V1Switch(P(), V(), I(), E(), V(), D()) main;\n"
    );
    ReadyProgram::of_text("a.p4", text).expect("it compiles")
}

fn block(program: &Program, role: &str) -> usize {
    program.blocks.iter().position(|block| &*block.role == role).expect("there is one")
}

fn is_in(program: &Program, set: &SlotSet, name: &str) -> bool {
    set.contains(program.slot_named(name).unwrap_or_else(|| panic!("no slot {name}")))
}

/// The points of the stores to a slot.
fn stores(program: &Program, name: &str) -> Vec<Point> {
    let wanted = program.slot_named(name).expect("there is one");
    let mut found = Vec::new();
    for (id, region) in program.regions.iter().enumerate() {
        for (at, block) in region.blocks.iter().enumerate() {
            for (number, instruction) in block.instructions.iter().enumerate() {
                if matches!(instruction.operation,
                    Operation::Store { place: Place::Slot(slot), .. } if slot == wanted)
                {
                    found.push(Point::new(ir::RegionId(id as u32), at, number));
                }
            }
        }
    }
    found
}

#[test]
fn slots_are_live_through_queue_egress_and_deparser() {
    let ready =
        ready("", "meta.i = 1; meta.j = 2; std.priority = 3;", "hdr.h.c = (bit<16>) meta.i;");
    let program = ready.lowered();
    let analysis = Analysis::of(program);
    let live = |role: &str| analysis.liveness().at_block_end(block(program, role)).clone();
    for (role, name, expected) in [
        ("ig", "meta.i", true),
        ("ig", "meta.j", false),
        ("ig", "hdr.h.a", true),
        // Egress overwrites it.
        ("ig", "hdr.h.c", false),
        ("ig", "hdr.h.$valid", true),
        ("ig", "standard_metadata.egress_spec", true),
        ("ig", "standard_metadata.mcast_grp", true),
        ("ig", "standard_metadata.priority", true),
        ("ig", "standard_metadata.ingress_port", false),
        ("p", "meta.i", false),
        ("eg", "meta.i", false),
        ("eg", "hdr.h.c", true),
        ("eg", "standard_metadata.egress_spec", true),
        ("eg", "standard_metadata.mcast_grp", false),
        ("ck", "hdr.h.a", true),
        ("dep", "hdr.h.a", false),
    ] {
        assert_eq!(is_in(program, &live(role), name), expected, "{name} behind {role}");
    }
}

#[test]
fn field_lists_are_live_where_a_packet_comes_back() {
    let with = "meta.lost = 1; meta.kept = meta.kept + 1; resubmit_preserving_field_list(8w1);";
    for (code, expected) in [(with, true), ("meta.lost = 1; meta.kept = meta.kept + 1;", false)] {
        let ready = ready("", code, "");
        let program = ready.lowered();
        let analysis = Analysis::of(program);
        let live = analysis.liveness().at_block_end(block(program, "ig"));
        assert_eq!(is_in(program, live, "meta.kept"), expected, "{code}");
        assert!(!is_in(program, live, "meta.lost"));
    }
}

#[test]
fn nameable_slots_are_live_on_a_device_that_nobody_describes() {
    let mut program = Program::clone(ready("", "meta.j = 2;", "").lowered());
    program.architecture = "other".into();
    let analysis = Analysis::of(&program);
    for block in 0..program.blocks.len() {
        assert!(is_in(&program, analysis.liveness().at_block_end(block), "meta.j"));
    }
    let any = Boundaries::of_any_device(&program);
    assert!(any.ends.iter().all(|end| end.next.len() == program.blocks.len()));
}

const REGISTERS: &str = "register<bit<32>>(16) r; register<bit<32>>(16) s; counter(4, CounterType.packets) n;\n\
    direct_counter(CounterType.packets) hits;\n\
    action set(bit<32> v) { meta.j = v; }\n\
    table t { key = { hdr.h.b: exact; } actions = { set; NoAction; } counters = hits; }";

#[test]
fn slices_tell_state_dependence_of_indices_and_guards() {
    let code = "r.read(meta.i, (bit<32>) hdr.h.a); t.apply();\n\
        if (meta.i > 3) { s.write(meta.j, 1); n.count(2); } hdr.h.c = 1;";
    let ready = ready(REGISTERS, code, "");
    let program = ready.lowered();
    let analysis = Analysis::of(program);
    let accesses: Vec<_> = analysis.accesses().iter().zip(analysis.access_slices()).collect();
    let describe = |locations: &BTreeSet<Location>| {
        locations.iter().map(|it| it.describe(program)).collect::<Vec<_>>().join(", ")
    };
    let found: Vec<String> = accesses
        .iter()
        .map(|(access, AccessSlices { index, guard })| {
            let object = access.object.describe(program);
            let (index_on, guard_on) = (describe(&index.sources), describe(&guard.sources));
            assert_eq!(access.names.len(), 1);
            format!("{object}: index on [{index_on}], guard on [{guard_on}]")
        })
        .collect();
    assert_eq!(
        found,
        [
            "register I.r: index on [], guard on []",
            "counter I.hits: index on [table I.t], guard on []",
            "register I.s: index on [table I.t], guard on [register I.r]",
            "counter I.n: index on [], guard on [register I.r]",
        ]
    );
    let (first, AccessSlices { index, .. }) = accesses[0];
    assert!(index.reads_packet && !index.depends_on_state());
    assert_eq!((first.reads, first.writes), (true, false));
    assert_eq!(accesses[1].0.index, CellIndex::Entry);
    let AccessSlices { index, guard } = accesses[2].1;
    assert!(index.depends_on_configuration() && guard.depends_on_state());

    let point = stores(program, "hdr.h.c")[0];
    let slice = analysis.slice_of(&[Use::Reached(point)]);
    assert_eq!(slice.sources, BTreeSet::new());
    let slot = program.slot_named("meta.j").expect("there is one");
    let slice = analysis.slice_of(&[Use::Slot(point, slot)]);
    assert!(slice.code.contains(&stores(program, "meta.j")[0]));
    // Where the table does nothing it is zero, and the key is where the parser finds no header.
    let key = program.slot_named("hdr.h.b").expect("there is one");
    assert_eq!(slice.inputs, BTreeSet::from([slot, key]));
}

#[test]
fn an_access_behind_exit_depends_on_what_exits() {
    let code = "r.read(meta.i, 0); if (meta.i == 1) { exit; } s.write(1, 1);";
    let ready = ready(REGISTERS, code, "hdr.h.c = (bit<16>) meta.i;");
    let program = ready.lowered();
    let analysis = Analysis::of(program);
    let slices = analysis.access_slices();
    let state: Vec<(bool, bool)> = slices
        .iter()
        .map(|it| (it.index.depends_on_state(), it.guard.depends_on_state()))
        .collect();
    assert_eq!(state, [(false, false), (false, true)]);
    // Egress runs in any case, on what ingress left.
    let point = stores(program, "hdr.h.c")[0];
    assert!(!analysis.slice_of(&[Use::Reached(point)]).depends_on_state());
    let slot = program.slot_named("meta.i").expect("there is one");
    let slice = analysis.slice_of(&[Use::Slot(point, slot)]);
    assert_eq!(slice.sources.len(), 1);
    assert!(slice.depends_on_state());
}

#[test]
fn statements_have_effects_guards_and_instances() {
    let locals = "action bump(inout bit<8> x) { x = x + 1; }";
    let code = "if (hdr.h.a == 1 && hdr.h.isValid()) { bump(hdr.h.b); } else { bump(meta.lost); }\n\
        hdr.h.c = hdr.h.c + 1;";
    let ready = ready(locals, code, "");
    let program = ready.lowered();
    let analysis = Analysis::of(program);
    let tree = StatementTree::of(&ready.typed().program);
    let slot = |name: &str| Location::Slot(program.slot_named(name).expect("there is one"));

    // The whole `if` writes through both calls, and its points are around both of them.
    let facts = |node: NodeId| analysis.statement_of(&tree.nodes_of(node));
    let writes_both = tree.statements().filter(|node| {
        let effects = facts(*node).effects();
        [slot("hdr.h.b"), slot("meta.lost")].iter().all(|it| effects.writes.contains(it))
    });
    let whole: Vec<_> = writes_both.map(|node| facts(node).instances).collect();
    // The assignment, which is inlined twice, and the `if`.
    let counts: Vec<usize> = whole.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 1]);
    let instances = &whole[1];
    assert!(instances[0].effects.reads.contains(&slot("hdr.h.$valid")));
    assert!(instances[0].guards.is_empty());
    assert_eq!((instances[0].before.len(), instances[0].after.len()), (1, 1));
    let after = *instances[0].after.iter().next().expect("there is one");
    assert!(is_in(program, &analysis.live_at(after), "hdr.h.b"));
    let before = *instances[0].before.iter().next().expect("there is one");
    let done = analysis.effects_before(before);
    assert!(done.writes.contains(&slot("hdr.h.a")) && !done.writes.contains(&slot("meta.lost")));
    let done = analysis.effects_before(after);
    assert!(done.writes.contains(&slot("meta.lost")));

    // The call in the second arm runs when one of the conditions is false.
    let call = tree.statements().find(|node| {
        let effects = facts(*node).effects();
        effects.writes.contains(&slot("meta.lost")) && !effects.writes.contains(&slot("hdr.h.b"))
    });
    let instance = &facts(call.expect("there is one")).instances[0];
    let guards = instance.guards.iter().map(|guard| match guard {
        Condition::Branch { taken, slots, .. } => {
            let slots = slots.iter().map(|slot| &*program.slots[slot.index()].name);
            (taken.iter().copied().collect::<Vec<_>>(), slots.collect::<Vec<_>>())
        }
        Condition::Action { .. } => panic!("it is in no table's action"),
    });
    for (taken, slots) in guards {
        assert!(taken.contains(&1), "{:?}", instance.guards);
        assert!(!slots.is_empty(), "{:?}", instance.guards);
    }
}

#[test]
fn names_and_origins_of_fused_accesses_are_those_of_all() {
    let code = "r.read(meta.i, 3); meta.i = meta.i + 1; r.write(3, meta.i);";
    let ready = ready(REGISTERS, code, "");
    let (lowered, run) = (Analysis::of(ready.lowered()), Analysis::of(ready.program()));
    let of = |analysis: &Analysis<'_>| -> Vec<Vec<String>> {
        let registers = analysis
            .accesses()
            .iter()
            .filter(|access| matches!(access.object, Location::Register(_)));
        registers.map(|access| access.names.clone()).collect()
    };
    let before = of(&lowered);
    assert_eq!(before.len(), 2);
    assert_eq!(of(&run), [before.concat()]);
    let access = run.accesses_named(&before[1][0]).next().expect("it is there");
    assert_eq!(access.origins.len(), 2);
    assert!(access.reads && access.writes);
}

#[test]
fn the_report_is_as_expected() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/analysis_report");
    let text = std::fs::read_to_string(folder.join("program.p4")).expect("it is there");
    let options = p4::preprocessor::PreprocessorOptions::default();
    let loader = &p4::interfaces::InterfacesOnly;
    let mut compiled = p4::compile::compile("program.p4", text, loader, &options);
    let ready = ReadyProgram::of(&mut compiled).expect("it compiles");
    let tree = StatementTree::of(&ready.typed().program);
    let found = ir::analysis_report::report(&Analysis::of(ready.lowered()), &tree, &compiled.map);
    // Numbers of nodes count those of the interface, too.
    let mut parts = found.split("@");
    let first = parts.next().unwrap_or_default().to_string();
    let found = parts.fold(first, |all, part| {
        all + "@" + part.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.')
    });
    let path = folder.join("expected.txt");
    if testing::golden::is_blessing() {
        std::fs::write(&path, &found).expect("it can be written");
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap_or_default());
}
