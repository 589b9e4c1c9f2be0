// SPDX-License-Identifier: Apache-2.0
//! Names of variables that passes make and later passes know.

/// Variables that hold conditions.
pub(super) const CONDITION: &str = "condition";

/// The end of the names of variables that hold a global's new value.
pub(super) const NEW: &str = "_new";

/// The end of the names of variables that hold a global's index.
pub(super) const INDEX: &str = "_index";
