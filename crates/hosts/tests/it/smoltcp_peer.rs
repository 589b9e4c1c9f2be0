// SPDX-License-Identifier: Apache-2.0
//! Our TCP against smoltcp's, over links that lose, reorder and repeat frames.

use crate::report_of;
use crate::support::{MS, SECOND, add, host_options, report};
use arithmetic::random::stream::Stream;
use hosts::Host;
use hosts::applications::Application;
use hosts::applications::tcp_bulk::TcpBulkOptions;
use hosts::applications::tcp_server::TcpServerOptions;
use hosts::tcp::TcpOptions;
use network::frame::Frame;
use network::links::{LinkOptions, LossModel};
use network::node::{Node, NodeError, NodeId, Outbox};
use network::simulation::Simulation;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;

/// Frames in both directions.
#[derive(Default)]
struct Queues {
    received: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);
struct Sending<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

impl TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut bytes = vec![0; length];
        let result = fill(&mut bytes);
        self.0.push_back(bytes);
        result
    }
}

impl Device for Queues {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sending<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sending<'_>)> {
        let frame = self.received.pop_front()?;
        Some((Received(frame), Sending(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sending<'_>> {
        Some(Sending(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        capabilities
    }
}

/// What smoltcp's end does.
enum Role {
    /// Connects, writes these bytes, and closes when as many came back.
    Client { bytes: Vec<u8>, written: usize },
    /// Accepts, reads to the end, and closes.
    Server,
}

/// The version of IP.
#[derive(Clone, Copy, PartialEq)]
enum Version {
    Four,
    Six,
}

/// 2001:db8::last.
fn version6(last: u16) -> IpAddress {
    IpAddress::v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, last)
}

struct SmoltcpNode {
    queues: Queues,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    role: Role,
    version: Version,
    read: Vec<u8>,
    is_started: bool,
    wake_ps: Option<u64>,
}

fn instant(now_ps: u64) -> Instant {
    Instant::from_micros((now_ps / 1_000_000) as i64)
}

impl SmoltcpNode {
    /// 10.0.0.2 and 2001:db8::2.
    fn new(role: Role, version: Version) -> SmoltcpNode {
        let mut queues = Queues::default();
        let hardware = HardwareAddress::Ethernet(EthernetAddress([2, 0, 0, 0, 0, 2]));
        let mut config = Config::new(hardware);
        config.random_seed = 5;
        let mut interface = Interface::new(config, &mut queues, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(IpAddress::v4(10, 0, 0, 2), 24)).expect("room");
            addresses.push(IpCidr::new(version6(2), 64)).expect("room");
        });
        let buffer = || tcp::SocketBuffer::new(vec![0; 100_000]);
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(tcp::Socket::new(buffer(), buffer()));
        SmoltcpNode {
            queues,
            interface,
            sockets,
            handle,
            role,
            version,
            read: Vec::new(),
            is_started: false,
            wake_ps: Some(0),
        }
    }

    fn start(&mut self) {
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.handle);
        match self.role {
            Role::Client { .. } => {
                let remote = match self.version {
                    Version::Four => IpAddress::v4(10, 0, 0, 1),
                    Version::Six => version6(1),
                };
                socket
                    .connect(self.interface.context(), (remote, 7), 40_000)
                    .expect("a connection");
            }
            Role::Server => socket.listen(5001).expect("a listener"),
        }
    }

    fn step(&mut self, outbox: &mut Outbox) {
        let now = instant(outbox.now_ps());
        if !std::mem::replace(&mut self.is_started, true) {
            self.start();
        }
        loop {
            self.interface.poll(now, &mut self.queues, &mut self.sockets);
            if !self.act() {
                break;
            }
        }
        self.interface.poll(now, &mut self.queues, &mut self.sockets);
        for bytes in self.queues.sent.drain(..) {
            outbox.send(0, outbox.now_ps(), bytes.into());
        }
        let at = self.interface.poll_at(now, &self.sockets);
        self.wake_ps = at.map(|at| {
            // Whole microseconds, and not the same instant for ever.
            (at.total_micros() as u64 * 1_000_000).max(outbox.now_ps() + 1_000_000)
        });
    }

    /// Reads and writes. Returns whether something happened.
    fn act(&mut self) -> bool {
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.handle);
        let mut has_acted = false;
        while socket.can_recv() {
            let read = &mut self.read;
            socket
                .recv(|bytes| {
                    read.extend_from_slice(bytes);
                    (bytes.len(), ())
                })
                .expect("bytes");
            has_acted = true;
        }
        match &mut self.role {
            Role::Client { bytes, written } => {
                if socket.can_send() && *written < bytes.len() {
                    *written += socket.send_slice(&bytes[*written..]).expect("room");
                    has_acted = true;
                }
                if self.read.len() == bytes.len() && socket.may_send() {
                    socket.close();
                    has_acted = true;
                }
            }
            Role::Server => {
                if socket.state() == tcp::State::CloseWait {
                    socket.close();
                    has_acted = true;
                }
            }
        }
        has_acted
    }
}

impl Node for SmoltcpNode {
    fn receive(&mut self, _: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        self.queues.received.push_back(frame.into_bytes());
        self.step(outbox);
        Ok(())
    }

    fn next_wake_ps(&self) -> Option<u64> {
        self.wake_ps
    }

    fn wake(&mut self, outbox: &mut Outbox) -> Result<(), NodeError> {
        self.step(outbox);
        Ok(())
    }
}

/// Our host, 10.0.0.1 and 2001:db8::1, and smoltcp, 10.0.0.2 and 2001:db8::2, on a link of 10 ms.
fn network(role: Role, version: Version, trouble: f64, seed: u64) -> (Simulation, NodeId, NodeId) {
    let mut simulation = Simulation::new(seed);
    let mut options = host_options(1, Some(100_000_000));
    options.interfaces[0].addresses.push("2001:db8::1/64".parse().expect("a network"));
    let ours = simulation.add("ours", Host::new(options, seed));
    let theirs = simulation.add("theirs", SmoltcpNode::new(role, version));
    let options = LinkOptions {
        latency_ps: 10 * MS,
        loss: LossModel::Random(trouble),
        corruption: trouble,
        duplication: trouble,
        reordering: trouble,
        sender_rate_bps: Some(100_000_000),
        ..LinkOptions::default()
    };
    simulation.connect((ours, 0), (theirs, 0), options).expect("free ports");
    (simulation, ours, theirs)
}

fn options(sack: bool, timestamps: bool) -> TcpOptions {
    TcpOptions { sack, timestamps, ..TcpOptions::default() }
}

/// smoltcp connects to our echo server: every byte goes through both stacks in both directions.
#[test]
fn smoltcp_reads_from_our_server_what_it_wrote() {
    for (version, trouble, sack, timestamps) in [
        (Version::Four, 0.0, true, true),
        (Version::Four, 0.01, true, true),
        (Version::Four, 0.03, true, false),
        (Version::Four, 0.02, false, true),
        (Version::Six, 0.0, true, true),
        (Version::Six, 0.02, true, true),
    ] {
        let mut random = Stream::new(3, 3, 3);
        let bytes: Vec<u8> = (0..150_000).map(|_| random.bits() as u8).collect();
        let role = Role::Client { bytes: bytes.clone(), written: 0 };
        let (mut simulation, ours, theirs) = network(role, version, trouble, 11);
        let mut server = TcpServerOptions::at(7);
        server.echoes = true;
        server.tcp = options(sack, timestamps);
        let server = add(&mut simulation, ours, Application::TcpServer(server));
        simulation.run_until(600 * SECOND).expect("a run");
        let node = simulation.node::<SmoltcpNode>(theirs).expect("smoltcp");
        assert!(node.read == bytes, "{trouble}: {} bytes came back", node.read.len());
        let report = report_of!(TcpServer, report(&simulation, ours, server));
        assert_eq!(report.connections.len(), 1);
        assert_eq!(report.connections[0].bytes, 150_000);
        assert!(report.connections[0].closed_ps.is_some(), "{trouble}: not closed");
    }
}

/// Our sender connects to smoltcp's server.
#[test]
fn smoltcp_takes_what_our_sender_sends() {
    for (version, trouble, sack) in [
        (Version::Four, 0.0, true),
        (Version::Four, 0.02, true),
        (Version::Four, 0.02, false),
        (Version::Six, 0.0, true),
        (Version::Six, 0.02, true),
    ] {
        let (mut simulation, ours, theirs) = network(Role::Server, version, trouble, 12);
        let remote = match version {
            Version::Four => "10.0.0.2",
            Version::Six => "2001:db8::2",
        };
        let mut bulk = TcpBulkOptions::to((remote.parse().expect("one"), 5001));
        bulk.bytes = Some(400_000);
        bulk.tcp = options(sack, true);
        let bulk = add(&mut simulation, ours, Application::TcpBulk(bulk));
        simulation.run_until(600 * SECOND).expect("a run");
        let node = simulation.node::<SmoltcpNode>(theirs).expect("smoltcp");
        assert_eq!(node.read.len(), 400_000, "{trouble}");
        assert!(node.read.iter().all(|byte| *byte == 0));
        let report = report_of!(TcpBulk, report(&simulation, ours, bulk));
        assert!(report.finished_ps.is_some() && !report.has_failed, "{trouble}: {report:?}");
        assert_eq!(report.statistics.retransmissions > 0, trouble > 0.0);
    }
}
