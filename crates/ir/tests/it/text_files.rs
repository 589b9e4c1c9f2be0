// SPDX-License-Identifier: Apache-2.0
//! Runs the text files beside this one. A file names the pass it tests in a line `// test:` and holds
//! cases, each after a line `////` with its title. What a case expects depends on the pass:
//!
//! - `verify`: the errors, each after `// error:` on the line that causes it. Errors at a line that
//!   another expectation cannot reach stand in lines of the form `//! error at` with that line's start.
//! - all others: after a line `// becomes`, what the pass says or the code it leaves.
//!
//! With `PLANEWRIGHT_BLESS=1` in the environment, what is found is written behind `// becomes`.

use ir::analysis::{Analysis, Liveness, StatementInstance};
use ir::effects::{self, Effects, Location};
use ir::moments;
use ir::text::{parse_with_lines, print_code};
use ir::transactions::register_access_facts;
use ir::{Program, RegionId, SlotId};
use p4::ast::NodeId;
use std::collections::{BTreeMap, BTreeSet};
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
                (parsed.lines.get(&error.item).map_or(0, |line| *line as usize), error.message)
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
    let mut program = parse_with_lines(input).map_err(|errors| errors[0].to_string())?.program;
    let all = |errors: Vec<ir::VerifyError>| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    ir::verify(&program).map_err(|errors| format!("the input: {}", all(errors)))?;
    let output = match pass {
        "effects" => print_effects(&program),
        "effects_by_node" => print_effects_by_node(&program),
        "register_access_facts" => print_facts(&program),
        "moments" => print_moments(&program, input),
        pass => {
            match pass {
                "fold_constants" => ir::passes::fold_constants(&mut program),
                "number_values" => ir::passes::number_values(&mut program),
                "thread_jumps" => ir::passes::thread_jumps(&mut program),
                "remove_dead_code" => ir::passes::remove_dead_code(&mut program),
                "simplify" => ir::passes::simplify(&mut program),
                "fuse_register_accesses" => {
                    ir::transactions::fuse_register_accesses(&mut program);
                }
                other => return Err(format!("unknown pass `{other}`")),
            }
            print_code(&program)
        }
    };
    ir::verify(&program).map_err(|errors| format!("the output: {}", all(errors)))?;
    Ok(output)
}

fn describe(program: &Program, locations: &BTreeSet<Location>) -> String {
    let names: Vec<String> = locations.iter().map(|location| location.describe(program)).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

fn describe_effects(program: &Program, effects: &Effects) -> String {
    format!(
        "reads {}; writes {}{}",
        describe(program, &effects.reads),
        describe(program, &effects.writes),
        if effects.may_end_block { "; may end the block" } else { "" }
    )
}

/// The effects of each instruction, then the region's interface.
fn print_effects(program: &Program) -> String {
    let mut out = String::new();
    for (at, region) in program.regions.iter().enumerate() {
        out.push_str(&format!("region {}\n", region.name));
        for (number, block) in region.blocks.iter().enumerate() {
            for (index, instruction) in block.instructions.iter().enumerate() {
                let effects = effects::of_operation(program, &instruction.operation);
                let effects = describe_effects(program, &effects);
                out.push_str(&format!("  block{number}[{index}]: {effects}\n"));
            }
        }
        let id = RegionId(at as u32);
        let slots = |slots: Vec<SlotId>| {
            describe(program, &slots.into_iter().map(Location::Slot).collect())
        };
        let starts = Liveness::within_region(program, id);
        let live = starts.first().map(|start| start.iter().collect()).unwrap_or_default();
        let written = effects::of_region(program, id).slots_written();
        out.push_str(&format!("  live in: {}\n", slots(live)));
        out.push_str(&format!("  live out: {}\n", slots(written.into_iter().collect())));
    }
    out
}

fn print_effects_by_node(program: &Program) -> String {
    let mut out = String::new();
    let analysis = Analysis::of(program);
    let nodes: BTreeSet<NodeId> = program.origins.iter().filter_map(|origin| origin.node).collect();
    for (at, region) in program.regions.iter().enumerate() {
        out.push_str(&format!("region {}\n", region.name));
        for node in &nodes {
            let facts = analysis.statement(*node);
            let here = |instance: &&StatementInstance| instance.region.index() == at;
            for StatementInstance { effects, .. } in facts.instances.iter().filter(here) {
                out.push_str(&format!(
                    "  node {}: {}\n",
                    node.0,
                    describe_effects(program, effects)
                ));
            }
        }
    }
    out
}

fn print_facts(program: &Program) -> String {
    let mut out = String::new();
    for fact in register_access_facts(program) {
        let kind = match (fact.reads, fact.writes) {
            (true, true) => "read and written",
            (true, false) => "read",
            (false, true) => "written",
            (false, false) => "untouched",
        };
        out.push_str(&format!(
            "{} block{}[{}]: {} {kind}; index on {}; guard on {}{}{}{}\n",
            program.regions[fact.region.index()].name,
            fact.block.0,
            fact.instruction,
            program.registers[fact.register.index()].name,
            describe(program, &fact.index_sources),
            describe(program, &fact.guard_sources),
            if fact.index_depends_on_state { "; state chooses the cell" } else { "" },
            if fact.guard_depends_on_state { "; state decides" } else { "" },
            if fact.depends_on_tables { "; tables matter" } else { "" },
        ));
    }
    out
}

/// The stages of the moments of each region; a line `// stages: name=1 other=2` gives some of them.
fn print_moments(program: &Program, input: &str) -> String {
    let given = input.lines().find_map(|line| line.strip_prefix("// stages: ")).unwrap_or("");
    let stages: BTreeMap<String, u32> = given
        .split_whitespace()
        .map(|given| given.split_once('=').expect("a name and a stage"))
        .map(|(name, stage)| (name.to_string(), stage.parse().expect("a stage is a number")))
        .collect();
    let mut out = String::new();
    for (at, region) in program.regions.iter().enumerate() {
        if region.kind == ir::RegionKind::Action {
            continue;
        }
        out.push_str(&format!("region {}\n", region.name));
        let moments = match moments::of_region(program, RegionId(at as u32), None, &stages) {
            Ok(moments) => moments,
            Err(error) => {
                out.push_str(&format!("  {error}\n"));
                continue;
            }
        };
        for (number, block) in region.blocks.iter().enumerate() {
            for moment in moments.of_block(number) {
                let operation = &block.instructions[moment.instruction as usize].operation;
                let name = moments::name_of_moment(program, operation).map_or("", |name| name);
                let (index, stage) = (moment.instruction, moment.stage);
                out.push_str(&format!("  block{number}[{index}]: {name} in stage {stage}\n"));
            }
        }
        out.push_str(&format!("  last stage: {:?}\n", moments.last_stage()));
    }
    out
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
            Err(message) => {
                failed(message);
                let (input, expected) = (case.input.trim_end(), case.expected.trim_end());
                let title = case.title;
                updated.push_str(&format!("\n//// {title}\n{input}\n// becomes\n{expected}\n"));
            }
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
    if pass != "verify" && !failures.is_empty() && testing::golden::is_blessing() {
        fs::write(path, updated).expect("the file can be written");
    }
    failures
}

#[test]
fn text_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
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
