// SPDX-License-Identifier: Apache-2.0
//! Hand-built v1model programs in pipeline IR: one header, some metadata, and ingress and egress of each test.

use ir::*;
use std::sync::Arc;

/// Names of the storage that every program here has, with widths in bits.
const SLOTS: &[(&str, u32)] = &[
    ("standard_metadata.ingress_port", 9),
    ("standard_metadata.egress_spec", 9),
    ("standard_metadata.egress_port", 9),
    ("standard_metadata.instance_type", 32),
    ("standard_metadata.packet_length", 32),
    ("standard_metadata.enq_timestamp", 32),
    ("standard_metadata.enq_qdepth", 19),
    ("standard_metadata.deq_timedelta", 32),
    ("standard_metadata.deq_qdepth", 19),
    ("standard_metadata.ingress_global_timestamp", 48),
    ("standard_metadata.egress_global_timestamp", 48),
    ("standard_metadata.mcast_grp", 16),
    ("standard_metadata.egress_rid", 16),
    ("standard_metadata.checksum_error", 1),
    ("standard_metadata.parser_error", 16),
    ("standard_metadata.priority", 3),
    ("meta.kept", 16),
    ("meta.lost", 16),
];

/// Fields of the header `hdr.h`.
const FIELDS: &[(&str, u32)] = &[("op", 8), ("arg", 8), ("a", 32), ("b", 32)];

/// Requests by their order in the program.
pub const CLONE: RequestId = RequestId(0);
pub const RESUBMIT: RequestId = RequestId(1);
pub const RECIRCULATE: RequestId = RequestId(2);
pub const TRUNCATE: RequestId = RequestId(3);
pub const DIGEST: RequestId = RequestId(4);

const NOWHERE: OriginId = OriginId(0);

/// A slot by its name.
pub fn slot(name: &str) -> (SlotId, u32) {
    if let Some(at) = SLOTS.iter().position(|slot| slot.0 == name) {
        return (SlotId(at as u32), SLOTS[at].1);
    }
    let first = SLOTS.len() as u32;
    if name == "hdr.h.$valid" {
        return (SlotId(first), 1);
    }
    if name == "hdr.x.$valid" {
        return (SlotId(first + 1 + FIELDS.len() as u32), 1);
    }
    let field = name.strip_prefix("hdr.h.").expect("a slot's name");
    let at = FIELDS.iter().position(|known| known.0 == field).expect("a field's name");
    (SlotId(first + 1 + at as u32), FIELDS[at].1)
}

/// Code under construction.
pub struct Code {
    temps: Vec<ValueType>,
    blocks: Vec<BasicBlock>,
    current: usize,
}

impl Code {
    fn new() -> Code {
        let mut code = Code { temps: Vec::new(), blocks: Vec::new(), current: 0 };
        code.block();
        code
    }

    fn block(&mut self) -> usize {
        self.blocks.push(BasicBlock {
            name: "".into(),
            instructions: Vec::new(),
            terminator: Terminator::Return,
            origin: NOWHERE,
        });
        self.blocks.len() - 1
    }

    /// Appends an instruction.
    pub fn push(&mut self, operation: Operation) {
        let instruction = Instruction { operation, origin: NOWHERE };
        self.blocks[self.current].instructions.push(instruction);
    }

    fn temp(&mut self, width_bits: u32) -> Temp {
        self.temps.push(ValueType::Bits(width_bits));
        Temp(self.temps.len() as u32 - 1)
    }

    /// The value of a slot.
    pub fn load(&mut self, name: &str) -> Operand {
        let (slot, width_bits) = slot(name);
        let result = self.temp(width_bits);
        self.push(Operation::Load { result, place: Place::Slot(slot) });
        Operand::Temp(result)
    }

    /// Stores a number.
    pub fn set(&mut self, name: &str, value: u64) {
        let (slot, width_bits) = slot(name);
        let value = Operand::Constant(Bits::from_u64(width_bits, value));
        self.push(Operation::Store { place: Place::Slot(slot), value });
    }

    /// Copies a slot to another, extended or truncated.
    pub fn copy(&mut self, from: &str, to: &str) {
        let value = self.load(from);
        let (slot_to, width_to) = slot(to);
        let width_from = slot(from).1;
        let value = if width_from == width_to {
            value
        } else {
            let result = self.temp(width_to);
            let kind =
                if width_from < width_to { ResizeKind::ZeroExtend } else { ResizeKind::Truncate };
            self.push(Operation::Resize { result, kind, operand: value });
            Operand::Temp(result)
        };
        self.push(Operation::Store { place: Place::Slot(slot_to), value });
    }

    /// Adds to a slot.
    pub fn add(&mut self, name: &str, by: u64) {
        let left = self.load(name);
        let (slot, width_bits) = slot(name);
        let result = self.temp(width_bits);
        let right = Operand::Constant(Bits::from_u64(width_bits, by));
        self.push(Operation::Binary { result, operation: BinaryOperation::Add, left, right });
        self.push(Operation::Store { place: Place::Slot(slot), value: Operand::Temp(result) });
    }

    /// Makes a request with constant arguments.
    pub fn request(&mut self, request: RequestId, arguments: &[u64]) {
        let arguments = arguments
            .iter()
            .map(|argument| Operand::Constant(Bits::from_u64(32, *argument)))
            .collect();
        self.push(Operation::Request { request, arguments });
    }

    /// Asserts that a slot has a value.
    pub fn assert_is(&mut self, name: &str, value: u64) {
        let condition = self.is(name, value);
        self.push(Operation::Assert { condition, is_assume: false });
    }

    fn is(&mut self, name: &str, value: u64) -> Operand {
        let left = self.load(name);
        let right = Operand::Constant(Bits::from_u64(slot(name).1, value));
        let result = self.temp(1);
        self.push(Operation::Binary { result, operation: BinaryOperation::Equal, left, right });
        Operand::Temp(result)
    }

    /// Code under the condition that a slot has a value. Later code is unconditional.
    pub fn when(&mut self, name: &str, value: u64, body: impl FnOnce(&mut Code)) {
        let condition = self.is(name, value);
        let then = self.block();
        let before = std::mem::replace(&mut self.current, then);
        body(self);
        let join = self.block();
        let goto = Terminator::Goto(BlockId(join as u32));
        self.blocks[self.current].terminator = goto.clone();
        self.blocks[before].terminator = Terminator::Branch {
            condition,
            then: BlockId(then as u32),
            otherwise: BlockId(join as u32),
        };
        self.current = join;
    }

    fn region(self, name: &str, kind: RegionKind) -> Region {
        Region { name: name.into(), kind, temps: self.temps, blocks: self.blocks }
    }
}

fn field(name: &str, width_bits: u32) -> HeaderField {
    HeaderField { name: name.into(), ty: ValueType::Bits(width_bits), display: Display::Unsigned }
}

fn request(name: &str, label: &str, fields: &[&str]) -> Request {
    Request {
        name: name.into(),
        label: label.into(),
        fields: fields.iter().map(|field| ((*field).into(), ValueType::Bits(32))).collect(),
    }
}

/// A program whose parser extracts `hdr.h`, whose deparser emits it and the one-byte header `hdr.x`,
/// and whose field list 1 is `meta.kept`.
pub fn program(ingress: impl FnOnce(&mut Code), egress: impl FnOnce(&mut Code)) -> Arc<Program> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut declare = |name: &str, width_bits: u32| {
        slots.push(Slot {
            name: name.into(),
            ty: ValueType::Bits(width_bits),
            display: Display::Unsigned,
            origin: NOWHERE,
        });
    };
    for (name, width_bits) in SLOTS {
        declare(name, *width_bits);
    }
    declare("hdr.h.$valid", 1);
    for (name, width_bits) in FIELDS {
        declare(&format!("hdr.h.{name}"), *width_bits);
    }
    declare("hdr.x.$valid", 1);
    declare("hdr.x.mark", 8);

    let (h, x) = (HeaderRef::Header(HeaderId(0)), HeaderRef::Header(HeaderId(1)));
    let mut parser = Code::new();
    parser.push(Operation::Extract { header: h.clone(), varbit_bits: None });
    let mut deparser = Code::new();
    deparser.push(Operation::Emit { header: h });
    deparser.push(Operation::Emit { header: x });
    let mut ingress_code = Code::new();
    ingress(&mut ingress_code);
    let mut egress_code = Code::new();
    egress(&mut egress_code);

    let first_header = SLOTS.len() as u32;
    let parameter = |name: &str, storage: &str, slots: std::ops::Range<u32>| BlockParameter {
        name: name.into(),
        storage: storage.into(),
        is_input: true,
        is_output: true,
        slots: slots.map(SlotId).collect(),
    };
    let all = slots.len() as u32;
    let headers = parameter("hdr", "hdr", first_header..all);
    let meta = parameter("meta", "meta", 16..first_header);
    let standard = parameter("standard_metadata", "standard_metadata", 0..16);
    let packet = parameter("packet", "", 0..0);
    let block = |role: &str, kind, region, parameters: &[&BlockParameter]| Block {
        role: role.into(),
        name: format!("My_{role}").into(),
        kind,
        region: RegionId(region),
        parameters: parameters.iter().map(|parameter| (*parameter).clone()).collect(),
        parser_error: (role == "p").then(|| slot("standard_metadata.parser_error").0),
        origin: NOWHERE,
    };
    let first_x = first_header + 1 + FIELDS.len() as u32;
    let program = Program {
        architecture: "v1model".into(),
        errors: vec!["NoError".into(), "PacketTooShort".into()],
        slots,
        header_types: vec![
            HeaderType {
                name: "h_t".into(),
                fields: FIELDS.iter().map(|(name, width_bits)| field(name, *width_bits)).collect(),
            },
            HeaderType { name: "x_t".into(), fields: vec![field("mark", 8)] },
        ],
        headers: vec![
            Header { name: "hdr.h".into(), ty: HeaderTypeId(0), first_slot: SlotId(first_header) },
            Header { name: "hdr.x".into(), ty: HeaderTypeId(1), first_slot: SlotId(first_x) },
        ],
        requests: vec![
            request("clone_i2e", "", &["session", "field_list"]),
            request("resubmit", "", &["field_list"]),
            request("recirculate", "", &["field_list"]),
            request("truncate", "", &["length"]),
            request("digest", "seen", &["what"]),
        ],
        registers: vec![RegisterArray {
            name: "seen".into(),
            width_bits: 32,
            size: 4,
            initial: Bits::zero(32),
            display: Display::Unsigned,
            origin: NOWHERE,
        }],
        field_lists: vec![FieldList { number: 1, slots: vec![slot("meta.kept").0] }],
        regions: vec![
            parser.region("parser", RegionKind::Parser),
            Code::new().region("verify", RegionKind::Control),
            ingress_code.region("ingress", RegionKind::Control),
            egress_code.region("egress", RegionKind::Control),
            Code::new().region("compute", RegionKind::Control),
            deparser.region("deparser", RegionKind::Deparser),
        ],
        blocks: vec![
            block("p", BlockKind::Parser, 0, &[&packet, &headers, &meta, &standard]),
            block("vr", BlockKind::Control, 1, &[&headers, &meta]),
            block("ig", BlockKind::Control, 2, &[&headers, &meta, &standard]),
            block("eg", BlockKind::Control, 3, &[&headers, &meta, &standard]),
            block("ck", BlockKind::Control, 4, &[&headers, &meta]),
            block("dep", BlockKind::Deparser, 5, &[&packet, &headers]),
        ],
        origins: vec![Origin::at(source::Span::NONE)],
        ..Program::default()
    };
    Arc::new(program)
}
