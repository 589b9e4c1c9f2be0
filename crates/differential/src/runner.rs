// SPDX-License-Identifier: Apache-2.0
//! Runs one program with the same commands and packets on two subjects and finds the first
//! difference. A panic of a subject is a difference like others.

use crate::forms::Forms;
use crate::subject::{Observation, Stimulus, Subject};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What two subjects saw while they agreed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Observations of each.
    pub observations: u64,
    /// Packets that left.
    pub transmitted: u64,
    /// Commands that were refused, and runs that stopped.
    pub errors: u64,
    /// Digests.
    pub digests: u64,
}

/// The first thing in which two subjects differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Index of the stimulus after which it showed; `None` is before the first or at the end.
    pub stimulus: Option<usize>,
    /// What kind it is, for people and for shrinking, which keeps it.
    pub kind: DifferenceKind,
    /// Name of the left subject and what it saw.
    pub left: (String, String),
    /// Name of the right subject and what it saw.
    pub right: (String, String),
}

/// Kinds of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// One subject loaded the program, the other did not, or both failed with different errors.
    Loading,
    /// A subject panicked.
    Panic,
    /// They saw different things.
    Observation,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = match (self.stimulus, self.kind) {
            (Some(number), _) => format!("after step {number}"),
            (None, DifferenceKind::Observation) => "at the end".to_string(),
            (None, _) => "when the program was loaded".to_string(),
        };
        writeln!(formatter, "{when} the subjects differ:")?;
        for (name, saw) in [&self.left, &self.right] {
            writeln!(formatter, "  {name:<12} {saw}")?;
        }
        Ok(())
    }
}

/// Runs both subjects side by side.
pub fn compare(
    program: &Forms,
    stimuli: &[Stimulus],
    left: &mut dyn Subject,
    right: &mut dyn Subject,
) -> Result<Agreement, Box<Difference>> {
    let mut agreement = Agreement::default();
    let loaded = [guarded(|| left.load(program)), guarded(|| right.load(program))];
    let described = |outcome: &Result<Result<(), String>, String>| match outcome {
        Ok(Ok(())) => "loaded the program".to_string(),
        Ok(Err(why)) => why.clone(),
        Err(panic) => format!("panicked: {panic}"),
    };
    let kind = match &loaded {
        [Ok(Ok(())), Ok(Ok(()))] => None,
        [Err(_), _] | [_, Err(_)] => Some(DifferenceKind::Panic),
        _ => Some(DifferenceKind::Loading),
    };
    if let Some(kind) = kind {
        return Err(Box::new(Difference {
            stimulus: None,
            kind,
            left: (left.name().to_string(), described(&loaded[0])),
            right: (right.name().to_string(), described(&loaded[1])),
        }));
    }
    let (mut seen_left, mut seen_right) = (Vec::new(), Vec::new());
    for at in 0..=stimuli.len() {
        seen_left.clear();
        seen_right.clear();
        let step = |subject: &mut dyn Subject, seen: &mut Vec<Observation>| {
            guarded(|| match stimuli.get(at) {
                Some(stimulus) => subject.take(stimulus, seen),
                None => subject.finish(seen),
            })
        };
        let outcomes = [step(left, &mut seen_left), step(right, &mut seen_right)];
        if outcomes.iter().any(Result::is_err) || seen_left != seen_right {
            let stimulus = (at < stimuli.len()).then_some(at);
            let names = (left.name(), right.name());
            return Err(Box::new(difference(stimulus, names, outcomes, &seen_left, &seen_right)));
        }
        for observation in &seen_left {
            agreement.observations += 1;
            match observation {
                Observation::Transmitted(_) => agreement.transmitted += 1,
                Observation::Error(_) => agreement.errors += 1,
                Observation::Digest(_) => agreement.digests += 1,
                Observation::Log(_) | Observation::Final(..) => {}
            }
        }
    }
    Ok(agreement)
}

fn difference(
    stimulus: Option<usize>,
    (left, right): (&str, &str),
    outcomes: [Result<(), String>; 2],
    seen_left: &[Observation],
    seen_right: &[Observation],
) -> Difference {
    let first = seen_left.iter().zip(seen_right).position(|(one, other)| one != other);
    let first = first.unwrap_or(seen_left.len().min(seen_right.len()));
    let described = |outcome: &Result<(), String>, seen: &[Observation]| match outcome {
        Err(panic) => format!("panicked: {panic}"),
        Ok(()) => match seen.get(first) {
            Some(observation) => observation.to_string(),
            None => "nothing (more)".to_string(),
        },
    };
    let kind = match outcomes.iter().any(Result::is_err) {
        true => DifferenceKind::Panic,
        false => DifferenceKind::Observation,
    };
    Difference {
        stimulus,
        kind,
        left: (left.to_string(), described(&outcomes[0], seen_left)),
        right: (right.to_string(), described(&outcomes[1], seen_right)),
    }
}

/// The result, or the message of a panic.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()))
            .unwrap_or_else(|| "no message".to_string())
    })
}
