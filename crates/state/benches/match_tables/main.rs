// SPDX-License-Identifier: Apache-2.0
//! Match indexes against other crates: time per lookup, updates per second, bytes per entry, from ten to a million entries.
//! `--quick` uses fewer sizes and rounds, `--only TEXT` selects tables by name, `--svg FILE` draws time per lookup over the
//! number of entries.
//!
//! The benchmark fills all contenders of a table first and measures them in turn, round after round. Figures are medians of
//! rounds. All lookups hit. A contender whose sum of leaves differs is marked.

mod chart;
mod contenders;
mod workloads;

use contenders::{Contender, others, this_crate};
use peak_alloc::PeakAlloc;
use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};
use workloads::{Make, PACKETS, Random};

#[global_allocator]
static PEAK_ALLOC: PeakAlloc = PeakAlloc;

/// One line of the chart: entries and nanoseconds per lookup.
pub struct Curve {
    table: &'static str,
    contender: &'static str,
    points: Vec<(f64, f64)>,
}

/// Left out of large tables, where it would take minutes.
const SCAN: &str = "scan";

/// Packets of one measurement: few, so that most are not interrupted.
const WINDOW: usize = 1 << 12;

struct Options {
    quick: bool,
    only: Option<String>,
    svg: Option<String>,
}

fn options() -> Options {
    let mut options = Options { quick: false, only: None, svg: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--only" => options.only = arguments.next(),
            "--svg" => options.svg = arguments.next(),
            _ => {}
        }
    }
    options
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Updates per second, each a removal or an insertion.
fn update_rate(contender: &mut Contender, entries: usize, budget: Duration) -> f64 {
    let mut random = Random::new(7);
    let start = Instant::now();
    let mut updates = 0;
    while start.elapsed() < budget {
        for _ in 0..8 {
            (contender.update)(random.below(entries));
            updates += 2;
        }
    }
    updates as f64 / start.elapsed().as_secs_f64()
}

fn measure(make: Make, count: usize, options: &Options, curves: &mut Vec<Curve>) {
    let workload = Rc::new(make(count));
    let entries = workload.entries.len();
    let mut contenders = vec![this_crate(&workload)];
    contenders
        .extend(others(&workload).into_iter().filter(|other| other.name != SCAN || count <= 1000));
    let rounds = if options.quick { 4 } else { 12 };
    let budget = Duration::from_millis(if options.quick { 20 } else { 100 });
    let mut times = vec![Vec::new(); contenders.len()];
    let mut sums = vec![0u64; contenders.len()];
    for round in 0..rounds * PACKETS / WINDOW {
        for (at, contender) in contenders.iter().enumerate() {
            let from = round * WINDOW % PACKETS;
            let start = Instant::now();
            let sum = black_box((contender.look_up)(from..from + WINDOW));
            times[at].push(start.elapsed().as_secs_f64() * 1e9 / WINDOW as f64);
            sums[at] += sum;
        }
    }
    for (at, contender) in contenders.iter_mut().enumerate() {
        let time_ns = median(std::mem::take(&mut times[at]));
        let rate = update_rate(contender, entries, budget);
        let remark = if sums[at] == sums[0] { "" } else { "  (answers differ)" };
        println!(
            "{:<34}{:>9}  {:<26}{:>9.1} ns{:>11.0}/s{:>9.1} B{remark}",
            if at == 0 { workload.name } else { "" },
            if at == 0 { entries.to_string() } else { String::new() },
            contender.name,
            time_ns,
            rate,
            contender.entry_bytes,
        );
        let point = (entries as f64, time_ns);
        let known = curves
            .iter_mut()
            .find(|curve| curve.table == workload.name && curve.contender == contender.name);
        match known {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve {
                table: workload.name,
                contender: contender.name,
                points: vec![point],
            }),
        }
    }
}

fn main() -> std::io::Result<()> {
    let options = options();
    let tables: [(&str, Make, usize); 10] = [
        ("exact 48", workloads::exact_mac, 1_000_000),
        ("exact 104", workloads::exact_flow, 1_000_000),
        ("exact 296", workloads::exact_wide, 1_000_000),
        ("lpm ipv4", workloads::routes_v4, 1_000_000),
        ("lpm ipv6", workloads::routes_v6, 1_000_000),
        ("lpm domains", workloads::routes_by_domain, 1_000_000),
        ("ternary 64", workloads::masks_64, 100_000),
        ("ternary wide", workloads::masks_wide, 100_000),
        ("range", workloads::ranges, 100_000),
        ("ternary range", workloads::access_list, 100_000),
    ];
    let sizes: &[usize] = if options.quick {
        &[10, 1000, 100_000]
    } else {
        &[10, 100, 1000, 10_000, 100_000, 1_000_000]
    };
    println!(
        "Bit counting by {}. Lookups hit; updates are removals and insertions.",
        if cfg!(target_feature = "popcnt") { "instruction" } else { "arithmetic" }
    );
    println!(
        "{:<34}{:>9}  {:<26}{:>12}{:>13}{:>11}",
        "table", "entries", "index", "a lookup", "updates", "an entry"
    );
    let mut curves = Vec::new();
    for (name, make, most) in tables {
        if options.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        for &size in sizes.iter().filter(|&&size| size <= most) {
            measure(make, size, &options, &mut curves);
        }
    }
    if let Some(path) = options.svg {
        std::fs::write(path, chart::draw(&curves))?;
    }
    Ok(())
}
