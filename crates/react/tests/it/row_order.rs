// SPDX-License-Identifier: Apache-2.0
//! The order in which rows of an ordinary table are written, where a malleable field multiplies its entries. A packet that
//! loaded the latest alternative is behind those that loaded earlier ones, so it comes to the table last: where its row is
//! written first, no packet that finds the new entry is in front of one that does not.

use crate::compiled::compiled_with;
use crate::equal::mapped;
use control::target::{Batch, Item, Target};
use device::{Device, DeviceOptions};
use ir::{ActionId, Bits, KeyPattern, TableId};
use react::agent::{Agent, AgentOptions};
use react::interface::{Host, Reactions, Stopped};
use react::module::Module;
use state::{BatchItem, BoundAction, NewEntry, Update};

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header d_t { bit<8> a; bit<8> b; bit<8> c; }
struct headers_t { d_t d; }
struct meta_t { }
malleable field bit<8> side { init = hdr.d.a; alts { hdr.d.a, hdr.d.b, hdr.d.c } }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.d); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action send(bit<9> port) { sm.egress_spec = port; }
    table t { key = { ${side} : exact; } actions = { send; NoAction; } size = 16; }
    apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.d); } }
reaction r() { }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// Chooses these alternatives, one a call.
struct Choosing(std::array::IntoIter<u64, 4>);

impl Module for Choosing {}

impl Reactions for Choosing {
    fn call(
        &mut self,
        _: usize,
        _: &[u64],
        malleables: &mut [u64],
        _: &mut dyn Host,
    ) -> Result<(), Stopped> {
        malleables[0] = self.0.next().expect("a call for each alternative");
        Ok(())
    }

    fn call_init(&mut self, _: &mut [u64], _: &mut dyn Host) -> Result<(), Stopped> {
        Ok(())
    }
}

/// The alternatives by the rows that an update writes, in order.
fn order(target: &mut dyn Target, device: &mut Device, update: Update) -> Vec<u64> {
    device.drain_updates();
    assert_eq!(target.execute(Batch::one(update)).first_fault(), None);
    let keys = |item: &Item| match item {
        Item::State(BatchItem::Update(
            Update::InsertEntry { entry, .. } | Update::ModifyEntry { entry, .. },
        )) => entry.keys.clone(),
        Item::State(BatchItem::Update(Update::DeleteEntry { keys, .. })) => keys.clone(),
        other => panic!("{other:?}"),
    };
    let selector = |item: &Item| match keys(item).last() {
        Some(KeyPattern::Exact(alternative)) => alternative.low_u64(),
        other => panic!("{other:?}"),
    };
    device.drain_updates().iter().map(|applied| selector(&applied.item)).collect()
}

#[test]
fn rows_of_the_latest_alternative_are_written_first() {
    let compiled = compiled_with(PROGRAM, None);
    let options = DeviceOptions { records_updates: true, ..DeviceOptions::default() };
    let mut device = Device::new(compiled.run.program().clone(), options).expect("it loads");
    let (mut target, legacy) = mapped(&compiled, &device);
    let program = target.program();
    let at = program.tables.iter().position(|table| &*table.name == "I.t");
    let table = TableId(at.expect("the table") as u32);
    let at = program.actions.iter().position(|action| &*action.name == "I.send");
    let action = ActionId(at.expect("the action") as u32);
    let entry = |key: u64, port: u64| {
        let arguments = vec![Bits::from_u64(9, port)];
        let keys = vec![KeyPattern::Exact(Bits::from_u64(8, key))];
        NewEntry::direct(keys, 0, BoundAction { action, arguments })
    };
    let chosen = [2, 1, 0, 1];
    let module = Box::new(Choosing(chosen.into_iter()));
    let agent = Agent::new(&compiled, module, legacy, AgentOptions::default());
    let mut agent = agent.expect("all objects are there");
    agent.prologue(target.as_mut()).expect("it begins");
    let (mut latest, mut now_ps) = (vec![0], 0);
    for (round, alternative) in chosen.into_iter().enumerate() {
        // The reaction takes simulated time.
        for _ in 0..2 {
            now_ps += 1_000_000;
            device.advance(now_ps).expect("it runs");
            agent.round(target.as_mut()).expect("it reacts");
        }
        assert_eq!(agent.committed(), [alternative]);
        latest.retain(|other| *other != alternative);
        latest.insert(0, alternative);
        let key = round as u64;
        let keys = entry(key, 0).keys;
        let updates = [
            Update::InsertEntry { table, entry: entry(key, 1) },
            Update::ModifyEntry { table, entry: entry(key, 2) },
            Update::DeleteEntry { table, keys, priority: 0 },
        ];
        for update in updates {
            let written = order(target.as_mut(), &mut device, update.clone());
            assert_eq!(written.len(), 3, "{update:?}");
            // Alternatives that no packet has loaded come last.
            assert_eq!(written[..latest.len()], latest, "round {round}: {update:?}");
        }
    }
}
