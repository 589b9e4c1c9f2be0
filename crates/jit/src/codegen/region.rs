// SPDX-License-Identifier: Apache-2.0
//! Regions: basic blocks, terminators and loops, and the dispatch from instructions to the files that emit
//! them.

use super::facts::stack_headers;
use super::fields::narrow_type;
use super::function::{CallSite, FunctionCompiler, RaisedError};
use super::path::{ApplyResults, Path, SplitPath, UsedResults};
use super::temporaries::TempValue;
use super::values::{ScratchMark, Val};
use crate::runtime::pass::{
    ENDED, ENDED_STEP_LIMIT, OUTCOME_EXITED, OUTCOME_REJECTED, OUTCOME_RETURNED,
};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::{Switch, Variable};
use ir::effects;
use ir::{
    BinaryOperation, BlockId, HeaderRef, Operand, Operation, RegionId, STEP_LIMIT, SlotSet,
    TableId, Temp, Terminator, ValueType,
};
use std::collections::BTreeMap;

/// Iterations of a loop that are unrolled with the facts of each, as long as the budget lasts.
const MAX_UNROLLED_TURNS: u32 = 16;

/// Cases of a switch that are byte-swapped at compile time instead of the loaded value. With more cases a jump
/// table is likely, which byte-swapped cases prevent.
const MAX_SWAPPED_CASES: usize = 4;

/// Whether a function that prefetches has to end before an instruction: the instruction has side effects or
/// depends on tables.
fn stops_prefetching(operation: &Operation) -> bool {
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

/// A point within a basic block from which a pending path continues.
struct ResumePoint {
    at: usize,
    instruction: usize,
    temps: Vec<Option<TempValue>>,
    mark: ScratchMark,
    /// Results of the table application just before.
    results: Option<ApplyResults>,
}

/// Paths into basic blocks that are not emitted yet, by the number of back edges taken, then by reverse
/// postorder. No other path can still reach the first block.
type Arrivals = BTreeMap<(u32, usize), Vec<Path>>;

impl<'a> FunctionCompiler<'a, '_> {
    /// Emits a block of the program. Returns the paths that continue after it, one for each header layout.
    pub fn program_block(&mut self, block: usize) -> Vec<Path> {
        let declared = &self.program.blocks[block];
        self.block = block;
        let outer_exits = std::mem::take(&mut self.exits);
        self.region(declared.region);
        let exits = std::mem::replace(&mut self.exits, outer_exits);
        let mut paths = Vec::new();
        for (ended, code) in [(exits.returned, OUTCOME_RETURNED), (exits.exited, OUTCOME_EXITED)] {
            if self.facts.is_fresh {
                paths.extend(ended);
                continue;
            }
            for path in ended {
                self.enter(path);
                let code = self.number(code);
                self.builder.def_var(self.outcome, code);
                paths.push(self.end_block());
            }
        }
        let mut rejected = Vec::new();
        for (path, error) in exits.rejected {
            self.enter(path);
            let error = match error {
                RaisedError::Known(error) => self.number(u64::from(error)),
                RaisedError::Value(error) => error,
            };
            let code = self.number(OUTCOME_REJECTED);
            let code = self.builder.ins().iadd(code, error);
            self.builder.def_var(self.outcome, code);
            if let Some(slot) = declared.parser_error {
                let width_bits = self.slot_type(slot).width_bits();
                let value = match (self.known_number(error), width_bits) {
                    (Some(error), 0..=64) => {
                        let error = self.number(error & (u64::MAX >> (64 - width_bits.max(1))));
                        Val::Word(error)
                    }
                    (_, 32) => Val::Word(error),
                    (_, 0..32) => self.values().resize(
                        ir::ResizeKind::Truncate,
                        32,
                        width_bits,
                        Val::Word(error),
                    ),
                    _ => self.values().resize(
                        ir::ResizeKind::ZeroExtend,
                        32,
                        width_bits,
                        Val::Word(error),
                    ),
                };
                self.store_slot(slot, value);
            }
            rejected.push(self.end_block());
        }
        // Rejected packets are rare, so their paths are merged.
        if self.may_duplicate && self.budget.allowed(self.step) > 2 {
            let rejected = self.merged(rejected);
            paths = self.merged_by_layout(paths);
            paths.extend(rejected);
            paths
        } else {
            paths.extend(rejected);
            self.merged_by_layout(paths)
        }
    }

    /// Emits an action inline. Returns the paths after `return`; those after `exit` are added to the exits of
    /// the surrounding region.
    pub fn action_region(&mut self, region: RegionId) -> Vec<Path> {
        let outer_temps = std::mem::take(&mut self.temps);
        let outer_types = self.temp_types;
        let outer_returned = std::mem::take(&mut self.exits.returned);
        self.region(region);
        self.temps = outer_temps;
        self.temp_types = outer_types;
        std::mem::replace(&mut self.exits.returned, outer_returned)
    }

    /// Emits a region. The paths that leave it are in [`FunctionCompiler::exits`].
    fn region(&mut self, id: RegionId) {
        let region = &self.program.regions[id.index()];
        let order = ir::control_flow::reverse_postorder(region);
        let mut position = vec![usize::MAX; region.blocks.len()];
        for (at, block) in order.iter().enumerate() {
            position[*block] = at;
        }
        let has_cycle = order.iter().any(|block| {
            let next = region.blocks[*block].terminator.successors();
            next.iter().any(|next| position[next.index()] <= position[*block])
        });
        self.leads_to_lookup = match self.prefetching && !has_cycle {
            true => self.leading_to_lookups(region, &order),
            false => Vec::new(),
        };
        let back_edges = has_cycle.then(|| {
            let variable = self.builder.declare_var(types::I64);
            let zero = self.number(0);
            self.builder.def_var(variable, zero);
            variable
        });
        let outer_splits = std::mem::take(&mut self.split_paths);
        let mark = self.scratch.mark();
        let mut arrivals = Arrivals::from([((0, 0), vec![self.end_block()])]);
        while let Some((&(layer, at), _)) = arrivals.first_key_value() {
            if layer > 0 && (layer > MAX_UNROLLED_TURNS || self.budget.allowed(self.step) < 2) {
                if let Some(back_edges) = back_edges {
                    let arrivals = std::mem::take(&mut arrivals);
                    self.emit_loop(id, (&order, &position), back_edges, arrivals);
                }
                break;
            }
            let paths = arrivals.remove(&(layer, at)).unwrap_or_default();
            for path in self.merged_by_layout(paths) {
                self.enter(path);
                for (next, mut path) in self.basic_block(id, order[at], mark) {
                    if let Some(back_edges) = back_edges
                        && next.index() <= order[at]
                    {
                        self.enter(path);
                        self.count_back_edge(back_edges);
                        path = self.end_block();
                    }
                    let to = position[next.index()];
                    let layer = if to > at { layer } else { layer + 1 };
                    arrivals.entry((layer, to)).or_default().push(path);
                }
            }
        }
        self.scratch.release(mark);
        self.split_paths = outer_splits;
    }

    /// By basic block of a region without cycles: whether a table lookup can follow.
    fn leading_to_lookups(&self, region: &ir::Region, order: &[usize]) -> Vec<bool> {
        let mut leads = vec![false; region.blocks.len()];
        for &at in order.iter().rev() {
            let block = &region.blocks[at];
            let is_lookup = |operation: &Operation| match operation {
                Operation::Apply { table, .. } => self.is_looked_up(*table),
                _ => false,
            };
            leads[at] = block.instructions.iter().any(|it| is_lookup(&it.operation))
                || block.terminator.successors().iter().any(|next| leads[next.index()]);
        }
        leads
    }

    /// The only one of a condition's two targets from which a lookup can follow. A function that prefetches
    /// goes there without evaluating the condition, since a needless prefetch does no harm.
    fn leading_to_lookup(&self, then: BlockId, otherwise: BlockId) -> Option<BlockId> {
        let leads = |block: BlockId| self.leads_to_lookup.get(block.index()).copied();
        match (leads(then)?, leads(otherwise)?) {
            (true, false) => Some(then),
            (false, true) => Some(otherwise),
            _ => None,
        }
    }

    /// Emits the remaining blocks as loops, with the facts that hold on all paths and in all iterations.
    fn emit_loop(
        &mut self,
        id: RegionId,
        (order, position): (&[usize], &[usize]),
        back_edges: Variable,
        arrivals: Arrivals,
    ) {
        let region = &self.program.regions[id.index()];
        let Some(mut common) = Self::common_facts(arrivals.values().flatten()) else { return };
        let mut written = SlotSet::empty(self.program);
        let mut extracted = Vec::new();
        for instruction in region.blocks.iter().flat_map(|block| &block.instructions) {
            match &instruction.operation {
                Operation::Extract { header: HeaderRef::Header(header), .. } => {
                    extracted.push(*header);
                }
                Operation::Extract { header: HeaderRef::Element { stack, .. }, .. } => {
                    extracted.extend(stack_headers(self.program, *stack));
                }
                operation => {
                    if let Operation::ShiftStack { stack, .. } = operation {
                        extracted.extend(stack_headers(self.program, *stack));
                    }
                    written.extend(effects::of_operation(self.program, operation).slots_written());
                }
            }
        }
        common.forget(self.program, &written, &extracted);

        let mut reached = vec![false; order.len()];
        let mut open: Vec<usize> = arrivals.keys().map(|(_, at)| *at).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                let next = region.blocks[order[at]].terminator.successors();
                open.extend(next.into_iter().map(|next| position[next.index()]));
            }
        }
        let blocks: Vec<Block> = order.iter().map(|_| self.builder.create_block()).collect();
        for ((_, at), paths) in arrivals {
            for path in paths {
                self.enter(path);
                self.materialize(&common);
                self.builder.ins().jump(blocks[at], &[]);
            }
        }
        let outer_may_duplicate = std::mem::replace(&mut self.may_duplicate, false);
        let mark = self.scratch.mark();
        for at in (0..order.len()).filter(|at| reached[*at]) {
            self.enter(Path { block: blocks[at], facts: common.clone() });
            for (next, path) in self.basic_block(id, order[at], mark) {
                let to = position[next.index()];
                self.enter(path);
                self.materialize(&common);
                if next.index() <= order[at] {
                    let count = self.count_back_edge(back_edges);
                    let most = u64::from(STEP_LIMIT);
                    let limit = self.compare(IntCC::UnsignedGreaterThanOrEqual, count, most);
                    self.leave_if(limit, ENDED_STEP_LIMIT, None);
                }
                self.builder.ins().jump(blocks[to], &[]);
            }
        }
        self.may_duplicate = outer_may_duplicate;
        blocks.into_iter().for_each(|block| self.builder.seal_block(block));
    }

    /// Counts a back edge: an edge that does not go to a later block. Every cycle has one.
    fn count_back_edge(&mut self, back_edges: Variable) -> Value {
        let count = self.builder.use_var(back_edges);
        let count = self.builder.ins().iadd_imm_s(count, 1);
        self.builder.def_var(back_edges, count);
        count
    }

    /// Emits a basic block. Returns the paths to its successors.
    fn basic_block(&mut self, id: RegionId, at: usize, mark: ScratchMark) -> Vec<(BlockId, Path)> {
        let region = &self.program.regions[id.index()];
        let mut successors = Vec::new();
        let temps = vec![None; region.temps.len()];
        let mut point = ResumePoint { at, instruction: 0, temps, mark, results: None };
        let mut pending: Vec<(ResumePoint, Path)> = Vec::new();
        loop {
            self.part_of_basic_block(id, point, &mut successors, &mut pending);
            let Some((next, path)) = pending.pop() else { break };
            self.budget.release(self.step, 1);
            self.enter(path);
            point = next;
        }
        successors
    }

    /// Emits a basic block from a point on. Paths that continue apart from this one become pending.
    fn part_of_basic_block(
        &mut self,
        id: RegionId,
        point: ResumePoint,
        successors: &mut Vec<(BlockId, Path)>,
        pending: &mut Vec<(ResumePoint, Path)>,
    ) {
        let region = &self.program.regions[id.index()];
        let block = &region.blocks[point.at];
        self.scratch.release(point.mark);
        self.temps = point.temps;
        self.temp_types = &region.temps;
        if let Some(results) = point.results {
            self.define_results(results);
        }
        for (number, instruction) in block.instructions.iter().enumerate().skip(point.instruction) {
            if self.prefetching && stops_prefetching(&instruction.operation) {
                if let Operation::Apply { table, keys, hit, action } = &instruction.operation {
                    self.prefetch_apply(*table, keys, *hit, *action);
                    continue;
                }
                return self.finish_early();
            }
            let site = CallSite {
                region: id,
                block: point.at as u32,
                instruction: number as u32,
                origin: instruction.origin,
            };
            self.budget.emitted += 1;
            if let Operation::Apply { hit, action, .. } = &instruction.operation {
                let is_used = |temp: &Temp| {
                    let temp = Operand::Temp(*temp);
                    let after = &block.instructions[number + 1..];
                    after.iter().any(|it| it.operation.operands().contains(&&temp))
                        || block.terminator.operand() == Some(&temp)
                };
                self.used_results = UsedResults { hit: is_used(hit), action: is_used(action) };
            }
            self.instruction(&instruction.operation, site);
            for SplitPath { path, results } in std::mem::take(&mut self.split_paths) {
                let next = ResumePoint {
                    at: point.at,
                    instruction: number + 1,
                    temps: self.temps.clone(),
                    mark: self.scratch.mark(),
                    results: Some(results),
                };
                self.budget.reserve(self.step, 1);
                pending.push((next, path));
            }
            if self.is_unreachable {
                return self.end_unreachable();
            }
        }
        self.budget.emitted += 1;
        match &block.terminator {
            Terminator::Return => {
                let path = self.end_block();
                self.exits.returned.push(path);
            }
            Terminator::Exit => {
                let path = self.end_block();
                self.exits.exited.push(path);
            }
            Terminator::Reject(error) => {
                let error = self.index_operand(error);
                let error = match self.known_number(error) {
                    Some(error) => RaisedError::Known(error as u32),
                    None => RaisedError::Value(error),
                };
                let path = self.end_block();
                self.reject(path, error);
            }
            terminator => self.branch(terminator, successors),
        }
    }

    /// Ends a basic block with a branch.
    fn branch(&mut self, terminator: &Terminator, successors: &mut Vec<(BlockId, Path)>) {
        let mut edges: Vec<(BlockId, Block)> = Vec::new();
        let mut edge = |compiler: &mut Self, next: BlockId| {
            if let Some((_, block)) = edges.iter().find(|(known, _)| *known == next) {
                return *block;
            }
            let block = compiler.builder.create_block();
            edges.push((next, block));
            block
        };
        match terminator {
            Terminator::Goto(next) => {
                let next = edge(self, *next);
                self.builder.ins().jump(next, &[]);
            }
            Terminator::Branch { condition, then, otherwise } => {
                let only = self.leading_to_lookup(*then, *otherwise);
                let condition = match only {
                    Some(block) => self.number(u64::from(block == *then)),
                    None => self.truth(condition),
                };
                match self.known_number(condition) {
                    Some(known) => {
                        let next = edge(self, if known != 0 { *then } else { *otherwise });
                        self.builder.ins().jump(next, &[]);
                    }
                    None => {
                        let (then, otherwise) = (edge(self, *then), edge(self, *otherwise));
                        self.builder.ins().brif(condition, then, &[], otherwise, &[]);
                    }
                }
            }
            Terminator::Switch { value, cases, default }
                if self.packet_operand(value).is_some_and(|bits| {
                    cases.len() <= MAX_SWAPPED_CASES
                        && cfg!(target_endian = "little")
                        && bits.offset_bits.is_multiple_of(8)
                        && matches!(bits.width_bits, 16 | 32 | 64)
                }) =>
            {
                // Byte-swaps the cases at compile time, not the loaded value.
                let Some(bits) = self.packet_operand(value) else { return };
                let ty = narrow_type(bits.width_bits / 8);
                let first_byte = (bits.offset_bits / 8) as i32;
                let flags = MemFlagsData::trusted();
                let loaded = self.builder.ins().load(ty, flags, bits.address, first_byte);
                let loaded = match bits.width_bits {
                    64 => loaded,
                    _ => self.builder.ins().uextend(types::I64, loaded),
                };
                let mut switch = Switch::new();
                for (case, next) in cases {
                    let next = edge(self, *next);
                    let number = case.low_u64().swap_bytes() >> (64 - bits.width_bits);
                    switch.set_entry(u128::from(number), next);
                }
                let default = edge(self, *default);
                switch.emit(&mut self.builder, loaded, default);
            }
            Terminator::Switch { value, cases, default } => {
                let ty = self.operand_type(value);
                let known = self.operand(value);
                match known {
                    Val::Word(word) => {
                        if let Some(number) = self.known_number(word) {
                            let taken =
                                cases.iter().find(|(case, _)| case.to_u64() == Some(number));
                            let next = edge(self, taken.map_or(*default, |(_, next)| *next));
                            self.builder.ins().jump(next, &[]);
                        } else {
                            let mut switch = Switch::new();
                            for (case, next) in cases {
                                let next = edge(self, *next);
                                switch.set_entry(u128::from(case.low_u64()), next);
                            }
                            let default = edge(self, *default);
                            switch.emit(&mut self.builder, word, default);
                        }
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
                            let next = edge(self, *next);
                            let going_on = self.builder.create_block();
                            self.builder.ins().brif(equal, next, &[], going_on, &[]);
                            self.builder.seal_block(going_on);
                            self.builder.switch_to_block(going_on);
                        }
                        let default = edge(self, *default);
                        self.builder.ins().jump(default, &[]);
                    }
                }
            }
            Terminator::Return | Terminator::Exit | Terminator::Reject(_) => {}
        }
        for (next, block) in edges {
            self.builder.seal_block(block);
            successors.push((next, Path { block, facts: self.path.clone() }));
        }
    }

    /// Ends a function that prefetches, before an instruction that it does not run.
    fn finish_early(&mut self) {
        let code = self.number(ENDED);
        self.finish(code);
    }

    /// `Operation::Apply`
    fn apply(&mut self, table: TableId, keys: &[Operand], hit: Temp, action: Temp) {
        let mut application = self.begin_apply(table, keys, hit, action);
        while let Some(region) = self.next_arm(&mut application) {
            let returned = self.action_region(region);
            application.paths.extend(returned);
        }
        self.end_apply(application);
    }

    fn instruction(&mut self, operation: &'a Operation, site: CallSite) {
        match operation {
            Operation::Unary { .. }
            | Operation::Binary { .. }
            | Operation::Resize { .. }
            | Operation::Slice { .. }
            | Operation::Select { .. } => self.pure(operation),
            Operation::Load { result, place } => self.load(*result, place),
            Operation::Store { place, value } => self.store(place, value),
            Operation::Extract { header, varbit_bits } => {
                self.extract(header, varbit_bits.as_ref());
            }
            Operation::Lookahead { result } => self.lookahead(*result),
            Operation::Advance { bits } => self.advance(bits),
            Operation::PacketLength { result } => self.packet_length(*result),
            Operation::Emit { header } => self.emit(header, site),
            Operation::ShiftStack { stack, by } => self.shift_stack(*stack, *by),
            Operation::Apply { table, keys, hit, action } => {
                self.apply(*table, keys, *hit, *action);
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
            Operation::Random { result, low, high, site } => {
                self.random(*result, low, high, site);
            }
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
