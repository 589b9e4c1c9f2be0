// SPDX-License-Identifier: Apache-2.0
//! Reads entries of `events`: events, packets, generators, captures, changes of links. `commands` reads
//! commands.

use super::argument::{BytesError, bytes};
use super::codes;
use super::network::Network;
use super::quantities::EVENT_RATE;
use super::run::{Argument, CaptureEvent, Draw, FieldSpans, Gap, Generator, Input, InputKind};
use super::values::RunValues;
use super::{argument, commands};
use document::{Fields, Messages, Node, NodeKind, normalized};
use source::Diagnostic;

const TYPES: &[&str] = &["event", "packet", "command", "generator", "capture", "link"];

/// All entries of `events`.
pub(super) fn inputs(
    node: &Node,
    network: &Network,
    max_time_ps: u64,
    messages: &Messages,
) -> Vec<Input> {
    let Some(list) = messages.list(node, "`events`") else { return Vec::new() };
    let read = |entry| input(entry, network, max_time_ps, messages);
    list.iter().filter_map(read).collect()
}

/// One entry.
pub(super) fn input(
    node: &Node,
    network: &Network,
    max_time_ps: u64,
    messages: &Messages,
) -> Option<Input> {
    let mut fields = Fields::of(node, "an entry of `events`", messages)?;
    let kind = match fields.get(&["type"]) {
        Some(kind) => normalized(messages.text(kind, "`type`")?),
        None => "event".to_string(),
    };
    let mut field_spans = FieldSpans { whole: node.span, ..FieldSpans::default() };
    let read = match kind.as_str() {
        "event" => event(&mut fields, &mut field_spans, messages),
        "packet" => packet(&mut fields, &mut field_spans, messages),
        "command" => {
            commands::command(&mut fields, &mut field_spans, messages).map(InputKind::Command)
        }
        "generator" => generator(&mut fields, &mut field_spans, messages),
        "capture" => capture(&mut fields, &mut field_spans, messages),
        "link" => link(&mut fields, network, messages),
        _ => {
            let message = format!("there is no entry of type `{kind}`");
            let help = match source::nearest(&kind, TYPES.iter().copied()) {
                Some(near) => format!("`{near}` may be meant"),
                None => format!("types are {}", TYPES.join(", ")),
            };
            let span = fields.get(&["type"]).map_or(node.span, |kind| kind.span);
            messages.error(codes::UNKNOWN_KIND, span, message, &help);
            return None;
        }
    };
    let time = fields.get(&["timestamp", "time"]);
    let time_ps = time.and_then(|node| messages.time(node, "`timestamp`"));
    if let (Some(node), Some(time_ps)) = (time, time_ps)
        && time_ps > max_time_ps
    {
        messages.push(
            Diagnostic::warning(
                codes::TOO_LATE,
                node.span,
                "this never happens: the run ends before it",
            )
            .note(format!("the run ends at {} ns", max_time_ps / 1000))
            .help("it ends as `max time` or --until says"),
        );
    }
    let locations = match fields.get(&["locations", "location"]) {
        Some(node) if kind != "link" => locations(node, network, messages),
        _ => vec![(0, 0)],
    };
    fields.finish();
    Some(Input { time_ps, locations, kind: read?, field_spans })
}

fn locations(node: &Node, network: &Network, messages: &Messages) -> Vec<(u32, u32)> {
    match &node.kind {
        NodeKind::List(list) => {
            list.iter().filter_map(|place| network.location(place, messages)).collect()
        }
        NodeKind::Text(text) if text == "all" => {
            (0..network.switches).map(|each| (each, 0)).collect()
        }
        _ => network.location(node, messages).into_iter().collect(),
    }
}

fn event(
    fields: &mut Fields<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<InputKind> {
    let name = fields.need(&["name"], "\"name\": \"request\"");
    let arguments = fields.need(&["args", "arguments"], "\"args\": [1, 2]");
    let name = name.and_then(|node| {
        field_spans.name = node.span;
        messages.text(node, "`name`")
    });
    let (arguments, spans) = messages.arguments(arguments?, "`args`")?;
    field_spans.arguments = spans;
    Some(InputKind::Event { name: name?.to_string(), arguments })
}

fn packet(
    fields: &mut Fields<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<InputKind> {
    let node = fields.need(&["bytes"], "\"bytes\": \"00 1b\"")?;
    field_spans.arguments = vec![node.span];
    let text = messages.text(node, "`bytes`")?;
    match bytes(text) {
        Ok(bytes) => Some(InputKind::Packet { bytes }),
        Err(BytesError::Odd(digits)) => {
            let message = format!("{digits} hexadecimal digits are no whole number of bytes");
            let help = "write two digits for each byte";
            messages.error(codes::BAD_BYTES, node.span, message, help);
            None
        }
        Err(BytesError::Character(character, at)) => {
            let message = format!("{character:?} is no hexadecimal digit (character {})", at + 1);
            messages.error(codes::BAD_BYTES, node.span, message, "write two digits for each byte");
            None
        }
    }
}

fn generator(
    fields: &mut Fields<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<InputKind> {
    let name = fields.need(&["name"], "\"name\": \"request\"");
    let arguments = fields.need(&["args", "arguments"], "\"args\": [1, 2]");
    let count = fields.need(&["count"], "\"count\": 1000");
    let name = name.and_then(|node| {
        field_spans.name = node.span;
        messages.text(node, "`name`")
    });
    let draws: Option<Vec<Draw>> = arguments.and_then(|node| {
        let list = messages.list(node, "`args`")?;
        field_spans.arguments = list.iter().map(|argument| argument.span).collect();
        let draws: Vec<_> = list.iter().map(|argument| draw(argument, messages)).collect();
        draws.into_iter().collect()
    });
    let count = count.and_then(|node| messages.integer_u64(node, "`count`"));
    let gap = gap(fields, messages);
    Some(InputKind::Generator(Generator {
        name: name?.to_string(),
        arguments: draws?,
        count: count?,
        gap: gap?,
    }))
}

fn gap(fields: &mut Fields<'_>, messages: &Messages) -> Option<Gap> {
    let (gap, rate) = (fields.get(&["gap"]), fields.get(&["rate"]));
    let random = match fields.get(&["arrivals"]) {
        Some(node) => match messages.text(node, "`arrivals`")? {
            "poisson" | "exponential" => true,
            "even" | "constant" => false,
            other => {
                let message = format!("`arrivals` is \"even\" or \"poisson\", not {other:?}");
                messages.error(codes::UNKNOWN_KIND, node.span, message, "");
                return None;
            }
        },
        None => false,
    };
    let of = |picoseconds: f64| match random {
        true => Gap::Exponential(picoseconds),
        false => Gap::Constant(picoseconds.round() as u64),
    };
    match (gap, rate) {
        (Some(gap), Some(rate)) => {
            let message = "a generator has a gap or a rate, not both";
            let diagnostic = Diagnostic::error(codes::CONFLICT, rate.span, message);
            messages.push(diagnostic.label(gap.span, "the gap"));
            None
        }
        (Some(node), None) => match &node.kind {
            NodeKind::Object(_) => {
                let mut fields = Fields::of(node, "a gap", messages)?;
                let example = "{\"exponential\": \"5us\"}";
                let mean = fields.need(&["exponential", "mean"], example);
                fields.finish();
                let mean = messages.time(mean?, "the mean of a gap")?;
                Some(Gap::Exponential(mean as f64))
            }
            _ => Some(of(messages.time(node, "`gap`")? as f64)),
        },
        (None, Some(node)) => {
            let expected = "a number of events a second above 0, such as 1000 or \"2Mpps\"";
            let rate = messages.quantity(node, "`rate`", &EVENT_RATE, Some(1), expected)?;
            if rate == 0 {
                messages.wrong_value(node, "`rate`", expected);
                return None;
            }
            Some(of(1e12 / rate as f64))
        }
        // As for inputs without a timestamp.
        (None, None) => Some(of(1e3)),
    }
}

/// An argument of a generator.
fn draw(node: &Node, messages: &Messages) -> Option<Draw> {
    let NodeKind::Object(_) = node.kind else {
        return messages.argument(node).map(Draw::Constant);
    };
    let mut fields = Fields::of(node, "a distribution", messages)?;
    let drawn = if let Some(node) = fields.get(&["uniform"]) {
        uniform(node, messages)
    } else if let Some(node) = fields.get(&["zipf"]) {
        zipf(node, messages)
    } else if let Some(node) = fields.get(&["sequence"]) {
        sequence(node, messages)
    } else {
        let message = "a distribution is `uniform`, `zipf` or `sequence`";
        let help = "such as {\"uniform\": [0, 99]}, {\"zipf\": {\"items\": 1000, \"exponent\": \
                    1.1}} or {\"sequence\": {\"start\": 0, \"step\": 1}}";
        messages.error(codes::UNKNOWN_KIND, node.span, message, help);
        return None;
    };
    fields.finish();
    drawn
}

fn uniform(node: &Node, messages: &Messages) -> Option<Draw> {
    let list = messages.list(node, "`uniform`")?;
    let [low, high] = list else {
        let message = "`uniform` is a list of the least and the greatest value";
        messages.error(codes::BAD_QUANTITY, node.span, message, "such as [0, 99]");
        return None;
    };
    let low = messages.integer(low, "the least value", u128::MAX);
    let high = messages.integer(high, "the greatest value", u128::MAX);
    let (low, high) = (low?, high?);
    if low > high {
        let message = format!("the least value {low} is above the greatest, {high}");
        messages.error(codes::BAD_QUANTITY, node.span, message, "write the smaller one first");
        return None;
    }
    Some(Draw::Uniform(low, high))
}

fn zipf(node: &Node, messages: &Messages) -> Option<Draw> {
    let (items, exponent, offset) = match &node.kind {
        NodeKind::Object(_) => {
            let mut fields = Fields::of(node, "`zipf`", messages)?;
            let items = fields.need(&["items"], "{\"items\": 1000}")?;
            let (exponent, offset) = (fields.get(&["exponent"]), fields.get(&["offset"]));
            fields.finish();
            (items, exponent, offset)
        }
        _ => (node, None, None),
    };
    let count = messages.integer_u64(items, "the number of items")?;
    let exponent = match exponent {
        Some(node) => {
            let exponent = messages.float(node, "the exponent")?;
            if exponent < 0.0 {
                messages.wrong_type(node, "the exponent", "zero or more");
                return None;
            }
            exponent
        }
        None => 1.0,
    };
    let offset = match offset {
        Some(node) => messages.integer(node, "the offset", u128::MAX)?,
        None => 0,
    };
    if count == 0 {
        messages.error(codes::BAD_QUANTITY, items.span, "there have to be items to draw from", "");
        return None;
    }
    Some(Draw::Zipf { items: count, exponent, offset })
}

fn sequence(node: &Node, messages: &Messages) -> Option<Draw> {
    let (start, step) = match &node.kind {
        NodeKind::Object(_) => {
            let mut fields = Fields::of(node, "`sequence`", messages)?;
            let (start, step) = (fields.get(&["start"]), fields.get(&["step"]));
            fields.finish();
            (start, step)
        }
        NodeKind::List(list) if list.len() <= 2 => (list.first(), list.get(1)),
        _ => (Some(node), None),
    };
    let number = |node: Option<&Node>, what: &str, default: u128| match node {
        Some(node) => messages.integer(node, what, u128::MAX),
        None => Some(default),
    };
    let (start, step) = (number(start, "the start", 0), number(step, "the step", 1));
    Some(Draw::Sequence { start: start?, step: step? })
}

fn capture(
    fields: &mut Fields<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<InputKind> {
    let file = fields.need(&["file"], "\"file\": \"trace.pcap\"");
    let file = file.and_then(|node| messages.text(node, "`file`"));
    let name = fields.get(&["name", "event"]);
    let arguments = fields.get(&["args", "arguments"]);
    let scale = match fields.get(&["time scale"]) {
        Some(node) => {
            let scale = messages.float(node, "`time scale`");
            if scale.is_some_and(|scale| scale < 0.0) {
                messages.wrong_type(node, "`time scale`", "zero or more");
                return None;
            }
            scale?
        }
        None => 1.0,
    };
    let event = match name {
        Some(node) => {
            field_spans.name = node.span;
            let name = messages.text(node, "`name`")?.to_string();
            let example = "\"args\": [\"ipv4.src\", \"ipv4.dst\"]";
            let arguments = match arguments {
                Some(node) => capture_arguments(node, field_spans, messages)?,
                None => {
                    let message = "a capture that makes events has no `args`";
                    let diagnostic = Diagnostic::error(codes::MISSING, field_spans.whole, message);
                    messages.push(diagnostic.help(format!("such as {example}")));
                    return None;
                }
            };
            Some(CaptureEvent { name, arguments })
        }
        None => None,
    };
    Some(InputKind::Capture { file: file?.to_string(), event, time_scale: scale })
}

/// Names of header fields, or numbers.
fn capture_arguments(
    node: &Node,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<Vec<String>> {
    let list = messages.list(node, "`args`")?;
    field_spans.arguments = list.iter().map(|argument| argument.span).collect();
    let names: Vec<Option<String>> = list
        .iter()
        .map(|argument| match messages.argument(argument)? {
            Argument::Text(name) => Some(match argument::integer(&name) {
                Some((value, _)) => value.to_string(),
                None => normalized(&name).replace(' ', "_"),
            }),
            Argument::Int(value) => Some(value.to_string()),
            Argument::Bool(value) => Some(u8::from(value).to_string()),
            Argument::List(_) => {
                messages.wrong_type(argument, "an argument", "a field's name or a number");
                None
            }
        })
        .collect();
    names.into_iter().collect()
}

fn link(fields: &mut Fields<'_>, network: &Network, messages: &Messages) -> Option<InputKind> {
    let node = fields.need(&["link", "ends"], "\"link\": \"0:1\"");
    let state = fields.need(&["state"], "\"state\": \"down\"");
    let up = state.and_then(|node| match &node.kind {
        NodeKind::Text(text) if text == "up" => Some(true),
        NodeKind::Text(text) if text == "down" => Some(false),
        _ => {
            messages.wrong_type(node, "`state`", "\"up\" or \"down\"");
            None
        }
    });
    let node = node?;
    let one = match &node.kind {
        NodeKind::List(list) => {
            let ends: Vec<_> = list.iter().map(|end| network.location(end, messages)).collect();
            match ends.as_slice() {
                [Some(from), Some(to)] if network.other_end(*from) != Some(*to) => {
                    no_link(node, *from, Some(*to), network, messages);
                    return None;
                }
                [Some(from), Some(_)] | [Some(from)] => *from,
                _ if ends.contains(&None) => return None,
                _ => {
                    messages.error(codes::BAD_LINK, node.span, "a link has two ends", "");
                    return None;
                }
            }
        }
        _ => network.location(node, messages)?,
    };
    match network.other_end(one) {
        Some(other) => Some(InputKind::Link { ends: [one, other], up: up? }),
        None => {
            no_link(node, one, None, network, messages);
            None
        }
    }
}

fn no_link(
    node: &Node,
    from: (u32, u32),
    to: Option<(u32, u32)>,
    network: &Network,
    messages: &Messages,
) {
    let name = |end: (u32, u32)| format!("{}:{}", end.0, end.1);
    let message = match to {
        Some(to) => format!("there is no link from {} to {}", name(from), name(to)),
        None => format!("there is no link at {}", name(from)),
    };
    let mut diagnostic = Diagnostic::error(codes::BAD_LINK, node.span, message);
    if let Some(other) = network.other_end(from) {
        diagnostic =
            diagnostic.note(format!("the link at {} leads to {}", name(from), name(other)));
    }
    messages.push(diagnostic);
}
