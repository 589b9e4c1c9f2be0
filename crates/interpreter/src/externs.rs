// SPDX-License-Identifier: Apache-2.0
//! Calls of externs, for both engines: of the instance in the cells, or else of the environment. State of
//! externs and their actions on packets are in `state::externs`.

use crate::environment::{Environment, ExternCall};
use crate::random::{DrawCounts, draw_between};
use ir::{Bits, ExternId, RandomSite};
use state::Cells;
use state::externs::{CallServices, InstanceCall, PacketAction};

/// Runs a call: one result for each of [`ExternCall::result_widths_bits`]. Actions on packets that an instance
/// requests are added to `actions`.
///
/// # Errors
///
/// A sentence for the user; it ends the block.
pub fn call_extern(
    call: ExternCall<'_>,
    cells: &mut Cells,
    environment: &mut dyn Environment,
    draws: &mut DrawCounts,
    actions: &mut Vec<(ExternId, PacketAction)>,
) -> Result<Vec<Bits>, String> {
    let mut services = Services { environment, draws, site: call.effects.random.as_ref() };
    let instance_call = InstanceCall {
        method: call.method,
        arguments: call.arguments,
        result_widths_bits: call.result_widths_bits,
        effects: call.effects,
        packet: call.packet,
    };
    let given = match cells.call_extern(call.id, instance_call, &mut services, actions) {
        Some(given) => given?,
        None => environment.call_extern(call)?,
    };
    let (expected, found) = (call.result_widths_bits.len(), given.len());
    match expected == found {
        true => Ok(given),
        false => Err(format!("it gave {found} results instead of {expected}")),
    }
}

struct Services<'a> {
    environment: &'a mut dyn Environment,
    draws: &'a mut DrawCounts,
    site: Option<&'a RandomSite>,
}

impl CallServices for Services<'_> {
    fn now_ps(&self) -> u64 {
        self.environment.now_ps()
    }

    fn packet_length_bytes(&self) -> u64 {
        self.environment.packet_length_bytes()
    }

    fn random(&mut self, low: &Bits, high: &Bits) -> Bits {
        let site = self.site.map_or(0, RandomSite::number);
        let key = self.environment.random_key();
        let value = draw_between(key, site, self.draws.next(site), low, high);
        self.environment.drawn(value.low_u64());
        value
    }
}
