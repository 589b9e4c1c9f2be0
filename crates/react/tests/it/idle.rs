// SPDX-License-Identifier: Apache-2.0
//! Idle timeouts of malleable tables: an entry is reported when all of its rows idle, once, and under its own keys; rows
//! that no packet can match are not reported.

use crate::compiled::compiled_with;
use crate::equal::mapped;
use control::target::{Batch, Notification, Target};
use device::{Device, DeviceOptions, EngineChoice};
use ir::{Bits, KeyPattern, TableId};
use state::{BoundAction, NewEntry, Update};

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header d_t { bit<32> a; bit<32> b; }
struct headers_t { d_t d; }
struct meta_t { }
malleable field bit<32> f { init = hdr.d.b; alts { hdr.d.a, hdr.d.b } }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.d); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action set(bit<32> x) { ${f} = x; }
    malleable table t {
        key = { hdr.d.a : exact; ${f} : ternary; }
        actions = { set; NoAction; }
        support_timeout = true;
        size = 16;
    }
    apply { sm.egress_spec = 1; t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.d); } }
reaction r(ing hdr.d.b) { }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const STEP_PS: u64 = 1_000_000;

#[test]
fn entries_idle_when_all_of_their_rows_do() {
    let compiled = compiled_with(PROGRAM, None);
    let written = compiled.written.program().clone();
    let table = written.tables.iter().position(|table| &*table.name == "I.t").expect("it is there");
    let table = TableId(table as u32);
    let listed = &written.tables[table.index()].actions;
    let set = |value| BoundAction {
        action: listed[0].action,
        arguments: vec![Bits::from_u64(32, value)],
    };
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    let mut device = Device::new(compiled.run.program().clone(), options).expect("it loads");
    let (mut target, _) = mapped(&compiled, &device);
    assert!(target.notifications().is_empty());
    let keys = |key| vec![KeyPattern::Exact(Bits::from_u64(32, key)), KeyPattern::Any];
    for key in [1, 2] {
        let entry =
            NewEntry { idle_timeout_ns: 10_000, ..NewEntry::direct(keys(key), 1, set(key)) };
        let added = target.execute(Batch::one(Update::InsertEntry { table, entry }));
        assert_eq!(added.first_fault(), None);
    }
    // Packets hit entry 1 until step 40, entry 2 only once; each step is a commit with another version.
    let mut found = Vec::new();
    for step in 1..=80u64 {
        let now_ps = step * STEP_PS;
        device.advance(now_ps).expect("it runs");
        let action = Some(set(step));
        let commit = target.execute(Batch::one(Update::SetDefaultAction { table, action }));
        assert_eq!(commit.first_fault(), None);
        let key: u32 = if step == 5 { 2 } else { 1 };
        if step <= 40 && step % 3 != 0 {
            let bytes = [key.to_be_bytes(), 0u32.to_be_bytes()].concat();
            device.inject(0, now_ps, bytes).expect("it is taken");
        }
        device.advance(now_ps).expect("it runs");
        found.extend(target.notifications());
    }
    let reported: Vec<(Vec<KeyPattern>, u64)> = found
        .iter()
        .map(|notification| match notification {
            Notification::IdleTimeout { time_ps, table: of, entry } => {
                assert_eq!(*of, table);
                (entry.keys.clone(), time_ps / STEP_PS)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(reported, [(keys(2), 15), (keys(1), 50)]);
}
