// SPDX-License-Identifier: Apache-2.0
//! Runs of fresh units on packets, one after another, against one version of the tables. What a
//! burst is and where its packets come from is the device's matter.

use crate::compiled::{Compiled, Ending};
use crate::instance::BoundInstance;
use crate::runtime::pass::{ENDED, Instance, NUMBERS, Pass, Surroundings, TAILROOM_BYTES};
use interpreter::{Environment, PacketContext};
use state::Cells;
use state::forwarding::ForwardingState;
use std::fmt;

/// A packet in memory of its own: room before it for headers to come, and at least
/// [`TAILROOM_BYTES`] after it.
#[derive(Debug)]
pub struct PacketMemory<'m> {
    /// Room, packet, room.
    pub memory: &'m mut [u8],
    /// First byte of the packet.
    pub start: usize,
    /// Its length in bytes.
    pub length: usize,
}

/// Tables from this size on are fetched ahead.
const LARGE_TABLE_BYTES: usize = 256 << 10;

/// A burst at work.
pub struct Burst<'a> {
    compiled: &'a Compiled,
    instance: *const Instance,
    pass: Box<Pass>,
    around: Surroundings<'a>,
}

impl fmt::Debug for Burst<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Burst").finish_non_exhaustive()
    }
}

impl<'a> Burst<'a> {
    /// Begins a burst on one version of the tables and the cells of one instance.
    pub fn new(
        compiled: &'a Compiled,
        instance: &'a mut BoundInstance,
        forwarding: &'a ForwardingState,
        cells: &'a mut Cells,
        environment: &'a mut dyn Environment,
    ) -> Burst<'a> {
        let instance = instance.refresh(compiled.program(), forwarding, cells);
        Burst {
            compiled,
            instance,
            pass: Box::new(Pass::new()),
            around: Surroundings {
                program: compiled.program(),
                layout: compiled.layout(),
                cells,
                forwarding,
                environment,
                requests: Vec::new(),
                emitted: Default::default(),
                draw_count: 0,
                message: String::new(),
            },
        }
    }

    /// Numbers that the unit's steps take as inputs, to be set before each packet.
    pub fn inputs(&mut self) -> &mut [u64; NUMBERS] {
        &mut self.pass.inputs
    }

    /// Numbers that the unit's steps gave.
    pub fn outputs(&self) -> &[u64; NUMBERS] {
        &self.pass.outputs
    }

    /// Whether fetching ahead pays for this unit: it looks up in some table that does not fit into the
    /// nearer caches.
    pub fn wants_prefetch(&self, unit: usize) -> bool {
        let tables = self.around.forwarding.tables();
        self.compiled.can_prefetch(unit)
            && tables.iter().any(|table| table.memory_bytes() >= LARGE_TABLE_BYTES)
    }

    /// Fetches into the cache what the unit's first lookup will read for this packet. Nothing else
    /// happens, and the unit still has to run.
    pub fn prefetch(&mut self, unit: usize, packet: PacketMemory<'_>, context: &mut PacketContext) {
        self.hand_in(packet, context);
        let pass = &mut *self.pass;
        self.compiled.prefetch(unit, pass, self.instance, &mut self.around);
    }

    /// Lets the pass know the packet.
    fn hand_in(&mut self, packet: PacketMemory<'_>, context: &mut PacketContext) -> usize {
        let PacketMemory { memory, start, length } = packet;
        assert!(start + length + TAILROOM_BYTES <= memory.len(), "no room after the packet");
        let base = memory.as_mut_ptr();
        let pass = &mut *self.pass;
        pass.packet = base.wrapping_add(start);
        pass.length_bytes = length as u64;
        pass.headroom_bytes = start as u64;
        pass.storage = context.storage_mut().as_mut_ptr();
        base as usize
    }

    /// Runs a fresh unit on a packet. After an exit the context has what the packet has by then: its
    /// slots, cursor, and what it asked of the device; its bytes stay where they are. Else the context
    /// holds nothing of meaning.
    ///
    /// # Panics
    ///
    /// When the packet does not lie in its memory with [`TAILROOM_BYTES`] after it.
    pub fn run(
        &mut self,
        unit: usize,
        packet: PacketMemory<'_>,
        context: &mut PacketContext,
        counted_bytes: u64,
        now_ps: u64,
    ) -> Ending {
        let base = self.hand_in(packet, context);
        let pass = &mut *self.pass;
        pass.counted_bytes = counted_bytes;
        pass.now_ps = now_ps;
        self.around.draw_count = 0;
        let code = self.compiled.enter(unit, pass, self.instance, &mut self.around);
        if code == ENDED {
            let start = pass.start as usize - base;
            return Ending::Done { start, length: pass.outgoing_bytes as usize };
        }
        context.cursor_bits = pass.cursor_bits as usize;
        context.draw_count = self.around.draw_count;
        std::mem::swap(&mut context.requests, &mut self.around.requests);
        self.around.requests.clear();
        let message = std::mem::take(&mut self.around.message);
        Ending::new(code, &self.pass, message)
    }

    /// The surroundings that were handed in.
    pub fn environment(&mut self) -> &mut dyn Environment {
        self.around.environment
    }
}
