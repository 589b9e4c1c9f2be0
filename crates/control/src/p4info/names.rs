// SPDX-License-Identifier: Apache-2.0
//! Aliases of objects.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The dotted suffixes of names, with the number of names that end with each.
#[derive(Default)]
pub(super) struct Aliases {
    names: BTreeSet<Arc<str>>,
    suffixes: HashMap<String, usize>,
}

/// The suffixes of a name, the shortest first.
fn suffixes(name: &str) -> Vec<&str> {
    let starts = name.match_indices('.').map(|(at, _)| at + 1).collect::<Vec<_>>();
    starts.into_iter().rev().chain([0]).map(|start| &name[start..]).collect()
}

impl Aliases {
    pub(super) fn add(&mut self, name: &Arc<str>) {
        if self.names.insert(name.clone()) {
            for suffix in suffixes(name) {
                *self.suffixes.entry(suffix.to_string()).or_default() += 1;
            }
        }
    }

    pub(super) fn of(&self, name: &str) -> Arc<str> {
        let is_unique = |suffix: &&str| self.suffixes.get(*suffix).is_none_or(|count| *count < 2);
        suffixes(name).into_iter().find(is_unique).unwrap_or(name).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_the_shortest_suffixes_of_one_name() {
        let mut aliases = Aliases::default();
        for name in ["d.a.c", "e.b.c", "x", "e.b.c"] {
            aliases.add(&name.into());
        }
        let aliases: Vec<Arc<str>> =
            ["d.a.c", "e.b.c", "x"].into_iter().map(|name| aliases.of(name)).collect();
        assert_eq!(aliases, ["a.c".into(), "b.c".into(), Arc::<str>::from("x")]);
    }
}
