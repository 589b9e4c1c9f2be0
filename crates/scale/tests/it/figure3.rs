// SPDX-License-Identifier: Apache-2.0
//! MP5's Figure 3 and the examples of §2.3.1: the time lines of Tables I to III and the final values.

use scale::design::{Design, Entry, FirstMap, Path};
use scale::judge::{judge, reference};
use scale::machine::outcome::{Arrival, Outcome};
use scale::machine::queue::Content;
use scale::machine::{Machine, Settings, run};
use scale::trace::{Kind, Trace};
use scale::work::{Access, Comparable, Group, StageOutcome, Work};

/// The program of Figure 3, with its cells in each pipeline.
#[derive(Clone)]
struct Figure3 {
    groups: Vec<Group>,
    registers: Vec<[[i64; 4]; 3]>,
}

/// A packet of Figure 3.
#[derive(Clone, PartialEq, Debug)]
struct Headers {
    h: [u32; 3],
    mux: u32,
    val: i64,
}

impl Figure3 {
    fn new(pipelines: usize) -> Figure3 {
        let group = |name: &str, stage| Group { name: name.to_string(), stage, cells: 4 };
        Figure3 {
            groups: vec![group("reg1", 0), group("reg2", 0), group("reg3", 1)],
            registers: vec![[[2, 4, 8, 16], [1, 3, 5, 7], [0, 0, 1, 0]]; pipelines],
        }
    }
}

impl Work for Figure3 {
    type Packet = Headers;

    fn stages(&self) -> usize {
        2
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn resolve(&mut self, packet: &mut Headers, accesses: &mut Vec<Access>) {
        let [h1, h2, h3] = packet.h.map(|h| h % 4);
        let first = if packet.mux == 1 { (0, h1) } else { (1, h2) };
        accesses.extend([first, (2, h3)].map(|(group, cell)| Access { group, cell }));
    }

    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut Headers) -> StageOutcome {
        let [h1, h2, h3] = packet.h.map(|h| h as usize % 4);
        let [reg1, reg2, reg3] = &mut self.registers[pipeline];
        match (stage, packet.mux) {
            (0, 1) => packet.val = reg1[h1],
            (0, _) => packet.val = reg2[h2],
            (_, 1) => reg3[h3] *= packet.val,
            (_, _) => reg3[h3] += packet.val,
        }
        StageOutcome::default()
    }

    fn move_cell(&mut self, access: Access, from: usize, to: usize) {
        let (group, cell) = (access.group as usize, access.cell as usize);
        self.registers[to][group][cell] = self.registers[from][group][cell];
    }
}

impl Comparable for Figure3 {
    fn is_same_packet(&self, packet: &Headers, reference: &Headers) -> bool {
        packet == reference
    }

    fn is_same_cell(&self, access: Access, pipeline: usize, reference: &Figure3) -> bool {
        let (group, cell) = (access.group as usize, access.cell as usize);
        self.registers[pipeline][group][cell] == reference.registers[0][group][cell]
    }
}

/// Packets A to E.
fn packets() -> Vec<Arrival<Headers>> {
    let arrival = |cycle, port, h2, mux| Arrival {
        cycle,
        port,
        packet: Headers { h: [1, h2, 2], mux, val: 0 },
    };
    vec![
        arrival(0, 1, 1, 1),
        arrival(0, 2, 1, 1),
        arrival(1, 1, 1, 1),
        arrival(1, 2, 1, 1),
        arrival(2, 1, 3, 0),
    ]
}

/// Where the figure's cells are: reg1[1] in the first pipeline, reg2[3] and reg3[2] in the second.
fn map() -> FirstMap {
    FirstMap::Given(vec![vec![0; 4], vec![1; 4], vec![1; 4]])
}

/// Runs the packets. Returns the time line and the final value of `reg3[2]`. A line is a cycle; a column is a stage of a pipeline: first
/// the packet that is processed, then those that wait, phantoms as small letters.
fn time_line(pipelines: usize, design: &Design, arrivals: Vec<Arrival<Headers>>) -> (String, i64) {
    let mut work = Figure3::new(pipelines);
    let mut trace = Trace::default();
    let mut machine = Machine::new(&work, Settings::new(pipelines), design, &mut trace);
    for arrival in arrivals {
        machine.offer(arrival);
    }
    let name = |packet: u64| char::from(b'A' + packet as u8);
    let mut lines = Vec::new();
    while !machine.is_empty() {
        let first = trace.events.len();
        machine.step(&mut work, &mut trace);
        let mut line = String::new();
        for pipeline in 0..pipelines {
            for stage in 0..2 {
                let mut cell = String::new();
                for event in &trace.events[first..] {
                    if let Kind::Processed { packet, stage: at, pipeline: by, .. } = event.kind
                        && (at, by) == (stage, pipeline)
                    {
                        cell.push(name(packet));
                    }
                }
                for (packet, entry) in machine.queue(stage, pipeline) {
                    let name = name(packet);
                    let is_phantom = entry.content == Content::Phantom;
                    cell.push(if is_phantom { name.to_ascii_lowercase() } else { name });
                }
                line.push_str(&format!("{:<5}", if cell.is_empty() { "-" } else { &cell }));
            }
        }
        lines.push(line.trim_end().to_string());
    }
    assert_eq!(scale::checker::check(&trace).is_empty(), design.has_phantoms);
    let owner = machine.finish().map[2][2];
    (lines.join("\n"), work.registers[usize::from(owner)][2][2])
}

#[test]
fn table_1_one_pipeline() {
    // The single pipeline runs at twice the rate: a line is half a unit of time.
    let arrivals =
        packets().into_iter().map(|arrival| Arrival { cycle: 2 * arrival.cycle, ..arrival });
    let design = Design::mp5(100);
    let (lines, value) = time_line(1, &design, arrivals.collect());
    assert_eq!(value, 263);
    // Of stage 2, what is processed: Table I has no queues.
    let processed: Vec<String> = lines
        .lines()
        .map(|line| line.split_whitespace().map(|cell| &cell[..1]).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(processed, ["A -", "B A", "C B", "D C", "E D", "- E"]);
}

#[test]
fn table_2_without_order() {
    let design = Design { first_map: map(), ..Design::without_order(100) };
    let (lines, value) = time_line(2, &design, packets());
    let expected = [
        "AB   -    -    -",
        "BCD  -    -    A",
        "CD   -    E    B",
        "D    -    -    CE",
        "-    -    -    ED",
        "-    -    -    D",
    ];
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
    assert_eq!(value, 284);
}

#[test]
fn table_3_with_order() {
    let design = Design { first_map: map(), ..Design::mp5(100) };
    let (lines, value) = time_line(2, &design, packets());
    let expected = [
        "AB   -    -    -",
        "BCD  -    -    Ab",
        "CD   -    E    Bcd",
        "D    -    -    CdE",
        "-    -    -    DE",
        "-    -    -    E",
    ];
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
    assert_eq!(value, 263);
}

/// A counter; each packet takes its value (MP5 §2.3.1, example 2).
#[derive(Clone)]
struct Sequencer {
    groups: Vec<Group>,
    counts: Vec<u64>,
}

impl Sequencer {
    fn new(pipelines: usize) -> Sequencer {
        let group = Group { name: "count".to_string(), stage: 0, cells: 1 };
        Sequencer { groups: vec![group], counts: vec![0; pipelines] }
    }
}

impl Work for Sequencer {
    type Packet = u64;

    fn stages(&self) -> usize {
        1
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn resolve(&mut self, _: &mut u64, accesses: &mut Vec<Access>) {
        accesses.push(Access { group: 0, cell: 0 });
    }

    fn run(&mut self, _: usize, pipeline: usize, packet: &mut u64) -> StageOutcome {
        self.counts[pipeline] += 1;
        *packet = self.counts[pipeline];
        StageOutcome::default()
    }

    fn move_cell(&mut self, _: Access, from: usize, to: usize) {
        self.counts[to] = self.counts[from];
    }
}

impl Comparable for Sequencer {
    fn is_same_packet(&self, packet: &u64, reference: &u64) -> bool {
        packet == reference
    }

    fn is_same_cell(&self, _: Access, pipeline: usize, reference: &Sequencer) -> bool {
        self.counts[pipeline] == reference.counts[0]
    }
}

/// Runs packets of (port, cycle) through a counter on two pipelines. Returns the values in the packets, in order of arrival, the count,
/// and whether the run equals one pipeline.
fn count(packets: &[(u32, u64)], path: Path) -> (Vec<u64>, u64, bool) {
    let arrivals: Vec<Arrival<u64>> = packets
        .iter()
        .map(|(port, cycle)| Arrival { cycle: *cycle, port: *port, packet: 0 })
        .collect();
    let design = Design { path, entry: Entry::BoundPorts { ports: 2 }, ..Design::mp5(100) };
    let mut work = Sequencer::new(2);
    let outcome: Outcome<u64> =
        run(&mut work, arrivals.clone(), Settings::new(2), &design, &mut ());
    let mut single = Sequencer::new(1);
    let expected = reference(&mut single, &arrivals);
    let verdict = judge(&work, &outcome, &mut single, &expected);
    let mut values: Vec<(u64, u64)> =
        outcome.departures.iter().map(|left| (left.sequence, left.packet)).collect();
    values.sort_unstable();
    let values = values.into_iter().map(|(_, value)| value).collect();
    (values, work.counts[0], verdict.is_equivalent())
}

#[test]
fn example_1_pipelines_that_share_nothing_lose_a_count() {
    assert_eq!(count(&[(0, 0), (1, 1)], Path::Local), (vec![1, 1], 1, false));
    assert_eq!(count(&[(0, 0), (1, 1)], Path::Crossbars), (vec![1, 2], 2, true));
}

#[test]
fn example_2_recirculation_changes_the_order() {
    let packets = [(0, 0), (1, 1), (0, 2)];
    let recirculation = Path::Recirculation { first: true };
    assert_eq!(count(&packets, recirculation), (vec![1, 3, 2], 3, false));
    assert_eq!(count(&packets, Path::Crossbars), (vec![1, 2, 3], 3, true));
}
