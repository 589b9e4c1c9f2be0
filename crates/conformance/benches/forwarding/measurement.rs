// SPDX-License-Identifier: Apache-2.0
//! Rounds: every side forwards in turn, again and again, so that what else the machine does falls on
//! all alike. Medians, and ratios of rounds that follow each other. A round's time is that of its
//! thread on a core: on a machine with nothing else to do it is the clock's.

use super::packets::Sizes;
use super::processes::{Prepared, Server, Side};

/// One side on one ring.
#[derive(Clone, Debug)]
pub struct Measured {
    pub side: Side,
    /// Median of the rounds.
    pub packets_per_second: f64,
    /// Median over pairs of rounds of this side's speed by that of C.
    pub by_c: Option<f64>,
    /// The same by the interpreter's speed.
    pub by_interpreter: Option<f64>,
    pub instructions: Option<f64>,
}

/// A workload with packets of some sizes.
#[derive(Clone, Debug)]
pub struct Row {
    pub workload: String,
    pub sizes: Sizes,
    pub sides: Vec<Measured>,
}

/// What a side needs before it forwards.
#[derive(Clone, Debug)]
pub struct Needs {
    pub side: Side,
    pub memory_bytes: Option<u64>,
    /// Steps of getting ready, in nanoseconds.
    pub preparation: Vec<(String, f64)>,
}

/// All about a workload.
pub struct Results {
    pub workload: String,
    pub rows: Vec<Row>,
    pub needs: Vec<Needs>,
    /// Which share of the time the children were not on a core, because others were.
    pub away: f64,
}

/// Measures all sides of a workload. `ring_packets` is how many packets its rings have.
pub fn measure(
    prepared: &Prepared,
    ring_packets: u64,
    rounds: usize,
    round_seconds: f64,
) -> Result<Results, String> {
    let mut servers = Vec::new();
    for side in prepared.sides() {
        servers.push(prepared.serve(side)?);
    }
    let mut rows = Vec::new();
    let (mut taken_ns, mut on_core_ns) = (0, 0);
    for sizes in Sizes::ALL {
        let mut counts = Vec::new();
        let mut sent_a_ring = Vec::new();
        for server in &mut servers {
            server.ring(sizes.name())?;
            // Twice: the first time fills caches and learns what the program learns.
            server.round(ring_packets)?;
            let round = server.round(ring_packets)?;
            let times = (round_seconds * 1e9 / round.on_core_ns as f64).round().max(1.0) as u64;
            counts.push(times * ring_packets);
            sent_a_ring.push((server.side, round.sent));
        }
        if let Some(pair) = sent_a_ring.windows(2).find(|pair| pair[0].1 != pair[1].1) {
            return Err(format!(
                "{}: {} sends {} packets of a ring, {} {}",
                prepared.name,
                pair[0].0.name(),
                pair[0].1,
                pair[1].0.name(),
                pair[1].1
            ));
        }
        let mut speeds = vec![Vec::new(); servers.len()];
        for _ in 0..rounds {
            for ((server, count), speeds) in servers.iter_mut().zip(&counts).zip(&mut speeds) {
                let round = server.round(*count)?;
                taken_ns += round.taken_ns;
                on_core_ns += round.on_core_ns;
                speeds.push(*count as f64 * 1e9 / round.on_core_ns as f64);
            }
        }
        rows.push(row(prepared, sizes, &servers, &speeds));
    }
    let needs = servers
        .iter()
        .map(|server| Needs {
            side: server.side,
            memory_bytes: server.memory_bytes(),
            preparation: server.preparation.clone(),
        })
        .collect();
    let away = 1.0 - on_core_ns as f64 / taken_ns as f64;
    Ok(Results { workload: prepared.name.clone(), rows, needs, away })
}

fn row(prepared: &Prepared, sizes: Sizes, servers: &[Server], speeds: &[Vec<f64>]) -> Row {
    let place = |wanted: fn(Side) -> bool| servers.iter().position(|server| wanted(server.side));
    let c = place(|side| side == Side::ByHand);
    let interpreter =
        place(|side| matches!(side, Side::Ours(super::engine::EngineName::Interpreter)));
    let ratio = |at: usize, base: Option<usize>| {
        let base = base.filter(|base| *base != at)?;
        Some(median(speeds[at].iter().zip(&speeds[base]).map(|(own, other)| own / other)))
    };
    let measured = |(at, server): (usize, &Server)| Measured {
        side: server.side,
        packets_per_second: median(speeds[at].iter().copied()),
        by_c: ratio(at, c),
        by_interpreter: ratio(at, interpreter),
        instructions: None,
    };
    Row {
        workload: prepared.name.clone(),
        sizes,
        sides: servers.iter().enumerate().map(measured).collect(),
    }
}

fn median(list: impl Iterator<Item = f64>) -> f64 {
    let mut list: Vec<f64> = list.collect();
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}
