// SPDX-License-Identifier: Apache-2.0
//! Runs that stop between two moments: what changes meanwhile is seen by later accesses, and by no earlier
//! ones.

use crate::harness::{Surroundings, bits, program};
use interpreter::{BlockRun, Interpreter, Outcome, PacketContext, Progress, StopAfter};
use ir::moments::{self, Moments};
use ir::{BlockId, Program, RegisterId};
use state::{Cells, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One packet in one block.
struct Packet {
    context: PacketContext,
    run: BlockRun,
    stage: Option<u32>,
}

struct Pipeline {
    interpreter: Interpreter,
    moments: Moments,
    store: Store,
    cells: Cells,
}

impl Pipeline {
    fn new(program: Arc<Program>) -> Pipeline {
        let region = program.blocks[0].region;
        let moments = moments::of_region(&program, region, None, &BTreeMap::new());
        Pipeline {
            moments: moments.expect("no stage is asked for"),
            store: Store::new(program.clone()).expect("the program is sound"),
            cells: Cells::new(&program),
            interpreter: Interpreter::new(program),
        }
    }

    fn packet(&self) -> Packet {
        Packet { context: self.interpreter.context(), run: BlockRun::new(0), stage: None }
    }

    /// Lets a packet have its next moment.
    fn step(&mut self, packet: &mut Packet) -> Progress {
        let stop = StopAfter { moments: &self.moments, stage: packet.stage };
        let mut environment = Surroundings { length_bytes: 0, log: Vec::new() };
        let progress = self.interpreter.resume(
            &mut packet.run,
            Some(stop),
            &mut packet.context,
            &self.store.configuration(),
            &mut self.cells,
            &mut environment,
            None,
        );
        if let Progress::Stopped { stage } = progress {
            packet.stage = Some(stage);
        }
        progress
    }

    fn register(&self, index: u64) -> u64 {
        let register = self.cells.register(RegisterId(0)).expect("it is there");
        register.read(index).map_or(0, |value| value.low_u64())
    }
}

const ENDED: Progress = Progress::Ended(Outcome::Returned);

/// Two packets that add 1 to a cell, in steps that alternate; what the cell has more then. Origin 1 is an
/// atomic block.
fn two_increments(code: &str) -> u64 {
    let mut pipeline = Pipeline::new(program("control", code));
    let mut packets = [pipeline.packet(), pipeline.packet()];
    let mut ended = 0;
    while ended < 2 {
        for packet in &mut packets {
            ended += usize::from(pipeline.step(packet) == ENDED);
        }
    }
    pipeline.register(0) - 5
}

#[test]
fn a_read_and_a_later_write_lose_an_update() {
    let code = "t0: bit<12> = register_access r[8w0] @0
                t1: bit<12> = add t0, 12w1
                register_access r[8w0] update {
                    yield t1
                }
                return";
    assert_eq!(two_increments(code), 1);
}

#[test]
fn one_access_loses_nothing() {
    let code = "t0: bit<12> = register_access r[8w0] update {
                    t1: bit<12> = add t0, 12w1
                    yield t1
                }
                return";
    assert_eq!(two_increments(code), 2);
}

#[test]
fn an_atomic_block_loses_nothing() {
    let code = "t0: bit<12> = register_access r[8w0] @1
                t1: bit<12> = add t0, 12w1
                register_access r[8w0] update {
                    yield t1
                } @1
                return";
    assert_eq!(two_increments(code), 2);
}

#[test]
fn temporaries_outlive_a_stop() {
    let code = "t0: bit<8> = load a
                t1: bit<8> = add t0, 8w7
                t2: bit<12> = register_access r[8w1]
                t3: bit<8> = truncate t2
                t4: bit<8> = add t1, t3
                store b, t4
                return";
    let mut pipeline = Pipeline::new(program("control", code));
    let mut packet = pipeline.packet();
    let slot = |name| pipeline.interpreter.program().slot_named(name).expect("it is there");
    let (a, b) = (slot("a"), slot("b"));
    packet.context.set_number(a, 1);
    assert_eq!(pipeline.step(&mut packet), Progress::Stopped { stage: 0 });
    // The load is over, the access is not.
    packet.context.set_number(a, 100);
    let register = pipeline.cells.register_mut(RegisterId(0)).expect("it is there");
    register.write(1, bits(12, 20));
    assert_eq!(pipeline.step(&mut packet), ENDED);
    assert_eq!(packet.context.number(b), 28);
}

#[test]
fn a_block_without_moments_does_not_stop() {
    let mut pipeline = Pipeline::new(program("control", "store a, 8w1\nreturn"));
    let mut packet = pipeline.packet();
    assert_eq!(pipeline.step(&mut packet), ENDED);
    assert_eq!(packet.run.block(), 0);
}

#[test]
fn back_edges_count_over_stops() {
    // The block stops once before its endless loop, and the limit holds for all of it.
    let code = "t0: bit<12> = register_access r[8w0]
                goto block1
                block1:
                goto block1";
    let mut pipeline = Pipeline::new(program("control", code));
    let mut packet = pipeline.packet();
    assert_eq!(pipeline.moments.of_block(BlockId(0).index()).len(), 1);
    assert_eq!(pipeline.step(&mut packet), Progress::Stopped { stage: 0 });
    assert_eq!(pipeline.step(&mut packet), Progress::Ended(Outcome::StepLimit));
}

#[test]
fn runs_can_be_kept_and_sent() {
    fn is_owned_and_sendable<T: Send + 'static>() {}
    is_owned_and_sendable::<BlockRun>();
    is_owned_and_sendable::<PacketContext>();
}
