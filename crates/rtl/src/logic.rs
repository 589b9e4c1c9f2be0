// SPDX-License-Identifier: Apache-2.0
//! Code of the IR as combinational logic. Basic blocks become conditions, slots become wires that are chosen where paths join,
//! tables become comparisons with constant entries. Each register array of a stage has one port: index, value, write, next value.

mod hash;
mod operation;
mod region;
mod registers;
mod tables;

pub use registers::Port;

use ir::{Bits, Operand, OriginId, Program, RegionId, RegisterId, SlotId, Temp};
use registers::Site;
use source::{Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Values of arrays' cells at the start, from cell 0 on, where they are not those of the program's declarations.
pub type FirstValues = BTreeMap<RegisterId, Vec<Bits>>;

/// Where a packet carries slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The first bit and the width of each slot.
    pub slots: BTreeMap<SlotId, (usize, usize)>,
    /// All bits.
    pub bits: usize,
}

impl Header {
    /// A header of slots, in the order of their numbers.
    pub fn of(program: &Program, slots: impl IntoIterator<Item = SlotId>) -> Header {
        let mut header = Header::default();
        let mut sorted: Vec<SlotId> = slots.into_iter().collect();
        sorted.sort();
        for slot in sorted {
            let width = program.slots[slot.index()].ty.width_bits() as usize;
            if width > 0 && !header.slots.contains_key(&slot) {
                header.slots.insert(slot, (header.bits, width));
                header.bits += width;
            }
        }
        header
    }

    /// The bits of a packet whose slots have values, the highest first.
    pub fn digits(&self, value: impl Fn(SlotId) -> Bits) -> String {
        let mut bits = vec!['0'; self.bits];
        for (slot, (first, width)) in &self.slots {
            let value = value(*slot);
            for bit in 0..*width {
                if value.bit(bit as u32) {
                    bits[first + bit] = '1';
                }
            }
        }
        bits.iter().rev().collect()
    }
}

/// The values of slots at a place: names of wires.
type Slots = BTreeMap<SlotId, String>;

/// A place of the code that is reached under a condition.
#[derive(Clone, Debug)]
struct Reached {
    /// The wire that is 1 if it is reached.
    condition: String,
    /// What slots hold then.
    slots: Slots,
}

/// Code on the way to wires.
pub struct Logic<'p> {
    program: &'p Program,
    prefix: &'static str,
    text: String,
    wires: usize,
    /// Wires by width and value, so that equal values are one wire.
    known: BTreeMap<(usize, String), String>,
    /// What a condition implies: wires of one bit, and their values.
    implied: BTreeMap<String, BTreeSet<(String, bool)>>,
    /// The temporaries of the basic block at hand.
    temps: BTreeMap<Temp, String>,
    ports: &'p BTreeMap<RegisterId, Port>,
    first_values: &'p FirstValues,
    sites: BTreeMap<RegisterId, Vec<Site>>,
    found: Diagnostics,
}

impl<'p> Logic<'p> {
    /// Lowers a region that begins with a packet's header. Returns the text of wires, and what slots hold at its end. Registers
    /// without a port give the first value of their cells. Wires have a prefix.
    ///
    /// # Errors
    ///
    /// What hardware cannot hold, all of it.
    pub fn lower(
        program: &'p Program,
        region: RegionId,
        header: &Header,
        ports: &'p BTreeMap<RegisterId, Port>,
        first_values: &'p FirstValues,
    ) -> Result<(String, BTreeMap<SlotId, String>), Diagnostics> {
        let start = header
            .slots
            .iter()
            .map(|(slot, (first, width))| (*slot, format!("header_in[{first} +: {width}]")));
        Logic::lower_from(program, region, start.collect(), (ports, first_values), "n")
    }

    /// The same from values of slots, with a prefix of wires.
    ///
    /// # Errors
    ///
    /// What hardware cannot hold, all of it.
    pub fn lower_from(
        program: &'p Program,
        region: RegionId,
        start: BTreeMap<SlotId, String>,
        (ports, first_values): (&'p BTreeMap<RegisterId, Port>, &'p FirstValues),
        prefix: &'static str,
    ) -> Result<(String, BTreeMap<SlotId, String>), Diagnostics> {
        let mut logic = Logic {
            program,
            prefix,
            text: String::new(),
            wires: 0,
            known: BTreeMap::new(),
            implied: BTreeMap::new(),
            temps: BTreeMap::new(),
            ports,
            first_values,
            sites: BTreeMap::new(),
            found: Diagnostics::new(),
        };
        let mut slots = Slots::new();
        for (slot, value) in start {
            let declared = &program.slots[slot.index()];
            let _ = writeln!(logic.text, "// {}", declared.name);
            let value = logic.wire(declared.ty.width_bits() as usize, &value);
            slots.insert(slot, value);
        }
        let start = Reached { condition: logic.wire(1, "1'b1"), slots };
        let (mut ends, exits) = logic.region(region, start);
        ends.extend(exits);
        let end = logic.join(ends);
        logic.close_ports();
        match logic.found.is_empty() {
            true => Ok((logic.text, end.map(|end| end.slots).unwrap_or_default())),
            false => Err(logic.found),
        }
    }

    /// A condition that holds if another one does and wires have values.
    fn narrowed(&mut self, condition: &str, bits: &[(&str, bool)]) -> String {
        let mut value = condition.to_owned();
        let mut implied = self.implied.get(condition).cloned().unwrap_or_default();
        for (bit, is_set) in bits {
            let _ = write!(value, " & {}{bit}", if *is_set { "" } else { "~" });
            implied.insert(((*bit).to_owned(), *is_set));
        }
        let name = self.wire(1, &value);
        self.implied.insert(name.clone(), implied);
        name
    }

    /// Says whether two conditions are known to exclude each other.
    fn excludes(&self, left: &str, right: &str) -> bool {
        let (Some(left), Some(right)) = (self.implied.get(left), self.implied.get(right)) else {
            return false;
        };
        left.iter().any(|(bit, is_set)| right.contains(&(bit.clone(), !is_set)))
    }

    /// Adds a wire, or finds it.
    fn wire(&mut self, width: usize, value: &str) -> String {
        let key = (width, value.to_owned());
        if let Some(name) = self.known.get(&key) {
            return name.clone();
        }
        let name = format!("{}{}", self.prefix, self.wires);
        self.wires += 1;
        let high = width.max(1) - 1;
        let _ = writeln!(self.text, "logic [{high}:0] {name};\nassign {name} = {value};");
        self.known.insert(key, name.clone());
        name
    }

    /// The wire of an operand.
    fn operand(&mut self, operand: &Operand) -> String {
        match operand {
            Operand::Constant(bits) => {
                let width = bits.width_bits() as usize;
                self.wire(width, &constant(bits))
            }
            Operand::Temp(temp) => {
                self.temps.get(temp).cloned().unwrap_or_else(|| "1'b0".to_owned())
            }
        }
    }

    /// What a slot holds; a slot that nothing has written is 0.
    fn slot(&mut self, slots: &Slots, slot: SlotId) -> String {
        match slots.get(&slot) {
            Some(name) => name.clone(),
            None => {
                let width = self.slot_width(slot);
                self.wire(width, "'0")
            }
        }
    }

    fn slot_width(&self, slot: SlotId) -> usize {
        self.program.slots[slot.index()].ty.width_bits() as usize
    }

    /// Reports a mistake at a place of the program.
    fn refuse(&mut self, code: source::Code, origin: OriginId, message: String, help: &str) {
        let span =
            self.program.origins.get(origin.index()).map_or(Span::NONE, |origin| origin.span);
        self.found.push(Diagnostic::error(code, span, message).help(help));
    }

    /// Joins places: reached if one of them is. `None` if there are none.
    fn join(&mut self, mut places: Vec<Reached>) -> Option<Reached> {
        if places.len() < 2 {
            return places.pop();
        }
        let conditions: Vec<&str> = places.iter().map(|place| &*place.condition).collect();
        let known = |condition: &&str| self.implied.get(*condition).cloned().unwrap_or_default();
        let common = conditions.iter().map(known).reduce(|left, right| &left & &right);
        let condition = conditions.join(" | ");
        let condition = self.wire(1, &condition);
        self.implied.insert(condition.clone(), common.unwrap_or_default());
        let mut slots = Slots::new();
        let all: Vec<SlotId> =
            places.iter().flat_map(|place| place.slots.keys().copied()).collect();
        for slot in all {
            if slots.contains_key(&slot) {
                continue;
            }
            let values: Vec<String> =
                places.iter().map(|place| self.slot(&place.slots, slot)).collect();
            let value = if values.iter().all(|value| *value == values[0]) {
                values[0].clone()
            } else {
                let last = values.len() - 1;
                let mut chosen = values[last].clone();
                for (place, value) in places.iter().zip(&values).rev().skip(1) {
                    chosen = format!("{} ? {value} : {chosen}", place.condition);
                }
                let width = self.slot_width(slot);
                self.wire(width, &chosen)
            };
            slots.insert(slot, value);
        }
        Some(Reached { condition, slots })
    }
}

/// A constant in SystemVerilog.
pub(crate) fn constant(bits: &Bits) -> String {
    let width = bits.width_bits();
    if width == 0 {
        return "1'b0".to_owned();
    }
    format!("{width}'h{:x}", bits.to_biguint())
}
