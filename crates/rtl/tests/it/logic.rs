// SPDX-License-Identifier: Apache-2.0
//! Stage logic beside the interpreter: a control with every operation that hardware has, in one stage and one pipeline, so that packets
//! pass in order.

use crate::tools;
use arithmetic::random::keyed;
use interpreter::{Environment, ExternCall, Interpreter, Outcome};
use ir::ready::ReadyProgram;
use ir::{Bits, RegisterId};
use rtl::events;
use rtl::program::{Resolution, Source, SourceGroup};
use rtl::shape::Shape;
use state::{Cells, Store};

/// Nothing around a packet.
struct Nothing;

impl Environment for Nothing {
    fn now_ps(&self) -> u64 {
        0
    }
    fn packet_length_bytes(&self) -> u64 {
        64
    }
    fn random_key(&self) -> interpreter::random::RandomKey {
        interpreter::random::RandomKey::default()
    }
    fn log_line(&mut self, _: &str) {}
    fn call_extern(&mut self, _: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err("no externs".to_owned())
    }
}

/// A program with this text in its ingress control.
pub fn program(locals: &str, body: &str) -> ReadyProgram {
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header h_t {{ bit<8> a; bit<16> b; bit<32> c; bit<64> d; bit<5> e; bit<3> f; int<16> i; int<16> j; bit<48> o; bit<1> p; bit<7> q; }}\n\
         struct headers {{ h_t h; }}\nstruct meta {{ bit<16> m; }}\n\
         parser P(packet_in b, out headers hdr, inout meta m, inout standard_metadata_t s) {{ state start {{ b.extract(hdr.h); transition accept; }} }}\n\
         control V(inout headers hdr, inout meta m) {{ apply {{}} }}\n\
         control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {{\n{locals}\napply {{\n{body}\n}} }}\n\
         control E(inout headers hdr, inout meta m, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control C(inout headers hdr, inout meta m) {{ apply {{}} }}\n\
         control D(packet_out b, in headers hdr) {{ apply {{ b.emit(hdr.h); }} }}\n\
         V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    );
    ReadyProgram::of_text("logic.p4", text).unwrap_or_else(|errors| panic!("{errors}"))
}

const LOCALS: &str = "
register<bit<32>>(10) r1;
register<bit<16>>(4) r2;
action set(bit<8> v, bit<16> w) { hdr.h.a = v; hdr.h.b = hdr.h.b ^ w; }
action add(bit<8> v) { hdr.h.a = hdr.h.a + v; if (hdr.h.p == 1) { exit; } }
action none() { }
table ternary_table {
  key = { hdr.h.a : ternary; hdr.h.b : range; }
  actions = { set; add; none; }
  const default_action = add(3);
  const entries = {
    (0x01 &&& 0x03, 0x1000 .. 0x9000) : set(7, 0x1234);
    (0x00 &&& 0x01, _) : none();
    (_, 0xf000 .. 0xffff) : add(9);
  }
}
table prefixes {
  key = { hdr.h.c : lpm; }
  actions = { set; none; }
  const default_action = none();
  const entries = {
    0x80000000 &&& 0x80000000 : set(1, 1);
    0xc0000000 &&& 0xe0000000 : set(2, 2);
    0xd0000000 &&& 0xf0000000 : set(3, 3);
  }
}
table exactly {
  key = { hdr.h.f : exact; }
  actions = { set; add; none; }
  const default_action = set(0xff, 0xffff);
  const entries = { 0 : add(1); 1 : add(2); 2 : set(5, 5); 5 : none(); }
}";

const BODY: &str = "
bit<32> x = hdr.h.c * 7 + (bit<32>) hdr.h.b;
hdr.h.d = (hdr.h.d << hdr.h.f) ^ (bit<64>) (x >> hdr.h.e) ^ (hdr.h.d >> 3);
hdr.h.i = (hdr.h.i >> hdr.h.f) - hdr.h.j;
hdr.h.j = hdr.h.i |+| hdr.h.j;
hdr.h.i = hdr.h.i |-| (int<16>) (bit<16>) hdr.h.a;
hdr.h.e = hdr.h.e |+| 9;
hdr.h.q = hdr.h.q |-| 5;
if (hdr.h.i < hdr.h.j) { hdr.h.o = (bit<48>) (int<48>) (int<32>) hdr.h.i; } else { hdr.h.o[15:8] = hdr.h.a; }
switch (exactly.apply().action_run) { add: { hdr.h.c = hdr.h.c + 1; } none: { hdr.h.c = ~hdr.h.c; } default: { hdr.h.c = -hdr.h.c; } }
if (ternary_table.apply().hit) { m.m = 1; } else { m.m = 2; }
prefixes.apply();
bit<32> old;
if (hdr.h.a[0:0] == 1) {
  r1.read(old, (bit<32>) hdr.h.f);
  r1.write((bit<32>) hdr.h.f, old * 31 + x);
  hdr.h.c = hdr.h.c ^ old;
} else {
  r1.read(old, (bit<32>) hdr.h.e);
  hdr.h.c = hdr.h.c + old;
}
bit<16> seen;
r2.read(seen, (bit<32>) (hdr.h.b & 3));
if (seen > hdr.h.b || hdr.h.p == 1) { r2.write((bit<32>) (hdr.h.b & 3), hdr.h.b + 1); }
bit<16> h16; bit<32> h32; bit<16> cs; bit<16> xr;
hash(h16, HashAlgorithm.crc16, 16w0, { hdr.h.a, hdr.h.b, hdr.h.e }, 32w65536);
hash(h32, HashAlgorithm.crc32, 32w0, { hdr.h.c, seen }, 64w4294967296);
hash(cs, HashAlgorithm.csum16, 16w0, { hdr.h.c, hdr.h.o, hdr.h.a }, 32w65536);
hash(xr, HashAlgorithm.xor16, 16w0, { hdr.h.d, hdr.h.q }, 32w65536);
hdr.h.b = h16 ^ cs ^ (xr % 1000);
hdr.h.d = hdr.h.d ++ h32 == 96w5 ? 64w1 : (bit<64>) (h32 / 100);";

#[test]
fn stage_logic_agrees_with_interpreter() {
    if !testing::verilator::has_tool("verilator", "stage logic beside the interpreter") {
        return;
    }
    let ready = program(LOCALS, BODY);
    let program = ready.program();
    let block = program.blocks_with_role("ig").start;
    let registers: Vec<RegisterId> = (0..program.registers.len() as u32).map(RegisterId).collect();
    let source = Source {
        name: "every operation".to_owned(),
        program,
        stages: vec![program.blocks[block].region],
        resolution: Resolution::Always,
        groups: vec![SourceGroup {
            name: "all".to_owned(),
            stage: 0,
            cells: 1,
            registers,
            decision: None,
        }],
        first_values: rtl::program::FirstValues::new(),
    };
    let shape = Shape { pipelines: 1, depth: 8, remap_every: None };
    let (plan, header) = rtl::program::plan(&source, shape)
        .unwrap_or_else(|errors| panic!("{:?}", errors.iter().collect::<Vec<_>>()));
    let interpreter = Interpreter::new(program.clone());
    let store = Store::new(program.clone()).unwrap();
    let configuration = store.configuration();
    let mut cells = Cells::new(program);
    let (mut arrivals, mut expected) = (String::new(), Vec::new());
    for packet in 0..3_000_u64 {
        let mut context = interpreter.context();
        for (slot, (_, width)) in &header.slots {
            let draw = |word| keyed(7, &[packet, u64::from(slot.0), word]);
            // Edges of the range are drawn too.
            let value = match draw(0) % 8 {
                0 => Bits::zero(*width as u32),
                1 => Bits::ones(*width as u32),
                _ => {
                    Bits::from_u128(*width as u32, u128::from(draw(1)) << 64 | u128::from(draw(2)))
                }
            };
            context.set_slot(*slot, &value);
        }
        arrivals += &events::arrivals(&[header.digits(|slot| context.value(slot))], 1, header.bits);
        let outcome = interpreter.run_block(
            block,
            &mut context,
            &configuration,
            &mut cells,
            &mut Nothing,
            None,
        );
        assert!(matches!(outcome, Outcome::Returned | Outcome::Exited), "{outcome:?}");
        expected.push(events::hexadecimal(&header.digits(|slot| context.value(slot))));
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(tools::verilate(folder.path(), &rtl::files(&plan), "mp5_bench"), "");
    let trace = testing::verilator::simulate(folder.path(), &arrivals, 3_010);
    let left: Vec<&str> = trace
        .lines()
        .filter_map(|line| line.split_once(" O ")?.1.split_once(' '))
        .map(|(_, header)| header)
        .collect();
    assert_eq!(left.len(), expected.len());
    for (number, (left, expected)) in left.iter().zip(&expected).enumerate() {
        if left != expected {
            for (slot, (first, width)) in &header.slots {
                let name = &program.slots[slot.index()].name;
                println!("{name}: {first} +: {width}");
            }
            panic!("packet {number}:\n{left}\n{expected}");
        }
    }
    let cell = |register: usize, index: u64| {
        let value = cells.register(RegisterId(register as u32)).unwrap().read(index).unwrap();
        format!(
            "C 0 {register} 0 {index} {:0digits$x}",
            value.to_biguint(),
            digits = value.width_bits().div_ceil(4) as usize
        )
    };
    for register in 0..program.registers.len() {
        for index in 0..program.registers[register].size {
            let line = cell(register, index);
            assert!(trace.lines().any(|other| other == line), "{line}");
        }
    }
}
