// SPDX-License-Identifier: Apache-2.0
//! Resolves expectations: looks up their names and types in the program, so that `verdicts` can compare them
//! with observations.

use super::expected_arguments::{ExpectedArguments, expected_arguments};
use super::values::{cell_text, happening_text};
use crate::specification::{
    Argument, Count, Expectation, ExpectationKind, FieldSpans, LifecycleStep, codes, find_name,
};
use lucid::core::{EventId, GlobalId, GlobalKind, Program};
use source::quantity::nanoseconds;
use source::{Diagnostic, Diagnostics, Span};

/// An expectation.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub index: usize,
    pub span: Span,
    /// For people.
    pub text: String,
    pub kind: CheckKind,
}

#[derive(Clone, Debug)]
pub(super) enum CheckKind {
    Events(Events),
    Array { global: GlobalId, switch: u32, start: u64, values: Vec<Vec<u128>>, at_ps: Option<u64> },
    Counter { name: String, switch: Option<u32>, count: Count },
}

/// Something that happens to events.
#[derive(Clone, Debug)]
pub(super) struct Events {
    pub what: LifecycleStep,
    /// The events of this name (an event over globals has copies), with what is expected of their
    /// arguments.
    events: Vec<(EventId, ExpectedArguments)>,
    pub switch: Option<u32>,
    pub port: Option<u32>,
    pub after_ps: Option<u64>,
    pub before_ps: Option<u64>,
    pub count: Count,
}

impl Events {
    /// What is expected of the arguments of this event; `None` for others.
    pub fn arguments_of(&self, event: EventId) -> Option<&ExpectedArguments> {
        self.events.iter().find(|(each, _)| *each == event).map(|(_, arguments)| arguments)
    }
}

/// Looks up all names.
pub(super) fn prepare(
    program: &Program,
    expectations: &[Expectation],
) -> Result<Vec<Check>, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut checks = Vec::new();
    for expectation in expectations {
        let kind = match &expectation.kind {
            ExpectationKind::Event { .. } => {
                events(program, &expectation.kind, &expectation.field_spans, &mut diagnostics)
            }
            ExpectationKind::Array { name, switch, start, values, at_ps } => {
                array(program, name, *start, values, &expectation.field_spans, &mut diagnostics)
                    .map(|global| CheckKind::Array {
                        global,
                        switch: *switch,
                        start: *start,
                        values: values.clone(),
                        at_ps: *at_ps,
                    })
            }
            ExpectationKind::Counter { name, switch, count } => {
                Some(CheckKind::Counter { name: name.clone(), switch: *switch, count: *count })
            }
        };
        if let Some(kind) = kind {
            let text = text(&expectation.kind);
            let span = expectation.field_spans.whole;
            checks.push(Check { index: expectation.index, span, text, kind });
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(checks) }
}

fn unknown(
    kind: &str,
    name: &str,
    names: &mut dyn Iterator<Item = &str>,
    span: Span,
) -> Diagnostic {
    let message = format!("the program has no {kind} `{name}`");
    let diagnostic = Diagnostic::error(codes::EXPECTED_NAME, span, message);
    let names: Vec<&str> = names.collect();
    match source::nearest(name, names.iter().copied()) {
        Some(near) => diagnostic.help(format!("`{near}` may be meant")),
        None if names.is_empty() => diagnostic,
        None => {
            let listed: Vec<&str> = names.iter().copied().take(20).collect();
            diagnostic.note(format!("there are {}", listed.join(", ")))
        }
    }
}

fn events(
    program: &Program,
    kind: &ExpectationKind,
    field_spans: &FieldSpans,
    diagnostics: &mut Diagnostics,
) -> Option<CheckKind> {
    let ExpectationKind::Event { what, name, arguments, switch, port, after_ps, before_ps, count } =
        kind
    else {
        return None;
    };
    let named = |event: &&(usize, &lucid::core::Event)| {
        *event.1.name == **name || *event.1.declared_name == **name
    };
    let all: Vec<(usize, &lucid::core::Event)> = program.events.iter().enumerate().collect();
    let found: Vec<_> = all.iter().filter(named).collect();
    if found.is_empty() {
        let mut names = program.events.iter().map(|event| &*event.declared_name);
        diagnostics.push(unknown("event", name, &mut names, field_spans.name));
        return None;
    }
    let mut events = Vec::new();
    for (at, event) in found {
        let expected = match arguments {
            Some(arguments) => expected_arguments(event, arguments, field_spans, diagnostics)?,
            None => ExpectedArguments::default(),
        };
        events.push((EventId(*at as u32), expected));
    }
    Some(CheckKind::Events(Events {
        what: *what,
        events,
        switch: *switch,
        port: *port,
        after_ps: *after_ps,
        before_ps: *before_ps,
        count: *count,
    }))
}

fn array(
    program: &Program,
    name: &str,
    start: u64,
    values: &[Vec<u128>],
    field_spans: &FieldSpans,
    diagnostics: &mut Diagnostics,
) -> Option<GlobalId> {
    let names = program.globals.iter().map(|global| &*global.name);
    let Some(at) = find_name(names, name) else {
        let mut names = program.globals.iter().map(|global| &*global.name);
        diagnostics.push(unknown("array", name, &mut names, field_spans.name));
        return None;
    };
    let global = &program.globals[at];
    let (width_bits, length, parts) = match &global.kind {
        GlobalKind::Array { width_bits, length } => (*width_bits, *length, 1),
        GlobalKind::PairArray { width_bits, length } => (*width_bits, *length, 2),
        GlobalKind::Counter { width_bits, .. } => (*width_bits, 1, 1),
        GlobalKind::Table(_) => {
            let message = format!("`{name}` is a table; only arrays and counters are expected");
            diagnostics.push(
                Diagnostic::error(codes::EXPECTED_NAME, field_spans.name, message)
                    .label(global.span, "declared here"),
            );
            return None;
        }
    };
    let mut wrong = |span: Span, message: String| {
        diagnostics.push(
            Diagnostic::error(codes::EXPECTED_ARGUMENTS, span, message)
                .label(global.span, "declared here"),
        );
    };
    if start.saturating_add(values.len() as u64) > length {
        let last = start.saturating_add(values.len() as u64).saturating_sub(1);
        wrong(
            field_spans.name,
            format!("`{name}` has {length} cells, so there is no {name}[{last}]"),
        );
        return None;
    }
    for (at, cell) in values.iter().enumerate() {
        let span = field_spans.arguments.get(at).copied().unwrap_or(field_spans.whole);
        if cell.len() != parts {
            let wanted = if parts == 2 { "two values" } else { "one value" };
            wrong(span, format!("a cell of `{name}` has {wanted}, not {}", cell.len()));
            return None;
        }
        let wide = |value: &&u128| width_bits < 128 && **value >> width_bits != 0;
        if let Some(value) = cell.iter().find(wide) {
            wrong(span, format!("{value} does not fit a cell of `{name}`: {width_bits} bits"));
            return None;
        }
    }
    Some(GlobalId(at as u32))
}

/// The expectation for people.
fn text(kind: &ExpectationKind) -> String {
    match kind {
        ExpectationKind::Event {
            what,
            name,
            arguments,
            switch,
            port,
            after_ps,
            before_ps,
            count,
        } => {
            let mut text = format!("{} {name}", happening_text(*what));
            if let Some(arguments) = arguments {
                let argument = |argument: &Option<Argument>| match argument {
                    Some(argument) => argument.to_string(),
                    None => "_".to_string(),
                };
                let arguments: Vec<String> = arguments.iter().map(argument).collect();
                text.push_str(&format!("({})", arguments.join(", ")));
            }
            if let Some(switch) = switch {
                text.push_str(&format!(" at switch {switch}"));
            }
            if let Some(port) = port {
                text.push_str(&format!(" port {port}"));
            }
            if let Some(after) = after_ps {
                text.push_str(&format!(" from {} ns", nanoseconds(*after)));
            }
            if let Some(before) = before_ps {
                text.push_str(&format!(" until {} ns", nanoseconds(*before)));
            }
            format!("{text}: {}", count_text(*count))
        }
        ExpectationKind::Array { name, switch, start, values, at_ps } => {
            let shown: Vec<String> = values.iter().take(8).map(|cell| cell_text(cell)).collect();
            let more = if values.len() > shown.len() { ", ..." } else { "" };
            let when = match at_ps {
                Some(time) => format!(" at {} ns", nanoseconds(*time)),
                None => String::new(),
            };
            let end = start.saturating_add(values.len() as u64);
            let range = match values.len() {
                1 => start.to_string(),
                _ => format!("{start}..{end}"),
            };
            let shown = shown.join(", ");
            format!("{name}[{range}] of switch {switch}{when}: {shown}{more}")
        }
        ExpectationKind::Counter { name, switch, count } => {
            let place = match switch {
                Some(switch) => format!("switch {switch}"),
                None => "all switches".to_string(),
            };
            let count = match count {
                Count { least, most: Some(most) } if least == most => least.to_string(),
                Count { least, most: None } => format!("at least {least}"),
                Count { least: 0, most: Some(most) } => format!("at most {most}"),
                Count { least, most: Some(most) } => format!("{least} to {most}"),
            };
            format!("counter \"{name}\" of {place}: {count}")
        }
    }
}

fn count_text(count: Count) -> String {
    let times = |count: u64| match count {
        1 => "once".to_string(),
        _ => format!("{count} times"),
    };
    match count {
        Count { least: 0, most: Some(0) } => "never".to_string(),
        Count { least, most: Some(most) } if least == most => match least {
            1 => "exactly once".to_string(),
            _ => times(least),
        },
        Count { least, most: None } => format!("at least {}", times(least)),
        Count { least: 0, most: Some(most) } => format!("at most {}", times(most)),
        Count { least, most: Some(most) } => format!("{least} to {most} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdicts::Verdicts;
    use crate::report::example;
    use crate::simulation::{Counts, Observer};
    use crate::specification::{Format, read};
    use source::{RenderOptions, SourceMap};

    /// What is said about these expectations after the example's run.
    fn judged(expectations: &str) -> String {
        let mut map = SourceMap::new();
        let text = format!("switches: 2\nlinks: full mesh\nexpect:\n{expectations}");
        let file = map.add("run.yaml", text);
        let (run, diagnostics) = read(&map, file, Format::Yaml);
        let rendered =
            |diagnostics: &_| source::render_text(&map, diagnostics, RenderOptions::default());
        let Some(run) = run else { return rendered(&diagnostics) };
        let program = example::program();
        let mut verdicts = match Verdicts::new(&program, &run.expectations) {
            Ok(verdicts) => verdicts,
            Err(diagnostics) => return rendered(&diagnostics),
        };
        for observation in example::observations() {
            verdicts.observe(observation);
        }
        let cell = |time: u64| {
            move |switch: u32, global: lucid::core::GlobalId, index: u64| {
                let value = u128::from(time + u64::from(switch) + index);
                Some(if global.0 == 1 { vec![value, 0] } else { vec![value] })
            }
        };
        for time in verdicts.times() {
            verdicts.look(time, &cell(time / 1000));
        }
        let counts = Counts { handled: 3, dropped: 1, ..Counts::default() };
        let verdicts = verdicts.finish(&[counts, counts], &cell(0));
        verdicts
            .iter()
            .map(|verdict| {
                let found: String =
                    verdict.found.iter().map(|line| format!("  {line}\n")).collect();
                let word = if verdict.passed { "ok" } else { "FAILED" };
                assert_eq!(verdict.passed, verdict.found.is_empty());
                format!("{word} {}: {}\n{found}", verdict.index, verdict.expected)
            })
            .collect()
    }

    #[test]
    fn verdicts() {
        testing::assert_snapshot!(judged(
            "  - {event: request, args: [1, true], switch: 0, port: 3, count: 1}
  - {event: request, args: [_, _], count: 2}
  - {event: request, count: 1}
  - {event: request, args: [3, _], count: at least 1}
  - {event: request, switch: 1, port: 7, before: 100}
  - {event: request, after: 101, before: 701, count: 1}
  - {generated: reply, args: [9], port: 4}
  - {left: reply, args: [9], count: 1..2}
  - {left: reply, args: [10]}
  - {left: request, count: 0}
  - {dropped: reply, count: 1}
  - {dropped: request}
  - {array: counts, values: [0, 1, 2], start: 0}
  - {array: counts, switch: 1, values: [7, 2, 9, 4]}
  - {array: counts, values: [5, 6], start: 0, at: 5}
  - {array: pairs, values: [[0, 0], [1, 1]]}
  - {array: total, values: 0}
  - {counter: handled, count: 6}
  - {counter: dropped, switch: 1, count: at most 0}
"
        ));
    }

    #[test]
    fn expectations_that_make_no_sense() {
        testing::assert_snapshot!(judged(
            "  - {event: requests}
  - {event: zzz}
  - {event: request, args: [1]}
  - {event: request, args: [1, 2]}
  - {event: reply, args: [4294967296]}
  - {event: reply, args: [[1, 2]]}
  - {array: count, values: [1]}
  - {array: routes, values: [1]}
  - {array: counts, values: [1, 2], start: 3}
  - {array: counts, values: [[1, 2]]}
  - {array: pairs, values: [1]}
  - {array: pairs, values: [[1, 65536]]}
"
        ));
    }
}
