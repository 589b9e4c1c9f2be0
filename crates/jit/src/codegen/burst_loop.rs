// SPDX-License-Identifier: Apache-2.0
//! The loop of a fresh unit over the packets of a burst: what is read of a packet before it runs, and
//! what is noted of one that leaves. What happens between is the unit's matter.

use super::function::{FunctionCompiler, lasting};
use crate::runtime::pass::{ENDED, OUTPUTS, Pass, Received, Sent};
use crate::unit::FIRST_WITHOUT_STORAGE;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use std::mem::offset_of;

/// An output of the unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// Its index.
    pub at: usize,
    /// What it is.
    pub number: Value,
    /// It is below two to this.
    pub width_bits: u32,
    /// Whether it matters only after an exit with storage.
    pub is_for_exits: bool,
}

/// The loop, at the start of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// The start, with both addresses of a packet.
    head: Block,
    done: Block,
    /// Address of its first byte.
    pub packet: Value,
    /// Its length.
    pub length_bytes: Value,
    /// Address of the packet as it came.
    pub received: Value,
    is_in_registers: bool,
}

fn load(builder: &mut FunctionBuilder<'_>, address: Value, offset: usize) -> Value {
    builder.ins().load(types::I64, MemFlagsData::trusted(), address, offset as i32)
}

/// Loads a number of a packet as it came, where it is used. Nobody changes it.
fn load_own(builder: &mut FunctionBuilder<'_>, received: Value, offset: usize) -> Value {
    let flags = MemFlagsData::trusted().with_readonly().with_can_move();
    // Loads that extend would not be put off.
    let number = builder.ins().load(types::I32, flags, received, offset as i32);
    builder.ins().uextend(types::I64, number)
}

fn store(builder: &mut FunctionBuilder<'_>, value: Value, address: Value, offset: usize) {
    builder.ins().store(MemFlagsData::trusted(), value, address, offset as i32);
}

fn add_to(builder: &mut FunctionBuilder<'_>, address: Value, offset: usize, number: Value) {
    let before = load(builder, address, offset);
    let after = builder.ins().iadd(before, number);
    store(builder, after, address, offset);
}

/// The addresses of the packet that runs.
fn which(builder: &mut FunctionBuilder<'_>, pass: Value) -> (Value, Value) {
    let packet = load(builder, pass, offset_of!(Pass, packet));
    (packet, load(builder, pass, offset_of!(Pass, received)))
}

impl Loop {
    /// Begins the loop; code goes on at the start of a packet. There is at least one.
    ///
    /// Which packet runs is in the pass, so that it needs no registers on the way and the runtime knows;
    /// with little code that asks nobody it is in registers only.
    pub fn new(builder: &mut FunctionBuilder<'_>, pass: Value, is_in_registers: bool) -> Loop {
        let [head, done] = [(); 2].map(|()| builder.create_block());
        let first = which(builder, pass);
        builder.ins().jump(head, &[first.0.into(), first.1.into()]);
        let packet = builder.append_block_param(head, types::I64);
        let received = builder.append_block_param(head, types::I64);
        builder.switch_to_block(head);
        let offset = offset_of!(Received, length_bytes);
        let length_bytes = match is_in_registers {
            true => load_own(builder, received, offset),
            // Whoever parses looks at it at once.
            false => builder.ins().uload32(MemFlagsData::trusted(), received, offset as i32),
        };
        Loop { head, done, packet, length_bytes, received, is_in_registers }
    }

    /// Goes on with the packet behind one, unless that was the last.
    fn go_on(
        self,
        builder: &mut FunctionBuilder<'_>,
        pass: Value,
        (packet, received): (Value, Value),
    ) {
        let flags = match self.is_in_registers {
            true => lasting(),
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

    /// Ends the loop: packets that are done led to `finish`, or went on by themselves.
    pub fn close(self, builder: &mut FunctionBuilder<'_>, pass: Value, finish: Block) {
        builder.seal_block(finish);
        builder.switch_to_block(finish);
        let addresses = match self.is_in_registers {
            true => (self.packet, self.received),
            false => which(builder, pass),
        };
        self.go_on(builder, pass, addresses);
        builder.seal_block(self.head);
        builder.seal_block(self.done);
        builder.switch_to_block(self.done);
        let ended = builder.ins().iconst(types::I64, ENDED as i64);
        builder.ins().return_(&[ended]);
    }
}

impl FunctionCompiler<'_, '_> {
    /// Lets the pass know how long the packet of a burst is that runs, for the runtime and whoever goes
    /// on after an exit.
    pub fn publish_length(&mut self) {
        if self.facts.is_fresh {
            let length = self.length_bytes;
            self.store_word(length, self.pass, offset_of!(Pass, length_bytes) as i32);
        }
    }

    /// Puts the outputs so far where the packet is noted when it leaves; those for exits only at an exit.
    pub fn put_outputs(&mut self, at_exit: bool) {
        if !self.facts.is_fresh || self.prefetching || self.outputs.is_empty() {
            return;
        }
        let sent = self.load_word(self.pass, offset_of!(Pass, sent) as i32);
        self.put_outputs_at(sent, at_exit);
    }

    fn put_outputs_at(&mut self, sent: Value, at_exit: bool) {
        let mut numbers = [None; OUTPUTS];
        for output in self.outputs.clone() {
            if at_exit || !output.is_for_exits {
                numbers[output.at] = Some((output.number, output.width_bits));
            }
        }
        let mut at = 0;
        while let Some(number) = numbers.get(at) {
            let Some((number, width_bits)) = *number else {
                at += 1;
                continue;
            };
            let offset = (offset_of!(Sent, outputs) + at * 4) as i32;
            let next = numbers.get(at + 1).copied().flatten();
            // A zero behind a number of 32 bits is what its word has above.
            let is_zero_next = next.is_some_and(|(next, _)| self.known_number(next) == Some(0));
            if is_zero_next && width_bits <= u32::BITS && cfg!(target_endian = "little") {
                self.store_word(number, sent, offset);
                at += 2;
                continue;
            }
            let flags = MemFlagsData::trusted();
            self.builder.ins().istore32(flags, number, sent, offset);
            at += 1;
        }
    }

    /// Asks anew where the packet of a burst is, at the start of a way of its own, and how long when somebody
    /// wants to know: such values then need no register on other ways, nor a place on the stack because
    /// of those.
    pub fn find_packet(&mut self) {
        if self.facts.is_fresh {
            let packet = self.load_word(self.pass, offset_of!(Pass, packet) as i32);
            let before = std::mem::replace(&mut self.packet, packet);
            self.path.packet_moved(before, packet);
            self.received = self.load_word(self.pass, offset_of!(Pass, received) as i32);
            let offset = offset_of!(Received, length_bytes);
            self.length_bytes = load_own(&mut self.builder, self.received, offset);
        }
    }

    /// Input 0 of the packet of a burst that runs.
    pub fn own_input(&mut self) -> Value {
        load_own(&mut self.builder, self.received, offset_of!(Received, input))
    }

    /// Notes that the packet leaves, from this address on with so many bytes.
    pub fn send(&mut self, start: Value, length_bytes: Value) {
        if !self.facts.is_fresh {
            return;
        }
        let flags = MemFlagsData::trusted();
        let sent = self.load_word(self.pass, offset_of!(Pass, sent) as i32);
        self.put_outputs_at(sent, false);
        self.store_word(start, sent, offset_of!(Sent, start) as i32);
        for (value, offset) in [
            (length_bytes, offset_of!(Sent, length_bytes)),
            (self.received, offset_of!(Sent, packet)),
        ] {
            self.builder.ins().istore32(flags, value, sent, offset as i32);
        }
        let one = self.number(size_of::<Sent>() as u64);
        let pass = self.pass;
        add_to(&mut self.builder, pass, offset_of!(Pass, sent), one);
    }

    /// Ends a packet that is done, like [`FunctionCompiler::finish`], where both of its addresses are at
    /// hand.
    pub fn finish_at_hand(&mut self, packet: Value) {
        match self.burst_loop {
            Some(around) => {
                let addresses = (packet, self.received);
                around.go_on(&mut self.builder, self.pass, addresses);
            }
            None => {
                let code = self.number(ENDED);
                self.finish(code);
            }
        }
    }

    /// Counts a packet that ends by an exit without storage.
    pub fn count_end(&mut self, exit: u64) {
        let at = (exit - u64::from(FIRST_WITHOUT_STORAGE)) as usize;
        let one = self.number(1);
        let pass = self.pass;
        add_to(&mut self.builder, pass, offset_of!(Pass, ended) + at * 8, one);
    }
}
