// SPDX-License-Identifier: Apache-2.0
//! Tests of atoms: the verdicts of the thirty codelets, brute force on small words, atoms of one's own, messages.

mod brute_force;
mod own_atoms;
mod texts;
mod thirty;

use atoms::{Answer, Budget, Check, Codelet, Items, Setting, Template, Verdict, check, map, read};
use source::{RenderOptions, SourceMap, render_text};

/// Conflicts that a test may spend on one question.
const CONFLICTS: u64 = 100_000;

/// Reads items without mistakes.
fn items(text: &str) -> Items {
    let mut map = SourceMap::new();
    let file = map.add("test.atoms", text);
    let (items, diagnostics) = read(&map, file);
    assert!(
        diagnostics.is_empty(),
        "{}",
        render_text(&map, &diagnostics, RenderOptions::default())
    );
    items
}

/// Reads one codelet.
fn codelet(text: &str) -> Codelet {
    items(text).codelets.remove(0)
}

/// Maps, and checks the verdict without the solver.
#[track_caller]
fn mapped(codelet: &Codelet, template: &Template, setting: &Setting) -> Verdict {
    let Answer { verdict, .. } = map(codelet, template, setting, Budget::conflicts(CONFLICTS));
    let found = check(codelet, template, setting, &verdict);
    let holds = matches!(found, Check::Served { .. } | Check::Refuted);
    let names = (&codelet.name, &template.name);
    assert!(holds, "{names:?}: {verdict:?}: {found:?}");
    verdict
}
