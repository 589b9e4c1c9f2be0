// SPDX-License-Identifier: Apache-2.0
//! Updates of a legacy controller that wait while packets of the old version leave: they become one commit.

use crate::compiled::compiled_with;
use crate::equal::mapped;
use control::target::{Batch, Item, Target, Ticket};
use device::{Device, DeviceOptions, EngineChoice, PassTiming};
use ir::{ActionId, Bits, KeyPattern, TableId};
use state::{Atomicity, BatchItem, BoundAction, NewEntry, Read, Reply, Update};

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header d_t { bit<32> id; bit<32> mark; }
struct headers_t { d_t d; }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.d); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action mark(bit<32> x) { hdr.d.mark = x; }
    malleable table t { key = { hdr.d.id : exact; } actions = { mark; NoAction; } size = 16; }
    apply { t.apply(); sm.egress_spec = 1; }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.d); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const STAGE_PS: u64 = 100_000;

/// A device whose passes take time, with the target of the program as written.
struct Switch {
    device: Device,
    target: Box<dyn Target>,
    table: TableId,
    mark: ActionId,
    now_ps: u64,
}

impl Switch {
    fn new() -> Switch {
        let compiled = compiled_with(PROGRAM, None);
        let options = DeviceOptions {
            engine: EngineChoice::Interpreter,
            pass_timing: Some(PassTiming { stage_ps: STAGE_PS, ..PassTiming::default() }),
            records_updates: true,
            ..DeviceOptions::default()
        };
        let mut device = Device::new(compiled.run.program().clone(), options).expect("it loads");
        let (target, _) = mapped(&compiled, &device);
        let program = target.program();
        let table = program.tables.iter().position(|table| &*table.name == "I.t");
        let mark = program.actions.iter().position(|action| &*action.name == "I.mark");
        device.drain_updates();
        Switch {
            device,
            target,
            table: TableId(table.expect("the table") as u32),
            mark: ActionId(mark.expect("the action") as u32),
            now_ps: 0,
        }
    }

    fn entry(&self, id: u64, mark: u64) -> NewEntry {
        let keys = vec![KeyPattern::Exact(Bits::from_u64(32, id))];
        let arguments = vec![Bits::from_u64(32, mark)];
        NewEntry::direct(keys, 0, BoundAction { action: self.mark, arguments })
    }

    fn insert(&self, id: u64, mark: u64) -> Update {
        Update::InsertEntry { table: self.table, entry: self.entry(id, mark) }
    }

    fn submit(&mut self, batch: Batch) -> Ticket {
        self.target.submit(batch, self.now_ps)
    }

    /// Sends a packet and stops while it is between its tables.
    fn begin_packet(&mut self, id: u32) {
        let bytes = [id, 0].iter().flat_map(|word| word.to_be_bytes()).collect();
        self.now_ps += STAGE_PS;
        self.device.inject(0, self.now_ps, bytes).expect("it is taken");
        self.device.advance(self.now_ps).expect("it runs");
    }

    /// The mark of the only packet on its way, and time for what waits for it.
    fn end_packet(&mut self) -> u32 {
        self.now_ps += 100 * STAGE_PS;
        self.device.advance(self.now_ps).expect("it runs");
        // A poll goes on with plans, which may ask for another barrier.
        self.target.notifications();
        self.device.advance(self.now_ps + 1).expect("it runs");
        self.now_ps += 1;
        let sent = self.device.drain_transmitted();
        let [sent] = sent.as_slice() else { panic!("{sent:?}") };
        u32::from_be_bytes(sent.bytes[4..8].try_into().expect("four bytes"))
    }

    /// Writes of the master entry since the last call.
    fn master_writes(&mut self) -> usize {
        let is_master = |item: &Item| {
            let Item::State(BatchItem::Update(update)) = item else { return false };
            matches!(update, Update::SetDefaultAction { .. })
        };
        let applied = self.device.drain_updates();
        applied.iter().filter(|applied| is_master(&applied.item)).count()
    }

    fn outcome(&mut self, ticket: Ticket) -> Result<Vec<bool>, String> {
        let outcome = self.target.poll(ticket).ok_or("no answer")?;
        Ok(outcome.results.iter().map(Result::is_ok).collect())
    }
}

#[test]
fn updates_that_wait_for_packets_share_one_commit() {
    let mut switch = Switch::new();
    switch.begin_packet(1);
    let first = switch.submit(Batch::one(switch.insert(1, 7)));
    assert_eq!(switch.outcome(first), Ok(vec![true]));
    // The mirror of the first commit waits for the packet, and so do these.
    let several = Batch::of([switch.insert(2, 8), switch.insert(2, 9), switch.insert(3, 9)]);
    let batches = [Batch::one(switch.insert(1, 8)), several, Batch::one(switch.insert(4, 9))];
    let tickets = batches.map(|batch| switch.submit(batch));
    assert_eq!(switch.outcome(tickets[0]), Err("no answer".to_string()));
    assert_eq!(switch.master_writes(), 1);
    // The packet loaded its version before the first commit.
    assert_eq!(switch.end_packet(), 0);
    // Each gets its own results: entries that exist are refused, the others are there.
    assert_eq!(switch.outcome(tickets[0]), Ok(vec![false]));
    assert_eq!(switch.outcome(tickets[1]), Ok(vec![true, false, true]));
    assert_eq!(switch.outcome(tickets[2]), Ok(vec![true]));
    assert_eq!(switch.master_writes(), 1);
    for (id, mark) in [(1, 7), (2, 8), (3, 9), (4, 9), (5, 0)] {
        switch.begin_packet(id);
        assert_eq!(switch.end_packet(), mark, "packet {id}");
    }
}

#[test]
fn batches_that_may_be_undone_and_reads_have_a_plan_of_their_own() {
    let mut switch = Switch::new();
    switch.begin_packet(1);
    let first = switch.submit(Batch::one(switch.insert(1, 7)));
    assert_eq!(switch.outcome(first), Ok(vec![true]));
    let undone = Batch::of([switch.insert(2, 8), switch.insert(1, 8)]);
    let batches = [
        Batch::one(switch.insert(3, 8)),
        undone.with(Atomicity::RollbackOnError),
        Batch::one(Read::Entries { table: switch.table }),
        Batch::one(switch.insert(4, 8)),
    ];
    let [before, undone, read, behind] = batches.map(|batch| switch.submit(batch));
    for _ in 0..4 {
        switch.now_ps += 100 * STAGE_PS;
        switch.device.advance(switch.now_ps).expect("it runs");
        switch.target.notifications();
    }
    assert_eq!(switch.outcome(before), Ok(vec![true]));
    assert_eq!(switch.outcome(undone), Ok(vec![false, false]));
    match switch.target.poll(read).map(|outcome| outcome.into_reply()) {
        Some(Ok(Reply::Entries(entries))) => assert_eq!(entries.len(), 2, "{entries:?}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(switch.outcome(behind), Ok(vec![true]));
}

#[test]
fn controllers_whose_updates_wait_take_turns() {
    let mut switch = Switch::new();
    switch.begin_packet(1);
    let first = switch.submit(Batch::one(switch.insert(1, 7)));
    assert_eq!(switch.outcome(first), Ok(vec![true]));
    // Batches that may be undone are plans of their own.
    for (controller, id) in [(0, 2), (0, 3), (0, 4), (1, 9)] {
        let batch = Batch::one(switch.insert(id, 7)).with(Atomicity::RollbackOnError);
        switch.target.set_controller(controller);
        switch.submit(batch);
    }
    switch.device.drain_updates();
    for _ in 0..8 {
        switch.now_ps += 100 * STAGE_PS;
        switch.device.advance(switch.now_ps).expect("it runs");
        switch.target.notifications();
    }
    let mut order = Vec::new();
    for applied in switch.device.drain_updates() {
        if let Item::State(BatchItem::Update(Update::InsertEntry { entry, .. })) = applied.item
            && let KeyPattern::Exact(id) = &entry.keys[0]
            && !order.contains(&id.low_u64())
        {
            order.push(id.low_u64());
        }
    }
    // The mirror of the first commit comes before them.
    assert_eq!(order, [1, 2, 9, 3, 4]);
}
