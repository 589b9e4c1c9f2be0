// SPDX-License-Identifier: Apache-2.0
use super::*;
use crate::wire::View;
use crate::wire::ipv4::{self, Ipv4Header};
use crate::wire::tcp::{Flags, TcpHeader};
use crate::wire::udp::UdpHeader;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// A twentieth of the trace of Mantis: 8.9 million packets of 370,000 flows in 20 s.
fn twentieth() -> TraceOptions {
    TraceOptions {
        packets: 445_000,
        flows: 18_500,
        duration_ps: 1_000_000_000_000,
        seed: 3,
        ..TraceOptions::default()
    }
}

/// A flow by addresses, protocol and ports.
type Key = (Ipv4Addr, Ipv4Addr, u8, u16, u16);

fn key(frame: &Frame) -> (Key, Option<TcpHeader>) {
    let view = View { bytes: &frame.bytes, absent_bytes: frame.absent_bytes };
    let (_, packet) = EthernetHeader::read(view).expect("Ethernet");
    let (header, payload) = Ipv4Header::read(packet).expect("IPv4");
    let (source, destination) = (header.source, header.destination);
    let (ports, tcp) = match header.protocol {
        ipv4::TCP => {
            let (tcp, _) =
                TcpHeader::read(source.into(), destination.into(), payload).expect("TCP");
            ((tcp.source_port, tcp.destination_port), Some(tcp))
        }
        _ => {
            let (udp, _) =
                UdpHeader::read(source.into(), destination.into(), payload).expect("UDP");
            ((udp.source_port, udp.destination_port), None)
        }
    };
    ((source, destination, header.protocol, ports.0, ports.1), tcp)
}

#[test]
fn a_trace_has_the_published_statistics() {
    let mut summary = TraceSummary::default();
    let mut tenths = [0u64; 10];
    for (packet, _) in PacketTrace::new(&twentieth()).expect("a trace") {
        summary.add(&packet);
        tenths[(packet.time_ps / 100_000_000_000) as usize] += 1;
    }
    assert_eq!((summary.packets(), summary.flows()), (445_000, 18_500));
    assert_eq!(summary.median_packets(), 4);
    let top = summary.bytes_of_largest(0.01);
    assert!((0.54..0.62).contains(&top), "{top}");
    let share = |count: u64| count as f64 / summary.packets() as f64;
    assert!((0.35..0.5).contains(&share(summary.small)), "{}", share(summary.small));
    assert!((0.35..0.5).contains(&share(summary.large)), "{}", share(summary.large));
    let mean = summary.bytes() as f64 / summary.packets() as f64;
    assert!((600.0..1000.0).contains(&mean), "{mean}");
    for tenth in tenths {
        assert!((0.8..1.2).contains(&(tenth as f64 / 44_500.0)), "{tenths:?}");
    }
}

#[test]
fn packets_are_valid_ordered_and_of_as_many_flows() {
    let options = TraceOptions { packets: 30_000, flows: 1_500, ..twentieth() };
    let mut flows: BTreeMap<Key, (u32, Vec<TcpHeader>)> = BTreeMap::new();
    let mut before_ps = 0;
    for (packet, frame) in PacketTrace::new(&options).expect("a trace") {
        assert!(packet.time_ps >= before_ps && packet.time_ps < options.duration_ps);
        before_ps = packet.time_ps;
        assert!((60..=1514).contains(&frame.length_bytes()));
        let (key, tcp) = key(&frame);
        let flow = flows.entry(key).or_insert((packet.flow, Vec::new()));
        assert_eq!(flow.0, packet.flow, "{key:?}");
        flow.1.extend(tcp);
    }
    assert_eq!(flows.len(), 1_500);
    let sources: BTreeSet<Ipv4Addr> = flows.keys().map(|key| key.0).collect();
    assert_eq!(sources.len(), 1_500 / 4);
    for (_, segments) in flows.values().filter(|flow| flow.1.len() > 1) {
        assert_eq!(segments[0].flags, Flags::SYN);
        assert!(segments[segments.len() - 1].flags.contains(Flags::FIN));
        for pair in segments.windows(2) {
            assert!(pair[1].sequence.wrapping_sub(pair[0].sequence) <= 1460);
        }
    }
}

#[test]
fn options_decide_and_the_same_options_give_the_same_trace() {
    let small = TraceOptions { packets: 900, flows: 300, ..twentieth() };
    let frames = |options: &TraceOptions| -> Vec<(TracePacket, Frame)> {
        PacketTrace::new(options).expect("a trace").collect()
    };
    assert_eq!(frames(&small), frames(&small));
    assert_ne!(frames(&small), frames(&TraceOptions { seed: 4, ..small.clone() }));
    let pool = |text: &str, hosts| AddressPool {
        network: text.parse().expect("a network"),
        hosts: Some(hosts),
    };
    let of_own = TraceOptions {
        sources: pool("10.1.0.0/16", 300),
        destinations: pool("10.2.0.1/32", 1),
        ..small
    };
    let mut sources = BTreeMap::new();
    for (packet, frame) in frames(&of_own) {
        let ((source, destination, ..), _) = key(&frame);
        assert_eq!(destination, Ipv4Addr::new(10, 2, 0, 1));
        assert_eq!(*sources.entry(source).or_insert(packet.flow), packet.flow);
    }
    assert_eq!(sources.len(), 300, "each flow has a source of its own");
}

#[test]
fn small_and_even_traces_are_exact() {
    for (packets, flows) in [(1, 1), (2, 1), (10, 10), (11, 10), (1_000, 7), (3_000, 2_999)] {
        let options = TraceOptions { packets, flows, duration_ps: 5_000, ..twentieth() };
        let mut summary = TraceSummary::default();
        PacketTrace::new(&options).expect("a trace").for_each(|(packet, _)| summary.add(&packet));
        assert_eq!((summary.packets(), summary.flows()), (packets, flows));
    }
}

#[test]
fn impossible_options_are_refused() {
    let with = |change: fn(&mut TraceOptions)| {
        let mut options = twentieth();
        change(&mut options);
        PacketTrace::new(&options).expect_err("an error")
    };
    for (error, part) in [
        (with(|options| options.flows = 0), "1 to 100000000 flows"),
        (with(|options| options.packets = 18_499), "18500 flows have 18500 to"),
        (with(|options| options.duration_ps = 999), "1 ns"),
        (with(|options| options.median = Some(24.1)), "median"),
        (with(|options| options.sources.network.prefix_bits = 4), "8 bits"),
        (
            with(|options| (options.flows, options.sources.hosts) = (70_000, Some(1))),
            "more sources",
        ),
    ] {
        assert!(error.contains(part), "{error}");
    }
}
