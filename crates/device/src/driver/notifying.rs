// SPDX-License-Identifier: Apache-2.0
//! Notifications of a device: digests, packets for the CPU port, idle timeouts, swaps, links. Controllers are told
//! of the program that they listen to; of links all are.

use crate::burst::Burst;
use crate::control_request::{ControlWork, Mailbox, TargetProgram};
use crate::event::Event;
use crate::loaded_program::LoadedProgram;
use crate::output::{DigestMessage, Transmitted};
use crate::packet::ProgramId;
use crate::programs::Programs;
use crate::switch::Switch;
use control::target::{Batch, Item, Notification};
use ir::TableId;
use state::{BatchItem, NewEntry, Update};
use std::sync::Arc;

/// Which controllers a notification is for.
#[derive(Clone, Copy, Debug)]
enum Audience {
    /// All of them.
    All,
    /// Those of the main program.
    Main,
    /// Those of the program with this code; for one that is or was the main program, those of the main program,
    /// too.
    Code(ProgramId),
}

impl Audience {
    fn has(self, programs: &Programs, of: TargetProgram) -> bool {
        match (self, of) {
            (Audience::All, _) | (Audience::Main, TargetProgram::Main) => true,
            (Audience::Main, TargetProgram::Loaded(_)) => false,
            (Audience::Code(id), of) => programs.get(id).is_none_or(|program| match of {
                TargetProgram::Main => program.is_of_main_line,
                TargetProgram::Loaded(name) => program.name() == name,
            }),
        }
    }
}

/// Whether entries of a program's code that idle out matter to those who listen to a program. Those of a program
/// that is not the main one any more do not matter to the main program's controllers.
fn hears_idle_entries(programs: &Programs, id: ProgramId, of: TargetProgram) -> bool {
    match of {
        TargetProgram::Main => id == programs.main_id(),
        TargetProgram::Loaded(name) => programs.code_of(name) == Some(id),
    }
}

impl Switch {
    /// A controller begins to listen to a program: what happens from now on is sent to it.
    pub fn listen(&mut self, of: TargetProgram, mailbox: &Arc<Mailbox>) {
        self.publish();
        self.driver.listeners.add(of, mailbox);
        self.driver.listeners.digests_seen = self.core.digests.len();
        self.driver.listeners.packets_seen = self.core.transmitted.len();
        self.watch_all_writes();
        self.check_idle_entries_again();
    }

    /// Whether controllers listen.
    #[inline]
    pub fn has_listeners(&self) -> bool {
        !self.driver.listeners.is_empty()
    }

    /// Sends digests and packets for the CPU port that have come up since the last call.
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
            let Transmitted { time_ps, port, bytes, .. } = packet.clone();
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
        self.driver.listeners.notify(notification, |of| audience.has(programs, of));
    }

    /// Notes which program an output of a burst is of, for controllers that listen for packets.
    #[inline]
    pub fn note_burst_outputs(&mut self, first_output: usize, program: ProgramId) {
        if self.core.options.cpu_port.is_some() && self.has_listeners() {
            self.burst_programs.push((first_output, program));
        }
    }

    /// Sends packets for the CPU port that a burst has sent, but for the first ones.
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

    /// The device's owner has taken digests, or packets, that were published.
    pub fn forget_published(&mut self) {
        self.driver.listeners.digests_seen = self.core.digests.len();
        self.driver.listeners.packets_seen = self.core.transmitted.len();
    }

    /// Tells listeners of something, behind what has come up before.
    fn notify(&mut self, audience: Audience, notification: &Notification) {
        if self.has_listeners() {
            self.publish();
            self.send(audience, notification);
        }
    }

    /// Tells listeners that a link of a port came up or went down.
    pub fn note_link(&mut self, port: u32, is_up: bool) {
        let time_ps = self.core.now_ps;
        self.notify(Audience::All, &Notification::Link { time_ps, port, is_up });
    }

    /// Tells listeners to the main program that another one is it.
    pub fn note_swap(&mut self) {
        let program = self.programs.main().program().clone();
        let swapped = Notification::Swapped { time_ps: self.core.now_ps, program };
        self.notify(Audience::Main, &swapped);
        self.note_programs();
    }

    /// Tells listeners to a program that other code runs it.
    pub fn note_new_code(&mut self, id: ProgramId) {
        let Some(program) = self.programs.get(id).map(|program| program.program().clone()) else {
            return;
        };
        let swapped = Notification::Swapped { time_ps: self.core.now_ps, program };
        self.notify(Audience::Code(id), &swapped);
        self.note_programs();
    }

    /// Other programs are loaded, or other code of them.
    pub fn note_programs(&mut self) {
        self.driver.listeners.idle_check_ps = None;
        self.watch_all_writes();
        self.check_idle_entries_again();
    }

    /// Whether a listener receives the idle timeouts of a program.
    pub(super) fn listens_for_idle_entries(&self, id: ProgramId) -> bool {
        let Some(program) = self.programs.get(id) else { return false };
        program.program().tables.iter().any(|table| table.idle_timeout)
            && !program.is_leaving
            && self.driver.listeners.any(|of| hears_idle_entries(&self.programs, id, of))
    }

    /// When the first of a batch's entries may idle out.
    pub(super) fn earliest_timeout_ps(&self, id: ProgramId, batch: &Batch) -> Option<u64> {
        let program = self.programs.get(id).filter(|_| self.listens_for_idle_entries(id))?;
        let now_ps = self.core.now_ps;
        let configuration = program.store.configuration();
        let idle_at_ps = |from_ps: u64, entry: &NewEntry| {
            from_ps.saturating_add(entry.idle_timeout_ns.saturating_mul(1_000))
        };
        // A modified entry may have had no hit for some time.
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

    /// Looks at entries at a time, if not before.
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
            // An earlier check took its place.
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
                let hears = |of| hears_idle_entries(programs, id, of);
                self.driver.listeners.notify(&idle, hears);
            }
        }
        self.check_idle_entries_again();
    }
}
