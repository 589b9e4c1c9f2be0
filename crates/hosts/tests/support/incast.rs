// SPDX-License-Identifier: Apache-2.0
//! An incast: senders behind one router send to one receiver at once. 1 Gb/s everywhere, a round trip of 120 us.

use super::router::{PortOptions, Router};
use super::{US, add, link, report};
use crate::report_of;
use crate::support::dumbbell::ns3_tcp;
use hosts::applications::Application;
use hosts::applications::tcp_bulk::TcpBulkOptions;
use hosts::applications::tcp_server::TcpServerOptions;
use hosts::tcp::Control;
use hosts::wire::MacAddress;
use hosts::{Host, HostOptions, InterfaceOptions, IpNetwork};
use network::simulation::Simulation;
use std::net::Ipv4Addr;

pub struct Incast {
    pub completions_ms: Vec<f64>,
    pub drops: u64,
    pub timeouts: u64,
}

pub fn run(senders: u8, bytes: u64, queue_packets: usize, least_timeout_ps: u64) -> Incast {
    run_with(Control::Reno, None, senders, bytes, queue_packets, least_timeout_ps)
}

pub fn run_with(
    control: Control,
    mark_at: Option<usize>,
    senders: u8,
    bytes: u64,
    queue_packets: usize,
    least_timeout_ps: u64,
) -> Incast {
    let mut tcp = ns3_tcp(control);
    tcp.least_timeout_ps = least_timeout_ps;
    let rate_bps = 1_000_000_000;
    let mut simulation = Simulation::new(1);
    let address = |number: u8| Ipv4Addr::new(10, 1, 0, number);
    let mac = |number: u8| MacAddress([2, 0, 0, 0, 1, number]);
    let port = PortOptions { rate_bps, queue_packets, mark_at, overhead_bytes: -12 };
    let mut router = Router::new(vec![port; usize::from(senders) + 1]);
    for number in 0..=senders {
        router.route(address(number), number.into(), mac(number));
    }
    let router = simulation.add("router", router);
    let mut applications = Vec::new();
    for number in 0..=senders {
        let interface = InterfaceOptions {
            mac: mac(number),
            addresses: vec![IpNetwork { address: address(number).into(), prefix_bits: 24 }],
            rate_bps: Some(rate_bps),
            queue_packets: 100_000,
            overhead_bytes: -12,
        };
        let others = 0..=senders;
        let options = HostOptions {
            interfaces: vec![interface],
            neighbors: others.map(|other| (address(other).into(), MacAddress([2; 6]))).collect(),
            ..HostOptions::default()
        };
        let host = simulation.add(format!("h{number}"), Host::new(options, 1));
        simulation.connect((router, number.into()), (host, 0), link(30 * US)).expect("free ports");
        let application = match number {
            0 => {
                let mut options = TcpServerOptions::at(5001);
                options.tcp = tcp.clone();
                Application::TcpServer(options)
            }
            _ => {
                let mut options = TcpBulkOptions::to((address(0).into(), 5001));
                options.tcp = tcp.clone();
                options.bytes = Some(bytes);
                Application::TcpBulk(options)
            }
        };
        applications.push((host, add(&mut simulation, host, application)));
    }
    let end_ps = 60_000_000_000_000;
    simulation.run_until(end_ps).expect("a run");
    let (host, application) = applications[0];
    let served = report_of!(TcpServer, report(&simulation, host, application)).connections;
    let timeouts = applications[1..].iter().map(|(host, application)| {
        report_of!(TcpBulk, report(&simulation, *host, *application)).statistics.timeouts
    });
    let timeouts = timeouts.sum();
    assert!(served.iter().all(|connection| connection.bytes == bytes));
    let drops = simulation.node_mut::<Router>(router).expect("a router").figures(0, end_ps).drops;
    Incast {
        completions_ms: served
            .iter()
            .filter_map(|connection| connection.last_byte_ps)
            .map(|time_ps| time_ps as f64 / 1e9)
            .collect(),
        drops,
        timeouts,
    }
}
