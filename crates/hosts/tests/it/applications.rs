// SPDX-License-Identifier: Apache-2.0
//! Applications: what they send, and what they report.

use crate::pairs::SECOND_HOST;
use crate::report_of;
use crate::support::{MS, Pair, SECOND, US, host_options, link};
use hosts::applications::frames::{FrameListenerOptions, FrameSenderOptions};
use hosts::applications::memcached::{
    MemcachedClientOptions, MemcachedServerOptions, Pacing, Protocol,
};
use hosts::applications::ping::PingOptions;
use hosts::applications::requests::{RequestClientOptions, RequestServerOptions};
use hosts::applications::tcp_bulk::TcpBulkOptions;
use hosts::applications::tcp_server::TcpServerOptions;
use hosts::applications::udp_sender::{Departures, UdpSenderOptions};
use hosts::applications::udp_server::UdpServerOptions;
use hosts::applications::{Application, Arrivals, FlowsOptions, ListedFlow};
use hosts::sizes::FlowSizes;
use hosts::tcp::{Control, TcpOptions};
use hosts::{AddError, Host};
use network::links::{LinkOptions, LossModel};
use std::net::Ipv4Addr;

/// Payload bits per second, exactly: the n-th datagram leaves at n intervals.
#[test]
fn constant_udp_has_its_rate_delay_and_no_jitter() {
    let mut pair = Pair::simple(100_000_000, MS);
    let mut options = UdpSenderOptions::to((SECOND_HOST, 9));
    options.rate_bps = 7_000_000;
    options.duration_ps = Some(SECOND);
    options.start_ps = 3 * MS;
    let sender = pair.add(0, Application::UdpSender(options));
    let server = pair.add(1, Application::UdpServer(UdpServerOptions::at(9)));
    pair.simulation.run_to_completion().expect("a run");
    let sent = report_of!(UdpSender, pair.report(0, sender));
    // ceil(7,000,000 / 11,760) datagrams begin within a second.
    assert_eq!((sent.sent, sent.sent_bytes), (596, 596 * 1470));
    assert_eq!(sent.first_ps, Some(3 * MS));
    assert_eq!(sent.last_ps, Some(3 * MS + 595 * 1470 * 8 * 1_000_000 / 7));
    let flow = report_of!(UdpServer, pair.report(1, server)).flows.remove(0);
    assert_eq!((flow.received, flow.lost(), flow.out_of_order), (596, 0, 0));
    assert_eq!(flow.least_delay_ps, MS + 1512 * 8 * 10_000);
    // The first one waited for ARP.
    assert!(flow.largest_delay_ps > 3 * MS && flow.jitter_ps < MS / 10);
}

/// Without a route, ARP or a gateway (RFC 1112 section 6.4).
#[test]
fn multicast_goes_to_the_groups_ethernet_address() {
    let mut pair = Pair::simple(100_000_000, MS);
    let mut options = UdpSenderOptions::to((Ipv4Addr::new(239, 129, 2, 3).into(), 9));
    options.count = Some(3);
    pair.add(0, Application::UdpSender(options));
    let listener = FrameListenerOptions { ether_type: None, most_frames: 10 };
    let listener = pair.add(1, Application::FrameListener(listener));
    pair.simulation.run_to_completion().expect("a run");
    let frames = report_of!(FrameListener, pair.report(1, listener)).frames;
    assert_eq!(frames.len(), 3);
    for (_, frame) in frames {
        assert_eq!(frame.bytes[..6], [0x01, 0x00, 0x5e, 0x01, 2, 3]);
        assert_eq!(frame.bytes[26..34], [10, 0, 0, 1, 239, 129, 2, 3]);
    }
}

/// The link is lossy, so that the server misses what was lost.
#[test]
fn udp_loss_is_counted() {
    let mut lossy = link(MS);
    lossy.loss = LossModel::Random(0.1);
    let options = [1, 2].map(|number| host_options(number, Some(1_000_000_000)));
    let mut pair = Pair::new(options, [lossy, link(MS)]);
    let mut options = UdpSenderOptions::to((SECOND_HOST, 9));
    options.rate_bps = 100_000_000;
    options.departures = Departures::Poisson;
    options.count = Some(10_000);
    let sender = pair.add(0, Application::UdpSender(options));
    let server = pair.add(1, Application::UdpServer(UdpServerOptions::at(9)));
    pair.simulation.run_to_completion().expect("a run");
    let sent = report_of!(UdpSender, pair.report(0, sender));
    let flow = report_of!(UdpServer, pair.report(1, server)).flows.remove(0);
    assert_eq!(sent.sent, 10_000);
    assert!((850..1150).contains(&flow.lost()), "{flow:?}");
    assert_eq!(flow.received + flow.lost(), flow.expected);
    // 10,000 exponential intervals of 117.6 us: the standard error is 1 %.
    let seconds = sent.last_ps.expect("one") as f64 / SECOND as f64;
    assert!((seconds / 1.176 - 1.0).abs() < 0.04, "{seconds}");
}

#[test]
fn a_datagram_for_a_port_without_a_server_is_reported() {
    let mut pair = Pair::simple(1_000_000_000, MS);
    let mut options = UdpSenderOptions::to((SECOND_HOST, 9));
    options.count = Some(3);
    let sender = pair.add(0, Application::UdpSender(options));
    pair.simulation.run_to_completion().expect("a run");
    let sent = report_of!(UdpSender, pair.report(0, sender));
    assert_eq!((sent.sent, sent.unreachable), (3, 3));
}

/// Nobody answers ARP: three requests, then the packets are dropped.
#[test]
fn a_host_that_does_not_exist_is_not_reached() {
    let mut pair = Pair::simple(1_000_000_000, MS);
    let ping = pair.add(0, Application::Ping(PingOptions::to([10, 0, 0, 77].into())));
    let bulk = TcpBulkOptions::to(([10, 0, 0, 78].into(), 5001));
    let bulk = pair.add(0, Application::TcpBulk(bulk));
    let far = pair.add(0, Application::Ping(PingOptions::to([11, 0, 0, 1].into())));
    pair.simulation.run_until(300 * SECOND).expect("a run");
    let report = report_of!(Ping, pair.report(0, ping));
    assert_eq!((report.transmitted, report.replies.len()), (5, 0));
    assert_eq!(report_of!(Ping, pair.report(0, far)).transmitted, 5);
    assert!(report_of!(TcpBulk, pair.report(0, bulk)).has_failed);
    let host = pair.simulation.node::<Host>(pair.hosts[0]).expect("a host");
    let statistics = host.interface_statistics(u64::MAX);
    assert_eq!(statistics.dropped_no_route, 5);
    assert_eq!(statistics.dropped_unresolved, 5 + 7);
}

#[test]
fn a_host_pings_itself() {
    let mut pair = Pair::simple(1_000_000_000, MS);
    let ping = pair.add(0, Application::Ping(PingOptions::to([10, 0, 0, 1].into())));
    pair.simulation.run_to_completion().expect("a run");
    let report = report_of!(Ping, pair.report(0, ping));
    assert_eq!(report.replies.len(), 5);
    assert!(report.replies.iter().all(|reply| reply.round_trip_ps == 0));
}

/// A fifth of a link, as in a study with 250 senders.
#[test]
fn a_bulk_sender_keeps_its_applications_rate() {
    let mut pair = Pair::simple(100_000_000, MS);
    let mut options = TcpBulkOptions::to((SECOND_HOST, 5001));
    options.rate_bps = Some(20_000_000);
    options.duration_ps = Some(4 * SECOND);
    let sender = pair.add(0, Application::TcpBulk(options));
    let server = pair.add(1, Application::TcpServer(TcpServerOptions::at(5001)));
    pair.simulation.run_to_completion().expect("a run");
    let sent = report_of!(TcpBulk, pair.report(0, sender));
    assert!(!sent.has_failed && sent.statistics.retransmissions == 0, "{sent:?}");
    assert_eq!(sent.intervals.len(), 4);
    for interval in &sent.intervals[1..4] {
        let rate = interval.acknowledged_bytes as f64 * 8.0 / 20e6;
        assert!((rate - 1.0).abs() < 0.01, "{interval:?}");
    }
    let received = report_of!(TcpServer, pair.report(1, server));
    assert_eq!(received.connections[0].bytes, sent.statistics.acknowledged_bytes);
}

#[test]
fn a_bulk_sender_without_a_server_is_refused() {
    let mut pair = Pair::simple(100_000_000, MS);
    let bulk = TcpBulkOptions::to((SECOND_HOST, 5001));
    let bulk = pair.add(0, Application::TcpBulk(bulk));
    pair.simulation.run_until(10 * SECOND).expect("a run");
    let report = report_of!(TcpBulk, pair.report(0, bulk));
    assert!(report.has_failed && report.connected_ps.is_none());
}

#[test]
fn requests_are_answered_on_new_and_on_open_connections() {
    for is_persistent in [false, true] {
        let mut pair = Pair::simple(1_000_000_000, MS);
        let mut options = RequestClientOptions::to(vec![(SECOND_HOST, 80)]);
        options.rounds = Some(20);
        options.response_bytes = 5000;
        options.is_persistent = is_persistent;
        let client = pair.add(0, Application::Requests(options));
        let mut options = RequestServerOptions::at(80);
        options.service_ps = 3 * MS;
        let server = pair.add(1, Application::RequestServer(options));
        pair.simulation.run_to_completion().expect("a run");
        let report = report_of!(Requests, pair.report(0, client));
        assert_eq!(report.rounds.len(), 20);
        let served = report_of!(RequestServer, pair.report(1, server));
        assert_eq!((served.answered, served.response_bytes), (20, 100_000));
        // A round trip to connect, one to ask, and the service.
        let round_trips = if is_persistent { 1 } else { 2 };
        for response in &report.responses[1..] {
            let took_ps = response.answered_ps.expect("an answer") - response.asked_ps;
            let least_ps = (2 * round_trips + 3) * MS;
            assert!((least_ps..least_ps + 100 * US).contains(&took_ps), "{response:?}");
        }
    }
}

#[test]
fn listed_and_random_flows_arrive_whole() {
    let mut pair = Pair::simple(1_000_000_000, 10 * US);
    let destination = (SECOND_HOST, 5001);
    let list = [70_000, 1, 1_000_000];
    let listed = list.map(|bytes| ListedFlow { start_ps: MS, bytes, destination });
    let tcp = TcpOptions::default();
    let listed = FlowsOptions { arrivals: Arrivals::List(listed.to_vec()), tcp: tcp.clone() };
    let listed = pair.add(0, Application::Flows(listed));
    let arrivals = Arrivals::Poisson {
        destinations: vec![destination],
        sizes: FlowSizes::WebSearch,
        load: 0.3,
        rate_bps: 1_000_000_000,
        start_ps: 0,
        duration_ps: None,
        count: Some(30),
    };
    let random = pair.add(0, Application::Flows(FlowsOptions { arrivals, tcp }));
    let server = pair.add(1, Application::TcpServer(TcpServerOptions::at(5001)));
    pair.simulation.run_to_completion().expect("a run");
    let mut flows = report_of!(Flows, pair.report(0, listed)).flows;
    assert_eq!(flows.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), list);
    let random = report_of!(Flows, pair.report(0, random)).flows;
    assert_eq!(random.len(), 30);
    flows.extend(random);
    let served = report_of!(TcpServer, pair.report(1, server)).connections;
    assert_eq!(served.len(), 33);
    for flow in &flows {
        assert!(flow.finished_ps.is_some() && !flow.has_failed, "{flow:?}");
        let port = flow.local_port;
        let served = served.iter().find(|served| Some(served.remote.1) == port).expect("one");
        assert_eq!(served.bytes, flow.bytes);
        assert!(served.last_byte_ps < flow.finished_ps);
    }
}

#[test]
fn memcached_stores_and_returns_values() {
    for protocol in [Protocol::Text, Protocol::Binary] {
        let mut pair = Pair::simple(1_000_000_000, 10 * US);
        let mut options = MemcachedClientOptions::to((SECOND_HOST, 11211));
        options.protocol = protocol;
        options.get_share = 0.7;
        options.keys = 2000;
        options.pacing = Pacing::Outstanding(8);
        options.count = Some(3000);
        options.value_bytes = 300;
        let client = pair.add(0, Application::MemcachedClient(options));
        // Stored values take several datagrams.
        let options = MemcachedServerOptions {
            protocol,
            keys: 1000,
            value_bytes: 3000,
            service_ps: US,
            ..MemcachedServerOptions::default()
        };
        let server = pair.add(1, Application::MemcachedServer(options));
        pair.simulation.run_to_completion().expect("a run");
        let report = report_of!(MemcachedClient, pair.report(0, client));
        let served = report_of!(MemcachedServer, pair.report(1, server));
        assert_eq!(report.gets + report.sets, 3000);
        assert_eq!((report.hits, report.misses), (served.hits, served.misses));
        assert_eq!(report.stored, report.sets);
        assert_eq!((report.wrong_values, report.errors, report.lost), (0, 0, 0));
        assert!(report.misses > 50 && report.hits > 1500, "{report:?}");
        assert_eq!(report.latencies_ps.len(), 3000);
        assert!(served.most_waiting <= 8);
    }
}

#[test]
fn memcached_requests_that_are_lost_time_out() {
    let mut lossy = link(MS);
    lossy.loss = LossModel::Random(0.2);
    let options = [1, 2].map(|number| host_options(number, Some(1_000_000_000)));
    let mut pair = Pair::new(options, [lossy, link(MS)]);
    let mut options = MemcachedClientOptions::to((SECOND_HOST, 11211));
    options.pacing = Pacing::Poisson(1000.0);
    options.timeout_ps = 10 * MS;
    let client = pair.add(0, Application::MemcachedClient(options));
    pair.add(1, Application::MemcachedServer(MemcachedServerOptions::default()));
    pair.simulation.run_to_completion().expect("a run");
    let report = report_of!(MemcachedClient, pair.report(0, client));
    assert!((130..270).contains(&report.lost), "{}", report.lost);
    assert_eq!(report.hits + report.lost, 1000);
}

#[test]
fn frames_leave_at_their_times_and_are_recorded() {
    let mut pair = Pair::simple(1_000_000_000, MS);
    let frame = |kind: u8| {
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x12, 0x34, kind];
        bytes.resize(60, 0);
        bytes
    };
    let frames = [(5 * MS, 2), (0, 0), (5 * MS, 3), (2 * MS, 1)];
    let frames = frames.map(|(time_ps, kind)| (time_ps, frame(kind).into())).to_vec();
    let sender = pair.add(0, Application::FrameSender(FrameSenderOptions { frames }));
    let options = FrameListenerOptions { ether_type: Some(0x1234), most_frames: 3 };
    let listener = pair.add(1, Application::FrameListener(options));
    pair.simulation.run_to_completion().expect("a run");
    assert_eq!(report_of!(FrameSender, pair.report(0, sender)).sent, 4);
    let report = report_of!(FrameListener, pair.report(1, listener));
    assert_eq!(report.received, 4);
    let seen: Vec<(u64, u8)> =
        report.frames.iter().map(|(time_ps, frame)| (*time_ps, frame.bytes[14])).collect();
    let arrives = |time_ps| time_ps + 480_000 + MS;
    assert_eq!(seen, [(arrives(0), 0), (arrives(2 * MS), 1), (arrives(5 * MS), 2)]);
}

#[test]
fn options_that_cannot_work_are_refused() {
    let mut host = Host::new(host_options(1, None), 1);
    let mut refused =
        |application: Application| host.add(application).expect_err("a mistake").to_string();
    let to = (SECOND_HOST, 5001);
    let mut ping = PingOptions::to(SECOND_HOST);
    ping.payload_bytes = 1473;
    assert_eq!(
        refused(Application::Ping(ping)),
        "ping's payload of 1473 bytes does not fit the host's MTU of 1500: at most 1472"
    );
    let mut bulk = TcpBulkOptions::to(to);
    bulk.rate_bps = Some(0);
    refused(Application::TcpBulk(bulk));
    let mut udp = UdpSenderOptions::to(to);
    udp.rate_bps = 0;
    refused(Application::UdpSender(udp));
    refused(Application::Requests(RequestClientOptions::to(Vec::new())));
    let mut client = MemcachedClientOptions::to(to);
    client.get_share = 1.5;
    refused(Application::MemcachedClient(client));
    assert_eq!(host.add(Application::TcpServer(TcpServerOptions::at(80))), Ok(0));
    assert_eq!(
        host.add(Application::RequestServer(RequestServerOptions::at(80))),
        Err(AddError::PortInUse(80))
    );
}

/// The transmit queue holds so many frames and the one being sent.
#[test]
fn a_full_transmit_queue_drops() {
    let mut options = [1, 2].map(|number| host_options(number, Some(1_000_000)));
    options[0].interfaces[0].queue_packets = 5;
    options[0].neighbors = vec![(SECOND_HOST, options[1].interfaces[0].mac)];
    let mut pair = Pair::new(options, [LinkOptions::default(); 2]);
    let frames = (0..10).map(|_| {
        let mut bytes = vec![0; 100];
        bytes[..6].copy_from_slice(&[2, 0, 0, 0, 0, 2]);
        (MS, bytes.into())
    });
    let frames = frames.collect();
    pair.add(0, Application::FrameSender(FrameSenderOptions { frames }));
    // 800 us a frame: the third one is on the wire.
    let third_ps = MS + 2 * 800 * 1_000_000 + 1;
    pair.simulation.run_until(third_ps).expect("a run");
    let host = pair.simulation.node::<Host>(pair.hosts[0]).expect("a host");
    let statistics = host.interface_statistics(third_ps);
    assert_eq!((statistics.sent, statistics.sent_bytes), (3, 300));
    pair.simulation.run_to_completion().expect("a run");
    let host = pair.simulation.node::<Host>(pair.hosts[0]).expect("a host");
    let statistics = host.interface_statistics(u64::MAX);
    assert_eq!((statistics.sent, statistics.dropped_queue_full), (6, 4));
}

/// Equal seeds give equal frames, other seeds others.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed: u64| {
        let mut simulation = network::simulation::Simulation::new(seed);
        let hosts = [1, 2].map(|number| {
            let options = host_options(number, Some(100_000_000));
            simulation.add(format!("h{number}"), Host::new(options, seed))
        });
        let mut lossy = link(MS);
        lossy.loss = LossModel::Random(0.01);
        simulation.connect((hosts[0], 0), (hosts[1], 0), lossy).expect("free ports");
        let mut bulk = TcpBulkOptions::to((SECOND_HOST, 5001));
        bulk.bytes = Some(500_000);
        bulk.tcp.control = Control::Cubic;
        crate::support::add(&mut simulation, hosts[0], Application::TcpBulk(bulk));
        let server = Application::TcpServer(TcpServerOptions::at(5001));
        crate::support::add(&mut simulation, hosts[1], server);
        let all = FrameListenerOptions { ether_type: None, most_frames: 10_000 };
        let listener =
            crate::support::add(&mut simulation, hosts[1], Application::FrameListener(all));
        simulation.run_until(60 * SECOND).expect("a run");
        report_of!(FrameListener, crate::support::report(&simulation, hosts[1], listener)).frames
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}
