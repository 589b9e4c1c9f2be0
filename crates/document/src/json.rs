// SPDX-License-Identifier: Apache-2.0
//! JSON with comments and trailing commas to a tree of values with places.

use crate::node::{Field, Node, NodeKind, Place, number};
use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use source::Diagnostic;

pub(crate) fn read(place: &Place<'_>) -> Result<Node, Vec<Diagnostic>> {
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
            Some(value) => Ok(node(place, value)),
            None => Err(vec![place.syntax(place.span(0, place.text().len()), "it is empty")]),
        },
        Err(error) => {
            let range = error.range();
            let span = place.span(range.start, range.end.max(range.start));
            Err(vec![place.syntax(span, &error.kind().to_string())])
        }
    }
}

/// The depth is bounded by the library.
fn node(place: &Place<'_>, value: Value<'_>) -> Node {
    let range = value.range();
    let span = place.span(range.start, range.end);
    let kind = match value {
        Value::NullKeyword(_) => NodeKind::Null,
        Value::BooleanLit(literal) => NodeKind::Bool(literal.value),
        Value::StringLit(literal) => NodeKind::Text(literal.value.into_owned()),
        Value::NumberLit(literal) => number(literal.value).unwrap_or(NodeKind::Float(f64::MAX)),
        Value::Array(array) => {
            NodeKind::List(array.elements.into_iter().map(|element| node(place, element)).collect())
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
            NodeKind::Object(object.properties.into_iter().map(field).collect())
        }
    };
    Node { span, kind }
}
