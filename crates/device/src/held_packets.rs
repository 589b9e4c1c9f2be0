// SPDX-License-Identifier: Apache-2.0
//! Packets that externs of a program hold: passes at the end of their half of the pipeline, by the extern and its
//! number for them. Holding and releasing are in `extern_actions`.

use crate::pass::Pass;
use ir::ExternId;
use std::collections::BTreeMap;

/// The extern that holds a packet, and its number for it.
pub(crate) type HeldKey = (ExternId, u64);

/// A packet that is held.
#[derive(Debug)]
struct Held {
    pass: Pass,
    /// Its number among all packets that were held.
    serial: u64,
}

/// Packets that are held.
#[derive(Debug, Default)]
pub(crate) struct HeldPackets {
    packets: BTreeMap<HeldKey, Held>,
    count: u64,
}

impl HeldPackets {
    /// Keeps a pass; gives its number, and the pass that had the same key.
    pub fn hold(&mut self, key: HeldKey, pass: Pass) -> (u64, Option<Pass>) {
        let serial = self.count;
        self.count += 1;
        let before = self.packets.insert(key, Held { pass, serial });
        (serial, before.map(|before| before.pass))
    }

    /// Takes the pass with this key.
    pub fn take(&mut self, key: HeldKey) -> Option<Pass> {
        self.packets.remove(&key).map(|held| held.pass)
    }

    /// Takes the pass with this key if it is still the one that got this number.
    pub fn take_serial(&mut self, key: HeldKey, serial: u64) -> Option<Pass> {
        let is_same = self.packets.get(&key).is_some_and(|held| held.serial == serial);
        if is_same { self.take(key) } else { None }
    }

    /// Takes all.
    pub fn take_all(&mut self) -> impl Iterator<Item = Pass> + use<> {
        std::mem::take(&mut self.packets).into_values().map(|held| held.pass)
    }
}
