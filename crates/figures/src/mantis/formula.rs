// SPDX-License-Identifier: Apache-2.0
//! The cost formula of section 8.1 beside simulated dialogues.

use super::examples;
use super::probe::Probe;
use super::switch::{Program, Switch};
use crate::{Measuring, Table};
use control::latency::{BarrierKind, Duration, ItemKind, LatencyModel};
use device::DeviceOptions;
use react::agent::Dialogue;
use react::compiler::CompiledProgram;
use react::interface::ArgumentKind;

/// Simulated time of each run.
const RUN_PS: u64 = 20_000_000_000;

/// The mean of a duration.
fn mean_ps(duration: &Duration) -> f64 {
    match duration {
        Duration::Constant(ps) => *ps as f64,
        Duration::Uniform { min_ps, max_ps } => (*min_ps as f64 + *max_ps as f64) / 2.0,
        Duration::Exponential { min_ps, mean_ps } => (*min_ps + *mean_ps) as f64,
        Duration::Measured(histogram) => {
            let weight: f64 = histogram.iter().map(|(_, weight)| f64::from(*weight)).sum();
            let weighted = |(ps, weight): &(u64, u32)| *ps as f64 * f64::from(*weight);
            histogram.iter().map(weighted).sum::<f64>() / weight.max(1.0)
        }
    }
}

/// The terms of the formula for one program, in microseconds.
pub(super) struct Formula<'m> {
    pub model: &'m LatencyModel,
}

impl Formula<'_> {
    fn item_us(&self, kind: ItemKind, bytes: u64) -> f64 {
        let cost = self.model.cost(kind);
        (mean_ps(&cost.base) + (cost.byte_ps * bytes) as f64) / 1e6
    }

    fn read_us(&self, bytes: u64) -> f64 {
        self.item_us(ItemKind::ReadRegisters, bytes)
    }

    /// F10b(1): the init entry that holds versions and malleables.
    pub fn init_us(&self) -> f64 {
        self.item_us(ItemKind::WriteDefault, 0)
    }

    /// The sum of F10a over the arguments as the paper counts them: each packed word, and each array once.
    pub fn arguments_us(&self, compiled: &CompiledProgram) -> f64 {
        let words: usize = compiled.plan.packs.iter().map(|pack| pack.words.len()).sum();
        let arguments = compiled.interface.reactions.iter().flat_map(|one| &one.arguments);
        let arrays = arguments.filter_map(|argument| match &argument.kind {
            ArgumentKind::Register { ty, first, last, .. } => {
                Some((last - first + 1) * u64::from(ty.width_bits.div_ceil(8)))
            }
            _ => None,
        });
        words as f64 * self.read_us(4) + arrays.map(|bytes| self.read_us(bytes)).sum::<f64>()
    }

    /// What Planewright reads beyond that: the sequence word of each pack, and the count of writes of each cell.
    pub fn freshness_us(&self, compiled: &CompiledProgram) -> f64 {
        let program = compiled.run.program();
        let bytes = |name: &str| {
            let found = program.registers.iter().find(|register| *register.name == *name);
            found.map_or(0, |register| u64::from(register.width_bits.div_ceil(8)))
        };
        let packs = compiled.plan.packs.iter().map(|pack| self.read_us(bytes(&pack.sequence)));
        let arguments = compiled.interface.reactions.iter().flat_map(|one| &one.arguments);
        let arrays = arguments.filter_map(|argument| match &argument.kind {
            ArgumentKind::Register { register, first, last, .. } => {
                let measured = compiled.plan.registers.iter().find(|one| one.name == *register)?;
                let times = measured.times.as_ref()?;
                Some(self.read_us((last - first + 1) * bytes(times)))
            }
            _ => None,
        });
        packs.chain(arrays).sum()
    }

    /// C: the declared time of the reactions' bodies.
    pub fn body_us(&self, compiled: &CompiledProgram) -> f64 {
        let costs = compiled.interface.reactions.iter().map(|one| one.cost_ps as f64 / 1e6);
        costs.sum()
    }

    /// Both copies of modified rows, and of the init tables beside the master.
    pub fn updates_us(&self, compiled: &CompiledProgram, rows: usize, inits: usize) -> f64 {
        let _ = compiled;
        2.0 * (rows + inits) as f64 * self.item_us(ItemKind::WriteEntry, 0)
    }

    /// The wait for packets of one version.
    pub fn wait_us(&self) -> f64 {
        match self.model.barrier {
            BarrierKind::Bound(ps) => ps as f64 / 1e6,
            BarrierKind::Counted => 0.0,
        }
    }
}

/// A row of the table.
struct Case {
    name: String,
    text: String,
    /// Entries that each dialogue modifies.
    entries: usize,
    /// Whether each dialogue commits.
    commits: bool,
}

fn cases() -> Vec<Case> {
    let probe = |name: &str, probe: Probe| Case {
        name: name.to_string(),
        text: probe.text(),
        entries: probe.entries,
        commits: probe.entries > 0 || probe.writes_values,
    };
    let none = Probe::default();
    let mut cases = vec![
        probe("1 word, nothing written", Probe { fields: 1, ..none }),
        probe("16 words, nothing written", Probe { fields: 16, ..none }),
        probe("64 cells, nothing written", Probe { cells: 64, ..none }),
        probe("1 word, 1 value", Probe { fields: 1, values: 1, writes_values: true, ..none }),
        probe("1 word, 40 values", Probe { fields: 1, values: 40, writes_values: true, ..none }),
        probe("1 word, 1 entry", Probe { fields: 1, entries: 1, ..none }),
        probe("1 word, 16 entries", Probe { fields: 1, entries: 16, ..none }),
    ];
    cases.extend(examples::USE_CASES.iter().map(|case| Case {
        name: format!("{}, nothing written", case.title),
        text: case.text.to_string(),
        entries: 0,
        commits: false,
    }));
    cases
}

/// The median of the dialogues' times, the first ones left out.
fn median_us(dialogues: &[Dialogue]) -> Option<f64> {
    let mut times: Vec<u64> =
        dialogues.iter().skip(2).map(|one| one.ended_ps - one.began_ps).collect();
    times.sort_unstable();
    times.get(times.len() / 2).map(|ps| *ps as f64 / 1e6)
}

/// The formula and what simulated dialogues take.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn formula(measuring: &mut Measuring<'_>, model: &LatencyModel) -> Result<Table, String> {
    let mut table = Table::new(
        "Section 8.1: the cost formula, and simulated dialogues (us)",
        &[
            "dialogue",
            "formula of 8.1",
            "+ two waits",
            "+ freshness",
            "- joined flip",
            "simulated",
            "off by",
        ],
    );
    let formula = Formula { model };
    let cases = cases();
    for (at, case) in cases.iter().enumerate() {
        (measuring.progress)(&case.name, at as f64 / cases.len() as f64);
        let program = Program::compile("case.p4r", &case.text, &[])?;
        let compiled = &program.compiled;
        let further = compiled.plan.pipelines.iter().map(|one| one.inits.len().saturating_sub(1));
        let further: usize = further.sum();
        let inits = if case.commits { further } else { 0 };
        let measuring_pipelines = 1.0;
        let mut sum = formula.init_us() * measuring_pipelines
            + formula.arguments_us(compiled)
            + formula.body_us(compiled);
        if case.commits {
            sum += formula.updates_us(compiled, case.entries, inits) + formula.init_us();
        }
        let waits = if case.commits && (case.entries > 0 || inits > 0) { 2.0 } else { 1.0 };
        let with_waits = sum + waits * formula.wait_us();
        let with_freshness = with_waits + formula.freshness_us(compiled);
        let joined = if case.commits { with_freshness - formula.init_us() } else { with_freshness };
        let mut switch = Switch::new(&program, DeviceOptions::default(), Some(model.clone()), "")?;
        switch.run_until(RUN_PS)?;
        let record = switch.record.get();
        let simulated = median_us(&record.dialogues).ok_or("no dialogue ended")?;
        table.row([
            case.name.clone(),
            format!("{sum:.2}"),
            format!("{with_waits:.2}"),
            format!("{with_freshness:.2}"),
            format!("{joined:.2}"),
            format!("{simulated:.2}"),
            format!("{:.1} %", (simulated / joined - 1.0).abs() * 100.0),
        ]);
    }
    table.remark(
        "Published: the formula, and end-to-end reaction times of 10s of us for all use cases. Freshness is the sequence word \
         of packed fields and the count of writes of each cell, which the paper's formula leaves out. A commit flips the \
         working copy of the next dialogue too, so a dialogue that commits has one write of the init entry less. All costs \
         are those of the cost model.",
    );
    Ok(table)
}
