// SPDX-License-Identifier: Apache-2.0
//! [`DescribedProgram`]: finds what an architecture's description names in a program: blocks, metadata fields
//! and requests. What is missing is a [`LoadError`] with its name.

use crate::output::LoadError;
use ir::architecture::{BlockRole, Description, MetadataField};
use ir::lowering::PROBE_REQUEST;
use ir::{Program, Request, SlotId};
use std::ops::Range;

/// A program with the description of its architecture.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescribedProgram<'p> {
    pub program: &'p Program,
    pub description: &'static Description,
}

impl DescribedProgram<'_> {
    /// Indices of the blocks of all roles in the program, in the order of the description. A control has several if it
    /// is cut into stages.
    pub fn blocks<const COUNT: usize>(&self) -> Result<[Range<usize>; COUNT], LoadError> {
        let mut indices = std::array::from_fn(|_| 0..0);
        for (index, role) in indices.iter_mut().zip(self.description.blocks) {
            *index = self.blocks_of(role)?;
        }
        Ok(indices)
    }

    fn blocks_of(&self, BlockRole { role, .. }: &BlockRole) -> Result<Range<usize>, LoadError> {
        let found = Some(self.program.blocks_with_role(role)).filter(|blocks| !blocks.is_empty());
        found.ok_or_else(|| self.missing(format!("a block `{role}`")))
    }

    /// The slot of a metadata field. `None` when the program has no use for the field's storage or an older
    /// interface lacks the field.
    pub fn field(&self, storage: &str, name: &str) -> Result<Option<SlotId>, LoadError> {
        let mut described = self.description.metadata.iter();
        let field = described.find(|field| field.storage == storage && field.name == name);
        let slot_name = MetadataField::slot_name_of(storage, name);
        let Some(field) = field else {
            return Err(self.missing(format!("a description of `{slot_name}`")));
        };
        let mut parameters = self.program.blocks.iter().flat_map(|block| &block.parameters);
        match self.program.slot_named(&slot_name) {
            Some(slot) => Ok(Some(slot)),
            None if field.is_optional => Ok(None),
            None if parameters.all(|parameter| &*parameter.storage != storage) => Ok(None),
            None => Err(self.missing(format!("a metadata field `{slot_name}`"))),
        }
    }

    /// Maps each request of the program to the architecture's kinds; `None` for requests of probes, which only taps
    /// read. A request that the description lacks is an error.
    pub fn request_kinds<K>(
        &self,
        kind: impl Fn(&Request) -> Option<K>,
    ) -> Result<Vec<Option<K>>, LoadError> {
        let kind = |request: &Request| {
            let is_described = self.description.requests.contains(&&*request.name);
            match is_described.then(|| kind(request)).flatten() {
                None if &*request.name == PROBE_REQUEST => Ok(None),
                None => Err(LoadError::UnsupportedRequest(request.name.clone())),
                known => Ok(known),
            }
        };
        self.program.requests.iter().map(kind).collect()
    }

    /// The error of a program or description that lacks a part.
    pub fn missing(&self, part: impl Into<String>) -> LoadError {
        LoadError::MissingPart { architecture: self.description.name, part: part.into() }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Device, DeviceOptions};
    use ir::Program;
    use ir::ready::ReadyProgram;
    use std::sync::Arc;

    const PROGRAM: &str = "
        #include <core.p4>
        #include <v1model.p4>
        struct headers_t { }
        struct meta_t { }
        parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
            state start { transition accept; }
        }
        control V(inout headers_t h, inout meta_t m) { apply { } }
        control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply { } }
        control D(packet_out p, in headers_t h) { apply { } }
        V1Switch(P(), V(), I(), I(), V(), D()) main;";

    #[test]
    fn load_error_names_the_missing_part() {
        let ready = ReadyProgram::of_text("a.p4", PROGRAM).expect("it compiles");
        let error = |change: &dyn Fn(&mut Program)| {
            let mut program = Program::clone(ready.program());
            change(&mut program);
            let loaded = Device::new(Arc::new(program), DeviceOptions::default());
            loaded.err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(error(&|_| {}), "");
        assert_eq!(
            error(&|program| program.blocks[1].role = "other".into()),
            "a program for `v1model` needs a block `vr`"
        );
        let rename = |program: &mut Program| {
            let slot = program.slot_named("standard_metadata.egress_spec").expect("a field");
            program.slots[slot.index()].name = "other".into();
        };
        assert_eq!(
            error(&rename),
            "a program for `v1model` needs a metadata field `standard_metadata.egress_spec`"
        );
    }
}
