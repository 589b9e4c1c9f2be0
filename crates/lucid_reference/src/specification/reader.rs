// SPDX-License-Identifier: Apache-2.0
//! Reads a specification from a tree of values: the fields of the whole file, symbolics and externs. Events,
//! links and expectations have files of their own; docs/lucid-runs.md describes all fields.

use super::codes;
use super::network::Network;
use super::run::{Argument, Input, Links, PS_PER_NS, Run};
use super::values::{CONVENTIONS, RunValues};
use super::{expectations, inputs, network};
use document::{Fields, Format, Messages, Node, NodeKind};
use lucid::elaborate::Symbolics;
use source::{Diagnostic, Diagnostics, FileId, SourceMap};

/// Most switches of a run.
pub const MAX_SWITCHES: u32 = 65_536;

/// Reads a run's specification. There is a run unless the diagnostics hold an error.
pub fn read(map: &SourceMap, file: FileId, format: Format) -> (Option<Run>, Diagnostics) {
    read_until(map, file, format, None)
}

/// The same, with this end of the run, in picoseconds, instead of the specification's.
pub fn read_until(
    map: &SourceMap,
    file: FileId,
    format: Format,
    until_ps: Option<u64>,
) -> (Option<Run>, Diagnostics) {
    let messages = Messages::new(&CONVENTIONS, format);
    let root = messages.parse(file, map.text(file));
    let run = root.and_then(|root| read_run(&root, until_ps, &messages));
    (run.filter(|_| !messages.has_errors()), messages.into_diagnostics())
}

/// Whether a file is a specification with expectations.
pub fn has_expectations(text: &str, format: Format) -> bool {
    let messages = Messages::new(&CONVENTIONS, format);
    let mut map = SourceMap::new();
    let file = map.add("", text.to_string());
    match messages.parse(file, text).map(|root| root.kind) {
        Some(NodeKind::Object(fields)) => {
            fields.iter().any(|field| document::normalized(&field.name) == "expect")
        }
        _ => false,
    }
}

/// Reads a file of symbolics: an object with `sizes` and `symbolics`, as the reference
/// implementation's `.symb` files.
pub fn read_symbolics(
    map: &SourceMap,
    file: FileId,
    format: Format,
) -> (Option<Symbolics>, Diagnostics) {
    let messages = Messages::new(&CONVENTIONS, format);
    let root = messages.parse(file, map.text(file));
    let mut symbolics = Symbolics::default();
    if let Some(root) = &root
        && let Some(mut fields) = Fields::of(root, "a file of symbolics", &messages)
    {
        read_values(&mut fields, &mut symbolics, &messages);
        fields.finish();
    }
    (Some(symbolics).filter(|_| !messages.has_errors()), messages.into_diagnostics())
}

/// An entry that a run gets while it goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveEntry {
    /// As an entry of `events`.
    Input(Box<Input>),
    /// `{"until": TIME}`: the run goes on until this time, in picoseconds.
    Until(u64),
}

/// Reads an entry for a run that goes on. There is one unless the diagnostics hold an error.
pub fn read_entry(map: &SourceMap, file: FileId, run: &Run) -> (Option<LiveEntry>, Diagnostics) {
    let messages = Messages::new(&CONVENTIONS, Format::Json);
    let root = messages.parse(file, map.text(file));
    let is_until = |root: &Node| match &root.kind {
        NodeKind::Object(fields) => {
            fields.iter().any(|field| document::normalized(&field.name) == "until")
        }
        _ => false,
    };
    let entry = root.and_then(|root| match is_until(&root) {
        true => {
            let mut fields = Fields::of(&root, "an entry", &messages)?;
            let until = fields.get(&["until"]).and_then(|node| messages.time(node, "`until`"));
            fields.finish();
            until.map(LiveEntry::Until)
        }
        false => inputs::input(&root, &Network::of(run), run.max_time_ps, &messages)
            .map(|input| LiveEntry::Input(Box::new(input))),
    });
    (entry.filter(|_| !messages.has_errors()), messages.into_diagnostics())
}

fn read_run(root: &Node, until_ps: Option<u64>, messages: &Messages) -> Option<Run> {
    let mut fields = Fields::of(root, "a run", messages)?;
    let mut run = Run {
        program: fields.text("program").map(str::to_string),
        symbolics_file: fields.text("symbolics file").map(str::to_string),
        ..Run::default()
    };
    read_values(&mut fields, &mut run.symbolics, messages);

    let switches = fields.get(&["switches"]);
    if let Some(node) = switches {
        let most = u128::from(MAX_SWITCHES);
        if let Some(count) = messages.integer(node, "`switches`", most) {
            if count == 0 {
                // The reference implementation takes 0 as 1.
                messages.push(
                    Diagnostic::warning(
                        codes::REPLACED,
                        node.span,
                        "a run has 1 switch at least, so this one has 1 and not 0",
                    )
                    .help("write \"switches\": 1, or leave `switches` out"),
                );
            }
            run.switches = (count as u32).max(1);
        }
    }
    run.recirculation_ports = vec![lucid::core::DEFAULT_RECIRCULATION_PORT; run.switches as usize];
    if let Some(node) = fields.get(&["recirculation ports"]) {
        read_recirculation_ports(node, &mut run, messages);
    }
    let mut network = Network::new(run.switches, switches.map(|node| node.span));
    match fields.get(&["links"]) {
        Some(node) => run.links = network::links(node, &mut network, messages),
        None if run.switches > 1 => {
            let span = switches.map_or(root.span, |node| node.span);
            let message = format!("the {} switches have no links", run.switches);
            messages.push(
                Diagnostic::warning(codes::NOT_CONNECTED, span, message)
                    .help("write \"links\": \"full mesh\", or {\"0:1\": \"1:1\"} for a link"),
            );
        }
        None => {}
    }
    network.full_mesh = run.links == Links::FullMesh;
    run.port_places.extend(network.places());

    read_times(&mut fields, &mut run, messages);
    run.max_time_ps = until_ps.unwrap_or(run.max_time_ps);
    if let Some(node) = fields.get(&["drop chance"]) {
        let percent = messages.float(node, "`drop chance`");
        match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
            Some(percent) => run.drop_chance_percent = percent,
            None if percent.is_some() => messages.error(
                codes::BAD_QUANTITY,
                node.span,
                "`drop chance` lies between 0 and 100 percent",
                "",
            ),
            None => {}
        }
    }
    if let Some(node) = fields.get(&["random seed", "seed"]) {
        run.seed = messages.integer_u64(node, "the seed").unwrap_or(0);
    }
    run.stop_on_out_of_range = fields.truth("stop on out of range").unwrap_or(false);
    if let Some(node) = fields.get(&["externs"]) {
        read_externs(node, &mut run, messages);
    }
    if let Some(node) = fields.get(&["events"]) {
        run.inputs = inputs::inputs(node, &network, run.max_time_ps, messages);
    }
    if let Some(node) = fields.get(&["expect"]) {
        run.expectations = expectations::expectations(node, &network, run.max_time_ps, messages);
    }
    for (name, why) in [
        ("python file", "calls of extern functions are shown in the log, not run"),
        ("python path", "extern functions are not run in Python"),
        ("control pipe", "commands stand in `events`"),
    ] {
        if let Some(field) = fields.field(&[name]) {
            let message = format!("`{name}` has no effect here: {why}");
            messages.push(Diagnostic::warning(codes::NO_EFFECT, field.name_span, message));
        }
    }
    fields.finish();
    Some(run)
}

fn read_times(fields: &mut Fields<'_>, run: &mut Run, messages: &Messages) {
    let least_ps = PS_PER_NS;
    if let Some(node) = fields.get(&["max time"]) {
        run.max_time_ps = messages.time(node, "`max time`").unwrap_or(run.max_time_ps);
    }
    if let Some(node) = fields.get(&["default input gap"]) {
        // The reference implementation takes 0 as 1.
        let gap = messages.time(node, "`default input gap`").map(|gap| gap.max(least_ps));
        run.default_input_gap_ps = gap.unwrap_or(least_ps);
    }
    if let Some(node) = fields.get(&["generate delay"]) {
        let delay = messages.time(node, "`generate delay`");
        run.generate_delay_ps = delay.unwrap_or(run.generate_delay_ps);
    }
    if let Some(node) = fields.get(&["propagate delay"]) {
        run.propagate_delay_ps = messages.time(node, "`propagate delay`").unwrap_or(0);
    }
    // A range of n nanoseconds is 0 to n - 1, as in the reference implementation.
    if let Some(node) = fields.get(&["random delay range", "random delay"]) {
        let range = messages.time(node, "`random delay range`").unwrap_or(0);
        run.random_delay_range_ps = range.saturating_sub(least_ps);
    }
    if let Some(node) = fields.get(&["random propagate range"]) {
        let range = messages.time(node, "`random propagate range`").unwrap_or(0);
        run.random_propagate_range_ps = range.saturating_sub(least_ps);
    }
    if let Some(node) = fields.get(&["delay granularity"]) {
        let granularity = messages.time(node, "`delay granularity`");
        match granularity {
            Some(1..PS_PER_NS) => messages.error(
                codes::BAD_QUANTITY,
                node.span,
                "`delay granularity` is 0, or 1 ns at least: switches take an event a nanosecond",
                "",
            ),
            _ => run.delay_granularity_ps = granularity.unwrap_or(0),
        }
        run.delay_granularity_place = node.span;
    }
}

fn read_recirculation_ports(node: &Node, run: &mut Run, messages: &Messages) {
    // One number is for all switches.
    if let NodeKind::Int(_) = node.kind {
        if let Some(port) = messages.integer_u32(node, "a recirculation port") {
            run.recirculation_ports.fill(port);
            // All switches have the same.
            run.port_places.insert((0, port), node.span);
        }
        return;
    }
    let Some(list) = messages.list(node, "`recirculation_ports`") else { return };
    let ports: Vec<_> =
        list.iter().map(|port| messages.integer_u32(port, "a recirculation port")).collect();
    if check_count(node, list.len(), run.switches, "`recirculation_ports`", messages)
        && let Some(ports) = ports.into_iter().collect()
    {
        run.recirculation_ports = ports;
        for (node, (switch, port)) in list.iter().zip((0..).zip(&run.recirculation_ports)) {
            run.port_places.insert((switch, *port), node.span);
        }
    }
}

fn check_count(node: &Node, found: usize, switches: u32, what: &str, messages: &Messages) -> bool {
    let right = found == switches as usize;
    if !right {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let message = format!(
            "{what} has {found} value{} for {switches} switch{}",
            plural(found),
            if switches == 1 { "" } else { "es" }
        );
        let help = "write one value for each switch, that of switch 0 first";
        messages.error(codes::COUNT_OF_SWITCHES, node.span, message, help);
    }
    right
}

fn read_externs(node: &Node, run: &mut Run, messages: &Messages) {
    let NodeKind::Object(externs) = &node.kind else {
        messages.wrong_type(node, "`externs`", "an object with a list for each extern");
        return;
    };
    for field in externs {
        let what = format!("the extern `{}`", field.name);
        let values: Vec<Argument> = match &field.value.kind {
            NodeKind::List(list) => {
                check_count(&field.value, list.len(), run.switches, &what, messages);
                list.iter().filter_map(|value| messages.argument(value)).collect()
            }
            // One value is for all switches.
            NodeKind::Int(_) | NodeKind::Bool(_) | NodeKind::Text(_) => {
                let value = messages.argument(&field.value);
                value.into_iter().cycle().take(run.switches as usize).collect()
            }
            _ => {
                messages.wrong_type(&field.value, &what, "a list with a value for each switch");
                continue;
            }
        };
        run.externs.entry(field.name.clone()).or_insert(values);
        run.extern_places.entry(field.name.clone()).or_insert(field.name_span);
    }
}

/// `sizes` and `symbolics`.
fn read_values(fields: &mut Fields<'_>, symbolics: &mut Symbolics, messages: &Messages) {
    for (name, what) in [("sizes", "a size"), ("symbolics", "a symbolic value")] {
        let Some(node) = fields.get(&[name]) else { continue };
        let NodeKind::Object(values) = &node.kind else {
            messages.wrong_type(node, &format!("`{name}`"), "an object with a value for each name");
            continue;
        };
        for field in values {
            if name == "symbolics" {
                symbolic_value(&field.name, &field.value, symbolics, messages);
                symbolics.value_places.entry(field.name.clone()).or_insert(field.name_span);
            } else if let Some(value) = messages.integer(&field.value, what, u128::MAX) {
                symbolics.sizes.entry(field.name.clone()).or_insert(value);
                symbolics.size_places.entry(field.name.clone()).or_insert(field.name_span);
            }
        }
    }
}

/// A symbolic value; those of vectors and records are given by their parts, `v[0]` and `r#a`.
fn symbolic_value(name: &str, node: &Node, symbolics: &mut Symbolics, messages: &Messages) {
    let value = match &node.kind {
        NodeKind::Bool(value) => Some(u128::from(*value)),
        NodeKind::List(elements) => {
            for (at, element) in elements.iter().enumerate() {
                symbolic_value(&format!("{name}[{at}]"), element, symbolics, messages);
            }
            None
        }
        NodeKind::Object(fields) => {
            for field in fields {
                let name = format!("{name}#{}", field.name);
                symbolic_value(&name, &field.value, symbolics, messages);
            }
            None
        }
        _ => messages.integer(node, "a symbolic value", u128::MAX),
    };
    if let Some(value) = value {
        symbolics.values.entry(name.to_owned()).or_insert(value);
    }
}
