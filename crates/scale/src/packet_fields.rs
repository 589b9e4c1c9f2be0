// SPDX-License-Identifier: Apache-2.0
//! [`PacketField`]: fields of packets that a user names, or that are found where well-known headers have them. Two
//! mechanisms use them: marks of congestion, and the order of flows (MP5 §3.4).

use interpreter::PacketContext;
use ir::{HeaderType, Program, SlotId, ValueType};

/// A field of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketField {
    slot: SlotId,
    /// The validity of its header.
    valid: Option<SlotId>,
    width_bits: u32,
}

/// The two bits of congestion: congestion experienced (RFC 3168 §5).
const CONGESTION_EXPERIENCED: u64 = 3;

impl PacketField {
    /// Finds a field by its name or the end of it: `hdr.ipv4.ecn`, `ipv4.ecn`. If there is none, or several, returns the
    /// nearest name.
    pub fn named(program: &Program, name: &str) -> Result<PacketField, Option<String>> {
        let is_it = |full: &str| {
            full == name || full.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
        };
        // What stages carry to later ones has names with `$`.
        let of_program =
            || program.slots.iter().enumerate().filter(|(_, it)| !it.name.contains('$'));
        let mut found = of_program().filter(|(_, slot)| is_it(&slot.name));
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Ok(PacketField::of(program, SlotId(at as u32))),
            _ => {
                let names = of_program().map(|(_, slot)| &*slot.name);
                Err(source::nearest(name, names).map(str::to_string))
            }
        }
    }

    fn of(program: &Program, slot: SlotId) -> PacketField {
        let of_header = |header: &&ir::Header| {
            let fields = &program.header_types[header.ty.index()].fields;
            (1..=fields.len()).contains(&(slot.index().wrapping_sub(header.first_slot.index())))
        };
        let header = program.headers.iter().find(of_header);
        let width_bits = program.slots[slot.index()].ty.width_bits();
        PacketField { slot, valid: header.map(ir::Header::valid_slot), width_bits }
    }

    /// Finds the congestion bits of IPv4: a field of two bits, or the octet that ends with them.
    pub fn ecn(program: &Program) -> Option<PacketField> {
        let header = ipv4(program)?;
        field_at(program, header, 14, 2).or_else(|| field_at(program, header, 8, 8))
    }

    /// Finds source, destination and protocol of IPv4, and the ports of TCP and UDP. Empty for programs without IPv4.
    pub fn five_tuple(program: &Program) -> Vec<PacketField> {
        let Some(ip) = ipv4(program) else { return Vec::new() };
        let of_ip = [(72, 8), (96, 32), (128, 32)];
        let mut fields: Vec<PacketField> =
            of_ip.iter().filter_map(|(at, width)| field_at(program, ip, *at, *width)).collect();
        for layout in [&[16, 16, 32, 32][..], &[16; 4]] {
            let transport = header_of(program, |ty| begins_with(ty, layout));
            let ports = transport.into_iter().flat_map(|header| {
                [0, 16].into_iter().filter_map(move |at| field_at(program, header, at, 16))
            });
            fields.extend(ports);
        }
        fields
    }

    /// Returns its value for hashes; 0 if its header is not there.
    fn words(self, context: &PacketContext) -> Vec<u64> {
        match self.valid {
            Some(valid) if !context.flag(valid) => vec![0],
            _ if self.width_bits <= 64 => vec![context.number(self.slot)],
            _ => context.value(self.slot).to_biguint().to_u64_digits(),
        }
    }

    /// Marks congestion: sets the congestion bits of a field of two or eight bits, if the packet's transport knows them
    /// (RFC 3168 §5), and sets a field of another width to 1.
    pub fn mark(self, context: &mut PacketContext) {
        if self.valid.is_some_and(|valid| !context.flag(valid)) {
            return;
        }
        let value = context.number(self.slot);
        let marked = match self.width_bits {
            2 | 8 if value & CONGESTION_EXPERIENCED == 0 => return,
            2 | 8 => value | CONGESTION_EXPERIENCED,
            _ => 1,
        };
        context.set_slot(self.slot, &ir::Bits::from_u64(self.width_bits, marked));
    }
}

/// The order of flows: an access of a cell behind the last stage, whose index is a hash of fields, so that packets with
/// equal fields leave in the order of arrival (MP5 §3.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowOrder {
    /// The fields of a flow.
    pub fields: Vec<PacketField>,
}

impl FlowOrder {
    /// Cells that flows share.
    pub const CELLS: u32 = 1024;

    /// Returns the cell of a packet.
    pub fn cell(&self, context: &PacketContext) -> u32 {
        const FLOWS: u64 = 21;
        let words: Vec<u64> = self.fields.iter().flat_map(|field| field.words(context)).collect();
        (arithmetic::random::keyed(FLOWS, &words) % u64::from(FlowOrder::CELLS)) as u32
    }
}

/// What is done with packets beside the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketOptions {
    /// The field that marks packets that came to a long queue.
    pub mark: Option<PacketField>,
    /// Flows that leave in order.
    pub order: Option<FlowOrder>,
}

/// The first header whose type is of a form.
fn header_of(program: &Program, is_it: impl Fn(&HeaderType) -> bool) -> Option<&ir::Header> {
    program.headers.iter().find(|header| is_it(&program.header_types[header.ty.index()]))
}

/// The first IPv4 header: version and length of four bits, 20 octets without options.
fn ipv4(program: &Program) -> Option<&ir::Header> {
    header_of(program, |ty| begins_with(ty, &[4, 4]) && ty.fixed_bits() == 160)
}

fn begins_with(ty: &HeaderType, widths: &[u32]) -> bool {
    let found = ty.fields.iter().map(|field| field.ty);
    found.take(widths.len()).eq(widths.iter().map(|width| ValueType::Bits(*width)))
}

/// The field of a header at this bit and of this width.
fn field_at(
    program: &Program,
    header: &ir::Header,
    bit: u32,
    width_bits: u32,
) -> Option<PacketField> {
    let fields = &program.header_types[header.ty.index()].fields;
    let mut at = 0;
    for (number, field) in fields.iter().enumerate() {
        if at == bit && field.ty == ValueType::Bits(width_bits) {
            let slot = SlotId(header.first_slot.0 + 1 + number as u32);
            return Some(PacketField { slot, valid: Some(header.valid_slot()), width_bits });
        }
        at += field.ty.width_bits();
    }
    None
}
