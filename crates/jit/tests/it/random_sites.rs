// SPDX-License-Identifier: Apache-2.0
//! The random keys of call sites: a program draws the same numbers on both engines, before and after all
//! passes, printed and read again as P4 and as IR, with other names of variables, with its labels written
//! out, and with calls inlined and moved by hand.

use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall, Interpreter, PacketContext};
use ir::ready::ReadyProgram;
use ir::{Bits, Operation, Program};
use jit::{BoundInstance, Compiled, Unit};
use p4::random_sites;
use state::{Cells, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

const HEAD: &str = "
#include <core.p4>
#include <v1model.p4>
header byte_t { bit<8> v; }
struct headers_t { byte_t[4] b; }
struct meta_t { bit<8> a; bit<8> b; bit<8> c; bit<8> d; bit<8> e; bit<8> f; bit<8> g; bit<8> h; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(hdr.b.next);
        bit<8> r;
        random(r, 0, 255);
        m.h = m.h ^ r;
        transition select(hdr.b.last.v) { 1: start; default: accept; }
    }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    apply { random(m.g, 0, 255); }
}
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
";

const TAIL: &str = "V1Switch(P(), V(), I(), E(), C(), D()) main;";

const AS_WRITTEN: &str = "
bit<8> die(in bit<8> most) { bit<8> r; random(r, 1, most); return r; }
bit<8> two(in bit<8> most) { return die(most) + die(most); }
control Sub(inout bit<8> x) {
    action on_hit() { bit<8> r; random(r, 0, 9); x = x + r; }
    table t { actions = { on_hit; } default_action = on_hit(); }
    apply { t.apply(); bit<8> r; random(r, 0, 99); x = x ^ r; }
}
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    Sub() one;
    Sub() other;
    bit<8> first = die(77);
    action roll() { random(m.a, 0, 255); }
    table left { key = { die(4) : exact @name(\"k\"); } actions = { roll; } default_action = roll(); }
    table right { actions = { roll; } default_action = roll(); }
    apply {
        m.f = first;
        left.apply();
        m.b = m.a;
        roll();
        m.c = m.a;
        right.apply();
        if (die(6) > 2) { m.d = two(200); } else { m.d = die(6) + 100; }
        one.apply(m.e);
        other.apply(m.e);
        one.apply(m.e);
        for (bit<8> i in 8w1 .. 3) { m.e = m.e + die(50); }
    }
}
";

/// The same with functions and `roll()` inlined, statements in other places, and all else renamed.
const BY_HAND: &str = "
control Part(inout bit<8> x) {
    action on_hit() { bit<8> r; random(r, 0, 9); x = x + r; }
    table t { actions = { on_hit; } default_action = on_hit(); }
    apply { t.apply(); bit<8> r; @random_site(\"0\") { random(r, 0, 99); } x = x ^ r; }
}
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    @name(\"one\") Part() uno;
    @name(\"other\") Part() due;
    bit<8> condition;
    bit<8> key;
    bit<8> sum;
    @name(\"roll\") action throw() { @random_site(\"/action I.roll/0\") { random(m.a, 0, 255); } }
    @name(\"left\") table sinistra { actions = { throw; } default_action = throw(); }
    table right { actions = { throw; } default_action = throw(); }
    action then() {
        bit<8> x;
        bit<8> y;
        @random_site(\"/block ig/3/0/0\", \"/block ig/3/1/0\") { random(x, 1, 200); random(y, 1, 200); }
        m.d = x + y;
    }
    apply {
        @random_site(\"/block ig/0/0\") { random(m.f, 1, 77); }
        @random_site(\"/table I.left/0/0\") { random(key, 1, 4); }
        sinistra.apply();
        m.b = m.a;
        @random_site(\"1/0\") { random(m.c, 0, 255); }
        right.apply();
        @random_site(\"/block ig/2/0\") { random(condition, 1, 6); }
        if (condition > 2) {
            then();
        } else {
            @random_site(\"/block ig/4/0\") { random(sum, 1, 6); }
            m.d = sum + 100;
        }
        @random_site(\"5\", \"6\", \"7\") {
            uno.apply(m.e);
            due.apply(m.e);
            uno.apply(m.e);
        }
        for (bit<8> i in 8w1 .. 3) {
            @random_site(\"/block ig/8/0\") { random(sum, 1, 50); }
            m.e = m.e + sum;
        }
    }
}
";

#[derive(Default)]
struct Drawn {
    numbers: Vec<u64>,
    packet: u64,
}

impl Environment for Drawn {
    fn now_ps(&self) -> u64 {
        0
    }

    fn packet_length_bytes(&self) -> u64 {
        4
    }

    fn random_key(&self) -> RandomKey {
        RandomKey { seed: 1, device: 2, packet: self.packet, pass: 0 }
    }

    fn drawn(&mut self, low_bits: u64) {
        self.numbers.push(low_bits);
    }

    fn log_line(&mut self, _: &str) {}

    fn call_extern(&mut self, _: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err("there are no externs".to_string())
    }
}

/// What twelve packets draw in all blocks, and the metadata that they end with.
fn draws(program: &Arc<Program>) -> Vec<(Vec<u64>, Vec<Bits>)> {
    let interpreter = Interpreter::new(program.clone());
    let units: Vec<Unit> = (0..program.blocks.len()).map(|at| Unit::block("block", at)).collect();
    let compiled = Compiled::new(program.clone(), &units).expect("it compiles");
    let store = Store::new(program.clone()).expect("its entries fit");
    let mut instance = BoundInstance::default();
    let slots: Vec<ir::SlotId> = "abcdefgh"
        .chars()
        .map(|field| program.slot_named(&format!("meta.{field}")).expect("metadata has slots"))
        .collect();
    (0..12)
        .map(|packet| {
            let mut found = Vec::new();
            for is_compiled in [false, true] {
                let mut environment = Drawn { packet, ..Drawn::default() };
                let mut context = PacketContext::new(program);
                let mut cells = Cells::new(program);
                context.set_packet(&[1, 1, (packet % 2) as u8, 0]);
                for block in 0..program.blocks.len() {
                    if is_compiled {
                        let forwarding = store.forwarding();
                        compiled.run_on_context(
                            block,
                            &mut context,
                            &mut instance,
                            &forwarding,
                            &mut cells,
                            &mut environment,
                        );
                    } else {
                        let configuration = store.configuration();
                        interpreter.run_block(
                            block,
                            &mut context,
                            &configuration,
                            &mut cells,
                            &mut environment,
                            None,
                        );
                    }
                }
                let values = slots.iter().map(|slot| context.value(*slot)).collect();
                found.push((environment.numbers, values));
            }
            assert_eq!(found[0], found[1], "the engines differ on packet {packet}");
            found.swap_remove(0)
        })
        .collect()
}

/// The keys of a program's instructions that draw, and how many instructions have each.
fn keys(program: &Program) -> BTreeMap<String, usize> {
    let mut keys = BTreeMap::new();
    for instruction in
        program.regions.iter().flat_map(|region| &region.blocks).flat_map(|it| &it.instructions)
    {
        if let Operation::Random { site, .. } = &instruction.operation {
            *keys.entry(site.key().to_owned()).or_insert(0) += 1;
        }
    }
    keys
}

fn ready(text: impl Into<String>) -> ReadyProgram {
    ReadyProgram::of_text("draws.p4", text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn keys_are_paths_of_calls() {
    let ready = ready(format!("{HEAD}{AS_WRITTEN}{TAIL}"));
    let found: Vec<String> = keys(ready.lowered()).into_keys().collect();
    let expected = [
        "action I.one.on_hit/0",
        "action I.other.on_hit/0",
        "action I.roll/0",
        "block eg/0",
        "block ig/0/0",
        "block ig/1/0",
        "block ig/2/0",
        "block ig/3/0/0",
        "block ig/3/1/0",
        "block ig/4/0",
        "block ig/5/0",
        "block ig/6/0",
        "block ig/7/0",
        "block ig/8/0",
        "block p/0",
        "table I.left/0/0",
    ];
    assert_eq!(found, expected);
}

#[test]
fn draws_survive_passes_texts_and_rewrites() {
    let ready_program = ready(format!("{HEAD}{AS_WRITTEN}{TAIL}"));
    let expected = draws(ready_program.lowered());
    let all: Vec<u64> = expected.iter().flat_map(|(numbers, _)| numbers.iter().copied()).collect();
    assert!(all.len() > 200 && all.iter().any(|number| *number > 100));
    let check = |what: &str, program: &Arc<Program>| {
        assert_eq!(draws(program), expected, "{what}");
    };
    check("all passes", ready_program.program());
    let text = ir::text::print(ready_program.program());
    check("IR as text", &Arc::new(ir::text::parse(&text).expect("it parses")));
    let typed = ready_program.typed();
    let printed = p4::printer::print(&typed.program);
    check("printed", ready(printed.clone()).program());
    let renamed = AS_WRITTEN.replace("most", "largest").replace("first", "erstes");
    check("renamed", ready(format!("{HEAD}{renamed}{TAIL}")).program());
    let mut annotated = typed.program.clone();
    random_sites::annotate(&mut annotated, typed);
    let explicit = p4::printer::print(&annotated);
    assert!(explicit.contains("@random_site(\"/block ig/2\")"), "{explicit}");
    let again = ready(explicit.clone());
    check("annotated", again.program());
    let mut twice = again.typed().program.clone();
    random_sites::annotate(&mut twice, again.typed());
    assert_eq!(p4::printer::print(&twice), explicit, "annotating twice adds nothing");
    // Written out, names of functions, controls and tables may change too.
    let renamed = explicit
        .replace("control I(", "control Other(")
        .replace(" I()", " Other()")
        .replace("die(", "wuerfel(")
        .replace("table left", "table links")
        .replace("left.apply", "links.apply")
        .replace("Sub() one", "@name(\".I.one\") Sub() one")
        .replace("Sub() other", "@name(\".I.other\") Sub() other");
    check("all renamed", ready(renamed).program());
    let compiled = p4::compile::compile(
        "draws.p4",
        format!("{HEAD}{AS_WRITTEN}{TAIL}"),
        &p4::interfaces::InterfacesOnly,
        &p4::preprocessor::PreprocessorOptions::default(),
    );
    let typed = compiled.program.expect("it is correct");
    let Ok(inlined) = p4::inline::inline_all(&typed, compiled.map) else {
        panic!("the result does not check")
    };
    let count = inlined.inlined.values().sum::<usize>();
    assert!(count >= 7, "{:?}, refused: {:?}", inlined.inlined, inlined.refused);
    let text = inlined.program.print();
    check("inlined by P4", ready(text.clone()).program());
    check("inlined by hand", ready(format!("{HEAD}{BY_HAND}{TAIL}")).program());
}
