// SPDX-License-Identifier: Apache-2.0
//! The explanations of all diagnostic codes: those of the languages and of the crates below them.

use crate::{file_kind, registry};
use source::Explanation;

/// Returns the explanations of all codes, in order.
pub fn all() -> Vec<&'static Explanation> {
    let mut list: Vec<&'static Explanation> =
        registry::frontends().iter().flat_map(|each| each.explanations()).collect();
    list.extend(device::EXPLANATIONS.iter());
    list.extend(control::EXPLANATIONS.iter());
    list.extend(network::capture::EXPLANATIONS.iter());
    list.extend(network::simulation::topology::EXPLANATIONS.iter());
    list.extend(pisa::target::EXPLANATIONS.iter());
    list.extend(pisa::graph::EXPLANATIONS.iter());
    list.extend(pisa::greedy::EXPLANATIONS.iter());
    list.extend(file_kind::explanations().iter());
    list.sort_by_key(|explanation| explanation.code);
    list
}

/// Returns the explanation of a code such as `P4-E0205`, or `E0205` for short, in upper or lower case.
pub fn of(code: &str) -> Option<&'static Explanation> {
    let wanted = code.to_ascii_uppercase();
    let all = all();
    let short = |each: &&&Explanation| each.code.0.split_once('-').is_some_and(|c| c.1 == wanted);
    all.iter().find(|each| each.code.0 == wanted).or_else(|| all.iter().find(short)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_once() {
        let all = all();
        assert!(all.windows(2).all(|pair| pair[0].code.0 < pair[1].code.0));
    }

    #[test]
    fn codes_are_found_in_short() {
        for (written, code) in [("P4-E0101", "P4-E0101"), ("e0101", ""), ("cli-e0101", "CLI-E0101")]
        {
            let found = of(written).map(|each| each.code.0);
            assert!(found.is_some_and(|found| code.is_empty() || found == code), "{written}");
        }
        assert!(of("P4-E9999").is_none());
    }
}
