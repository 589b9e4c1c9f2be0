// SPDX-License-Identifier: Apache-2.0
//! Pictures of random layouts are well-formed, show every table once, and escape what programs are
//! called.

use super::*;
use crate::greedy::{self, random_problems};
use proptest::prelude::*;
use source::Span;

/// Whether each element that begins ends, in order.
fn is_well_formed(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for piece in text.split('<').skip(1) {
        let Some((tag, _)) = piece.split_once('>') else { return false };
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap_or(""));
        }
    }
    open.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(48), ..ProptestConfig::default() })]

    #[test]
    fn shows_every_table(problem in random_problems::problem(16), name in "[a-z<>&\"]{0,8}") {
        let problem = Problem { name: name.clone().into(), ..problem };
        for target in ["tofino", "rmt", "banzai"] {
            let target = HardwareModel::named(target, Span::NONE).unwrap();
            let Ok(layout) = greedy::greedy(&problem, &target) else { continue };
            let text = svg(&problem, &target, &layout, &|id| format!("{name}:{}", id.0));
            prop_assert!(is_well_formed(&text), "{}", text);
            let tables: usize = layout.stages.iter().map(|stage| stage.tables.len()).sum();
            prop_assert_eq!(text.matches("<title>table ").count(), tables);
            prop_assert_eq!(text.matches("class=\"stage\"").count(), layout.stages.len());
        }
    }
}

#[test]
fn names_that_are_too_long() {
    assert_eq!(shortened("short"), "short");
    assert_eq!(shortened("a.very.long.name.of.some.table.t"), "….long.name.of.some.table.t");
    assert_eq!(shortened("field = one.long.operand + other"), "field = one.long.operand +…");
}
