// SPDX-License-Identifier: Apache-2.0
//! The meanings of externs of all described architectures, as lowering takes them.

use super::{pna, psa, tna, v1model};
use crate::lowering::ExternMeaning;

/// One for each architecture of `registry`.
pub(crate) static EXTERN_MEANINGS: &[&dyn ExternMeaning] =
    &[&v1model::externs::V1Model, &psa::externs::Psa, &pna::externs::Pna, &tna::externs::Tna];
