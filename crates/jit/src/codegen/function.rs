// SPDX-License-Identifier: Apache-2.0
//! `FunctionCompiler`: the function under construction, and the primitives that emit words, memory accesses,
//! calls of the runtime and basic blocks. Values of the IR are in `operands` and `slots`.

use super::batched_lookups::Lookups;
use super::burst_loop::{Loop, Output, load_own};
use super::call::{RuntimeFunction, SeldomCalls, Signatures, seldom_signature};
use super::code_budget::Copies;
use super::facts::Facts;
use super::path::{Path, Split, Way};
use super::temporaries::Known;
use super::values::{ConstantPool, ScratchSlots, Values, lasting};
use crate::runtime::pass::{Pass, Received};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, TrapCode, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use ir::{Program, RegionId, SlotId, StorageLayout, ValueType};
use std::collections::HashMap;
use std::mem::offset_of;

/// A way that stops being one: what comes after it is never reached.
const NEVER_REACHED: u8 = 1;

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

    /// Calls a function of the runtime that has a result.
    pub(super) fn call_for_word(
        &mut self,
        function: super::call::RuntimeFunction,
        arguments: &[Value],
    ) -> Value {
        match self.call(function, arguments) {
            Some(result) => result,
            None => self.number(0),
        }
    }

    /// Calls a function of the runtime where code hardly ever comes.
    pub fn call_seldom(&mut self, function: RuntimeFunction, arguments: &[Value]) -> Option<Value> {
        let kind = (function.parameters, function.has_result);
        let Some(address) = self.seldom.addresses.get(&kind) else {
            return self.call(function, arguments);
        };
        let signature = self.builder.import_signature(seldom_signature(kind));
        let mut all = vec![self.number(function.address as u64)];
        all.extend_from_slice(arguments);
        // A place in the pass needs no register before it is wanted.
        let offset = offset_of!(Pass, answer);
        let place = self.builder.ins().iadd_imm_s(self.pass, offset as i64);
        all.extend(function.has_result.then_some(place));
        let address = self.number(*address as u64);
        self.builder.ins().call_indirect(signature, address, &all);
        function.has_result.then(|| self.load_word(self.pass, offset as i32))
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

    /// Lets the pass know how long the packet of a burst is that runs, for the runtime and whoever goes
    /// on after an exit.
    pub fn publish_length(&mut self) {
        if self.facts.is_fresh {
            let length = self.length_bytes;
            self.store_word(length, self.pass, offset_of!(Pass, length_bytes) as i32);
        }
    }

    /// Input 0 of the packet of a burst that runs.
    pub fn own_input(&mut self) -> Value {
        load_own(&mut self.builder, self.received, offset_of!(Received, input))
    }

    /// The number that a value is known to be.
    pub fn known_number(&mut self, value: Value) -> Option<u64> {
        self.values().known_word(value)
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

    /// Keeps the low bits of a word.
    pub fn mask(&mut self, word: Value, width_bits: u32) -> Value {
        match width_bits {
            0 => self.number(0),
            1..64 => {
                let mask = self.number(u64::MAX >> (64 - width_bits));
                self.builder.ins().band(word, mask)
            }
            _ => word,
        }
    }

    /// Type of a slot.
    pub fn slot_type(&self, slot: SlotId) -> ValueType {
        self.program.slots[slot.index()].ty
    }

    /// Begins code that runs only when the condition holds, up to [`Self::go_on`].
    pub fn when(&mut self, condition: Value) -> Block {
        let inside = self.builder.create_block();
        let joined = self.builder.create_block();
        self.builder.ins().brif(condition, inside, &[], joined, &[]);
        self.builder.seal_block(inside);
        self.builder.switch_to_block(inside);
        joined
    }

    /// Ends what [`Self::when`] began.
    pub fn go_on(&mut self, joined: Block) {
        self.builder.ins().jump(joined, &[]);
        self.builder.seal_block(joined);
        self.builder.switch_to_block(joined);
    }

    pub(super) fn switch_to_sealed(&mut self, block: Block) {
        self.builder.seal_block(block);
        self.builder.switch_to_block(block);
    }

    /// Ends the running block with a jump to a new one.
    pub fn way(&mut self) -> Way {
        let block = self.builder.create_block();
        self.builder.ins().jump(block, &[]);
        self.builder.seal_block(block);
        Way { block, path: self.path.clone() }
    }

    /// Goes on there.
    pub fn enter(&mut self, way: Way) {
        self.builder.switch_to_block(way.block);
        self.path = way.path;
        self.is_dead = false;
    }

    /// What follows is not reached, as the running block is filled. Code may still be emitted, for
    /// nobody, up to [`Self::end_dead`].
    pub fn begin_dead(&mut self) {
        let block = self.builder.create_block();
        self.builder.seal_block(block);
        self.builder.switch_to_block(block);
        self.is_dead = true;
    }

    /// Ends code that is not reached.
    pub fn end_dead(&mut self) {
        if let Some(code) = TrapCode::user(NEVER_REACHED) {
            self.builder.ins().trap(code);
        }
    }
}
