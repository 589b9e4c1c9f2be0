// SPDX-License-Identifier: Apache-2.0
//! Judges the expectations of a network file by the results of its run.

use crate::built::Built;
use crate::results::{DirectionResult, Measured, PartResult, Results};
use crate::statistics::Sample;
use crate::tables::title;
use crate::watched::CellValue;
use network_file::model::{ApplicationIndex, Expectation, Metric, Network, Subject};
use network_file::{Bound, Number, Range};
use source::{Code, Diagnostic, Diagnostics, Explanation, quantity};

/// An expectation is not met.
pub const NOT_MET: Code = Code("NW-E0405");
/// A counter or register that an expectation names does not exist.
pub const NO_SUCH_CELL: Code = Code("NW-E0406");

pub(crate) const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: NOT_MET,
        title: "an expectation is not met",
        text: "An entry of `expect` states what a run measures. The message has the measured value.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: NO_SUCH_CELL,
        title: "a counter or register of an expectation does not exist",
        text: "An expectation names a counter or register by its name in the program of the switch, and an index below its \
               size.",
        wrong: "",
        right: "",
    },
];

/// A measured value, in the unit of its metric.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Time(u64),
    Rate(f64),
    Bytes(u64),
    Count(u64),
    Share(f64),
    Number(f64),
}

impl Value {
    fn number(self) -> Number {
        match self {
            Value::Time(value) | Value::Bytes(value) | Value::Count(value) => {
                Number::Whole(value.into())
            }
            Value::Rate(value) | Value::Share(value) | Value::Number(value) => {
                Number::Fraction(value)
            }
        }
    }

    fn text(self) -> String {
        match self {
            Value::Time(time_ps) => quantity::rounded(time_ps),
            Value::Rate(rate) => quantity::rate(rate),
            Value::Bytes(bytes) => quantity::bytes(bytes as f64),
            Value::Count(count) => count.to_string(),
            Value::Share(share) => format!("{:.2} %", share * 100.0),
            Value::Number(number) => format!("{number:.2}"),
        }
    }

    /// A bound of a condition, written like this value.
    fn bound_text(self, bound: &Bound) -> String {
        let number = match bound.value {
            Number::Whole(number) => number as f64,
            Number::Fraction(number) => number,
        };
        match self {
            Value::Time(_) => quantity::rounded(number as u64),
            Value::Rate(_) => quantity::rate(number),
            Value::Bytes(_) => quantity::bytes(number),
            Value::Count(_) => format!("{number}"),
            Value::Share(_) => format!("{} %", number * 100.0),
            Value::Number(_) => format!("{number}"),
        }
    }

    /// A condition in words.
    fn range_text(self, range: &Range) -> String {
        match (&range.least, &range.most) {
            (Some(least), Some(most)) if least == most => self.bound_text(least),
            (Some(least), Some(most)) => {
                format!("{} to {}", self.bound_text(least), self.bound_text(most))
            }
            (Some(least), None) => {
                let words = if least.is_inclusive { "at least" } else { "more than" };
                format!("{words} {}", self.bound_text(least))
            }
            (None, Some(most)) => {
                let words = if most.is_inclusive { "at most" } else { "less than" };
                format!("{words} {}", self.bound_text(most))
            }
            (None, None) => "anything".to_string(),
        }
    }
}

/// Judges all expectations. Returns those that are not met as diagnostics.
pub fn judge(built: &Built, results: &Results) -> Diagnostics {
    let mut found = Diagnostics::new();
    for (number, expectation) in built.network.expectations.iter().enumerate() {
        judge_one(built, results, (number, expectation), &mut found);
    }
    found
}

fn judge_one(
    built: &Built,
    results: &Results,
    (number, expectation): (usize, &Expectation),
    found: &mut Diagnostics,
) {
    let network = &built.network;
    for condition in &expectation.conditions {
        let metric = condition.metric;
        let measured = match &expectation.subject {
            Subject::Ping { application, destination } => {
                let parts = parts(results, *application).skip(*destination).take(1);
                application_value(&parts.collect::<Vec<_>>(), metric)
            }
            Subject::Applications(all) => {
                let parts = all.iter().flat_map(|one| parts(results, *one));
                application_value(&parts.collect::<Vec<_>>(), metric)
            }
            Subject::Link(link) => link_value(&results.links[*link], metric),
            Subject::Port(end) => network.link_at(end.node, end.port).and_then(|(link, side)| {
                link_value(std::slice::from_ref(&results.links[link][side]), metric)
            }),
            Subject::Received { .. } => built.received(expectation).map(Value::Count),
            Subject::Counter(cell) | Subject::Register(cell) => match built.cell(number) {
                Ok(read) => read.and_then(|read| cell_value(read, metric)),
                Err(message) => {
                    let error = Diagnostic::error(NO_SUCH_CELL, cell.name.span, message);
                    found.push(error);
                    return;
                }
            },
        };
        let subject = subject_text(network, &expectation.subject);
        let name = metric.name().replace('_', " ");
        let message = match measured {
            Some(value) if condition.range.includes(value.number()) => continue,
            Some(value) => format!(
                "{subject}: {name} is {}, expected {}",
                value.text(),
                value.range_text(&condition.range)
            ),
            None => format!("{subject}: nothing was measured for {name}"),
        };
        found.push(Diagnostic::error(NOT_MET, condition.span, message));
    }
}

fn parts(results: &Results, index: ApplicationIndex) -> impl Iterator<Item = &PartResult> {
    let of_index = results.applications.iter().filter(move |one| one.index == index);
    of_index.flat_map(|one| &one.parts)
}

fn subject_text(network: &Network, subject: &Subject) -> String {
    let named = |index: &ApplicationIndex| {
        let host = &network.hosts[index.host];
        title(&host.name, &host.applications[index.application])
    };
    match subject {
        Subject::Ping { application, .. } => named(application),
        Subject::Applications(all) => match &all[..] {
            [] => "no application".to_string(),
            [one] => named(one),
            [one, ..] => format!("{} and {} more", named(one), all.len() - 1),
        },
        Subject::Link(link) => {
            let [one, other] = &network.links[*link].ends;
            format!("link {} - {}", network.port_name(one), network.port_name(other))
        }
        Subject::Port(end) => format!("port {}", network.port_name(end)),
        Subject::Received { host, .. } => format!("host `{}`", network.hosts[*host].name),
        Subject::Counter(cell) | Subject::Register(cell) => format!(
            "`{}[{}]` of `{}`",
            cell.name.value, cell.index, network.switches[cell.switch].name
        ),
    }
}

/// A metric over parts of applications: sums of counts, means of times.
fn application_value(parts: &[&PartResult], metric: Metric) -> Option<Value> {
    if parts.is_empty() {
        return None;
    }
    let sum = |count: fn(&Measured) -> u64| parts.iter().map(|part| count(&part.measured)).sum();
    let all: Sample = parts.iter().flat_map(|part| part.measured.completions().times()).collect();
    let sent = || -> u64 { sum(Measured::sent) };
    let received = || -> u64 { sum(Measured::received) };
    Some(match metric {
        Metric::Sent => Value::Count(sent()),
        Metric::Received => Value::Count(received()),
        Metric::Loss => match sent() {
            0 => return None,
            sent => Value::Share(1.0 - received() as f64 / sent as f64),
        },
        Metric::Rtt => Value::Time(parts.iter().find_map(|part| part.measured.round_trip_ps())?),
        Metric::MinRtt => Value::Time(all.least()?),
        Metric::MaxRtt => Value::Time(all.largest()?),
        Metric::Ttl => Value::Count(parts.iter().find_map(|part| part.measured.ttl())?.into()),
        Metric::Goodput => Value::Rate(parts.iter().map(|part| part.measured.goodput_bps()).sum()),
        Metric::Bytes => Value::Bytes(sum(Measured::bytes)),
        Metric::Retransmissions => Value::Count(sum(Measured::retransmissions)),
        Metric::Timeouts => Value::Count(sum(Measured::timeouts)),
        Metric::Completion => Value::Time(all.mean()?),
        Metric::P99Completion => Value::Time(all.percentile(0.99)?),
        Metric::Completed => Value::Count(all.count() as u64),
        Metric::Lost => Value::Count(sent().saturating_sub(received())),
        Metric::Delivered => Value::Count(received()),
        Metric::Use
        | Metric::Dropped
        | Metric::Queue
        | Metric::MeanQueue
        | Metric::P99Queue
        | Metric::Count
        | Metric::Value => return None,
    })
}

fn link_value(directions: &[DirectionResult], metric: Metric) -> Option<Value> {
    let sum = |count: &dyn Fn(&DirectionResult) -> u64| directions.iter().map(count).sum();
    let largest =
        |value: &dyn Fn(&DirectionResult) -> f64| directions.iter().map(value).fold(0.0, f64::max);
    Some(match metric {
        Metric::Lost => Value::Count(sum(&|one| one.link.lost + one.link.lost_while_down)),
        Metric::Delivered => Value::Count(sum(&|one| one.link.delivered)),
        Metric::Sent => Value::Count(sum(&|one| one.sent)),
        Metric::Bytes => Value::Bytes(sum(&|one| one.sent_bytes)),
        Metric::Loss => {
            let lost: u64 = sum(&|one| one.link.lost + one.link.lost_while_down);
            let sent: u64 = sum(&|one| one.sent);
            if sent == 0 {
                return None;
            }
            Value::Share(lost as f64 / sent as f64)
        }
        Metric::Use => Value::Share(largest(&|one| one.utilization.unwrap_or(0.0))),
        Metric::Dropped => Value::Count(sum(&|one| one.dropped)),
        Metric::Queue => Value::Count(largest(&|one| one.peak_queue as f64) as u64),
        Metric::MeanQueue => Value::Number(largest(&|one| one.mean_queue)),
        Metric::P99Queue => Value::Count(largest(&|one| one.p99_queue as f64) as u64),
        _ => return None,
    })
}

fn cell_value(read: CellValue, metric: Metric) -> Option<Value> {
    match (read, metric) {
        (CellValue::Counter { bytes, .. }, Metric::Bytes) => Some(Value::Bytes(bytes)),
        (CellValue::Counter { packets, .. }, _) => Some(Value::Count(packets)),
        (CellValue::Register(value), _) => value.map(Value::Count),
    }
}
