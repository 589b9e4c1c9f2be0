// SPDX-License-Identifier: Apache-2.0
//! Rules of Tofino's compiler that P4_16 does not know, on the printed programs of all examples: what a
//! parser may select on, indexes of stateful tables, conditions of register actions.

use crate::tna::{example, examples, small};
use std::collections::BTreeMap;

/// Texts from a line that begins so to its closing brace, by what follows on that line.
fn blocks<'t>(text: &'t str, begins: &str) -> Vec<(String, Vec<&'t str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    let mut indent = None;
    for line in text.lines() {
        let (depth, trimmed) = (line.len() - line.trim_start().len(), line.trim());
        match indent {
            None => {
                if let Some(name) = trimmed.strip_prefix(begins).filter(|_| line.ends_with('{')) {
                    let name = name.split([' ', '(']).next().unwrap_or("");
                    found.push((name.to_string(), Vec::new()));
                    indent = Some(depth);
                }
            }
            Some(outer) if depth == outer && trimmed.starts_with('}') => indent = None,
            Some(_) => {
                if let Some((_, lines)) = found.last_mut() {
                    lines.push(trimmed);
                }
            }
        }
    }
    found
}

fn printed() -> Vec<(String, String)> {
    let print = |path: std::path::PathBuf| {
        (path.display().to_string(), example(&path).compiled.built.print())
    };
    examples().into_iter().map(print).collect()
}

/// The parser has no access to what is behind it: it selects on what the same state extracts, or looks ahead.
#[test]
fn ingress_parsers_select_on_what_is_there() {
    let mut selects = 0;
    for (name, text) in printed() {
        let start = text.find("parser IngressParser(").expect("a parser");
        let end = text[start..].find("\ncontrol ").map_or(text.len(), |at| start + at);
        for (state, lines) in blocks(&text[start..end], "state ") {
            let body = lines.join(" ");
            let Some((_, keys)) = body.split_once("select(") else { continue };
            selects += 1;
            let keys = keys.split('{').next().unwrap_or("");
            for key in keys.split(',').map(|key| key.trim().trim_end_matches(')')) {
                let header = match key.split('.').collect::<Vec<_>>().as_slice() {
                    ["hdr", header, ..] => format!("hdr.{header}"),
                    ["ig_intr_md", ..] => "ig_intr_md".to_string(),
                    _ => continue,
                };
                let extracts = format!("pkt.extract({header});");
                assert!(body.contains(&extracts), "{name}: state {state} selects on {key}");
            }
        }
    }
    assert!(selects > 100, "{selects}");
}

/// All memory operations of a table have one index.
#[test]
fn a_table_has_one_index_of_each_register() {
    let two = "global Array.t<32> seen = Array.create(16);
         memop plus(int stored, int x) { return stored + x; }
         event one(int<4> i); event two(int<8> pad, int<4> at);
         handle one(int<4> i) { if (i == 3) { Array.setm(seen, 0, plus, 1); } else { Array.setm(seen, i, plus, 1); } }
         handle two(int<8> pad, int<4> at) { Array.setm(seen, at, plus, 2); }";
    let mut programs = printed();
    programs.push(("two indexes".to_string(), small(two).compiled.built.print()));
    let mut compared = 0;
    for (name, text) in programs {
        let actions: BTreeMap<String, String> = blocks(&text, "action ")
            .into_iter()
            .map(|(action, lines)| (action, lines.concat()))
            .collect();
        let tables = text.lines().enumerate().filter(|(_, line)| line.contains("table "));
        for (at, table) in tables.filter(|(_, line)| line.ends_with('{')) {
            let lines = text.lines().skip(at).skip_while(|line| line.trim() != "actions = {");
            let listed = lines.skip(1).take_while(|line| line.trim() != "}");
            let mut indexes: Vec<&str> = Vec::new();
            for action in listed {
                let body = actions.get(action.trim().trim_end_matches(';'));
                let Some((_, call)) = body.and_then(|body| body.split_once(".execute(")) else {
                    continue;
                };
                let index = call.split(");").next().unwrap_or("");
                if !indexes.contains(&index) {
                    indexes.push(index);
                }
                compared += 1;
            }
            assert!(indexes.len() <= 1, "{name}: {table}: {indexes:?}");
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Conditions see whole cells: hardware has no slices there.
#[test]
fn conditions_of_register_actions_have_no_slices() {
    let mut conditions = 0;
    for (name, text) in printed() {
        for (action, lines) in blocks(&text, "RegisterAction<") {
            for line in lines.iter().filter(|line| line.contains("if (")) {
                conditions += 1;
                assert!(!line.contains('['), "{name}: {action}: {line}");
            }
        }
    }
    assert!(conditions > 8, "{conditions}");
}

/// A stateful ALU compares without wrapping around, and takes no constant of 32 bits.
#[test]
fn comparisons_have_no_steps() {
    let compared = |condition: &str| {
        let made = small(&format!(
            "global Array.t<32> a = Array.create(4);
             memop m(int stored, int x) {{ if ({condition}) {{ return stored; }} else {{ return x; }} }}
             event e(int x); handle e(int x) {{ Array.setm(a, 1, m, x); }}"
        ));
        let text = made.compiled.built.print();
        let at = text.find("if (value").expect("a condition");
        text[at..].lines().next().unwrap_or("").to_string()
    };
    assert_eq!(compared("stored - 1 < x"), "if (value != 32w0 && value <= hdr.in_e.x) {");
    assert_eq!(compared("stored - 1 >= x"), "if (value == 32w0 || value > hdr.in_e.x) {");
    assert_eq!(compared("x > stored - 1"), "if (value != 32w0 && value <= hdr.in_e.x) {");
    // The greatest value of 32 bits is no constant that the ALU takes.
    assert_eq!(compared("stored + 1 > x"), "if (value + 32w1 > hdr.in_e.x) {");
    assert_eq!(compared("stored < x"), "if (value < hdr.in_e.x) {");
}
