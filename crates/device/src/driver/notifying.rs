// SPDX-License-Identifier: Apache-2.0
//! Notifications of a device: digests, packets for the CPU port, idle timeouts, swaps, links. They go to every
//! controller that listens.

use crate::burst::Burst;
use crate::control_request::{ControlWork, Mailbox};
use crate::switch::Switch;
use crate::switch_core::Event;
use control::target::{Batch, Item, Notification};
use ir::TableId;
use state::{BatchItem, NewEntry, Update};
use std::sync::Arc;

impl Switch {
    /// A controller begins to listen: what happens from now on is sent to it.
    pub fn listen(&mut self, mailbox: &Arc<Mailbox>) {
        self.publish();
        self.driver.listeners.mailboxes.push(Arc::downgrade(mailbox));
        self.driver.listeners.digests_seen = self.core.digests.len();
        self.driver.listeners.packets_seen = self.core.transmitted.len();
        self.watch_all_writes();
        self.check_idle_entries_again();
    }

    /// Whether somebody listens.
    #[inline]
    pub fn has_listeners(&self) -> bool {
        !self.driver.listeners.mailboxes.is_empty()
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
        let digests = self.core.digests.get(listeners.digests_seen..).unwrap_or_default();
        found.extend(digests.iter().map(|digest| Notification::Digest {
            time_ps: digest.time_ps,
            name: digest.name.clone(),
            fields: digest.fields.clone(),
        }));
        if let Some(cpu_port) = self.core.options.cpu_port {
            let sent = self.core.transmitted.get(listeners.packets_seen..).unwrap_or_default();
            let sent = sent.iter().filter(|packet| packet.port == cpu_port);
            found.extend(sent.map(|packet| Notification::PacketIn {
                time_ps: packet.time_ps,
                port: packet.port,
                bytes: packet.bytes.clone(),
            }));
        }
        listeners.digests_seen = self.core.digests.len();
        listeners.packets_seen = self.core.transmitted.len();
        found.sort_by_key(Notification::time_ps);
        for notification in &found {
            self.driver.listeners.notify(notification);
        }
    }

    /// Sends packets for the CPU port that a burst has sent, but for the first ones.
    #[inline]
    pub fn publish_burst(&mut self, burst: &Burst, already: usize) {
        let Some(cpu_port) = self.core.options.cpu_port.filter(|_| self.has_listeners()) else {
            return;
        };
        let time_ps = self.core.now_ps;
        for sent in burst.outputs().skip(already).filter(|sent| sent.port == cpu_port) {
            let (port, bytes) = (sent.port, sent.bytes.to_vec());
            self.notify(&Notification::PacketIn { time_ps, port, bytes });
        }
    }

    /// The device's owner has taken digests, or packets, that were published.
    pub fn forget_published(&mut self) {
        self.driver.listeners.digests_seen = self.core.digests.len();
        self.driver.listeners.packets_seen = self.core.transmitted.len();
    }

    /// Tells listeners of something.
    pub fn notify(&mut self, notification: &Notification) {
        if self.has_listeners() {
            self.publish();
            self.driver.listeners.notify(notification);
        }
    }

    /// Tells listeners that another program runs.
    pub fn note_swap(&mut self) {
        let program = self.current.program().clone();
        self.notify(&Notification::Swapped { time_ps: self.core.now_ps, program });
        self.driver.listeners.idle_check_ps = None;
        self.watch_all_writes();
        self.check_idle_entries_again();
    }

    /// Whether listeners are told of entries that idle out.
    pub(super) fn listens_for_idle_entries(&self) -> bool {
        self.has_listeners() && self.current.program().tables.iter().any(|table| table.idle_timeout)
    }

    /// When the first of a batch's entries may idle out.
    pub(super) fn earliest_timeout_ps(&self, batch: &Batch) -> Option<u64> {
        if !self.listens_for_idle_entries() {
            return None;
        }
        let now_ps = self.core.now_ps;
        let configuration = self.current.store.configuration();
        let idle_at_ps = |from_ps: u64, entry: &NewEntry| {
            from_ps.saturating_add(entry.idle_timeout_ns.saturating_mul(1_000))
        };
        // A modified entry may have had no hit for some time.
        let last_hit_ps = |table: TableId, entry: &NewEntry| {
            let handle = configuration.entry_handle(table, &entry.keys, entry.priority).ok()?;
            let record = configuration.table(table)?.entry(handle)?;
            Some(self.current.cells().last_hit_ps(table, record))
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
        if self.listens_for_idle_entries() {
            let configuration = self.current.store.configuration();
            let now_ps = self.core.now_ps;
            if let Some(next_ps) = self.current.cells().next_idle_check_ps(&configuration, now_ps) {
                self.check_idle_entries_at(next_ps.max(now_ps));
            }
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
        if !self.listens_for_idle_entries() {
            return;
        }
        let configuration = self.current.store.configuration();
        let idle = self.current.state_mut().1.take_idle_entries(&configuration, now_ps);
        drop(configuration);
        for (table, entry) in idle {
            self.notify(&Notification::IdleTimeout { time_ps: now_ps, table, entry });
        }
        self.check_idle_entries_again();
    }
}
