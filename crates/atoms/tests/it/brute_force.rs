// SPDX-License-Identifier: Apache-2.0
//! Verdicts against brute force: all configurations and all values of words of three and four bits, on generated codelets
//! and templates.

use crate::{items, mapped};
use arithmetic::random::SplitMix64;
use atoms::{Codelet, Configuration, Hole, Point, Refutation, Setting, Template, Verdict, refutes};

/// Templates with few enough configurations.
const TEMPLATES: [&str; 9] = [
    "atom a { state s; input p; s = opt(s) + [p | C]; }",
    "atom b { state s; input p; if (s rel [p | C(-1..1)]) { s = opt(s) + [p | C]; } }",
    "atom c { state s; input p, q; s = opt(s) * [p | C] + [q | 1]; }",
    "atom d { state s; input p; s = (s [& | ^ ] [p | C]) ar C(0..1); }",
    "atom e { state s; input p; if (p [< | u< | >=] C) { s = s ar 1; } else { s = [s | p | 0]; } }",
    "atom f { state s, t; input p; if ([s | t] rel p) { s = [t | p]; } else { t = t ar [s | 1]; } }",
    "atom g { state s; input p; s = [(p < s ? s : C) | s >> C(0..4) | -p | s u/ 3]; }",
    "atom h { state s, t; input p; s = opt(p) + C; if (t == C) { t = [s | p]; } }",
    "atom i { state s; input p; s = [s | p] + C - C(0..2); }",
];

/// Returns a random expression over state variables, inputs and small numbers.
fn expression(random: &mut SplitMix64, names: &[&str], depth: u32) -> String {
    let below =
        |random: &mut SplitMix64, count: usize| (random.next_number() % count as u64) as usize;
    if depth == 0 || below(random, 4) == 0 {
        return match below(random, 4) {
            0 => below(random, 4).to_string(),
            _ => names[below(random, names.len())].to_owned(),
        };
    }
    let operators = [
        "+", "-", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "u>>", "u/", "u%", "==", "<",
        "<", ">=", "u<", "&&", "||",
    ];
    let part = |random: &mut SplitMix64| expression(random, names, depth - 1);
    match below(random, 6) {
        0 => format!("({} ? {} : {})", part(random), part(random), part(random)),
        1 => format!("{}({})", ["-", "~", "!"][below(random, 3)], part(random)),
        _ => {
            let operator = operators[below(random, operators.len())];
            format!("({} {operator} {})", part(random), part(random))
        }
    }
}

/// Returns a codelet that fits a template often enough: the template with random fillings, or random expressions.
fn generated(random: &mut SplitMix64, states: usize) -> Codelet {
    let names = &["s", "x", "t", "y"];
    let names = if states == 1 { &names[..2] } else { &names[..3] };
    let depth = 1 + (random.next_number() % 2) as u32;
    let text = match states {
        1 => format!("codelet c {{ state s; input x; s = {}; }}", expression(random, names, depth)),
        _ => format!(
            "codelet c {{ state s, t; input x; s = {}; t = {}; }}",
            expression(random, names, depth),
            expression(random, names, depth)
        ),
    };
    items(&text).codelets.remove(0)
}

/// Returns all values of some words.
fn all_points(setting: &Setting, states: usize, inputs: usize) -> Vec<Point> {
    let count = 1u32 << setting.words.width_bits();
    let total = count.pow((states + inputs) as u32);
    let digit = |number: u32, at: usize| number / count.pow(at as u32) % count;
    (0..total)
        .map(|number| Point {
            states: (0..states).map(|at| digit(number, at)).collect(),
            inputs: (0..inputs).map(|at| digit(number, states + at)).collect(),
        })
        .collect()
}

/// Searches a configuration that serves all points by trying every one.
fn brute_force(
    codelet: &Codelet,
    template: &Template,
    setting: &Setting,
    points: &[Point],
) -> Option<Configuration> {
    let ranges: Vec<Vec<u32>> = template
        .holes
        .iter()
        .map(|hole| match hole {
            Hole::Alternative(count) => (0..*count as u32).collect(),
            Hole::Constant(_) => {
                let range = setting.range(*hole);
                (range.low..=range.high).map(|number| setting.words.word(number)).collect()
            }
        })
        .collect();
    let (states, inputs) = (codelet.states.len(), codelet.inputs.len());
    let digits = |mut number: usize, base: usize, count: usize| -> Vec<usize> {
        (0..count).map(|_| (number % base, number /= base).0).collect()
    };
    let nexts: Vec<Vec<u32>> =
        points.iter().map(|point| codelet.next(setting.words, point)).collect();
    for placed in 0..states.pow(template.states.len() as u32) {
        let placed = digits(placed, states, template.states.len());
        if (1..placed.len()).any(|at| placed[..at].contains(&placed[at])) {
            continue;
        }
        for wiring in 0..inputs.pow(template.inputs.len() as u32) {
            let wiring = digits(wiring, inputs, template.inputs.len());
            let total: usize = ranges.iter().map(Vec::len).product();
            for number in 0..total {
                let mut rest = number;
                let holes =
                    ranges.iter().map(|range| (range[rest % range.len()], rest /= range.len()).0);
                let configuration = Configuration {
                    holes: holes.collect(),
                    states: placed.clone(),
                    inputs: wiring.clone(),
                };
                let serves = |(point, next): (&Point, &Vec<u32>)| {
                    template.next(&configuration, setting.words, point) == *next
                };
                if points.iter().zip(&nexts).all(serves) {
                    return Some(configuration);
                }
            }
        }
    }
    None
}

#[test]
fn verdicts_agree_with_brute_force() {
    let (mut yes, mut no, mut partly) = (0, 0, 0);
    let templates: Vec<Template> =
        TEMPLATES.iter().map(|text| items(text).templates.remove(0)).collect();
    let mut random = SplitMix64::new(27);
    for round in 0..testing::cases(270u64) {
        let template = &templates[round as usize % templates.len()];
        let setting = Setting::exact(if round % 2 == 0 { 3 } else { 4 });
        let states = 1 + (random.next_number() % template.states.len() as u64) as usize;
        let codelet = generated(&mut random, states);
        let padded = setting.pad(&codelet, template);
        let points = all_points(&setting, padded.states.len(), padded.inputs.len());
        let expected = brute_force(&padded, template, &setting, &points);
        match mapped(&codelet, template, &setting) {
            Verdict::Yes(_) => {
                assert!(expected.is_some(), "{} {codelet:?}", template.name);
                yes += 1;
            }
            Verdict::No(reason) => {
                assert!(expected.is_none(), "{} {codelet:?} {expected:?}", template.name);
                assert_eq!(brute_force(&padded, template, &setting, &reason), None);
                no += 1;
            }
            Verdict::Unknown => panic!("the budget of conflicts is too small"),
        }
        // The search without a solver, at a few points that may be served or not.
        let some: Vec<Point> = (0..3)
            .map(|_| points[(random.next_number() % points.len() as u64) as usize].clone())
            .collect();
        let refuted = match refutes(&codelet, template, &setting, &some) {
            Refutation::Undecided => continue,
            found => found == Refutation::Holds,
        };
        assert_eq!(
            refuted,
            brute_force(&padded, template, &setting, &some).is_none(),
            "{} {some:?}",
            template.name
        );
        partly += usize::from(!refuted);
    }
    println!("{yes} yes, {no} no, {partly} served at three points");
    assert!(yes > 10 && no > 50 && partly > 20, "{yes} yes, {no} no, {partly}");
}
