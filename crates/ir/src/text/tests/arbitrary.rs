// SPDX-License-Identifier: Apache-2.0
//! Draws programs from a stream of random bytes: every kind of item and instruction, with handles,
//! names and widths that need not fit together. The text form has to carry all of them.

use crate::*;
use p4::ast::NodeId;
use source::{FileId, Span};
use std::sync::Arc;

/// Draws a program; every stream of bytes is one.
pub struct Draw(testing::Choices);

const NAMES: [&str; 14] = [
    "hdr.eth.type",
    "hdr.mpls[2].$valid",
    "x",
    "element",
    "table",
    "t0",
    "",
    "two words",
    "quote\" and \\ and \n and \u{7}",
    "1st",
    "#3",
    "ünïcode",
    "a//b",
    "number",
];

impl Draw {
    pub fn new(bytes: &[u8]) -> Draw {
        Draw(testing::Choices::from_tape(bytes.iter().copied()))
    }

    fn byte(&mut self) -> u8 {
        self.0.below(256) as u8
    }

    fn below(&mut self, count: u32) -> u32 {
        self.0.below(count as usize) as u32
    }

    fn flag(&mut self) -> bool {
        self.0.flag()
    }

    fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => u64::MAX,
            1 => 0,
            _ => u64::from(self.byte()) << self.below(57),
        }
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize].clone()
    }

    fn name(&mut self) -> Arc<str> {
        match self.below(3) {
            0 => self.pick(&NAMES).into(),
            _ => format!("name{}", self.byte()).into(),
        }
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| item(self)).collect()
    }

    fn maybe<T>(&mut self, item: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| item(self))
    }

    fn value(&mut self) -> Bits {
        let width = self.pick(&[0, 1, 4, 8, 16, 32, 64, 65, 128, 200]);
        let bytes: Vec<u8> = (0..width / 8 + 1).map(|_| self.byte()).collect();
        Bits::from_bytes_be(width, &bytes)
    }

    fn ty(&mut self) -> ValueType {
        let width = self.number() as u32;
        if self.flag() { ValueType::Bits(width) } else { ValueType::Varbit(width) }
    }

    fn display(&mut self) -> Display {
        match self.below(5) {
            0 => Display::Unsigned,
            1 => Display::Signed,
            2 => Display::Bool,
            3 => Display::Error,
            _ => Display::Enum(self.name(), self.list(|draw| (draw.name(), draw.value()))),
        }
    }

    fn origin(&mut self) -> OriginId {
        OriginId(self.below(9))
    }

    fn slot_id(&mut self) -> SlotId {
        SlotId(self.below(5))
    }

    fn algorithm(&mut self) -> HashAlgorithm {
        self.pick(&[
            HashAlgorithm::Crc32,
            HashAlgorithm::Crc16,
            HashAlgorithm::Custom(CalculationId(1)),
            HashAlgorithm::Random,
            HashAlgorithm::Identity,
            HashAlgorithm::Csum16,
            HashAlgorithm::Xor16,
            HashAlgorithm::OnesComplement16,
            HashAlgorithm::TargetDefault,
            HashAlgorithm::Crc(CrcParameters {
                width_bits: 64,
                polynomial: u64::MAX,
                initial: 7,
                final_xor: 0,
                reflect_input: true,
                reflect_output: true,
            }),
            HashAlgorithm::Crc(CrcParameters {
                width_bits: 8,
                polynomial: 7,
                initial: 0,
                final_xor: 255,
                reflect_input: false,
                reflect_output: true,
            }),
        ])
    }

    fn key(&mut self) -> Key {
        let match_kind = match self.below(7) {
            0 => MatchKind::Exact,
            1 => MatchKind::Lpm,
            2 => MatchKind::Ternary,
            3 => MatchKind::Range,
            4 => MatchKind::Optional,
            5 => MatchKind::Selector,
            _ => MatchKind::Other(self.name()),
        };
        Key {
            name: self.name(),
            match_kind,
            width_bits: self.below(99),
            display: self.display(),
            annotations: self.list(Self::name),
        }
    }

    fn pattern(&mut self) -> KeyPattern {
        match self.below(5) {
            0 => KeyPattern::Any,
            1 => KeyPattern::Exact(self.value()),
            2 => KeyPattern::Prefix { value: self.value(), length_bits: self.below(40) },
            3 => KeyPattern::Ternary { value: self.value(), mask: self.value() },
            _ => KeyPattern::Range { low: self.value(), high: self.value() },
        }
    }

    fn call(&mut self) -> ActionCall {
        ActionCall { action: self.below(4), arguments: self.list(Self::value) }
    }

    fn table(&mut self) -> Table {
        Table {
            name: self.name(),
            keys: self.list(Self::key),
            actions: self.list(|draw| TableAction {
                action: ActionId(draw.below(4)),
                table_only: draw.flag(),
                default_only: draw.flag(),
            }),
            default_action: self.call(),
            const_default_action: self.flag(),
            entries: self.list(|draw| Entry {
                keys: draw.list(Self::pattern),
                call: draw.call(),
                priority: draw.number() as i64,
                origin: draw.origin(),
            }),
            const_entries: self.flag(),
            size: self.maybe(Self::number),
            implementation: self.maybe(|draw| ActionProfileId(draw.below(3))),
            direct_counters: self.list(|draw| CounterId(draw.below(3))),
            direct_meters: self.list(|draw| MeterId(draw.below(3))),
            idle_timeout: self.flag(),
            annotations: self.list(Self::name),
            origin: self.origin(),
        }
    }

    fn unit(&mut self) -> CountUnit {
        self.pick(&[CountUnit::Packets, CountUnit::Bytes, CountUnit::PacketsAndBytes])
    }

    fn temp(&mut self, region: &Region) -> Temp {
        Temp(self.below(region.temps.len() as u32))
    }

    fn operand(&mut self, region: &Region) -> Operand {
        if self.flag() { Operand::Constant(self.value()) } else { Operand::Temp(self.temp(region)) }
    }

    fn place(&mut self, region: &Region) -> Place {
        match self.flag() {
            false => Place::Slot(self.slot_id()),
            true => Place::Element {
                stack: StackId(self.below(3)),
                member: self.below(3),
                field: self.below(3),
                index: self.operand(region),
            },
        }
    }

    fn header(&mut self, region: &Region) -> HeaderRef {
        match self.flag() {
            false => HeaderRef::Header(HeaderId(self.below(4))),
            true => HeaderRef::Element {
                stack: StackId(self.below(3)),
                member: self.below(3),
                index: self.operand(region),
            },
        }
    }

    fn operands(&mut self, region: &Region) -> Vec<Operand> {
        self.list(|draw| draw.operand(region))
    }

    fn instruction(&mut self, region: &Region, in_update: bool) -> Instruction {
        let result = self.temp(region);
        let (slots, words) = (self.below(28), self.name());
        let operation = match slots {
            0 => Operation::Unary {
                result,
                operation: self.pick(&[UnaryOperation::Not, UnaryOperation::Negate]),
                operand: self.operand(region),
            },
            1..4 => Operation::Binary {
                result,
                operation: self.pick(&crate::bits::tests::OPERATIONS),
                left: self.operand(region),
                right: self.operand(region),
            },
            4 => Operation::Resize {
                result,
                kind: self.pick(&[
                    ResizeKind::ZeroExtend,
                    ResizeKind::SignExtend,
                    ResizeKind::Truncate,
                ]),
                operand: self.operand(region),
            },
            5 => Operation::Slice {
                result,
                operand: self.operand(region),
                high: self.below(99),
                low: self.below(99),
            },
            6 => Operation::Select {
                result,
                condition: self.operand(region),
                then: self.operand(region),
                otherwise: self.operand(region),
            },
            7 => Operation::Load { result, place: self.place(region) },
            8 => Operation::Store { place: self.place(region), value: self.operand(region) },
            9 => Operation::Extract {
                header: self.header(region),
                varbit_bits: self.maybe(|draw| draw.operand(region)),
            },
            10 => Operation::Lookahead { result },
            11 => Operation::Advance { bits: self.operand(region) },
            12 => Operation::PacketLength { result },
            13 => Operation::Emit { header: self.header(region) },
            14 => Operation::ShiftStack { stack: StackId(self.below(3)), by: self.number() as i32 },
            15 => Operation::Apply {
                table: TableId(self.below(3)),
                keys: self.operands(region),
                hit: result,
                action: self.temp(region),
            },
            16 | 17 => Operation::RegisterAccess {
                register: RegisterId(self.below(3)),
                index: self.operand(region),
                guard: self.maybe(|draw| draw.operand(region)),
                old: self.flag().then_some(result),
                update: match in_update {
                    true => None,
                    false => self.maybe(|draw| RegisterUpdate {
                        body: draw.list(|draw| draw.instruction(region, true)),
                        value: draw.operand(region),
                    }),
                },
            },
            18 => {
                Operation::Count { counter: CounterId(self.below(3)), index: self.operand(region) }
            }
            19 => Operation::Meter {
                meter: MeterId(self.below(3)),
                index: self.operand(region),
                result,
            },
            20 => Operation::CountDirect { counter: CounterId(self.below(3)) },
            21 => Operation::MeterDirect { meter: MeterId(self.below(3)), result },
            22 => Operation::ValueSetContains {
                result,
                set: ValueSetId(self.below(3)),
                keys: self.operands(region),
            },
            23 => Operation::Hash {
                result,
                algorithm: self.algorithm(),
                inputs: self.operands(region),
                payload: self.flag(),
            },
            24 => Operation::Random {
                result,
                low: self.operand(region),
                high: self.operand(region),
                site: RandomSite::new(words),
            },
            25 => Operation::Request {
                request: RequestId(self.below(3)),
                arguments: self.operands(region),
            },
            26 => Operation::Log { format: words, arguments: self.operands(region) },
            _ if self.flag() => {
                Operation::Assert { condition: self.operand(region), is_assume: self.flag() }
            }
            _ => Operation::CallExtern {
                target: ExternId(self.below(3)),
                method: words,
                arguments: self.operands(region),
                results: self.list(|draw| draw.temp(region)),
                effects: CallEffects {
                    access: match self.below(3) {
                        0 => ExternAccess::Pure,
                        1 => ExternAccess::Reads,
                        _ => ExternAccess::Any,
                    },
                    random: self.flag().then(|| RandomSite::new("a/0")),
                },
            },
        };
        Instruction { operation, origin: self.origin() }
    }

    fn terminator(&mut self, region: &Region) -> Terminator {
        let mut block = || BlockId(self.below(4));
        let (first, second) = (block(), block());
        match self.below(6) {
            0 => Terminator::Return,
            1 => Terminator::Goto(first),
            2 => Terminator::Branch {
                condition: self.operand(region),
                then: first,
                otherwise: second,
            },
            3 => Terminator::Switch {
                value: self.operand(region),
                cases: self.list(|draw| (draw.value(), BlockId(draw.below(4)))),
                default: first,
            },
            4 => Terminator::Exit,
            _ => Terminator::Reject(self.operand(region)),
        }
    }

    fn region(&mut self) -> Region {
        let mut region = Region {
            name: self.name(),
            kind: self.pick(&[
                RegionKind::Parser,
                RegionKind::Control,
                RegionKind::Deparser,
                RegionKind::Action,
            ]),
            temps: (0..=self.below(6)).map(|_| self.ty()).collect(),
            blocks: Vec::new(),
        };
        region.blocks = self.list(|draw| BasicBlock {
            name: draw.name(),
            instructions: draw.list(|draw| draw.instruction(&region, false)),
            terminator: draw.terminator(&region),
            origin: draw.origin(),
        });
        region
    }

    fn program_origin(&mut self) -> Origin {
        Origin {
            span: match self.flag() {
                false => Span::NONE,
                true => Span {
                    file: FileId(self.byte().into()),
                    start: self.byte().into(),
                    end: self.number() as u32,
                },
            },
            node: self.maybe(|draw| NodeId(draw.number() as u32)),
            name: self.maybe(Self::name),
            parent: self.maybe(Self::origin),
            atomic: self.maybe(|draw| draw.number() as u32),
            repetition: self.byte().into(),
            merged: self.list(Self::origin),
        }
    }

    /// A program with anything in it.
    pub fn program(&mut self) -> Program {
        Program {
            architecture: self.name(),
            errors: self.list(Self::name),
            slots: self.list(|draw| Slot {
                name: draw.name(),
                ty: draw.ty(),
                display: draw.display(),
                origin: draw.origin(),
            }),
            header_types: self.list(|draw| HeaderType {
                name: draw.name(),
                fields: draw.list(|draw| HeaderField {
                    name: draw.name(),
                    ty: draw.ty(),
                    display: draw.display(),
                }),
            }),
            headers: self.list(|draw| Header {
                name: draw.name(),
                ty: HeaderTypeId(draw.below(3)),
                first_slot: draw.slot_id(),
            }),
            stacks: self.list(|draw| Stack {
                name: draw.name(),
                first_header: HeaderId(draw.below(4)),
                headers_per_element: draw.below(3),
                size: draw.number() as u32,
                next: draw.slot_id(),
            }),
            unions: self.list(|draw| Union {
                name: draw.name(),
                members: draw.list(|draw| HeaderId(draw.below(4))),
            }),
            tables: self.list(Self::table),
            actions: self.list(|draw| Action {
                name: draw.name(),
                parameters: draw.list(|draw| ActionParameter {
                    name: draw.name(),
                    slot: draw.slot_id(),
                    annotations: draw.list(Self::name),
                }),
                region: RegionId(draw.below(4)),
                annotations: draw.list(Self::name),
                origin: draw.origin(),
            }),
            registers: self.list(|draw| RegisterArray {
                name: draw.name(),
                width_bits: draw.below(99),
                size: draw.number(),
                initial: draw.value(),
                display: draw.display(),
                origin: draw.origin(),
            }),
            counters: self.list(|draw| Counter {
                name: draw.name(),
                unit: draw.unit(),
                size: draw.maybe(Self::number),
                origin: draw.origin(),
            }),
            meters: self.list(|draw| Meter {
                name: draw.name(),
                unit: draw.unit(),
                size: draw.maybe(Self::number),
                origin: draw.origin(),
            }),
            action_profiles: self.list(|draw| ActionProfile {
                name: draw.name(),
                size: draw.maybe(Self::number),
                selector: draw.maybe(|draw| (draw.algorithm(), draw.below(99))),
                origin: draw.origin(),
            }),
            calculations: self.list(|draw| Calculation {
                name: draw.name(),
                parameters: CrcParameters {
                    width_bits: draw.below(40),
                    polynomial: draw.number(),
                    initial: draw.number(),
                    final_xor: draw.number(),
                    reflect_input: draw.flag(),
                    reflect_output: draw.flag(),
                },
                origin: draw.origin(),
            }),
            value_sets: self.list(|draw| ValueSet {
                name: draw.name(),
                components: draw.list(Self::key),
                size: draw.number(),
                origin: draw.origin(),
            }),
            requests: self.list(|draw| Request {
                name: draw.name(),
                label: draw.name(),
                fields: draw.list(|draw| (draw.name(), draw.ty())),
            }),
            externs: self.list(|draw| Extern {
                type_name: draw.name(),
                instance: draw.name(),
                arguments: draw.list(Self::name),
                origin: draw.origin(),
            }),
            field_lists: self.list(|draw| FieldList {
                number: draw.number() as u32,
                slots: draw.list(Self::slot_id),
            }),
            regions: self.list(Self::region),
            blocks: self.list(|draw| Block {
                role: draw.name(),
                name: draw.name(),
                kind: draw.pick(&[BlockKind::Parser, BlockKind::Control, BlockKind::Deparser]),
                region: RegionId(draw.below(4)),
                parameters: draw.list(|draw| BlockParameter {
                    name: draw.name(),
                    storage: draw.name(),
                    is_input: draw.flag(),
                    is_output: draw.flag(),
                    slots: draw.list(Self::slot_id),
                }),
                parser_error: draw.maybe(Self::slot_id),
                origin: draw.origin(),
            }),
            origins: self.list(Self::program_origin),
        }
    }
}
