// SPDX-License-Identifier: Apache-2.0
//! Resolves names and texts of commands against a program: keys, actions and their arguments, replicas, members of value
//! sets. `session` keeps the handles that only BMv2's commands have.

use crate::command::{Arguments, EntryAction, MatchText, Matches, Origin, Priority};
use crate::error::{
    BAD_VALUE, ControlError, PRIORITY, SYNTAX, UNKNOWN_NAME, WRONG_COUNT, WRONG_MATCH,
};
use crate::values::{self, Wanted};
use crate::{lookup, patterns};
use ir::{ActionProfileId, KeyPattern, MatchKind, Program, TableId};
use state::{ActionData, BoundAction, GroupId, MemberId, NewEntry, Replica};

/// One command against one program.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'a> {
    /// The program.
    pub program: &'a Program,
    /// The place of the command.
    pub origin: &'a Origin,
    /// STF leaves out exact keys that are zero, priorities, and the length of whole prefixes.
    pub lenient: bool,
}

impl Resolver<'_> {
    /// Creates an error at the command.
    pub fn error(&self, code: source::Code, message: impl Into<String>) -> ControlError {
        ControlError::new(code, self.origin, message)
    }

    /// Checks that a number fits 32 bits.
    pub fn small(&self, number: u64, what: &str) -> Result<u32, ControlError> {
        u32::try_from(number)
            .map_err(|_| self.error(BAD_VALUE, format!("{what} {number} is too large")))
    }

    /// The same for a number that may be left out.
    pub fn small_option(
        &self,
        number: Option<u64>,
        what: &str,
    ) -> Result<Option<u32>, ControlError> {
        number.map(|number| self.small(number, what)).transpose()
    }

    /// Ports.
    pub fn ports(&self, ports: &[u64]) -> Result<Vec<u32>, ControlError> {
        ports.iter().map(|port| self.small(*port, "port")).collect()
    }

    /// Copies: port and instance of each.
    pub fn replicas(&self, replicas: &[(u64, u64)]) -> Result<Vec<Replica>, ControlError> {
        let one = |(port, instance): &(u64, u64)| {
            Ok(Replica {
                egress_port: self.small(*port, "port")?,
                instance: self.small(*instance, "instance")?,
            })
        };
        replicas.iter().map(one).collect()
    }

    /// An entry of a table.
    pub fn entry(
        &self,
        table: TableId,
        matches: &Matches,
        target: &EntryAction,
        priority: Priority,
        timeout_ms: Option<u64>,
    ) -> Result<NewEntry, ControlError> {
        let declared = &self.program.tables[table.index()];
        let keys = self.keys(table, matches)?;
        let takes_priority = declared.has_priorities();
        // In BMv2's command text the priority is one word more than the action has parameters.
        let surplus = priority == Priority::Absent && matches!(matches, Matches::Positional(_));
        let (action, surplus) = self.action_data(table, target, surplus)?;
        let priority = match surplus {
            Some(text) => match text.parse() {
                Ok(number) => Priority::SmallestWins(number),
                Err(_) => {
                    let message = format!(
                        "table `{}`: the priority must be a number, not `{text}`",
                        declared.name
                    );
                    return Err(self.error(PRIORITY, message));
                }
            },
            None => priority,
        };
        if priority != Priority::Absent && !takes_priority && !self.lenient {
            let message = format!("table `{}`: its entries take no priority", declared.name);
            return Err(self.error(PRIORITY, message).help(
                "only tables with ternary, range or optional keys choose among entries by priority",
            ));
        }
        let priority = match priority {
            Priority::Absent if takes_priority && !self.lenient => {
                let message = format!("table `{}`: the entry needs a priority", declared.name);
                return Err(self.error(PRIORITY, message).help(
                    "tables with ternary, range or optional keys choose among entries by priority",
                ));
            }
            Priority::Absent => 0,
            Priority::LargestWins(number) => number,
            Priority::SmallestWins(number) => i64::from(i32::MAX).saturating_sub(number),
        };
        Ok(NewEntry {
            keys,
            priority,
            action,
            idle_timeout_ns: timeout_ms.unwrap_or(0).saturating_mul(1_000_000),
            metadata: Vec::new(),
            cookie: 0,
        })
    }

    /// The patterns of an entry's keys, selector keys left out.
    pub fn keys(&self, table: TableId, matches: &Matches) -> Result<Vec<KeyPattern>, ControlError> {
        let program = self.program;
        let declared = &program.tables[table.index()];
        let matched: Vec<usize> = (0..declared.keys.len())
            .filter(|at| declared.keys[*at].match_kind != MatchKind::Selector)
            .collect();
        let mut texts: Vec<Option<&MatchText>> = vec![None; declared.keys.len()];
        match matches {
            Matches::Positional(list) => {
                if list.len() != matched.len() {
                    let names: Vec<&str> =
                        matched.iter().map(|at| &*declared.keys[*at].name).collect();
                    let message = format!(
                        "table `{}` has {} ({}), the entry gives {}",
                        declared.name,
                        count(matched.len(), "key"),
                        names.join(", "),
                        list.len()
                    );
                    return Err(self.error(WRONG_COUNT, message));
                }
                for (at, text) in matched.iter().zip(list) {
                    texts[*at] = Some(text);
                }
            }
            Matches::Named(list) => {
                for (name, text) in list {
                    let at = lookup::key(program, table, name, self.origin)?;
                    if texts[at].replace(text).is_some() {
                        let message =
                            format!("table `{}`: key `{name}` is given twice", declared.name);
                        return Err(self.error(WRONG_COUNT, message));
                    }
                }
            }
        }
        let zero = MatchText::Value("0".to_string());
        let mut keys = Vec::new();
        for at in matched {
            let key = &declared.keys[at];
            let text = match texts[at] {
                Some(text) => text,
                None if key.match_kind == MatchKind::Exact && !self.lenient => {
                    let message =
                        format!("table `{}`: exact key `{}` is missing", declared.name, key.name);
                    return Err(self.error(WRONG_COUNT, message));
                }
                None if key.match_kind == MatchKind::Exact => &zero,
                None => &MatchText::Any,
            };
            let place = format!("table `{}`, key `{}`", declared.name, key.name);
            let pattern = patterns::pattern(text, key, &program.errors)
                .map_err(|(code, why)| self.error(code, format!("{place}: {why}")))?;
            if !self.lenient
                && let Some((why, help)) = patterns::without_length(text, key)
            {
                return Err(self.error(WRONG_MATCH, format!("{place}: {why}")).help(help));
            }
            keys.push(pattern);
        }
        Ok(keys)
    }

    /// What an entry does; where `surplus` is allowed, one argument too many is handed back.
    pub fn action_data(
        &self,
        table: TableId,
        target: &EntryAction,
        surplus: bool,
    ) -> Result<(ActionData, Option<String>), ControlError> {
        Ok(match target {
            EntryAction::Action(action, arguments) => {
                let (action, surplus) = self.bound_action(table, action, arguments, surplus)?;
                (ActionData::Direct(action), surplus)
            }
            EntryAction::Member(member) => {
                (ActionData::Member(MemberId(self.small(*member, "member")?)), None)
            }
            EntryAction::Group(group) => {
                (ActionData::Group(GroupId(self.small(*group, "group")?)), None)
            }
            EntryAction::Missing => {
                let name = &self.program.tables[table.index()].name;
                return Err(self.error(SYNTAX, format!("table `{name}`: `action` is missing")));
            }
        })
    }

    /// The action with its arguments; where `surplus` is allowed, one argument too many is handed back.
    pub fn bound_action(
        &self,
        table: TableId,
        action: &str,
        arguments: &Arguments,
        surplus: bool,
    ) -> Result<(BoundAction, Option<String>), ControlError> {
        let program = self.program;
        let at = lookup::table_action(program, table, action, self.origin)?;
        let declared = &program.tables[table.index()];
        let action = declared.actions[at].action;
        self.arguments(action, arguments, surplus, &format!("table `{}`, ", declared.name))
    }

    /// An action of a profile: one of the tables that use the profile.
    pub fn profile_action(
        &self,
        profile: ActionProfileId,
        action: &str,
        arguments: &Arguments,
    ) -> Result<BoundAction, ControlError> {
        let program = self.program;
        let users = || {
            (0..program.tables.len())
                .filter(|at| program.tables[*at].implementation == Some(profile))
        };
        let name = &program.action_profiles[profile.index()].name;
        let mut problem = None;
        for at in users() {
            let table = TableId(at as u32);
            match lookup::table_action(program, table, action, self.origin) {
                Ok(at) => {
                    let action = program.tables[table.index()].actions[at].action;
                    let place = format!("action profile `{name}`, ");
                    return self.arguments(action, arguments, false, &place).map(|bound| bound.0);
                }
                Err(error) => problem = Some(error),
            }
        }
        Err(problem.unwrap_or_else(|| {
            self.error(UNKNOWN_NAME, format!("no table uses action profile `{name}`"))
        }))
    }

    /// An action with its arguments, in the words of `place`.
    fn arguments(
        &self,
        action: ir::ActionId,
        arguments: &Arguments,
        surplus: bool,
        place: &str,
    ) -> Result<(BoundAction, Option<String>), ControlError> {
        let program = self.program;
        let declared = &program.actions[action.index()];
        let wanted = declared.parameters.len();
        let mut rest = None;
        let texts: Vec<&str> = match arguments {
            Arguments::Positional(list) => {
                let mut list: Vec<&str> = list.iter().map(String::as_str).collect();
                if surplus && list.len() == wanted + 1 {
                    rest = list.pop().map(str::to_string);
                }
                if list.len() != wanted {
                    let names: Vec<&str> =
                        declared.parameters.iter().map(|each| &*each.name).collect();
                    let message = format!(
                        "{place}action `{}` has {} ({}), the entry gives {}",
                        declared.name,
                        count(wanted, "parameter"),
                        names.join(", "),
                        list.len()
                    );
                    return Err(self.error(WRONG_COUNT, message));
                }
                list
            }
            Arguments::Named(list) => {
                let at = |name: &str| lookup::parameter(declared, name);
                for (name, _) in list {
                    if at(name).is_none() {
                        let known = declared.parameters.iter().map(|each| &*each.name);
                        let message =
                            format!("{place}action `{}` has no parameter `{name}`", declared.name);
                        let error = self.error(UNKNOWN_NAME, message);
                        return Err(match source::nearest(name, known) {
                            Some(near) => error.help(format!("did you mean `{near}`?")),
                            None => error,
                        });
                    }
                }
                let find = |(number, parameter): (usize, &ir::ActionParameter)| {
                    let found = list.iter().find(|(name, _)| at(name) == Some(number));
                    found.map(|(_, text)| text.as_str()).ok_or_else(|| {
                        let message = format!(
                            "{place}action `{}`: parameter `{}` is missing",
                            declared.name, parameter.name
                        );
                        self.error(WRONG_COUNT, message)
                    })
                };
                declared.parameters.iter().enumerate().map(find).collect::<Result<_, _>>()?
            }
        };
        let mut values = Vec::new();
        for (parameter, text) in declared.parameters.iter().zip(texts) {
            let slot = &program.slots[parameter.slot.index()];
            let value = values::read(
                text,
                Wanted {
                    width_bits: slot.ty.width_bits(),
                    display: &slot.display,
                    errors: &program.errors,
                },
            );
            values.push(value.map_err(|why| {
                let message = format!(
                    "{place}action `{}`, parameter `{}`: {why}",
                    declared.name, parameter.name
                );
                self.error(BAD_VALUE, message)
            })?);
        }
        Ok((BoundAction { action, arguments: values }, rest))
    }

    /// A member of a value set: one pattern a component.
    pub fn value_set_member(
        &self,
        set: ir::ValueSetId,
        value: &[MatchText],
    ) -> Result<Vec<KeyPattern>, ControlError> {
        let declared = &self.program.value_sets[set.index()];
        if value.len() != declared.components.len() {
            let message = format!(
                "value set `{}` has {}, the member gives {}",
                declared.name,
                count(declared.components.len(), "component"),
                value.len()
            );
            return Err(self.error(WRONG_COUNT, message));
        }
        let one = |(text, key): (&MatchText, &ir::Key)| {
            patterns::pattern(text, key, &self.program.errors).map_err(|(code, why)| {
                self.error(code, format!("value set `{}`: {why}", declared.name))
            })
        };
        value.iter().zip(&declared.components).map(one).collect()
    }
}

/// A number of things, in words.
pub fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
