// SPDX-License-Identifier: Apache-2.0
//! The explanations of all diagnostic codes: those of the languages and of the crates below them.

use crate::{file_kind, net, registry};
use source::Explanation;

/// Returns the explanations of all codes, in order.
pub fn all() -> Vec<&'static Explanation> {
    let mut list: Vec<&'static Explanation> =
        registry::frontends().iter().flat_map(|each| each.explanations()).collect();
    list.extend(::atoms::text::codes::EXPLANATIONS.iter());
    list.extend(device::EXPLANATIONS.iter());
    list.extend(control::EXPLANATIONS.iter());
    list.extend(control::latency::EXPLANATIONS.iter());
    list.extend(network::capture::EXPLANATIONS.iter());
    list.extend(network_file::EXPLANATIONS.iter());
    list.extend(network_run::explanations());
    list.extend(network_live::explanations());
    list.extend(net::explanations());
    list.extend(pisa::target::EXPLANATIONS.iter());
    list.extend(pisa::graph::EXPLANATIONS.iter());
    list.extend(pisa::greedy::EXPLANATIONS.iter());
    list.extend(scale::EXPLANATIONS.iter());
    list.extend(rtl::EXPLANATIONS.iter());
    list.extend(file_kind::explanations().iter());
    list.sort_by_key(|explanation| explanation.code);
    list
}

/// Returns the explanations of a code such as `P4-E0205`, in upper or lower case; of a code without its family (`E0205`)
/// those of all families.
pub fn of(code: &str) -> Vec<&'static Explanation> {
    let wanted = code.to_ascii_uppercase();
    let is_short = |code: &str| code.split_once('-').is_some_and(|(_, short)| short == wanted);
    let matches = |each: &&Explanation| each.code.0 == wanted || is_short(each.code.0);
    all().into_iter().filter(matches).collect()
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
        let found = |code| of(code).iter().map(|each| each.code.0).collect::<Vec<_>>();
        assert_eq!(found("P4-E0101"), ["P4-E0101"]);
        assert_eq!(found("cli-e0101"), ["CLI-E0101"]);
        assert!(found("e0205").len() > 1 && found("e0205").contains(&"P4-E0205"));
        assert!(found("P4-E9999").is_empty());
    }
}
