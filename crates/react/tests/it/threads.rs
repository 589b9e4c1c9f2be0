// SPDX-License-Identifier: Apache-2.0
//! Isolation with real threads: one forwards bursts of packets, the other runs dialogues as fast as it can, with a legacy
//! controller beside them. Each commit of the agent sets a value and an entry of two tables to one number; a packet that
//! matches the entries carries all three away, and a reaction measures fields and a register of packets. Each batch of the
//! legacy controller sets the entries of the other packets to one number.

use crate::compiled::compiled_with;
use crate::equal::mapped;
use control::target::{Batch, Target, Ticket};
use device::{Burst, Device, DeviceOptions};
use ir::{ActionId, Bits, KeyPattern, TableId};
use react::agent::{Agent, AgentOptions};
use react::interface::{Host, Reactions, Stopped, TableOperation};
use react::module::Module;
use state::{BoundAction, NewEntry, Update};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header d_t { bit<32> id; bit<32> value; bit<32> one; bit<32> two; }
struct headers_t { d_t d; }
struct meta_t { }
malleable value bit<32> v { init = 0; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.d); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    register<bit<32>>(4) last;
    action mark_one(bit<32> x) { hdr.d.one = x; }
    action mark_two(bit<32> x) { hdr.d.two = x; }
    malleable table t1 { key = { sm.ingress_port : exact; } actions = { mark_one; } size = 4; }
    malleable table t2 { key = { sm.ingress_port : exact; } actions = { mark_two; } size = 4; }
    apply {
        hdr.d.value = ${v};
        t1.apply();
        t2.apply();
        last.write(2, hdr.d.id);
        sm.egress_spec = 1;
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.d); } }
init { }
reaction r(ing hdr.d.id, ing hdr.d.value, ing hdr.d.one, reg last[2:2]) { }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// The port whose entries the legacy controller sets.
const LEGACY_PORT: u32 = 1;

/// The port that a packet comes by.
fn port_of(id: u64) -> u32 {
    (id % 2) as u32
}

/// Sets everything to the number of the call, and checks what it is given.
#[derive(Default)]
struct Counting {
    number: u64,
    handles: [u64; 2],
    last_id: u64,
}

impl Module for Counting {}

impl Reactions for Counting {
    fn call(
        &mut self,
        _: usize,
        input: &[u64],
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        let [id, value, one, register, _valid] = input else { panic!("{input:?}") };
        assert_eq!(id, register, "field and register are of one packet");
        assert!(port_of(*id) == LEGACY_PORT || value == one, "fields are of one packet");
        assert!(*id >= self.last_id, "{id} after {}", self.last_id);
        self.last_id = *id;
        self.number += 1;
        malleables[0] = self.number;
        for (table, handle) in self.handles.iter().enumerate() {
            let words = [*handle, self.number];
            assert_eq!(host.table(TableOperation::Modify, table, 0, &words), 1);
        }
        Ok(())
    }

    fn call_init(&mut self, _: &mut [u64], host: &mut dyn Host) -> Result<(), Stopped> {
        self.handles = [0, 1].map(|table| host.table(TableOperation::Add, table, 0, &[0, 0]));
        Ok(())
    }
}

const BURST: u32 = 32;
const COMMITS: u64 = 300;
const LIMIT: Duration = Duration::from_secs(60);

/// A legacy controller that sets its entries of both tables to the number of the batch.
#[derive(Default)]
struct LegacyController {
    sent: u64,
    done: u64,
    outstanding: VecDeque<Ticket>,
}

impl LegacyController {
    fn work(&mut self, target: &mut dyn Target) {
        if self.outstanding.len() < 64 {
            let program = target.program();
            let item = |name: (&str, &str)| {
                let (table, action) = name;
                let table = program.tables.iter().position(|known| &*known.name == table);
                let table = TableId(table.expect("the table") as u32);
                let action = program.actions.iter().position(|known| &*known.name == action);
                let action = ActionId(action.expect("the action") as u32);
                let arguments = vec![Bits::from_u64(32, self.sent)];
                let keys = vec![KeyPattern::Exact(Bits::from_u64(9, u64::from(LEGACY_PORT)))];
                let entry = NewEntry::direct(keys, 0, BoundAction { action, arguments });
                match self.sent {
                    0 => Update::InsertEntry { table, entry },
                    _ => Update::ModifyEntry { table, entry },
                }
            };
            let batch = Batch::of([("I.t1", "I.mark_one"), ("I.t2", "I.mark_two")].map(item));
            self.sent += 1;
            let now_ps = target.now_ps();
            self.outstanding.push_back(target.submit(batch, now_ps));
        }
        while let Some(first) = self.outstanding.front()
            && let Some(outcome) = target.poll(*first)
        {
            assert_eq!(outcome.first_fault(), None);
            self.outstanding.pop_front();
            self.done += 1;
        }
    }
}

#[test]
fn packets_of_another_thread_see_whole_commits() {
    let compiled = compiled_with(PROGRAM, None);
    let program = compiled.run.program().clone();
    let mut device = Device::new(program, DeviceOptions::default()).expect("it loads");
    let (mut target, legacy) = mapped(&compiled, &device);
    let module = Box::new(Counting::default());
    let agent = Agent::new(&compiled, module, legacy, AgentOptions::default());
    let mut agent = agent.expect("all objects are there");
    agent.prologue(target.as_mut()).expect("it begins");
    let mut controller = LegacyController::default();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let begin = Instant::now();
            while agent.statistics().commits < COMMITS && begin.elapsed() < LIMIT {
                agent.round(target.as_mut()).expect("it reacts");
                controller.work(target.as_mut());
            }
            is_over.store(true, Ordering::Release);
            (agent.statistics(), controller.done)
        });
        let (begin, mut id) = (Instant::now(), 0u32);
        // By the port that packets come by: the last number and how many there were.
        let (mut last, mut seen) = ([0u32; 2], [0u32; 2]);
        while !is_over.load(Ordering::Acquire) && !other.is_finished() {
            let mut burst = Burst::new(BURST as usize, 64);
            for _ in 0..BURST {
                id += 1;
                let bytes: Vec<u8> =
                    [id, 0, 0, 0].iter().flat_map(|word| word.to_be_bytes()).collect();
                burst.push(port_of(u64::from(id)), &bytes).expect("there is room");
            }
            device.advance(begin.elapsed().as_nanos() as u64 * 1000).expect("it runs");
            device.forward(&mut burst).expect("it forwards");
            assert_eq!(burst.outputs().len(), BURST as usize);
            for sent in burst.outputs() {
                let word = |at: usize| {
                    let bytes = sent.bytes[4 * at..4 * at + 4].try_into();
                    u32::from_be_bytes(bytes.expect("four bytes"))
                };
                let port = port_of(u64::from(word(0)));
                let is_whole = port == LEGACY_PORT || word(1) == word(2);
                assert!(is_whole && word(2) == word(3), "{:?}", sent.bytes);
                let (last, seen) = (&mut last[port as usize], &mut seen[port as usize]);
                assert!(word(2) >= *last, "commit {} after {last}", word(2));
                *seen += u32::from(word(2) > *last);
                *last = word(2);
            }
        }
        let (statistics, legacy) = other.join().expect("the reactions find no mistake");
        let commits = statistics.commits;
        println!("{id} packets saw {seen:?} of {commits} commits and {legacy} legacy batches");
        assert!(commits >= COMMITS && statistics.failed_commits == 0, "{statistics:?}");
        assert!(u64::from(seen[0]) > COMMITS / 10, "packets saw {seen:?} commits");
        assert!(legacy > COMMITS && seen[1] > 10, "{legacy} legacy batches, {seen:?} seen");
    });
}
