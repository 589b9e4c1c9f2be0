// SPDX-License-Identifier: Apache-2.0
//! [`Dialogue`]: the record of one dialogue: what was read, decided and committed, and how long each step took. `--trace`
//! prints it as text.

use super::host::Decided;
use crate::interface::{Argument, ArgumentKind, Interface, Reaction, Scalar, path_text};
use ir::{Bits, KeyPattern, Program, TableId};
use source::quantity::rounded;
use state::{ActionData, BoundAction, Update};
use std::fmt::Write;
use std::sync::Arc;

/// The most cells of a register argument in a record.
const MAX_CELLS: usize = 16;

/// The most updates of tables in a record.
const MAX_UPDATES: usize = 8;

/// One dialogue. Times are of the device, in picoseconds; 0 for steps that it did not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dialogue {
    /// Its number, from 1; of `init` the number of the dialogue before.
    pub number: u64,
    /// Whether it is a call of `init` instead of reactions.
    pub is_init: bool,
    /// When it began.
    pub began_ps: u64,
    /// When the flip of the working copy was known.
    pub flipped_ps: u64,
    /// When the packets of the other copy had left.
    pub left_ps: u64,
    /// When the copy was read.
    pub read_ps: u64,
    /// When the reactions had decided.
    pub computed_ps: u64,
    /// When the commit was known; 0 if nothing was committed.
    pub committed_ps: u64,
    /// When it ended.
    pub ended_ps: u64,
    /// Reloads before it.
    pub notes: Vec<String>,
    /// The reactions that were called.
    pub calls: Vec<Call>,
    /// What they decided, such as `${v} = 3`.
    pub decisions: Vec<String>,
    /// Why the commit failed, or which reaction is dead.
    pub failure: Option<String>,
}

/// A call of a reaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The reaction.
    pub reaction: Arc<str>,
    /// The arguments that it read, such as `hdr.ipv4.src = 7`.
    pub measured: Vec<String>,
}

impl Dialogue {
    pub(super) fn note_call(&mut self, reaction: &Reaction, input: &[u64]) {
        let mut words = input;
        let mut measured = Vec::new();
        for argument in &reaction.arguments {
            measure(argument, &mut words, &mut measured);
        }
        for (path, valid) in reaction.validities.iter().zip(words) {
            measured.push(format!("valid({}) = {valid}", path_text(path)));
        }
        self.calls.push(Call { reaction: reaction.name.clone(), measured });
    }

    pub(super) fn note_decisions(
        &mut self,
        interface: &Interface,
        written: &Program,
        before: &[u64],
        decided: &Decided,
    ) {
        let values = interface.values.iter().map(|value| (&value.name, None));
        let fields = interface.fields.iter().map(|field| (&field.name, Some(&field.alternatives)));
        for (at, (name, alternatives)) in values.chain(fields).enumerate() {
            let value = decided.malleables[at];
            if value != before[at] {
                let text = match alternatives {
                    Some(alternatives) => alternatives[value as usize].to_string(),
                    None => value.to_string(),
                };
                self.decisions.push(format!("${{{name}}} = {text}"));
            }
        }
        let updates = decided.updates.iter().take(MAX_UPDATES);
        self.decisions.extend(updates.filter_map(|update| update_text(written, update)));
        let more = decided.updates.len().saturating_sub(MAX_UPDATES);
        if more > 0 {
            self.decisions.push(format!("{more} more changes of entries"));
        }
    }

    /// The record as lines of text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            let _ = writeln!(text, "{note} at {}", rounded(self.began_ps));
        }
        let title = match self.is_init {
            true => "`init`".to_string(),
            false => format!("dialogue {}", self.number),
        };
        let took_ps = self.ended_ps - self.began_ps;
        let _ = writeln!(text, "{title} at {}, {}", rounded(self.began_ps), rounded(took_ps));
        let mut last_ps = self.began_ps;
        let steps = [
            ("flip", self.flipped_ps),
            ("wait", self.left_ps),
            ("read", self.read_ps),
            ("react", self.computed_ps),
            ("commit", self.committed_ps),
        ];
        let mut parts = Vec::new();
        for (name, at_ps) in steps {
            if at_ps > 0 {
                parts.push(format!("{name} {}", rounded(at_ps.saturating_sub(last_ps))));
                last_ps = at_ps.max(last_ps);
            }
        }
        if !parts.is_empty() {
            let _ = writeln!(text, "    {}", parts.join(", "));
        }
        for Call { reaction, measured } in &self.calls {
            let _ = writeln!(text, "    {reaction}({})", measured.join(", "));
        }
        match &self.decisions[..] {
            [] if self.failure.is_none() => text.push_str("    nothing changed\n"),
            [] => {}
            all => {
                let _ = writeln!(text, "    {}", all.join(", "));
            }
        }
        if let Some(why) = &self.failure {
            let _ = writeln!(text, "    failed: {why}");
        }
        text
    }
}

/// Takes the words of an argument and adds what they measure.
fn measure(argument: &Argument, words: &mut &[u64], measured: &mut Vec<String>) {
    let mut take = |ty: &Scalar| {
        let count = ty.words().min(words.len());
        let (own, rest) = words.split_at(count);
        *words = rest;
        number(&Bits::from_words(ty.width_bits, own))
    };
    let name = |written: String| argument.name.as_ref().map_or(written, |name| name.to_string());
    match &argument.kind {
        ArgumentKind::Field { path, ty } => {
            measured.push(format!("{} = {}", name(path_text(path)), take(ty)));
        }
        ArgumentKind::Header { path, fields } => {
            let header = name(path_text(path));
            for (field, ty) in fields {
                measured.push(format!("{header}.{field} = {}", take(ty)));
            }
        }
        ArgumentKind::Register { register, ty, first, last } => {
            let cells: Vec<String> = (*first..=*last).map(|_| take(ty)).collect();
            let dots = if cells.len() > MAX_CELLS { " ..." } else { "" };
            let shown = cells[..cells.len().min(MAX_CELLS)].join(" ");
            let register = name(register.to_string());
            measured.push(format!("{register}[{first}:{last}] = {shown}{dots}"));
        }
        ArgumentKind::Malleable { malleable, ty } => {
            measured.push(format!("{} = {}", name(format!("${{{malleable}}}")), take(ty)));
        }
        ArgumentKind::Constant { .. } => {}
    }
}

fn number(value: &Bits) -> String {
    value.to_biguint().to_string()
}

fn update_text(program: &Program, update: &Update) -> Option<String> {
    let name = |table: &TableId| program.tables[table.index()].name.clone();
    let bound = |action: &BoundAction| {
        let arguments: Vec<String> = action.arguments.iter().map(number).collect();
        format!("{}({})", program.actions[action.action.index()].name, arguments.join(", "))
    };
    let data = |action: &ActionData| match action {
        ActionData::Direct(action) => bound(action),
        _ => String::new(),
    };
    Some(match update {
        Update::InsertEntry { table, entry } => {
            format!("{}: add {} {}", name(table), keys(&entry.keys), data(&entry.action))
        }
        Update::ModifyEntry { table, entry } => {
            format!("{}: modify {} {}", name(table), keys(&entry.keys), data(&entry.action))
        }
        Update::DeleteEntry { table, keys: own, .. } => {
            format!("{}: delete {}", name(table), keys(own))
        }
        Update::SetDefaultAction { table, action } => {
            let action = action.as_ref().map_or_else(|| "as in the program".to_string(), bound);
            format!("{}: default {action}", name(table))
        }
        _ => return None,
    })
}

fn keys(keys: &[KeyPattern]) -> String {
    let text = |pattern: &KeyPattern| match pattern {
        KeyPattern::Any => "_".to_string(),
        KeyPattern::Exact(value) => number(value),
        KeyPattern::Prefix { value, length_bits } => format!("{}/{length_bits}", number(value)),
        KeyPattern::Ternary { value, mask } => format!("{}&&&{}", number(value), number(mask)),
        KeyPattern::Range { low, high } => format!("{}..{}", number(low), number(high)),
    };
    let texts: Vec<String> = keys.iter().map(text).collect();
    format!("[{}]", texts.join(" "))
}
