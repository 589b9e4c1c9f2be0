// SPDX-License-Identifier: Apache-2.0
//! Specifications of runs: the same run in three notations, messages about wrong ones, and that no
//! text whatever makes the reader panic. `PLANEWRIGHT_BLESS=1` writes the messages anew.

use lucid_reference::specification::{
    Argument, Command, Count, ExpectationKind, FieldSpans, Format, Gap, InputKind, KeyPattern,
    LifecycleStep, Link, Links, Run, read, read_symbolics,
};
use proptest::prelude::*;
use source::{Diagnostics, RenderOptions, SourceMap, Span};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/specification").join(name)
}

fn read_text(name: &str, text: &str) -> (Option<Run>, Diagnostics, SourceMap) {
    let mut map = SourceMap::new();
    let file = map.add(name, text);
    let (run, diagnostics) = read(&map, file, Format::of_name(name));
    (run, diagnostics, map)
}

fn without_places(mut run: Run) -> Run {
    for input in &mut run.inputs {
        input.field_spans = FieldSpans::default();
    }
    for expectation in &mut run.expectations {
        expectation.field_spans = FieldSpans::default();
    }
    for place in run.extern_places.values_mut().chain(run.port_places.values_mut()) {
        *place = Span::NONE;
    }
    run.symbolics.size_places.clear();
    run.symbolics.value_places.clear();
    run.delay_granularity_place = Span::NONE;
    run
}

fn sound(name: &str) -> Run {
    let text = std::fs::read_to_string(folder("same").join(name)).expect("a specification");
    let (run, diagnostics, map) = read_text(name, &text);
    let said = source::render_text(&map, &diagnostics, RenderOptions::default());
    assert!(diagnostics.is_empty(), "{said}");
    run.expect("no errors, so a run")
}

#[test]
fn three_notations_say_the_same() {
    let json = without_places(sound("everything.json"));
    assert_eq!(json, without_places(sound("everything.yaml")));
    assert_eq!(json, without_places(sound("everything.toml")));
}

#[test]
fn what_a_specification_says() {
    let run = sound("everything.json");
    assert_eq!(run.program.as_deref(), Some("flows.dpt"));
    assert_eq!(run.symbolics_file.as_deref(), Some("flows.symb"));
    assert_eq!((run.symbolics.sizes["width"], run.symbolics.values["strict"]), (16, 1));
    let plain = Link {
        ends: [(1, 2), (2, 1)],
        latency_ps: None,
        jitter_ps: None,
        loss: None,
        rate_bps: None,
    };
    let first = Link {
        ends: [(0, 1), (1, 1)],
        latency_ps: Some(5_000_000),
        jitter_ps: Some(100_000),
        loss: Some(0.01),
        rate_bps: Some(10_000_000_000),
    };
    let last = Link { ends: [(0, 2), (2, 2)], ..plain.clone() };
    assert_eq!(run.links, Links::List(vec![first, plain, last]));
    assert_eq!((run.max_time_ps, run.generate_delay_ps), (1_000_000_000, 600_000));
    // "Range 11" is 0 to 10 nanoseconds.
    assert_eq!((run.random_delay_range_ps, run.random_propagate_range_ps), (10_000, 5_000));
    assert_eq!((run.drop_chance_percent, run.seed, run.stop_on_out_of_range), (2.0, 7, true));
    assert_eq!(run.externs["mask"], vec![Argument::Int(255); 3]);
    let input = &run.inputs[0];
    assert_eq!(
        (input.time_ps, input.locations.as_slice()),
        (Some(1_000_000), &[(0, 3), (2, 5)][..])
    );
    let InputKind::Event { name, arguments } = &input.kind else { panic!("an event") };
    assert_eq!((name.as_str(), arguments[0].as_int()), ("request", Some((1, None))));
    assert_eq!(arguments[3].as_int(), Some((255, None)));
    assert_eq!(arguments[4].as_int(), Some((0x0a00_0001, Some(32))));
    let InputKind::Command(Command::TableInstall { key, priority, .. }) = &run.inputs[8].kind
    else {
        panic!("an installation")
    };
    let pattern = |value, mask| KeyPattern { value, mask: Some(mask) };
    assert_eq!(*key, vec![pattern(5, 255), pattern(0, 0), pattern(1, 3), pattern(3, 15)]);
    assert_eq!(*priority, Some(10));
    let InputKind::Generator(generator) = &run.inputs[13].kind else { panic!("a generator") };
    assert_eq!(generator.gap, Gap::Exponential(1e6));
    assert_eq!(run.inputs[16].kind, InputKind::Link { ends: [(0, 1), (1, 1)], up: false });
    let ExpectationKind::Event { what, arguments, count, .. } = &run.expectations[0].kind else {
        panic!("an event")
    };
    assert_eq!((*what, *count), (LifecycleStep::Handled, Count { least: 3, most: Some(3) }));
    assert_eq!(arguments.as_ref().map(|list| list[1].is_none()), Some(true));
}

#[test]
fn places_are_those_of_the_values() {
    for name in ["everything.json", "everything.yaml", "everything.toml"] {
        let text = std::fs::read_to_string(folder("same").join(name)).expect("a specification");
        let (run, _, map) = read_text(name, &text);
        let run = run.expect("a run");
        let at = |span| map.slice(span).trim_matches('"').to_string();
        let first = &run.inputs[0].field_spans;
        assert_eq!((at(first.name), at(first.arguments[4])), ("request".into(), "10.0.0.1".into()));
        assert_eq!(at(first.arguments[2]).trim_start_matches("&pair "), "[1, 2]", "{name}");
        let install = &run.inputs[8].field_spans;
        assert_eq!(at(install.action), "routes.hit");
        assert_eq!(at(install.key[2]), "9<<24>> &&& 7");
        assert_eq!(at(run.extern_places["role"]), "role");
        let whole = map.slice(run.inputs[2].field_spans.whole).to_string();
        if name.ends_with("toml") {
            // The head stands for the whole table.
            assert_eq!(whole, "[[events]]");
            continue;
        }
        assert!(whole.contains("spread") && !whole.contains("packet"), "{name}: {whole}");
    }
}

#[test]
fn defaults_are_the_reference_implementations() {
    let (run, diagnostics, _) = read_text("x.json", "{}");
    assert!(diagnostics.is_empty());
    assert_eq!(run, Some(Run::default()));
    let (run, _, _) = read_text("x.json", "{\"switches\": 0, \"default input gap\": 0}");
    assert_eq!(run, Some(Run::default()));
}

#[test]
fn symbolics_files() {
    let mut map = SourceMap::new();
    let text = "{\"sizes\": {\"a\": 32}, \"symbolics\": {\"n\": 4, \"b\": true, \"m\": \"0xf\"}}";
    let file = map.add("x.symb", text);
    let (symbolics, diagnostics) = read_symbolics(&map, file, Format::of_name("x.symb"));
    assert!(diagnostics.is_empty());
    let symbolics = symbolics.expect("values");
    assert_eq!(symbolics.sizes["a"], 32);
    assert_eq!((symbolics.values["n"], symbolics.values["b"], symbolics.values["m"]), (4, 1, 15));
    let file = map.add("y.symb", "{\"sizes\": {\"a\": \"wide\"}, \"symbolic\": {}}");
    let (symbolics, diagnostics) = read_symbolics(&map, file, Format::Json);
    assert_eq!((symbolics, diagnostics.len()), (None, 2));
}

#[test]
fn messages_about_wrong_specifications() {
    testing::golden::check_folder(&folder("wrong"), 18, |name, text| {
        let (run, diagnostics, map) = read_text(name, text);
        assert!(!diagnostics.is_empty(), "{name}: nothing is reported");
        assert_eq!(run.is_none(), diagnostics.has_errors(), "{name}");
        source::render_text(&map, &diagnostics, RenderOptions::default())
    });
}

#[test]
fn every_code_has_examples_that_are_true() {
    for explanation in lucid_reference::specification::EXPLANATIONS {
        // What needs a program besides has no example in one file.
        if explanation.wrong.is_empty() {
            continue;
        }
        let codes = |text: &str| {
            let (_, diagnostics, _) = read_text("x.json", text);
            diagnostics.iter().map(|each| each.code).collect::<Vec<_>>()
        };
        let code = explanation.code;
        assert_eq!(codes(explanation.wrong), [code], "{}", explanation.wrong);
        assert_eq!(codes(explanation.right), [], "{}", explanation.right);
    }
}

/// Values that all three notations can write.
#[derive(Clone, Debug)]
enum Value {
    Bool(bool),
    Int(u64),
    Text(String),
    List(Vec<Value>),
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<u64>().prop_map(|value| Value::Int(value >> 1)),
        "[ -~é\u{1f600}]{0,12}".prop_map(Value::Text),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::List))
}

/// JSON, which is TOML too for these values, and YAML with every text quoted.
fn written(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::List(list) => {
            let parts: Vec<String> = list.iter().map(written).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

fn argument(value: &Value) -> Argument {
    match value {
        Value::Bool(value) => Argument::Bool(*value),
        Value::Int(value) => Argument::Int(u128::from(*value)),
        Value::Text(text) => Argument::Text(text.clone()),
        Value::List(list) => Argument::List(list.iter().map(argument).collect()),
    }
}

/// Pieces of real specifications, put together at random: most are nearly right.
fn pieces() -> impl Strategy<Value = String> {
    let texts: Vec<String> = ["everything.json", "everything.yaml", "everything.toml"]
        .iter()
        .map(|name| std::fs::read_to_string(folder("same").join(name)).expect("a file"))
        .collect();
    let cut = (0..texts.len(), any::<prop::sample::Index>(), 0..200_usize);
    let piece = cut.prop_map(move |(which, start, length)| {
        let characters: Vec<char> = texts[which].chars().collect();
        let start = start.index(characters.len());
        characters[start..(start + length).min(characters.len())].iter().collect::<String>()
    });
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

fn reads_without_panic(text: &str) {
    for name in ["x.json", "x.yaml", "x.toml"] {
        let (run, diagnostics, map) = read_text(name, text);
        assert_eq!(run.is_none(), diagnostics.has_errors());
        source::render_text(&map, &diagnostics, RenderOptions::default());
        source::render_json(&map, &diagnostics);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(200)))]

    #[test]
    fn arguments_are_the_same_in_all_notations(values in prop::collection::vec(value(), 0..5)) {
        let list = written(&Value::List(values.clone()));
        let expected: Vec<Argument> = values.iter().map(argument).collect();
        for (name, text) in [
            ("x.json", format!("{{\"events\": [{{\"name\": \"e\", \"args\": {list}}}]}}")),
            ("x.yaml", format!("events:\n  - name: e\n    args: {list}\n")),
            ("x.toml", format!("[[events]]\nname = \"e\"\nargs = {list}\n")),
        ] {
            let (run, diagnostics, map) = read_text(name, &text);
            let said = source::render_text(&map, &diagnostics, RenderOptions::default());
            prop_assert!(diagnostics.is_empty(), "{}: {}", text, said);
            let kind = run.and_then(|run| run.inputs.into_iter().next()).map(|input| input.kind);
            let wanted = InputKind::Event { name: "e".to_string(), arguments: expected.clone() };
            prop_assert_eq!(kind, Some(wanted));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        reads_without_panic(&text);
    }

    #[test]
    fn no_pieces_make_it_panic(text in pieces()) {
        reads_without_panic(&text);
    }

    #[test]
    fn no_changed_specification_makes_it_panic(
        at in any::<prop::sample::Index>(),
        replaced in 0..6_usize,
        by in "[\\[\\]{}:,\"'&*#_<>|0-9a-z \n\té-]{0,4}",
        which in 0..3_usize,
    ) {
        let name = ["everything.json", "everything.yaml", "everything.toml"][which];
        let text = std::fs::read_to_string(folder("same").join(name)).expect("a file");
        let mut characters: Vec<char> = text.chars().collect();
        let start = at.index(characters.len());
        let end = (start + replaced).min(characters.len());
        characters.splice(start..end, by.chars());
        reads_without_panic(&characters.into_iter().collect::<String>());
    }
}

/// What docs/lucid-runs.md shows is read without a word.
#[test]
fn the_documentation_is_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lucid-runs.md");
    let document = std::fs::read_to_string(path).expect("the document");
    let mut blocks: Vec<String> = vec![String::new()];
    for line in document.lines() {
        match line.strip_prefix("    ") {
            Some(code) => {
                let block = blocks.last_mut().expect("one at least");
                // Several fields of one name in a block are alternatives.
                if code.starts_with('"') && block.starts_with('"') {
                    blocks.push(format!("{code}\n"));
                } else {
                    block.push_str(code);
                    block.push('\n');
                }
            }
            None if blocks.last().is_some_and(|block| !block.is_empty()) => {
                blocks.push(String::new());
            }
            None => {}
        }
    }
    let mut read = 0;
    for block in blocks {
        let text = match block.chars().next() {
            Some('{') => block,
            Some('"') => format!("{{\"switches\": 3, {block}}}"),
            _ => continue,
        };
        let (run, diagnostics, map) = read_text("x.json", &text);
        let said = source::render_text(&map, &diagnostics, RenderOptions::default());
        assert!(run.is_some() && diagnostics.is_empty(), "{text}\n{said}");
        read += 1;
    }
    assert!(read >= 4, "only {read} examples were found");
    // Every field that the reader knows is described, by the message about one that it does not.
    for counter in lucid_reference::specification::COUNTERS {
        assert!(document.contains(&format!("`{counter}`")), "{counter}");
    }
}
