// SPDX-License-Identifier: Apache-2.0
//! Values of symbolic sizes and symbolic constants: reading them from the reference
//! implementation's `.symb` files (JSON), and giving each declaration its value.

use super::values::{Value, constant};
use super::{Done, Elaborator, Scope, Stop, codes};
use crate::check::Type;
use crate::core::{Constant, arithmetic};
use crate::syntax::ast::NodeId;
use jsonc_parser::ast::{Object, Value as Json};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use source::{Diagnostic, Diagnostics, FileId, Span};
use std::collections::HashMap;

/// Values of symbolic sizes and symbolic constants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbolics {
    /// `symbolic size`, by name: the full one (`M.n`), or the last part of it.
    pub sizes: HashMap<String, u128>,
    /// `symbolic int` and `symbolic bool` (0 or 1), by name; parts of records and vectors by theirs:
    /// `seeds[2]`, `limit#low`.
    pub values: HashMap<String, u128>,
}

impl Symbolics {
    /// Reads `{"sizes": {"n": 4}, "symbolics": {"limit": 100, "on": true, "seeds": [1, 2]}}`, the
    /// form of the reference implementation's `.symb` files. Either part may be left out; numbers too
    /// large for other JSON readers may stand in quotes, and numbers may be hexadecimal. `file` is the
    /// text's handle in the source map.
    ///
    /// # Errors
    ///
    /// What cannot be read, each with its place.
    pub fn from_json(text: &str, file: FileId) -> Result<Symbolics, Diagnostics> {
        let mut reader =
            Reader { file, symbolics: Symbolics::default(), wrong: Diagnostics::new() };
        let options = ParseOptions {
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            ..ParseOptions::default()
        };
        match parse_to_ast(text, &CollectOptions::default(), &options) {
            Ok(parsed) => match parsed.value {
                Some(Json::Object(object)) => reader.whole(&object),
                Some(other) => reader.say(other.range(), "symbolics are an object"),
                None => reader.say(Range::new(0, 0), "this file has no symbolics in it"),
            },
            Err(error) => {
                let mut message = error.kind().to_string();
                message[..1].make_ascii_lowercase();
                reader.say(error.range(), &format!("this is no JSON: {message}"));
            }
        }
        if reader.wrong.has_errors() { Err(reader.wrong) } else { Ok(reader.symbolics) }
    }

    fn size(&self, name: &str) -> Option<u128> {
        lookup(&self.sizes, name)
    }

    fn value(&self, name: &str) -> Option<u128> {
        lookup(&self.values, name)
    }
}

/// By the full name, or without its modules.
fn lookup(map: &HashMap<String, u128>, name: &str) -> Option<u128> {
    let last = name.rsplit('.').next().unwrap_or(name);
    map.get(name).or_else(|| map.get(last)).copied()
}

struct Reader {
    file: FileId,
    symbolics: Symbolics,
    wrong: Diagnostics,
}

impl Reader {
    fn say(&mut self, range: Range, message: &str) {
        let span = Span::new(self.file, range.start as u32, range.end as u32);
        self.wrong.push(
            Diagnostic::error(codes::SYMBOLICS_FILE, span, message)
                .help("write `{\"sizes\": {\"n\": 4}, \"symbolics\": {\"limit\": 100}}`"),
        );
    }

    fn whole(&mut self, object: &Object<'_>) {
        for property in &object.properties {
            let name = property.name.as_str();
            let Json::Object(values) = &property.value else {
                self.say(property.value.range(), &format!("`{name}` has to be an object"));
                continue;
            };
            match name {
                "sizes" => {
                    for size in &values.properties {
                        let name = size.name.as_str();
                        match number(&size.value) {
                            Some(value) => {
                                self.symbolics.sizes.insert(name.to_owned(), value);
                            }
                            None => {
                                let message = format!("the size `{name}` has to be a whole number");
                                self.say(size.value.range(), &message);
                            }
                        }
                    }
                }
                "symbolics" => {
                    for value in &values.properties {
                        self.value(value.name.as_str(), &value.value);
                    }
                }
                _ => {
                    let message = format!("`{name}` is neither `sizes` nor `symbolics`");
                    self.say(property.range, &message);
                }
            }
        }
    }

    fn value(&mut self, name: &str, value: &Json<'_>) {
        match value {
            Json::BooleanLit(truth) => {
                self.symbolics.values.insert(name.to_owned(), u128::from(truth.value));
            }
            Json::Array(array) => {
                for (at, element) in array.elements.iter().enumerate() {
                    self.value(&format!("{name}[{at}]"), element);
                }
            }
            Json::Object(object) => {
                for field in &object.properties {
                    self.value(&format!("{name}#{}", field.name.as_str()), &field.value);
                }
            }
            other => match number(other) {
                Some(value) => {
                    self.symbolics.values.insert(name.to_owned(), value);
                }
                None => {
                    let message = format!("`{name}` has to be a whole number, `true` or `false`");
                    self.say(other.range(), &message);
                }
            },
        }
    }
}

/// A whole number, in quotes or not, decimal or hexadecimal.
fn number(value: &Json<'_>) -> Option<u128> {
    let text = match value {
        Json::NumberLit(number) => number.value,
        Json::StringLit(text) => text.value.as_ref(),
        _ => return None,
    };
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Elaborator<'_> {
    /// Looks whether all symbolics have values, and gives them to their declarations.
    pub(super) fn symbolics(&mut self) -> Done<()> {
        let mut missing: Vec<(String, Span)> = Vec::new();
        for (id, span) in self.index.symbolic_sizes.clone() {
            let name = self.full_name(id);
            if self.symbolics.size(&name).is_none() {
                missing.push((format!("size {name}"), span));
            }
        }
        for (id, span) in self.index.symbolics.clone() {
            let Some(ty) = self.checked.types.get(&id).cloned() else { continue };
            if mentions_missing_size(self, &ty) {
                // It is told by its size.
                continue;
            }
            let ty = self.close(&ty, &Scope::default(), span)?;
            let name = self.full_name(id);
            self.symbolic_parts(id, &name, &ty, span, &mut missing)?;
        }
        if missing.is_empty() {
            return if self.diagnostics.has_errors() { Err(Stop) } else { Ok(()) };
        }
        let names: Vec<String> = missing.iter().map(|(name, _)| format!("`{name}`")).collect();
        let (_, first) = missing[0];
        let mut diagnostic = Diagnostic::error(
            codes::MISSING_SYMBOLIC,
            first,
            match names.as_slice() {
                [one] => format!("the symbolic {one} has no value"),
                many => format!("{} symbolics have no value: {}", many.len(), many.join(", ")),
            },
        );
        let example = |size: bool| {
            missing.iter().find(|(name, _)| name.starts_with("size ") == size).map(|(name, _)| {
                let name = name.trim_start_matches("size ");
                let part = if size { "sizes" } else { "symbolics" };
                format!("\"{part}\": {{\"{name}\": 1}}")
            })
        };
        let parts: Vec<String> = [example(true), example(false)].into_iter().flatten().collect();
        for (name, span) in missing.iter().skip(1) {
            diagnostic = diagnostic.label(*span, format!("`{name}` has none either"));
        }
        let diagnostic = diagnostic
            .help(format!("give them in a file of symbolics: `{{{}}}`", parts.join(", ")));
        Err(self.report(diagnostic.help("or write `size` and `const` instead, with a value")))
    }

    fn symbolic_parts(
        &mut self,
        id: NodeId,
        name: &str,
        ty: &Type,
        span: Span,
        missing: &mut Vec<(String, Span)>,
    ) -> Done<()> {
        let leaves = self.flatten(name, ty, span)?;
        let mut values = Vec::with_capacity(leaves.len());
        for (leaf, ty) in leaves {
            let Some(value) = self.symbolics.value(&leaf) else {
                missing.push((leaf, span));
                continue;
            };
            let known = match ty {
                crate::core::Type::Bool if value <= 1 => Constant::Bool(value == 1),
                crate::core::Type::Int(width) if value <= arithmetic::mask(width) => {
                    Constant::Int(value, width)
                }
                _ => {
                    let shown = crate::core::type_text(ty);
                    let message = format!("{value} is no value of `{leaf}`, which is a `{shown}`");
                    self.error(codes::SYMBOLIC_VALUE, span, message);
                    continue;
                }
            };
            values.push(Value::Scalar(constant(known, span)));
        }
        let mut values = values.into_iter();
        if let Ok(value) = self.assembled(ty, &mut values, span) {
            self.symbolic_values.insert(id, value);
        }
        Ok(())
    }

    /// The value of a type whose leaves are these, in order.
    fn assembled(
        &mut self,
        ty: &Type,
        leaves: &mut dyn Iterator<Item = Value>,
        span: Span,
    ) -> Done<Value> {
        Ok(match self.shape(ty, span)? {
            Type::Record(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for (label, field) in &fields {
                    values.push((label.clone(), self.assembled(field, leaves, span)?));
                }
                Value::record(values)
            }
            Type::Vector(element, length) => {
                let mut values = Vec::new();
                for _ in 0..length.constant {
                    values.push(self.assembled(&element, leaves, span)?);
                }
                Value::vector(values)
            }
            // Without a leaf: what is missing was told.
            _ => leaves.next().ok_or(Stop)?,
        })
    }

    /// The value of a symbolic size.
    pub(super) fn symbolic_size(&mut self, id: NodeId, span: Span) -> Done<u128> {
        let name = self.full_name(id);
        match self.symbolics.size(&name) {
            Some(value) => Ok(value),
            None => Err(self.internal(span, "a symbolic size without a value")),
        }
    }

    /// The value of a symbolic constant.
    pub(super) fn symbolic_value(&mut self, id: NodeId, span: Span) -> Done<Value> {
        match self.symbolic_values.get(&id) {
            Some(value) => Ok(value.clone()),
            None => Err(self.internal(span, "a symbolic without a value")),
        }
    }
}

/// Whether a type mentions a symbolic size that has no value.
fn mentions_missing_size(elaborator: &Elaborator<'_>, ty: &Type) -> bool {
    let mut missing = false;
    let _ = ty.replace(&mut |_| None, &mut |term| {
        if let crate::check::SizeTerm::Symbolic(id) = term {
            missing |= elaborator.symbolics.size(&elaborator.full_name(id)).is_none();
        }
        None
    });
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Symbolics, Vec<String>> {
        Symbolics::from_json(text, FileId(0)).map_err(|wrong| {
            let place = |span: Span| text[span.start as usize..span.end as usize].to_owned();
            wrong
                .iter()
                .map(|one| format!("{} @ {}", one.message, place(one.primary.span)))
                .collect()
        })
    }

    #[test]
    fn numbers_booleans_lists_and_records() {
        let found = read(
            r#"{"sizes": {"n": 4, "w": "0x10"},
                "symbolics": {"b": true, "k": 340282366920938463463374607431768211455,
                              "v": [1, {"low": 2}]}}"#,
        );
        let expected = Symbolics {
            sizes: [("n".into(), 4), ("w".into(), 16)].into(),
            values: [
                ("b".into(), 1),
                ("k".into(), u128::MAX),
                ("v[0]".into(), 1),
                ("v[1]#low".into(), 2),
            ]
            .into(),
        };
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        let cases = [
            ("[1]", "symbolics are an object @ [1]"),
            ("", "this file has no symbolics in it @ "),
            (r#"{"sizes": 4}"#, "`sizes` has to be an object @ 4"),
            (r#"{"sizes": {"n": -1}}"#, "the size `n` has to be a whole number @ -1"),
            (r#"{"sizes": {"n": true}}"#, "the size `n` has to be a whole number @ true"),
            (
                r#"{"symbolics": {"n": 1.5}}"#,
                "`n` has to be a whole number, `true` or `false` @ 1.5",
            ),
            (r#"{"size": {}}"#, "`size` is neither `sizes` nor `symbolics` @ \"size\": {}"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), Err(vec![expected.to_owned()]), "{text}");
        }
        let broken = read(r#"{"sizes": {"n" 4}}"#).unwrap_err();
        assert!(broken[0].starts_with("this is no JSON: "), "{broken:?}");
    }
}
