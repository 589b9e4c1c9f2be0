// SPDX-License-Identifier: Apache-2.0
//! [`Sockets`]: connections by addresses and ports, listeners and UDP sockets by port.

use crate::ports::Binding;
use crate::tcp::{Connection, Outgoing, SmallQueue, TcpEvents, TcpOptions};
use crate::wire::tcp::TcpHeader;
use rustc_hash::FxHashMap;
use slab::Slab;
use std::net::IpAddr;

/// The first of the ports for clients (RFC 6335 section 6).
const FIRST_FREE_PORT: u16 = 49152;

/// Own address, the peer's, own port, the peer's.
type Key = (IpAddr, IpAddr, u16, u16);

struct Entry {
    connection: Connection,
    program: usize,
    key: Key,
    /// The earliest timer that the host has for the connection.
    timer_ps: Option<u64>,
    in_port: SmallQueue,
    /// When it has room in the port, if it waits for that.
    blocked_until_ps: Option<u64>,
}

struct Listener {
    program: usize,
    options: TcpOptions,
    keeps_bytes: bool,
}

#[derive(Default)]
pub(super) struct Sockets {
    connections: Slab<Entry>,
    by_key: FxHashMap<Key, usize>,
    listeners: FxHashMap<u16, Listener>,
    udp: FxHashMap<u16, usize>,
    /// How many free ports were given out.
    given_out: u32,
}

impl Sockets {
    pub(super) fn udp(&self, port: u16) -> Option<usize> {
        self.udp.get(&port).copied()
    }

    pub(super) fn bind(&mut self, program: usize, binding: &Binding) -> bool {
        match binding {
            Binding::Udp(port) => self.udp.try_insert_new(*port, program),
            Binding::Tcp { port, options, keeps_bytes } => {
                let options = options.clone();
                let listener = Listener { program, options, keeps_bytes: *keeps_bytes };
                self.listeners.try_insert_new(*port, listener)
            }
            Binding::Frames => true,
        }
    }

    fn free_port(&mut self, is_free: impl Fn(&Sockets, u16) -> bool) -> Option<u16> {
        let count = u32::from(u16::MAX - FIRST_FREE_PORT) + 1;
        for _ in 0..count {
            let port = FIRST_FREE_PORT + (self.given_out % count) as u16;
            self.given_out = self.given_out.wrapping_add(1);
            if is_free(self, port) {
                return Some(port);
            }
        }
        None
    }

    pub(super) fn bind_free_udp(&mut self, program: usize) -> Option<u16> {
        let port = self.free_port(|sockets, port| !sockets.udp.contains_key(&port))?;
        self.udp.insert(port, program);
        Some(port)
    }

    /// The connection of a segment; `ends` are this host's address and the peer's.
    #[inline]
    pub(super) fn find(&self, ends: (IpAddr, IpAddr), tcp: &TcpHeader) -> Option<usize> {
        self.by_key.get(&(ends.0, ends.1, tcp.destination_port, tcp.source_port)).copied()
    }

    /// Makes a connection for a SYN to a listener.
    pub(super) fn accept(
        &mut self,
        ends: (IpAddr, IpAddr),
        tcp: &TcpHeader,
        first_sequence: u32,
        segment_bytes: u16,
    ) -> Option<usize> {
        let listener = self.listeners.get(&tcp.destination_port)?;
        let connection = Connection::accept(
            listener.options.clone(),
            tcp,
            first_sequence,
            segment_bytes,
            listener.keeps_bytes,
        )?;
        let program = listener.program;
        Some(self.add(program, ends, connection))
    }

    fn add(&mut self, program: usize, ends: (IpAddr, IpAddr), connection: Connection) -> usize {
        let (local_port, remote_port) = connection.ports();
        let key = (ends.0, ends.1, local_port, remote_port);
        let id = self.connections.insert(Entry {
            connection,
            program,
            key,
            timer_ps: None,
            in_port: SmallQueue::default(),
            blocked_until_ps: None,
        });
        self.by_key.insert(key, id);
        id
    }

    /// Makes a connection from a free port.
    pub(super) fn connect(
        &mut self,
        program: usize,
        (source, remote): (IpAddr, (IpAddr, u16)),
        make: impl FnOnce((u16, u16)) -> Connection,
    ) -> Option<usize> {
        let port = self.free_port(|sockets, port| {
            !sockets.by_key.contains_key(&(source, remote.0, port, remote.1))
                && !sockets.listeners.contains_key(&port)
        })?;
        Some(self.add(program, (source, remote.0), make((port, remote.1))))
    }

    pub(super) fn connection(&self, id: usize) -> Option<&Connection> {
        self.connections.get(id).map(|entry| &entry.connection)
    }

    #[inline]
    pub(super) fn connection_mut(&mut self, id: usize) -> Option<&mut Connection> {
        self.connections.get_mut(id).map(|entry| &mut entry.connection)
    }

    /// Own address and the peer's.
    #[inline]
    pub(super) fn ends(&self, id: usize) -> Option<(IpAddr, IpAddr)> {
        self.connections.get(id).map(|entry| (entry.key.0, entry.key.1))
    }

    #[inline]
    pub(super) fn take_events(&mut self, id: usize) -> Option<(usize, TcpEvents)> {
        let entry = self.connections.get_mut(id)?;
        let events = entry.connection.take_events();
        events.any().then_some((entry.program, events))
    }

    /// Returns the next segment of a connection to send now.
    #[inline]
    pub(super) fn poll(&mut self, id: usize, now_ps: u64) -> Option<Outgoing> {
        let entry = self.connections.get_mut(id)?;
        let limit_bytes = entry.connection.port_limit_bytes();
        entry.blocked_until_ps = limit_bytes
            .and_then(|limit_bytes| entry.in_port.blocked_until_ps(now_ps, limit_bytes))
            .filter(|_| entry.connection.has_unsent());
        entry.connection.poll(now_ps, entry.blocked_until_ps.is_none())
    }

    /// Notes that a segment of a connection leaves the port at a time.
    #[inline]
    pub(super) fn note_in_port(&mut self, id: usize, leaves_ps: u64, payload_bytes: u64) {
        if let Some(entry) = self.connections.get_mut(id)
            && entry.connection.port_limit_bytes().is_some()
        {
            entry.in_port.push(leaves_ps, payload_bytes);
        }
    }

    /// The time at which the host has to set a timer. A timer that comes too early is set again when it expires, so
    /// that most changes of a connection's timers cost nothing.
    #[inline]
    pub(super) fn timer_to_set(&mut self, id: usize) -> Option<u64> {
        let entry = self.connections.get_mut(id)?;
        let timers = [entry.connection.next_timer_ps(), entry.blocked_until_ps];
        let next_ps = timers.into_iter().flatten().min()?;
        if entry.timer_ps.is_some_and(|set_ps| set_ps <= next_ps) {
            return None;
        }
        entry.timer_ps = Some(next_ps);
        Some(next_ps)
    }

    /// Whether a connection is closed and needs a timer now, which is noted.
    #[inline]
    pub(super) fn is_aborted(&mut self, id: usize, now_ps: u64) -> bool {
        match self.connections.get_mut(id) {
            Some(entry) if entry.connection.is_closed() => {
                entry.timer_ps = Some(now_ps);
                true
            }
            _ => false,
        }
    }

    pub(super) fn expire(&mut self, id: usize, timer_ps: u64, now_ps: u64) -> bool {
        let Some(entry) = self.connections.get_mut(id) else { return false };
        if entry.timer_ps != Some(timer_ps) {
            // An earlier timer replaced it, or it is of an earlier connection.
            return false;
        }
        entry.timer_ps = None;
        entry.connection.expire(now_ps);
        true
    }

    pub(super) fn remove_if_closed(&mut self, id: usize) {
        if self.connections.get(id).is_some_and(|entry| entry.connection.is_closed()) {
            let entry = self.connections.remove(id);
            self.by_key.remove(&entry.key);
        }
    }
}

/// Insertion that does not replace.
trait InsertNew<K, V> {
    fn try_insert_new(&mut self, key: K, value: V) -> bool;
}

impl<K: std::hash::Hash + Eq, V> InsertNew<K, V> for FxHashMap<K, V> {
    fn try_insert_new(&mut self, key: K, value: V) -> bool {
        match self.entry(key) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(value);
                true
            }
        }
    }
}
