// SPDX-License-Identifier: Apache-2.0
//! The loop of a fresh unit over the packets of a burst: what is read of a packet before it runs, and
//! what is noted of one that leaves. What happens between is the unit's matter.

use super::function::FunctionCompiler;
use crate::runtime::pass::{ENDED, Pass, Received, Sent, Tally};
use crate::unit::{FIRST_WITHOUT_STORAGE, Tallying};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use std::mem::offset_of;

/// The packet of a burst that runs.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Which one it is.
    pub index: Value,
    /// Address of what came.
    pub received: Value,
}

/// An output of the unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// Its index.
    pub at: usize,
    /// What it is.
    pub number: Value,
    /// Whether it matters only after an exit with storage.
    pub is_for_exits: bool,
}

/// The loop, at the start of one packet.
pub(crate) struct Loop {
    head: Block,
    /// The packet that runs.
    pub place: Place,
    /// Address of its first byte.
    pub packet: Value,
    /// Its length.
    pub length_bytes: Value,
}

fn load(builder: &mut FunctionBuilder<'_>, address: Value, offset: usize) -> Value {
    builder.ins().load(types::I64, MemFlagsData::trusted(), address, offset as i32)
}

fn store(builder: &mut FunctionBuilder<'_>, value: Value, address: Value, offset: usize) {
    builder.ins().store(MemFlagsData::trusted(), value, address, offset as i32);
}

fn add_to(builder: &mut FunctionBuilder<'_>, address: Value, offset: usize, number: Value) {
    let before = load(builder, address, offset);
    let after = builder.ins().iadd(before, number);
    store(builder, after, address, offset);
}

/// The row of what is counted under a number.
fn row(builder: &mut FunctionBuilder<'_>, pass: Value, tallying: Tallying, number: Value) -> Value {
    let rows = load(builder, pass, offset_of!(Pass, tallies));
    let within = builder.ins().band_imm_u(number, i64::from(tallying.rows - 1));
    let distance = builder.ins().imul_imm_s(within, size_of::<Tally>() as i64);
    builder.ins().iadd(rows, distance)
}

impl Loop {
    /// Begins the loop; code goes on at the start of a packet.
    pub fn new(builder: &mut FunctionBuilder<'_>, pass: Value, tallying: Option<Tallying>) -> Loop {
        let first_index = load(builder, pass, offset_of!(Pass, index));
        let first = load(builder, pass, offset_of!(Pass, first));
        let stride = load(builder, pass, offset_of!(Pass, stride_bytes));
        let distance = builder.ins().imul(first_index, stride);
        let first_packet = builder.ins().iadd(first, distance);
        let head = builder.create_block();
        let index = builder.append_block_param(head, types::I64);
        let packet = builder.append_block_param(head, types::I64);
        let body = builder.create_block();
        let done = builder.create_block();
        builder.ins().jump(head, &[first_index.into(), first_packet.into()]);
        builder.switch_to_block(head);
        // Loaded again for each packet: that is cheaper than to keep them in registers.
        let count = load(builder, pass, offset_of!(Pass, count));
        let is_left = builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
        builder.ins().brif(is_left, body, &[], done, &[]);
        builder.seal_block(body);
        builder.seal_block(done);
        builder.switch_to_block(done);
        let ended = builder.ins().iconst(types::I64, ENDED as i64);
        builder.ins().return_(&[ended]);
        builder.switch_to_block(body);
        let all_received = load(builder, pass, offset_of!(Pass, received));
        let distance = builder.ins().imul_imm_s(index, size_of::<Received>() as i64);
        let received = builder.ins().iadd(all_received, distance);
        let flags = MemFlagsData::trusted();
        let length_offset = offset_of!(Received, length_bytes) as i32;
        let length_bytes = builder.ins().uload32(flags, received, length_offset);
        if let Some(tallying) = tallying {
            let input_offset = offset_of!(Received, input) as i32;
            let input = builder.ins().uload32(flags, received, input_offset);
            let row = row(builder, pass, tallying, input);
            let one = builder.ins().iconst(types::I64, 1);
            add_to(builder, row, offset_of!(Tally, received_packets), one);
            add_to(builder, row, offset_of!(Tally, received_bytes), length_bytes);
        }
        Loop { head, place: Place { index, received }, packet, length_bytes }
    }

    /// Ends the loop: packets that are done lead to `finish`.
    pub fn close(self, builder: &mut FunctionBuilder<'_>, pass: Value, finish: Block) {
        builder.seal_block(finish);
        builder.switch_to_block(finish);
        let next = builder.ins().iadd_imm_s(self.place.index, 1);
        let stride = load(builder, pass, offset_of!(Pass, stride_bytes));
        let packet = builder.ins().iadd(self.packet, stride);
        builder.ins().jump(self.head, &[next.into(), packet.into()]);
        builder.seal_block(self.head);
    }
}

impl FunctionCompiler<'_, '_> {
    /// Lets the pass know which packet of a burst runs, for the runtime and whoever goes on after an
    /// exit.
    pub fn publish_packet(&mut self) {
        if self.place.is_some() {
            self.store_word(self.packet, self.pass, offset_of!(Pass, packet) as i32);
            self.store_word(self.length_bytes, self.pass, offset_of!(Pass, length_bytes) as i32);
        }
    }

    /// Puts the outputs so far where the packet is noted when it leaves; those for exits only at an exit.
    pub fn put_outputs(&mut self, at_exit: bool) {
        if self.place.is_none() || self.prefetching || self.outputs.is_empty() {
            return;
        }
        let sent = self.load_word(self.pass, offset_of!(Pass, sent) as i32);
        self.put_outputs_at(sent, at_exit);
    }

    fn put_outputs_at(&mut self, sent: Value, at_exit: bool) {
        for output in self.outputs.clone() {
            if at_exit || !output.is_for_exits {
                let offset = (offset_of!(Sent, outputs) + output.at * 4) as i32;
                let flags = MemFlagsData::trusted();
                self.builder.ins().istore32(flags, output.number, sent, offset);
            }
        }
    }

    /// Notes that the packet leaves, from this address on with so many bytes.
    pub fn send(&mut self, start: Value, length_bytes: Value) {
        let Some(Place { index, .. }) = self.place else { return };
        let flags = MemFlagsData::trusted();
        let sent = self.load_word(self.pass, offset_of!(Pass, sent) as i32);
        self.put_outputs_at(sent, false);
        self.store_word(start, sent, offset_of!(Sent, start) as i32);
        for (value, offset) in
            [(length_bytes, offset_of!(Sent, length_bytes)), (index, offset_of!(Sent, packet))]
        {
            self.builder.ins().istore32(flags, value, sent, offset as i32);
        }
        if let Some(tallying) = self.tallying {
            let known = self
                .outputs
                .iter()
                .rev()
                .find(|output| output.at == tallying.output && !output.is_for_exits);
            let output = match known {
                Some(output) => output.number,
                None => {
                    let offset = (offset_of!(Sent, outputs) + tallying.output * 4) as i32;
                    self.builder.ins().uload32(flags, sent, offset)
                }
            };
            let pass = self.pass;
            let row = row(&mut self.builder, pass, tallying, output);
            let one = self.number(1);
            add_to(&mut self.builder, row, offset_of!(Tally, sent_packets), one);
            add_to(&mut self.builder, row, offset_of!(Tally, sent_bytes), length_bytes);
        }
        let next = self.builder.ins().iadd_imm_s(sent, size_of::<Sent>() as i64);
        self.store_word(next, self.pass, offset_of!(Pass, sent) as i32);
    }

    /// Counts a packet that ends by an exit without storage.
    pub fn count_end(&mut self, exit: u64) {
        let at = (exit - u64::from(FIRST_WITHOUT_STORAGE)) as usize;
        let one = self.number(1);
        let pass = self.pass;
        add_to(&mut self.builder, pass, offset_of!(Pass, ended) + at * 8, one);
    }
}
