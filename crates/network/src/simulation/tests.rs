// SPDX-License-Identifier: Apache-2.0
//! Tests of the simulation with hosts and small nodes of their own.

use super::*;
use crate::node::{Departure, Host};

/// Sends whatever it receives out of the other of its two ports after a delay.
#[derive(Default)]
struct Repeater {
    delay_ps: u64,
    departures: Vec<Departure<Vec<u8>>>,
}

impl Node<Vec<u8>> for Repeater {
    fn receive(&mut self, port: u32, time_ps: u64, message: Vec<u8>) {
        self.departures.push(Departure {
            port: 1 - port,
            time_ps: time_ps + self.delay_ps,
            message,
        });
    }

    fn next_event_ps(&self) -> Option<u64> {
        None
    }

    fn advance(&mut self, _until_ps: u64) -> Result<(), NodeError> {
        Ok(())
    }

    fn drain_departures(&mut self) -> Vec<Departure<Vec<u8>>> {
        std::mem::take(&mut self.departures)
    }
}

fn link(latency_ps: u64, rate_bps: Option<u64>) -> LinkOptions {
    LinkOptions { latency_ps, rate_bps, loss_per_million: 0 }
}

#[test]
fn a_line_of_two_repeaters() {
    let mut network = Simulation::new(1);
    let sends = vec![(100, vec![1; 10]), (100, vec![2; 10]), (50, vec![3; 10])];
    let left = network.add("left", Host::new(sends));
    let one = network.add("one", Repeater { delay_ps: 7, ..Repeater::default() });
    let two = network.add("two", Repeater { delay_ps: 7, ..Repeater::default() });
    let right = network.add("right", Host::<Vec<u8>>::default());
    network.connect((left, 0), (one, 0), link(10, None)).expect("free");
    network.connect((one, 1), (two, 0), link(10, Some(80_000_000_000_000))).expect("free");
    network.connect((two, 1), (right, 0), link(10, None)).expect("free");
    network.run_to_completion().expect("ends");
    let host = network.node::<Host<Vec<u8>>>(right).expect("a host");
    // 10 bytes take one picosecond on the link between the repeaters.
    let received: Vec<(u64, u8)> =
        host.received().iter().map(|(time, bytes)| (*time, bytes[0])).collect();
    assert_eq!(received, [(95, 3), (145, 1), (146, 2)]);
    assert_eq!(network.link_statistics((one, 1)).map(|link| link.delivered), Some(3));
    assert_eq!(network.now_ps(), 146);
}

#[test]
fn ports_have_one_link() {
    let mut network: Simulation<Vec<u8>> = Simulation::new(0);
    let a = network.add("a", Host::default());
    let b = network.add("b", Host::default());
    network.connect((a, 0), (b, 0), LinkOptions::default()).expect("free");
    assert_eq!(
        network.connect((a, 1), (b, 0), LinkOptions::default()),
        Err(SimulationError::PortInUse { node: "b".into(), port: 0 })
    );
    assert_eq!(
        network.connect((a, 1), (NodeId(9), 0), LinkOptions::default()),
        Err(SimulationError::NoSuchNode(NodeId(9)))
    );
    assert!(network.connect((a, 1), (a, 1), LinkOptions::default()).is_err());
}

#[test]
fn messages_by_ports_without_links_are_kept() {
    let mut network = Simulation::new(0);
    let host = network.add("host", Host::new(vec![(5, vec![1u8])]));
    network.run_until(4).expect("ends");
    assert_eq!(network.drain_undelivered(), []);
    network.run_until(10).expect("ends");
    assert_eq!(network.now_ps(), 10);
    assert_eq!(
        network.drain_undelivered(),
        [Undelivered { node: host, port: 0, time_ps: 5, message: vec![1u8] }]
    );
}

#[test]
fn a_loop_without_latency_ends_at_the_step_limit() {
    let mut network = Simulation::new(0);
    let host = network.add("host", Host::new(vec![(0, vec![0u8])]));
    let ring = network.add("ring", Ring::default());
    network.connect((host, 0), (ring, 0), LinkOptions::default()).expect("free");
    network.connect((ring, 1), (ring, 2), LinkOptions::default()).expect("free");
    network.set_step_limit(1000);
    assert_eq!(
        network.run_to_completion(),
        Err(SimulationError::StepLimit { steps: 1000, time_ps: 0 })
    );
}

/// Sends everything out of port 1.
#[derive(Default)]
struct Ring(Vec<Departure<Vec<u8>>>);

impl Node<Vec<u8>> for Ring {
    fn receive(&mut self, _port: u32, time_ps: u64, message: Vec<u8>) {
        self.0.push(Departure { port: 1, time_ps, message });
    }

    fn next_event_ps(&self) -> Option<u64> {
        None
    }

    fn advance(&mut self, _until_ps: u64) -> Result<(), NodeError> {
        Ok(())
    }

    fn drain_departures(&mut self) -> Vec<Departure<Vec<u8>>> {
        std::mem::take(&mut self.0)
    }
}

#[test]
fn the_same_seed_loses_the_same_messages() {
    let run = |seed| {
        let sends = (0..1000u64).map(|number| (number, number.to_be_bytes().to_vec())).collect();
        let mut network = Simulation::new(seed);
        let left = network.add("left", Host::new(sends));
        let right = network.add("right", Host::<Vec<u8>>::default());
        let lossy = LinkOptions { loss_per_million: 250_000, ..LinkOptions::default() };
        network.connect((left, 0), (right, 0), lossy).expect("free");
        network.run_to_completion().expect("ends");
        network.node::<Host<Vec<u8>>>(right).expect("a host").received().to_vec()
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
    assert!((650..850).contains(&run(3).len()));
}
