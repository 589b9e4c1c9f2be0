// SPDX-License-Identifier: Apache-2.0
//! Atoms of one's own, and codelets renamed and with their names in another order.

use crate::{codelet, items, mapped};
use atoms::{Budget, Check, Setting, Verdict, Wiring, banzai, check, map};

/// `nested_ifs` and `pair` with tests that also compare two variables: these need no difference, which wraps.
const COMPARING: &str = include_str!("../data/comparing.atoms");

#[track_caller]
fn is_mapped(text: &str, template: &atoms::Template, setting: &Setting) -> bool {
    matches!(mapped(&codelet(text), template, setting), Verdict::Yes(_))
}

#[test]
fn an_atom_that_compares_variables_serves_codelets_that_nested_ifs_cannot() {
    let nested = items(COMPARING).templates.remove(0);
    let newest =
        "codelet c { state last; input length, now; last = (now < last ? last : now) + length; }";
    let setting = Setting::exact(32);
    assert!(!is_mapped(newest, &banzai()[5], &setting));
    assert!(is_mapped(newest, &nested, &setting));
}

#[test]
fn an_atom_with_small_constants_and_shifts() {
    let text = "atom average {
        state mean;
        input sample;
        mean = mean + ((sample - mean) >> C(0..7));
    }";
    let template = &items(text).templates[0];
    let setting = Setting::exact(32);
    assert!(is_mapped(
        "codelet c { state m; input x; m = m + ((x - m) >> 3); }",
        template,
        &setting
    ));
    assert!(!is_mapped(
        "codelet c { state m; input x; m = m + ((x - m) >> 8); }",
        template,
        &setting
    ));
    assert!(!is_mapped("codelet c { state m; input x; m = m + (x - m) / 8; }", template, &setting));
}

#[test]
fn names_and_their_order_do_not_matter() {
    let check = |atom: usize, texts: &[&str], expected: bool| {
        for text in texts {
            assert_eq!(is_mapped(text, &banzai()[atom], &Setting::small()), expected, "{text}");
        }
    };
    let hull = [
        "codelet c { state s; input a, b; s = (s - b < 0 ? 0 : s - b) + a; }",
        "codelet c { state s; input b, a; s = (s - b < 0 ? 0 : s - b) + a; }",
        "codelet c { state z; input y, x; z = (z - x < 0 ? 0 : z - x) + y; }",
        "codelet c { state s; input a, b, c; s = (s - c < 0 ? 0 : s - c) + b; }",
    ];
    check(4, &hull, true);
    check(3, &hull, false);
    let spam = [
        "codelet c { state m, n; if (m == 1) { m = 2; n = 1; } else if (m == 2) { n = n + 1; } }",
        "codelet c { state n, m; if (m == 1) { m = 2; n = 1; } else if (m == 2) { n = n + 1; } }",
        "codelet c { state a, b; if (b == 1) { b = 2; a = 1; } else if (b == 2) { a = a + 1; } }",
    ];
    check(6, &spam, true);
    check(5, &spam, false);
}

/// Domino's compiler connects the first fields by the alphabet and no others.
#[test]
fn wiring_by_the_alphabet_sees_only_the_first_fields() {
    let alphabetical = Setting { wiring: Wiring::Alphabetical, ..Setting::exact(32) };
    let raw = &banzai()[1];
    let text = "codelet c { state s; input a, x; s = s + x + (a & 0); }";
    assert!(is_mapped(text, raw, &Setting::exact(32)));
    assert!(!is_mapped(text, raw, &alphabetical));
    assert!(is_mapped(
        "codelet c { state s; input y, x; s = s + x + (y & 0); }",
        raw,
        &alphabetical
    ));
}

#[test]
fn a_codelet_that_changes_more_state_than_the_atom_has_is_refuted() {
    let text = "codelet c { state s, t; input x; s = s + x; t = t - x; }";
    let Verdict::No(points) = mapped(&codelet(text), &banzai()[5], &Setting::exact(32)) else {
        panic!("an atom with one state variable changes two");
    };
    assert!(points.len() <= 2);
}

#[test]
fn the_configuration_is_printed_with_the_codelets_names() {
    let text = "codelet c { state hop; input is_new, next; if (is_new) { hop = next; } }";
    let (codelet, template) = (codelet(text), &banzai()[2]);
    let setting = Setting::exact(32);
    let Verdict::Yes(configuration) = mapped(&codelet, template, &setting) else { panic!("no") };
    let text = template.describe(&configuration, setting.words, &codelet);
    let again = items(&format!("codelet c {{ state hop; input is_new, next; {text} }}"));
    assert!(text.contains("hop = 0 + next;"), "{text}");
    for values in [[5, 0, 7], [5, 1, 7], [0, 9, 1]] {
        let point = atoms::Point { states: values[..1].to_vec(), inputs: values[1..].to_vec() };
        assert_eq!(
            again.codelets[0].next(setting.words, &point),
            codelet.next(setting.words, &point)
        );
    }
}

#[test]
fn a_spent_budget_is_a_verdict_of_its_own() {
    let product = codelet("codelet c { state s; input x, y; s = (s + x) * (s - y); }");
    let factored = items(
        "atom a { state s; input p, q; s = s * s - [p | q] * [p | q] + s * ([p | q] ar [p | q]); }",
    );
    let template = &factored.templates[0];
    let answer = map(&product, template, &Setting::exact(32), Budget::conflicts(200));
    assert_eq!(answer.verdict, Verdict::Unknown);
    assert_eq!(check(&product, template, &Setting::exact(32), &answer.verdict), Check::Undecided);
    let interrupt = || true;
    let stopped = Budget { conflicts: u64::MAX, interrupt: Some(&interrupt) };
    assert_eq!(map(&product, template, &Setting::exact(32), stopped).verdict, Verdict::Unknown);
}

/// Checks reject what is wrong: a configuration with another constant, points without a contradiction.
#[test]
fn checks_find_wrong_verdicts() {
    let (sampling, setting) =
        (codelet("codelet c { state n; n = n == 29 ? 0 : n + 1; }"), Setting::exact(32));
    let template = &banzai()[3];
    let Verdict::Yes(right) = mapped(&sampling, template, &setting) else { panic!("no") };
    let mut wrongs = 0;
    for hole in 0..right.holes.len() {
        let mut wrong = right.clone();
        wrong.holes[hole] ^= 1;
        let found = check(&sampling, template, &setting, &Verdict::Yes(wrong));
        wrongs += usize::from(!matches!(found, Check::Served { .. }));
    }
    assert!(wrongs >= 5, "{wrongs}");
    let mut invalid = right.clone();
    invalid.holes[0] = 9;
    assert_eq!(check(&sampling, template, &setting, &Verdict::Yes(invalid)), Check::Invalid);
    assert_eq!(check(&sampling, template, &setting, &Verdict::No(Vec::new())), Check::NotRefuted);
}
