// SPDX-License-Identifier: Apache-2.0
//! `plane explain`: prints the explanation of a diagnostic code.

use crate::arguments::Explain;
use crate::output;
use frontend::ExitStatus;
use source::Explanation;
use toolchain::explanations;

/// Runs it.
pub fn run(arguments: &Explain) -> ExitStatus {
    if arguments.list {
        let lines: String = explanations::all()
            .iter()
            .map(|each| format!("{}  {}\n", each.code, each.title))
            .collect();
        output::print(&lines);
        return ExitStatus::Fine;
    }
    let code = arguments.code.as_deref().unwrap_or("").to_ascii_uppercase();
    match explanations::of(&code).as_slice() {
        [] => {
            output::error(&format!(
                "no such code: `{code}`; `plane explain --list` lists all codes"
            ));
            ExitStatus::WrongInput
        }
        [explanation] => {
            output::print(&text(explanation));
            ExitStatus::Fine
        }
        several => {
            let lines = several.iter().map(|each| format!("  {}  {}\n", each.code, each.title));
            output::error(&format!("`{code}` is a code of several families; write one of these:"));
            output::note(lines.collect::<String>().trim_end());
            ExitStatus::WrongInput
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
