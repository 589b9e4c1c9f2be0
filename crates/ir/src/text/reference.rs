// SPDX-License-Identifier: Apache-2.0
//! How items refer to one another in the text form: by name where the name is unique in its list, else
//! by number as `#3`. Here are the lists and the names under which their items are known.

use crate::Program;
use std::collections::HashMap;
use std::sync::Arc;

use super::token;

/// A list of items that others refer to by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum List {
    Slots,
    HeaderTypes,
    Headers,
    Stacks,
    Tables,
    Actions,
    Registers,
    Counters,
    Meters,
    ActionProfiles,
    ValueSets,
    Calculations,
    Requests,
    Externs,
    Regions,
}

impl List {
    /// What an item of the list is called in messages.
    pub fn item(self) -> &'static str {
        match self {
            List::Slots => "slot",
            List::HeaderTypes => "header type",
            List::Headers => "header",
            List::Stacks => "stack",
            List::Tables => "table",
            List::Actions => "action",
            List::Registers => "register",
            List::Counters => "counter",
            List::Meters => "meter",
            List::ActionProfiles => "action profile",
            List::ValueSets => "value set",
            List::Calculations => "calculation",
            List::Requests => "request",
            List::Externs => "extern",
            List::Regions => "region",
        }
    }

    /// The list that an item with this keyword belongs to.
    pub fn of_keyword(keyword: &str) -> Option<List> {
        Some(match keyword {
            "slot" => List::Slots,
            "header_type" => List::HeaderTypes,
            "header" => List::Headers,
            "stack" => List::Stacks,
            "table" => List::Tables,
            "action" => List::Actions,
            "register" => List::Registers,
            "counter" => List::Counters,
            "meter" => List::Meters,
            "action_profile" => List::ActionProfiles,
            "value_set" => List::ValueSets,
            "calculation" => List::Calculations,
            "request" => List::Requests,
            "extern" => List::Externs,
            "region" => List::Regions,
            _ => return None,
        })
    }

    fn names(self, program: &Program) -> Vec<&Arc<str>> {
        macro_rules! names {
            ($list:ident) => {
                program.$list.iter().map(|item| &item.name).collect()
            };
        }
        match self {
            List::Slots => names!(slots),
            List::HeaderTypes => names!(header_types),
            List::Headers => names!(headers),
            List::Stacks => names!(stacks),
            List::Tables => names!(tables),
            List::Actions => names!(actions),
            List::Registers => names!(registers),
            List::Counters => names!(counters),
            List::Meters => names!(meters),
            List::ActionProfiles => names!(action_profiles),
            List::ValueSets => names!(value_sets),
            List::Calculations => names!(calculations),
            List::Requests => names!(requests),
            List::Regions => names!(regions),
            // A function has no instance and goes by its own name.
            List::Externs => program
                .externs
                .iter()
                .map(|item| if item.instance.is_empty() { &item.type_name } else { &item.instance })
                .collect(),
        }
    }
}

/// How the items of a list are written where others refer to them.
pub(super) fn references(names: &[&Arc<str>]) -> Vec<String> {
    let mut uses: HashMap<&str, u32> = HashMap::new();
    for name in names {
        *uses.entry(name).or_default() += 1;
    }
    let unique = |name: &str| uses.get(name) == Some(&1);
    names
        .iter()
        .enumerate()
        .map(|(at, name)| if unique(name) { token::name(name) } else { format!("#{at}") })
        .collect()
}

/// How every item of a program is written where others refer to it.
pub(super) struct References<'a> {
    program: &'a Program,
    lists: HashMap<List, Vec<String>>,
}

impl<'a> References<'a> {
    pub fn new(program: &'a Program) -> References<'a> {
        References { program, lists: HashMap::new() }
    }

    pub fn get(&mut self, list: List, at: u32) -> String {
        let program = self.program;
        let written = self.lists.entry(list).or_insert_with(|| references(&list.names(program)));
        written.get(at as usize).cloned().unwrap_or_else(|| format!("#{at}"))
    }
}
