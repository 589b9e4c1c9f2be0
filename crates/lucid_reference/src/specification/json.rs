// SPDX-License-Identifier: Apache-2.0
//! JSON with comments and trailing commas to a tree of values with places.

use super::document::{Field, Format, Kind, Node, Place, number};
use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use source::Diagnostic;

pub(super) fn read(place: &Place<'_>) -> (Option<Node>, Vec<Diagnostic>) {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_hexadecimal_numbers: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(place.text(), &CollectOptions::default(), &options) {
        Ok(parsed) => match parsed.value {
            Some(value) => (Some(node(place, value)), Vec::new()),
            None => {
                let end = place.text().len();
                let nothing = place.syntax(Format::Json, place.span(0, end), "it is empty");
                (None, vec![nothing.help("write an object: `{\"events\": []}`")])
            }
        },
        Err(error) => {
            let range = error.range();
            let span = place.span(range.start, range.end.max(range.start));
            (None, vec![place.syntax(Format::Json, span, &error.kind().to_string())])
        }
    }
}

/// The depth is bounded by the library.
fn node(place: &Place<'_>, value: Value<'_>) -> Node {
    let range = value.range();
    let span = place.span(range.start, range.end);
    let kind = match value {
        Value::NullKeyword(_) => Kind::Null,
        Value::BooleanLit(literal) => Kind::Bool(literal.value),
        Value::StringLit(literal) => Kind::Text(literal.value.into_owned()),
        Value::NumberLit(literal) => number(literal.value).unwrap_or(Kind::Float(f64::MAX)),
        Value::Array(array) => {
            Kind::List(array.elements.into_iter().map(|element| node(place, element)).collect())
        }
        Value::Object(object) => {
            let field = |property: jsonc_parser::ast::ObjectProp<'_>| {
                let range = property.name.range();
                let name = match property.name {
                    ObjectPropName::String(name) => name.value.into_owned(),
                    ObjectPropName::Word(name) => name.value.to_string(),
                };
                let name_span = place.span(range.start, range.end);
                Field { name, name_span, value: node(place, property.value) }
            };
            Kind::Object(object.properties.into_iter().map(field).collect())
        }
    };
    Node { span, kind }
}
