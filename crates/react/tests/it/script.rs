// SPDX-License-Identifier: Apache-2.0
//! Reactions that draw their decisions from a seed and keep what they were given.

use react::interface::{Host, Interface, KeyKind, Reactions, Stopped, TableOperation};
use react::module::Module;
use std::sync::{Arc, Mutex};
use testing::Choices;

/// A call of a reaction: its index, device time, and its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub reaction: usize,
    pub at_ns: u64,
    pub input: Vec<u64>,
}

/// All calls.
pub type Calls = Arc<Mutex<Vec<Call>>>;

pub struct Script {
    interface: Interface,
    choices: Choices,
    handles: Vec<Vec<u64>>,
    calls: Calls,
}

impl Script {
    pub fn new(interface: &Interface, seed: u64) -> (Script, Calls) {
        let calls = Calls::default();
        let script = Script {
            handles: vec![Vec::new(); interface.tables.len()],
            interface: interface.clone(),
            choices: Choices::from_seed(seed),
            calls: calls.clone(),
        };
        (script, calls)
    }

    fn key(&mut self, table: usize) -> Vec<u64> {
        let mut words = Vec::new();
        let keys = self.interface.tables[table].keys.clone();
        for key in keys {
            let width = key.ty.width_bits;
            let ones = u64::MAX >> (64 - width);
            let value = self.choices.below(4) as u64;
            match key.kind {
                KeyKind::Exact => words.push(value),
                KeyKind::Lpm => {
                    let length = [0, width - 2, width - 1, width][self.choices.below(4)];
                    words.extend([value, u64::from(length)]);
                }
                KeyKind::Ternary => {
                    let mask = [ones, 3, 1, 0][self.choices.below(4)];
                    words.extend([value, mask]);
                }
                KeyKind::Range => {
                    let high = match self.choices.below(3) {
                        0 => ones,
                        more => value + more as u64,
                    };
                    words.extend([value, high]);
                }
                KeyKind::Optional => words.extend([value, self.choices.below(2) as u64]),
            }
        }
        if self.interface.tables[table].has_priorities {
            words.push(1 + self.choices.below(20) as u64);
        }
        words
    }

    fn act(&mut self, host: &mut dyn Host) {
        for table in 0..self.interface.tables.len() {
            for _ in 0..self.choices.below(3) {
                let action = self.choices.below(3);
                let argument = self.choices.below(6) as u64;
                let arguments: Vec<u64> = if action == 2 { Vec::new() } else { vec![argument] };
                match self.choices.below(6) {
                    0 | 1 => {
                        let mut words = self.key(table);
                        words.extend(arguments);
                        let handle = host.table(TableOperation::Add, table, action, &words);
                        if handle != 0 {
                            self.handles[table].push(handle);
                        }
                    }
                    2 | 3 if !self.handles[table].is_empty() => {
                        let handle = *self.choices.pick(&self.handles[table]);
                        let mut words = vec![handle];
                        words.extend(arguments);
                        host.table(TableOperation::Modify, table, action, &words);
                    }
                    4 if !self.handles[table].is_empty() => {
                        let at = self.choices.below(self.handles[table].len());
                        let handle = self.handles[table].swap_remove(at);
                        host.table(TableOperation::Delete, table, 0, &[handle]);
                    }
                    _ => {
                        host.table(TableOperation::SetDefault, table, action, &arguments);
                    }
                }
            }
        }
    }
}

impl Module for Script {}

impl Reactions for Script {
    fn call(
        &mut self,
        reaction: usize,
        input: &[u64],
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        let call = Call { reaction, at_ns: host.now_ns(), input: input.to_vec() };
        self.calls.lock().expect("no thread panics").push(call);
        let values = self.interface.values.len();
        for (at, word) in malleables.iter_mut().enumerate() {
            if self.choices.flag() {
                *word = match at < values {
                    true => self.choices.below(4) as u64,
                    false => {
                        self.choices.below(self.interface.fields[at - values].alternatives.len())
                            as u64
                    }
                };
            }
        }
        self.act(host);
        Ok(())
    }

    fn call_init(&mut self, _: &mut [u64], _: &mut dyn Host) -> Result<(), Stopped> {
        Ok(())
    }
}
