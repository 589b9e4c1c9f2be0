// SPDX-License-Identifier: Apache-2.0
//! The dumbbell: senders, a router, the bottleneck, a router, receivers. Frames count as long as those of ns-3's
//! point-to-point devices: 12 bytes less than Ethernet's.

use super::router::{PortOptions, QueueFigures, Router};
use super::{MS, SECOND, add, link, report};
use crate::report_of;
use hosts::applications::Application;
use hosts::applications::tcp_bulk::{TcpBulkOptions, TcpBulkReport};
use hosts::applications::tcp_server::{TcpServerOptions, TcpServerReport};
use hosts::tcp::{Control, TcpOptions};
use hosts::wire::MacAddress;
use hosts::{Host, HostOptions, InterfaceOptions, IpNetwork, Route};
use network::links::LossModel;
use network::node::NodeId;
use network::simulation::Simulation;
use std::net::Ipv4Addr;

const OVERHEAD_BYTES: i32 = -12;

#[derive(Clone, Debug)]
pub struct Dumbbell {
    pub rate_bps: u64,
    pub access_bps: u64,
    pub bottleneck_ps: u64,
    pub access_ps: u64,
    pub queue_packets: usize,
    pub mark_at: Option<usize>,
    /// Of data frames, behind the second router.
    pub loss: f64,
    pub flows: usize,
    pub tcp: TcpOptions,
    pub bytes: Option<u64>,
    /// Of each flow.
    pub starts_ps: Vec<u64>,
    pub seed: u64,
}

/// What ns-3's runs of `facts` had.
pub fn ns3_tcp(control: Control) -> TcpOptions {
    TcpOptions {
        control,
        receive_buffer_bytes: 8 << 20,
        least_timeout_ps: SECOND,
        handshake_timeout_ps: 3 * SECOND,
        maximum_segment_bytes: Some(1460),
        small_queue: false,
        ..TcpOptions::default()
    }
}

impl Dumbbell {
    /// Case A: 10 Mb/s, 40 ms, 50 packets.
    pub fn a(control: Control) -> Dumbbell {
        Dumbbell {
            rate_bps: 10_000_000,
            access_bps: 1_000_000_000,
            bottleneck_ps: 18 * MS,
            access_ps: MS,
            queue_packets: 50,
            mark_at: None,
            loss: 0.0,
            flows: 1,
            tcp: ns3_tcp(control),
            bytes: None,
            starts_ps: Vec::new(),
            seed: 1,
        }
    }

    /// Case B: 100 Mb/s, 10 ms, 100 packets.
    pub fn b(control: Control) -> Dumbbell {
        Dumbbell {
            rate_bps: 100_000_000,
            bottleneck_ps: 4 * MS,
            access_ps: MS / 2,
            queue_packets: 100,
            ..Dumbbell::a(control)
        }
    }

    /// Case C: 1 Gb/s, 1 ms, 100 packets.
    pub fn c(control: Control) -> Dumbbell {
        Dumbbell {
            rate_bps: 1_000_000_000,
            access_bps: 10_000_000_000,
            bottleneck_ps: MS * 4 / 10,
            access_ps: MS / 20,
            queue_packets: 100,
            ..Dumbbell::a(control)
        }
    }

    /// Case D: C's link, DCTCP, marks at K of ns-3's queue disc, which has a packet in the device behind it.
    pub fn d(flows: usize, k: usize) -> Dumbbell {
        Dumbbell { queue_packets: 251, mark_at: Some(k + 1), flows, ..Dumbbell::c(Control::Dctcp) }
    }

    /// 100 Mb/s, 20 ms, 300 packets, one flow of this size.
    pub fn flow(bytes: u64) -> Dumbbell {
        Dumbbell {
            rate_bps: 100_000_000,
            bottleneck_ps: 8 * MS,
            queue_packets: 300,
            bytes: Some(bytes),
            ..Dumbbell::a(Control::Reno)
        }
    }

    /// 100 Mb/s, 100 ms, random loss.
    pub fn lossy(loss: f64, control: Control) -> Dumbbell {
        Dumbbell {
            rate_bps: 100_000_000,
            bottleneck_ps: 48 * MS,
            queue_packets: 5000,
            loss,
            ..Dumbbell::a(control)
        }
    }

    pub fn run(&self, warm_up_ps: u64, end_ps: u64) -> Outcome {
        let mut network = self.build(warm_up_ps);
        network.simulation.run_until(warm_up_ps).expect("a run");
        let before = network.received_bytes();
        network.simulation.run_until(end_ps).expect("a run");
        let after = network.received_bytes();
        let seconds = (end_ps - warm_up_ps) as f64 / SECOND as f64;
        let goodputs = before.iter().zip(&after);
        let goodputs =
            goodputs.map(|(one, other)| (other - one) as f64 * 8.0 / seconds / 1e6).collect();
        let queue = {
            let router = network.simulation.node_mut::<Router>(network.routers[0]);
            router.expect("a router").figures(0, end_ps)
        };
        Outcome {
            goodputs,
            queue,
            senders: network
                .senders
                .iter()
                .map(|(host, application)| {
                    report_of!(TcpBulk, report(&network.simulation, *host, *application))
                })
                .collect(),
            servers: network
                .receivers
                .iter()
                .map(|(host, application)| {
                    report_of!(TcpServer, report(&network.simulation, *host, *application))
                })
                .collect(),
            steps: network.simulation.steps(),
        }
    }

    fn build(&self, warm_up_ps: u64) -> Network {
        let mut simulation = Simulation::new(self.seed);
        let address =
            |side: u8, number: usize| Ipv4Addr::new(10, side, (number >> 8) as u8, number as u8);
        let mac = |side: u8, number: usize| {
            MacAddress([2, side, 0, 0, (number >> 8) as u8, number as u8])
        };
        let access = PortOptions {
            rate_bps: self.access_bps,
            queue_packets: 100_000,
            mark_at: None,
            overhead_bytes: OVERHEAD_BYTES.into(),
        };
        let bottleneck = PortOptions {
            rate_bps: self.rate_bps,
            queue_packets: self.queue_packets,
            mark_at: self.mark_at,
            ..access.clone()
        };
        let mut routers = [(); 2].map(|()| {
            let mut ports = vec![bottleneck.clone()];
            ports.resize(self.flows + 1, access.clone());
            Router::new(ports)
        });
        for side in 0..2 {
            routers[side].measure_from(warm_up_ps);
            for number in 0..self.flows {
                let near = address(side as u8, number);
                routers[side].route(near, number + 1, mac(side as u8, number));
                routers[1 - side].route(near, 0, MacAddress::default());
            }
        }
        let mut number = 0;
        let routers = routers.map(|router| {
            number += 1;
            simulation.add(format!("r{number}"), router)
        });
        let ends = routers.map(|router| (router, 0));
        simulation.connect(ends[0], ends[1], link(self.bottleneck_ps)).expect("free ports");
        let mut sides = [Vec::new(), Vec::new()];
        for side in 0..2u8 {
            let router = routers[usize::from(side)];
            for number in 0..self.flows {
                let own = IpNetwork { address: address(side, number).into(), prefix_bits: 32 };
                let interface = InterfaceOptions {
                    mac: mac(side, number),
                    addresses: vec![own],
                    rate_bps: Some(self.access_bps),
                    queue_packets: 100_000,
                    overhead_bytes: OVERHEAD_BYTES,
                };
                let gateway = Ipv4Addr::new(10, 9, 9, 9).into();
                let options = HostOptions {
                    interfaces: vec![interface],
                    routes: vec![Route { network: IpNetwork::ALL_IPV4, gateway }],
                    neighbors: vec![(gateway, MacAddress([2; 6]))],
                    ..HostOptions::default()
                };
                let host =
                    simulation.add(format!("h{side}-{number}"), Host::new(options, self.seed));
                let mut to_host = link(self.access_ps);
                if side == 1 {
                    to_host.loss = LossModel::Random(self.loss);
                }
                let ends = ((router, number as u32 + 1), (host, 0));
                simulation
                    .connect_directions(ends.0, ends.1, [to_host, link(self.access_ps)])
                    .expect("free ports");
                let application = if side == 1 {
                    let mut options = TcpServerOptions::at(5001);
                    options.tcp = self.tcp.clone();
                    Application::TcpServer(options)
                } else {
                    let mut options = TcpBulkOptions::to((address(1, number).into(), 5001));
                    options.tcp = self.tcp.clone();
                    options.bytes = self.bytes;
                    options.start_ps = self.starts_ps.get(number).copied().unwrap_or(0);
                    Application::TcpBulk(options)
                };
                let application = add(&mut simulation, host, application);
                sides[usize::from(side)].push((host, application));
            }
        }
        let [senders, receivers] = sides;
        Network { simulation, routers, senders, receivers }
    }
}

struct Network {
    simulation: Simulation,
    routers: [NodeId; 2],
    senders: Vec<(NodeId, usize)>,
    receivers: Vec<(NodeId, usize)>,
}

impl Network {
    fn received_bytes(&self) -> Vec<u64> {
        let bytes = |(host, application): &(NodeId, usize)| {
            let report = report_of!(TcpServer, report(&self.simulation, *host, *application));
            report.connections.iter().map(|connection| connection.bytes).sum()
        };
        self.receivers.iter().map(bytes).collect()
    }
}

#[derive(Debug)]
pub struct Outcome {
    /// Of each flow after the warm-up, in Mb/s.
    pub goodputs: Vec<f64>,
    pub queue: QueueFigures,
    pub senders: Vec<TcpBulkReport>,
    pub servers: Vec<TcpServerReport>,
    pub steps: u64,
}

impl Outcome {
    pub fn goodput(&self) -> f64 {
        self.goodputs.iter().sum()
    }

    /// From the first SYN to the last byte at the receiver, in milliseconds.
    pub fn completion_ms(&self) -> f64 {
        let started = self.senders[0].started_ps.expect("a start");
        let ended = self.servers[0].connections[0].last_byte_ps.expect("an end");
        (ended - started) as f64 / MS as f64
    }
}
