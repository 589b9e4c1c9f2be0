// SPDX-License-Identifier: Apache-2.0
//! Elaborates globals: constructors make pieces of state. Each piece gets its name and its position in the
//! order of accesses from the declared global that contains it: fields in the order of the record's type,
//! elements in the order of their indices (Lucid §5.1).

use super::builder::{Builder, Purpose};
use super::values::{NewGlobal, Record, Value, Vector};
use super::{Elaborated, Elaborator, Scope, codes};
use crate::check::Type;
use crate::core::{Constant, Global, GlobalId, GlobalKind, MAX_ARRAY_LENGTH};
use crate::syntax::ast::{self, NodeId};
use source::{Diagnostic, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Limit of the entries of a table.
const MAX_TABLE_CAPACITY: u128 = MAX_ARRAY_LENGTH as u128;

/// Limit of the pieces of state of a program.
const GLOBAL_LIMIT: usize = 100_000;

impl<'a> Elaborator<'a> {
    /// Makes a declared global.
    pub(super) fn global_value(
        &mut self,
        id: NodeId,
        expression: &'a ast::Expression,
    ) -> Elaborated<Value> {
        let what = "the value of a global";
        let value = self.evaluated(expression, &mut Scope::default(), what)?;
        let name = self.full_name(id);
        let mut placed = HashMap::new();
        let place = self.place(id);
        self.placed(&value, &name, place, &mut placed)
    }

    /// The value with its new globals put into the program.
    fn placed(
        &mut self,
        value: &Value,
        name: &Arc<str>,
        place: Span,
        placed: &mut HashMap<u32, GlobalId>,
    ) -> Elaborated<Value> {
        Ok(match value {
            Value::Record(record) => {
                let mut fields = Vec::with_capacity(record.fields.len());
                for (label, field) in &record.fields {
                    let name = format!("{name}#{label}").into();
                    fields.push((label.clone(), self.placed(field, &name, place, placed)?));
                }
                Value::Record(Arc::new(Record { fields, name: Some(name.clone()) }))
            }
            Value::Vector(vector) => {
                let mut elements = Vec::with_capacity(vector.elements.len());
                for (at, element) in vector.elements.iter().enumerate() {
                    let name = format!("{name}[{at}]").into();
                    elements.push(self.placed(element, &name, place, placed)?);
                }
                Value::Vector(Arc::new(Vector { elements, name: Some(name.clone()) }))
            }
            Value::New(new) => {
                if let Some(id) = placed.get(&new.number) {
                    return Ok(Value::Global(*id));
                }
                if self.program.globals.len() >= GLOBAL_LIMIT {
                    let message = format!("the program has more than {GLOBAL_LIMIT} globals");
                    return Err(self.error(codes::LENGTH, place, message));
                }
                let id = GlobalId(self.program.globals.len() as u32);
                let (name, kind) = (name.clone(), new.kind.clone());
                self.program.globals.push(Global { name, span: place, kind });
                placed.insert(new.number, id);
                Value::Global(id)
            }
            Value::Scalar(expression) if expression.as_constant().is_none() => {
                return Err(self.not_known(expression.span, "a value in a global"));
            }
            other => other.clone(),
        })
    }

    /// What a constructor of the language makes.
    pub(super) fn new_global(
        &mut self,
        kind: GlobalKind,
        span: Span,
        builder: &Builder,
    ) -> Elaborated<Value> {
        if !matches!(builder.purpose, Purpose::Constant(_)) {
            let diagnostic = Diagnostic::error(
                codes::EFFECT,
                span,
                "state can be made only in declarations of globals and in constructors",
            );
            return Err(self.report_in(builder, diagnostic.help("declare it with `global`")));
        }
        self.new_globals += 1;
        let new = NewGlobal { number: self.new_globals, kind };
        Ok(Value::New(Arc::new(new)))
    }

    /// `Array.create(length)`, `PairArray.create(length)`, `Counter.create(initial)` and their
    /// spelling with `new`; `ty` is the closed type of what is made.
    pub(super) fn new_simple_global(
        &mut self,
        ty: &Type,
        argument: &Value,
        argument_span: Span,
        span: Span,
        builder: &Builder,
    ) -> Elaborated<Value> {
        let kind = match self.shape(ty, span)? {
            Type::Array(size) => {
                let width_bits = self.width_of(size.constant, span)?;
                let length = self.array_length(argument, argument_span, builder)?;
                GlobalKind::Array { width_bits, length }
            }
            Type::PairArray(size) => {
                let width_bits = self.width_of(size.constant, span)?;
                let length = self.array_length(argument, argument_span, builder)?;
                GlobalKind::PairArray { width_bits, length }
            }
            Type::Counter(size) => {
                let width_bits = self.width_of(size.constant, span)?;
                let what = "the initial value of a counter";
                let initial = self.known_number(argument, argument_span, what)?;
                GlobalKind::Counter { width_bits, initial }
            }
            other => {
                let shown = self.checked.show(&other);
                return Err(self.internal(span, &format!("a new `{shown}`")));
            }
        };
        self.new_global(kind, span, builder)
    }

    fn array_length(&mut self, argument: &Value, span: Span, builder: &Builder) -> Elaborated<u64> {
        let length = self.known_number(argument, span, "the length of an array")?;
        if (1..=u128::from(MAX_ARRAY_LENGTH)).contains(&length) {
            return Ok(length as u64);
        }
        let message = match length {
            0 => "an array without cells".to_owned(),
            length => format!("an array of {length} cells"),
        };
        let diagnostic = Diagnostic::error(codes::LENGTH, span, message)
            .note(format!("arrays have 1 to {MAX_ARRAY_LENGTH} cells"));
        Err(self.report_in(builder, diagnostic))
    }

    /// How many entries a table may hold.
    pub(super) fn table_capacity(
        &mut self,
        argument: &Value,
        span: Span,
        builder: &Builder,
    ) -> Elaborated<u64> {
        let capacity = self.known_number(argument, span, "the size of a table")?;
        if (1..=MAX_TABLE_CAPACITY).contains(&capacity) {
            return Ok(capacity as u64);
        }
        let message = match capacity {
            0 => "a table without room for entries".to_owned(),
            capacity => format!("a table of {capacity} entries"),
        };
        let diagnostic = Diagnostic::error(codes::LENGTH, span, message)
            .note(format!("tables have room for 1 to {MAX_TABLE_CAPACITY} entries"));
        Err(self.report_in(builder, diagnostic))
    }

    /// Values as constants, which they have to be.
    pub(super) fn constants(
        &mut self,
        value: &Value,
        span: Span,
        what: &str,
    ) -> Elaborated<Vec<Constant>> {
        let mut constants = Vec::new();
        for leaf in value.leaves() {
            match leaf {
                Value::Scalar(expression) => match expression.as_constant() {
                    Some(constant) => constants.push(constant.clone()),
                    None => return Err(self.not_known(span, what)),
                },
                _ => return Err(self.not_known(span, what)),
            }
        }
        Ok(constants)
    }
}
