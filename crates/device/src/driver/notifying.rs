// SPDX-License-Identifier: Apache-2.0
//! Notifications of a device: digests, packets for the CPU port, idle timeouts, swaps and links. A controller receives
//! those of the program that it listens to; all controllers receive link notifications.

use crate::burst::Burst;
use crate::control_request::{ControlWork, TargetProgram};
use crate::event::Event;
use crate::loaded_program::LoadedProgram;
use crate::mailbox::Mailbox;
use crate::output::{DigestMessage, Transmitted};
use crate::packet::ProgramId;
use crate::programs::Programs;
use crate::switch::Switch;
use control::target::{Batch, Item, Notification};
use ir::TableId;
use state::{BatchItem, NewEntry, Update};
use std::sync::Arc;

/// The controllers that receive a notification.
#[derive(Clone, Copy, Debug)]
enum Audience {
    /// All controllers.
    All,
    /// Controllers of the main program.
    Main,
    /// Controllers of the program with this code, and those of the main program if it is or was the main program.
    Code(ProgramId),
}

impl Audience {
    fn has(self, programs: &Programs, target: TargetProgram) -> bool {
        match (self, target) {
            (Audience::All, _) | (Audience::Main, TargetProgram::Main) => true,
            (Audience::Main, TargetProgram::Loaded(_)) => false,
            (Audience::Code(id), target) => programs.get(id).is_none_or(|program| match target {
                TargetProgram::Main => program.has_been_main,
                TargetProgram::Loaded(name) => program.name() == name,
            }),
        }
    }
}

/// Returns whether a target receives the idle timeouts of a program's code. Controllers of the main program do not
/// receive those of a former main program.
fn hears_idle_entries(programs: &Programs, id: ProgramId, target: TargetProgram) -> bool {
    match target {
        TargetProgram::Main => id == programs.main_id(),
        TargetProgram::Loaded(name) => programs.code_of(name) == Some(id),
    }
}

impl Switch {
    /// Subscribes a controller to the notifications of a program from now on.
    pub fn listen(&mut self, target: TargetProgram, mailbox: &Arc<Mailbox>) {
        self.publish();
        self.driver.listeners.add(target, mailbox);
        self.driver.listeners.digests_seen = self.core.digests.len();
        self.driver.listeners.packets_seen = self.core.transmitted.len();
        self.update_write_path();
        self.check_idle_entries_again();
    }

    /// Returns whether controllers listen.
    #[inline]
    pub fn has_listeners(&self) -> bool {
        !self.driver.listeners.is_empty()
    }

    /// Sends the digests and the packets for the CPU port since the last call.
    #[inline]
    pub fn publish(&mut self) {
        if self.has_listeners() {
            self.publish_to_listeners();
        }
    }

    #[cold]
    fn publish_to_listeners(&mut self) {
        let listeners = &mut self.driver.listeners;
        let mut found = Vec::new();
        let seen = listeners.digests_seen;
        let digests = self.core.digests.iter().zip(&self.core.digest_programs).skip(seen);
        found.extend(digests.map(|(digest, program)| {
            let DigestMessage { time_ps, name, fields, .. } = digest.clone();
            (*program, Notification::Digest { time_ps, name, fields })
        }));
        let seen = listeners.packets_seen;
        let packets = self.core.cpu_packets.iter().filter(|(at, _)| *at >= seen);
        found.extend(packets.filter_map(|(at, program)| {
            let packet = self.core.transmitted.get(*at)?;
            let Transmitted { time_ps, port, mut bytes, absent_bytes, .. } = packet.clone();
            bytes.resize(bytes.len() + absent_bytes as usize, 0);
            Some((*program, Notification::PacketIn { time_ps, port, bytes }))
        }));
        listeners.digests_seen = self.core.digests.len();
        listeners.packets_seen = self.core.transmitted.len();
        found.sort_by_key(|(_, notification)| notification.time_ps());
        for (program, notification) in &found {
            self.send(Audience::Code(*program), notification);
        }
    }

    fn send(&mut self, audience: Audience, notification: &Notification) {
        let programs = &self.programs;
        self.driver.listeners.notify(notification, |target| audience.has(programs, target));
    }

    /// Records the program of a burst's outputs from this one on, for controllers that receive packets.
    #[inline]
    pub fn note_burst_outputs(&mut self, first_output: usize, program: ProgramId) {
        if self.core.options.cpu_port.is_some() && self.has_listeners() {
            self.burst_programs.push((first_output, program));
        }
    }

    /// Sends the packets for the CPU port among a burst's outputs from `already` on.
    #[inline]
    pub fn publish_burst(&mut self, burst: &Burst, already: usize) {
        let Some(cpu_port) = self.core.options.cpu_port.filter(|_| self.has_listeners()) else {
            return;
        };
        let programs = std::mem::take(&mut self.burst_programs);
        let time_ps = self.core.now_ps;
        for (at, sent) in burst.outputs().enumerate().skip(already) {
            if sent.port == cpu_port {
                let behind = programs.partition_point(|(first, _)| *first <= at);
                let program = behind.checked_sub(1).map(|before| programs[before].1);
                let program = program.unwrap_or_else(|| self.programs.main_id());
                let (port, bytes) = (sent.port, sent.bytes.to_vec());
                let packet = Notification::PacketIn { time_ps, port, bytes };
                self.notify(Audience::Code(program), &packet);
            }
        }
    }

    /// Resets the published counts after the device's owner has taken the digests or packets.
    pub fn forget_published(&mut self) {
        self.driver.listeners.digests_seen = self.core.digests.len();
        self.driver.listeners.packets_seen = self.core.transmitted.len();
    }

    /// Sends a notification after those of earlier digests and packets.
    fn notify(&mut self, audience: Audience, notification: &Notification) {
        if self.has_listeners() {
            self.publish();
            self.send(audience, notification);
        }
    }

    /// Notifies all controllers that a link of a port came up or went down.
    pub fn note_link(&mut self, port: u32, is_up: bool) {
        let time_ps = self.core.now_ps;
        self.notify(Audience::All, &Notification::Link { time_ps, port, is_up });
    }

    /// Notifies controllers of the main program of a swap.
    pub fn note_swap(&mut self) {
        let program = self.programs.main().program().clone();
        let swapped = Notification::Swapped { time_ps: self.core.now_ps, program };
        self.notify(Audience::Main, &swapped);
        self.note_programs();
    }

    /// Notifies controllers of a program that its code was replaced.
    pub fn note_new_code(&mut self, id: ProgramId) {
        let Some(program) = self.programs.get(id).map(|program| program.program().clone()) else {
            return;
        };
        let swapped = Notification::Swapped { time_ps: self.core.now_ps, program };
        self.notify(Audience::Code(id), &swapped);
        self.note_programs();
    }

    /// Updates subscriptions after a change of the loaded programs or their code.
    pub fn note_programs(&mut self) {
        self.driver.listeners.idle_check_ps = None;
        self.update_write_path();
        self.check_idle_entries_again();
    }

    /// Returns whether a controller receives the idle timeouts of a program.
    pub(super) fn listens_for_idle_entries(&self, id: ProgramId) -> bool {
        let Some(program) = self.programs.get(id) else { return false };
        program.program().tables.iter().any(|table| table.idle_timeout)
            && !program.is_leaving
            && self.driver.listeners.any(|target| hears_idle_entries(&self.programs, id, target))
    }

    /// Returns the earliest time at which an entry of a batch may idle out.
    pub(super) fn earliest_timeout_ps(&self, id: ProgramId, batch: &Batch) -> Option<u64> {
        let program = self.programs.get(id).filter(|_| self.listens_for_idle_entries(id))?;
        let now_ps = self.core.now_ps;
        let configuration = program.store.configuration();
        let idle_at_ps = |from_ps: u64, entry: &NewEntry| {
            from_ps.saturating_add(entry.idle_timeout_ns.saturating_mul(1_000))
        };
        // The idle time of a modified entry counts from its last hit.
        let last_hit_ps = |table: TableId, entry: &NewEntry| {
            let handle = configuration.entry_handle(table, &entry.keys, entry.priority).ok()?;
            let record = configuration.table(table)?.entry(handle)?;
            Some(program.cells().last_hit_ps(table, record))
        };
        let idle_ps = |item: &Item| match item {
            Item::State(BatchItem::Update(Update::InsertEntry { entry, .. }))
                if entry.idle_timeout_ns > 0 =>
            {
                Some(idle_at_ps(now_ps, entry))
            }
            Item::State(BatchItem::Update(Update::ModifyEntry { table, entry }))
                if entry.idle_timeout_ns > 0 =>
            {
                let from_ps = last_hit_ps(*table, entry).unwrap_or(now_ps);
                Some(idle_at_ps(from_ps, entry).max(now_ps))
            }
            _ => None,
        };
        batch.items.iter().filter_map(idle_ps).min()
    }

    /// Schedules a check of idle entries, unless an earlier one is scheduled.
    pub(super) fn check_idle_entries_at(&mut self, time_ps: u64) {
        let listeners = &mut self.driver.listeners;
        if listeners.idle_check_ps.is_none_or(|planned_ps| time_ps < planned_ps) {
            listeners.idle_check_ps = Some(time_ps);
            self.core.schedule(time_ps, Event::Control(ControlWork::IdleCheck));
        }
    }

    fn check_idle_entries_again(&mut self) {
        let now_ps = self.core.now_ps;
        let next_ps = |program: &LoadedProgram| {
            let configuration = program.store.configuration();
            program.cells().next_idle_check_ps(&configuration, now_ps)
        };
        let heard = self.programs.iter().filter(|it| self.listens_for_idle_entries(it.id()));
        if let Some(next_ps) = heard.filter_map(next_ps).min() {
            self.check_idle_entries_at(next_ps.max(now_ps));
        }
    }

    /// Reports entries that have idled out by now.
    pub(super) fn report_idle_entries(&mut self) {
        let now_ps = self.core.now_ps;
        let planned_ps = self.driver.listeners.idle_check_ps;
        if planned_ps.is_none_or(|planned_ps| planned_ps > now_ps) {
            // An earlier check replaced it.
            return;
        }
        self.driver.listeners.idle_check_ps = None;
        let ids = self.programs.iter().map(LoadedProgram::id);
        let heard: Vec<ProgramId> = ids.filter(|id| self.listens_for_idle_entries(*id)).collect();
        for id in heard {
            let Some(program) = self.programs.get_mut(id) else { continue };
            let (store, cells) = program.state_mut();
            let configuration = store.configuration();
            let idle = cells.take_idle_entries(&configuration, now_ps);
            drop(configuration);
            self.publish();
            for (table, entry) in idle {
                let idle = Notification::IdleTimeout { time_ps: now_ps, table, entry };
                let programs = &self.programs;
                let hears = |target| hears_idle_entries(programs, id, target);
                self.driver.listeners.notify(&idle, hears);
            }
        }
        self.check_idle_entries_again();
    }
}
