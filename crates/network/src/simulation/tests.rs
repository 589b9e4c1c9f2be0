// SPDX-License-Identifier: Apache-2.0
//! Tests of the simulation with small nodes of their own.

use super::*;
use crate::links::LossModel;
use crate::node::Recorder;

/// Sends whatever it receives out of the other of its two ports after a delay.
struct Repeater {
    delay_ps: u64,
}

impl Node for Repeater {
    fn receive(&mut self, port: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        outbox.send(1 - port, outbox.now_ps() + self.delay_ps, frame);
        Ok(())
    }

    fn next_wake_ps(&self) -> Option<u64> {
        None
    }

    fn wake(&mut self, _outbox: &mut Outbox) -> Result<(), NodeError> {
        Ok(())
    }
}

/// Sends everything out of port 1.
struct Ring;

impl Node for Ring {
    fn receive(&mut self, _port: u32, frame: Frame, outbox: &mut Outbox) -> Result<(), NodeError> {
        outbox.send(1, outbox.now_ps(), frame);
        Ok(())
    }

    fn next_wake_ps(&self) -> Option<u64> {
        None
    }

    fn wake(&mut self, _outbox: &mut Outbox) -> Result<(), NodeError> {
        Ok(())
    }
}

fn link(latency_ps: u64, sender_rate_bps: Option<u64>) -> LinkOptions {
    LinkOptions { latency_ps, sender_rate_bps, ..LinkOptions::default() }
}

/// Times and first bytes of what a recorder received.
fn received(network: &Simulation, name: &str) -> Vec<(u64, u8)> {
    let node = network.named(name).and_then(|id| network.node::<Recorder>(id)).expect("a recorder");
    node.received().iter().map(|(time, frame)| (*time, frame.bytes[0])).collect()
}

#[test]
fn a_line_of_two_repeaters() {
    let mut network = Simulation::new(1);
    let sends = vec![(100, vec![1; 10]), (100, vec![2; 10]), (50, vec![3; 10])];
    let left = network.add("left", Recorder::new(sends));
    let one = network.add("one", Repeater { delay_ps: 7 });
    let two = network.add("two", Repeater { delay_ps: 7 });
    let right = network.add("right", Recorder::default());
    network.connect((left, 0), (one, 0), link(10, None)).expect("free");
    network.connect((one, 1), (two, 0), link(10, Some(80_000_000_000_000))).expect("free");
    network.connect((two, 1), (right, 0), link(10, None)).expect("free");
    network.run_to_completion().expect("ends");
    // 10 bytes take one picosecond on the link between the repeaters.
    assert_eq!(received(&network, "right"), [(95, 3), (145, 1), (146, 2)]);
    assert_eq!(network.link_statistics((one, 1)).map(|link| link.delivered), Some(3));
    assert_eq!(network.now_ps(), 146);
}

#[test]
fn ports_have_one_link() {
    let mut network = Simulation::new(0);
    let a = network.add("a", Recorder::default());
    let b = network.add("b", Recorder::default());
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
fn frames_by_ports_without_links_are_kept() {
    let mut network = Simulation::new(0);
    let host = network.add("host", Recorder::new(vec![(5, vec![1u8])]));
    assert_eq!(network.run_until(4), Ok(true));
    assert_eq!(network.drain_undelivered(), []);
    assert_eq!(network.run_until(10), Ok(false));
    let departure = Departure { port: 0, time_ps: 5, frame: vec![1u8].into() };
    assert_eq!(network.drain_undelivered(), [Undelivered { node: host, departure }]);
}

#[test]
fn a_loop_without_latency_ends_at_the_step_limit() {
    let mut network = Simulation::new(0);
    let host = network.add("host", Recorder::new(vec![(0, vec![0u8])]));
    let ring = network.add("ring", Ring);
    network.connect((host, 0), (ring, 0), LinkOptions::default()).expect("free");
    network.connect((ring, 1), (ring, 2), LinkOptions::default()).expect("free");
    network.set_step_limit(1000);
    assert_eq!(
        network.run_to_completion(),
        Err(SimulationError::StepLimit { steps: 1000, time_ps: 0 })
    );
}

#[test]
fn the_same_seed_loses_the_same_frames() {
    let run = |seed| {
        let sends = (0..1000u64).map(|number| (number, number.to_be_bytes().to_vec()));
        let mut network = Simulation::new(seed);
        let left = network.add("left", Recorder::new(sends));
        let right = network.add("right", Recorder::default());
        let lossy = LinkOptions { loss: LossModel::Random(0.25), ..LinkOptions::default() };
        network.connect((left, 0), (right, 0), lossy).expect("free");
        network.run_to_completion().expect("ends");
        network.node::<Recorder>(right).expect("a recorder").received().to_vec()
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
    assert!((650..850).contains(&run(3).len()));
}

#[test]
fn a_link_loses_what_leaves_while_it_is_down() {
    let mut network = Simulation::new(0);
    let sends = (0..10u8).map(|number| (u64::from(number) * 10, vec![number]));
    let left = network.add("left", Recorder::new(sends));
    // What comes at 30 leaves at 37, in the outage, though it is handed over before.
    let middle = network.add("middle", Repeater { delay_ps: 7 });
    let right = network.add("right", Recorder::default());
    network.connect((left, 0), (middle, 0), link(0, None)).expect("free");
    network.connect((middle, 1), (right, 0), link(100, None)).expect("free");
    assert!(network.schedule_link(35, (right, 0), false));
    assert!(network.schedule_link(60, (middle, 1), true));
    assert!(!network.schedule_link(60, (middle, 5), true));
    network.run_to_completion().expect("ends");
    let numbers: Vec<u8> = received(&network, "right").iter().map(|one| one.1).collect();
    assert_eq!(numbers, [0, 1, 2, 6, 7, 8, 9]);
    let counts = network.link_statistics((middle, 1)).expect("a link");
    assert_eq!((counts.delivered, counts.delivered_bytes, counts.lost_while_down), (7, 7, 3));
}

/// Notes when it acts and what it observes, and sends a frame at each of its times.
#[derive(Default)]
struct Sender {
    times_ps: Vec<u64>,
    from: Option<NodeId>,
    observed: Vec<(u64, NodeId)>,
}

impl Agent for Sender {
    fn next_act_ps(&self) -> Option<u64> {
        self.times_ps.first().copied()
    }

    fn act(&mut self, nodes: &mut Nodes<'_>) -> Result<(), NodeError> {
        let time_ps = self.times_ps.remove(0);
        assert_eq!(nodes.now_ps(), time_ps);
        let Some(from) = self.from else {
            return Err(NodeError { message: "nobody sends".to_string() });
        };
        nodes.node_mut::<Recorder>(from).expect("a recorder").send(time_ps, vec![7]);
        Ok(())
    }

    fn observe(&mut self, node: NodeId, now_ps: u64) {
        self.observed.push((now_ps, node));
    }
}

#[test]
fn an_agent_acts_between_the_events_of_nodes() {
    let mut network = Simulation::new(1);
    let left = network.add("left", Recorder::new([(50, vec![1])]));
    let right = network.add("right", Recorder::default());
    network.connect((left, 0), (right, 0), link(10, None)).expect("two ends");
    network.schedule_link(20, (left, 0), false);
    network.schedule_link(40, (left, 0), true);
    // At one time the link changes first, and the agent acts before nodes do.
    let times_ps = vec![20, 40, 50];
    network.set_agent(Sender { times_ps, from: Some(left), ..Sender::default() }, &[right]);
    network.run_to_completion().expect("no failure");
    assert_eq!(received(&network, "right"), [(50, 7), (60, 1), (60, 7)]);
    let agent = network.agent_mut::<Sender>().expect("the agent");
    assert_eq!(agent.observed, [20, 40, 50, 60, 60].map(|time_ps| (time_ps, right)));

    network.set_agent(Sender { times_ps: vec![70], ..Sender::default() }, &[]);
    let error = network.run_to_completion().expect_err("the agent fails").to_string();
    assert_eq!(error, "the control plane stopped at 70 ps: nobody sends");
}
