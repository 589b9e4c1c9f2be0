// SPDX-License-Identifier: Apache-2.0
//! Passes keep the meaning of programs: random programs of branches, loops, slots, registers, requests
//! and a table are run before and after each pass by a small evaluator, and everything observable has
//! to be equal. The evaluator follows the documentation of the instructions and knows only those that
//! are generated here.

use ir::*;
use proptest::prelude::*;
use source::Span;
use std::collections::HashMap;
use testing::Choices;

/// Slots 0 to 2 of 8 bits and 6 of 1 bit are observed; 3 to 5 and 7 are local to the control; 8 is the
/// action's parameter.
const WIDTHS: [u32; 9] = [8, 8, 8, 8, 8, 8, 1, 1, 8];
const OBSERVED: [u32; 4] = [0, 1, 2, 6];
const PARAMETER: u32 = 8;
/// More blocks than this are not run.
const RUN_LIMIT: usize = 64;

/// A basic block under construction.
struct Draw<'a> {
    choices: &'a mut Choices,
    types: &'a mut Vec<ValueType>,
    /// Temporaries that may be used.
    visible: Vec<Temp>,
    instructions: Vec<Instruction>,
    may_apply: bool,
    /// Only what can be turned into straight code.
    tame: bool,
}

impl Draw<'_> {
    fn temp(&mut self, width: u32) -> Temp {
        self.types.push(ValueType::Bits(width));
        Temp(self.types.len() as u32 - 1)
    }

    fn push(&mut self, operation: Operation) {
        self.visible.extend(operation.results());
        self.instructions.push(Instruction { operation, origin: OriginId(0) });
    }

    fn operand(&mut self, width: u32) -> Operand {
        let fitting: Vec<Temp> = self
            .visible
            .iter()
            .copied()
            .filter(|temp| self.types[temp.index()] == ValueType::Bits(width))
            .collect();
        if fitting.is_empty() || self.choices.below(4) == 0 {
            Operand::Constant(Bits::from_u64(width, self.choices.below(4) as u64))
        } else {
            Operand::Temp(fitting[self.choices.below(fitting.len())])
        }
    }

    fn slot(&mut self) -> (SlotId, u32) {
        let slot = self.choices.below(8);
        (SlotId(slot as u32), WIDTHS[slot])
    }

    fn pure(&mut self) -> Operation {
        let binary = |draw: &mut Self, operation, width, result_width| Operation::Binary {
            left: draw.operand(width),
            right: draw.operand(width),
            result: draw.temp(result_width),
            operation,
        };
        match self.choices.below(12) {
            0 => binary(self, BinaryOperation::Add, 8, 8),
            1 => binary(self, BinaryOperation::Subtract, 8, 8),
            2 => binary(self, BinaryOperation::AddSaturatingUnsigned, 8, 8),
            3 => binary(self, BinaryOperation::Multiply, 8, 8),
            4 => binary(self, BinaryOperation::LessUnsigned, 8, 1),
            5 => binary(self, BinaryOperation::Equal, 8, 1),
            6 => binary(self, BinaryOperation::And, 1, 1),
            7 => binary(self, BinaryOperation::Or, 1, 1),
            8 => Operation::Unary {
                operation: UnaryOperation::Not,
                operand: self.operand(1),
                result: self.temp(1),
            },
            9 => {
                Operation::Slice { operand: self.operand(8), high: 0, low: 0, result: self.temp(1) }
            }
            10 => Operation::Resize {
                kind: ResizeKind::ZeroExtend,
                operand: self.operand(1),
                result: self.temp(8),
            },
            _ => Operation::Select {
                condition: self.operand(1),
                then: self.operand(8),
                otherwise: self.operand(8),
                result: self.temp(8),
            },
        }
    }

    fn index(&mut self) -> Operand {
        match self.choices.below(if self.tame { 20 } else { 3 }) {
            0 => self.operand(8),
            // Beyond the end of register 1.
            1 => Operand::Constant(Bits::from_u64(8, 3)),
            _ => Operand::Constant(Bits::from_u64(8, 0)),
        }
    }

    fn register_access(&mut self) -> Operation {
        let register = RegisterId(self.choices.below(3).min(1) as u32);
        let index = self.index();
        let guard = (self.choices.below(4) == 0).then(|| self.operand(1));
        let old = (self.choices.below(3) > 0).then(|| self.temp(8));
        let update = self.choices.flag().then(|| {
            let outside = self.visible.clone();
            self.visible.extend(old);
            let before = std::mem::take(&mut self.instructions);
            for _ in 0..self.choices.below(3) {
                let operation = self.pure();
                self.push(operation);
            }
            let value = self.operand(8);
            let body = std::mem::replace(&mut self.instructions, before);
            self.visible = outside;
            RegisterUpdate { body, value }
        });
        Operation::RegisterAccess { register, index, guard, old, update }
    }

    fn instruction(&mut self) {
        let operation = match self.choices.below(if self.tame { 20 } else { 16 }) {
            0..5 => self.pure(),
            5..8 => {
                let (slot, width) = self.slot();
                Operation::Load { place: Place::Slot(slot), result: self.temp(width) }
            }
            8..11 => {
                let (slot, width) = self.slot();
                Operation::Store { place: Place::Slot(slot), value: self.operand(width) }
            }
            11..14 => self.register_access(),
            14..20 if self.tame => self.register_access(),
            14 => Operation::Request { request: RequestId(0), arguments: vec![self.operand(8)] },
            _ if self.may_apply => Operation::Apply {
                table: TableId(0),
                keys: vec![],
                hit: self.temp(1),
                action: self.temp(32),
            },
            _ => Operation::Assert { condition: self.operand(1), is_assume: false },
        };
        self.push(operation);
    }
}

fn region(choices: &mut Choices, kind: RegionKind, loops: bool) -> Region {
    let tame = choices.flag();
    let count = 1 + choices.below(if tame { 10 } else { 6 });
    let mut region =
        Region { name: "r".into(), kind, temps: Vec::new(), blocks: Vec::with_capacity(count) };
    for at in 0..count {
        let mut draw = Draw {
            choices,
            types: &mut region.temps,
            visible: Vec::new(),
            instructions: Vec::new(),
            may_apply: kind == RegionKind::Control,
            tame,
        };
        for _ in 0..draw.choices.below(if tame { 5 } else { 9 }) {
            draw.instruction();
        }
        let condition = draw.operand(1);
        let instructions = draw.instructions;
        // Mostly onward, so that most programs end.
        let target = |choices: &mut Choices| {
            if loops && !tame && choices.below(8) == 0 {
                BlockId(choices.below(count) as u32)
            } else {
                BlockId((at + 1 + choices.below((count - at).min(3))).min(count - 1) as u32)
            }
        };
        let terminator = match choices.below(8) {
            _ if at + 1 == count => Terminator::Return,
            // A sequence of `if`s, mostly.
            2.. if tame => {
                let block = |at: usize| BlockId(at.min(count - 1) as u32);
                let join = block(at - at % 3 + 3);
                match at % 3 {
                    0 => Terminator::Branch {
                        condition,
                        then: block(at + 1),
                        otherwise: if choices.flag() { join } else { block(at + 2) },
                    },
                    _ => Terminator::Goto(join),
                }
            }
            0 if !tame => Terminator::Exit,
            1 => Terminator::Goto(target(choices)),
            _ => {
                let (then, otherwise) = (target(choices), target(choices));
                Terminator::Branch { condition, then, otherwise }
            }
        };
        region.blocks.push(BasicBlock {
            name: "".into(),
            instructions,
            terminator,
            origin: OriginId(0),
        });
    }
    region
}

fn program(bytes: &[u8]) -> Program {
    let mut choices = Choices::from_tape(bytes.iter().copied());
    let slots = WIDTHS
        .iter()
        .enumerate()
        .map(|(at, width)| Slot {
            name: format!("s{at}").into(),
            ty: ValueType::Bits(*width),
            display: Display::Unsigned,
            origin: OriginId(0),
        })
        .collect();
    let register = |name: &str, size| RegisterArray {
        name: name.into(),
        width_bits: 8,
        size,
        initial: Bits::from_u64(8, 5),
        display: Display::Unsigned,
        origin: OriginId(0),
    };
    Program {
        errors: vec!["NoError".into()],
        slots,
        tables: vec![Table {
            name: "t".into(),
            keys: vec![],
            actions: vec![TableAction {
                action: ActionId(0),
                table_only: false,
                default_only: false,
            }],
            default_action: ActionCall { action: 0, arguments: vec![Bits::from_u64(8, 7)] },
            const_default_action: false,
            entries: vec![],
            const_entries: false,
            size: None,
            implementation: None,
            direct_counters: vec![],
            direct_meters: vec![],
            idle_timeout: false,
            annotations: vec![],
            origin: OriginId(0),
        }],
        actions: vec![Action {
            name: "a".into(),
            parameters: vec![ActionParameter {
                name: "p".into(),
                slot: SlotId(PARAMETER),
                annotations: vec![],
            }],
            region: RegionId(1),
            annotations: vec![],
            origin: OriginId(0),
        }],
        registers: vec![register("r", 4), register("q", 2)],
        requests: vec![Request {
            name: "q".into(),
            label: "".into(),
            fields: vec![("f".into(), ValueType::Bits(8))],
        }],
        regions: vec![
            region(&mut choices, RegionKind::Control, true),
            region(&mut choices, RegionKind::Action, false),
        ],
        blocks: vec![Block {
            role: "ig".into(),
            name: "Ingress".into(),
            kind: BlockKind::Control,
            region: RegionId(0),
            parameters: vec![BlockParameter {
                name: "p".into(),
                storage: "".into(),
                is_input: true,
                is_output: true,
                slots: OBSERVED.map(SlotId).to_vec(),
            }],
            parser_error: None,
            origin: OriginId(0),
        }],
        origins: vec![Origin::at(Span::NONE)],
        ..Program::default()
    }
}

/// One pipeline.
#[derive(Clone, Debug, PartialEq)]
struct Machine {
    slots: Vec<Bits>,
    registers: Vec<Vec<Bits>>,
    requests: Vec<Bits>,
    ended_by: &'static str,
    runs: usize,
}

type Temps = HashMap<Temp, Bits>;

fn value(temps: &Temps, operand: &Operand) -> Bits {
    match operand {
        Operand::Constant(value) => value.clone(),
        Operand::Temp(temp) => temps[temp].clone(),
    }
}

impl Machine {
    fn new(program: &Program, inputs: &[u8]) -> Machine {
        let slots = program
            .slots
            .iter()
            .enumerate()
            .map(|(at, slot)| {
                let input =
                    if OBSERVED.contains(&(at as u32)) { inputs[at % inputs.len()] } else { 0 };
                Bits::from_u64(slot.ty.width_bits(), input.into())
            })
            .collect();
        let cells = |array: &RegisterArray| vec![array.initial.clone(); array.size as usize];
        Machine {
            slots,
            registers: program.registers.iter().map(cells).collect(),
            requests: Vec::new(),
            ended_by: "return",
            runs: 0,
        }
    }

    /// Whether the block goes on afterwards.
    fn region(&mut self, program: &Program, id: RegionId) -> bool {
        let region = &program.regions[id.index()];
        let mut at = 0;
        loop {
            self.runs += 1;
            if self.runs > RUN_LIMIT {
                self.ended_by = "limit";
                return false;
            }
            let block = &region.blocks[at];
            let mut temps = Temps::new();
            for instruction in &block.instructions {
                if !self.operation(program, region, &mut temps, &instruction.operation) {
                    return false;
                }
            }
            at = match &block.terminator {
                Terminator::Goto(next) => next.index(),
                Terminator::Branch { condition, then, otherwise } => {
                    let chosen = value(&temps, condition).is_true();
                    if chosen { then.index() } else { otherwise.index() }
                }
                Terminator::Return => return true,
                _ => {
                    self.ended_by = "exit";
                    return false;
                }
            };
        }
    }

    fn operation(
        &mut self,
        program: &Program,
        region: &Region,
        temps: &mut Temps,
        operation: &Operation,
    ) -> bool {
        let width = |temp: &Temp| region.temps[temp.index()].width_bits();
        match operation {
            Operation::Unary { result, operation, operand } => {
                temps.insert(*result, value(temps, operand).unary(*operation));
            }
            Operation::Binary { result, operation, left, right } => {
                let computed = value(temps, left).binary(*operation, &value(temps, right));
                temps.insert(*result, computed);
            }
            Operation::Resize { result, kind, operand } => {
                temps.insert(*result, value(temps, operand).resize(*kind, width(result)));
            }
            Operation::Slice { result, operand, high, low } => {
                temps.insert(*result, value(temps, operand).slice(*high, *low));
            }
            Operation::Select { result, condition, then, otherwise } => {
                let chosen = if value(temps, condition).is_true() { then } else { otherwise };
                temps.insert(*result, value(temps, chosen));
            }
            Operation::Load { result, place: Place::Slot(slot) } => {
                temps.insert(*result, self.slots[slot.index()].clone());
            }
            Operation::Store { place: Place::Slot(slot), value: operand } => {
                self.slots[slot.index()] = value(temps, operand);
            }
            Operation::RegisterAccess { register, index, guard, old, update } => {
                let array = register.index();
                let index = value(temps, index).to_u64().unwrap_or(u64::MAX) as usize;
                let on = guard.as_ref().is_none_or(|guard| value(temps, guard).is_true());
                let cell = self.registers[array].get(index).cloned().filter(|_| on);
                if let Some(old) = old {
                    temps.insert(*old, cell.clone().unwrap_or(Bits::zero(8)));
                }
                if let (Some(_), Some(update)) = (cell, update) {
                    let mut inside = temps.clone();
                    for instruction in &update.body {
                        self.operation(program, region, &mut inside, &instruction.operation);
                    }
                    self.registers[array][index] = value(&inside, &update.value);
                }
            }
            Operation::Request { arguments, .. } => self.requests.push(value(temps, &arguments[0])),
            Operation::Assert { condition, .. } => {
                if !value(temps, condition).is_true() {
                    self.ended_by = "assertion";
                    return false;
                }
            }
            Operation::Apply { table, hit, action, .. } => {
                let table = &program.tables[table.index()];
                let called = &program.actions[table.actions[0].action.index()];
                self.slots[PARAMETER as usize] = table.default_action.arguments[0].clone();
                temps.insert(*hit, Bits::from_bit(false));
                temps.insert(*action, Bits::zero(32));
                return self.region(program, called.region);
            }
            other => panic!("not generated: {other:?}"),
        }
        true
    }

    /// What the outside sees.
    fn observed(&self) -> (Vec<Bits>, &Vec<Vec<Bits>>, &Vec<Bits>, &str) {
        let slots = OBSERVED.iter().map(|slot| self.slots[*slot as usize].clone()).collect();
        (slots, &self.registers, &self.requests, self.ended_by)
    }
}

fn check(pass: fn(&mut Program), bytes: &[u8], inputs: &[u8]) -> Result<Program, TestCaseError> {
    let before = program(bytes);
    if let Err(errors) = verify(&before) {
        return Err(TestCaseError::fail(format!("generated: {}", errors[0])));
    }
    let mut after = before.clone();
    pass(&mut after);
    if let Err(errors) = verify(&after) {
        let text = text::print_code(&after);
        return Err(TestCaseError::fail(format!("{}\n{text}", errors[0])));
    }
    let (mut first, mut second) = (Machine::new(&before, inputs), Machine::new(&after, inputs));
    // Two packets, so that registers and slots left from the first one count.
    for _ in 0..2 {
        first.runs = 0;
        second.runs = 0;
        first.region(&before, RegionId(0));
        second.region(&after, RegionId(0));
        // The step limit counts differently once blocks are joined.
        if first.ended_by == "limit" {
            break;
        }
        prop_assert_eq!(
            first.observed(),
            second.observed(),
            "{}\nbecame\n{}",
            text::print_code(&before),
            text::print_code(&after)
        );
    }
    Ok(after)
}

proptest! {
    #[test]
    fn passes_keep_the_meaning(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        inputs in prop::collection::vec(any::<u8>(), 4),
    ) {
        check(passes::fold_constants, &bytes, &inputs)?;
        check(passes::number_values, &bytes, &inputs)?;
        check(passes::thread_jumps, &bytes, &inputs)?;
        check(passes::remove_dead_code, &bytes, &inputs)?;
        check(passes::simplify, &bytes, &inputs)?;
    }

    #[test]
    fn fusing_register_accesses_keeps_the_meaning(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        inputs in prop::collection::vec(any::<u8>(), 4),
    ) {
        let after = check(transactions::fuse_register_accesses, &bytes, &inputs)?;
        let printed = text::print(&after);
        prop_assert_eq!(text::parse(&printed).expect("it parses"), after);
    }

    #[test]
    fn everything_together_keeps_the_meaning(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        inputs in prop::collection::vec(any::<u8>(), 4),
    ) {
        let all = |program: &mut Program| {
            passes::simplify(program);
            transactions::fuse_register_accesses(program);
            passes::simplify(program);
        };
        check(all, &bytes, &inputs)?;
    }
}
