// SPDX-License-Identifier: Apache-2.0
//! A memcached client: gets and sets of keys with a Zipf distribution.

use super::protocol::{self, FRAME_HEADER_BYTES, Protocol, Request, Response};
use crate::applications::{Measures, Report, SECOND_PS, option_error};
use crate::error::AddError;
use crate::interface::HostOptions;
use crate::program::{Datagram, Io, Program};
use crate::stack::Stack;
use crate::wire::{View, udp};
use arithmetic::random::stream::Stream;
use rustc_hash::FxHashMap;
use std::net::IpAddr;

/// Tokens below it are timeouts of requests; it is the next arrival.
const ARRIVAL: u64 = u64::MAX;

/// When requests are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// A Poisson process with this mean number of requests a second.
    Poisson(f64),
    /// This many requests wait for their answers at any time.
    Outstanding(u32),
}

/// Options of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct MemcachedClientOptions {
    /// The server.
    pub destination: (IpAddr, u16),
    /// When the first request is made, in picoseconds.
    pub start_ps: u64,
    /// When requests are made.
    pub pacing: Pacing,
    /// The number of requests.
    pub count: Option<u64>,
    /// How long requests are made, in picoseconds.
    pub duration_ps: Option<u64>,
    /// The share of gets; the others are sets.
    pub get_share: f64,
    /// The number of keys, `key00000001` and so on.
    pub keys: u64,
    /// The exponent of the keys' Zipf distribution; 0 is uniform.
    pub zipf_exponent: f64,
    /// Bytes of a value that a set stores.
    pub value_bytes: u32,
    /// When a request without an answer counts as lost, in picoseconds.
    pub timeout_ps: u64,
    /// The protocol.
    pub protocol: Protocol,
}

impl MemcachedClientOptions {
    /// 1,000 gets, one after the other, of 1,000 keys.
    pub fn to(destination: (IpAddr, u16)) -> MemcachedClientOptions {
        MemcachedClientOptions {
            destination,
            start_ps: 0,
            pacing: Pacing::Outstanding(1),
            count: Some(1000),
            duration_ps: None,
            get_share: 1.0,
            keys: 1000,
            zipf_exponent: 0.99,
            value_bytes: 100,
            timeout_ps: SECOND_PS,
            protocol: Protocol::Text,
        }
    }
}

/// What a client measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemcachedClientReport {
    /// Gets made.
    pub gets: u64,
    /// Sets made.
    pub sets: u64,
    /// Gets answered with a value.
    pub hits: u64,
    /// Gets answered without one.
    pub misses: u64,
    /// Sets answered.
    pub stored: u64,
    /// Answers that are errors, or do not fit the request.
    pub errors: u64,
    /// Values that differ from what was stored under the key.
    pub wrong_values: u64,
    /// Requests without an answer until their timeout.
    pub lost: u64,
    /// From request to answer, in order of answers, in picoseconds.
    pub latencies_ps: Vec<u64>,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    key: Vec<u8>,
    is_get: bool,
    asked_ps: u64,
    /// The parts of the answer by their numbers.
    parts: Vec<Option<Vec<u8>>>,
}

#[derive(Debug)]
pub(crate) struct MemcachedClient {
    options: MemcachedClientOptions,
    random: Stream,
    port: Option<u16>,
    made: u64,
    arrived_ps: f64,
    /// By the 16 bits of the frame header.
    waiting: FxHashMap<u16, Waiting>,
    report: MemcachedClientReport,
}

impl MemcachedClient {
    pub(crate) fn new(
        options: MemcachedClientOptions,
        host: &HostOptions,
        random: Stream,
    ) -> Result<MemcachedClient, AddError> {
        let headers = (udp::HEADER_BYTES + FRAME_HEADER_BYTES + 64) as u32;
        let most = host.most_payload_bytes(options.destination.0).saturating_sub(headers);
        let is_paced = match options.pacing {
            Pacing::Poisson(rate) => rate > 0.0 && rate.is_finite(),
            Pacing::Outstanding(count) => count > 0 && count <= 0x8000,
        };
        if !is_paced {
            return Err(option_error("a memcached client's rate or window must be above 0"));
        }
        if options.keys == 0 || options.timeout_ps == 0 {
            return Err(option_error("a memcached client needs keys and a timeout above 0"));
        }
        if !(0.0..=1.0).contains(&options.get_share)
            || !(0.0..1000.0).contains(&options.zipf_exponent)
        {
            return Err(option_error(
                "a memcached client's share of gets lies between 0 and 1, its Zipf exponent not below 0",
            ));
        }
        // memcached refuses requests of several datagrams.
        if options.get_share < 1.0 && options.value_bytes > most {
            return Err(option_error(format!(
                "a set of {} bytes does not fit one datagram: at most {most}",
                options.value_bytes
            )));
        }
        Ok(MemcachedClient {
            options,
            random,
            port: None,
            made: 0,
            arrived_ps: 0.0,
            waiting: FxHashMap::default(),
            report: MemcachedClientReport::default(),
        })
    }

    fn may_ask(&self, now_ps: u64) -> bool {
        let end_ps = self.options.duration_ps.map(|ps| self.options.start_ps.saturating_add(ps));
        self.options.count.is_none_or(|count| self.made < count)
            && end_ps.is_none_or(|end_ps| now_ps < end_ps)
    }

    fn ask(&mut self, io: &mut Io<'_>) {
        let Some(port) = self.port.filter(|_| self.may_ask(io.now_ps())) else { return };
        let number = self.made;
        self.made += 1;
        let rank = match self.options.zipf_exponent > 0.0 {
            true => self.random.zipf(self.options.keys, self.options.zipf_exponent),
            false => 1 + self.random.up_to(self.options.keys - 1),
        };
        let key = protocol::key(rank);
        let is_get = self.options.get_share >= 1.0 || self.random.chance(self.options.get_share);
        let request = match is_get {
            true => Request::Get { key: key.clone() },
            false => {
                let value = protocol::value(&key, self.options.value_bytes);
                Request::Set { key: key.clone(), value }
            }
        };
        self.report.gets += u64::from(is_get);
        self.report.sets += u64::from(!is_get);
        let message = self.options.protocol.write_request(&request);
        let asked_ps = io.now_ps();
        let waiting = Waiting { number, key, is_get, asked_ps, parts: Vec::new() };
        // An older request with these 16 bits is lost.
        self.report.lost += u64::from(self.waiting.insert(number as u16, waiting).is_some());
        for datagram in protocol::datagrams(number as u16, &message, usize::from(u16::MAX)) {
            let view = View::from(datagram.as_slice());
            io.send_datagram(port, self.options.destination, 0, view);
        }
        io.set_timer(asked_ps + self.options.timeout_ps, number);
    }

    fn schedule_arrival(&mut self, io: &mut Io<'_>) {
        if let Pacing::Poisson(rate) = self.options.pacing {
            self.arrived_ps += self.random.exponential(SECOND_PS as f64 / rate);
            let next_ps = self.options.start_ps.saturating_add(self.arrived_ps as u64);
            if self.may_ask(next_ps) {
                io.set_timer(next_ps, ARRIVAL);
            }
        }
    }

    fn ask_again(&mut self, io: &mut Io<'_>) {
        if let Pacing::Outstanding(_) = self.options.pacing {
            self.ask(io);
        }
    }

    fn take(&mut self, waiting: &Waiting, response: Option<Response>) {
        match (waiting.is_get, response) {
            (true, Some(Response::Value { value, .. })) => {
                self.report.hits += 1;
                let expected = protocol::value(&waiting.key, value.len() as u32);
                self.report.wrong_values += u64::from(value != expected);
            }
            (true, Some(Response::NotFound)) => self.report.misses += 1,
            (false, Some(Response::Stored)) => self.report.stored += 1,
            _ => self.report.errors += 1,
        }
    }
}

impl Program for MemcachedClient {
    fn start_ps(&self) -> Option<u64> {
        Some(self.options.start_ps)
    }

    fn start(&mut self, io: &mut Io<'_>) {
        self.port = io.bind_udp();
        match self.options.pacing {
            Pacing::Poisson(_) => self.schedule_arrival(io),
            Pacing::Outstanding(count) => (0..count).for_each(|_| self.ask(io)),
        }
    }

    fn timer(&mut self, token: u64, io: &mut Io<'_>) {
        if token == ARRIVAL {
            self.ask(io);
            self.schedule_arrival(io);
            return;
        }
        if self.waiting.get(&(token as u16)).is_some_and(|waiting| waiting.number == token) {
            self.waiting.remove(&(token as u16));
            self.report.lost += 1;
            self.ask_again(io);
        }
    }

    fn datagram(&mut self, datagram: &Datagram<'_>, io: &mut Io<'_>) {
        let bytes = datagram.payload.to_vec();
        let Some((id, number, count, part)) = protocol::read_datagram(&bytes) else { return };
        let Some(waiting) = self.waiting.get_mut(&id) else { return };
        if waiting.parts.is_empty() {
            waiting.parts = vec![None; usize::from(count.max(1))];
        }
        if let Some(slot) = waiting.parts.get_mut(usize::from(number)) {
            *slot = Some(part.to_vec());
        }
        if waiting.parts.iter().any(Option::is_none) {
            return;
        }
        let Some(waiting) = self.waiting.remove(&id) else { return };
        let message: Vec<u8> = waiting.parts.iter().flatten().flatten().copied().collect();
        self.report.latencies_ps.push(io.now_ps() - waiting.asked_ps);
        let response = self.options.protocol.read_response(&message);
        self.take(&waiting, response);
        self.ask_again(io);
    }
}

impl Measures for MemcachedClient {
    fn report(&self, _: &Stack) -> Report {
        Report::MemcachedClient(self.report.clone())
    }
}
