// SPDX-License-Identifier: Apache-2.0
//! Generates tables, lookups, and the commands that install and remove entries.

use super::Generator;

/// A table of integers of 32 bits.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Widths of the key's fields.
    pub(super) key: Vec<u32>,
    pub(super) size: u32,
}

/// Names of the actions of a table and what they give.
const ACTIONS: [(&str, &str); 3] =
    [("give", "found + asked"), ("flip", "found ^^ asked"), ("keep", "found")];

impl Table {
    pub(super) fn declaration(&self, at: usize) -> String {
        let mut text = String::new();
        for (name, result) in ACTIONS {
            text.push_str(&format!(
                "action int {name}{at}(int found)(int asked) {{ return {result}; }}\n"
            ));
        }
        let fields: Vec<String> = self.key.iter().map(|width| format!("int<{width}>")).collect();
        let key = match fields.as_slice() {
            [one] => one.clone(),
            several => format!("({})", several.join(", ")),
        };
        text.push_str(&format!(
            "global Table.t<<{key}, int, int, int>> state{at} = \
             Table.create({}, [give{at}; flip{at}; keep{at}], give{at}, 5);",
            self.size
        ));
        text
    }
}

impl Generator {
    pub(super) fn table(&mut self) -> Table {
        let keys: [&[u32]; 4] = [&[32], &[8], &[32, 8], &[16, 9]];
        Table { key: keys[self.choose(4)].to_vec(), size: [8, 2][self.choose(2)] }
    }

    /// A lookup: most keys are small numbers, as those of entries are.
    pub(super) fn lookup(&mut self, at: usize, table: &Table) -> String {
        let fields: Vec<String> = table.key.iter().map(|width| self.key(*width)).collect();
        let key = match fields.as_slice() {
            [one] => one.clone(),
            several => format!("({})", several.join(", ")),
        };
        let asked = self.integer(32, 1);
        format!("Table.lookup(state{at}, {key}, {asked})")
    }

    fn key(&mut self, width: u32) -> String {
        let value = self.integer(width, 1);
        match self.choose(4) {
            3 => value,
            _ => format!("({value} & 3)"),
        }
    }

    /// A command that installs or removes an entry, without its time and place.
    pub(super) fn table_command(&mut self, at: usize, table: &Table) -> String {
        let mut keys = Vec::new();
        let mut masks = Vec::new();
        for width in &table.key {
            let all = (1u64 << width) - 1;
            keys.push((u64::from(self.any()) % 4).to_string());
            masks.push(match self.choose(4) {
                3 => 0,
                2 => 1,
                _ => all,
            });
        }
        if self.choose(5) == 4 {
            let fields: Vec<String> = keys
                .iter()
                .zip(&masks)
                .map(|(key, mask)| if *mask == 0 { "\"_\"".to_owned() } else { key.clone() })
                .collect();
            return format!(
                "\"name\": \"Table.remove\", \"args\": {{\"table\": \"state{at}\", \"key\": [{}]}}",
                fields.join(", ")
            );
        }
        let masks: Vec<String> = masks.iter().map(u64::to_string).collect();
        let (action, _) = ACTIONS[self.choose(ACTIONS.len())];
        format!(
            "\"name\": \"Table.install\", \"args\": {{\"table\": \"state{at}\", \"key\": [{}], \
             \"mask\": [{}], \"priority\": {}, \"action\": \"{action}{at}\", \"args\": [{}]}}",
            keys.join(", "),
            masks.join(", "),
            self.choose(4),
            self.constant(32)
        )
    }
}
