// SPDX-License-Identifier: Apache-2.0
//! Figures 10a and 10b: single operations of the driver, by the cost model and on our switch.

use super::INPUT;
use super::network::plain_program;
use crate::{Measuring, Table};
use control::latency::LatencyModel;
use control::target::{Batch, Item, Target};
use device::{Device, DeviceOptions};
use ir::KeyPattern;
use ir::{ActionId, Bits, RegisterId, TableId};
use state::{BoundAction, CellRange, NewEntry, Read, Update};
use std::time::Instant;

const OPERATIONS: &str = include_str!("operations.p4");
/// Word registers of the program.
const WORDS: u64 = 64;
/// Repetitions of an operation on our switch; the median counts.
const REPETITIONS: usize = 101;

/// The switch whose driver carries out single operations.
struct Operations {
    simulated: Device,
    software: Device,
    array: RegisterId,
    words: Vec<RegisterId>,
    table: TableId,
    init: TableId,
    send: ActionId,
    set: ActionId,
}

/// What an operation takes.
struct Cost {
    simulated_us: f64,
    software_ns: f64,
}

impl Operations {
    fn new(model: &LatencyModel) -> Result<Operations, String> {
        let ready = plain_program("operations.p4", OPERATIONS, &[])?;
        let program = ready.program().clone();
        let register = |name: &str| {
            let at = program.registers.iter().position(|register| register.name.ends_with(name));
            at.map(|at| RegisterId(at as u32)).ok_or_else(|| format!("no register {name}"))
        };
        let table = |name: &str| {
            let at = program.tables.iter().position(|table| table.name.ends_with(name));
            at.map(|at| TableId(at as u32)).ok_or_else(|| format!("no table {name}"))
        };
        let action = |name: &str| {
            let at = program.actions.iter().position(|action| action.name.ends_with(name));
            at.map(|at| ActionId(at as u32)).ok_or_else(|| format!("no action {name}"))
        };
        let options = DeviceOptions::default();
        let device =
            || Device::new(program.clone(), options.clone()).map_err(|error| error.to_string());
        let mut operations = Operations {
            simulated: device()?,
            software: device()?,
            array: register("array")?,
            words: (0..WORDS)
                .map(|at| register(&format!("word_{at}")))
                .collect::<Result<_, _>>()?,
            table: table("entries")?,
            init: table("init")?,
            send: action("send")?,
            set: action("set")?,
        };
        for device in [&operations.simulated, &operations.software] {
            let entries = (0..256).map(|key| operations.insert(key));
            if let Some((_, fault)) = device.execute(Batch::of(entries)).first_fault() {
                return Err(fault.to_string());
            }
        }
        operations.simulated.set_control_latency(Some(model.clone()));
        Ok(operations)
    }

    fn keys(key: u64) -> Vec<KeyPattern> {
        vec![KeyPattern::Exact(Bits::from_u64(32, key))]
    }

    fn bound(action: ActionId, argument: u64, width_bits: u32) -> BoundAction {
        BoundAction { action, arguments: vec![Bits::from_u64(width_bits, argument)] }
    }

    fn insert(&self, key: u64) -> Update {
        let action = Operations::bound(self.send, 1, 9);
        let entry = NewEntry::direct(Operations::keys(key), 0, action);
        Update::InsertEntry { table: self.table, entry }
    }

    fn modify(&self, key: u64, port: u64) -> Item {
        let action = Operations::bound(self.send, port, 9);
        let entry = NewEntry::direct(Operations::keys(key), 0, action);
        Item::from(Update::ModifyEntry { table: self.table, entry })
    }

    fn read(register: RegisterId, cells: u64) -> Item {
        Item::from(Read::Register { register, cells: CellRange::range(0, cells) })
    }

    fn words(&self, count: u64) -> Vec<Item> {
        self.words.iter().take(count as usize).map(|word| Operations::read(*word, 1)).collect()
    }

    fn array(&self, cells: u64) -> Vec<Item> {
        vec![Operations::read(self.array, cells)]
    }

    fn scalars(&self, value: u64) -> Vec<Item> {
        let action = Operations::bound(self.set, value, 32);
        vec![Item::from(Update::SetDefaultAction { table: self.init, action: Some(action) })]
    }

    fn entries(&self, count: u64, port: u64) -> Vec<Item> {
        (0..count).map(|key| self.modify(key, port)).collect()
    }

    /// Carries out an operation on both switches.
    fn cost(&mut self, items: impl Fn(&Operations, u64) -> Vec<Item>) -> Result<Cost, String> {
        let batch = Batch { items: items(self, 1), ..Batch::default() };
        let mut target = self.simulated.target();
        let began_ps = self.simulated.now_ps();
        let ticket = target.submit(batch, began_ps);
        let outcome = loop {
            if let Some(outcome) = target.poll(ticket) {
                break outcome;
            }
            let next_ps = target.next_event_ps().unwrap_or(0).max(self.simulated.now_ps() + 1);
            self.simulated.advance(next_ps).map_err(|error| error.to_string())?;
        };
        if let Some((_, fault)) = outcome.first_fault() {
            return Err(fault.to_string());
        }
        let simulated_us = (outcome.known_ps - began_ps) as f64 / 1e6;
        let mut times_ns: Vec<f64> = (0..REPETITIONS as u64)
            .map(|repetition| {
                let batch = Batch { items: items(self, 1 + repetition % 2), ..Batch::default() };
                let begin = Instant::now();
                self.software.execute(batch);
                begin.elapsed().as_nanos() as f64
            })
            .collect();
        times_ns.sort_by(f64::total_cmp);
        Ok(Cost { simulated_us, software_ns: times_ns[REPETITIONS / 2] })
    }
}

fn us(value: f64) -> String {
    format!("{value:.2}")
}

/// Measuring the data plane by the size of what is read.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn figure_10a(measuring: &mut Measuring<'_>, model: &LatencyModel) -> Result<Table, String> {
    let mut operations = Operations::new(model)?;
    let mut table = Table::new(
        "Figure 10a: reading arguments of reactions",
        &[
            "bytes",
            "fields, driver us",
            "published",
            "fields, our switch ns",
            "array, driver us",
            "published",
            "array, our switch ns",
        ],
    );
    let sizes = [4, 8, 16, 32, 64, 128, 256];
    for (at, bytes) in sizes.into_iter().enumerate() {
        (measuring.progress)("figure 10a", at as f64 / sizes.len() as f64);
        let words = operations.cost(|operations, _| operations.words(bytes / 4))?;
        let array = operations.cost(|operations, _| operations.array(bytes / 4))?;
        table.row([
            bytes.to_string(),
            format!("{} {INPUT}", us(words.simulated_us)),
            "linear in 32-bit words".to_string(),
            format!("{:.0}", words.software_ns),
            format!("{} {INPUT}", us(array.simulated_us)),
            "10s of ns a further byte".to_string(),
            format!("{:.0}", array.software_ns),
        ]);
    }
    table.remark(
        "Single operations, without isolation. Times of the driver are those of the cost model: inputs, not reproduced. \
         Those of our switch are wall-clock medians of batches to a device in this process.",
    );
    Ok(table)
}

/// Writing to the data plane by the number of updates.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn figure_10b(measuring: &mut Measuring<'_>, model: &LatencyModel) -> Result<Table, String> {
    let mut operations = Operations::new(model)?;
    let mut table = Table::new(
        "Figure 10b: writing malleables",
        &[
            "updates",
            "scalars, driver us",
            "published",
            "scalars, our switch ns",
            "entries, driver us",
            "published",
            "entries, our switch ns",
        ],
    );
    let counts = [1, 4, 16, 64, 256];
    for (at, count) in counts.into_iter().enumerate() {
        (measuring.progress)("figure 10b", at as f64 / counts.len() as f64);
        let scalars = operations.cost(|operations, value| operations.scalars(value))?;
        let entries = operations.cost(|operations, port| operations.entries(count, port))?;
        table.row([
            count.to_string(),
            format!("{} {INPUT}", us(scalars.simulated_us)),
            "constant in one init table".to_string(),
            format!("{:.0}", scalars.software_ns),
            format!("{} {INPUT}", us(entries.simulated_us)),
            "linear in entries".to_string(),
            format!("{:.0}", entries.software_ns),
        ]);
    }
    table.remark(
        "Scalars are parameters of one init action: its entry is written once for any number of them. Times of the driver \
         are inputs of the cost model.",
    );
    Ok(table)
}
