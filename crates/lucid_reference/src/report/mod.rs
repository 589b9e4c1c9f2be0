// SPDX-License-Identifier: Apache-2.0
//! Reports of a run: event log, JSON lines, final state, counters, time line, verdicts on expectations, and
//! pending events. They are made of observations; nothing here runs a program.

mod counters;
mod detours;
#[cfg(test)]
pub(crate) mod example;
mod expected;
mod expected_arguments;
mod final_state;
mod json;
mod observers;
mod only;
mod pending_events;
mod text;
mod timeline;
mod values;
mod verdicts;

pub use counters::{counter, counter_names, table as counters_table, total};
pub use detours::Detours;
pub use final_state::{state_json, state_text};
pub use json::{JsonLines, kind_name, object as observation_json};
pub use observers::Observers;
pub use only::{OnlyEvents, events_named};
pub use pending_events::PendingEvents;
pub use text::{Detail, TextLog};
pub use timeline::{MAX_ITEMS, TimeLine};
pub use values::{ShownBytes, event_text, integer_json, value_json, value_text};
pub use verdicts::{ReadCell, Verdict, Verdicts};
