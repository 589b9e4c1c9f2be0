// SPDX-License-Identifier: Apache-2.0
//! The state at the end of a run as JSON: one object with every global in source order.

use crate::interpreter::State;
use crate::program::Program;
use crate::syntax::ast::Type;
use serde_json::{Map, Value};

/// Writes the state: scalars as numbers, arrays as lists of numbers.
pub fn write(program: &Program, state: &State) -> String {
    let mut object = Map::new();
    for (global, cells) in program.globals.iter().zip(&state.cells) {
        let number = |value: &u32| match global.ty {
            Type::Int => Value::from(*value as i32),
            Type::Unsigned => Value::from(*value),
        };
        let value = match global.size {
            None => cells.first().map_or(Value::from(0), number),
            Some(_) => Value::Array(cells.iter().map(number).collect()),
        };
        object.insert(global.name.to_string(), value);
    }
    format!("{}\n", Value::Object(object))
}
