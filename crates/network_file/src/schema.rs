// SPDX-License-Identifier: Apache-2.0
//! The JSON schema of network files, written from the table of fields that the reader decodes by. It checks types, names
//! of fields and the form of quantities; names of nodes and what items say together is left to the reader.

use crate::fields::network::NETWORK;
use crate::format::quantity::{FREQUENCY, RATE, SIZE, TIME};
use crate::format::shape::{FieldShape, Kind, Section, Shape};
use crate::read::NOTE_FIELDS;
use serde_json::{Map, Value, json};
use source::quantity::{Notation, Units};

/// Returns the schema of network files, JSON Schema of draft 2020-12.
pub fn json_schema() -> String {
    let mut schema = Schema::default();
    let root = schema.section(&NETWORK);
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Planewright network",
        "description": "Switches, hosts, links and traffic; docs/networks.md describes the fields.",
    });
    if let (Value::Object(document), Value::Object(root)) = (&mut document, root) {
        document.extend(root);
        let required: Vec<Value> = ["switches", "hosts", "topology"]
            .iter()
            .map(|name| json!({"required": [name]}))
            .collect();
        document.insert("anyOf".to_string(), required.into());
        document.insert("$defs".to_string(), Value::Object(schema.definitions));
    }
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// Definitions that the schema refers to, by name.
#[derive(Default)]
struct Schema {
    definitions: Map<String, Value>,
}

impl Schema {
    /// A reference to a definition, which is added first if it is missing.
    fn reference(&mut self, name: &str, make: impl FnOnce(&mut Schema) -> Value) -> Value {
        if !self.definitions.contains_key(name) {
            let made = make(self);
            self.definitions.insert(name.to_string(), made);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }

    fn referenced_section(&mut self, section: &'static Section) -> Value {
        self.reference(&definition_name(section.what), |schema| schema.section(section))
    }

    fn section(&mut self, section: &'static Section) -> Value {
        let mut properties = notes();
        let mut required = Vec::new();
        for field in section.fields() {
            let mut shape = self.shape(&field.shape);
            if let Value::Object(shape) = &mut shape {
                shape.insert("description".to_string(), field.text.into());
            }
            properties.insert(field.name.to_string(), shape);
            if field.required.is_some() {
                required.push(field.name);
            }
        }
        let mut object = json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        });
        if !required.is_empty() {
            object["required"] = required.into();
        }
        object
    }

    fn shape(&mut self, shape: &'static Shape) -> Value {
        let text = |pattern: &str| json!({"type": "string", "pattern": pattern});
        match shape {
            Shape::Time => {
                self.reference("time", |_| json!({"anyOf": [quantity_text(&TIME), {"const": 0}]}))
            }
            Shape::Rate => self.reference("rate", |_| quantity_text(&RATE)),
            Shape::Frequency => self.reference("frequency", |_| quantity_text(&FREQUENCY)),
            Shape::Size => self.reference(
                "size",
                |_| json!({"anyOf": [quantity_text(&SIZE), {"type": "number", "minimum": 0}]}),
            ),
            Shape::Probability => self.reference("probability", |_| {
                json!({"anyOf": [
                    {"type": "number", "minimum": 0, "maximum": 1},
                    {"type": "string", "pattern": whole(PERCENTAGE)},
                ]})
            }),
            Shape::Count { least, most } => {
                let mut number = json!({"type": "integer", "minimum": least});
                if *most < u64::MAX {
                    number["maximum"] = (*most).into();
                }
                json!({"anyOf": [number, {"type": "string", "pattern": whole(r"\+?[0-9]+")}]})
            }
            Shape::Decimal => json!({"anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": r"^\s*\+?[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?\s*$"},
            ]}),
            Shape::Truth => json!({"type": "boolean"}),
            Shape::Text => json!({"anyOf": [text(r"\S"), {"type": "integer", "minimum": 0}]}),
            Shape::Word(words) => {
                let word =
                    |(word, meaning): &(&str, &str)| json!({"const": word, "description": meaning});
                json!({"oneOf": words.iter().map(word).collect::<Vec<_>>()})
            }
            Shape::Interface => text(r"^\s*[0-9a-fA-F.:]+\s*/\s*[0-9]+\s*$"),
            Shape::Ip => text(r"^\s*[0-9a-fA-F.:]+\s*$"),
            Shape::Prefix => text(r"^\s*([0-9a-fA-F.:]+\s*(/\s*[0-9]+)?|default)\s*$"),
            Shape::Mac => text(r"^\s*[0-9a-fA-F]{1,2}([:-][0-9a-fA-F]{1,2}){5}\s*$"),
            Shape::Bytes => text(r"^[\s:]*([0-9a-fA-F][\s:]*[0-9a-fA-F][\s:]*)+$"),
            Shape::Queue => {
                let units = units(&SIZE).join("|");
                text(&format!(r"^\s*[0-9._]+\s*(p|packets|{units})\s*$"))
            }
            Shape::Condition(inner) => {
                let quantity = bare_pattern(inner);
                let operator = r"(at least|at most|more than|less than|>=|<=|>|<|==|=)?";
                // The unit of the greatest value of `2..5ms` holds for both.
                let first = format!(r"({quantity}|{NUMBER})");
                let range = format!(r"{first}\s*\.\.=?\s*({quantity})?|\.\.=?\s*{quantity}");
                let pattern = format!(r"^\s*({operator}\s*{quantity}|{range})\s*$");
                json!({"anyOf": [self.shape(inner), {"const": 0}, text(&pattern)]})
            }
            Shape::List(inner) => json!({"type": "array", "items": self.shape(inner)}),
            Shape::OneOrMany(inner) => {
                let inner = self.shape(inner);
                json!({"anyOf": [inner, {"type": "array", "items": inner}]})
            }
            Shape::Record(section) => self.referenced_section(section),
            Shape::Short { section, field } => {
                let object = self.referenced_section(section);
                let short = section.fields().find(|each| each.name == *field);
                match short {
                    Some(short) => json!({"anyOf": [object, self.shape(&short.shape)]}),
                    None => object,
                }
            }
            Shape::Named { shape, .. } => {
                // A name without a value has no fields.
                let mut value = self.shape(shape);
                if matches!(shape, Shape::Record(_)) {
                    value = json!({"anyOf": [value, {"type": "null"}]});
                }
                json!({"type": "object", "properties": notes(), "additionalProperties": value})
            }
            Shape::Tagged { what, common, kinds } => {
                self.reference(&definition_name(what), |schema| schema.tagged(common, kinds))
            }
            Shape::Any(shapes) => {
                let shapes: Vec<Value> = shapes.iter().map(|shape| self.shape(shape)).collect();
                json!({"anyOf": shapes})
            }
        }
    }

    fn tagged(&mut self, common: &'static [FieldShape], kinds: &'static [Kind]) -> Value {
        let mut alternatives = Vec::new();
        for kind in kinds {
            let mut shape = self.shape(&kind.shape);
            if !kind.needs_fields() {
                shape = json!({"anyOf": [shape, {"type": "null"}]});
                alternatives.push(json!({"const": kind.name, "description": kind.text}));
            }
            shape["description"] = kind.text.into();
            let mut properties = notes();
            for field in common {
                let mut shape = self.shape(&field.shape);
                shape["description"] = field.text.into();
                properties.insert(field.name.to_string(), shape);
            }
            properties.insert(kind.name.to_string(), shape);
            alternatives.push(json!({
                "type": "object",
                "properties": properties,
                "required": [kind.name],
                "additionalProperties": false,
            }));
        }
        json!({"oneOf": alternatives})
    }
}

/// The properties that hold the author's notes.
fn notes() -> Map<String, Value> {
    NOTE_FIELDS.iter().map(|name| ((*name).to_string(), Value::Bool(true))).collect()
}

/// `burst_loss` for `a burst loss`.
fn definition_name(what: &str) -> String {
    let name = what.strip_prefix("an ").or_else(|| what.strip_prefix("a ")).unwrap_or(what);
    name.strip_prefix("the ").unwrap_or(name).replace(' ', "_")
}

fn units(notation: &Notation) -> Vec<&'static str> {
    match notation.units {
        Units::Named(names) => names.iter().map(|(name, _)| *name).collect(),
        Units::Metric(endings) => endings.to_vec(),
    }
}

/// A number of a quantity.
const NUMBER: &str = r"\+?([0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)";

/// A probability in a text.
const PERCENTAGE: &str = r"[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?\s*%?";

/// A pattern for a whole text.
fn whole(pattern: &str) -> String {
    format!(r"^\s*({pattern})\s*$")
}

/// The pattern of a quantity in a text.
fn quantity_pattern(notation: &Notation) -> String {
    let optional = if notation.default_scale.is_some() { "?" } else { "" };
    format!(r"{NUMBER}\s*({}){optional}", units(notation).join("|"))
}

/// The pattern of a value of a condition.
fn bare_pattern(shape: &Shape) -> String {
    match shape {
        // Zero is the same in every unit.
        Shape::Time => format!("({}|0)", quantity_pattern(&TIME)),
        Shape::Rate => format!("({}|0)", quantity_pattern(&RATE)),
        Shape::Size => quantity_pattern(&SIZE),
        Shape::Probability => format!("({PERCENTAGE})"),
        _ => r"\+?[0-9]+".to_string(),
    }
}

/// A quantity in a text.
fn quantity_text(notation: &Notation) -> Value {
    json!({"type": "string", "pattern": whole(&quantity_pattern(notation))})
}
