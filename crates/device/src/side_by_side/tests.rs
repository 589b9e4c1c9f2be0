// SPDX-License-Identifier: Apache-2.0
//! Differences as people read them, made by writing to one of the two devices only.

use super::*;
use control::target::Batch;
use ir::Bits;
use ir::ready::ReadyProgram;
use state::{CellRange, Update};

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header first_t { bit<8> op; bit<8> arg; }
header second_t { bit<16> sum; bit<8> rest; }
struct headers_t { first_t first; second_t second; }
struct meta_t { }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.first); p.extract(h.second); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    register<bit<16>>(4) seen;
    apply {
        s.egress_spec = 2;
        seen.read(h.second.sum, (bit<32>) h.first.op);
        if (h.first.arg == 1 && h.second.sum == 9) { mark_to_drop(s); }
        seen.write(3, h.second.sum);
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { p.emit(h.first); p.emit(h.second); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

fn both() -> SideBySide {
    let ready = ReadyProgram::of_text("program.p4", PROGRAM).expect("it compiles");
    SideBySide::new(ready.lowered().clone(), DeviceOptions::default()).expect("it loads")
}

fn write(device: &mut Device, index: u64, value: u64) {
    let (register, cells) = (RegisterId(0), CellRange::one(index));
    let values = Bits::from_u64(16, value).into();
    assert!(device.execute(Batch::one(Update::WriteRegister { register, cells, values })).is_ok());
}

fn check(both: &mut SideBySide, bytes: &[u8], expected: &str) {
    let stop = both.receive(5, 10, bytes.to_vec()).expect_err("they differ");
    let Stop::Difference(difference) = *stop else { panic!("{stop:?}") };
    assert_eq!(difference.to_string(), expected.trim_start());
}

#[test]
fn packets_that_differ() {
    let mut both = both();
    let agreed = both.receive(5, 7, vec![1, 0, 0, 0, 0, 7]).expect("they agree");
    assert_eq!(agreed.transmitted.len(), 1);
    write(both.devices_mut()[1], 0, 0x102);
    check(
        &mut both,
        &[0, 0, 0, 0, 0, 7],
        "
the engines differ at packet 1
  input, port 5, 6 bytes: 00 00 00 00 00 07
  in what was sent:
  jit:         port 2, queue 0, at 10 ps, 6 bytes: 00 00 00 00 00 07
  interpreter: port 2, queue 0, at 10 ps, 6 bytes: 00 00 01 02 00 07
  first difference: byte 2, in hdr.second.sum
  what the interpreter did: run it again with --trace, without --verify",
    );
}

#[test]
fn a_drop_on_one_engine() {
    let mut both = both();
    write(both.devices_mut()[1], 0, 9);
    check(
        &mut both,
        &[0, 1, 0, 0, 0],
        "
the engines differ at packet 0
  input, port 5, 5 bytes: 00 01 00 00 00
  in what was sent:
  jit:         port 2, queue 0, at 10 ps, 5 bytes: 00 01 00 00 00
  interpreter: nothing more was sent (1 dropped (ingress drop))
  what the interpreter did: run it again with --trace, without --verify",
    );
}

#[test]
fn state_that_differs_at_the_end() {
    let mut both = both();
    write(both.devices_mut()[0], 1, 4);
    let stop = both.finish(None).expect_err("they differ");
    let Stop::Difference(difference) = *stop else { panic!("{stop:?}") };
    let text = difference.to_string();
    assert!(text.starts_with("the engines differ at the end of the run\n  in register "), "{text}");
}
