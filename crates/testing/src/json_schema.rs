// SPDX-License-Identifier: Apache-2.0
//! A validator of the part of JSON Schema that the schemas of network files (draft 2020-12) and of containerlab (draft 07)
//! use. Any other keyword is an error of the schema. [`document_value`] reads what it validates.

use document::{Conventions, FieldNames, Format, Messages, Node, NodeKind};
use regex_lite::Regex;
use serde_json::{Value, json};
use source::Code;
use std::cell::RefCell;
use std::collections::HashMap;

/// A schema.
pub struct Validator {
    root: Value,
    patterns: RefCell<HashMap<String, Regex>>,
}

impl Validator {
    /// Takes a schema.
    pub fn new(root: Value) -> Validator {
        Validator { root, patterns: RefCell::default() }
    }

    /// Returns the path of the first value that the schema refuses, with the keyword.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.check_at(&self.root, value, "")
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut patterns = self.patterns.borrow_mut();
        let pattern = patterns
            .entry(pattern.to_string())
            .or_insert_with(|| Regex::new(pattern).expect("a regular expression"));
        pattern.is_match(text)
    }

    fn check_at(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let schema = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{path}: nothing is right here")),
            Value::Object(schema) => schema,
            other => panic!("not a schema: {other}"),
        };
        let fits = |schema: &Value| self.check_at(schema, value, path).is_ok();
        for (keyword, expected) in schema {
            let holds = match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "definitions" | "title" | "description" => true,
                // Draft 07 does not have `prefixItems`; editors read the others.
                "prefixItems" | "markdownDescription" | "default" | "deprecated" => true,
                // These belong to `if`.
                "then" | "else" => true,
                "if" => {
                    let branch = if fits(expected) { "then" } else { "else" };
                    if let Some(branch) = schema.get(branch) {
                        self.check_at(branch, value, path)?;
                    }
                    true
                }
                "allOf" => {
                    for each in list(expected) {
                        self.check_at(each, value, path)?;
                    }
                    true
                }
                "enum" => list(expected).contains(value),
                "minItems" => length(value).is_none_or(|length| length >= number_of(expected)),
                "maxItems" => length(value).is_none_or(|length| length <= number_of(expected)),
                "minLength" => {
                    let length = value.as_str().map(|text| text.chars().count() as f64);
                    length.is_none_or(|length| length >= number_of(expected))
                }
                "uniqueItems" => value
                    .as_array()
                    .is_none_or(|all| (1..all.len()).all(|at| !all[..at].contains(&all[at]))),
                "patternProperties" => {
                    for (name, element) in value.as_object().into_iter().flatten() {
                        for (pattern, schema) in expected.as_object().into_iter().flatten() {
                            if self.matches(pattern, name) {
                                self.check_at(schema, element, &format!("{path}/{name}"))?;
                            }
                        }
                    }
                    true
                }
                "$ref" => {
                    let pointer = expected.as_str().and_then(|text| text.strip_prefix('#'));
                    let target = pointer.and_then(|pointer| self.root.pointer(pointer));
                    self.check_at(target.expect("a definition"), value, path)?;
                    true
                }
                "type" => match expected.as_str().expect("a type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
                    other => panic!("unknown type {other}"),
                },
                "const" => value == expected,
                "pattern" => {
                    let pattern = expected.as_str().expect("a pattern");
                    value.as_str().is_none_or(|text| self.matches(pattern, text))
                }
                "minimum" => value.as_f64().is_none_or(|number| number >= number_of(expected)),
                "maximum" => value.as_f64().is_none_or(|number| number <= number_of(expected)),
                "exclusiveMinimum" => {
                    value.as_f64().is_none_or(|number| number > number_of(expected))
                }
                "anyOf" => list(expected).iter().any(fits),
                "oneOf" => list(expected).iter().filter(|each| fits(each)).count() == 1,
                "items" => {
                    for (at, element) in value.as_array().into_iter().flatten().enumerate() {
                        self.check_at(expected, element, &format!("{path}/{at}"))?;
                    }
                    true
                }
                "required" => value.as_object().is_none_or(|fields| {
                    list(expected)
                        .iter()
                        .all(|name| fields.contains_key(name.as_str().expect("a name")))
                }),
                "properties" => {
                    for (name, element) in value.as_object().into_iter().flatten() {
                        if let Some(schema) = expected.get(name) {
                            self.check_at(schema, element, &format!("{path}/{name}"))?;
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = schema.get("properties").and_then(Value::as_object);
                    for (name, element) in value.as_object().into_iter().flatten() {
                        let patterns = schema.get("patternProperties").and_then(Value::as_object);
                        let is_known = known.is_some_and(|known| known.contains_key(name))
                            || patterns.is_some_and(|patterns| {
                                patterns.keys().any(|pattern| self.matches(pattern, name))
                            });
                        if is_known {
                            continue;
                        }
                        if *expected == Value::Bool(false) {
                            return Err(format!("{path}: no property {name}"));
                        }
                        self.check_at(expected, element, &format!("{path}/{name}"))?;
                    }
                    true
                }
                other => panic!("the validator does not know {other}"),
            };
            if !holds {
                return Err(format!("{path}: {keyword} {expected}"));
            }
        }
        Ok(())
    }
}

fn number_of(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn length(value: &Value) -> Option<f64> {
    value.as_array().map(|all| all.len() as f64)
}

/// Reads a document of this format as a value, without places.
///
/// # Panics
///
/// If it is not written in its format.
pub fn document_value(format: Format, text: &str) -> Value {
    let messages = Messages::new(&CONVENTIONS, format);
    let node = messages.parse(source::FileId(0), text);
    value_of(&node.expect("a document of its format"))
}

fn value_of(node: &Node) -> Value {
    match &node.kind {
        NodeKind::Null => Value::Null,
        NodeKind::Bool(value) => json!(value),
        NodeKind::Int(value) => json!(u64::try_from(*value).expect("64 bits")),
        NodeKind::Float(value) => json!(value),
        NodeKind::Text(text) => json!(text),
        NodeKind::List(list) => list.iter().map(value_of).collect(),
        NodeKind::Object(fields) => Value::Object(
            fields.iter().map(|field| (field.name.clone(), value_of(&field.value))).collect(),
        ),
    }
}

const CODE: Code = Code("T-E0001");
static CONVENTIONS: Conventions = Conventions {
    syntax: CODE,
    syntax_help: "",
    wrong_type: CODE,
    wrong_value: CODE,
    missing: CODE,
    unknown_field: CODE,
    repeated_field: CODE,
    unused_fields: source::Severity::Error,
    field_names: FieldNames::Exact,
    note_fields: &[],
    reference: "",
    number_in_text: None,
};

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}
