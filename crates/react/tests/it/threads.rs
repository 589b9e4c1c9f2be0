// SPDX-License-Identifier: Apache-2.0
//! Isolation with real threads: one forwards bursts of packets, the other runs dialogues as fast as it can. Each commit sets
//! a value and an entry of two tables to one number; a packet carries all three away, and a reaction measures fields and a
//! register of packets.

use crate::compiled::compiled_with;
use crate::equal::mapped;
use device::{Burst, Device, DeviceOptions};
use react::agent::{Agent, AgentOptions};
use react::interface::{Host, Reactions, Stopped, TableOperation};
use react::module::Module;
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
        assert_eq!(value, one, "fields are of one packet");
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
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let begin = Instant::now();
            while agent.statistics().commits < COMMITS && begin.elapsed() < LIMIT {
                agent.round(target.as_mut()).expect("it reacts");
            }
            is_over.store(true, Ordering::Release);
            agent.statistics()
        });
        let (begin, mut id, mut last) = (Instant::now(), 0u32, 0u32);
        let mut seen = 0;
        while !is_over.load(Ordering::Acquire) && !other.is_finished() {
            let mut burst = Burst::new(BURST as usize, 64);
            for _ in 0..BURST {
                id += 1;
                let bytes: Vec<u8> =
                    [id, 0, 0, 0].iter().flat_map(|word| word.to_be_bytes()).collect();
                burst.push(0, &bytes).expect("there is room");
            }
            device.advance(begin.elapsed().as_nanos() as u64 * 1000).expect("it runs");
            device.forward(&mut burst).expect("it forwards");
            assert_eq!(burst.outputs().len(), BURST as usize);
            for sent in burst.outputs() {
                let word = |at: usize| {
                    let bytes = sent.bytes[4 * at..4 * at + 4].try_into();
                    u32::from_be_bytes(bytes.expect("four bytes"))
                };
                assert!(word(1) == word(2) && word(2) == word(3), "{:?}", sent.bytes);
                assert!(word(1) >= last, "commit {} after {last}", word(1));
                seen += u32::from(word(1) > last);
                last = word(1);
            }
        }
        let statistics = other.join().expect("the reactions find no mistake");
        println!("{id} packets saw {seen} of {} commits", statistics.commits);
        assert!(statistics.commits >= COMMITS && statistics.failed_commits == 0, "{statistics:?}");
        assert!(u64::from(seen) > COMMITS / 10, "packets saw {seen} commits");
    });
}
