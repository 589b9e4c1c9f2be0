// SPDX-License-Identifier: Apache-2.0
//! Reads commands of a control plane in a specification: reads and writes of arrays; installing, removing and
//! listing table entries.

use super::argument::integer;
use super::codes;
use super::run::{Command, FieldSpans, KeyPattern};
use super::values::RunValues;
use document::{Fields, Messages, Node, NodeKind};
use source::Diagnostic;

const COMMANDS: &[&str] = &[
    "Array.get",
    "Array.getrange",
    "Array.set",
    "Array.setrange",
    "Table.install",
    "Table.remove",
    "Table.get",
];

/// Reads one.
pub(super) fn command(
    fields: &mut Fields<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<Command> {
    let node = fields.need(&["name"], "\"name\": \"Array.get\"");
    let example = "\"args\": {\"array\": \"a\", \"index\": 0}";
    let arguments = fields.need(&["args", "arguments"], example);
    let node = node?;
    let name = messages.text(node, "`name`")?;
    let Some(name) = COMMANDS.iter().find(|known| **known == name) else {
        let message = format!("there is no command `{name}`");
        let help = match source::nearest(name, COMMANDS.iter().copied()) {
            Some(near) => format!("`{near}` may be meant"),
            None => format!("commands are {}", COMMANDS.join(", ")),
        };
        messages.error(codes::UNKNOWN_KIND, node.span, message, &help);
        return None;
    };
    let arguments = arguments?;
    let mut parts = CommandArguments::of(arguments, name, messages)?;
    let read = match *name {
        "Array.get" => array_get(&mut parts, field_spans, false, messages),
        "Array.getrange" => array_get(&mut parts, field_spans, true, messages),
        "Array.set" => array_set(&mut parts, field_spans, false, messages),
        "Array.setrange" => array_set(&mut parts, field_spans, true, messages),
        "Table.install" => table_install(&mut parts, field_spans, messages),
        "Table.remove" => table_remove(&mut parts, field_spans, messages),
        _ => table_get(&mut parts, field_spans, messages),
    };
    parts.finish(messages);
    read
}

/// Arguments by name, or in a list in this order.
enum CommandArguments<'n> {
    Named(Fields<'n>),
    Listed { node: &'n Node, list: &'n [Node], next: usize },
}

impl<'n> CommandArguments<'n> {
    fn of(
        node: &'n Node,
        command: &'static str,
        messages: &'n Messages,
    ) -> Option<CommandArguments<'n>> {
        match &node.kind {
            NodeKind::List(list) if command.starts_with("Array") => {
                Some(CommandArguments::Listed { node, list, next: 0 })
            }
            _ => Fields::of(node, "the command's `args`", messages).map(CommandArguments::Named),
        }
    }

    /// The next argument, which has this name.
    fn need(
        &mut self,
        names: &[&'static str],
        example: &str,
        messages: &Messages,
    ) -> Option<&'n Node> {
        match self {
            CommandArguments::Named(fields) => fields.need(names, example),
            CommandArguments::Listed { node, list, next } => {
                let found = list.get(*next);
                *next += 1;
                if found.is_none() {
                    let message = format!("the command has no `{}`", names[0]);
                    let diagnostic = Diagnostic::error(codes::MISSING, node.span, message);
                    messages.push(diagnostic.help(format!("such as {{{example}}}")));
                }
                found
            }
        }
    }

    fn get(&mut self, names: &[&'static str]) -> Option<&'n Node> {
        match self {
            CommandArguments::Named(fields) => fields.get(names),
            CommandArguments::Listed { .. } => None,
        }
    }

    fn finish(self, messages: &Messages) {
        match self {
            CommandArguments::Named(fields) => fields.finish(),
            CommandArguments::Listed { list, next, .. } => {
                if let Some(further) = list.get(next) {
                    let message = format!("the command takes {next} arguments");
                    messages.error(codes::CONFLICT, further.span, message, "");
                }
            }
        }
    }
}

fn named(
    node: Option<&Node>,
    what: &str,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<String> {
    let node = node?;
    field_spans.name = node.span;
    messages.text(node, what).map(str::to_string)
}

/// First index, and one past the last for ranges.
fn indices(
    parts: &mut CommandArguments<'_>,
    range: bool,
    messages: &Messages,
) -> Option<(u64, Option<u64>)> {
    if !range {
        let index = parts.need(&["index"], "\"index\": 0", messages)?;
        return Some((messages.integer_u64(index, "`index`")?, None));
    }
    let start = parts.need(&["start"], "\"start\": 0", messages);
    let end = parts.need(&["end"], "\"end\": 8", messages);
    let start = start.and_then(|start| messages.integer_u64(start, "`start`"));
    let node = end?;
    let (start, end) = (start?, messages.integer_u64(node, "`end`")?);
    if end < start {
        let message = format!("`end` is {end}, before `start`, {start}");
        let help = "`end` is one past the last index";
        messages.error(codes::BAD_QUANTITY, node.span, message, help);
        return None;
    }
    Some((start, Some(end)))
}

fn array_get(
    parts: &mut CommandArguments<'_>,
    field_spans: &mut FieldSpans,
    range: bool,
    messages: &Messages,
) -> Option<Command> {
    let array = parts.need(&["array"], "\"array\": \"counts\"", messages);
    let array = named(array, "`array`", field_spans, messages);
    let (start, end) = indices(parts, range, messages)?;
    Some(Command::ArrayGet { array: array?, start, end })
}

fn array_set(
    parts: &mut CommandArguments<'_>,
    field_spans: &mut FieldSpans,
    range: bool,
    messages: &Messages,
) -> Option<Command> {
    let array = parts.need(&["array"], "\"array\": \"counts\"", messages);
    let array = named(array, "`array`", field_spans, messages);
    let indices = indices(parts, range, messages);
    let node = parts.need(&["value", "values"], "\"value\": [5]", messages)?;
    // A list of the cell's parts; a number alone will do.
    let list = match &node.kind {
        NodeKind::List(list) => list.as_slice(),
        _ => std::slice::from_ref(node),
    };
    field_spans.arguments = list.iter().map(|value| value.span).collect();
    let values: Vec<_> =
        list.iter().map(|value| messages.integer(value, "a value", u128::MAX)).collect();
    if !(1..=2).contains(&list.len()) {
        let message = format!("a cell has one value, or two in a pair array, not {}", list.len());
        messages.error(codes::BAD_QUANTITY, node.span, message, "");
        return None;
    }
    let values = values.into_iter().collect::<Option<Vec<_>>>()?;
    let (start, end) = indices?;
    Some(Command::ArraySet { array: array?, start, end, values })
}

fn table_name(
    parts: &mut CommandArguments<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<String> {
    let table = parts.need(&["table"], "\"table\": \"routes\"", messages);
    named(table, "`table`", field_spans, messages)
}

fn table_install(
    parts: &mut CommandArguments<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<Command> {
    let table = table_name(parts, field_spans, messages);
    let key = key(parts, field_spans, messages);
    let action = parts.need(&["action"], "\"action\": \"hit\"", messages);
    let arguments = parts.need(&["args", "arguments"], "\"args\": [1]", messages);
    let priority = parts.get(&["priority"]);
    let priority = match priority {
        Some(node) => Some(messages.integer_u32(node, "`priority`")?),
        None => None,
    };
    let action = action.and_then(|node| {
        field_spans.action = node.span;
        messages.text(node, "`action`").map(str::to_string)
    });
    let (arguments, spans) = messages.arguments(arguments?, "`args`")?;
    field_spans.arguments = spans;
    Some(Command::TableInstall { table: table?, key: key?, priority, action: action?, arguments })
}

fn table_remove(
    parts: &mut CommandArguments<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<Command> {
    let table = table_name(parts, field_spans, messages);
    let key = key(parts, field_spans, messages);
    Some(Command::TableRemove { table: table?, key: key? })
}

fn table_get(
    parts: &mut CommandArguments<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<Command> {
    Some(Command::TableGet { table: table_name(parts, field_spans, messages)? })
}

fn key(
    parts: &mut CommandArguments<'_>,
    field_spans: &mut FieldSpans,
    messages: &Messages,
) -> Option<Vec<KeyPattern>> {
    let node = parts.need(&["key"], "\"key\": [\"5<32>\"]", messages);
    let masks = parts.get(&["mask"]);
    let node = node?;
    let list = messages.list(node, "`key`")?;
    field_spans.key = list.iter().map(|field| field.span).collect();
    let patterns: Vec<_> = list.iter().map(|field| pattern(field, messages)).collect();
    let mut patterns = patterns.into_iter().collect::<Option<Vec<KeyPattern>>>()?;
    let Some(masks) = masks else { return Some(patterns) };
    let list = messages.list(masks, "`mask`")?;
    if list.len() != patterns.len() {
        let message = format!("`mask` has {} parts and `key` has {}", list.len(), patterns.len());
        let diagnostic = Diagnostic::error(codes::BAD_KEY, masks.span, message);
        messages.push(diagnostic.label(node.span, "the key"));
        return None;
    }
    for (pattern, mask) in patterns.iter_mut().zip(list) {
        let mask = mask_value(mask, messages)?;
        // Both masks count, when a pattern has its own.
        let mask = pattern.mask.map_or(mask, |own| own & mask);
        *pattern = KeyPattern { value: pattern.value & mask, mask: Some(mask) };
    }
    Some(patterns)
}

fn mask_value(node: &Node, messages: &Messages) -> Option<u128> {
    match &node.kind {
        NodeKind::Bool(value) => Some(if *value { u128::MAX } else { 0 }),
        _ => messages.integer(node, "a mask", u128::MAX),
    }
}

const KEY_HELP: &str =
    "write 5, \"5<32>\" (value and width), \"9<<24>> &&& 7\" (value and mask) or \"_\" (anything)";

/// One field of a key.
fn pattern(node: &Node, messages: &Messages) -> Option<KeyPattern> {
    let text = match &node.kind {
        NodeKind::Int(value) => return Some(KeyPattern { value: *value, mask: None }),
        NodeKind::Bool(value) => return Some(KeyPattern { value: u128::from(*value), mask: None }),
        NodeKind::Text(text) => text,
        _ => {
            messages.wrong_type(node, "a field of a key", "a number or a pattern");
            return None;
        }
    };
    match pattern_of(text) {
        Ok(pattern) => Some(pattern),
        Err(PatternError::Form) => {
            let message = format!("{text:?} is no pattern of a key");
            messages.error(codes::BAD_KEY, node.span, message, KEY_HELP);
            None
        }
        Err(PatternError::Wide(value, bits)) => {
            let message = format!("{value} does not fit {bits} bits");
            messages.error(codes::BAD_KEY, node.span, message, "");
            None
        }
    }
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternError {
    Form,
    Wide(u128, u32),
}

fn pattern_of(text: &str) -> Result<KeyPattern, PatternError> {
    let (base, mask) = match text.split_once("&&&") {
        Some((base, mask)) => (base.trim(), Some(mask.trim())),
        None => (text.trim(), None),
    };
    let any = base == "_" || base.strip_prefix("_").is_some_and(|rest| width(rest).is_some());
    if any && mask.is_none() {
        return Ok(KeyPattern { value: 0, mask: Some(0) });
    }
    if let Some(value) = match base {
        "true" => Some(1),
        "false" => Some(0),
        _ => None,
    } {
        return Ok(KeyPattern { value, mask: None });
    }
    let (value, bits) = integer(base).ok_or(PatternError::Form)?;
    if let Some(bits) = bits.filter(|bits| *bits < 128 && value >> bits != 0) {
        return Err(PatternError::Wide(value, bits));
    }
    let mask = match mask {
        Some(mask) => Some(integer(mask).ok_or(PatternError::Form)?.0),
        None => None,
    };
    let value = mask.map_or(value, |mask| value & mask);
    Ok(KeyPattern { value, mask })
}

/// `<16>` or `<<16>>`
fn width(text: &str) -> Option<u32> {
    let inner = text.trim().strip_prefix('<')?.strip_suffix('>')?;
    let inner = inner.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')).unwrap_or(inner);
    inner.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let exact = |value| Ok(KeyPattern { value, mask: None });
        let masked = |value, mask| Ok(KeyPattern { value, mask: Some(mask) });
        for (text, expected) in [
            ("5", exact(5)),
            ("5<<32>>", exact(5)),
            ("2<32>", exact(2)),
            ("0xff<8>", exact(255)),
            ("10.0.0.1", exact(0x0a00_0001)),
            ("9<<24>> &&& 7", masked(1, 7)),
            ("9<<24>>&&&7<<24>>", masked(1, 7)),
            ("10.0.0.0 &&& 255.255.255.0", masked(0x0a00_0000, 0xffff_ff00)),
            ("_<<16>>", masked(0, 0)),
            ("_<16>", masked(0, 0)),
            ("_", masked(0, 0)),
            ("true", exact(1)),
            ("256<8>", Err(PatternError::Wide(256, 8))),
            ("5<", Err(PatternError::Form)),
            ("_x", Err(PatternError::Form)),
            ("", Err(PatternError::Form)),
            ("1 &&& 2 &&& 3", Err(PatternError::Form)),
            ("_ &&& 3", Err(PatternError::Form)),
        ] {
            assert_eq!(pattern_of(text), expected, "{text:?}");
        }
    }
}
