// SPDX-License-Identifier: Apache-2.0
//! Applies a table: lookup, choice of the action, its run. Matching is in `state`.

use crate::bit_string::BitString;
use crate::block_run::Outcome;
use crate::context::in_width;
use crate::engine::{Frame, Run};
use crate::hash::hash;
use crate::observer::Event;
use ir::{Bits, MatchKind, Operand, OriginId, TableId, Temp};
use state::BoundAction;

/// The action of an application that ran no action, as it hit a group without members.
const NO_ACTION: u64 = u32::MAX as u64;

impl Run<'_> {
    pub(crate) fn apply(
        &mut self,
        frame: Frame<'_>,
        table: TableId,
        keys: &[Operand],
        hit: Temp,
        action: Temp,
        origin: OriginId,
    ) -> Result<(), Outcome> {
        let configuration = self.configuration;
        let mut values = std::mem::take(&mut self.context.keys);
        values.clear();
        values.extend(keys.iter().map(|key| self.value(frame, key).clone()));

        let Some(state) = configuration.table(table) else { return Ok(()) };
        let entry = state.lookup(&values);
        let (bound, action_index) = match entry {
            Some(entry) => {
                self.cells.note_hit(table, entry, self.environment.now_ps());
                let bound = configuration
                    .select_action(table, &entry.action, || self.selector_hash(table, &values));
                // A shared profile's member may have an action that is not the table's; it does not run.
                let index = bound.and_then(|bound| state.action_index(bound.action));
                (bound.filter(|_| index.is_some()), index)
            }
            None => {
                let default = state.default_action();
                (Some(&default.action), Some(default.action_index))
            }
        };
        if let Some(observer) = &mut self.observer {
            let event = Event::TableApplied { table, keys: &values, entry, action: bound };
            observer.observe(Some(origin), event);
        }
        // Actions apply no tables, so the scratch list is free until the next application.
        self.context.keys = values;

        self.define(frame, hit, Bits::from_bit(entry.is_some()));
        let action_number = action_index.map_or(NO_ACTION, u64::from);
        let action_width_bits = self.temp_width_bits(frame, action);
        self.define(frame, action, Bits::from_u64(action_width_bits, action_number));

        if entry.is_some() {
            for &counter in &self.interpreter.automatic_counters[table.index()] {
                self.cells.count_direct(counter, entry, self.environment.packet_length_bytes());
                self.notify(Some(origin), |_| Event::Counted { counter, index: None });
            }
        }
        let outer = std::mem::replace(&mut self.entry, entry);
        let result = match bound {
            Some(bound) => self.action(bound, origin),
            None => Ok(()),
        };
        self.entry = outer;
        self.notify(Some(origin), |_| Event::ActionEnded { table });
        result
    }

    fn action(&mut self, bound: &BoundAction, origin: OriginId) -> Result<(), Outcome> {
        let action = &self.program.actions[bound.action.index()];
        for (parameter, value) in action.parameters.iter().zip(&bound.arguments) {
            self.store_slot(parameter.slot, value, origin);
        }
        self.region(action.region)
    }

    /// The hash over the selector keys, in the selector's output width.
    fn selector_hash(&self, table: TableId, values: &[Bits]) -> u64 {
        let declared = &self.program.tables[table.index()];
        let selector = declared
            .implementation
            .and_then(|profile| self.program.action_profiles.get(profile.index())?.selector);
        let Some((algorithm, width_bits)) = selector else { return 0 };
        let mut input = BitString::new();
        for (key, value) in declared.keys.iter().zip(values) {
            if key.match_kind == MatchKind::Selector {
                input.push(value);
            }
        }
        let hash = hash(algorithm, input.as_bytes(), self.configuration.replication());
        in_width(&Bits::from_u64(64, hash), width_bits).low_u64()
    }
}
