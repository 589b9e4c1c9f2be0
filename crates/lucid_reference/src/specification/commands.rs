// SPDX-License-Identifier: Apache-2.0
//! Commands of a control plane in a specification: arrays are read and written, entries of tables
//! installed, removed and listed.

use super::argument::integer;
use super::codes;
use super::document::{Kind, Node};
use super::fields::{Fields, Messages};
use super::run::{Command, KeyPattern, Places};
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
    places: &mut Places,
    messages: &mut Messages,
) -> Option<Command> {
    let node = fields.need(&["name"], "\"name\": \"Array.get\"", messages);
    let example = "\"args\": {\"array\": \"a\", \"index\": 0}";
    let arguments = fields.need(&["args", "arguments"], example, messages);
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
    let mut parts = Parts::of(arguments, name, messages)?;
    let read = match *name {
        "Array.get" => array_get(&mut parts, places, false, messages),
        "Array.getrange" => array_get(&mut parts, places, true, messages),
        "Array.set" => array_set(&mut parts, places, false, messages),
        "Array.setrange" => array_set(&mut parts, places, true, messages),
        "Table.install" => table_install(&mut parts, places, messages),
        "Table.remove" => table_remove(&mut parts, places, messages),
        _ => table_get(&mut parts, places, messages),
    };
    parts.finish(messages);
    read
}

/// Arguments by name, or in a list in this order.
enum Parts<'n> {
    Named(Fields<'n>),
    Listed { node: &'n Node, list: &'n [Node], next: usize },
}

impl<'n> Parts<'n> {
    fn of(node: &'n Node, command: &'static str, messages: &mut Messages) -> Option<Parts<'n>> {
        match &node.kind {
            Kind::List(list) if command.starts_with("Array") => {
                Some(Parts::Listed { node, list, next: 0 })
            }
            _ => Fields::of(node, "the command's `args`", messages).map(Parts::Named),
        }
    }

    /// The next argument, which has this name.
    fn need(
        &mut self,
        names: &[&'static str],
        example: &str,
        messages: &mut Messages,
    ) -> Option<&'n Node> {
        match self {
            Parts::Named(fields) => fields.need(names, example, messages),
            Parts::Listed { node, list, next } => {
                let found = list.get(*next);
                *next += 1;
                if found.is_none() {
                    let message = format!("the command has no `{}`", names[0]);
                    let diagnostic = Diagnostic::error(codes::MISSING, node.span, message);
                    messages.list.push(diagnostic.help(format!("such as {{{example}}}")));
                }
                found
            }
        }
    }

    fn get(&mut self, names: &[&'static str]) -> Option<&'n Node> {
        match self {
            Parts::Named(fields) => fields.get(names),
            Parts::Listed { .. } => None,
        }
    }

    fn finish(self, messages: &mut Messages) {
        match self {
            Parts::Named(fields) => fields.finish(messages),
            Parts::Listed { list, next, .. } => {
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
    places: &mut Places,
    messages: &mut Messages,
) -> Option<String> {
    let node = node?;
    places.name = node.span;
    messages.text(node, what).map(str::to_string)
}

/// First index, and one past the last for ranges.
fn indices(
    parts: &mut Parts<'_>,
    range: bool,
    messages: &mut Messages,
) -> Option<(u64, Option<u64>)> {
    if !range {
        let index = parts.need(&["index"], "\"index\": 0", messages)?;
        return Some((messages.long(index, "`index`")?, None));
    }
    let start = parts.need(&["start"], "\"start\": 0", messages);
    let end = parts.need(&["end"], "\"end\": 8", messages);
    let start = start.and_then(|start| messages.long(start, "`start`"));
    let node = end?;
    let (start, end) = (start?, messages.long(node, "`end`")?);
    if end < start {
        let message = format!("`end` is {end}, before `start`, {start}");
        let help = "`end` is one past the last index";
        messages.error(codes::BAD_QUANTITY, node.span, message, help);
        return None;
    }
    Some((start, Some(end)))
}

fn array_get(
    parts: &mut Parts<'_>,
    places: &mut Places,
    range: bool,
    messages: &mut Messages,
) -> Option<Command> {
    let array = parts.need(&["array"], "\"array\": \"counts\"", messages);
    let array = named(array, "`array`", places, messages);
    let (start, end) = indices(parts, range, messages)?;
    Some(Command::ArrayGet { array: array?, start, end })
}

fn array_set(
    parts: &mut Parts<'_>,
    places: &mut Places,
    range: bool,
    messages: &mut Messages,
) -> Option<Command> {
    let array = parts.need(&["array"], "\"array\": \"counts\"", messages);
    let array = named(array, "`array`", places, messages);
    let indices = indices(parts, range, messages);
    let node = parts.need(&["value", "values"], "\"value\": [5]", messages)?;
    // A list of the cell's parts; a number alone will do.
    let list = match &node.kind {
        Kind::List(list) => list.as_slice(),
        _ => std::slice::from_ref(node),
    };
    places.arguments = list.iter().map(|value| value.span).collect();
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
    parts: &mut Parts<'_>,
    places: &mut Places,
    messages: &mut Messages,
) -> Option<String> {
    let table = parts.need(&["table"], "\"table\": \"routes\"", messages);
    named(table, "`table`", places, messages)
}

fn table_install(
    parts: &mut Parts<'_>,
    places: &mut Places,
    messages: &mut Messages,
) -> Option<Command> {
    let table = table_name(parts, places, messages);
    let key = key(parts, places, messages);
    let action = parts.need(&["action"], "\"action\": \"hit\"", messages);
    let arguments = parts.need(&["args", "arguments"], "\"args\": [1]", messages);
    let priority = parts.get(&["priority"]);
    let priority = match priority {
        Some(node) => Some(messages.small(node, "`priority`")?),
        None => None,
    };
    let action = action.and_then(|node| {
        places.action = node.span;
        messages.text(node, "`action`").map(str::to_string)
    });
    let (arguments, spans) = messages.arguments(arguments?, "`args`")?;
    places.arguments = spans;
    Some(Command::TableInstall { table: table?, key: key?, priority, action: action?, arguments })
}

fn table_remove(
    parts: &mut Parts<'_>,
    places: &mut Places,
    messages: &mut Messages,
) -> Option<Command> {
    let table = table_name(parts, places, messages);
    let key = key(parts, places, messages);
    Some(Command::TableRemove { table: table?, key: key? })
}

fn table_get(
    parts: &mut Parts<'_>,
    places: &mut Places,
    messages: &mut Messages,
) -> Option<Command> {
    Some(Command::TableGet { table: table_name(parts, places, messages)? })
}

fn key(
    parts: &mut Parts<'_>,
    places: &mut Places,
    messages: &mut Messages,
) -> Option<Vec<KeyPattern>> {
    let node = parts.need(&["key"], "\"key\": [\"5<32>\"]", messages);
    let masks = parts.get(&["mask"]);
    let node = node?;
    let list = messages.list(node, "`key`")?;
    places.key = list.iter().map(|field| field.span).collect();
    let patterns: Vec<_> = list.iter().map(|field| pattern(field, messages)).collect();
    let mut patterns = patterns.into_iter().collect::<Option<Vec<KeyPattern>>>()?;
    let Some(masks) = masks else { return Some(patterns) };
    let list = messages.list(masks, "`mask`")?;
    if list.len() != patterns.len() {
        let message = format!("`mask` has {} parts and `key` has {}", list.len(), patterns.len());
        let diagnostic = Diagnostic::error(codes::BAD_KEY, masks.span, message);
        messages.list.push(diagnostic.label(node.span, "the key"));
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

fn mask_value(node: &Node, messages: &mut Messages) -> Option<u128> {
    match &node.kind {
        Kind::Bool(value) => Some(if *value { u128::MAX } else { 0 }),
        _ => messages.integer(node, "a mask", u128::MAX),
    }
}

const KEY_HELP: &str =
    "write 5, \"5<32>\" (value and width), \"9<<24>> &&& 7\" (value and mask) or \"_\" (anything)";

/// One field of a key.
fn pattern(node: &Node, messages: &mut Messages) -> Option<KeyPattern> {
    let text = match &node.kind {
        Kind::Int(value) => return Some(KeyPattern { value: *value, mask: None }),
        Kind::Bool(value) => return Some(KeyPattern { value: u128::from(*value), mask: None }),
        Kind::Text(text) => text,
        _ => {
            messages.wrong_type(node, "a field of a key", "a number or a pattern");
            return None;
        }
    };
    match pattern_of(text) {
        Ok(pattern) => Some(pattern),
        Err(BadPattern::Form) => {
            let message = format!("{text:?} is no pattern of a key");
            messages.error(codes::BAD_KEY, node.span, message, KEY_HELP);
            None
        }
        Err(BadPattern::Wide(value, bits)) => {
            let message = format!("{value} does not fit {bits} bits");
            messages.error(codes::BAD_KEY, node.span, message, "");
            None
        }
    }
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BadPattern {
    Form,
    Wide(u128, u32),
}

fn pattern_of(text: &str) -> Result<KeyPattern, BadPattern> {
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
    let (value, bits) = integer(base).ok_or(BadPattern::Form)?;
    if let Some(bits) = bits.filter(|bits| *bits < 128 && value >> bits != 0) {
        return Err(BadPattern::Wide(value, bits));
    }
    let mask = match mask {
        Some(mask) => Some(integer(mask).ok_or(BadPattern::Form)?.0),
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
            ("256<8>", Err(BadPattern::Wide(256, 8))),
            ("5<", Err(BadPattern::Form)),
            ("_x", Err(BadPattern::Form)),
            ("", Err(BadPattern::Form)),
            ("1 &&& 2 &&& 3", Err(BadPattern::Form)),
            ("_ &&& 3", Err(BadPattern::Form)),
        ] {
            assert_eq!(pattern_of(text), expected, "{text:?}");
        }
    }
}
