// SPDX-License-Identifier: Apache-2.0
//! What the lowering has to know of an architecture (P4_16 v1.2.5 §17): which storage its blocks
//! share, where a parser's error goes, and what its externs mean in the IR. How the blocks hang
//! together in a device is not described here. A package that nobody describes lowers to named
//! blocks with storage of their own and unknown externs.

pub mod boundaries;
mod calculations;
pub(crate) mod objects;
mod pna;
mod psa;
mod tna;
mod v1model;

pub(crate) use calculations::CalculationKind;

use crate::lowering::{Construction, ExternCall, Lowered, Lowering, ObjectKind, Value};
use p4::typed::TypedProgram;

/// What a table property says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableRole {
    /// Number of entries.
    Size,
    /// Whether entries time out.
    IdleTimeout,
    /// Names an action profile, direct counters or direct meters.
    Object,
}

/// A description of an architecture.
pub(crate) trait Architecture {
    /// Its name; empty for packages that nobody describes.
    fn name(&self) -> &'static str;

    /// Whether its devices only read and write headers of whole bytes.
    fn whole_byte_headers(&self) -> bool {
        false
    }

    /// Whether its tables have at most one `lpm` key.
    fn single_prefix_key(&self) -> bool {
        false
    }

    /// The storage that parameter `index` of the block with this role shares with others.
    fn storage(&self, role: &str, index: usize) -> Option<&'static str>;

    /// Storage and field that take the error of a rejecting parser.
    fn parser_error(&self, role: &str) -> Option<(&'static str, &'static str)>;

    /// What an extern object is; `None` when the description does not know it.
    fn construct<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        construction: &Construction<'a>,
    ) -> Lowered<Option<ObjectKind>>;

    /// Makes the code of an extern's call; `None` when the description does not know it.
    fn call<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        call: &ExternCall<'a>,
    ) -> Lowered<Option<Value>>;

    /// What a table property says.
    fn table_property(&self, name: &str) -> Option<TableRole> {
        (name == "size").then_some(TableRole::Size)
    }

    /// Does what can only be done when all blocks are lowered.
    fn finish(&self, lowering: &mut Lowering<'_>) -> Lowered<()> {
        let _ = lowering;
        Ok(())
    }
}

/// For packages that nobody describes.
pub(crate) const UNKNOWN: &dyn Architecture = &Unknown;

struct Unknown;

impl Architecture for Unknown {
    fn name(&self) -> &'static str {
        ""
    }

    fn storage(&self, _: &str, _: usize) -> Option<&'static str> {
        None
    }

    fn parser_error(&self, _: &str) -> Option<(&'static str, &'static str)> {
        None
    }

    fn construct<'a>(
        &self,
        _: &mut Lowering<'a>,
        _: &Construction<'a>,
    ) -> Lowered<Option<ObjectKind>> {
        Ok(None)
    }

    fn call<'a>(&self, _: &mut Lowering<'a>, _: &ExternCall<'a>) -> Lowered<Option<Value>> {
        Ok(None)
    }
}

fn declares(typed: &TypedProgram, name: &str) -> bool {
    typed.program.declarations.iter().any(|declaration| &*declaration.name.text == name)
}

/// The description of the architecture that declares a package.
pub(crate) fn for_package(package: &str, typed: &TypedProgram) -> &'static dyn Architecture {
    match package {
        // Others have called a package so too.
        "Switch" if declares(typed, "ingress_intrinsic_metadata_for_tm_t") => &tna::Tna,
        "V1Switch" => &v1model::V1Model,
        "PSA_Switch" => &psa::Psa,
        "PNA_NIC" => &pna::Pna,
        _ => UNKNOWN,
    }
}
