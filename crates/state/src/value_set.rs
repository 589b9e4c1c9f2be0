// SPDX-License-Identifier: Apache-2.0
//! `ValueSetState`: one version of a parser value set. `draft` checks its updates.

use crate::table::pattern_matches;
use ir::{Bits, KeyPattern};

/// One version of a parser value set: members with one pattern a component.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueSetState {
    pub(crate) members: Vec<Vec<KeyPattern>>,
}

impl ValueSetState {
    /// The members in the order of their insertion.
    pub fn members(&self) -> &[Vec<KeyPattern>] {
        &self.members
    }

    /// Whether some member matches these values, one a component.
    pub fn contains(&self, keys: &[Bits]) -> bool {
        self.members.iter().any(|member| {
            member.iter().zip(keys).all(|(pattern, key)| pattern_matches(pattern, key))
        })
    }
}
