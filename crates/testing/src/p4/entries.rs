// SPDX-License-Identifier: Apache-2.0
//! Control commands for any lowered program: entries, members and groups, value sets, clone sessions,
//! multicast groups, cells. Values come from a palette, so that packets made from the same palette
//! meet them. Commands are text, one a line, as a user would write them.

use crate::Choices;
use ir::{Action, ActionProfileId, Bits, Key, MatchKind, Program, Table};

/// How many members a profile gets.
const MEMBERS: u32 = 4;

/// Commands for before the first packet: most of the configuration.
pub fn configuration(program: &Program, choices: &mut Choices, palette: &[u64]) -> Vec<String> {
    let mut writer = Writer { program, choices, palette, lines: Vec::new(), groups: Vec::new() };
    writer.replication();
    writer.profiles();
    for table in &program.tables {
        for _ in 0..writer.choices.between(0, 8) {
            writer.entry(table);
        }
        if !table.const_default_action && writer.choices.chance(25) {
            writer.default_action(table);
        }
    }
    for set in &program.value_sets {
        for _ in 0..writer.choices.between(0, 3) {
            let keys: Vec<String> = set.components.iter().map(|key| writer.pattern(key)).collect();
            writer.lines.push(format!("pvs_add {} {}", set.name, keys.join(" ")));
        }
    }
    for _ in 0..3 {
        writer.cells();
    }
    writer.lines
}

/// One command for between two packets.
pub fn change(program: &Program, choices: &mut Choices, palette: &[u64]) -> Vec<String> {
    let mut writer = Writer { program, choices, palette, lines: Vec::new(), groups: Vec::new() };
    if program.tables.is_empty() {
        writer.cells();
        return writer.lines;
    }
    let table = &program.tables[writer.choices.below(program.tables.len())];
    match writer.choices.weighted(&[40, 20, 10, 10, 20]) {
        0 => writer.entry(table),
        1 if !table.const_default_action => writer.default_action(table),
        2 if !table.const_entries => {
            let handle = writer.choices.below(3);
            writer.lines.push(format!("table_delete {} {handle}", table.name));
        }
        3 => writer.lines.push(format!("table_reset_default {}", table.name)),
        _ => writer.cells(),
    }
    writer.lines
}

struct Writer<'a> {
    program: &'a Program,
    choices: &'a mut Choices,
    palette: &'a [u64],
    lines: Vec<String>,
    /// Profiles that have groups.
    groups: Vec<ActionProfileId>,
}

fn text(value: &Bits) -> String {
    super::generator::hexadecimal(value)
}

impl Writer<'_> {
    fn value(&mut self, width_bits: u32) -> Bits {
        self.choices.value(width_bits, self.palette)
    }

    /// Clone sessions 1 to 3, of which 4 is missing, and multicast groups 1 and 2.
    fn replication(&mut self) {
        for session in 1..=3 {
            if self.choices.chance(75) {
                let port = self.choices.between(0, 7);
                self.lines.push(format!("mirroring_add {session} {port}"));
            }
        }
        for group in 1..=2 {
            self.lines.push(format!("mc_mgrp_create {group}"));
        }
        for node in 0..self.choices.between(1, 4) {
            let rid = self.choices.between(0, 300);
            let (one, other) = (self.choices.between(0, 7), self.choices.between(0, 7));
            let ports = if one == other { format!("{one}") } else { format!("{one} {other}") };
            self.lines.push(format!("mc_node_create {rid} {ports}"));
            let group = self.choices.between(1, 2);
            self.lines.push(format!("mc_node_associate {group} {node}"));
        }
        if self.choices.chance(30) {
            let group = self.choices.between(1, 3);
            self.lines.push(format!("mirroring_add_mc 2 {group}"));
        }
    }

    /// Name and arguments of an action that entries of a table may name.
    fn action(&mut self, table: &Table, is_default: bool) -> Option<String> {
        let fitting: Vec<&Action> = table
            .actions
            .iter()
            .filter(|listed| if is_default { !listed.table_only } else { !listed.default_only })
            .map(|listed| &self.program.actions[listed.action.index()])
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let action = *self.choices.pick(&fitting);
        Some(action.name.to_string())
    }

    fn arguments(&mut self, name: &str) -> String {
        let program = self.program;
        let Some(action) = program.actions.iter().find(|action| &*action.name == name) else {
            return String::new();
        };
        let values: Vec<String> = action
            .parameters
            .iter()
            .map(|parameter| {
                let width = program.slots[parameter.slot.index()].ty.width_bits();
                text(&self.value(width))
            })
            .collect();
        values.join(" ")
    }

    fn profiles(&mut self) {
        for at in 0..self.program.action_profiles.len() {
            let profile = ActionProfileId(at as u32);
            let declared = &self.program.action_profiles[at];
            let user =
                self.program.tables.iter().find(|table| table.implementation == Some(profile));
            let Some(table) = user else { continue };
            for _ in 0..MEMBERS {
                if let Some(action) = self.action(table, false) {
                    let arguments = self.arguments(&action);
                    let name = &declared.name;
                    self.lines.push(format!("act_prof_create_member {name} {action} {arguments}"));
                }
            }
            if declared.selector.is_some() {
                self.groups.push(profile);
                for group in 0..2 {
                    self.lines.push(format!("act_prof_create_group {}", declared.name));
                    for member in 0..self.choices.between(0, MEMBERS) {
                        self.lines.push(format!(
                            "act_prof_add_member_to_group {} {member} {group}",
                            declared.name
                        ));
                    }
                }
            }
        }
    }

    fn pattern(&mut self, key: &Key) -> String {
        let width = key.width_bits;
        let value = match &key.display {
            ir::Display::Enum(_, members) if !members.is_empty() => {
                self.choices.pick(members).1.clone()
            }
            _ => self.value(width),
        };
        match key.match_kind {
            MatchKind::Lpm => {
                let length = self.choices.between(0, width);
                format!("{}/{length}", text(&value))
            }
            MatchKind::Ternary => {
                let mask =
                    if self.choices.chance(30) { Bits::ones(width) } else { self.value(width) };
                let value = value.binary(ir::BinaryOperation::And, &mask);
                format!("{}&&&{}", text(&value), text(&mask))
            }
            MatchKind::Range => {
                let other = self.value(width);
                let (low, high) = if value.cmp_unsigned(&other).is_le() {
                    (value, other)
                } else {
                    (other, value)
                };
                format!("{}->{}", text(&low), text(&high))
            }
            MatchKind::Optional if self.choices.chance(30) => "*".to_string(),
            _ => text(&value),
        }
    }

    fn entry(&mut self, table: &Table) {
        if table.const_entries || table.keys.is_empty() {
            return;
        }
        let matched = table.keys.iter().filter(|key| key.match_kind != MatchKind::Selector);
        let keys: Vec<String> = matched.map(|key| self.pattern(key)).collect();
        let keys = keys.join(" ");
        let priority = match table.has_priorities() {
            true => self.choices.between(1, 40).to_string(),
            false => String::new(),
        };
        let name = &table.name;
        if let Some(profile) = table.implementation {
            let member = self.choices.between(0, MEMBERS - 1);
            let line = if self.groups.contains(&profile) && self.choices.chance(60) {
                let group = member % 2;
                format!("table_indirect_add_with_group {name} {keys} => {group} {priority}")
            } else {
                format!("table_indirect_add {name} {keys} => {member} {priority}")
            };
            self.lines.push(line);
            return;
        }
        if let Some(action) = self.action(table, false) {
            let arguments = self.arguments(&action);
            self.lines.push(format!("table_add {name} {action} {keys} => {arguments} {priority}"));
        }
    }

    fn default_action(&mut self, table: &Table) {
        if table.implementation.is_none()
            && let Some(action) = self.action(table, true)
        {
            let arguments = self.arguments(&action);
            self.lines.push(format!("table_set_default {} {action} {arguments}", table.name));
        }
    }

    /// A write of a register's or a counter's cell, or rates of a meter.
    fn cells(&mut self) {
        let program = self.program;
        match self.choices.weighted(&[30, 20, 30, 8, 6]) {
            3 => {
                let (polynomial, first) =
                    (self.choices.below(1 << 16), self.choices.below(1 << 16));
                let reflected = *self.choices.pick(&["true", "false"]);
                let width = *self.choices.pick(&[16, 32]);
                self.lines.push(format!(
                    "set_crc{width}_parameters calculation {polynomial} {first} 0 {reflected} {reflected}"
                ));
            }
            4 => {
                let port = self.choices.below(8);
                let (command, amount) =
                    *self.choices.pick(&[("set_queue_rate", 100_000), ("set_queue_depth", 1)]);
                self.lines.push(format!("{command} {amount} {port}"));
            }
            0 if !program.registers.is_empty() => {
                let register = self.choices.pick(&program.registers);
                let index = self.choices.below(register.size.min(1 << 20) as usize);
                let value = text(&self.value(register.width_bits));
                self.lines.push(format!("register_write {} {index} {value}", register.name));
            }
            1 => {
                let counters: Vec<&ir::Counter> =
                    program.counters.iter().filter(|counter| counter.size.is_some()).collect();
                if let Some(size) = counters.first().and_then(|counter| counter.size) {
                    let index = self.choices.below(size.min(1 << 20) as usize);
                    let name = &counters[0].name;
                    self.lines.push(format!("counter_write {name} {index} 7 1000"));
                }
            }
            _ if !program.meters.is_empty() => {
                let meter = self.choices.pick(&program.meters);
                let (rate, burst) =
                    (*self.choices.pick(&["0.0001", "0.001", "1"]), self.choices.between(1, 4));
                let bursts = match meter.unit {
                    ir::CountUnit::Bytes => burst * 100,
                    _ => burst,
                };
                let rates = format!("{rate}:{bursts} {rate}:{}", bursts * 2);
                if meter.size.is_some() {
                    self.lines.push(format!("meter_array_set_rates {} {rates}", meter.name));
                } else {
                    self.lines.push(format!("meter_set_rates {} 0 {rates}", meter.name));
                }
            }
            _ => {}
        }
    }
}
