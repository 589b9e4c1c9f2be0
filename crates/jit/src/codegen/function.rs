// SPDX-License-Identifier: Apache-2.0
//! The function under construction: what every part of the code generator shares. Instructions are in
//! the files beside.

use super::ahead::Lookups;
use super::burst_loop::{Loop, Output};
use super::call::{RuntimeFunction, SeldomCalls, Signatures};
use super::facts::Facts;
use super::path::{Copies, Path, Way};
use super::tables::Split;
use super::values::{ConstantPool, ScratchSlots, Val, Values};
use crate::runtime::pass::{ENDED_NO_ROOM, FIRST_RESERVED, Instance, Pass};
use crate::unit::FIRST_WITHOUT_STORAGE;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use ir::{Operand, Program, RegionId, StorageLayout, Temp, ValueType};
use std::collections::HashMap;
use std::mem::offset_of;

/// A temporary's value, which may not be there yet.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// Computed.
    Val(Val),
    /// Bits of the packet that are read when they are needed.
    Packet(PacketBits),
    /// Whether bits of the packet are this number, found out when it is needed.
    Test(PacketBits, u64),
}

/// Bits in packet memory: a field that nobody has written since its header was extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketBits {
    /// Address of the packet's or the header's first byte.
    pub address: Value,
    /// First bit, counted from there.
    pub offset_bits: u32,
    /// How many.
    pub width_bits: u32,
}

impl PacketBits {
    /// The packet's address is known as another value from now on.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        if self.address == before {
            self.address = after;
        }
    }
}

/// Where a slot is while the function runs.
#[derive(Clone, Debug)]
pub(crate) enum Home {
    /// In variables, one a word.
    Variables(Vec<Variable>),
    /// In the packet's storage, from this byte on; a varbit's length in the word before.
    Storage(i32),
}

/// The number of a parser's error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RaisedError {
    /// Known now.
    Known(u32),
    /// Computed before the parser's end is reached.
    Value(Value),
}

/// The ways out of a region.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// After `return` or `accept`.
    pub returned: Vec<Way>,
    /// After `exit`, also that of an action.
    pub exited: Vec<Way>,
    /// After a parser's error.
    pub rejected: Vec<(Way, RaisedError)>,
}

/// A place in the program, by numbers: region, basic block, instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Region.
    pub region: RegionId,
    /// Basic block.
    pub block: u32,
    /// Instruction.
    pub instruction: u32,
    /// Where it comes from.
    pub origin: ir::OriginId,
}

/// One function under construction.
pub(crate) struct FunctionCompiler<'a, 'b> {
    pub program: &'a Program,
    pub layout: &'a StorageLayout,
    pub facts: &'a Facts,
    pub builder: FunctionBuilder<'b>,
    pub signatures: Signatures,
    pub call_conv: CallConv,
    /// Calls from where code hardly ever comes.
    pub seldom: &'a SeldomCalls,
    /// `*mut Pass`
    pub pass: Value,
    /// `*const Instance`, which stands behind the pass.
    pub instance: Value,
    /// Address of the packet.
    pub packet: Value,
    /// Its length in bytes.
    pub length_bytes: Value,
    /// Address of the packet of a burst as it came.
    pub received: Value,
    /// Whether these are the values of one way of many: see [`FunctionCompiler::find_packet`].
    pub is_apart: bool,
    /// Address of the storage, in a unit that keeps it; others hardly ever want it.
    pub storage: Option<Value>,
    /// How far the packet has been read: bytes when all is whole bytes, else kept in the pass.
    pub cursor_bytes: Variable,
    /// Address of each header where it was extracted, for headers that stay in the packet.
    pub sources: HashMap<ir::HeaderId, Variable>,
    /// Where each slot is.
    pub homes: Vec<Home>,
    /// What is known at this point.
    pub path: Path,
    /// Whether this point is never reached.
    pub is_dead: bool,
    /// Whether ways may go on without joining.
    pub may_split: bool,
    /// How much code copies make.
    pub copies: Copies,
    /// Ways out of the region under construction.
    pub ends: Ends,
    /// Ways that go on behind the instruction under construction, but not with this one.
    pub splits: Vec<Split>,
    /// Whether ways go on each for itself by whether the table that is applied was hit, and by the
    /// action that ran.
    pub tells_apart: (bool, bool),
    /// Stacks whose run-time indices turned out not to be known, though the facts take them to be.
    pub unresolved: Vec<ir::StackId>,
    /// Temporaries of the region under construction.
    pub temps: Vec<Option<Known>>,
    /// Types of these temporaries.
    pub temp_types: &'a [ValueType],
    /// The record of the entry whose action is under construction (its address), with its table.
    pub entry: Option<(Value, ir::TableId)>,
    /// Whether something was asked of the device; made where the unit asks or tests.
    pub has_requests: Variable,
    /// Index of the program's block under construction.
    pub block: usize,
    /// How the last block of the program ended, as a number; in units whose storage is kept.
    pub outcome: Variable,
    /// Whether each header was emitted by an in-place deparser: one variable an emission.
    pub emitted: Vec<Variable>,
    /// Whether this function only fetches into the cache what the unit's first lookup reads, and ends
    /// before anything that others could notice.
    pub prefetching: bool,
    /// Of a function that fetches ahead: from which blocks of the region under construction a lookup is
    /// reached. Empty where every condition counts.
    pub lookups_ahead: Vec<bool>,
    /// Lookups so far.
    pub lookups: Lookups,
    /// Whether lookups may be made ahead, by a function of their own.
    pub finds_ahead: bool,
    /// Numbers that are low bits of input 0.
    pub own_inputs: Vec<Value>,
    /// Outputs so far.
    pub outputs: Vec<Output>,
    /// Which step of the unit is under construction.
    pub step: usize,
    /// Where the function returns: a block with one parameter, the code.
    pub leave: Block,
    /// The loop over the packets of a burst.
    pub burst_loop: Option<Loop>,
    /// Where a packet that is done leads to. Of a burst the next packet follows; else it is a block with
    /// one parameter, the code.
    pub finish: Block,
    /// Constants wider than 128 bits, which live as long as the code.
    pub constants: &'a mut ConstantPool,
    /// Stack buffers, used again from one basic block to the next.
    pub scratch: ScratchSlots,
}

impl<'a, 'b> FunctionCompiler<'a, 'b> {
    /// Arithmetic.
    pub fn values(&mut self) -> Values<'_, 'b> {
        Values {
            builder: &mut self.builder,
            signatures: &mut self.signatures,
            call_conv: self.call_conv,
            constants: self.constants,
            scratch: &mut self.scratch,
        }
    }

    /// Calls a function of the runtime.
    pub fn call(&mut self, function: RuntimeFunction, arguments: &[Value]) -> Option<Value> {
        self.signatures.call(&mut self.builder, self.call_conv, function, arguments)
    }

    /// A 64-bit constant.
    pub fn number(&mut self, number: u64) -> Value {
        self.builder.ins().iconst(types::I64, number as i64)
    }

    /// Address of the storage. Few packets want it, so it is loaded where they do; large units want it all
    /// the time.
    pub fn storage(&mut self) -> Value {
        match self.storage {
            Some(storage) => storage,
            None => {
                let offset_bytes = offset_of!(Pass, storage) as i32;
                match self.facts.is_large {
                    true => self.load_lasting(self.pass, offset_bytes),
                    false => self.load_word(self.pass, offset_bytes),
                }
            }
        }
    }

    /// Loads 64 bits that are surely there.
    pub fn load_word(&mut self, address: Value, offset_bytes: i32) -> Value {
        self.builder.ins().load(types::I64, MemFlagsData::trusted(), address, offset_bytes)
    }

    /// Loads 64 bits that are there whichever packet runs, and stay what they are while the function
    /// runs.
    pub fn load_lasting(&mut self, address: Value, offset_bytes: i32) -> Value {
        self.builder.ins().load(types::I64, lasting(), address, offset_bytes)
    }

    /// Stores 64 bits.
    pub fn store_word(&mut self, value: Value, address: Value, offset_bytes: i32) {
        self.builder.ins().store(MemFlagsData::trusted(), value, address, offset_bytes);
    }

    /// The address of so many words on the stack, lost when the basic block ends.
    pub fn buffer(&mut self, words: u32) -> Value {
        self.scratch.allocate(&mut self.builder, words)
    }

    /// The address of the surroundings, for a call of the runtime.
    pub fn surroundings(&mut self) -> Value {
        self.publish_length();
        self.load_word(self.pass, offset_of!(Pass, surroundings) as i32)
    }

    /// The type of an operand.
    pub fn operand_type(&self, operand: &Operand) -> ValueType {
        match operand {
            Operand::Constant(bits) => ValueType::Bits(bits.width_bits()),
            Operand::Temp(temp) => self.temp_types[temp.index()],
        }
    }

    /// The value of an operand.
    pub fn operand(&mut self, operand: &Operand) -> Val {
        match operand {
            Operand::Constant(bits) => self.values().constant(bits),
            Operand::Temp(temp) => match self.temps[temp.index()] {
                Some(Known::Val(value)) => value,
                Some(Known::Packet(bits)) => {
                    // Not kept: this may be code that runs under a condition.
                    self.read_packet(bits)
                }
                Some(Known::Test(bits, number)) => {
                    let holds = self.test_packet(bits, number);
                    Val::Word(self.builder.ins().uextend(types::I64, holds))
                }
                // The verifier says that what is used was defined; an unreachable use reads zero.
                None => {
                    let ty = self.temp_types[temp.index()];
                    self.zero(ty)
                }
            },
        }
    }

    /// The value of an operand of at most 64 bits as one word; of a wider one all ones when it does
    /// not fit, which is no index of anything.
    pub fn index_operand(&mut self, operand: &Operand) -> Value {
        let width_bits = self.operand_type(operand).width_bits();
        let value = self.operand(operand);
        self.values().low_word_or_saturated(width_bits, value)
    }

    /// A one-bit operand as a word.
    pub fn truth(&mut self, operand: &Operand) -> Value {
        let value = self.operand(operand);
        self.values().truth(value)
    }

    /// Defines a temporary.
    pub fn define(&mut self, temp: Temp, value: Val) {
        self.temps[temp.index()] = Some(Known::Val(value));
    }

    /// Zero, or the empty varbit.
    pub fn zero(&mut self, ty: ValueType) -> Val {
        match ty {
            ValueType::Bits(width_bits) => self.values().zero(width_bits),
            ValueType::Varbit(_) => {
                let length_bits = self.number(0);
                let words = self.load_lasting(self.instance, offset_of!(Instance, zeros) as i32);
                Val::Varbit { length_bits, words }
            }
        }
    }

    /// Lays values end to end in a buffer on the stack, each as in a packet's storage: words from the
    /// lowest on, a varbit's length before its words. Returns the buffer's address.
    pub fn words_buffer(&mut self, values: &[(ValueType, Val)]) -> Value {
        let words: usize = values.iter().map(|(ty, _)| words_of(*ty)).sum();
        let address = self.buffer(words.max(1) as u32);
        let mut offset_bytes = 0;
        for (ty, value) in values {
            // A varbit's length is in the word before its value.
            let length_bytes = if matches!(ty, ValueType::Varbit(_)) { 8 } else { 0 };
            self.values().store_words(*ty, *value, address, offset_bytes + length_bytes);
            offset_bytes += words_of(*ty) as i32 * 8;
        }
        address
    }

    /// Operands with their types, for [`Self::words_buffer`].
    pub fn operands(&mut self, operands: &[Operand]) -> Vec<(ValueType, Val)> {
        operands.iter().map(|operand| (self.operand_type(operand), self.operand(operand))).collect()
    }

    /// Leaves the whole function with a code, when `condition` is not zero; `detail` goes to the pass.
    pub fn leave_if(&mut self, condition: Value, code: u64, detail: Option<Value>) {
        match self.known_number(condition) {
            Some(0) => return,
            Some(_) => {
                self.leave_now(code, detail);
                return self.begin_dead();
            }
            None => {}
        }
        let leaving = self.builder.create_block();
        let going_on = self.builder.create_block();
        self.builder.ins().brif(condition, leaving, &[], going_on, &[]);
        self.builder.seal_block(leaving);
        self.builder.seal_block(going_on);
        self.builder.set_cold_block(leaving);
        self.builder.switch_to_block(leaving);
        self.leave_now(code, detail);
        self.builder.switch_to_block(going_on);
    }

    /// Leaves the whole function from here.
    pub fn leave_now(&mut self, code: u64, detail: Option<Value>) {
        let is_done =
            (1..u64::from(FIRST_WITHOUT_STORAGE)).contains(&code) || code >= FIRST_RESERVED;
        if is_done && !self.prefetching {
            self.publish_length();
        }
        if let Some(detail) = detail {
            self.store_word(detail, self.pass, offset_of!(Pass, detail) as i32);
        }
        if code >= FIRST_RESERVED {
            let block = self.number(self.block as u64);
            self.store_word(block, self.pass, offset_of!(Pass, block) as i32);
        }
        let is_spilled = code < u64::from(FIRST_WITHOUT_STORAGE) || code == ENDED_NO_ROOM;
        if is_spilled && !self.prefetching {
            self.publish_cursor();
            self.spill();
            self.put_outputs(true);
        }
        let number = code;
        let code = self.number(code);
        let is_counted = (u64::from(FIRST_WITHOUT_STORAGE)..FIRST_RESERVED).contains(&number);
        if is_counted && !self.prefetching && self.facts.is_fresh {
            self.count_end(number);
        }
        match is_done && !self.prefetching {
            true => {
                self.builder.ins().jump(self.leave, &[code.into()]);
            }
            false => self.finish(code),
        }
    }

    /// Ends a packet that is done, of a burst to go on with the next one.
    pub fn finish(&mut self, code: Value) {
        let arguments = [code.into()];
        let given = if self.facts.is_fresh { &[] } else { &arguments[..] };
        self.builder.ins().jump(self.finish, given);
    }

    /// Compares a word with a constant: 1 or 0 in eight bits, as branches take it.
    pub fn compare(&mut self, condition: IntCC, word: Value, constant: u64) -> Value {
        if let Some(known) = self.known_number(word) {
            let holds = match condition {
                IntCC::Equal => Some(known == constant),
                IntCC::NotEqual => Some(known != constant),
                IntCC::UnsignedLessThan => Some(known < constant),
                IntCC::UnsignedLessThanOrEqual => Some(known <= constant),
                IntCC::UnsignedGreaterThan => Some(known > constant),
                IntCC::UnsignedGreaterThanOrEqual => Some(known >= constant),
                _ => None,
            };
            if let Some(holds) = holds {
                return self.builder.ins().iconst(types::I8, i64::from(holds));
            }
        }
        let constant = self.number(constant);
        self.builder.ins().icmp(condition, word, constant)
    }
}

/// Memory that nobody writes while the function runs, at an address that is always valid: what is loaded
/// may be loaded elsewhere instead, and once for all packets.
pub(crate) fn lasting() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

/// Words of a value in a packet's storage, a varbit's length among them.
pub(crate) fn words_of(ty: ValueType) -> usize {
    let words = |width_bits: u32| (width_bits.div_ceil(64) as usize).max(1);
    match ty {
        ValueType::Bits(width_bits) => words(width_bits),
        ValueType::Varbit(width_bits) => 1 + words(width_bits),
    }
}
