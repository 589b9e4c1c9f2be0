// SPDX-License-Identifier: Apache-2.0
//! Regions: basic blocks, terminators, loops; and which part of the generator makes the code of which
//! instruction.

use super::fields::Pristine;
use super::function::{Ends, FunctionCompiler, Known, Site};
use super::values::Val;
use crate::runtime::pass::{ENDED, ENDED_STEP_LIMIT};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types};
use cranelift_frontend::Switch;
use ir::{BinaryOperation, BlockId, Operation, RegionId, STEP_LIMIT, Terminator, ValueType};

/// How a region was left, as far as fields in the packet go.
#[derive(Debug, Default)]
struct EndStates {
    returned: Vec<Pristine>,
    otherwise: Vec<Pristine>,
}

/// Whether others notice that an instruction ran, or its run depends on tables.
fn is_noticed(operation: &Operation) -> bool {
    !matches!(
        operation,
        Operation::Unary { .. }
            | Operation::Binary { .. }
            | Operation::Resize { .. }
            | Operation::Slice { .. }
            | Operation::Select { .. }
            | Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Extract { .. }
            | Operation::Lookahead { .. }
            | Operation::Advance { .. }
            | Operation::PacketLength { .. }
            | Operation::ShiftStack { .. }
            | Operation::ValueSetContains { .. }
            | Operation::Hash { .. }
    )
}

impl<'a> FunctionCompiler<'a, '_> {
    /// Emits a block of the program; afterwards code goes on in `joined`, however it ended. The
    /// outcome's block parameter is the error of a parser that rejected.
    pub fn program_block(&mut self, block: usize) {
        let declared = &self.program.blocks[block];
        self.block = block;
        let returned = self.builder.create_block();
        let exited = self.builder.create_block();
        let rejected = self.builder.create_block();
        self.builder.append_block_param(rejected, types::I64);
        let joined = self.builder.create_block();
        let outcome = self.builder.append_block_param(joined, types::I64);
        let ends = Ends { returned, exited, rejected: Some(rejected) };
        let states = self.region(declared.region, ends);
        let parser_error = declared.parser_error;
        for (end, code) in [
            (returned, crate::runtime::pass::OUTCOME_RETURNED),
            (exited, crate::runtime::pass::OUTCOME_EXITED),
            (rejected, crate::runtime::pass::OUTCOME_REJECTED),
        ] {
            self.builder.seal_block(end);
            self.builder.switch_to_block(end);
            let mut code = self.number(code);
            if end == rejected {
                let error = self.builder.block_params(rejected)[0];
                code = self.builder.ins().iadd(code, error);
                if let Some(slot) = parser_error {
                    let width_bits = self.slot_type(slot).width_bits();
                    let error = Val::Word(error);
                    let value = match width_bits {
                        32 => error,
                        0..32 => {
                            self.values().resize(ir::ResizeKind::Truncate, 32, width_bits, error)
                        }
                        _ => {
                            self.values().resize(ir::ResizeKind::ZeroExtend, 32, width_bits, error)
                        }
                    };
                    self.write_home(slot, value);
                }
            }
            self.builder.ins().jump(joined, &[code.into()]);
        }
        self.builder.seal_block(joined);
        self.builder.switch_to_block(joined);
        self.last_outcome = Some(outcome);
        let all = states.returned.into_iter().chain(states.otherwise);
        self.pristine = Pristine::join(all).unwrap_or_else(|| self.unreached());
        if let Some(slot) = parser_error {
            self.pristine.written(slot);
        }
    }

    /// Emits an action's code inline. After `return` it goes on in `joined`, after `exit` in
    /// `exited`. The set of pristine fields is that after `return`.
    pub fn action_region(&mut self, region: RegionId, exited: Block, joined: Block) {
        let returned = self.builder.create_block();
        let ends = Ends { returned, exited, rejected: None };
        let outer_temps = std::mem::take(&mut self.temps);
        let outer_types = self.temp_types;
        let states = self.region(region, ends);
        self.temps = outer_temps;
        self.temp_types = outer_types;
        self.builder.seal_block(returned);
        self.builder.switch_to_block(returned);
        self.builder.ins().jump(joined, &[]);
        self.exit_states.extend(states.otherwise);
        self.pristine = Pristine::join(states.returned).unwrap_or_else(|| self.unreached());
    }

    /// Emits a region. Its ends are jumped to, not sealed.
    fn region(&mut self, id: RegionId, ends: Ends) -> EndStates {
        let region = &self.program.regions[id.index()];
        let count = region.blocks.len();
        let starts = Pristine::flow(self.program, self.facts, region, &self.pristine);
        let blocks: Vec<Block> = (0..count).map(|_| self.builder.create_block()).collect();
        let has_back_edges = region.blocks.iter().enumerate().any(|(at, block)| {
            starts[at].is_some()
                && block.terminator.successors().iter().any(|next| next.index() <= at)
        });
        let back_edges = has_back_edges.then(|| {
            let variable = self.builder.declare_var(types::I64);
            let zero = self.number(0);
            self.builder.def_var(variable, zero);
            variable
        });
        // How many ways into each block are not emitted yet.
        let mut open_ways = vec![0usize; count];
        open_ways[0] += 1;
        for (at, block) in region.blocks.iter().enumerate() {
            if starts[at].is_some() {
                for next in block.terminator.successors() {
                    open_ways[next.index()] += 1;
                }
            }
        }
        self.builder.ins().jump(blocks[0], &[]);
        open_ways[0] -= 1;
        let mark = self.scratch.mark();
        let outer_exits = std::mem::take(&mut self.exit_states);
        let mut states = EndStates::default();
        for at in ir::control_flow::reverse_postorder(region) {
            let Some(start) = starts[at].clone() else { continue };
            let block = &region.blocks[at];
            if open_ways[at] == 0 {
                self.builder.seal_block(blocks[at]);
            }
            self.builder.switch_to_block(blocks[at]);
            self.scratch.release(mark);
            self.pristine = start;
            self.temps.clear();
            self.temps.resize(region.temps.len(), None);
            self.temp_types = &region.temps;
            let mut is_cut = false;
            for (number, instruction) in block.instructions.iter().enumerate() {
                if self.prefetching && is_noticed(&instruction.operation) {
                    self.cut(&instruction.operation);
                    is_cut = true;
                    break;
                }
                let site = Site {
                    region: id,
                    block: at as u32,
                    instruction: number as u32,
                    origin: instruction.origin,
                };
                self.instruction(&instruction.operation, site, &ends);
            }
            match &block.terminator {
                _ if is_cut => {}
                Terminator::Return => {
                    states.returned.push(self.pristine.clone());
                    self.builder.ins().jump(ends.returned, &[]);
                }
                Terminator::Exit => {
                    states.otherwise.push(self.pristine.clone());
                    self.builder.ins().jump(ends.exited, &[]);
                }
                Terminator::Reject(error) => {
                    let error = self.index_operand(error);
                    self.reject(error, &ends);
                }
                terminator => self.branch(terminator, at, &blocks, back_edges),
            }
            for next in block.terminator.successors() {
                open_ways[next.index()] -= 1;
                // A block that was emitted before is the head of a loop; it is sealed by its last
                // way.
                let is_emitted = self.builder.func.layout.is_block_inserted(blocks[next.index()]);
                if open_ways[next.index()] == 0 && is_emitted {
                    self.builder.seal_block(blocks[next.index()]);
                }
            }
        }
        states.otherwise.append(&mut self.exit_states);
        self.exit_states = outer_exits;
        states
    }

    /// Ends a parser with an error.
    pub fn reject(&mut self, error: cranelift_codegen::ir::Value, ends: &Ends) {
        self.exit_states.push(self.pristine.clone());
        match ends.rejected {
            Some(rejected) => self.builder.ins().jump(rejected, &[error.into()]),
            None => self.builder.ins().jump(ends.exited, &[]),
        };
    }

    /// Ends a parser with an error when a condition holds.
    pub fn reject_if(&mut self, condition: cranelift_codegen::ir::Value, error: u32, ends: &Ends) {
        let failing = self.builder.create_block();
        let going_on = self.builder.create_block();
        self.builder.ins().brif(condition, failing, &[], going_on, &[]);
        self.builder.seal_block(failing);
        self.builder.seal_block(going_on);
        self.builder.set_cold_block(failing);
        self.builder.switch_to_block(failing);
        let error = self.number(u64::from(error));
        self.reject(error, ends);
        self.builder.switch_to_block(going_on);
    }

    fn branch(
        &mut self,
        terminator: &Terminator,
        at: usize,
        blocks: &[Block],
        back_edges: Option<cranelift_frontend::Variable>,
    ) {
        // Where an edge leads: to the block, or through a count of back edges.
        let mut counted = Vec::new();
        let mut target = |compiler: &mut Self, next: BlockId| {
            if next.index() > at {
                return blocks[next.index()];
            }
            let through = compiler.builder.create_block();
            counted.push((through, next));
            through
        };
        match terminator {
            Terminator::Goto(next) => {
                let next = target(self, *next);
                self.builder.ins().jump(next, &[]);
            }
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.truth(condition);
                let (then, otherwise) = (target(self, *then), target(self, *otherwise));
                self.builder.ins().brif(condition, then, &[], otherwise, &[]);
            }
            Terminator::Switch { value, cases, default } => {
                let ty = self.operand_type(value);
                let known = self.operand(value);
                match known {
                    Val::Word(word) => {
                        let mut switch = Switch::new();
                        for (case, next) in cases {
                            let next = target(self, *next);
                            switch.set_entry(u128::from(case.low_u64()), next);
                        }
                        let default = target(self, *default);
                        switch.emit(&mut self.builder, word, default);
                    }
                    known => {
                        for (case, next) in cases {
                            let constant = self.values().constant(case);
                            let ty_of_case = ValueType::Bits(case.width_bits());
                            let equal = self.values().binary(
                                BinaryOperation::Equal,
                                (ty, known),
                                (ty_of_case, constant),
                            );
                            let equal = self.values().truth(equal);
                            let next = target(self, *next);
                            let going_on = self.builder.create_block();
                            self.builder.ins().brif(equal, next, &[], going_on, &[]);
                            self.builder.seal_block(going_on);
                            self.builder.switch_to_block(going_on);
                        }
                        let default = target(self, *default);
                        self.builder.ins().jump(default, &[]);
                    }
                }
            }
            Terminator::Return | Terminator::Exit | Terminator::Reject(_) => {}
        }
        for (through, next) in counted {
            self.builder.seal_block(through);
            self.builder.switch_to_block(through);
            if let Some(variable) = back_edges {
                let count = self.builder.use_var(variable);
                let count = self.builder.ins().iadd_imm_s(count, 1);
                self.builder.def_var(variable, count);
                let limit =
                    self.compare(IntCC::UnsignedGreaterThanOrEqual, count, u64::from(STEP_LIMIT));
                self.leave_if(limit, ENDED_STEP_LIMIT, None);
            }
            self.builder.ins().jump(blocks[next.index()], &[]);
        }
    }

    /// Instructions that read and define temporaries only.
    pub fn pure(&mut self, operation: &Operation) {
        let (result, value) = match operation {
            Operation::Unary { result, operation, operand } => {
                let width_bits = self.operand_type(operand).width_bits();
                let operand = self.operand(operand);
                (*result, self.values().unary(*operation, width_bits, operand))
            }
            Operation::Binary { result, operation, left, right } => {
                let types = (self.operand_type(left), self.operand_type(right));
                let (left, right) = (self.operand(left), self.operand(right));
                (*result, self.values().binary(*operation, (types.0, left), (types.1, right)))
            }
            Operation::Resize { result, kind, operand } => {
                let from_bits = self.operand_type(operand).width_bits();
                let to_bits = self.temp_types[result.index()].width_bits();
                let operand = self.operand(operand);
                (*result, self.values().resize(*kind, from_bits, to_bits, operand))
            }
            Operation::Slice { result, operand, high, low } => {
                if let Some(Known::Packet(mut bits)) = self.known(operand) {
                    // A slice of a field in the packet is in the packet too.
                    bits.offset_bits += bits.width_bits - 1 - high;
                    bits.width_bits = high - low + 1;
                    self.temps[result.index()] = Some(Known::Packet(bits));
                    return;
                }
                let from_bits = self.operand_type(operand).width_bits();
                let operand = self.operand(operand);
                (*result, self.values().slice(from_bits, *high, *low, operand))
            }
            Operation::Select { result, condition, then, otherwise } => {
                let condition = self.truth(condition);
                let ty = self.temp_types[result.index()];
                let (then, otherwise) = (self.operand(then), self.operand(otherwise));
                (*result, self.values().select(condition, ty, then, otherwise))
            }
            _ => return,
        };
        self.define(result, value);
    }

    /// Ends a function that fetches ahead, at an instruction that it does not run.
    fn cut(&mut self, operation: &Operation) {
        match operation {
            Operation::Apply { table, keys, .. } => self.prefetch_apply(*table, keys),
            _ => {
                let code = self.number(ENDED);
                self.builder.ins().jump(self.finish, &[code.into()]);
            }
        }
    }

    fn known(&self, operand: &ir::Operand) -> Option<Known> {
        match operand {
            ir::Operand::Temp(temp) => self.temps[temp.index()].clone(),
            ir::Operand::Constant(_) => None,
        }
    }

    fn instruction(&mut self, operation: &'a Operation, site: Site, ends: &Ends) {
        match operation {
            Operation::Unary { .. }
            | Operation::Binary { .. }
            | Operation::Resize { .. }
            | Operation::Slice { .. }
            | Operation::Select { .. } => self.pure(operation),
            Operation::Load { result, place } => self.load(*result, place),
            Operation::Store { place, value } => self.store(place, value),
            Operation::Extract { header, varbit_bits } => {
                self.extract(header, varbit_bits.as_ref(), ends);
            }
            Operation::Lookahead { result } => self.lookahead(*result, ends),
            Operation::Advance { bits } => self.advance(bits, ends),
            Operation::PacketLength { result } => self.packet_length(*result),
            Operation::Emit { header } => self.emit(header),
            Operation::ShiftStack { stack, by } => self.shift_stack(*stack, *by),
            Operation::Apply { table, keys, hit, action } => {
                self.apply(*table, keys, *hit, *action, ends.exited);
            }
            Operation::RegisterAccess { register, index, guard, old, update } => {
                self.register_access(*register, index, guard.as_ref(), *old, update.as_ref());
            }
            Operation::Count { counter, index } => self.count(*counter, index),
            Operation::Meter { meter, index, result } => self.meter(*meter, index, *result),
            Operation::CountDirect { counter } => self.count_direct(*counter),
            Operation::MeterDirect { meter, result } => self.meter_direct(*meter, *result),
            Operation::ValueSetContains { result, set, keys } => {
                self.value_set_contains(*result, *set, keys);
            }
            Operation::Hash { result, algorithm, inputs, payload } => {
                self.hash(*result, *algorithm, inputs, *payload);
            }
            Operation::Random { result, low, high } => self.random(*result, low, high, site),
            Operation::Request { request, arguments } => self.request(*request, arguments),
            Operation::Log { arguments, .. } => self.log(arguments, site),
            Operation::Assert { condition, is_assume } => {
                self.assert(condition, *is_assume, site);
            }
            Operation::CallExtern { arguments, results, .. } => {
                self.call_extern(arguments, results, site);
            }
        }
    }
}
