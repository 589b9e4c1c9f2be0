// SPDX-License-Identifier: Apache-2.0
//! `plane explain`: what a diagnostic code means.

use crate::arguments::Explain;
use crate::{Ending, output};
use source::Explanation;

/// All codes of all crates.
pub fn all() -> Vec<&'static Explanation> {
    let mut list: Vec<&'static Explanation> = Vec::new();
    list.extend(p4::codes::explanations());
    list.extend(::ir::codes::lowering::EXPLANATIONS.iter());
    list.extend(device::EXPLANATIONS.iter());
    list.extend(control::EXPLANATIONS.iter());
    list.extend(network::capture::EXPLANATIONS.iter());
    list.extend(super::lucid::explanations());
    list.extend(pisa::target::EXPLANATIONS.iter());
    list.extend(pisa::graph::EXPLANATIONS.iter());
    list.extend(pisa::greedy::EXPLANATIONS.iter());
    list.extend(crate::file_kind::EXPLANATIONS.iter());
    list.sort_by_key(|explanation| explanation.code);
    list
}

/// Runs it.
pub fn run(arguments: &Explain) -> Ending {
    let all = all();
    if arguments.list {
        let lines: String =
            all.iter().map(|each| format!("{}  {}\n", each.code, each.title)).collect();
        output::print(&lines);
        return Ending::Fine;
    }
    let wanted = arguments.code.as_deref().unwrap_or("").to_ascii_uppercase();
    // `E0205` will do for `P4-E0205`.
    let short = |each: &&&Explanation| each.code.0.split_once('-').is_some_and(|c| c.1 == wanted);
    match all.iter().find(|each| each.code.0 == wanted).or_else(|| all.iter().find(short)) {
        Some(explanation) => {
            output::print(&text(explanation));
            Ending::Fine
        }
        None => {
            output::error(&format!("no such code: `{wanted}`; `plane explain --list` lists all"));
            Ending::WrongInput
        }
    }
}

fn text(explanation: &Explanation) -> String {
    let mut text = format!("{}: {}\n\n", explanation.code, explanation.title);
    text.push_str(explanation.text);
    text.push('\n');
    for (heading, example) in [("Wrong", explanation.wrong), ("Right", explanation.right)] {
        if !example.is_empty() {
            text.push_str(&format!("\n{heading}:\n\n"));
            for line in example.lines() {
                text.push_str(if line.is_empty() { "" } else { "    " });
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}
