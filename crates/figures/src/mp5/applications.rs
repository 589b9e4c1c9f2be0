// SPDX-License-Identifier: Apache-2.0
//! Figure 8: the four applications. What a packet accesses is that of the Domino programs (stages, arrays, cells, arrays of one
//! index together); updates are synthetic. Flows have the sizes of the web search workload, packets 200 or 1400 bytes.

use super::published::Claim;
use super::{Options, mean};
use crate::distribution::Distribution;
use crate::{Measuring, Table};
use hosts::sizes::FlowSizes;
use scale::experiment::Experiment;
use scale::presets::Preset;
use scale::sweep::REMAP_EVERY;
use scale::traffic::{Sizes, WebSearch, arrivals, program, web_search};

/// An application.
struct Application {
    name: &'static str,
    stages: usize,
    /// The stages with an array.
    stateful: &'static [usize],
    cells: u32,
}

/// The applications as they compile (`plane scale` on their Domino programs), and the artifact's sequencer.
const APPLICATIONS: [Application; 5] = [
    Application { name: "flowlet", stages: 6, stateful: &[1, 4], cells: 8000 },
    Application { name: "CONGA", stages: 4, stateful: &[2], cells: 256 },
    Application { name: "WFQ", stages: 4, stateful: &[1], cells: 8000 },
    Application { name: "sequencer", stages: 2, stateful: &[0], cells: 1 },
    Application { name: "1,024 sequencers (artifact)", stages: 2, stateful: &[0], cells: 1024 },
];

const DESIGNS: [&str; 2] = ["mp5", "free-by-cell-late-arrivals-touch"];
const PACKET_BYTES: [u32; 2] = [200, 1400];
/// Flows that a port carries at a time.
const FLOWS_AT_A_TIME: u32 = 8;

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
    ];
    let mut table = Table::new(title, &columns);
    let counts = [1_u32, 2, 4, 8, 16];
    let all = APPLICATIONS.len() * counts.len();
    for (index, application) in APPLICATIONS.iter().enumerate() {
        for (at, pipelines) in counts.into_iter().enumerate() {
            (measuring.progress)(title, (index * counts.len() + at) as f64 / all as f64);
            let mut found = [Vec::new(), Vec::new()];
            let (mut bounds, mut steady, mut queue) = (Vec::new(), Vec::new(), 0);
            for seed in measuring.seed..measuring.seed + options.seeds {
                let mut experiment = experiment(application, pipelines, seed, 100);
                let place = experiment.place(64, REMAP_EVERY, seed);
                bounds.push(experiment.bound().throughput());
                for (design, (name, found)) in DESIGNS.iter().zip(&mut found).enumerate() {
                    let preset = Preset::find(name).ok_or("no such design")?;
                    let sample = experiment.run(&preset.design(&place), None);
                    if !sample.is_equivalent {
                        return Err(format!("{name} differs from one pipeline, seed {seed}"));
                    }
                    found.push(sample.throughput);
                    if design == 0 {
                        steady.push(sample.steady);
                    }
                    queue = queue.max(sample.measures.queue_entries);
                }
            }
            let [mp5, better] = found.map(Distribution::new);
            let units = f64::from(PACKET_BYTES[0] + PACKET_BYTES[1]) / 2.0 / 64.0;
            let limit = (units / f64::from(pipelines)).min(1.0);
            table.row([
                application.name.to_string(),
                pipelines.to_string(),
                Claim::APPLICATIONS.to_string(),
                mean(&mp5),
                super::range(&mp5),
                mean(&Distribution::new(steady)),
                if application.cells == 1 { format!("{limit:.3}") } else { "-".to_string() },
                mean(&better),
                mean(&Distribution::new(bounds)),
                queue.to_string(),
            ]);
        }
    }
    table.remark(
        "Packets of 200 or 1400 bytes, flows of the web search sizes, 100 packets a port. A flow's cell is a hash of its number. \
         A cell takes one packet a cycle: one counter that every packet meets cannot pass 12.5 / k of line rate in steady traffic. \
         Throughput is the artifact's measure, which flatters: ports end at different times. steady: packets out over in while all \
         ports send. The artifact's 1,024 \
         counters are one a flow. queue: the most entries in any run of either design.",
    );
    Ok(table)
}

/// The packets of an application.
fn experiment(application: &Application, pipelines: u32, seed: u64, per_port: u32) -> Experiment {
    let sizes = FlowSizes::WebSearch;
    let options = WebSearch {
        ports: 64,
        pipelines,
        per_port,
        sizes: Sizes::Bimodal(PACKET_BYTES[0], PACKET_BYTES[1]),
        flows_at_a_time: FLOWS_AT_A_TIME,
    };
    let packets = web_search(&options, seed, |random| sizes.draw(random.fraction()));
    let last = packets.iter().filter_map(|packet| packet.flow).max().unwrap_or(0);
    let flows: Vec<Vec<(usize, u32)>> = (0..=last)
        .map(|flow| {
            let hash = arithmetic::random::keyed(seed, &[u64::from(flow)]);
            let cell = (hash % u64::from(application.cells)) as u32;
            application.stateful.iter().map(|stage| (*stage, cell)).collect()
        })
        .collect();
    let arrivals = arrivals(&packets, last + 1);
    Experiment::new(
        program(application.stages, application.cells, &flows),
        arrivals,
        pipelines as usize,
    )
}
