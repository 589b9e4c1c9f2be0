// SPDX-License-Identifier: Apache-2.0
//! TCP small queues: a flow whose host's link is the bottleneck, beside a ping from the same host.

use crate::pairs::SECOND_HOST;
use crate::report_of;
use crate::support::{MS, Pair, SECOND};
use hosts::applications::Application;
use hosts::applications::ping::PingOptions;
use hosts::applications::tcp_bulk::TcpBulkOptions;
use hosts::applications::tcp_server::TcpServerOptions;

struct Run {
    received_bytes: u64,
    /// Mean round trip of the ping after the first second, in picoseconds.
    round_trip_ps: u64,
    steps: u64,
}

/// Some flows for ten seconds at 10 Mb/s with a round trip of 20 ms.
fn run(flows: u16, small_queue: bool) -> Run {
    let mut pair = Pair::simple(10_000_000, 10 * MS);
    let mut servers = Vec::new();
    for flow in 0..flows {
        let mut options = TcpBulkOptions::to((SECOND_HOST, 5001 + flow));
        options.tcp.small_queue = small_queue;
        pair.add(0, Application::TcpBulk(options));
        let server = TcpServerOptions::at(5001 + flow);
        servers.push(pair.add(1, Application::TcpServer(server)));
    }
    let ping =
        PingOptions { count: Some(90), interval_ps: SECOND / 10, ..PingOptions::to(SECOND_HOST) };
    let ping = pair.add(0, Application::Ping(ping));
    pair.simulation.run_until(10 * SECOND).expect("a run");
    let replies = report_of!(Ping, pair.report(0, ping)).replies;
    let late: Vec<u64> = replies.iter().skip(10).map(|reply| reply.round_trip_ps).collect();
    let received = servers
        .iter()
        .map(|server| report_of!(TcpServer, pair.report(1, *server)).connections[0].bytes);
    Run {
        received_bytes: received.sum(),
        round_trip_ps: late.iter().sum::<u64>() / late.len() as u64,
        steps: pair.simulation.steps(),
    }
}

/// Slow start never ends: the window is twice what is in flight, and the pacing rate two windows a round trip, so that a
/// millisecond of it is four segments, 4.8 ms of the link.
#[test]
fn other_packets_of_a_host_wait_for_few_segments_of_a_flow_and_not_for_its_window() {
    let (small, deep) = (run(1, true), run(1, false));
    assert!((20 * MS..26 * MS).contains(&small.round_trip_ps), "{} ps", small.round_trip_ps);
    assert!(deep.round_trip_ps > 200 * MS, "{} ps", deep.round_trip_ps);
    // The link is as busy: 1,448 of 1,514 bytes, for all but the first round trips.
    for run in [&small, &deep] {
        let busy = run.received_bytes as f64 / (10e6 / 8.0 * 10.0 * 1448.0 / 1514.0);
        assert!((0.985..1.0).contains(&busy), "{busy}");
    }
    assert!(small.steps < 2 * deep.steps, "{} and {} steps", small.steps, deep.steps);
}

#[test]
fn the_limit_holds_for_each_flow() {
    let small = run(4, true);
    // Two segments of each are 9.7 ms.
    assert!((20 * MS..31 * MS).contains(&small.round_trip_ps), "{} ps", small.round_trip_ps);
    assert!(small.round_trip_ps > 25 * MS, "{} ps", small.round_trip_ps);
}
