// SPDX-License-Identifier: Apache-2.0
//! Runs the text files beside this one. A file names the pass it tests in a line `// test:` and holds
//! cases, each after a line `////` with its title. What a case expects depends on the pass:
//!
//! - `verify`: the errors, each after `// error:` on the line that causes it. Errors at a line that
//!   another expectation cannot reach stand in lines of the form `//! error at` with that line's start.
//! - all others: after a line `// becomes`, what the pass says or the code it leaves.
//!
//! With `UPDATE_IR_TESTS=1` in the environment, what is found is written behind `// becomes`.

use ir::text::{parse_with_lines, print_code};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

struct Case<'a> {
    title: &'a str,
    input: String,
    expected: String,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut in_expected = false;
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("//// ") {
            cases.push(Case { title, input: String::new(), expected: String::new() });
            in_expected = false;
        } else if let Some(case) = cases.last_mut() {
            if line == "// becomes" {
                in_expected = true;
            } else {
                let part = if in_expected { &mut case.expected } else { &mut case.input };
                part.push_str(line);
                part.push('\n');
            }
        }
    }
    cases
}

/// Expected and found errors by line.
fn check_verify(case: &Case) -> Result<(), String> {
    let mut expected = BTreeSet::new();
    for (number, line) in case.input.lines().enumerate() {
        if let Some(rest) = line.strip_prefix("//! error at `") {
            let (start, message) = rest.split_once("`: ").ok_or("bad `//! error at`")?;
            let at = case.input.lines().position(|line| line.starts_with(start));
            let at = at.ok_or_else(|| format!("no line starts with `{start}`"))?;
            expected.insert((at + 1, message.to_string()));
        } else {
            for message in line.split("// error: ").skip(1) {
                expected.insert((number + 1, message.trim().to_string()));
            }
        }
    }
    let parsed = parse_with_lines(&case.input).map_err(|errors| errors[0].to_string())?;
    let found: BTreeSet<(usize, String)> = match ir::verify(&parsed.program) {
        Ok(()) => BTreeSet::new(),
        Err(errors) => errors
            .into_iter()
            .map(|error| {
                (parsed.lines.get(&error.site).map_or(0, |line| *line as usize), error.message)
            })
            .collect(),
    };
    let mut report = String::new();
    for (line, message) in expected.difference(&found) {
        report.push_str(&format!("  line {line}: expected, not found: {message}\n"));
    }
    for (line, message) in found.difference(&expected) {
        report.push_str(&format!("  line {line}: found, not expected: {message}\n"));
    }
    if report.is_empty() { Ok(()) } else { Err(report) }
}

/// What a pass makes of a case.
fn run_pass(pass: &str, input: &str) -> Result<String, String> {
    let program = parse_with_lines(input).map_err(|errors| errors[0].to_string())?.program;
    let describe = |errors: Vec<ir::VerifyError>| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    ir::verify(&program).map_err(|errors| format!("the input: {}", describe(errors)))?;
    let output = match pass {
        "text" => print_code(&program),
        other => return Err(format!("unknown pass `{other}`")),
    };
    ir::verify(&program).map_err(|errors| format!("the output: {}", describe(errors)))?;
    Ok(output)
}

fn check_file(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("the file can be read");
    let Some(pass) = text.lines().find_map(|line| line.strip_prefix("// test: ")) else {
        return vec![format!("{}: no line `// test:`", path.display())];
    };
    let mut failures = Vec::new();
    let mut updated = String::new();
    let head: Vec<&str> = text.lines().take_while(|line| !line.starts_with("//// ")).collect();
    updated.push_str(&head.join("\n"));
    for case in cases(&text) {
        let mut failed = |message: String| {
            failures.push(format!("{}: {}:\n{message}", path.display(), case.title));
        };
        if pass == "verify" {
            if let Err(report) = check_verify(&case) {
                failed(report);
            }
            continue;
        }
        match run_pass(pass, &case.input) {
            Err(message) => failed(message),
            Ok(found) => {
                if found.trim() != case.expected.trim() {
                    failed(format!("expected:\n{}\nfound:\n{found}", case.expected));
                }
                updated.push_str(&format!(
                    "\n//// {}\n{}\n// becomes\n{}\n",
                    case.title,
                    case.input.trim_end(),
                    found.trim_end()
                ));
            }
        }
    }
    if pass != "verify" && !failures.is_empty() && std::env::var_os("UPDATE_IR_TESTS").is_some() {
        fs::write(path, updated).expect("the file can be written");
    }
    failures
}

#[test]
fn text_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut failures = Vec::new();
    let mut count = 0;
    for folder in fs::read_dir(root).expect("the folder can be read") {
        let folder = folder.expect("the folder can be read").path();
        if !folder.is_dir() {
            continue;
        }
        for file in fs::read_dir(folder).expect("the folder can be read") {
            let file = file.expect("the folder can be read").path();
            if file.extension().is_some_and(|extension| extension == "ir") {
                failures.extend(check_file(&file));
                count += 1;
            }
        }
    }
    assert!(count > 0, "no text files found");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
