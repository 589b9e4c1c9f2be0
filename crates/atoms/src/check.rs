// SPDX-License-Identifier: Apache-2.0
//! [`check`]: verdicts checked without the solver. A yes is run on values, all of them where there are few; a no is refuted
//! by [`refutes`].

use crate::codelet::{Codelet, Point};
use crate::refute::{Refutation, refutes};
use crate::samples::{points, visit_all, visit_samples};
use crate::setting::{Domain, Setting};
use crate::synthesis::Verdict;
use crate::template::{Configuration, Hole, Template};

/// A configuration is run on all values if there are at most so many.
const MAX_ALL: u64 = 1 << 20;
/// Random values on which other configurations are run.
const SAMPLES: usize = 20_000;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The configuration did what the codelet does on so many values.
    Served {
        /// How many values were tried.
        points: u64,
        /// Whether these are all values of the setting.
        all: bool,
    },
    /// The configuration does not do what the codelet does here.
    Differs(Point),
    /// The configuration is none of the template.
    Invalid,
    /// No configuration serves the points.
    Refuted,
    /// A configuration serves the points, so they show nothing.
    NotRefuted,
    /// The search for a configuration that serves the points gave up, or there was no verdict.
    Undecided,
}

/// Checks a verdict of [`map`](crate::map).
pub fn check(
    codelet: &Codelet,
    template: &Template,
    setting: &Setting,
    verdict: &Verdict,
) -> Check {
    match verdict {
        Verdict::Unknown => Check::Undecided,
        Verdict::No(points) => match refutes(codelet, template, setting, points) {
            Refutation::Holds => Check::Refuted,
            Refutation::Fails => Check::NotRefuted,
            Refutation::Undecided => Check::Undecided,
        },
        Verdict::Yes(configuration) => run(codelet, template, setting, configuration),
    }
}

/// Whether each hole has a value that it can have.
fn is_valid(template: &Template, setting: &Setting, configuration: &Configuration) -> bool {
    let fits = |hole: &Hole, value: u32| match hole {
        Hole::Constant(_) => setting.range(*hole).contains(setting.words, value),
        Hole::Alternative(count) => (value as usize) < *count,
    };
    configuration.holes.len() == template.holes.len()
        && configuration.inputs.len() == template.inputs.len()
        && template.holes.iter().zip(&configuration.holes).all(|(hole, value)| fits(hole, *value))
}

fn run(
    codelet: &Codelet,
    template: &Template,
    setting: &Setting,
    configuration: &Configuration,
) -> Check {
    if !is_valid(template, setting, configuration) {
        return Check::Invalid;
    }
    let (codelet, words) = (setting.pad(codelet, template), setting.words);
    let (mut tried, mut difference) = (0, None);
    let mut visit = |point: Point| {
        tried += 1;
        if template.next(configuration, words, &point) != codelet.next(words, &point) {
            difference = Some(point);
        }
        difference.is_none()
    };
    let (count, point) = points(setting, &codelet);
    let domain = setting.values.intersect(Domain::full(words));
    let all = domain.count().checked_pow(count as u32).is_some_and(|all| all <= MAX_ALL);
    if all {
        let numbers: Vec<u32> =
            (domain.low..=domain.high).map(|number| words.word(number)).collect();
        visit_all(&vec![numbers; count], &mut |values| visit(point(values)));
    } else {
        visit_samples(setting, &codelet, SAMPLES, visit);
    }
    match difference {
        Some(point) => Check::Differs(point),
        None => Check::Served { points: tried, all },
    }
}
