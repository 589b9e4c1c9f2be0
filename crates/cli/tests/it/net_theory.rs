// SPDX-License-Identifier: Apache-2.0
//! `plane net` against theory: queues with Poisson arrivals, max-min shares, the round trip of a ping.
//! `PLANEWRIGHT_CASES` sets the number of runs of each queue, whose mean and confidence interval are judged.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Greatest deviation from theory.
const TOLERANCE: f64 = 0.03;
/// Half the widest confidence interval, as a share of theory.
const MAX_HALF_WIDTH: f64 = 0.05;
const RUNS: u64 = 10;
/// Two-sided 95 % quantile of Student's t with 9 degrees of freedom; that of more is smaller.
const STUDENT: f64 = 2.262;

fn root() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the tree").display().to_string()
}

/// Runs a network file.
fn run(file: &str, words: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("n.yaml"), file).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    command.args(["net", "n.yaml", "--json", "-q"]).args(words).current_dir(folder.path());
    let ran = command.output().expect("plane starts");
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{file}\n{errors}");
    serde_json::from_slice(&ran.stdout).expect("JSON")
}

fn row<'v>(results: &'v Value, table: &str, name: &str, value: &str) -> &'v Value {
    let rows = results[table].as_array().expect("a table");
    let row = rows.iter().find(|row| row[name] == value);
    row.unwrap_or_else(|| panic!("no {value} in {table}: {rows:?}"))
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("no {field} in {row}"))
}

/// Lengths of packets on the wire of a queue.
#[derive(Clone, Copy, Debug)]
enum Service {
    Constant,
    Exponential,
}

/// Payloads of 100 bytes in the mean, without headers, from four hosts into a link that sends 1,000 of them a second. The MTU
/// bounds exponential payloads; with a mean of 200 bytes the queue is .6 % shorter for that. Runs with one seed have the same
/// gaps at every load, so that the deviations of all queues have the same sign. `benches/theory` has more packets and loads.
fn queue(service: Service, load: f64, waiting: u64, packets: u64) -> Vec<Value> {
    let size = match service {
        Service::Constant => "100B",
        Service::Exponential => "{exponential: 100B}",
    };
    let seconds = packets as f64 / (1_000.0 * load);
    let mut hosts = String::new();
    let mut links = String::new();
    for host in 1..=4 {
        let rate = (load * 250.0).round();
        hosts.push_str(&format!(
            "  h{host}: {{address: 10.0.0.{host}/24, arp: {{10.0.0.9: \"02:00:00:00:00:99\"}}, applications: [{{udp: \
             {{to: sink, rate: {rate}/s, size: {size}, arrivals: poisson, duration: {:.0}ms}}}}]}}\n",
            seconds * 1_000.0
        ));
        links.push_str(&format!(
            "  - {{ends: [\"s1:{}\", h{host}], rate: 1Tbps, latency: 1us}}\n",
            host + 1
        ));
    }
    let file = format!(
        "switches: {{s1: {{program: {}/examples/networks/queueing/payload.p4}}}}
hosts:
  sink: {{address: 10.0.0.9/24, mac: \"02:00:00:00:00:99\"}}
{hosts}links:
  - {{ends: [\"s1:1\", sink], rate: 800kbps, latency: 0s, queue: {waiting}p}}
{links}",
        root()
    );
    let seeds = testing::cases::seeds(RUNS);
    let all = run(&file, &["--seeds", &format!("{}..{}", seeds.start, seeds.end - 1)]);
    all["runs"].as_array().expect("runs").clone()
}

/// Compares the mean of runs with theory.
fn compare(what: &str, values: &[f64], theory: f64) {
    let runs = values.len() as f64;
    assert!(runs >= RUNS as f64, "{runs} runs show no confidence interval: {RUNS} are the least");
    let mean = values.iter().sum::<f64>() / runs;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let half_width = STUDENT * (squares / (runs - 1.0) / runs).sqrt();
    let deviation = mean / theory - 1.0;
    let line = format!(
        "{what}: {mean:.4} ± {half_width:.4}, theory {theory:.4}, {:+.2} %",
        100.0 * deviation
    );
    println!("{line}");
    assert!(half_width <= MAX_HALF_WIDTH * theory, "too few packets: {line}");
    assert!(deviation.abs() <= TOLERANCE, "{line}");
}

fn link_row(run: &Value) -> &Value {
    row(run, "links", "link", "s1:1 -> sink")
}

#[test]
fn poisson_queues_are_as_long_as_theory_says() {
    for (service, load, packets) in [
        (Service::Constant, 0.5, 15_000),
        (Service::Constant, 0.8, 25_000),
        (Service::Exponential, 0.5, 20_000),
        (Service::Exponential, 0.8, 50_000),
    ] {
        // Pollaczek and Khinchine: waiting packets.
        let all = load * load / (1.0 - load);
        let theory = match service {
            Service::Constant => all / 2.0,
            Service::Exponential => all,
        };
        let runs = queue(service, load, 1_000_000, packets);
        let values: Vec<f64> =
            runs.iter().map(|run| number(link_row(run), "queue_mean_packets")).collect();
        compare(&format!("{service:?}, load {load}, mean queue"), &values, theory);
    }
}

/// The share of packets that a queue with `most` packets, the one in service included, loses.
fn loss(service: Service, load: f64, most: usize) -> f64 {
    match service {
        Service::Exponential => {
            (1.0 - load) * load.powi(most as i32) / (1.0 - load.powi(most as i32 + 1))
        }
        Service::Constant => {
            // Packets that a departure leaves behind, as multiples of the probability of none.
            let arrivals = |count: usize| {
                (1..=count).fold((-load).exp(), |product, at| product * load / at as f64)
            };
            let mut left = vec![1.0];
            for at in 0..most - 1 {
                let from_others: f64 =
                    (1..=at).map(|from| left[from] * arrivals(at + 1 - from)).sum();
                let rest = left[at] - left[0] * arrivals(at) - from_others;
                left.push(rest / arrivals(0));
            }
            let none = 1.0 / left.iter().sum::<f64>();
            1.0 - 1.0 / (none + load)
        }
    }
}

#[test]
fn full_queues_lose_what_theory_says() {
    // Published values.
    assert!((loss(Service::Constant, 0.9, 10) - 0.0166).abs() < 0.000_05);
    assert!((loss(Service::Exponential, 0.9, 10) - 0.0508).abs() < 0.000_05);
    for (service, load, waiting, packets) in [
        (Service::Constant, 0.5, 1, 10_000),
        (Service::Constant, 0.8, 2, 10_000),
        (Service::Exponential, 0.5, 1, 10_000),
        (Service::Exponential, 0.8, 2, 10_000),
    ] {
        let runs = queue(service, load, waiting as u64, packets);
        let shares = runs.iter().map(|run| {
            let (lost, sent) =
                (number(link_row(run), "queue_full"), number(link_row(run), "frames"));
            lost / (lost + sent)
        });
        let shares: Vec<f64> = shares.collect();
        let what = format!("{service:?}, load {load}, {waiting} waiting, loss");
        compare(&what, &shares, loss(service, load, waiting + 1));
    }
}

/// Progressive filling: the links of each flow, and the rate of each link.
fn max_min(flows: &[&[usize]], rates: &[f64]) -> Vec<f64> {
    let mut shares = vec![None; flows.len()];
    while shares.iter().any(Option::is_none) {
        let of_link = |link: usize| {
            let on_it = |at: &usize| flows[*at].contains(&link);
            let (fixed, open): (Vec<usize>, Vec<usize>) =
                (0..flows.len()).filter(on_it).partition(|at| shares[*at].is_some());
            let used: f64 = fixed.iter().filter_map(|at| shares[*at]).sum();
            (!open.is_empty()).then(|| ((rates[link] - used) / open.len() as f64, open))
        };
        let levels = (0..rates.len()).filter_map(of_link);
        let (level, open) = levels.min_by(|one, other| one.0.total_cmp(&other.0)).expect("a link");
        open.into_iter().for_each(|at| shares[at] = Some(level));
    }
    shares.into_iter().flatten().collect()
}

/// Flows at constant rate over two links in a row, each with its max-min share: none loses a packet, and a higher rate of
/// any of them fills the queue of its bottleneck.
#[test]
fn max_min_shares_fit_a_parking_lot_and_more_does_not() {
    const FLOWS: [&[usize]; 3] = [&[0, 1], &[0], &[1]];
    const FRAME_BYTES: f64 = 1_000.0;
    assert_eq!(max_min(&FLOWS, &[10.0, 10.0]), [5.0, 5.0, 5.0]);
    assert_eq!(max_min(&FLOWS, &[10.0, 4.0]), [2.0, 8.0, 2.0]);
    for rates in [[10.0, 10.0], [10.0, 4.0], [6.0, 14.0]] {
        let shares = max_min(&FLOWS, &rates);
        for raised in [None, Some(0), Some(1), Some(2)] {
            let mut applications = String::new();
            for (flow, (from, to)) in
                [("h1", "end"), ("h2", "h3"), ("h4", "end")].into_iter().enumerate()
            {
                let more = if raised == Some(flow) { 1.1 } else { 1.0 };
                let rate = (shares[flow] * more * 1e6 * 958.0 / FRAME_BYTES).floor();
                applications.push_str(&format!(
                    "  - udp: {{from: {from}, to: {to}, rate: {rate}bps, size: 958, name: f{flow}, duration: 4s}}\n"
                ));
            }
            let file = format!(
                "topology: {{kind: dumbbell, hosts_per_side: 2, program: {}/examples/router/router.p4, rate: 1Gbps,
  latency: 1us, bottleneck: {{rate: {}Mbps, latency: 1ms, queue: 20p}}}}
hosts: {{end: {{address: 10.0.9.9/24, gateway: 10.0.9.1}}}}
links: [{{ends: [\"s2:9\", end], rate: {}Mbps, latency: 1ms, queue: 20p}}]
applications:
{applications}",
                root(),
                rates[0],
                rates[1]
            );
            let results = run(&file, &[]);
            let mut lost = 0.0;
            for (flow, share) in shares.iter().enumerate() {
                let measured = row(&results, "udp", "name", &format!("f{flow}"));
                lost += number(measured, "sent") - number(measured, "received");
                if raised.is_none() {
                    let goodput = number(measured, "goodput_bps") * FRAME_BYTES / 958e6;
                    let deviation = goodput / share - 1.0;
                    assert!(deviation.abs() < TOLERANCE, "flow {flow}: {goodput}, {share}");
                }
            }
            println!("links of {rates:?} Mb/s, shares {shares:?}, raised {raised:?}: {lost} lost");
            assert_eq!(lost > 0.0, raised.is_some(), "{rates:?}, {raised:?}: {lost} lost");
        }
    }
}

/// Every hop stores and forwards: both directions take the transmission times and latencies of all links.
#[test]
fn a_ping_on_an_idle_path_takes_the_sum_of_its_links_to_the_picosecond() {
    // Rates in Mb/s, latencies in ps.
    type Wire = (u64, u64);
    let hop_ps = |(rate_mbps, latency_ps): Wire, frame_bytes: u64| {
        latency_ps + (frame_bytes * 8 * 1_000_000).div_ceil(rate_mbps)
    };
    let router = format!("{}/examples/router/router.p4", root());
    let line = |switches: u64, wire: Wire, overhead: u64| {
        format!(
            "{{kind: line, switches: {switches}, hosts_per_switch: 1, program: {router}, rate: {}Mbps, latency: {}ps, overhead: {overhead}}}",
            wire.0, wire.1
        )
    };
    let dumbbell = |access: Wire, bottleneck: Wire| {
        format!(
            "{{kind: dumbbell, hosts_per_side: 1, program: {router}, rate: {}Mbps, latency: {}ps, bottleneck: {{rate: {}Mbps, latency: {}ps}}}}",
            access.0, access.1, bottleneck.0, bottleneck.1
        )
    };
    let (access, bottleneck) = ((1_000, 1_000_000), (10, 18_000_000_000));
    let odd = (7, 1_234_567_891);
    for (topology, to, size, hops) in [
        (
            dumbbell(access, bottleneck),
            "h2",
            56_u64,
            vec![(access, 0), (bottleneck, 0), (access, 0)],
        ),
        (dumbbell(odd, bottleneck), "h2", 1_472, vec![(odd, 0), (bottleneck, 0), (odd, 0)]),
        (line(5, odd, 24), "h5", 1_001, vec![(odd, 24); 6]),
        (
            line(1, (8_000_000, 3), 0).replace("hosts_per_switch: 1", "hosts_per_switch: 2"),
            "h2",
            60,
            vec![((8_000_000, 3), 0); 2],
        ),
    ] {
        let file = format!(
            "topology: {topology}\nhosts: {{h1: {{applications: [{{ping: {{to: {to}, size: {size}, count: 3}}}}]}}}}"
        );
        let results = run(&file, &[]);
        let frame_bytes = 14 + 20 + 8 + size;
        let one_way_ps: u64 =
            hops.iter().map(|(wire, overhead)| hop_ps(*wire, frame_bytes + overhead)).sum();
        let ping = &results["ping"][0];
        for field in ["rtt_min_ps", "rtt_avg_ps", "rtt_max_ps"] {
            assert_eq!(ping[field], Value::from(2 * one_way_ps), "{field} of {ping} in {topology}");
        }
        println!("{size} bytes over {} links: {} ps", hops.len(), 2 * one_way_ps);
    }
}
