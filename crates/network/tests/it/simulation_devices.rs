// SPDX-License-Identifier: Apache-2.0
//! Two devices in a line between two hosts: forwarding, times, flow control, and losses of a link.

#[path = "../../../device/tests/it/hand_built.rs"]
#[allow(dead_code, missing_docs)]
mod hand_built;

use device::{
    CongestionThresholds, Device, DeviceOptions, DropReason, PortOptions, TrafficManagerOptions,
};
use network::links::LinkOptions;
use network::node::{NodeId, Recorder};
use network::simulation::Simulation;
use std::collections::BTreeMap;

/// Forwards between ports 1 and 2 and counts hops in `hdr.h.a`.
fn forwarder(device_id: u64, port_2: PortOptions) -> Device {
    let code = hand_built::program(
        |code| {
            code.when("standard_metadata.ingress_port", 1, |code| {
                code.set("standard_metadata.egress_spec", 2);
            });
            code.when("standard_metadata.ingress_port", 2, |code| {
                code.set("standard_metadata.egress_spec", 1);
            });
        },
        |code| code.add("hdr.h.a", 1),
    );
    let traffic_manager = TrafficManagerOptions {
        ports: BTreeMap::from([(2, port_2)]),
        ..TrafficManagerOptions::default()
    };
    let options = DeviceOptions { device_id, traffic_manager, ..DeviceOptions::default() };
    Device::new(code, options).expect("loads")
}

fn packet(number: u8) -> Vec<u8> {
    vec![number, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// left - one - two - right, by links with 1000 ps latency.
fn line(sends: Vec<(u64, Vec<u8>)>, one: Device, two: Device) -> (Simulation, [NodeId; 4]) {
    let mut network = Simulation::new(0);
    let left = network.add("left", Recorder::new(sends));
    let one = network.add("one", one);
    let two = network.add("two", two);
    let right = network.add("right", Recorder::default());
    let link = LinkOptions { latency_ps: 1_000, ..LinkOptions::default() };
    network.connect((left, 0), (one, 1), link).expect("free");
    network.connect((one, 2), (two, 1), link).expect("free");
    network.connect((two, 2), (right, 0), link).expect("free");
    (network, [left, one, two, right])
}

fn received(network: &Simulation, host: NodeId) -> Vec<(u64, Vec<u8>)> {
    network
        .node::<Recorder>(host)
        .expect("a recorder")
        .received()
        .iter()
        .map(|(time, frame)| (*time, frame.bytes.clone()))
        .collect()
}

#[test]
fn two_devices_forward_both_ways() {
    let (mut network, [left, _, two, right]) = line(
        vec![(500, packet(1)), (600, packet(2))],
        forwarder(1, PortOptions::default()),
        forwarder(2, PortOptions::default()),
    );
    network.node_mut::<Recorder>(right).expect("a host").send(700, packet(3));
    network.run_to_completion().expect("ends");
    let hops_2 = |number| vec![number, 0, 0, 0, 0, 2, 0, 0, 0, 0];
    assert_eq!(received(&network, right), [(3_500, hops_2(1)), (3_600, hops_2(2))]);
    assert_eq!(received(&network, left), [(3_700, hops_2(3))]);
    let statistics = network.node::<Device>(two).expect("a device").statistics();
    assert_eq!(statistics.ports[&1].received_packets, 2);
    assert_eq!(statistics.ports[&1].sent_packets, 1);
}

#[test]
fn flow_control_keeps_a_slow_device_from_dropping() {
    let slow = |congestion| PortOptions {
        rate_bps: Some(80_000_000_000),
        queue_depth_packets: 8,
        congestion,
        ..PortOptions::default()
    };
    let fast = PortOptions {
        rate_bps: Some(800_000_000_000),
        queue_depth_packets: 1000,
        ..PortOptions::default()
    };
    let sends: Vec<(u64, Vec<u8>)> = (0..100).map(|number| (0, packet(number))).collect();
    let run = |congestion| {
        let (mut network, [_, _, two, right]) =
            line(sends.clone(), forwarder(1, fast.clone()), forwarder(2, slow(congestion)));
        network.run_to_completion().expect("ends");
        let drops = network.node::<Device>(two).expect("a device").statistics().drops.clone();
        (received(&network, right).len(), drops.get(&DropReason::QueueFull).copied().unwrap_or(0))
    };
    let (arrived, dropped) = run(None);
    assert!(dropped > 0);
    assert_eq!(arrived as u64 + dropped, 100);
    // The pause needs a round trip of 2000 ps, in which 20 packets of 100 ps may come; a queue of 8
    // is too short for that, so the threshold counts on latency: a longer queue has room for it.
    let thresholds = CongestionThresholds { pause_packets: 2, resume_packets: 1 };
    let (arrived_paused, dropped_paused) = run(Some(thresholds));
    assert!(arrived_paused > arrived, "{arrived_paused} > {arrived}");
    assert_eq!(arrived_paused as u64 + dropped_paused, 100);

    let roomy = PortOptions { queue_depth_packets: 40, ..slow(Some(thresholds)) };
    let (mut network, [_, _, two, right]) = line(sends, forwarder(1, fast), forwarder(2, roomy));
    network.run_to_completion().expect("ends");
    assert_eq!(received(&network, right).len(), 100);
    assert_eq!(network.node::<Device>(two).expect("a device").statistics().drops, BTreeMap::new());
}

#[test]
fn a_broken_link_loses_packets_until_it_is_repaired() {
    let sends = (0..10).map(|number| (u64::from(number) * 10_000, packet(number))).collect();
    let (mut network, [_, one, _, right]) =
        line(sends, forwarder(1, PortOptions::default()), forwarder(2, PortOptions::default()));
    network.run_until(35_000).expect("goes on");
    assert!(network.set_link_up((one, 2), false));
    network.run_until(65_000).expect("goes on");
    assert!(network.set_link_up((one, 2), true));
    network.run_to_completion().expect("ends");
    let numbers: Vec<u8> = received(&network, right).iter().map(|(_, bytes)| bytes[0]).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 7, 8, 9]);
}
