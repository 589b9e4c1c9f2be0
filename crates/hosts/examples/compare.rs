// SPDX-License-Identifier: Apache-2.0
//! Prints figures of our TCP beside those of ns-3 3.37 for the same networks:
//! `cargo run --release -p hosts --example compare`. An argument picks the rows whose names contain it.

#[path = "../tests/support/mod.rs"]
mod support;

use arithmetic::random::stream::Stream;
use hosts::tcp::Control;
use std::time::Instant;
use support::dumbbell::{Dumbbell, Outcome};
use support::{MS, SECOND};

/// Starts 10 ms apart and a uniform part.
fn staggered(mut dumbbell: Dumbbell, flows: usize, spread_ps: u64, seed: u64) -> Dumbbell {
    let mut random = Stream::new(seed, 0x73, 0);
    dumbbell.flows = flows;
    dumbbell.seed = seed;
    dumbbell.starts_ps = (0..flows as u64).map(|n| n * 10 * MS + random.up_to(spread_ps)).collect();
    dumbbell
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A row: what ns-3 had for goodput and mean queue.
struct Row {
    name: &'static str,
    goodput: f64,
    queue: f64,
    others: &'static str,
    runs: Vec<Dumbbell>,
    warm_up_ps: u64,
    end_ps: u64,
    /// Packets of ours that ns-3's queue does not count.
    extra: f64,
}

fn queue_rows() -> Vec<Row> {
    let row = |name, dumbbell: Dumbbell, goodput, queue, others| Row {
        name,
        goodput,
        queue,
        others,
        runs: vec![dumbbell],
        warm_up_ps: 20 * SECOND,
        end_ps: 220 * SECOND,
        extra: 0.0,
    };
    let with = |control: Control, change: fn(&mut Dumbbell)| {
        let mut dumbbell = Dumbbell::a(control);
        change(&mut dumbbell);
        dumbbell
    };
    let seeds = |dumbbell: Dumbbell, flows, spread_ps| -> Vec<Dumbbell> {
        (1..=3).map(|seed| staggered(dumbbell.clone(), flows, spread_ps, seed)).collect()
    };
    let a = Dumbbell::a;
    let mut rows = vec![
        row("A reno", a(Control::Reno), 9.640, 30.7, "p99 50, 74 drops, 32 recoveries"),
        row("A linux-reno", a(Control::LinuxReno), 9.640, 31.7, "p99 50, 184 drops, 67"),
        row("A cubic", a(Control::Cubic), 9.640, 38.3, "p99 50, 182 drops, 51"),
        row(
            "A reno, no delayed ACK",
            with(Control::Reno, |dumbbell| dumbbell.tcp.acknowledgement_delay_ps = 0),
            9.640,
            31.4,
            "147 drops, 63",
        ),
        row(
            "A reno, no SACK",
            with(Control::Reno, |dumbbell| dumbbell.tcp.sack = false),
            9.640,
            31.4,
            "75 drops, 38, 1 timeout",
        ),
        row(
            "A reno, segments of 536",
            with(Control::Reno, |dumbbell| dumbbell.tcp.maximum_segment_bytes = Some(548)),
            8.819,
            20.5,
            "p99 49, 97 drops, 30",
        ),
        row(
            "A reno, queue 10",
            with(Control::Reno, |dumbbell| dumbbell.queue_packets = 10),
            8.491,
            2.6,
            "p99 10, 103 drops, 97",
        ),
        row(
            "A reno, queue 200",
            with(Control::Reno, |dumbbell| dumbbell.queue_packets = 200),
            9.640,
            146.4,
            "p99 199, 122 drops, 5",
        ),
    ];
    for (name, control, flows, queue, others) in [
        ("A 2 reno", Control::Reno, 2, 35.4, "179 drops, 108"),
        ("A 10 reno", Control::Reno, 10, 40.0, "2072 drops, 1518, 2 timeouts"),
        ("A 2 cubic", Control::Cubic, 2, 43.8, "325 drops, 134"),
        ("A 10 cubic", Control::Cubic, 10, 46.9, "1770 drops, 1282"),
    ] {
        let runs = seeds(a(control), flows, SECOND);
        rows.push(Row { runs, ..row(name, a(control), 9.640, queue, others) });
    }
    let b = |row: Row| Row { warm_up_ps: 5 * SECOND, end_ps: 65 * SECOND, ..row };
    rows.push(b(row("B reno", Dumbbell::b(Control::Reno), 96.405, 58.6, "p99 99, 112 drops, 20")));
    rows.push(b(row("B cubic", Dumbbell::b(Control::Cubic), 96.405, 80.4, "26 drops, 17")));
    let runs = seeds(Dumbbell::b(Control::Reno), 10, SECOND / 2);
    let ten = row("B 10 reno", a(Control::Reno), 96.408, 77.5, "1824 drops, 1296");
    rows.push(b(Row { runs, ..ten }));
    let c = |row: Row| Row { warm_up_ps: SECOND, end_ps: 6 * SECOND, ..row };
    rows.push(c(row("C reno", Dumbbell::c(Control::Reno), 964.05, 58.2, "p99 99, 111 drops, 19")));
    rows.push(c(row("C cubic", Dumbbell::c(Control::Cubic), 964.05, 72.4, "11 drops, 2")));
    for (name, flows, k, goodput, queue, others) in [
        ("D 1 dctcp, K 20", 1, 20, 964.0, 17.7, "max 21, 45777 marks"),
        ("D 2 dctcp, K 20", 2, 20, 964.0, 16.3, "max 24, 76308 marks"),
        ("D 10 dctcp, K 20", 10, 20, 963.3, 15.8, "max 38, 166567 marks"),
        ("D 2 dctcp, K 65", 2, 65, 964.0, 61.4, "max 68, 54536 marks"),
    ] {
        let runs = (1..=3).map(|seed| staggered(Dumbbell::d(flows, k), flows, SECOND / 2, seed));
        let runs = runs.collect();
        let d = Row { runs, extra: 1.0, ..row(name, a(Control::Dctcp), goodput, queue, others) };
        rows.push(c(d));
    }
    rows
}

fn print_queues(wanted: &str) {
    println!(
        "case | goodput Mb/s: ns-3, ours | mean queue: ns-3, ours | ours: p99, max, drops, recoveries, timeouts, marks | ns-3 | hops/s"
    );
    for row in queue_rows().iter().filter(|row| row.name.contains(wanted)) {
        let begun = Instant::now();
        let outcomes: Vec<Outcome> =
            row.runs.iter().map(|run| run.run(row.warm_up_ps, row.end_ps)).collect();
        let seconds = begun.elapsed().as_secs_f64();
        let goodput = mean(&outcomes.iter().map(Outcome::goodput).collect::<Vec<_>>());
        let queue = mean(&outcomes.iter().map(|outcome| outcome.queue.mean).collect::<Vec<_>>());
        let first = &outcomes[0];
        let count = |of: fn(&hosts::tcp::TcpStatistics) -> u64| -> u64 {
            first.senders.iter().map(|sender| of(&sender.statistics)).sum()
        };
        println!(
            "{} | {:.3}, {:.3} | {:.1}, {:.1} | {}, {}, {}, {}, {}, {} | {} | {:.2} M",
            row.name,
            row.goodput,
            goodput,
            row.queue,
            queue - row.extra,
            first.queue.p99,
            first.queue.most,
            first.queue.drops,
            count(|statistics| statistics.recoveries),
            count(|statistics| statistics.timeouts),
            first.queue.marks,
            row.others,
            outcomes.iter().map(|outcome| outcome.steps).sum::<u64>() as f64 / seconds / 1e6,
        );
    }
}

fn print_losses(wanted: &str) {
    println!(
        "\nrandom loss | goodput Mb/s: ns-3, ours (three seeds) | retransmissions, recoveries, timeouts"
    );
    for (name, loss, control, delay, published) in [
        ("1 % reno", 0.01, Control::Reno, true, 0.774),
        ("0.1 % reno", 0.001, Control::Reno, true, 3.10),
        ("1 % reno, no delayed ACK", 0.01, Control::Reno, false, 1.204),
        ("1 % linux-reno", 0.01, Control::LinuxReno, true, 1.590),
        ("1 % cubic", 0.01, Control::Cubic, true, 0.820),
    ] {
        if !name.contains(wanted) {
            continue;
        }
        let mut counts = Vec::new();
        let goodputs: Vec<f64> = (1..=3)
            .map(|seed| {
                let mut dumbbell = Dumbbell::lossy(loss, control);
                dumbbell.seed = seed;
                if !delay {
                    dumbbell.tcp.acknowledgement_delay_ps = 0;
                }
                let outcome = dumbbell.run(20 * SECOND, 420 * SECOND);
                let statistics = &outcome.senders[0].statistics;
                counts.push((
                    statistics.retransmissions,
                    statistics.recoveries,
                    statistics.timeouts,
                ));
                outcome.goodput()
            })
            .collect();
        println!("{name} | {published:.3}, {:.3} ({goodputs:.3?}) | {counts:?}", mean(&goodputs));
    }
}

fn print_flows(wanted: &str) {
    println!("\none flow | completion ms: ns-3, ours");
    for (name, bytes, published, change) in [
        ("10 KB flow", 10_000, 30.86, (|_| {}) as fn(&mut Dumbbell)),
        ("100 KB flow", 100_000, 93.37, |_| {}),
        ("1 MB flow", 1_000_000, 218.10, |_| {}),
        ("10 MB flow", 10_000_000, 964.94, |_| {}),
        ("100 KB flow, window 2", 100_000, 173.37, |dumbbell| {
            dumbbell.tcp.initial_window_segments = 2;
        }),
        ("1 MB flow, no delayed ACK", 1_000_000, 176.51, |dumbbell| {
            dumbbell.tcp.acknowledgement_delay_ps = 0;
        }),
    ] {
        if !name.contains(wanted) {
            continue;
        }
        let mut dumbbell = Dumbbell::flow(bytes);
        change(&mut dumbbell);
        let outcome = dumbbell.run(0, 30 * SECOND);
        println!(
            "{name} | {published:.2}, {:.2} | {} drops",
            outcome.completion_ms(),
            outcome.queue.drops
        );
    }
}

fn print_incasts(wanted: &str) {
    println!(
        "\nincast of 32 x 65,536 bytes | FCT ms mean, max: ns-3; ours | drops, timeouts: ns-3; ours"
    );
    for (name, queue, least_timeout_ps, published) in [
        ("incast, queue 4000", 4000, 200 * MS, "17.56, 17.61; 0, 0"),
        ("incast, queue 256", 256, 200 * MS, "15.0, 17.6; 187, 0"),
        ("incast, queue 64, 1 s", 64, SECOND, "125, 1006; 291, 3"),
        ("incast, queue 64, .2 s", 64, 200 * MS, "49.8, 214; 291, 6"),
        ("incast, queue 64, 10 ms", 64, 10 * MS, "14.3, 24.0; 291, 6"),
    ] {
        if !name.contains(wanted) {
            continue;
        }
        let incast = support::incast::run(32, 65_536, queue, least_timeout_ps);
        println!(
            "{name} | {published} | {:.2}, {:.2}; {}, {}",
            mean(&incast.completions_ms),
            incast.completions_ms.iter().copied().fold(0.0, f64::max),
            incast.drops,
            incast.timeouts
        );
    }
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    print_queues(&wanted);
    print_losses(&wanted);
    print_flows(&wanted);
    print_incasts(&wanted);
}
