// SPDX-License-Identifier: Apache-2.0
//! Probes: requests that lowering adds where chosen controls begin and end, with the values that the packet's
//! storage has there. No text of the source stands for them, and they change nothing that a packet meets; a device
//! gives them to its taps.

use super::Lowering;
use crate::{Operand, Operation, Place, SlotId};

/// The name of the requests that probes make; their label is that of [`probe_label`], and their fields are the slots
/// whose values come with them.
pub const PROBE_REQUEST: &str = "probe";

/// At which end of a control a probe stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeEnd {
    /// Before the first statement of its body.
    Begin,
    /// Behind the last one; a packet that leaves by `exit` does not come there.
    End,
}

/// The label of the requests of a probe of a control, which is a block of the package or an instance that is applied,
/// by its control-plane name.
pub fn probe_label(control: &str, end: ProbeEnd) -> String {
    match end {
        ProbeEnd::Begin => format!("{control} begin"),
        ProbeEnd::End => format!("{control} end"),
    }
}

impl Lowering<'_> {
    /// Whether a control has probes.
    pub(super) fn is_probed(&self, control: &str) -> bool {
        self.probes.iter().any(|probed| **probed == *control)
    }

    /// Makes the request of a probe here.
    pub(super) fn probe(&mut self, control: &str, end: ProbeEnd, slots: &[SlotId]) {
        let (mut fields, mut arguments) = (Vec::new(), Vec::new());
        for slot in slots {
            let declared = &self.program.slots[slot.index()];
            fields.push((declared.name.clone(), declared.ty));
            let result = self.temp(declared.ty);
            self.emit(Operation::Load { result, place: Place::Slot(*slot) });
            arguments.push(Operand::Temp(result));
        }
        let request = self.request(PROBE_REQUEST, &probe_label(control, end), fields);
        self.emit(Operation::Request { request, arguments });
    }
}
