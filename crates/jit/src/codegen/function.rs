// SPDX-License-Identifier: Apache-2.0
//! `FunctionCompiler`: the function under construction, and the primitives that emit words, memory accesses,
//! calls of the runtime and basic blocks. Values of the IR are in `operands` and `slots`.

use super::batched_lookups::BatchedLookups;
use super::burst_loop::{Loop, Output, load_received};
use super::call::{PreserveAllCalls, Signatures, preserve_all_signature};
use super::code_budget::CodeBudget;
use super::facts::Facts;
use super::path::{Path, PathFacts, SplitPath, UsedResults};
use super::temporaries::TempValue;
use super::values::{ConstantPool, ScratchSlots, Values, readonly};
use crate::runtime::RuntimeFunction;
use crate::runtime::pass::{Pass, Received};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, TrapCode, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use ir::{Program, RegionId, SlotId, StorageLayout, ValueType};
use std::collections::HashMap;
use std::mem::offset_of;

/// Trap code after a path that ended.
const UNREACHABLE: u8 = 1;

/// Where the function keeps a slot.
#[derive(Clone, Debug)]
pub(crate) enum SlotLocation {
    /// In variables, one for each word.
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

/// The paths that leave a region.
#[derive(Debug, Default)]
pub(crate) struct RegionExits {
    /// After `return` or `accept`.
    pub returned: Vec<Path>,
    /// After `exit`, also that of an action.
    pub exited: Vec<Path>,
    /// After a parser's error.
    pub rejected: Vec<(Path, RaisedError)>,
}

/// The place of an instruction in the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    /// Region.
    pub region: RegionId,
    /// Basic block.
    pub block: u32,
    /// Instruction.
    pub instruction: u32,
    /// Its origin.
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
    /// Functions for calls from cold code.
    pub preserve_all_calls: &'a PreserveAllCalls,
    /// `*mut Pass`
    pub pass: Value,
    /// `*const Instance`, which follows the pass in memory.
    pub instance: Value,
    /// Address of the packet.
    pub packet: Value,
    /// Its length in bytes.
    pub length_bytes: Value,
    /// Address of the packet's `Received`, in a burst.
    pub received: Value,
    /// Whether packet and length were reloaded for this path: see [`FunctionCompiler::reload_packet`].
    pub is_duplicated: bool,
    /// Address of the storage, in a unit that keeps it; others load it where they use it.
    pub storage: Option<Value>,
    /// The cursor in bytes. When some header has no whole number of bytes, the pass keeps the cursor instead.
    pub cursor_bytes: Variable,
    /// Address of each header where it was extracted, for headers that stay in the packet.
    pub header_addresses: HashMap<ir::HeaderId, Variable>,
    /// Where the function keeps each slot.
    pub slot_locations: Vec<SlotLocation>,
    /// Facts at this point.
    pub path: PathFacts,
    /// Whether no path reaches this point.
    pub is_unreachable: bool,
    /// Whether paths may be duplicated instead of merged.
    pub may_duplicate: bool,
    /// How much code duplicated paths may make.
    pub budget: CodeBudget,
    /// Paths that leave the region under construction.
    pub exits: RegionExits,
    /// Paths that continue after the instruction under construction, apart from the current one.
    pub split_paths: Vec<SplitPath>,
    /// Results of the application under construction that later code uses.
    pub used_results: UsedResults,
    /// Stacks with run-time indices that are not constant, although the unit's facts assume so.
    pub unresolved: Vec<ir::StackId>,
    /// Temporaries of the region under construction.
    pub temps: Vec<Option<TempValue>>,
    /// Types of these temporaries.
    pub temp_types: &'a [ValueType],
    /// The record of the entry whose action is under construction, and its table.
    pub entry: Option<(Value, ir::TableId)>,
    /// Whether the packet has pending requests.
    pub has_requests: Variable,
    /// Index of the program's block under construction.
    pub block: usize,
    /// How the last block of the program ended, as a number; in units whose storage is kept.
    pub outcome: Variable,
    /// Whether the in-place deparser emitted each header: one variable for each emission.
    pub emitted: Vec<Variable>,
    /// Whether this function only prefetches what the unit's first lookups read. It ends before any side
    /// effect.
    pub prefetching: bool,
    /// In a function that prefetches: by basic block of the region under construction, whether a lookup can
    /// follow. Empty in regions with cycles.
    pub leads_to_lookup: Vec<bool>,
    /// Lookups with keys from the received packet, so far.
    pub lookups: BatchedLookups,
    /// Whether another function may make lookups for the whole burst before.
    pub may_batch: bool,
    /// Values that are low bits of input 0.
    pub packet_inputs: Vec<Value>,
    /// Outputs so far.
    pub outputs: Vec<Output>,
    /// Which step of the unit is under construction.
    pub step: usize,
    /// Where the function returns: a block with one parameter, the code.
    pub leave: Block,
    /// The loop over the packets of a burst.
    pub burst_loop: Option<Loop>,
    /// Where a finished packet jumps to: in a burst the code that takes the next packet, else a block with one
    /// parameter, the code.
    pub finish: Block,
    /// Constants wider than 128 bits, which live as long as the code.
    pub constants: &'a mut ConstantPool,
    /// Stack buffers; basic blocks reuse them.
    pub scratch: ScratchSlots,
}

impl<'a, 'b> FunctionCompiler<'a, 'b> {
    /// The emitter of arithmetic.
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
        function: RuntimeFunction,
        arguments: &[Value],
    ) -> Value {
        match self.call(function, arguments) {
            Some(result) => result,
            None => self.number(0),
        }
    }

    /// Calls a function of the runtime from cold code.
    pub fn call_preserving_all(
        &mut self,
        function: RuntimeFunction,
        arguments: &[Value],
    ) -> Option<Value> {
        let kind = (function.parameters, function.has_result);
        let Some(address) = self.preserve_all_calls.addresses.get(&kind) else {
            return self.call(function, arguments);
        };
        let signature = self.builder.import_signature(preserve_all_signature(kind));
        let mut all = vec![self.number(function.address as u64)];
        all.extend_from_slice(arguments);
        // The result goes through the pass, so no register is reserved for its address.
        let offset = offset_of!(Pass, preserved_result);
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

    /// Address of the storage. Small units rarely use it and load it where they do; large units load it once.
    pub fn storage(&mut self) -> Value {
        match self.storage {
            Some(storage) => storage,
            None => {
                let offset_bytes = offset_of!(Pass, storage) as i32;
                match self.facts.is_large {
                    true => self.load_readonly(self.pass, offset_bytes),
                    false => self.load_word(self.pass, offset_bytes),
                }
            }
        }
    }

    /// Loads 64 bits from a valid address.
    pub fn load_word(&mut self, address: Value, offset_bytes: i32) -> Value {
        self.builder.ins().load(types::I64, MemFlagsData::trusted(), address, offset_bytes)
    }

    /// Loads 64 bits that are valid for every packet and constant while the function runs.
    pub fn load_readonly(&mut self, address: Value, offset_bytes: i32) -> Value {
        self.builder.ins().load(types::I64, readonly(), address, offset_bytes)
    }

    /// Stores 64 bits.
    pub fn store_word(&mut self, value: Value, address: Value, offset_bytes: i32) {
        self.builder.ins().store(MemFlagsData::trusted(), value, address, offset_bytes);
    }

    /// Allocates words on the stack until the end of the basic block; returns their address.
    pub fn buffer(&mut self, words: u32) -> Value {
        self.scratch.allocate(&mut self.builder, words)
    }

    /// The address of the `RuntimeContext`, for a call of the runtime.
    pub fn runtime_context(&mut self) -> Value {
        self.publish_length();
        self.load_word(self.pass, offset_of!(Pass, runtime_context) as i32)
    }

    /// Stores the running packet's length in the pass, for the runtime and for the caller after an exit.
    pub fn publish_length(&mut self) {
        if self.facts.is_fresh {
            let length = self.length_bytes;
            self.store_word(length, self.pass, offset_of!(Pass, length_bytes) as i32);
        }
    }

    /// Input 0 of the running packet of a burst.
    pub fn packet_input(&mut self) -> Value {
        load_received(&mut self.builder, self.received, offset_of!(Received, input))
    }

    /// The value of a constant.
    pub fn known_number(&mut self, value: Value) -> Option<u64> {
        self.values().known_word(value)
    }

    /// Compares a word with a constant. Returns 1 or 0 in eight bits, as branches take it.
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

    /// Begins code that runs only when the condition holds, up to [`Self::end_if`].
    pub fn begin_if(&mut self, condition: Value) -> Block {
        let inside = self.builder.create_block();
        let joined = self.builder.create_block();
        self.builder.ins().brif(condition, inside, &[], joined, &[]);
        self.builder.seal_block(inside);
        self.builder.switch_to_block(inside);
        joined
    }

    /// Ends code that [`Self::begin_if`] began.
    pub fn end_if(&mut self, joined: Block) {
        self.builder.ins().jump(joined, &[]);
        self.builder.seal_block(joined);
        self.builder.switch_to_block(joined);
    }

    pub(super) fn switch_to_sealed(&mut self, block: Block) {
        self.builder.seal_block(block);
        self.builder.switch_to_block(block);
    }

    /// Ends the current block with a jump to a new one. Returns the path that continues there.
    pub fn end_block(&mut self) -> Path {
        let block = self.builder.create_block();
        self.builder.ins().jump(block, &[]);
        self.builder.seal_block(block);
        Path { block, facts: self.path.clone() }
    }

    /// Continues on a path.
    pub fn enter(&mut self, path: Path) {
        self.builder.switch_to_block(path.block);
        self.path = path.facts;
        self.is_unreachable = false;
    }

    /// Begins unreachable code after the current block was ended. Callers may emit instructions up to
    /// [`Self::end_unreachable`]; they never run.
    pub fn begin_unreachable(&mut self) {
        let block = self.builder.create_block();
        self.builder.seal_block(block);
        self.builder.switch_to_block(block);
        self.is_unreachable = true;
    }

    /// Ends unreachable code.
    pub fn end_unreachable(&mut self) {
        if let Some(code) = TrapCode::user(UNREACHABLE) {
            self.builder.ins().trap(code);
        }
    }
}
