// SPDX-License-Identifier: Apache-2.0
//! A small program and hand-written observations of a run, for the tests of reports.

use crate::interpreter::{CallArgument, EventValue, Place, Value};
use crate::simulation::{Destination, DropReason, Observation, ObservationKind, Occurrence, Stage};
use lucid::core::NO_PORT;
use lucid::core::{
    Action, ActionId, Event, EventId, Global, GlobalId, GlobalKind, Local, Program, Table, Type,
};
use lucid::syntax::ast::EventSort;
use source::Span;
use std::sync::Arc;

/// `request(src, ok)` and `reply(value)`; an array, a pair array, a counter and a table.
pub(crate) fn program() -> Program {
    let local = |name: &str, ty| Local { name: Arc::from(name), ty, span: Span::NONE };
    let event = |name: &str, parameters: Vec<Local>| Event {
        name: Arc::from(name),
        declared_name: Arc::from(name),
        global_arguments: Vec::new(),
        span: Span::NONE,
        sort: EventSort::Background,
        wire_number: 1,
        parameters,
        handler: None,
        egress_handler: None,
        control_handler: None,
    };
    let global = |name: &str, kind| Global { name: Arc::from(name), span: Span::NONE, kind };
    let action = Action {
        name: Arc::from("hit"),
        span: Span::NONE,
        parameters: vec![local("port", Type::Int(9))],
        install_count: 1,
        results: Vec::new(),
    };
    let table = Table {
        key_widths: vec![32, 16],
        argument_types: Vec::new(),
        result_types: vec![Type::Int(9)],
        result_names: Vec::new(),
        capacity: 4,
        actions: vec![ActionId(0)],
        default_action: ActionId(0),
        default_arguments: Vec::new(),
    };
    Program {
        globals: vec![
            global("counts", GlobalKind::Array { width_bits: 32, length: 4 }),
            global("pairs", GlobalKind::PairArray { width_bits: 16, length: 2 }),
            global("total", GlobalKind::Counter { width_bits: 32, initial: 5 }),
            global("routes", GlobalKind::Table(table)),
        ],
        events: vec![
            event("request", vec![local("src", Type::Int(32)), local("ok", Type::Bool)]),
            event("reply", vec![local("value", Type::Int(32))]),
        ],
        actions: vec![action],
        ..Program::default()
    }
}

pub(crate) fn request(src: u128, ok: bool) -> Arc<EventValue> {
    let arguments = vec![Value::Int(src), Value::Bool(ok)];
    Arc::new(EventValue { event: EventId(0), arguments, delay_ns: 0, place: Place::Here })
}

pub(crate) fn reply(value: u128) -> Arc<EventValue> {
    let arguments = vec![Value::Int(value)];
    Arc::new(EventValue { event: EventId(1), arguments, delay_ns: 0, place: Place::Here })
}

/// Each kind of observation at least once: a request at switch 0 that is sent on to switch 1, which
/// replies; the reply leaves, another is lost.
pub(crate) fn observations() -> Vec<Observation> {
    use ObservationKind::*;
    let at = |time_ns: u64, switch, kind| Observation { time_ps: time_ns * 1000, switch, kind };
    let handled = |occurrence, cause: Option<u64>, event, port, stage| Handled {
        occurrence: Occurrence(occurrence),
        cause: cause.map(Occurrence),
        event,
        port,
        stage,
        is_packet: occurrence == 0,
        draws: Vec::new(),
        dequeue_depth: 0,
    };
    let generated = |occurrence, by, event, destination| Generated {
        occurrence: Occurrence(occurrence),
        by: Occurrence(by),
        event,
        destination,
    };
    let by = Occurrence(0);
    vec![
        at(0, 0, Link { ends: [(0, 1), (1, 1)], up: true }),
        at(5, 0, Commanded { text: "Array.set(counts, 0, 7)".to_string(), result: None }),
        at(100, 0, handled(0, None, request(1, true), 3, Stage::Ingress)),
        at(100, 0, Printed { by, text: "hello \"you\"".to_string() }),
        at(
            100,
            0,
            Accessed {
                by,
                global: GlobalId(0),
                index: 2,
                before: vec![4],
                after: vec![5],
                result: Some(4),
            },
        ),
        at(
            100,
            0,
            Accessed {
                by,
                global: GlobalId(1),
                index: 1,
                before: vec![0, 0],
                after: vec![1, 2],
                result: None,
            },
        ),
        at(
            100,
            0,
            LookedUp { by, table: GlobalId(3), key: vec![10, 20], action: ActionId(0), hit: true },
        ),
        at(100, 0, OutOfRange { by, global: GlobalId(0), index: 9 }),
        at(100, 0, TableFull { by, table: GlobalId(3) }),
        at(
            100,
            0,
            Called {
                by,
                function: Arc::from("log"),
                arguments: vec![
                    CallArgument::Text(Arc::from("src")),
                    CallArgument::Value(Value::Int(1)),
                ],
            },
        ),
        at(
            100,
            0,
            generated(
                1,
                0,
                request(2, false),
                Destination::Port { port: 1, to: Some((1, 1)), arrives_ps: 700_500 },
            ),
        ),
        at(
            100,
            0,
            generated(2, 0, reply(9), Destination::Port { port: 4, to: None, arrives_ps: 700_000 }),
        ),
        at(100, 0, generated(3, 0, reply(10), Destination::Recirculated { due_ps: 900_000 })),
        at(
            100,
            0,
            generated(4, 0, reply(11), Destination::Switch { switch: 1, arrives_ps: 800_000 }),
        ),
        at(100, 0, handled(2, Some(0), reply(9), 4, Stage::Egress)),
        at(
            100,
            0,
            Left {
                occurrence: Occurrence(2),
                event: reply(9),
                port: 4,
                bytes: Some(Arc::from([9])),
                frame: None,
            },
        ),
        Observation {
            time_ps: 700_500,
            switch: 1,
            kind: handled(1, Some(0), request(2, false), 1, Stage::Ingress),
        },
        at(
            750,
            1,
            Left {
                occurrence: Occurrence(6),
                event: reply(12),
                port: NO_PORT,
                bytes: None,
                frame: None,
            },
        ),
        at(
            800,
            1,
            Dropped {
                occurrence: Occurrence(4),
                event: Some(reply(11)),
                reason: DropReason::LinkDown,
            },
        ),
        at(900, 0, handled(3, Some(0), reply(10), 196, Stage::Ingress)),
        at(950, 0, Dropped { occurrence: Occurrence(5), event: None, reason: DropReason::Parser }),
        at(
            1000,
            1,
            Commanded {
                text: "Array.get(counts, 0)".to_string(),
                result: Some(serde_json::json!({"array": "counts", "index": 0, "value": [7]})),
            },
        ),
    ]
}
