// SPDX-License-Identifier: Apache-2.0
//! MP5's Table 1 measured again, as far as open tools go: `cargo bench -p rtl --bench table1 [-- K ...]`.
//!
//! Yosys synthesises each module of a machine of 4 stages once, for each number of pipelines. Totals of 4 to 16 stages come from the
//! numbers of instances; machines of (2, 4), (2, 8) and (4, 4) are elaborated whole to check them. Areas are gate equivalents (the area
//! of a NAND gate with two inputs is 1), paths are levels of gates of two inputs. The paper's square millimetres of a 15 nm process, its
//! clock of 1 GHz and its FPGA need tools and cells that are not open.

mod machine;
mod yosys;

use machine::{Part, plan};
use std::collections::BTreeMap;
use yosys::{Modules, Synthesised};

/// Table 1 of the paper in square millimetres, by pipelines, for 4, 8, 12 and 16 stages.
const PUBLISHED: [(usize, [f64; 4]); 3] =
    [(2, [0.21, 0.42, 0.63, 0.81]), (4, [0.84, 1.68, 2.52, 3.36]), (8, [3.2, 6.4, 9.6, 12.8])];

/// The stages of the columns.
const STAGES: [usize; 4] = [4, 8, 12, 16];

/// The stages of the machine whose modules are synthesised.
const SYNTHESISED_STAGES: usize = 4;

/// Machines that are elaborated whole: pipelines, stages.
const WHOLE: [(usize, usize); 3] = [(2, 4), (2, 8), (4, 4)];

/// The bits of a packet's header (MP5 §4.2).
const HEADER_BITS: usize = 512;

/// The bits of a header in the flattened machine whose longest path is measured: a packet's bits are chosen side by side, so the path
/// does not depend on their number.
const PATH_HEADER_BITS: usize = 16;

/// Sums by part.
type Sums = BTreeMap<Part, Synthesised>;

/// The machines of a number of pipelines.
struct Row {
    pipelines: usize,
    /// By number of stages, in the order of [`STAGES`].
    machines: Vec<Sums>,
}

fn total<'s>(sums: impl IntoIterator<Item = (&'s Part, &'s Synthesised)>) -> Synthesised {
    sums.into_iter().fold(Synthesised::default(), |sum, (_, part)| sum.plus(part, 1))
}

/// What the paper's design has: all but the cancellations.
fn of_paper(sums: &Sums) -> Synthesised {
    total(sums.iter().filter(|(part, _)| **part != Part::Cancellations))
}

fn main() {
    if !yosys::is_there() {
        println!("NOT RUN: yosys does not start");
        return;
    }
    let wanted: Vec<usize> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let mut rows = Vec::new();
    for (pipelines, _) in PUBLISHED {
        if !wanted.is_empty() && !wanted.contains(&pipelines) {
            continue;
        }
        let modules =
            yosys::synthesise(&rtl::files(&plan(pipelines, SYNTHESISED_STAGES, HEADER_BITS)));
        let machines = STAGES.map(|stages| machine::sums(&modules, pipelines, stages));
        rows.push(Row { pipelines, machines: machines.into() });
        print_parts(pipelines, &rows[rows.len() - 1].machines[0], &modules);
        for (_, stages) in WHOLE.into_iter().filter(|(of, _)| *of == pipelines) {
            print_check(pipelines, stages, &modules);
        }
        if WHOLE.contains(&(pipelines, SYNTHESISED_STAGES)) {
            let plan = plan(pipelines, SYNTHESISED_STAGES, PATH_HEADER_BITS);
            let levels = yosys::levels(&rtl::files(&plan));
            println!("longest path of the flattened machine: {levels} levels");
        }
    }
    print_grid(&rows);
    print_growth(&rows);
    print_memory();
}

/// Prints the parts of the smallest machine, and the longest path through each module.
fn print_parts(pipelines: usize, sums: &Sums, modules: &Modules) {
    println!("\n{pipelines} pipelines, {SYNTHESISED_STAGES} stages, rings of 8, by part:");
    println!(
        "{:>28} {:>10} {:>10} {:>12} {:>6}",
        "part", "gates", "flip-flops", "equivalents", "share"
    );
    let all = total(sums);
    for (name, sum) in sums.iter().map(|(part, sum)| (part.name(), sum)).chain([("all", &all)]) {
        println!(
            "{name:>28} {:>10} {:>10} {:>12.0} {:>5.1}%",
            sum.gates,
            sum.flip_flops,
            sum.equivalents,
            100.0 * sum.equivalents / all.equivalents
        );
    }
    let levels = modules.levels();
    let levels = levels.iter().filter(|(_, levels)| **levels > 0);
    let levels: Vec<String> = levels.map(|(module, levels)| format!("{module} {levels}")).collect();
    println!("longest paths within modules, in levels: {}", levels.join(", "));
}

/// Prints how sums of modules agree with a machine that is elaborated whole.
fn print_check(pipelines: usize, stages: usize, modules: &Modules) {
    let found = if stages == SYNTHESISED_STAGES {
        total(&machine::elaborated(modules))
    } else {
        let files = rtl::files(&plan(pipelines, stages, HEADER_BITS));
        total(&machine::elaborated(&yosys::synthesise(&files)))
    };
    let predicted = total(&machine::sums(modules, pipelines, stages));
    println!(
        "elaborated whole with {stages} stages: {} flip-flops, {:.0} equivalents; from sums of modules {} and {:.0} ({:+.2} %)",
        found.flip_flops,
        found.equivalents,
        predicted.flip_flops,
        predicted.equivalents,
        100.0 * (predicted.equivalents / found.equivalents - 1.0)
    );
}

/// Prints the paper's areas beside ours, each also relative to the smallest machine.
fn print_grid(rows: &[Row]) {
    println!(
        "\nTable 1; `x`: relative to the first line; without the cancellations, which the paper does not have:"
    );
    println!(
        "{:>9} {:>6} {:>9} {:>6} {:>12} {:>6} {:>10} {:>13} {:>17}",
        "pipelines",
        "stages",
        "paper mm2",
        "x",
        "equivalents",
        "x",
        "flip-flops",
        "um2/flip-flop",
        "and cancellations"
    );
    let mut first = None;
    for Row { pipelines, machines } in rows {
        let Some((_, published)) = PUBLISHED.iter().find(|(of, _)| of == pipelines) else {
            continue;
        };
        for ((stages, paper), sums) in STAGES.iter().zip(published).zip(machines) {
            let ours = of_paper(sums);
            let (first_paper, first_ours) = *first.get_or_insert((*paper, ours.equivalents));
            println!(
                "{pipelines:>9} {stages:>6} {paper:>9.2} {:>6.2} {:>12.0} {:>6.2} {:>10} {:>13.2} {:>17.0}",
                paper / first_paper,
                ours.equivalents,
                ours.equivalents / first_ours,
                ours.flip_flops,
                paper * 1e6 / ours.flip_flops as f64,
                total(sums).equivalents
            );
        }
    }
}

/// Prints by what each part grows if stages or pipelines double.
fn print_growth(rows: &[Row]) {
    println!("\nfactors of gate equivalents, by part (linear is 2, quadratic 4, cubic 8):");
    let mut heads = vec![format!("{:>28}", "part")];
    heads.extend(rows.iter().map(|row| format!("k={} s 4->8", row.pipelines)));
    heads.extend(
        rows.windows(2).map(|two| format!("s=4 k {}->{}", two[0].pipelines, two[1].pipelines)),
    );
    println!("{}", heads.join("  "));
    let Some(first) = rows.first() else { return };
    for part in first.machines[0].keys() {
        let of = |sums: &Sums| sums.get(part).map_or(0.0, |sum| sum.equivalents);
        let mut line = format!("{:>28}", part.name());
        for (head, row) in heads[1..].iter().zip(rows) {
            let factor = of(&row.machines[1]) / of(&row.machines[0]);
            line += &format!("  {factor:>width$.2}", width = head.len());
        }
        for (head, two) in heads[1 + rows.len()..].iter().zip(rows.windows(2)) {
            let factor = of(&two[1].machines[0]) / of(&two[0].machines[0]);
            line += &format!("  {factor:>width$.2}", width = head.len());
        }
        println!("{line}");
    }
}

fn print_memory() {
    println!(
        "\nmemory of maps and counters for 10 stages of 1000 cells, a pipeline (paper: about 35 KB):"
    );
    for (pipelines, _) in PUBLISHED {
        let overhead = rtl::sram::overhead(&plan(pipelines, 10, HEADER_BITS));
        println!(
            "{pipelines} pipelines: {:.1} kB, with the paper's 30 bits a cell {:.1} kB",
            overhead.bytes_per_pipeline() as f64 / 1e3,
            overhead.paper_bytes() as f64 / 1e3
        );
    }
}
