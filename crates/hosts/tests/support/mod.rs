// SPDX-License-Identifier: Apache-2.0
//! Networks for tests and comparisons: a router with drop-tail queues and step marking, two hosts on a link, and the
//! dumbbell.

// Each program that includes this uses a part of it.
#![allow(dead_code)]

pub mod dumbbell;
pub mod incast;
pub mod router;

use hosts::applications::{Application, Report};
use hosts::wire::MacAddress;
use hosts::{Host, HostOptions, InterfaceOptions, IpNetwork};
use network::links::LinkOptions;
use network::node::NodeId;
use network::simulation::Simulation;
use std::net::Ipv4Addr;

pub const US: u64 = 1_000_000;
pub const MS: u64 = 1000 * US;
pub const SECOND: u64 = 1000 * MS;

/// Host `number` of a network: 10.0.0.number, with a gateway's address for all others.
pub fn host_options(number: u8, rate_bps: Option<u64>) -> HostOptions {
    let address = Ipv4Addr::new(10, 0, 0, number).into();
    let interface = InterfaceOptions {
        mac: MacAddress([2, 0, 0, 0, 0, number]),
        addresses: vec![IpNetwork { address, prefix_bits: 24 }],
        rate_bps,
        ..InterfaceOptions::default()
    };
    HostOptions {
        name: format!("h{number}"),
        interfaces: vec![interface],
        ..HostOptions::default()
    }
}

pub fn link(latency_ps: u64) -> LinkOptions {
    LinkOptions { latency_ps, ..LinkOptions::default() }
}

/// Two hosts on a link.
pub struct Pair {
    pub simulation: Simulation,
    pub hosts: [NodeId; 2],
}

impl Pair {
    pub fn new(options: [HostOptions; 2], links: [LinkOptions; 2]) -> Pair {
        let mut simulation = Simulation::new(1);
        let hosts = options.map(|options| {
            let name = options.name.clone();
            simulation.add(name, Host::new(options, 1))
        });
        let ends = hosts.map(|host| (host, 0));
        simulation.connect_directions(ends[0], ends[1], links).expect("free ports");
        Pair { simulation, hosts }
    }

    pub fn simple(rate_bps: u64, latency_ps: u64) -> Pair {
        let options = [1, 2].map(|number| host_options(number, Some(rate_bps)));
        Pair::new(options, [link(latency_ps); 2])
    }

    pub fn add(&mut self, host: usize, application: Application) -> usize {
        add(&mut self.simulation, self.hosts[host], application)
    }

    pub fn report(&self, host: usize, application: usize) -> Report {
        report(&self.simulation, self.hosts[host], application)
    }
}

pub fn add(simulation: &mut Simulation, host: NodeId, application: Application) -> usize {
    let host = simulation.node_mut::<Host>(host).expect("a host");
    host.add(application).expect("an application")
}

pub fn report(simulation: &Simulation, host: NodeId, application: usize) -> Report {
    let host = simulation.node::<Host>(host).expect("a host");
    host.report(application).expect("an application")
}

/// The report of an application of this kind.
#[macro_export]
macro_rules! report_of {
    ($kind:ident, $report:expr) => {
        match $report {
            hosts::applications::Report::$kind(report) => report,
            other => panic!("{other:?}"),
        }
    };
}
