// SPDX-License-Identifier: Apache-2.0
//! TOML to a tree of values with places.

use crate::node::{Field, Node, NodeKind, Place, number};
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use source::Diagnostic;
use std::ops::Range;

pub(crate) fn read(place: &Place<'_>) -> Result<Node, Vec<Diagnostic>> {
    let (table, errors) = DeTable::parse_recoverable(place.text());
    let diagnostics: Vec<Diagnostic> = errors
        .iter()
        .map(|error| {
            let range = error.span().unwrap_or(0..0);
            place.syntax(place.span(range.start, range.end), error.message())
        })
        .collect();
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let whole = 0..place.text().len();
    Ok(table_node(place, whole, table.into_inner()))
}

/// The depth is bounded by the library.
fn node(place: &Place<'_>, value: Spanned<DeValue<'_>>) -> Node {
    let range = value.span();
    let span = place.span(range.start, range.end);
    let kind = match value.into_inner() {
        DeValue::String(text) => NodeKind::Text(text.into_owned()),
        DeValue::Integer(integer) => {
            let (sign, digits) = match integer.as_str().strip_prefix('-') {
                Some(digits) => ("-", digits),
                None => ("", integer.as_str()),
            };
            let prefix = match integer.radix() {
                16 => "0x",
                8 => "0o",
                2 => "0b",
                _ => "",
            };
            number(&format!("{sign}{prefix}{digits}")).unwrap_or(NodeKind::Float(f64::MAX))
        }
        DeValue::Float(float) => {
            number(float.as_str()).unwrap_or(NodeKind::Text(float.as_str().to_string()))
        }
        DeValue::Boolean(value) => NodeKind::Bool(value),
        DeValue::Datetime(time) => NodeKind::Text(time.to_string()),
        DeValue::Array(array) => {
            NodeKind::List(array.into_iter().map(|element| node(place, element)).collect())
        }
        DeValue::Table(table) => return table_node(place, range, table),
    };
    Node { span, kind }
}

fn table_node(place: &Place<'_>, range: Range<usize>, table: DeTable<'_>) -> Node {
    let mut fields: Vec<Field> = table
        .into_iter()
        .map(|(name, value)| {
            let range = name.span();
            let name_span = place.span(range.start, range.end);
            Field { name: name.into_inner().into_owned(), name_span, value: node(place, value) }
        })
        .collect();
    // The library sorts by name; here the order of the file counts.
    fields.sort_by_key(|field| field.name_span.start);
    Node { span: place.span(range.start, range.end), kind: NodeKind::Object(fields) }
}
