// SPDX-License-Identifier: Apache-2.0
//! IPv6 between two hosts: neighbor discovery, ping, UDP, TCP, and what does not arrive.

use crate::report_of;
use crate::support::{MS, Pair, SECOND, add, host_options, link, report};
use hosts::applications::Application;
use hosts::applications::ping::PingOptions;
use hosts::applications::tcp_bulk::TcpBulkOptions;
use hosts::applications::tcp_server::TcpServerOptions;
use hosts::applications::udp_sender::{PayloadSizes, UdpSenderOptions};
use hosts::applications::udp_server::UdpServerOptions;
use hosts::{Host, HostOptions, Route};
use network::simulation::Simulation;
use std::net::IpAddr;

const FAR: &str = "2001:db8:9::9";

/// 2001:db8::number/64, with 2001:db8::fe as the gateway.
fn options(number: u8) -> HostOptions {
    let mut options = host_options(number, Some(1_000_000_000));
    options.interfaces[0].addresses = vec![format!("2001:db8::{number}/64").parse().expect("one")];
    let network = "::/0".parse().expect("a network");
    options.routes = vec![Route { network, gateway: address("2001:db8::fe") }];
    options
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn pair() -> Pair {
    Pair::new([options(1), options(2)], [link(3 * MS); 2])
}

/// To the picosecond; the first request waits for the neighbour's advertisement.
#[test]
fn a_ping_takes_its_delays_and_those_of_neighbor_discovery() {
    let second = address("2001:db8::2");
    let mut pair = pair();
    let ping = pair.add(0, Application::Ping(PingOptions::to(second)));
    pair.simulation.run_to_completion().expect("a run");
    let report = report_of!(Ping, pair.report(0, ping));
    assert_eq!((report.transmitted, report.replies.len()), (5, 5));
    // 56 bytes, 8 of ICMPv6, 40 of IPv6, 14 of Ethernet: 118; solicitation and advertisement have 86.
    let round_trip = |bytes: u64| 2 * 3 * MS + 2 * bytes * 8 * 1000;
    for reply in &report.replies {
        let discovery = if reply.number == 1 { round_trip(86) } else { 0 };
        assert_eq!((reply.round_trip_ps, reply.ttl), (round_trip(118) + discovery, 64));
    }
}

#[test]
fn udp_and_tcp_arrive_whole() {
    let second = address("2001:db8::2");
    let mut pair = pair();
    let server = pair.add(1, Application::TcpServer(TcpServerOptions::at(5001)));
    let datagrams = pair.add(1, Application::UdpServer(UdpServerOptions::at(9)));
    let mut bulk = TcpBulkOptions::to((second, 5001));
    bulk.bytes = Some(1_000_000);
    pair.add(0, Application::TcpBulk(bulk));
    let mut udp = UdpSenderOptions::to((second, 9));
    // What the MTU of 1,500 bytes allows over IPv6.
    udp.sizes = PayloadSizes::Fixed(1452);
    udp.count = Some(20);
    pair.add(0, Application::UdpSender(udp));
    pair.simulation.run_until(20 * SECOND).expect("a run");
    let report = report_of!(TcpServer, pair.report(1, server));
    assert_eq!(report.connections[0].bytes, 1_000_000);
    let report = report_of!(UdpServer, pair.report(1, datagrams));
    assert_eq!(report.flows.iter().map(|flow| flow.received).sum::<u64>(), 20);

    let mut too_long = UdpSenderOptions::to((second, 9));
    too_long.sizes = PayloadSizes::Fixed(1453);
    let host = pair.simulation.node_mut::<Host>(pair.hosts[0]).expect("a host");
    let error = host.add(Application::UdpSender(too_long)).expect_err("too long for the MTU");
    assert!(error.to_string().contains("1452"), "{error}");
}

#[test]
fn what_cannot_arrive_is_counted() {
    // A port without a socket, a gateway that does not answer, and a destination of the other version.
    let mut pair = pair();
    let mut udp = UdpSenderOptions::to((address("2001:db8::2"), 9));
    udp.sizes = PayloadSizes::Fixed(1000);
    udp.count = Some(3);
    let udp = pair.add(0, Application::UdpSender(udp));
    let ping = pair.add(0, Application::Ping(PingOptions::to(address(FAR))));
    let other = pair.add(0, Application::Ping(PingOptions::to(address("10.0.0.2"))));
    pair.simulation.run_to_completion().expect("a run");
    assert_eq!(report_of!(UdpSender, pair.report(0, udp)).unreachable, 3);
    for number in [ping, other] {
        assert_eq!(report_of!(Ping, pair.report(0, number)).replies, []);
    }
    let host = pair.simulation.node::<Host>(pair.hosts[0]).expect("a host");
    let statistics = host.interface_statistics(u64::MAX);
    assert_eq!((statistics.dropped_unresolved, statistics.dropped_no_route), (5, 5));
    // Three solicitations for the gateway, twice: the last request comes after the first were given up.
    let listener = pair.simulation.node::<Host>(pair.hosts[1]).expect("a host");
    assert!(listener.interface_statistics(u64::MAX).dropped_not_for_host >= 3);
}

/// A host with two links and two versions reaches each neighbour by its link, and answers there.
#[test]
fn a_host_with_two_links_uses_the_link_of_the_route() {
    let mut simulation = Simulation::new(1);
    let mut middle = host_options(1, Some(1_000_000_000));
    let mut second = middle.interfaces[0].clone();
    second.mac.0[0] = 6;
    second.addresses =
        vec!["10.0.7.1/24".parse().expect("one"), "2001:db8:7::1/64".parse().expect("one")];
    middle.interfaces.push(second);
    let middle = simulation.add("middle", Host::new(middle, 1));
    let near = simulation.add("near", Host::new(host_options(2, None), 1));
    let mut far = host_options(3, None);
    far.interfaces[0].addresses =
        vec!["10.0.7.3/24".parse().expect("one"), "2001:db8:7::3/64".parse().expect("one")];
    let far = simulation.add("far", Host::new(far, 1));
    simulation.connect((middle, 0), (near, 0), link(MS)).expect("free ports");
    simulation.connect((middle, 1), (far, 0), link(MS)).expect("free ports");
    let mut pings = Vec::new();
    for (from, to) in [
        (middle, "10.0.0.2"),
        (middle, "10.0.7.3"),
        (middle, "2001:db8:7::3"),
        (near, "10.0.0.1"),
        (far, "10.0.7.1"),
        (far, "2001:db8:7::1"),
        // The host itself.
        (middle, "10.0.7.1"),
    ] {
        let ping = Application::Ping(PingOptions::to(address(to)));
        pings.push((from, add(&mut simulation, from, ping), to));
    }
    // A host forwards nothing between its links.
    let through =
        add(&mut simulation, near, Application::Ping(PingOptions::to(address("10.0.7.3"))));
    simulation.run_to_completion().expect("a run");
    for (host, number, to) in pings {
        assert_eq!(report_of!(Ping, report(&simulation, host, number)).replies.len(), 5, "{to}");
    }
    assert_eq!(report_of!(Ping, report(&simulation, near, through)).replies, []);
    let host = simulation.node::<Host>(middle).expect("a host");
    let of_port = |port| host.port_statistics(port, u64::MAX).expect("an interface").sent;
    assert_eq!(of_port(0) + of_port(1), host.interface_statistics(u64::MAX).sent);
    // Five requests and as many replies, and a question and an answer of ARP or neighbor discovery; the second link has
    // two versions.
    assert_eq!((of_port(0), of_port(1)), (12, 24));
    assert_eq!(host.port_statistics(2, 0), None);
}
