// SPDX-License-Identifier: Apache-2.0
//! A validator of the part of JSON Schema (draft 2020-12) that the schema of network files uses. Any other keyword is an
//! error of the schema.

use regex_lite::Regex;
use serde_json::Value;
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
            Value::Object(schema) => schema,
            other => panic!("not a schema: {other}"),
        };
        let fits = |schema: &Value| self.check_at(schema, value, path).is_ok();
        for (keyword, expected) in schema {
            let holds = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" => true,
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
                        if known.is_some_and(|known| known.contains_key(name)) {
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

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}
