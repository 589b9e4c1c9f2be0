// SPDX-License-Identifier: Apache-2.0
//! The loop of a fresh unit over the packets of a burst: its head, its end, and its reads of `Received`.

use super::values::readonly;
use crate::runtime::pass::{ENDED, Pass, Received};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use std::mem::offset_of;

/// An output of the unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// Its index.
    pub at: usize,
    /// Its value.
    pub number: Value,
    /// The value has at most this many bits.
    pub width_bits: u32,
    /// Whether callers read it only after an exit with storage.
    pub is_for_exits: bool,
}

/// The loop, at the start of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// The block at the start of a packet, with the packet's two addresses.
    head: Block,
    done: Block,
    /// Address of its first byte.
    pub packet: Value,
    /// Its length.
    pub length_bytes: Value,
    /// Address of the packet's [`Received`].
    pub received: Value,
    is_in_registers: bool,
}

fn load(builder: &mut FunctionBuilder<'_>, address: Value, offset: usize) -> Value {
    builder.ins().load(types::I64, MemFlagsData::trusted(), address, offset as i32)
}

/// Loads a number of [`Received`] at its first use. Compiled code does not change it.
pub(crate) fn load_received(
    builder: &mut FunctionBuilder<'_>,
    received: Value,
    offset: usize,
) -> Value {
    let flags = MemFlagsData::trusted().with_readonly().with_can_move();
    // Cranelift does not sink loads that extend.
    let number = builder.ins().load(types::I32, flags, received, offset as i32);
    builder.ins().uextend(types::I64, number)
}

fn store(builder: &mut FunctionBuilder<'_>, value: Value, address: Value, offset: usize) {
    builder.ins().store(MemFlagsData::trusted(), value, address, offset as i32);
}

pub(crate) fn add_to(
    builder: &mut FunctionBuilder<'_>,
    address: Value,
    offset: usize,
    number: Value,
) {
    let before = load(builder, address, offset);
    let after = builder.ins().iadd(before, number);
    store(builder, after, address, offset);
}

/// The addresses of the running packet and its [`Received`].
fn which(builder: &mut FunctionBuilder<'_>, pass: Value) -> (Value, Value) {
    let packet = load(builder, pass, offset_of!(Pass, packet));
    (packet, load(builder, pass, offset_of!(Pass, received)))
}

impl Loop {
    /// Begins the loop; code continues at the start of a packet. There is at least one packet.
    ///
    /// The pass holds the addresses of the running packet, so that they need no registers and the runtime knows
    /// them. Short code without calls keeps them in registers.
    pub fn new(builder: &mut FunctionBuilder<'_>, pass: Value, is_in_registers: bool) -> Loop {
        let [head, done] = [(); 2].map(|()| builder.create_block());
        let first = which(builder, pass);
        builder.ins().jump(head, &[first.0.into(), first.1.into()]);
        let packet = builder.append_block_param(head, types::I64);
        let received = builder.append_block_param(head, types::I64);
        builder.switch_to_block(head);
        let offset = offset_of!(Received, length_bytes);
        let length_bytes = match is_in_registers {
            true => load_received(builder, received, offset),
            // Parsers compare it at once.
            false => builder.ins().uload32(MemFlagsData::trusted(), received, offset as i32),
        };
        Loop { head, done, packet, length_bytes, received, is_in_registers }
    }

    /// Continues with the next packet, or ends after the last one.
    pub fn next_packet(
        self,
        builder: &mut FunctionBuilder<'_>,
        pass: Value,
        (packet, received): (Value, Value),
    ) {
        let flags = match self.is_in_registers {
            true => readonly(),
            false => MemFlagsData::trusted(),
        };
        let mut load = |offset: usize| builder.ins().load(types::I64, flags, pass, offset as i32);
        let stride = load(offset_of!(Pass, stride_bytes));
        let end = load(offset_of!(Pass, received_end));
        let packet = builder.ins().iadd(packet, stride);
        let received = builder.ins().iadd_imm_s(received, size_of::<Received>() as i64);
        if !self.is_in_registers {
            store(builder, packet, pass, offset_of!(Pass, packet));
            store(builder, received, pass, offset_of!(Pass, received));
        }
        let is_left = builder.ins().icmp(IntCC::NotEqual, received, end);
        let next = [packet.into(), received.into()];
        builder.ins().brif(is_left, self.head, &next, self.done, &[]);
    }

    /// Ends the loop. Finished packets jumped to `finish`, or to the next packet directly.
    pub fn close(self, builder: &mut FunctionBuilder<'_>, pass: Value, finish: Block) {
        builder.seal_block(finish);
        builder.switch_to_block(finish);
        let addresses = match self.is_in_registers {
            true => (self.packet, self.received),
            false => which(builder, pass),
        };
        self.next_packet(builder, pass, addresses);
        builder.seal_block(self.head);
        builder.seal_block(self.done);
        builder.switch_to_block(self.done);
        let ended = builder.ins().iconst(types::I64, ENDED as i64);
        builder.ins().return_(&[ended]);
    }
}
