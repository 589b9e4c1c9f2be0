// SPDX-License-Identifier: Apache-2.0
//! Two connections over a channel that loses, reorders and repeats segments.

use super::{Connection, Control, Outgoing, TcpOptions, TcpState};
use crate::wire::ipv4::Ecn;
use crate::wire::tcp::Flags;
use arithmetic::random::stream::Stream;
use proptest::prelude::*;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000_000;
const SECOND: u64 = 1000 * MS;

/// What happens to segments.
#[derive(Clone, Copy, Debug, Default)]
struct Trouble {
    loss: f64,
    duplication: f64,
    reordering: f64,
    /// Share of capable packets that are marked.
    marking: f64,
}

/// Two connections, 0 the client, 1 the server once SYN arrived.
struct Channel {
    ends: [Option<Connection>; 2],
    server: TcpOptions,
    trouble: Trouble,
    random: Stream,
    now_ps: u64,
    sequence: u64,
    flying: BTreeMap<(u64, u64), (usize, Outgoing)>,
    /// What each end has to write and did not yet.
    to_write: [Vec<u8>; 2],
    written: [usize; 2],
    read: [Vec<u8>; 2],
    /// How much each end reads a millisecond and at each event; `None` for everything.
    reads: Option<u64>,
    /// Whether the server closes when the client does, and not before.
    server_waits: bool,
    has_finished: [bool; 2],
    log: Vec<(u64, usize, Outgoing)>,
}

impl Channel {
    fn new(client: TcpOptions, server: TcpOptions, trouble: Trouble, seed: u64) -> Channel {
        let mut random = Stream::new(seed, 1, 1);
        // Numbers near the end go round.
        let first = u32::MAX - random.up_to(40_000) as u32;
        let connection = Connection::connect(client, (1000, 80), first, 1460, true);
        Channel {
            ends: [Some(connection), None],
            server,
            trouble,
            random,
            now_ps: 0,
            sequence: 0,
            flying: BTreeMap::new(),
            to_write: Default::default(),
            written: [0; 2],
            read: Default::default(),
            reads: None,
            server_waits: false,
            has_finished: [false; 2],
            log: Vec::new(),
        }
    }

    fn fly(&mut self, from: usize, mut outgoing: Outgoing) {
        self.log.push((self.now_ps, from, outgoing.clone()));
        if outgoing.ecn == Ecn::Capable0 && self.random.chance(self.trouble.marking) {
            outgoing.ecn = Ecn::Congestion;
        }
        let copies = 1 + usize::from(self.random.chance(self.trouble.duplication));
        for _ in 0..copies {
            if self.random.chance(self.trouble.loss) {
                continue;
            }
            let late = self.random.chance(self.trouble.reordering);
            let delay_ps = 5 * MS + if late { self.random.up_to(20 * MS) } else { 0 };
            self.sequence += 1;
            self.flying
                .insert((self.now_ps + delay_ps, self.sequence), (1 - from, outgoing.clone()));
        }
    }

    /// Lets an end's application act, then sends.
    fn act(&mut self, end: usize) {
        let Some(connection) = &mut self.ends[end] else { return };
        let events = connection.take_events();
        if events.is_connected {
            let rest = &self.to_write[end][self.written[end]..];
            connection.write(rest);
            self.written[end] += rest.len();
            if end == 0 || !self.server_waits {
                connection.close();
            }
        }
        if events.is_peer_finished {
            self.has_finished[end] = true;
            connection.close();
        }
        let (count, bytes) = connection.read(self.reads.unwrap_or(u64::MAX));
        assert_eq!(count, bytes.len() as u64);
        self.read[end].extend(bytes);
        while let Some(connection) = &mut self.ends[end]
            && let Some(outgoing) = connection.poll(self.now_ps, true)
        {
            self.fly(end, outgoing);
        }
    }

    /// Whether bytes that arrived are unread.
    fn has_unread(&self) -> bool {
        let arrived = |end: usize| {
            self.ends[end].as_ref().map_or(0, |connection| connection.statistics().received_bytes)
        };
        (0..2).any(|end| arrived(end) > self.read[end].len() as u64)
    }

    /// Runs until both ends are over, or the time is.
    fn run(&mut self, until_ps: u64) {
        loop {
            self.act(0);
            self.act(1);
            let arrival = self.flying.keys().next().map(|key| key.0);
            let timers = self.ends.iter().flatten().filter_map(Connection::next_timer_ps).min();
            let read = self.reads.filter(|reads| *reads > 0 && self.has_unread());
            let read = read.map(|_| self.now_ps + MS);
            let times = arrival.into_iter().chain(timers).chain(read);
            let Some(next_ps) = times.min() else { return };
            if next_ps > until_ps {
                return;
            }
            assert!(next_ps >= self.now_ps);
            self.now_ps = next_ps;
            for connection in self.ends.iter_mut().flatten() {
                if connection.next_timer_ps().is_some_and(|due_ps| due_ps <= next_ps) {
                    connection.expire(next_ps);
                }
            }
            while let Some(entry) = self.flying.first_entry()
                && entry.key().0 <= next_ps
            {
                let (end, outgoing) = entry.remove();
                self.arrive(end, &outgoing);
                self.act(end);
            }
        }
    }

    fn arrive(&mut self, end: usize, outgoing: &Outgoing) {
        let view = outgoing.payload.view();
        match &mut self.ends[end] {
            Some(connection) => {
                connection.receive(self.now_ps, &outgoing.header, view, outgoing.ecn);
            }
            slot => {
                *slot = Connection::accept(self.server.clone(), &outgoing.header, 77, 1460, true);
            }
        }
    }

    fn check(&self) {
        for end in 0..2 {
            let (read, wrote) = (&self.read[end], &self.to_write[1 - end]);
            assert!(read == wrote, "end {end}: {} of {} bytes", read.len(), wrote.len());
            assert!(self.has_finished[end], "end {end} saw no end");
            let state = self.ends[end].as_ref().map(Connection::state);
            assert_eq!(state, Some(TcpState::Closed), "end {end}");
        }
    }
}

fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Stream::new(seed, 9, 9);
    (0..length).map(|_| random.bits() as u8).collect()
}

fn patient() -> TcpOptions {
    TcpOptions {
        least_timeout_ps: 50 * MS,
        acknowledgement_delay_ps: 10 * MS,
        most_timeouts: 1000,
        most_handshake_timeouts: 1000,
        receive_buffer_bytes: 100_000,
        ..TcpOptions::default()
    }
}

fn cases() -> ProptestConfig {
    let count = std::env::var("PLANEWRIGHT_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: count.unwrap_or(60),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Whatever the channel does, both ends read what the other wrote, and close.
    #[test]
    fn streams_survive_loss_reordering_and_duplication(
        seed in any::<u64>(),
        lengths in (0usize..80_000, 0usize..30_000),
        loss in 0.0..0.25,
        duplication in 0.0..0.2,
        reordering in 0.0..0.3,
        marking in 0.0..0.3,
        control in 0usize..5,
        switches in any::<(bool, bool, bool, bool, bool)>(),
        reads in prop::option::of(500u64..5000),
    ) {
        let (sack, timestamps, window_scaling, ecn, nagle) = switches;
        let control = Control::NAMES[control].1;
        let client = TcpOptions { control, sack, ecn, nagle, ..patient() };
        let server = TcpOptions { control, timestamps, window_scaling, ecn, ..patient() };
        let trouble = Trouble { loss, duplication, reordering, marking };
        let mut channel = Channel::new(client, server, trouble, seed);
        channel.to_write = [bytes(seed, lengths.0), bytes(seed + 1, lengths.1)];
        channel.reads = reads;
        channel.run(100_000 * SECOND);
        channel.check();
    }
}

#[test]
fn a_handshake_and_a_close_have_the_segments_of_rfc_9293() {
    let mut channel =
        Channel::new(TcpOptions::default(), TcpOptions::default(), Trouble::default(), 1);
    channel.run(10 * SECOND);
    channel.check();
    let flags: Vec<(usize, Flags)> =
        channel.log.iter().map(|(_, end, outgoing)| (*end, outgoing.header.flags)).collect();
    let fin = Flags::FIN | Flags::ACK;
    assert_eq!(
        flags,
        [(0, Flags::SYN), (1, Flags::SYN | Flags::ACK), (0, fin), (1, fin), (0, Flags::ACK)]
    );
    let syn = &channel.log[0].2.header.options;
    assert_eq!((syn.maximum_segment_size, syn.window_scale), (Some(1460), Some(7)));
    assert!(syn.sack_permitted && syn.timestamps.is_some());
}

/// RFC 9293 section 3.8.6.1: the sender probes a closed window until the reader reads.
#[test]
fn a_closed_window_is_probed() {
    let small = TcpOptions { receive_buffer_bytes: 5000, ..patient() };
    let mut channel = Channel::new(patient(), small, Trouble::default(), 3);
    channel.to_write[0] = bytes(5, 20_000);
    channel.reads = Some(0);
    channel.run(20 * SECOND);
    assert_eq!(channel.read[1].len(), 0);
    let probes = channel.log.iter().filter(|(time_ps, end, _)| *end == 0 && *time_ps > SECOND);
    assert!((3..12).contains(&probes.count()), "the probes back off");
    channel.reads = None;
    channel.run(200 * SECOND);
    channel.check();
}

/// RFC 5681 section 3.1 and RFC 6928: ten segments, then half as much again with an ACK for two. Of fifteen the last one
/// waits for a second one.
#[test]
fn slow_start_begins_with_ten_segments() {
    let options = TcpOptions { control: Control::Reno, ..TcpOptions::default() };
    let mut channel = Channel::new(options.clone(), options, Trouble::default(), 4);
    channel.to_write[0] = bytes(1, 60 * 1448);
    channel.server_waits = true;
    channel.run(SECOND);
    let count = |from: u64| {
        let sent = channel.log.iter().filter(|(time_ps, end, outgoing)| {
            *end == 0 && *time_ps == from * MS && outgoing.payload.length() > 0
        });
        sent.count()
    };
    assert_eq!([count(10), count(20), count(30)], [10, 15, 21]);
}

/// RFC 8257 section 3.2: the receiver acknowledges at once when marks begin or end.
#[test]
fn dctcp_echoes_marks_exactly() {
    let options = TcpOptions { control: Control::Dctcp, ..TcpOptions::default() };
    let trouble = Trouble { marking: 0.3, ..Trouble::default() };
    let mut channel = Channel::new(options.clone(), options, trouble, 5);
    channel.to_write[0] = bytes(1, 300_000);
    channel.run(20 * SECOND);
    channel.check();
    let client = channel.ends[0].as_ref().expect("a client").statistics();
    let server = channel.ends[1].as_ref().expect("a server").statistics();
    assert!(server.marks > 30, "{server:?}");
    assert_eq!((client.retransmissions, client.timeouts), (0, 0));
    assert!(channel.log.iter().all(|(_, _, outgoing)| outgoing.ecn == Ecn::Capable0));
    // Bytes acknowledged with ECE are those of marked segments.
    let echoed = client.echoed_marks as f64 / server.marks as f64;
    assert!((0.5..=1.05).contains(&echoed), "{echoed}");
}

/// RFC 3168: ECE until CWR; acknowledgements, SYN and retransmissions are not capable.
#[test]
fn marks_reduce_the_window_once_a_round_trip() {
    let options = TcpOptions { control: Control::Reno, ecn: true, ..TcpOptions::default() };
    let trouble = Trouble { marking: 0.02, ..Trouble::default() };
    let mut channel = Channel::new(options.clone(), options, trouble, 6);
    channel.to_write[0] = bytes(1, 400_000);
    channel.run(60 * SECOND);
    channel.check();
    let client = channel.ends[0].as_ref().expect("a client").statistics();
    let marks = channel.ends[1].as_ref().expect("a server").statistics().marks;
    let has = |flags: Flags, end: usize| {
        channel
            .log
            .iter()
            .filter(|(_, from, outgoing)| {
                *from == end
                    && outgoing.header.flags.contains(flags)
                    && !outgoing.header.flags.contains(Flags::SYN)
            })
            .count() as u64
    };
    assert!(marks > 2 && client.retransmissions == 0, "{marks} {client:?}");
    let reductions = has(Flags::CWR, 0);
    assert!((1..=marks).contains(&reductions), "{reductions} {marks}");
    assert!(has(Flags::ECE, 1) >= reductions);
    for (_, _, outgoing) in &channel.log {
        let is_data = outgoing.payload.length() > 0;
        assert_eq!(outgoing.ecn == Ecn::Capable0, is_data, "{outgoing:?}");
    }
}

/// RFC 9293 section 3.10.7.3: nobody listens.
#[test]
fn a_refused_connection_is_over() {
    let mut connection = Connection::connect(TcpOptions::default(), (1, 2), 50, 1460, false);
    let syn = connection.poll(0, true).expect("SYN");
    let mut answer = syn.header;
    answer.flags = Flags::RST | Flags::ACK;
    answer.acknowledgement = 50;
    connection.receive(MS, &answer, Default::default(), Ecn::NotCapable);
    assert_eq!(connection.state(), TcpState::SynSent, "an answer to something else");
    answer.acknowledgement = 51;
    connection.receive(MS, &answer, Default::default(), Ecn::NotCapable);
    assert!(connection.is_closed() && connection.take_events().is_over);
}

/// Without answers SYN is sent again with doubled timeouts, then given up.
#[test]
fn a_silent_peer_is_given_up() {
    let trouble = Trouble { loss: 1.0, ..Trouble::default() };
    let mut channel = Channel::new(TcpOptions::default(), TcpOptions::default(), trouble, 1);
    channel.run(10_000 * SECOND);
    let times: Vec<u64> = channel.log.iter().map(|(time_ps, ..)| time_ps / SECOND).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 63]);
    assert!(channel.ends[0].as_ref().is_some_and(Connection::is_closed));
}

/// RFC 5961 section 3.2: a reset with a guessed number is answered, not obeyed.
#[test]
fn only_the_expected_number_resets() {
    let mut channel =
        Channel::new(TcpOptions::default(), TcpOptions::default(), Trouble::default(), 1);
    channel.to_write[0] = bytes(1, 5_000_000);
    channel.run(60 * MS);
    let ack = channel.log.iter().rev().find(|entry| entry.1 == 0).expect("a segment").2.clone();
    let mut reset = ack.header;
    let connection = channel.ends[1].as_mut().expect("a server");
    // It had nothing to write, and closed.
    assert_eq!(connection.state(), TcpState::FinWait2);
    let expected = connection.poll(channel.now_ps, true);
    assert_eq!(expected, None);
    reset.flags = Flags::RST;
    reset.sequence = reset.sequence.wrapping_add(10_000);
    connection.receive(channel.now_ps, &reset, Default::default(), Ecn::NotCapable);
    let answer = connection.poll(channel.now_ps, true).expect("a challenge");
    assert_eq!(answer.header.flags, Flags::ACK);
    reset.sequence = answer.header.acknowledgement;
    connection.receive(channel.now_ps, &reset, Default::default(), Ecn::NotCapable);
    assert!(connection.is_closed());
}
