// SPDX-License-Identifier: Apache-2.0
//! Snapshots of rendered diagnostics, and that no span, however odd, is too much for the renderer.

use super::{RenderOptions, render_json, render_text};
use crate::{Code, Diagnostic, Diagnostics, MacroUse, SourceMap, Span};

fn one_file(text: &str) -> (SourceMap, impl Fn(u32, u32) -> Span) {
    let mut map = SourceMap::new();
    let file = map.add("switch.p4", text);
    (map, move |start, end| Span::new(file, start, end))
}

fn text(map: &SourceMap, diagnostic: Diagnostic) -> String {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    let rendered = render_text(map, &diagnostics, RenderOptions::default());
    rendered.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn error(span: Span) -> Diagnostic {
    Diagnostic::error(Code("P4-E0101"), span, "this is wrong")
}

#[test]
fn labels_notes_and_help() {
    let (map, span) = one_file("bit<8> port = 1;\nbit<16> port = 2;\n");
    let diagnostic = error(span(25, 29))
        .here("declared again")
        .label(span(7, 11), "first declared here")
        .note("names in one scope differ")
        .help("choose another name");
    testing::assert_snapshot!(text(&map, diagnostic));
}

#[test]
fn warning_without_a_place() {
    let map = SourceMap::new();
    let warning = Diagnostic::warning(Code("P4-W0001"), Span::NONE, "nothing to do");
    testing::assert_snapshot!(text(&map, warning.help("do something")));
}

#[test]
fn ends_and_empty_spans() {
    let (map, span) = one_file("control C() {\r\n    apply {\r\n");
    testing::assert_snapshot!(text(&map, error(span(28, 28)).here("`}` is missing")));
    let (map, span) = one_file("");
    testing::assert_snapshot!("empty_file", text(&map, error(span(0, 0)).here("empty")));
}

#[test]
fn characters_of_several_bytes() {
    let (map, span) = one_file("// größe\nconst bit<8> größe = 1; // 数\n");
    testing::assert_snapshot!(text(&map, error(span(24, 31)).here("not a name")));
}

#[test]
fn long_line_is_cut_around_the_mark() {
    let line = format!("{}HERE{}", "abcdefghi ".repeat(500), " jklmnopqr".repeat(500));
    let (map, span) = one_file(&line);
    testing::assert_snapshot!(text(&map, error(span(5000, 5004)).here("this one")));
}

#[test]
fn far_labels_and_other_files() {
    let mut map = SourceMap::new();
    let lines: String = (1..=60).map(|line| format!("line {line}\n")).collect();
    let first = map.add("a.p4", lines);
    let second = map.add("b.p4", "first\nsecond\n");
    let diagnostic = error(Span::new(first, 400, 404))
        .here("here")
        .label(Span::new(first, 0, 4), "far above")
        .label(Span::new(second, 6, 12), "elsewhere");
    testing::assert_snapshot!(text(&map, diagnostic));
}

#[test]
fn span_over_many_lines() {
    let lines: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let (map, span) = one_file(&lines);
    testing::assert_snapshot!("many_lines", text(&map, error(span(2, 200)).here("all of this")));
    testing::assert_snapshot!("three_lines", text(&map, error(span(2, 18)).here("all of this")));
}

#[test]
fn macro_use_is_noted() {
    let (mut map, span) = one_file("#define PORT 8w1 +\nx = PORT;\n");
    let macro_use = MacroUse { name: "PORT".into(), definition: span(8, 12) };
    map.record_macro_use(span(23, 27), macro_use);
    testing::assert_snapshot!(text(&map, error(span(23, 27))));
}

#[test]
fn colours_only_when_asked() {
    let (map, span) = one_file("x\n");
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(error(span(0, 1)));
    let plain = render_text(&map, &diagnostics, RenderOptions { color: false });
    let colored = render_text(&map, &diagnostics, RenderOptions { color: true });
    assert!(!plain.contains('\x1b'));
    assert!(colored.contains('\x1b'));
}

#[test]
fn json() {
    let (map, span) = one_file("// größe\nx = y;\n");
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(error(span(15, 16)).here("unknown").label(span(5, 10), "a word").note("n"));
    diagnostics.push(Diagnostic::warning(Code("P4-W0001"), Span::NONE, "nothing").help("h"));
    let value: serde_json::Value =
        serde_json::from_str(&render_json(&map, &diagnostics)).expect("JSON");
    testing::assert_snapshot!(serde_json::to_string_pretty(&value).expect("JSON"));
}

#[test]
fn no_span_is_too_odd() {
    for content in ["", "\n", "\r\n", "a", "ä\nö\r\n\n", "\u{feff}x\ty\u{200b}\n", "a\n\n\n"] {
        let (map, span) = one_file(content);
        let end = content.len() as u32 + 3;
        for start in 0..=end {
            for stop in start.saturating_sub(1)..=end {
                let mut diagnostics = Diagnostics::new();
                diagnostics.push(error(span(start, stop)).label(span(stop, start), "label"));
                assert!(render_text(&map, &diagnostics, RenderOptions::default()).len() > 20);
                assert!(render_json(&map, &diagnostics).len() > 20);
            }
        }
    }
}
