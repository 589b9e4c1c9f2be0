// SPDX-License-Identifier: Apache-2.0
//! Functions in C that write malleable tables, typed by keys and parameters: `T_add_A`, `T_mod_A`, `T_del`, `T_find`,
//! `T_default_A` and `T_reset_default`. Each passes its words to the loader.

use super::codes::FUNCTION_NAME;
use super::values::{c_name, c_type, is_wide, to_words};
use crate::interface::{Interface, KeyKind, ReactionTable, Scalar, TableOperation};
use source::{Diagnostic, Diagnostics};
use std::collections::{BTreeMap, BTreeSet};

/// A function in C.
pub struct TableFunction {
    /// Its name.
    pub name: String,
    /// Its parameters, as C declares them.
    parameters: Vec<String>,
    words: Vec<String>,
    operation: TableOperation,
    /// The index of its table.
    pub table: usize,
    action: usize,
}

impl TableFunction {
    /// Returns the function's declaration.
    pub fn signature(&self) -> String {
        let parameters = match self.parameters.is_empty() {
            true => "void".to_string(),
            false => self.parameters.join(", "),
        };
        let result = match self.operation {
            TableOperation::Add | TableOperation::Find => "uint64_t",
            _ => "_Bool",
        };
        format!("{result} {}({parameters})", self.name)
    }

    /// Returns the function's definition, on one line.
    pub fn definition(&self) -> String {
        let (words, count) = match self.words.is_empty() {
            true => ("0".to_string(), 0),
            false => (self.words.join(", "), self.words.len()),
        };
        format!(
            "static inline {} {{ const uint64_t p4r_words[] = {{ {words} }}; return p4r_host->table(p4r_host->context, \
             {}, {}, {}, p4r_words, {count}); }}",
            self.signature(),
            self.operation as u32,
            self.table,
            self.action,
        )
    }
}

/// Parameters and words of a function under construction.
#[derive(Clone, Default)]
struct Builder {
    names: Vec<String>,
    parameters: Vec<String>,
    words: Vec<String>,
}

impl Builder {
    fn unique(&mut self, name: &str) -> String {
        let mut unique = name.to_string();
        let mut number = 2;
        while self.names.contains(&unique) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        self.names.push(unique.clone());
        unique
    }

    fn value(&mut self, ty: &Scalar, name: &str) {
        let name = self.unique(&c_name(name));
        self.parameters.push(match is_wide(ty) {
            true => format!("const uint8_t *{name}"),
            false => format!("{} {name}", c_type(ty)),
        });
        self.words.extend(to_words(ty, &name));
    }

    fn number(&mut self, ty: &str, name: &str) {
        let name = self.unique(&c_name(name));
        self.parameters.push(format!("{ty} {name}"));
        self.words.push(format!("(uint64_t){name}"));
    }

    fn keys(&mut self, table: &ReactionTable) {
        for key in &table.keys {
            let named = |suffix: &str| format!("{}{suffix}", key.name);
            match key.kind {
                KeyKind::Exact => self.value(&key.ty, &key.name),
                KeyKind::Lpm => {
                    self.value(&key.ty, &key.name);
                    self.number("uint32_t", &named("_length"));
                }
                KeyKind::Ternary => {
                    self.value(&key.ty, &key.name);
                    self.value(&key.ty, &named("_mask"));
                }
                KeyKind::Range => {
                    self.value(&key.ty, &named("_low"));
                    self.value(&key.ty, &named("_high"));
                }
                KeyKind::Optional => {
                    self.value(&key.ty, &key.name);
                    self.number("_Bool", &named("_is_set"));
                }
            }
        }
        if table.has_priorities {
            self.number("int32_t", "priority");
        }
    }

    fn arguments(&mut self, parameters: &[(std::sync::Arc<str>, Scalar)]) {
        for (name, ty) in parameters {
            self.value(ty, name);
        }
    }

    fn function(
        self,
        name: String,
        operation: TableOperation,
        table: usize,
        action: usize,
    ) -> TableFunction {
        let Builder { parameters, words, .. } = self;
        TableFunction { name, parameters, words, operation, table, action }
    }
}

/// Returns the functions of all tables.
pub fn table_functions(interface: &Interface) -> Vec<TableFunction> {
    let mut functions = Vec::new();
    for (index, table) in interface.tables.iter().enumerate() {
        let name = &table.name;
        let mut keys = Builder::default();
        keys.keys(table);
        let mut handle = Builder::default();
        handle.number("uint64_t", "handle");
        for (action_index, action) in table.actions.iter().enumerate() {
            let mut function = |mut builder: Builder, verb: &str, operation| {
                builder.arguments(&action.parameters);
                let name = format!("{name}_{verb}_{}", action.name);
                functions.push(builder.function(name, operation, index, action_index));
            };
            if action.is_for_entries && !table.keys.is_empty() {
                function(keys.clone(), "add", TableOperation::Add);
                function(handle.clone(), "mod", TableOperation::Modify);
            }
            if action.is_for_default && table.default_may_change {
                function(Builder::default(), "default", TableOperation::SetDefault);
            }
        }
        let mut function = |builder: Builder, verb: &str, operation| {
            functions.push(builder.function(format!("{name}_{verb}"), operation, index, 0));
        };
        if !table.keys.is_empty() {
            function(handle, "del", TableOperation::Delete);
            function(keys, "find", TableOperation::Find);
        }
        if table.default_may_change {
            function(Builder::default(), "reset_default", TableOperation::ResetDefault);
        }
    }
    functions
}

/// Reports functions of two tables that have one name: of `t` with the action `add_a`, and of `t_add` with the action `a`.
pub fn check_functions(interface: &Interface, found: &mut Diagnostics) {
    let functions = table_functions(interface);
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reported = BTreeSet::new();
    for function in &functions {
        let (one, two) = (known.get(&*function.name), function.table);
        let Some(one) = one.copied().filter(|one| *one != two && reported.insert((*one, two)))
        else {
            known.entry(&function.name).or_insert(two);
            continue;
        };
        let [one, two] = [one, two].map(|table| &interface.tables[table]);
        let message = format!("two functions are `{}` in C", function.name);
        found.push(
            Diagnostic::error(FUNCTION_NAME, two.span, message)
                .label(one.span, format!("one is of this table, `{}`", one.name))
                .here(format!("the other is of `{}`", two.name))
                .help("rename a table or an action"),
        );
    }
}
