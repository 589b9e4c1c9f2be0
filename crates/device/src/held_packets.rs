// SPDX-License-Identifier: Apache-2.0
//! `HeldPackets`: packets that externs of a program hold, by the extern and its ticket. `extern_actions` holds and releases
//! them.

use crate::pass::Pass;
use ir::ExternId;
use std::collections::BTreeMap;

/// The extern that holds a packet, and its ticket.
pub(crate) type HeldKey = (ExternId, u64);

/// A held packet.
#[derive(Debug)]
struct Held {
    pass: Pass,
    /// Its number among all holds, which tells reuses of a ticket apart.
    serial: u64,
}

/// The held packets of a program.
#[derive(Debug, Default)]
pub(crate) struct HeldPackets {
    packets: BTreeMap<HeldKey, Held>,
    count: u64,
}

impl HeldPackets {
    /// Holds a pass. Returns its serial number and the pass that had the same key.
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

    /// Takes the pass with this key if it still has this serial number.
    pub fn take_serial(&mut self, key: HeldKey, serial: u64) -> Option<Pass> {
        let is_same = self.packets.get(&key).is_some_and(|held| held.serial == serial);
        if is_same { self.take(key) } else { None }
    }

    /// Takes all.
    pub fn take_all(&mut self) -> impl Iterator<Item = Pass> + use<> {
        std::mem::take(&mut self.packets).into_values().map(|held| held.pass)
    }
}
