// SPDX-License-Identifier: Apache-2.0
//! A memcached server: a store of keys, and one worker that takes a time for each request.

use super::protocol::{self, FRAME_HEADER_BYTES, Protocol, Request, Response};
use crate::applications::{Measures, Report, option_error};
use crate::error::AddError;
use crate::interface::HostOptions;
use crate::program::{Binding, Datagram, Io, Program};
use crate::stack::Stack;
use crate::wire::{View, udp};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::net::IpAddr;

/// Payload bytes of memcached's datagrams, if the MTU allows them.
const DATAGRAM_BYTES: usize = 1400;

/// Options of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct MemcachedServerOptions {
    /// The port (memcached: 11211).
    pub port: u16,
    /// The protocol.
    pub protocol: Protocol,
    /// Keys that are stored at the begin: the first ones of clients.
    pub keys: u64,
    /// Bytes of their values.
    pub value_bytes: u32,
    /// The time that a request takes, in picoseconds; further ones wait.
    pub service_ps: u64,
}

impl Default for MemcachedServerOptions {
    /// 1,000 keys with values of 100 bytes, answered at once.
    fn default() -> MemcachedServerOptions {
        MemcachedServerOptions {
            port: 11211,
            protocol: Protocol::Text,
            keys: 1000,
            value_bytes: 100,
            service_ps: 0,
        }
    }
}

/// What a server did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemcachedServerReport {
    /// Gets of keys that are stored.
    pub hits: u64,
    /// Gets of other keys.
    pub misses: u64,
    /// Sets.
    pub sets: u64,
    /// Requests that it did not understand.
    pub errors: u64,
    /// The most requests that waited or were at work at once.
    pub most_waiting: u64,
}

/// An answer that the worker has ready at its time.
#[derive(Debug)]
struct Ready {
    to: (IpAddr, u16),
    datagrams: Vec<Vec<u8>>,
}

#[derive(Debug)]
pub(crate) struct MemcachedServer {
    options: MemcachedServerOptions,
    datagram_bytes: usize,
    /// Values that clients set; the others follow from their keys.
    store: FxHashMap<Vec<u8>, Vec<u8>>,
    waiting: VecDeque<Ready>,
    busy_until_ps: u64,
    report: MemcachedServerReport,
}

impl MemcachedServer {
    pub(crate) fn new(
        options: MemcachedServerOptions,
        host: &HostOptions,
    ) -> Result<MemcachedServer, AddError> {
        // Clients may use any version of IP that the host has.
        let own = host.interfaces.iter().flat_map(|interface| &interface.addresses);
        let most = own.map(|own| host.most_payload_bytes(own.address)).min();
        let most = most.unwrap_or(host.mtu_bytes.into()) as usize;
        let datagram_bytes = most.saturating_sub(udp::HEADER_BYTES).min(DATAGRAM_BYTES);
        if datagram_bytes <= FRAME_HEADER_BYTES {
            return Err(option_error("the host's MTU is too small for memcached's datagrams"));
        }
        let store = (1..=options.keys)
            .map(|number| {
                let key = protocol::key(number);
                let value = protocol::value(&key, options.value_bytes);
                (key, value)
            })
            .collect();
        Ok(MemcachedServer {
            options,
            datagram_bytes,
            store,
            waiting: VecDeque::new(),
            busy_until_ps: 0,
            report: MemcachedServerReport::default(),
        })
    }

    fn answer(&mut self, request: Option<Request>) -> Response {
        match request {
            Some(Request::Get { key }) => match self.store.get(&key) {
                Some(value) => {
                    self.report.hits += 1;
                    Response::Value { value: value.clone(), key }
                }
                None => {
                    self.report.misses += 1;
                    Response::NotFound
                }
            },
            Some(Request::Set { key, value }) => {
                self.report.sets += 1;
                self.store.insert(key, value);
                Response::Stored
            }
            None => {
                self.report.errors += 1;
                Response::Error
            }
        }
    }

    fn send(&self, ready: &Ready, io: &mut Io<'_>) {
        for datagram in &ready.datagrams {
            io.send_datagram(self.options.port, ready.to, 0, View::from(datagram.as_slice()));
        }
    }
}

impl Program for MemcachedServer {
    fn bindings(&self) -> Vec<Binding> {
        vec![Binding::Udp(self.options.port)]
    }

    fn datagram(&mut self, datagram: &Datagram<'_>, io: &mut Io<'_>) {
        let bytes = datagram.payload.to_vec();
        let Some((id, _, count, message)) = protocol::read_datagram(&bytes) else {
            self.report.errors += 1;
            return;
        };
        let request = self.options.protocol.read_request(message).filter(|_| count == 1);
        let response = self.answer(request);
        let message = self.options.protocol.write_response(&response);
        let datagrams = protocol::datagrams(id, &message, self.datagram_bytes);
        let ready = Ready { to: datagram.source, datagrams };
        if self.options.service_ps == 0 {
            self.send(&ready, io);
            return;
        }
        self.waiting.push_back(ready);
        self.report.most_waiting = self.report.most_waiting.max(self.waiting.len() as u64);
        self.busy_until_ps = self.busy_until_ps.max(io.now_ps()) + self.options.service_ps;
        io.set_timer(self.busy_until_ps, 0);
    }

    fn timer(&mut self, _: u64, io: &mut Io<'_>) {
        if let Some(ready) = self.waiting.pop_front() {
            self.send(&ready, io);
        }
    }
}

impl Measures for MemcachedServer {
    fn report(&self, _: &Stack) -> Report {
        Report::MemcachedServer(self.report.clone())
    }
}
