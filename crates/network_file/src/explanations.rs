// SPDX-License-Identifier: Apache-2.0
//! What `plane explain` says about mistakes in network files.

use source::Explanation;

/// The explanations of the codes of this crate.
pub const EXPLANATIONS: &[Explanation] = &[];
