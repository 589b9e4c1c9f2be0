// SPDX-License-Identifier: Apache-2.0
//! Results of `plane atoms` as text and as JSON. Both have the same facts; neither has times, so the same verdicts give the
//! same bytes.

use super::{Answered, Answers, Question, Trial};
use crate::registry::enumerated;
use ::atoms::{Check, Codelet, Point, Template, Verdict};
use serde_json::{Map, Value, json};
use source::{SourceMap, Span};
use std::fmt::Write;

/// Returns a place such as `flowlets.domino:20`; nothing for none.
fn place(map: &SourceMap, span: Span) -> Option<String> {
    map.location(span).map(|place| place.to_string())
}

fn name<'t>(question: &Question<'t>, trial: &Trial) -> &'t str {
    &question.templates[trial.template].name
}

/// Writes a report for readers: for each codelet its statements, the least atom at each range with its configuration, and
/// values for which the atom before cannot do it.
pub fn text(map: &SourceMap, all: &[Answered], question: &Question<'_>) -> String {
    let mut text = String::new();
    if all.is_empty() {
        text.push_str("no stateful codelets\n");
    }
    for Answered { codelet, answers } in all {
        let place = place(map, codelet.span).map(|place| format!(" ({place})"));
        let stage = codelet.stage.map(|stage| format!(", stage {}", stage + 1));
        let separator = if text.is_empty() { "" } else { "\n" };
        let (place, stage) = (place.unwrap_or_default(), stage.unwrap_or_default());
        let _ = writeln!(text, "{separator}{}{place}{stage}", codelet.name);
        for line in codelet.text.lines() {
            let _ = writeln!(text, "    {line}");
        }
        let Some(asked) = &codelet.codelet else {
            text.push_str("  unknown: see the warning\n");
            continue;
        };
        answers.iter().for_each(|each| write_answers(asked, each, question, &mut text));
    }
    text
}

fn write_answers(codelet: &Codelet, answers: &Answers, question: &Question<'_>, text: &mut String) {
    let Answers { range, trials } = answers;
    let of = |wanted: fn(&Verdict) -> bool| {
        let those = trials.iter().filter(move |trial| wanted(&trial.verdict));
        those.map(|trial| name(question, trial)).collect::<Vec<_>>()
    };
    let unknown = of(|verdict| *verdict == Verdict::Unknown);
    let unknown_after = |names: &[&str]| {
        format!("unknown after {} s for {}", question.limit.as_secs_f64(), enumerated(names, "and"))
    };
    let least = answers.least();
    let headline = match (least, unknown.as_slice()) {
        (Some(least), []) => name(question, least).to_string(),
        (Some(least), names) => format!("{}; {}", name(question, least), unknown_after(names)),
        (None, []) => format!("none of {}", enumerated(&of(|_| true), "and")),
        (None, names) => unknown_after(names),
    };
    let _ = writeln!(text, "  {}: {headline}", range.name);
    if let Some(Trial { verdict: Verdict::Yes(configuration), template, .. }) = least {
        let template = &question.templates[*template];
        let described = template.describe(configuration, range.setting.words, codelet);
        for line in described.lines() {
            let _ = writeln!(text, "      {line}");
        }
    }
    if question.is_complete {
        let others = of(|verdict| matches!(verdict, Verdict::Yes(_)));
        if let [_, others @ ..] = others.as_slice()
            && !others.is_empty()
        {
            let _ = writeln!(text, "    also {}", enumerated(others, "and"));
        }
    }
    let before = trials.iter().take_while(|trial| !matches!(trial.verdict, Verdict::Yes(_)));
    let Some(Trial { verdict: Verdict::No(points), template, check, .. }) =
        before.filter(|trial| matches!(trial.verdict, Verdict::No(_))).last()
    else {
        return;
    };
    let template = &question.templates[*template];
    let unchecked = if *check == Check::Refuted { "" } else { " (by the solver alone)" };
    let _ = writeln!(
        text,
        "    not {}{unchecked}: no configuration serves all of these",
        template.name
    );
    for point in points {
        let shown = shown(codelet, template, answers, point);
        let list = |values: &[(String, i64)]| {
            let values = values.iter().map(|(name, value)| format!("{name} = {value}"));
            values.collect::<Vec<_>>().join(", ")
        };
        let given: Vec<_> = shown.states.iter().chain(&shown.inputs).cloned().collect();
        let _ = writeln!(text, "      {}: gives {}", list(&given), list(&shown.next));
    }
}

/// A point with the codelet's names.
struct Shown {
    states: Vec<(String, i64)>,
    inputs: Vec<(String, i64)>,
    next: Vec<(String, i64)>,
}

fn shown(codelet: &Codelet, template: &Template, answers: &Answers, point: &Point) -> Shown {
    let setting = &answers.range.setting;
    let named = |names: &[String], values: &[u32]| {
        let values = values.iter().map(|value| setting.words.signed(*value));
        names.iter().cloned().zip(values).collect()
    };
    // The codelet's own names come first in the padded one.
    let next = setting.pad(codelet, template).next(setting.words, point);
    Shown {
        states: named(&codelet.states, &point.states),
        inputs: named(&codelet.inputs, &point.inputs),
        next: named(&codelet.states, &next),
    }
}

/// Writes the results for tools. At the top `program`, `atoms` (their names in order) and `codelets`. Each codelet has
/// `name`, `place`, `stage` from 1, `states`, `inputs`, `statements` and `answers`. An answer has `range`, `least` and
/// `tried`: for each atom its `verdict` (`yes`, `no` or `unknown`), the `configuration` of a yes, the `values` of a no, the
/// `check`, and the work in `conflicts` and `proposals`.
pub fn json(program: &str, map: &SourceMap, all: &[Answered], question: &Question<'_>) -> String {
    let codelets: Vec<Value> = all
        .iter()
        .map(|Answered { codelet, answers }| {
            let asked = codelet.codelet.as_ref();
            let answers = answers.iter().zip(asked.into_iter().cycle());
            json!({
                "name": codelet.name,
                "place": place(map, codelet.span),
                "stage": codelet.stage.map(|stage| stage + 1),
                "states": asked.map(|asked| &asked.states),
                "inputs": asked.map(|asked| &asked.inputs),
                "statements": codelet.text.lines().collect::<Vec<_>>(),
                "answers": answers.map(|(each, asked)| answers_json(asked, each, question)).collect::<Vec<_>>(),
            })
        })
        .collect();
    let names: Vec<&str> =
        question.templates.iter().map(|template| template.name.as_str()).collect();
    let document = json!({ "program": program, "atoms": names, "codelets": codelets });
    format!("{document:#}\n")
}

fn answers_json(codelet: &Codelet, answers: &Answers, question: &Question<'_>) -> Value {
    let words = answers.range.setting.words;
    let tried = answers.trials.iter().map(|trial| {
        let template = &question.templates[trial.template];
        let mut value = json!({ "atom": template.name });
        match &trial.verdict {
            Verdict::Yes(configuration) => {
                value["verdict"] = json!("yes");
                value["configuration"] = json!(template.describe(configuration, words, codelet));
            }
            Verdict::No(points) => {
                let points = points.iter().map(|point| {
                    let Shown { states, inputs, next } = shown(codelet, template, answers, point);
                    let object = |values: Vec<(String, i64)>| {
                        values.into_iter().map(|(name, value)| (name, json!(value))).collect::<Map<_, _>>()
                    };
                    json!({ "states": object(states), "inputs": object(inputs), "next": object(next) })
                });
                value["verdict"] = json!("no");
                value["values"] = points.collect();
            }
            Verdict::Unknown => value["verdict"] = json!("unknown"),
        }
        value["check"] = match trial.check {
            Check::Served { points, all } => json!({ "tried_values": points, "all_values": all }),
            Check::Refuted => json!("refuted without the solver"),
            _ => json!("undecided"),
        };
        value["conflicts"] = json!(trial.conflicts);
        value["proposals"] = json!(trial.proposals);
        value
    });
    json!({
        "range": answers.range.name,
        "least": answers.least().map(|trial| name(question, trial)),
        "tried": tried.collect::<Vec<_>>(),
    })
}
