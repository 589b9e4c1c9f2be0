// SPDX-License-Identifier: Apache-2.0
//! Specifications against a program: what each explanation of a code says is wrong gets the code and
//! what is right does not; tables by command, generators, captures, and a switch as a node.

use super::build::*;
use super::log::{check, run as run_logged};
use lucid::core::*;
use lucid_reference::simulation::codes::{EXPLANATIONS, TABLE_FULL};
use lucid_reference::simulation::{LucidNode, Setup};
use lucid_reference::specification::{
    CaptureEvent, Draw, FieldSpans, Format, Gap, Generator, Input, InputKind, Run, read,
};
use network::capture::{CaptureError, PcapEncoder};
use network::links::LinkOptions;
use network::node::Recorder;
use network::simulation::Simulation as Network;
use source::{SourceMap, Span};
use std::sync::Arc;

const INT8: Type = Type::Int(8);

/// The program that the explanations name.
fn example() -> Arc<Program> {
    let mut builder = Builder::new().array("hits", 16, 8);
    builder.program.externs.push(Extern { name: Arc::from("limit"), span: Span::NONE, ty: INT8 });
    builder.program.actions.push(Action {
        name: Arc::from("give"),
        span: Span::NONE,
        parameters: locals(&[("v", INT8), ("x", INT8)]),
        install_count: 1,
        results: vec![local(0, INT8)],
    });
    let table = Table {
        key_widths: vec![8],
        argument_types: vec![INT8],
        result_types: vec![INT8],
        result_names: vec![Arc::from("")],
        capacity: 2,
        actions: vec![ActionId(0)],
        default_action: ActionId(0),
        default_arguments: vec![Constant::Int(0, 8)],
    };
    builder
        .global("routes", GlobalKind::Table(table))
        .event(
            "request",
            &[("client", INT8), ("is_urgent", Type::Bool)],
            &[("found", INT8)],
            vec![
                set_cell(0, int(0, 3), int(1, 16)),
                statement(StatementKind::Lookup {
                    table: GlobalId(1),
                    key: vec![local(0, INT8)],
                    arguments: vec![int(0, 8)],
                    results: vec![LocalId(2)],
                }),
                statement(StatementKind::Print { pieces: vec![PrintPiece::Value(local(2, INT8))] }),
            ],
        )
        .done()
}

fn specification(text: &str) -> Run {
    let mut map = SourceMap::new();
    let file = map.add("run.json", text);
    match read(&map, file, Format::of_name("run.json")) {
        (Some(run), _) => run,
        (None, found) => panic!("{text}: {found:?}"),
    }
}

#[test]
fn explanations_say_what_happens() {
    let program = example();
    for explanation in EXPLANATIONS.iter().filter(|explanation| !explanation.wrong.is_empty()) {
        let found = Setup::new(program.clone(), &specification(explanation.wrong));
        let found = found.err().unwrap_or_default();
        assert!(
            found.iter().any(|diagnostic| diagnostic.code == explanation.code),
            "{}: {found:?}",
            explanation.code
        );
        if let Err(found) = Setup::new(program.clone(), &specification(explanation.right)) {
            panic!("{}: what is right: {found:?}", explanation.code);
        }
    }
}

/// Lower priorities count first; a full table takes nothing and says so once.
#[test]
fn tables_by_command() {
    let entry = |key: &str, value: u32, priority: u32| {
        format!(
            "{{\"type\": \"command\", \"name\": \"Table.install\", \"timestamp\": 0, \"args\": \
             {{\"table\": \"routes\", \"key\": [\"{key}\"], \"action\": \"give\", \"args\": \
             [{value}], \"priority\": {priority}}}}}"
        )
    };
    let text = format!(
        "{{\"externs\": {{\"limit\": [3]}}, \"events\": [{}, {}, {}, {}, {}, {}]}}",
        entry("4 &&& 4", 1, 20),
        entry("5", 2, 10),
        entry("6", 3, 10),
        "{\"name\": \"request\", \"args\": [5, true], \"timestamp\": 1}",
        "{\"name\": \"request\", \"args\": [6, true], \"timestamp\": 2}",
        "{\"name\": \"request\", \"args\": [1, true], \"timestamp\": 3}",
    );
    let (simulation, _, lines) = run_logged(&example(), &specification(&text));
    let printed: Vec<&String> = lines.iter().filter(|line| line.contains('"')).collect();
    assert_eq!(printed, ["1 0 \"2\"", "2 0 \"1\"", "3 0 \"0\""]);
    let warnings: Vec<_> = simulation.warnings().iter().map(|warning| warning.code).collect();
    assert_eq!(warnings, [TABLE_FULL]);
    assert_eq!(simulation.counts(0).unwrap_or_default().tables_full, 1);
}

/// `event seen(int<8> a) {}`
fn seen() -> Arc<Program> {
    Builder::new().event("seen", &[("a", INT8)], &[], vec![]).done()
}

fn input_of(kind: InputKind) -> Input {
    Input {
        time_ps: Some(5_000),
        locations: vec![(0, 1)],
        kind,
        field_spans: FieldSpans::default(),
    }
}

#[test]
fn generators_make_events_as_they_go() {
    let mut run = run(1);
    run.inputs = vec![input_of(InputKind::Generator(Generator {
        name: "seen".to_string(),
        arguments: vec![Draw::Sequence { start: 254, step: 1 }],
        count: 3,
        gap: Gap::Constant(2_000),
    }))];
    check(&seen(), &run, &["5 0:1 seen(254)", "7 0:1 seen(255)", "9 0:1 seen(0)"]);
    run.inputs = vec![input_of(InputKind::Generator(Generator {
        name: "seen".to_string(),
        arguments: vec![Draw::Uniform(3, 300)],
        count: 3,
        gap: Gap::Exponential(1e6),
    }))];
    let found = Setup::new(seen(), &run).err().unwrap_or_default();
    assert!(found.iter().any(|error| error.message.contains("do not fit in int<8>")), "{found:?}");
}

#[test]
fn captures_become_events() {
    let captured = || -> Result<Vec<u8>, CaptureError> {
        let mut encoder = PcapEncoder::new(Vec::new())?;
        encoder.write(1_000_000, &[0; 60])?;
        encoder.write(4_000_000, &[0; 61])?;
        encoder.finish()
    };
    let file = match captured() {
        Ok(file) => file,
        Err(error) => panic!("{error}"),
    };
    let mut run = run(1);
    let event = |field: &str| {
        let event = CaptureEvent { name: "seen".into(), arguments: vec![field.into()] };
        InputKind::Capture { file: "c.pcap".into(), event: Some(event), time_scale: 0.5 }
    };
    run.inputs = vec![input_of(event("length"))];
    let setup = Setup::with_captures(seen(), &run, &mut |name| {
        if name == "c.pcap" { Ok(file.clone()) } else { Err("no such file".into()) }
    });
    let Ok(setup) = setup else { panic!("{setup:?}") };
    let mut simulation = lucid_reference::simulation::Simulation::new(Arc::new(setup));
    let mut log = super::log::Log::new(seen());
    simulation.run(&mut log);
    assert_eq!(log.lines, ["5 0:1 seen(60)", "1505 0:1 seen(61)"]);
    run.inputs = vec![input_of(event("ipv4.sorce"))];
    let found = Setup::new(seen(), &run).err().unwrap_or_default();
    assert!(found.iter().any(|error| error.message.contains("no field")), "{found:?}");
}

/// Host - switch - switch: an event crosses from one Lucid switch to the other as a frame.
#[test]
fn a_switch_stands_among_other_nodes() {
    let on = event_value(0, vec![local(0, INT8)]);
    let program = Builder::new()
        .array("heard", 8, 4)
        .event(
            "hop",
            &[("to", INT8)],
            &[],
            vec![
                set_cell(0, int(0, 2), local(0, INT8)),
                generate_to(on, Destination::Port(local(0, INT8))),
            ],
        )
        .done();
    let node = || match Setup::new(program.clone(), &run(1)) {
        Ok(setup) => LucidNode::new(setup),
        Err(found) => panic!("{found:?}"),
    };
    // Both addresses, the type of Lucid's frames, the event's number, its argument.
    let mut frame = vec![0; 12];
    frame.extend(LUCID_ETHER_TYPE.to_be_bytes());
    frame.extend([0, 1, 2]);
    let mut network = Network::new(0);
    let host = network.add("h", Recorder::new(vec![(1_000, frame.clone())]));
    let [one, other] = [network.add("s1", node()), network.add("s2", node())];
    let options = LinkOptions { latency_ps: 500, ..LinkOptions::default() };
    for (from, to) in [((host, 0), (one, 1)), ((one, 2), (other, 2))] {
        assert_eq!(network.connect(from, to, options), Ok(()));
    }
    // The second switch sends the event back by its port 2, and so on; three hops are enough.
    assert_eq!(network.run_until(2_000_000).map(|_| ()), Ok(()));
    let handled = |id| network.node::<LucidNode>(id).map(|node| node.simulation().handled());
    assert_eq!((handled(one), handled(other)), (Some(2), Some(2)));
    let state = network.node::<LucidNode>(other).and_then(|node| node.simulation().state(0));
    let cell = state.and_then(|state| state.cells(GlobalId(0))).and_then(|cells| cells.get(0));
    assert_eq!(cell, Some([2, 0]));
}
