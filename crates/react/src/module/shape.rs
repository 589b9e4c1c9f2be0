// SPDX-License-Identifier: Apache-2.0
//! The sizes of what crosses between agent and reactions. Code can replace other code only if their shapes are equal.

use crate::interface::{Interface, KeyKind, ReactionTable};

/// Numbers of words that cross, and which values malleables can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Names of reactions, with the words of their input.
    pub reactions: Vec<(String, usize)>,
    /// The largest value of each malleable.
    pub largest_values: Vec<u64>,
    /// The words of the largest operation on a table.
    pub table_words: usize,
    /// Tables, with their numbers of actions.
    pub tables: Vec<(String, usize)>,
}

impl Shape {
    /// Returns the shape of the code of an interface.
    pub fn of(interface: &Interface) -> Shape {
        let values = interface.values.iter().map(|value| match value.ty.width_bits {
            64.. => u64::MAX,
            width => (1 << width) - 1,
        });
        let fields =
            interface.fields.iter().map(|field| field.alternatives.len().saturating_sub(1) as u64);
        Shape {
            reactions: (interface.reactions.iter())
                .map(|reaction| (reaction.name.to_string(), reaction.input_words()))
                .collect(),
            largest_values: values.chain(fields).collect(),
            table_words: interface.tables.iter().map(largest_operation).max().unwrap_or(0),
            tables: (interface.tables.iter())
                .map(|table| (table.name.to_string(), table.actions.len()))
                .collect(),
        }
    }

    /// Returns the words of the largest input.
    pub fn input_words(&self) -> usize {
        self.reactions.iter().map(|(_, words)| *words).max().unwrap_or(0)
    }

    /// Whether malleables have values that their types allow.
    pub fn accepts(&self, malleables: &[u64]) -> bool {
        let fits = |(value, largest): (&u64, &u64)| value <= largest;
        malleables.len() == self.largest_values.len()
            && malleables.iter().zip(&self.largest_values).all(fits)
    }
}

/// Returns the most words that an operation on a table has.
fn largest_operation(table: &ReactionTable) -> usize {
    let keys = table.keys.iter().map(|key| match key.kind {
        KeyKind::Exact => key.ty.words(),
        KeyKind::Lpm | KeyKind::Optional => key.ty.words() + 1,
        KeyKind::Ternary | KeyKind::Range => 2 * key.ty.words(),
    });
    let arguments = table
        .actions
        .iter()
        .map(|action| action.parameters.iter().map(|(_, ty)| ty.words()).sum::<usize>());
    keys.sum::<usize>() + 1 + arguments.max().unwrap_or(0)
}
