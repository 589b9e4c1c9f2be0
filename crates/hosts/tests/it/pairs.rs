// SPDX-License-Identifier: Apache-2.0
//! Two hosts on a link: ARP, ping, UDP, TCP.

use crate::report_of;
use crate::support::{MS, Pair, SECOND, US};
use hosts::applications::Application;
use hosts::applications::ping::PingOptions;
use hosts::applications::tcp_bulk::TcpBulkOptions;
use hosts::applications::tcp_server::TcpServerOptions;
use std::net::{IpAddr, Ipv4Addr};

pub const SECOND_HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// Two sums of delays and two times n L / R, to the picosecond; the first request waits for ARP.
#[test]
fn a_ping_takes_its_delays_and_transmissions() {
    let mut pair = Pair::simple(1_000_000_000, 3 * MS + 7);
    let ping = pair.add(0, Application::Ping(PingOptions::to(SECOND_HOST)));
    pair.simulation.run_to_completion().expect("a run");
    let report = report_of!(Ping, pair.report(0, ping));
    assert_eq!((report.transmitted, report.replies.len()), (5, 5));
    // 56 bytes, 8 of ICMP, 20 of IPv4, 14 of Ethernet: 98; ARP has 42.
    let transmission = |bytes: u64| bytes * 8 * 1000;
    let echo = 2 * (3 * MS + 7) + 2 * transmission(98);
    let arp = 2 * (3 * MS + 7) + 2 * transmission(42);
    for reply in &report.replies {
        let expected = if reply.number == 1 { arp + echo } else { echo };
        assert_eq!((reply.round_trip_ps, reply.ttl), (expected, 64), "{reply:?}");
    }
}

#[test]
fn bulk_tcp_fills_the_link() {
    let mut pair = Pair::simple(100_000_000, US * 100);
    let mut options = TcpBulkOptions::to((SECOND_HOST, 5001));
    options.bytes = Some(10_000_000);
    let sender = pair.add(0, Application::TcpBulk(options));
    let server = pair.add(1, Application::TcpServer(TcpServerOptions::at(5001)));
    pair.simulation.run_to_completion().expect("a run");
    let sent = report_of!(TcpBulk, pair.report(0, sender));
    let received = report_of!(TcpServer, pair.report(1, server));
    assert_eq!(received.connections[0].bytes, 10_000_000);
    assert!(received.connections[0].closed_ps.is_some() && !sent.has_failed);
    let seconds = sent.finished_ps.expect("an end") as f64 / SECOND as f64;
    // 1,448 of 1,514 bytes.
    let expected = 10e6 * 8.0 / (100e6 * 1448.0 / 1514.0);
    assert!((expected..expected * 1.02).contains(&seconds), "{seconds} {expected}");
}
