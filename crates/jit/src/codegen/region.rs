// SPDX-License-Identifier: Apache-2.0
//! Regions: basic blocks, terminators, loops; and which part of the generator makes the code of which
//! instruction.

use super::facts::stack_headers;
use super::fields::narrow_type;
use super::function::{FunctionCompiler, RaisedError, Site};
use super::path::{Results, Split, Way};
use super::temporaries::Known;
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

/// So many back edges are followed with what is known on each turn, as long as the code stays small.
const MOST_TURNS: u32 = 16;

/// Up to so many cases are turned to the machine's order: turned ones hardly ever follow one another.
const MOST_TURNED_CASES: usize = 4;

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

/// A point of a region from which code goes on, with the temporaries of its basic block.
struct Point {
    at: usize,
    instruction: usize,
    temps: Vec<Option<Known>>,
    mark: ScratchMark,
    /// Results of the application of a table just before.
    results: Option<Results>,
}

/// Ways into basic blocks: by how many back edges were taken before, then by the order of blocks, so
/// that the first of them is reached from nowhere else any more.
type Arrivals = BTreeMap<(u32, usize), Vec<Way>>;

impl<'a> FunctionCompiler<'a, '_> {
    /// Emits a block of the program. The ways on which code goes on, however it ended, each of which
    /// stands for a packet laid out in another way.
    pub fn program_block(&mut self, block: usize) -> Vec<Way> {
        let declared = &self.program.blocks[block];
        self.block = block;
        let outer_ends = std::mem::take(&mut self.ends);
        self.region(declared.region);
        let ends = std::mem::replace(&mut self.ends, outer_ends);
        let mut ways = Vec::new();
        for (ended, code) in [(ends.returned, OUTCOME_RETURNED), (ends.exited, OUTCOME_EXITED)] {
            if self.facts.is_fresh {
                ways.extend(ended);
                continue;
            }
            for way in ended {
                self.enter(way);
                let code = self.number(code);
                self.builder.def_var(self.outcome, code);
                ways.push(self.way());
            }
        }
        let mut rejected = Vec::new();
        for (way, error) in ends.rejected {
            self.enter(way);
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
            rejected.push(self.way());
        }
        // Packets that a parser refuses are seldom, so they go on together.
        if self.may_split && self.copies.allowed(self.step) > 2 {
            let rejected = self.joined(rejected);
            ways = self.grouped(ways);
            ways.extend(rejected);
            ways
        } else {
            ways.extend(rejected);
            self.grouped(ways)
        }
    }

    /// Emits an action's code inline. The ways on which code goes on after `return`; those after `exit`
    /// are with the ends of the region around.
    pub fn action_region(&mut self, region: RegionId) -> Vec<Way> {
        let outer_temps = std::mem::take(&mut self.temps);
        let outer_types = self.temp_types;
        let outer_returned = std::mem::take(&mut self.ends.returned);
        self.region(region);
        self.temps = outer_temps;
        self.temp_types = outer_types;
        std::mem::replace(&mut self.ends.returned, outer_returned)
    }

    /// Emits a region. Its ends are with [`FunctionCompiler::ends`].
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
        self.lookups_ahead = match self.prefetching && !has_cycle {
            true => self.leading_to_lookups(region, &order),
            false => Vec::new(),
        };
        let back_edges = has_cycle.then(|| {
            let variable = self.builder.declare_var(types::I64);
            let zero = self.number(0);
            self.builder.def_var(variable, zero);
            variable
        });
        let outer_splits = std::mem::take(&mut self.splits);
        let mark = self.scratch.mark();
        let mut arrivals = Arrivals::from([((0, 0), vec![self.way()])]);
        while let Some((&(layer, at), _)) = arrivals.first_key_value() {
            if layer > 0 && (layer > MOST_TURNS || self.copies.allowed(self.step) < 2) {
                if let Some(back_edges) = back_edges {
                    let arrivals = std::mem::take(&mut arrivals);
                    self.looping(id, (&order, &position), back_edges, arrivals);
                }
                break;
            }
            let ways = arrivals.remove(&(layer, at)).unwrap_or_default();
            for way in self.grouped(ways) {
                self.enter(way);
                for (next, mut way) in self.basic_block(id, order[at], mark) {
                    if let Some(back_edges) = back_edges
                        && next.index() <= order[at]
                    {
                        self.enter(way);
                        self.count_back_edge(back_edges);
                        way = self.way();
                    }
                    let to = position[next.index()];
                    let layer = if to > at { layer } else { layer + 1 };
                    arrivals.entry((layer, to)).or_default().push(way);
                }
            }
        }
        self.scratch.release(mark);
        self.splits = outer_splits;
    }

    /// Which blocks of a region without cycles a lookup in a table is reached from.
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

    /// Of the two blocks that a condition chooses from, the only one that leads to a lookup, where that is
    /// known: while fetching ahead, lookups that are not made do no harm, and the condition need not be
    /// found out.
    fn leading_to_lookup(&self, then: BlockId, otherwise: BlockId) -> Option<BlockId> {
        let leads = |block: BlockId| self.lookups_ahead.get(block.index()).copied();
        match (leads(then)?, leads(otherwise)?) {
            (true, false) => Some(then),
            (false, true) => Some(otherwise),
            _ => None,
        }
    }

    /// Emits what is reached by back edges as the loops that they are, with what holds on all ways
    /// there and in all turns.
    fn looping(
        &mut self,
        id: RegionId,
        (order, position): (&[usize], &[usize]),
        back_edges: Variable,
        arrivals: Arrivals,
    ) {
        let region = &self.program.regions[id.index()];
        let Some(mut common) = Self::common(arrivals.values().flatten()) else { return };
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
        for ((_, at), ways) in arrivals {
            for way in ways {
                self.enter(way);
                self.settle(&common);
                self.builder.ins().jump(blocks[at], &[]);
            }
        }
        let outer_may_split = std::mem::replace(&mut self.may_split, false);
        let mark = self.scratch.mark();
        for at in (0..order.len()).filter(|at| reached[*at]) {
            self.enter(Way { block: blocks[at], path: common.clone() });
            for (next, way) in self.basic_block(id, order[at], mark) {
                let to = position[next.index()];
                self.enter(way);
                self.settle(&common);
                if next.index() <= order[at] {
                    let count = self.count_back_edge(back_edges);
                    let most = u64::from(STEP_LIMIT);
                    let limit = self.compare(IntCC::UnsignedGreaterThanOrEqual, count, most);
                    self.leave_if(limit, ENDED_STEP_LIMIT, None);
                }
                self.builder.ins().jump(blocks[to], &[]);
            }
        }
        self.may_split = outer_may_split;
        blocks.into_iter().for_each(|block| self.builder.seal_block(block));
    }

    /// Every cycle has an edge that does not go to a later block; those are counted.
    fn count_back_edge(&mut self, back_edges: Variable) -> Value {
        let count = self.builder.use_var(back_edges);
        let count = self.builder.ins().iadd_imm_s(count, 1);
        self.builder.def_var(back_edges, count);
        count
    }

    /// Emits a basic block from its start. The ways out of it that stay in the region.
    fn basic_block(&mut self, id: RegionId, at: usize, mark: ScratchMark) -> Vec<(BlockId, Way)> {
        let region = &self.program.regions[id.index()];
        let mut leading = Vec::new();
        let temps = vec![None; region.temps.len()];
        let mut point = Point { at, instruction: 0, temps, mark, results: None };
        let mut waiting: Vec<(Point, Way)> = Vec::new();
        loop {
            self.part_of_basic_block(id, point, &mut leading, &mut waiting);
            let Some((next, way)) = waiting.pop() else { break };
            self.copies.release(self.step, 1);
            self.enter(way);
            point = next;
        }
        leading
    }

    /// Emits a basic block from some point on. Ways that do not go on with this one wait.
    fn part_of_basic_block(
        &mut self,
        id: RegionId,
        point: Point,
        leading: &mut Vec<(BlockId, Way)>,
        waiting: &mut Vec<(Point, Way)>,
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
            if self.prefetching && is_noticed(&instruction.operation) {
                if let Operation::Apply { table, keys, hit, action } = &instruction.operation {
                    self.prefetch_apply(*table, keys, *hit, *action);
                    continue;
                }
                return self.finish_early();
            }
            let site = Site {
                region: id,
                block: point.at as u32,
                instruction: number as u32,
                origin: instruction.origin,
            };
            self.copies.emitted += 1;
            if let Operation::Apply { hit, action, .. } = &instruction.operation {
                let is_used = |temp: &Temp| {
                    let temp = Operand::Temp(*temp);
                    let after = &block.instructions[number + 1..];
                    after.iter().any(|it| it.operation.operands().contains(&&temp))
                        || block.terminator.operand() == Some(&temp)
                };
                self.tells_apart = (is_used(hit), is_used(action));
            }
            self.instruction(&instruction.operation, site);
            for Split { way, results } in std::mem::take(&mut self.splits) {
                let next = Point {
                    at: point.at,
                    instruction: number + 1,
                    temps: self.temps.clone(),
                    mark: self.scratch.mark(),
                    results: Some(results),
                };
                self.copies.reserve(self.step, 1);
                waiting.push((next, way));
            }
            if self.is_dead {
                return self.end_dead();
            }
        }
        self.copies.emitted += 1;
        match &block.terminator {
            Terminator::Return => {
                let way = self.way();
                self.ends.returned.push(way);
            }
            Terminator::Exit => {
                let way = self.way();
                self.ends.exited.push(way);
            }
            Terminator::Reject(error) => {
                let error = self.index_operand(error);
                let error = match self.known_number(error) {
                    Some(error) => RaisedError::Known(error as u32),
                    None => RaisedError::Value(error),
                };
                let way = self.way();
                self.reject(way, error);
            }
            terminator => self.branch(terminator, leading),
        }
    }

    /// Ends a basic block with a choice of the next.
    fn branch(&mut self, terminator: &Terminator, leading: &mut Vec<(BlockId, Way)>) {
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
                    cases.len() <= MOST_TURNED_CASES
                        && cfg!(target_endian = "little")
                        && bits.offset_bits.is_multiple_of(8)
                        && matches!(bits.width_bits, 16 | 32 | 64)
                }) =>
            {
                // The cases are turned to the machine's order, not what is loaded.
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
            leading.push((next, Way { block, path: self.path.clone() }));
        }
    }

    /// Ends a function that fetches ahead, at an instruction that it does not run.
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

    fn instruction(&mut self, operation: &'a Operation, site: Site) {
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
