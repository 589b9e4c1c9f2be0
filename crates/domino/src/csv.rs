// SPDX-License-Identifier: Apache-2.0
//! Packets as CSV: a line of names, then a line of numbers for each packet. Reading reports all mistakes with their lines.

use crate::codes::data as codes;
use crate::program::Field;
use crate::syntax::ast::Type;
use source::{Diagnostic, Diagnostics, FileId, Span, nearest};

/// Reads packets. Values of fields without a column are 0.
///
/// # Errors
///
/// What is wrong, with places in `file`, whose text this is.
pub fn read(file: FileId, text: &str, fields: &[Field]) -> Result<Vec<Vec<u32>>, Diagnostics> {
    let mut reader = Reader { file, fields, found: Diagnostics::new() };
    let mut lines = reader.lines(text);
    let Some((start, header)) = lines.next() else {
        let span = Span::new(file, 0, 0);
        let found =
            Diagnostic::error(codes::NO_HEADER, span, "the line with the fields' names is missing");
        let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        reader.found.push(
            found.help(format!(
                "begin the file with the fields' names, such as `{}`",
                names.join(",")
            )),
        );
        return Err(reader.found);
    };
    let columns = reader.columns(start, header);
    let mut packets = Vec::new();
    for (start, line) in lines {
        packets.push(reader.packet(start, line, &columns));
    }
    match reader.found.is_empty() {
        true => Ok(packets),
        false => Err(reader.found),
    }
}

/// Writes packets, all fields in the order of their declaration. A dropped packet (`None`) has empty values.
pub fn write<'p>(fields: &[Field], packets: impl IntoIterator<Item = Option<&'p [u32]>>) -> String {
    let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
    let mut text = names.join(",");
    text.push('\n');
    for packet in packets {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            if let Some(value) = packet.and_then(|packet| packet.get(at)) {
                text.push_str(&number(*value, field.ty));
            }
        }
        text.push('\n');
    }
    text
}

/// Formats a value by its type.
pub fn number(value: u32, ty: Type) -> String {
    match ty {
        Type::Int => (value as i32).to_string(),
        Type::Unsigned => value.to_string(),
    }
}

struct Reader<'r> {
    file: FileId,
    fields: &'r [Field],
    found: Diagnostics,
}

impl Reader<'_> {
    /// Returns the lines that are not blank, with the byte at which each starts.
    fn lines<'t>(&self, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let lines = text[at..].split('\n').map(move |line| {
            let start = at;
            at += line.len() + 1;
            (start, line.strip_suffix('\r').unwrap_or(line))
        });
        lines.filter(|(_, line)| !line.trim().is_empty())
    }

    /// Returns the values of a line without blanks around them, with their places.
    fn values<'t>(&self, start: usize, line: &'t str) -> Vec<(Span, &'t str)> {
        let mut at = start;
        let values = line.split(',').map(|value| {
            let trimmed = value.trim();
            let from = at + (value.len() - value.trim_start().len());
            at += value.len() + 1;
            (Span::new(self.file, from as u32, (from + trimmed.len()) as u32), trimmed)
        });
        values.collect()
    }

    /// Returns the field of each column; a wrong one has none.
    fn columns(&mut self, start: usize, line: &str) -> Vec<Option<usize>> {
        let mut columns: Vec<Option<usize>> = Vec::new();
        let mut places: Vec<Span> = Vec::new();
        for (span, name) in self.values(start, line) {
            let field = self.fields.iter().position(|field| &*field.name == name);
            match field {
                None => {
                    let message = format!("the packet has no field `{name}`");
                    let found = Diagnostic::error(codes::UNKNOWN_COLUMN, span, message);
                    let names = self.fields.iter().map(|field| &*field.name);
                    self.found.push(match nearest(name, names.clone()) {
                        Some(near) => found.help(format!("did you mean `{near}`?")),
                        None => {
                            let names: Vec<&str> = names.collect();
                            found.help(format!("the fields are {}", names.join(", ")))
                        }
                    });
                }
                Some(_) => {
                    if let Some(first) = columns.iter().position(|known| *known == field) {
                        let message = format!("`{name}` has two columns");
                        let found = Diagnostic::error(codes::DOUBLED_COLUMN, span, message)
                            .label(places[first], "the first one");
                        self.found.push(found.help("remove one of the columns"));
                    }
                }
            }
            columns.push(field);
            places.push(span);
        }
        columns
    }

    fn packet(&mut self, start: usize, line: &str, columns: &[Option<usize>]) -> Vec<u32> {
        let mut packet = vec![0; self.fields.len()];
        let values = self.values(start, line);
        if values.len() != columns.len() {
            let plural = if values.len() == 1 { "" } else { "s" };
            let message = format!(
                "this line has {} value{plural}, and the first line has {} names",
                values.len(),
                columns.len()
            );
            let whole = Span::new(self.file, start as u32, (start + line.len()) as u32);
            let (span, help) = match values.get(columns.len()) {
                Some((first, _)) => (first.to(whole.after()), "remove the values without a name"),
                None => (whole, "add the missing values"),
            };
            self.found.push(Diagnostic::error(codes::VALUE_COUNT, span, message).help(help));
            return packet;
        }
        for ((span, text), column) in values.into_iter().zip(columns) {
            let Some(column) = *column else { continue };
            let field = &self.fields[column];
            match value(text, field.ty) {
                Some(value) => packet[column] = value,
                None => {
                    let range = match field.ty {
                        Type::Int => "an `int` is a decimal number from -2147483648 to 2147483647",
                        Type::Unsigned => "an `unsigned` is a decimal number from 0 to 4294967295",
                    };
                    let message = match text.is_empty() {
                        true => format!("the value of `{}` is missing", field.name),
                        false => format!("`{text}` is no value of `{}`", field.name),
                    };
                    self.found.push(Diagnostic::error(codes::VALUE, span, message).help(range));
                }
            }
        }
        packet
    }
}

/// Reads a decimal number with an optional `-`.
fn value(text: &str, ty: Type) -> Option<u32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match ty {
        Type::Int => text.parse::<i32>().ok().map(|value| value as u32),
        Type::Unsigned if text.starts_with('-') => {
            digits.bytes().all(|byte| byte == b'0').then_some(0)
        }
        Type::Unsigned => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceMap;

    fn fields() -> Vec<Field> {
        let field = |name: &str, ty| Field { name: name.into(), ty, span: Span::NONE };
        vec![field("a", Type::Int), field("b", Type::Unsigned), field("c", Type::Int)]
    }

    fn check(text: &str, expected: &str) {
        let mut map = SourceMap::new();
        let file = map.add("in.csv", text);
        let found = match read(file, text, &fields()) {
            Ok(packets) => write(&fields(), packets.iter().map(|packet| Some(packet.as_slice()))),
            Err(found) => found
                .iter()
                .map(|one| {
                    let at = map.location(one.primary.span).map(|at| (at.line, at.column));
                    let (line, column) = at.unwrap_or_default();
                    format!("{}:{line}:{column}: {}\n", one.code, one.message)
                })
                .collect(),
        };
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn lines_are_packets() {
        check("a,b,c\n1,2,3\n", "a,b,c\n1,2,3\n");
        check(" c , a\r\n\r\n -1 , 5 \r\n  \n7,8", "a,b,c\n5,0,-1\n8,0,7\n");
        check("a\n", "a,b,c\n");
        check("b,a\n4294967295,-2147483648\n-0,0\n", "a,b,c\n-2147483648,4294967295,0\n0,0,0\n");
    }

    #[test]
    fn mistakes_have_lines() {
        check("", "DO-E0201:1:1: the line with the fields' names is missing\n");
        check(
            "a,x,a\n",
            "DO-E0202:1:3: the packet has no field `x`\nDO-E0203:1:5: `a` has two columns\n",
        );
        check(
            "a,b\n1\n1,2,3\n1,\n",
            "DO-E0204:2:1: this line has 1 value, and the first line has 2 names\n\
             DO-E0204:3:5: this line has 3 values, and the first line has 2 names\n\
             DO-E0205:4:3: the value of `b` is missing\n",
        );
        check(
            "a,b\n2147483648,-1\n0x1,+1\n",
            "DO-E0205:2:1: `2147483648` is no value of `a`\nDO-E0205:2:12: `-1` is no value of `b`\n\
             DO-E0205:3:1: `0x1` is no value of `a`\nDO-E0205:3:5: `+1` is no value of `b`\n",
        );
    }
}
