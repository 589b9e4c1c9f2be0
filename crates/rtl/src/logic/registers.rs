// SPDX-License-Identifier: Apache-2.0
//! Accesses of register arrays: a stage's memory has one address a cycle, so accesses of one array are on paths that exclude each other,
//! or of one cell.

use super::Logic;
use crate::codes;
use ir::{Operand, OriginId, RegisterId, RegisterUpdate, Temp, ValueType};
use std::fmt::Write;

/// The port of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The prefix of its signals, for example `g0_a1`.
    pub name: String,
    /// Bits of its index.
    pub index_bits: usize,
}

/// An access.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// The path is taken, and its guard holds.
    condition: String,
    /// The index as written, and as a cell; whether it is inside.
    index: String,
    inside: String,
    /// The next value, if it writes.
    next: Option<String>,
    origin: OriginId,
}

/// Array, index, guard, old value, update.
type Access<'a> =
    (RegisterId, &'a Operand, Option<&'a Operand>, Option<Temp>, Option<&'a RegisterUpdate>);

impl Logic<'_> {
    pub(super) fn register_access(
        &mut self,
        (register, index, guard, old, update): Access<'_>,
        path: &str,
        types: &[ValueType],
        origin: OriginId,
    ) {
        let declared = &self.program.registers[register.index()];
        let (width, size) = (declared.width_bits as usize, declared.size);
        let initial = super::constant(&declared.initial);
        let name = declared.name.clone();
        let index_width = self.width_of(index, types);
        let index = self.operand(index);
        let inside = if index_width < 64 && 1 << index_width <= size {
            self.wire(1, "1'b1")
        } else {
            self.wire(1, &format!("{index} < {index_width}'d{size}"))
        };
        let condition = match guard {
            Some(guard) => {
                let guard = self.operand(guard);
                self.narrowed(path, &[(&guard, true)])
            }
            None => path.to_owned(),
        };
        let Some(port) = self.ports.get(&register).cloned() else {
            // Nothing writes it.
            if update.is_some() {
                let help = "access the array in one control";
                let message = format!("array `{name}` is not in this stage");
                self.refuse(codes::CONTROL, origin, message, help);
            }
            if let Some(old) = old {
                let value = match self.first_values.get(&register).filter(|it| !it.is_empty()) {
                    Some(values) if values.iter().any(|one| *one != values[0]) => {
                        let all: Vec<String> = values.iter().rev().map(super::constant).collect();
                        let all =
                            self.wire(width * values.len(), &format!("{{{}}}", all.join(", ")));
                        format!("{all}[32'({index}) * {width} +: {width}]")
                    }
                    Some(values) => super::constant(&values[0]),
                    None => initial,
                };
                let value = self.wire(width, &format!("{condition} & {inside} ? {value} : '0"));
                self.temps.insert(old, value);
            }
            return;
        };
        let cell = if index_width > port.index_bits {
            self.wire(port.index_bits, &format!("{index}[{}:0]", port.index_bits - 1))
        } else if index_width < port.index_bits {
            let pad = port.index_bits - index_width;
            self.wire(port.index_bits, &format!("{{{pad}'d0, {index}}}"))
        } else {
            index.clone()
        };
        // A write of the same packet before is seen.
        let mut value = format!("{}_value", port.name);
        let before = self.sites.get(&register).cloned().unwrap_or_default();
        for site in &before {
            if let Some(next) = &site.next
                && site.index == cell
            {
                value = format!("{} & {} ? {next} : {value}", site.condition, site.inside);
            }
        }
        let found = self.wire(width, &format!("{condition} & {inside} ? ({value}) : '0"));
        if let Some(old) = old {
            self.temps.insert(old, found);
        }
        let next = update.map(|update| {
            for instruction in &update.body {
                self.pure(&instruction.operation, types, instruction.origin);
            }
            self.operand(&update.value)
        });
        let site = Site { condition, index: cell, inside, next, origin };
        self.sites.entry(register).or_default().push(site);
    }

    /// Drives the ports.
    pub(super) fn close_ports(&mut self) {
        let ports = self.ports;
        for (register, port) in ports {
            let sites = self.sites.remove(register).unwrap_or_default();
            let (mut index, mut write, mut next) = ("'0".to_owned(), Vec::new(), "'0".to_owned());
            for site in &sites {
                index = format!("{} ? {} : {index}", site.condition, site.index);
                if let Some(value) = &site.next {
                    write.push(format!("({} & {})", site.condition, site.inside));
                    next = format!("{} & {} ? {value} : {next}", site.condition, site.inside);
                }
            }
            let write = if write.is_empty() { "1'b0".to_owned() } else { write.join(" | ") };
            let _ = writeln!(
                self.text,
                "assign {0}_index = {index};\nassign {0}_write = {write};\nassign {0}_next = {next};",
                port.name
            );
            self.check_sites(*register, &sites);
        }
    }

    /// Refuses accesses of different cells that one packet may make.
    fn check_sites(&mut self, register: RegisterId, sites: &[Site]) {
        let name = self.program.registers[register.index()].name.clone();
        for (at, site) in sites.iter().enumerate() {
            let conflicts = |other: &&Site| {
                other.index != site.index && !self.excludes(&other.condition, &site.condition)
            };
            if sites[..at].iter().any(|other| conflicts(&other)) {
                let help = "access one cell, or use two arrays";
                let message = format!("a packet accesses two cells of array `{name}`");
                self.refuse(codes::TWO_ACCESSES, site.origin, message, help);
            }
        }
    }
}
