// SPDX-License-Identifier: Apache-2.0
//! MP5's Table 1 measured again, as far as open tools go: `cargo run --release -p rtl --example table1 [K ...]`.
//!
//! Yosys synthesises each module of a machine of 4 stages once, for each number of pipelines. Totals of 4 to 16 stages come from the
//! numbers of instances; machines of (2, 4), (2, 8) and (4, 4) are elaborated whole to check them. Areas are gate equivalents (the area
//! of a NAND gate with two inputs is 1), paths are levels of gates of two inputs. The paper's square millimetres of a 15 nm process, its
//! clock of 1 GHz and its FPGA need tools and cells that are not open.

mod machine;
mod yosys;

use machine::{Part, plan};
use std::collections::BTreeMap;
use yosys::Synthesised;

/// Table 1 of the paper in square millimetres, by pipelines, for 4, 8, 12 and 16 stages.
const PUBLISHED: [(usize, [f64; 4]); 3] =
    [(2, [0.21, 0.42, 0.63, 0.81]), (4, [0.84, 1.68, 2.52, 3.36]), (8, [3.2, 6.4, 9.6, 12.8])];

/// The stages of the columns.
const STAGES: [usize; 4] = [4, 8, 12, 16];

/// The bits of a packet's header (MP5 §4.2).
const HEADER_BITS: usize = 512;

/// Sums by part.
type Sums = BTreeMap<Part, Synthesised>;

fn total(sums: &Sums) -> Synthesised {
    sums.values().fold(Synthesised::default(), |sum, part| sum.plus(part, 1))
}

/// The percentage by which a prediction is off.
fn error(predicted: f64, found: f64) -> f64 {
    if found == 0.0 { 0.0 } else { 100.0 * (predicted - found) / found }
}

fn main() {
    if !yosys::is_there() {
        println!("NOT RUN: yosys does not start");
        return;
    }
    let wanted: Vec<usize> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let rows = PUBLISHED.iter().filter(|(k, _)| wanted.is_empty() || wanted.contains(k));
    let mut areas: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (pipelines, published) in rows {
        let modules = yosys::synthesise(&rtl::files(&plan(*pipelines, 4, HEADER_BITS)));
        println!("\n{pipelines} pipelines, 4 stages, rings of 8, by part:");
        let parts = machine::sums(&modules, *pipelines, 4);
        println!(
            "{:>28} {:>10} {:>10} {:>12} {:>6}",
            "part", "gates", "flip-flops", "equivalents", "share"
        );
        let all = total(&parts);
        for (part, sum) in &parts {
            let share = 100.0 * sum.equivalents / all.equivalents;
            println!(
                "{:>28} {:>10} {:>10} {:>12.0} {share:>5.1}%",
                part.name(),
                sum.gates,
                sum.flip_flops,
                sum.equivalents
            );
        }
        println!(
            "{:>28} {:>10} {:>10} {:>12.0}",
            "all", all.gates, all.flip_flops, all.equivalents
        );
        for stages in if *pipelines == 2 {
            &[4, 8][..]
        } else if *pipelines == 4 {
            &[4][..]
        } else {
            &[]
        } {
            let whole = yosys::synthesise(&rtl::files(&plan(*pipelines, *stages, HEADER_BITS)));
            let found = total(&machine::elaborated(&whole));
            let predicted = total(&machine::sums(&modules, *pipelines, *stages));
            println!(
                "elaborated whole with {stages} stages: {} flip-flops, {:.0} equivalents; from instances {} and {:.0} ({:+.2} %)",
                found.flip_flops,
                found.equivalents,
                predicted.flip_flops,
                predicted.equivalents,
                error(predicted.equivalents, found.equivalents)
            );
        }
        println!(
            "{:>8} {:>10} {:>14} {:>16} {:>14} {:>12}",
            "stages", "paper mm2", "equivalents", "without cancels", "flip-flops", "um2/flip-flop"
        );
        for (stages, square_millimetres) in STAGES.iter().zip(published) {
            let mut sums = machine::sums(&modules, *pipelines, *stages);
            let all = total(&sums);
            sums.remove(&Part::Cancellations);
            let without = total(&sums);
            println!(
                "{stages:>8} {square_millimetres:>10} {:>14.0} {:>16.0} {:>14} {:>12.2}",
                all.equivalents,
                without.equivalents,
                without.flip_flops,
                square_millimetres * 1e6 / without.flip_flops as f64
            );
            areas.entry(*pipelines).or_default().push(without.equivalents);
        }
        let levels = yosys::levels(&rtl::files(&plan(*pipelines, 4, 16)));
        println!("longest path: {levels} levels");
    }
    println!(
        "\nwithout the cancellations, which the paper does not have, relative to 4 stages and to 2 pipelines:"
    );
    for (pipelines, row) in &areas {
        let by_stages: Vec<String> =
            row.iter().map(|area| format!("{:.2}", area / row[0])).collect();
        let by_pipelines = areas.get(&2).map_or(0.0, |first| row[0] / first[0]);
        println!("{pipelines} pipelines: {}; {by_pipelines:.2}", by_stages.join(" "));
    }
    println!(
        "\nmemory of maps and counters for 10 stages of 1000 cells, a pipeline (paper: about 35 KB):"
    );
    for (pipelines, _) in &PUBLISHED {
        let overhead = rtl::sram::overhead(&plan(*pipelines, 10, HEADER_BITS));
        println!(
            "{pipelines} pipelines: {:.1} kB, with the paper's 30 bits a cell {:.1} kB",
            overhead.bytes_per_pipeline() as f64 / 1e3,
            overhead.paper_bytes() as f64 / 1e3
        );
    }
}
