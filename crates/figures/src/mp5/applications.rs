// SPDX-License-Identifier: Apache-2.0
//! Figure 8 and Figure 2 with real programs: the four applications in Domino, compiled and cut into stages, with their updates. Flows have
//! the sizes of the web search workload, packets 200 or 1400 bytes.

use super::published::Claim;
use super::{Options, mean, range};
use crate::distribution::Distribution;
use crate::{Measuring, Table};
use arithmetic::random::keyed;
use device::Device;
use hosts::sizes::FlowSizes;
use ir::{Bits, Program};
use scale::device_pipeline::{DevicePipeline, StagedPass};
use scale::device_work::DeviceWork;
use scale::experiment::{Experiment, Sample};
use scale::machine::outcome::Arrival;
use scale::presets::Preset;
use scale::staged::StagedControl;
use scale::sweep::REMAP_EVERY;
use scale::traffic::{Sizes, TrafficPacket, WebSearch, web_search};
use std::sync::Arc;

/// A program whose ingress is in stages.
pub struct CompiledProgram {
    /// A device of its stages, with the first values of its cells.
    pub device: Device,
    /// Ingress in stages.
    pub control: Arc<StagedControl>,
    /// The program before it was cut.
    pub written: Arc<Program>,
}

/// Compiles a program: its file's name and its text.
pub type Compile<'a> = &'a dyn Fn(&str, &str) -> Result<CompiledProgram, String>;

/// The fields of a packet that a program reads, by name.
type Fields = Vec<(&'static str, u64)>;

/// An application.
struct Application {
    name: &'static str,
    file: &'static str,
    text: &'static str,
    /// A line of the text and what stands there instead.
    change: Option<(&'static str, &'static str)>,
    /// What a packet of a flow carries, `random` in it.
    fields: fn(packet: &TrafficPacket, flow: u64, random: u64) -> Fields,
    /// All packets meet one cell.
    has_one_cell: bool,
}

const SEQUENCER: &str = include_str!("../../../../examples/domino/sequencer.domino");

/// The paper's applications; the sequencer with one counter, and with as many as the artifact has.
const APPLICATIONS: [Application; 5] = [
    Application {
        name: "flowlet",
        file: "flowlets.domino",
        text: include_str!("../../../../examples/domino/flowlets.domino"),
        change: None,
        fields: |packet, flow, _| {
            vec![
                ("source_port", flow & 0xffff),
                ("destination_port", flow >> 16 & 0xffff),
                ("time", packet.cycle),
            ]
        },
        has_one_cell: false,
    },
    Application {
        name: "CONGA",
        file: "best_path.domino",
        text: include_str!("../../../../examples/domino/best_path.domino"),
        change: Some(("#define LEAVES 64", "#define LEAVES 256")),
        fields: |_, flow, random| {
            vec![("leaf", flow), ("path", random % 8), ("utilization", (random >> 8) % 101)]
        },
        has_one_cell: false,
    },
    Application {
        name: "WFQ",
        file: "fair_queueing.domino",
        text: include_str!("../../../../examples/domino/fair_queueing.domino"),
        change: None,
        fields: |packet, flow, _| {
            vec![
                ("source_port", flow & 0xffff),
                ("destination_port", flow >> 16 & 0xffff),
                ("length", u64::from(packet.bytes)),
                ("virtual_time", packet.cycle),
            ]
        },
        has_one_cell: false,
    },
    Application {
        name: "sequencer",
        file: "sequencer.domino",
        text: SEQUENCER,
        change: None,
        fields: |_, _, _| vec![("group", 0), ("is_ordered", 1)],
        has_one_cell: true,
    },
    Application {
        name: "1,024 sequencers",
        file: "sequencer.domino",
        text: SEQUENCER,
        change: Some(("#define GROUPS 16", "#define GROUPS 1024")),
        fields: |_, flow, _| vec![("group", flow), ("is_ordered", 1)],
        has_one_cell: false,
    },
];

/// The applications of the paper are the first.
const PAPER_APPLICATIONS: usize = 4;

const BETTER: &str = "free-by-cell-late-arrivals-touch";
const PACKET_BYTES: [u32; 2] = [200, 1400];
/// Flows that a port carries at a time.
const FLOWS_AT_A_TIME: u32 = 8;
/// Packets of each port.
const PER_PORT: u32 = 100;
const PORTS: u32 = 64;
/// A frame with room for the fields of every application.
const FRAME_BYTES: usize = 64;

pub(super) fn figure_8(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    let title = "Figure 8: throughput of applications";
    let columns = [
        "application",
        "pipelines",
        "published",
        "MP5",
        "least-most",
        "steady",
        "one cell's limit",
        "better, for hardware",
        "bound",
        "queue",
        "wasted cycles",
    ];
    let mut table = Table::new(title, &columns);
    let counts = [1_u32, 2, 4, 8, 16];
    let all = APPLICATIONS.len() * counts.len();
    for (index, application) in APPLICATIONS.iter().enumerate() {
        let compiled = application.compiled(options)?;
        for (at, pipelines) in counts.into_iter().enumerate() {
            (measuring.progress)(title, (index * counts.len() + at) as f64 / all as f64);
            let mut bounds = Vec::new();
            let mut samples = [Vec::new(), Vec::new()];
            for seed in measuring.seed..measuring.seed + options.seeds {
                let traffic = traffic(&PACKET_BYTES, pipelines, seed);
                let mut experiment = compiled.experiment(&traffic, pipelines, seed);
                bounds.push(experiment.bound().throughput());
                for (name, samples) in ["mp5", BETTER].iter().zip(&mut samples) {
                    samples.push(run(&mut experiment, name, seed)?);
                }
            }
            let [mp5, better] = &samples;
            let of = |samples: &[Sample], measure: &dyn Fn(&Sample) -> f64| {
                Distribution::new(samples.iter().map(measure))
            };
            let units = f64::from(PACKET_BYTES[0] + PACKET_BYTES[1]) / 2.0 / 64.0;
            let limit = (units / f64::from(pipelines)).min(1.0);
            let queue = samples.iter().flatten().map(|sample| sample.measures.queue_entries).max();
            let throughput = of(mp5, &|sample| sample.throughput);
            table.row([
                application.name.to_string(),
                pipelines.to_string(),
                Claim::APPLICATIONS.to_string(),
                mean(&throughput),
                range(&throughput),
                mean(&of(mp5, &|sample| sample.steady)),
                if application.has_one_cell { format!("{limit:.3}") } else { "-".to_string() },
                mean(&of(better, &|sample| sample.throughput)),
                mean(&Distribution::new(bounds)),
                queue.unwrap_or(0).to_string(),
                format!("{:.0}", of(mp5, &|sample| sample.measures.wasted as f64).mean()),
            ]);
        }
    }
    table.remark(
        "The programs are those of examples/domino, CONGA with 256 leaves as in the artifact. Packets of 200 or 1400 bytes, flows of the \
         web search sizes, 100 packets a port. \
         A cell takes one packet a cycle: one counter that every packet meets cannot pass 12.5 / k of line rate in steady traffic. \
         Throughput is the artifact's measure, which flatters: ports end at different times. steady: packets out over in while all \
         ports send. The artifact's 1,024 counters are one a flow. queue: the most entries in any run of either design. wasted cycles: \
         of cancelled accesses in MP5; none of the four has an access that only state decides about, as each packet reads its cell.",
    );
    Ok(table)
}

/// The matrix of Figure 2 with the four applications.
pub(super) fn figure_2(
    measuring: &mut Measuring<'_>,
    options: &Options<'_>,
) -> Result<Table, String> {
    const PIPELINES: u32 = 4;
    const DESIGNS: [(&str, &str); 4] =
        [("naive", "D1"), ("no-order", "D1 to D3"), ("mp5", "D1 to D4"), (BETTER, "better")];
    let title = "Figure 2 with the applications: equal runs and throughput, k = 4, 64 B";
    let mut columns = vec!["principles".to_string(), "design".to_string()];
    for application in &APPLICATIONS[..PAPER_APPLICATIONS] {
        columns.push(format!("{}: equal runs", application.name));
        columns.push(format!("{}: throughput", application.name));
    }
    let mut rows: Vec<Vec<String>> = DESIGNS
        .iter()
        .map(|(name, principles)| vec![(*principles).to_string(), (*name).to_string()])
        .collect();
    for (index, application) in APPLICATIONS[..PAPER_APPLICATIONS].iter().enumerate() {
        (measuring.progress)(title, index as f64 / PAPER_APPLICATIONS as f64);
        let compiled = application.compiled(options)?;
        let mut samples = vec![Vec::new(); DESIGNS.len()];
        for seed in measuring.seed..measuring.seed + options.seeds {
            let traffic = traffic(&[64, 64], PIPELINES, seed);
            let mut experiment = compiled.experiment(&traffic, PIPELINES, seed);
            for ((name, _), samples) in DESIGNS.iter().zip(&mut samples) {
                samples.push(run(&mut experiment, name, seed)?);
            }
        }
        for (row, samples) in rows.iter_mut().zip(&samples) {
            let equal = samples.iter().filter(|sample| sample.is_equivalent).count();
            row.push(format!("{equal} of {}", samples.len()));
            row.push(mean(&Distribution::new(samples.iter().map(|sample| sample.throughput))));
        }
    }
    let mut table = Table { title: title.to_string(), columns, ..Table::default() };
    rows.into_iter().for_each(|row| table.row(row));
    table.remark(
        "A run is equal if all cells, all packets and the order of accesses of each cell are those of one pipeline. Every packet \
         accesses state, so the naive design has a fourth of line rate. One sequencer counter takes a packet a cycle in every design.",
    );
    Ok(table)
}

/// Runs a design. One that keeps the order of accesses and differs from one pipeline is an error.
fn run(experiment: &mut Experiment<DeviceWork>, name: &str, seed: u64) -> Result<Sample, String> {
    let preset = Preset::find(name).ok_or("no such design")?;
    let place = experiment.place(PORTS, REMAP_EVERY, seed);
    let sample = experiment.run(&preset.design(&place), None);
    if preset.is_equivalent && !sample.is_equivalent {
        return Err(format!("{name} differs from one pipeline, seed {seed}"));
    }
    Ok(sample)
}

/// Packets with one of two lengths.
fn traffic([small, large]: &[u32; 2], pipelines: u32, seed: u64) -> Vec<TrafficPacket> {
    let options = WebSearch {
        ports: PORTS,
        pipelines,
        per_port: PER_PORT,
        sizes: Sizes::Bimodal(*small, *large),
        flows_at_a_time: FLOWS_AT_A_TIME,
    };
    web_search(&options, seed, |random| FlowSizes::WebSearch.draw(random.fraction()))
}

/// A compiled application.
struct Compiled<'a> {
    application: &'a Application,
    /// A pipeline with the first values of all cells.
    first: DevicePipeline,
    /// A packet in front of the control, all of whose fields are 0.
    packet: StagedPass,
}

impl Application {
    fn compiled(&self, options: &Options<'_>) -> Result<Compiled<'_>, String> {
        let text = match self.change {
            Some((line, other)) => self.text.replace(line, other),
            None => self.text.to_string(),
        };
        let CompiledProgram { mut device, control, .. } = (options.compile)(self.file, &text)?;
        let first = DevicePipeline::new(&device, control).map_err(|error| error.to_string())?;
        let begun = device.begin(0, 0, vec![0; FRAME_BYTES]).map_err(|error| error.to_string())?;
        let pass = begun.ok_or("no packet enters the program")?;
        let packet = first.another().enter(pass).map_err(|error| error.to_string())?;
        Ok(Compiled { application: self, first, packet })
    }
}

impl Compiled<'_> {
    /// The packets of traffic as packets of the program.
    fn experiment(
        &self,
        traffic: &[TrafficPacket],
        pipelines: u32,
        seed: u64,
    ) -> Experiment<DeviceWork> {
        let arrivals = (0..).zip(traffic).map(|(number, packet)| Arrival {
            cycle: packet.cycle,
            port: packet.port,
            packet: self.packet(packet, (seed, number)),
        });
        let mut arrivals: Vec<Arrival<StagedPass>> = arrivals.collect();
        arrivals.sort_by_key(|arrival| (arrival.cycle, arrival.port));
        let first = self.first.another();
        let make = move |pipelines| DeviceWork::new(first.another(), pipelines);
        Experiment::new(make, arrivals, pipelines as usize)
    }

    /// A packet in front of the control, with its fields.
    fn packet(&self, packet: &TrafficPacket, (seed, number): (u64, u64)) -> StagedPass {
        let flow = keyed(seed, &[u64::from(packet.flow.unwrap_or(0))]);
        let fields = (self.application.fields)(packet, flow, keyed(seed, &[number, 1]));
        let mut staged = self.packet.clone();
        for (name, value) in fields {
            let slots = &self.first.control().program.slots;
            let is_field = |slot: &ir::Slot| slot.name.strip_prefix("hdr.packet.") == Some(name);
            if let Some(slot) = slots.iter().position(is_field) {
                let value = Bits::from_u64(32, value & u64::from(u32::MAX));
                staged.pass.context_mut().set_slot(ir::SlotId(slot as u32), &value);
            }
        }
        staged
    }
}
