// SPDX-License-Identifier: Apache-2.0
//! Errors of control commands: code, place, message and advice.

use crate::command::Origin;
use source::{Code, Explanation};

/// A file or command that cannot be parsed.
pub const SYNTAX: Code = Code("CTL-E0101");
/// A command that does not exist.
pub const UNKNOWN_COMMAND: Code = Code("CTL-E0102");
/// A name that the program does not have.
pub const UNKNOWN_NAME: Code = Code("CTL-E0103");
/// A short name that fits several objects.
pub const AMBIGUOUS_NAME: Code = Code("CTL-E0104");
/// A value that does not fit its key, parameter or cell.
pub const BAD_VALUE: Code = Code("CTL-E0105");
/// Wrong number of keys or arguments, or one missing.
pub const WRONG_COUNT: Code = Code("CTL-E0106");
/// A match that the key's match kind does not allow.
pub const WRONG_MATCH: Code = Code("CTL-E0107");
/// The state store refused the update.
pub const REFUSED: Code = Code("CTL-E0108");
/// A priority is missing or not allowed.
pub const PRIORITY: Code = Code("CTL-E0109");
/// A handle that no earlier command made.
pub const UNKNOWN_HANDLE: Code = Code("CTL-E0110");

/// One mistake in one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlError {
    /// Stable code.
    pub code: Code,
    /// The place of the command.
    pub origin: Origin,
    /// What is wrong.
    pub message: String,
    /// Advice; may be empty.
    pub help: String,
}

impl ControlError {
    /// An error at `origin`.
    pub fn new(code: Code, origin: &Origin, message: impl Into<String>) -> ControlError {
        ControlError { code, origin: origin.clone(), message: message.into(), help: String::new() }
    }

    /// Adds advice.
    pub fn help(mut self, text: impl Into<String>) -> ControlError {
        self.help = text.into();
        self
    }
}

impl std::fmt::Display for ControlError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let message = source::printable(&self.message, MAX_WORD_LENGTH);
        write!(formatter, "error[{}]: {}: {message}", self.code, self.origin)?;
        if !self.help.is_empty() {
            write!(formatter, "\n  help: {}", source::printable(&self.help, MAX_WORD_LENGTH))?;
        }
        Ok(())
    }
}

impl std::error::Error for ControlError {}

/// Messages cut words that are longer than this.
const MAX_WORD_LENGTH: usize = 80;

/// Explanations of the codes of this crate.
pub static EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: SYNTAX,
        title: "a control file or command cannot be parsed",
        text: "Entries are read as BMv2 command text (one command a line), as the JSON of the P4 \
               tutorials (`table_entries`, `multicast_group_entries`, `clone_session_entries`), or as \
               P4Runtime text format. The message says what was expected at the place.",
        wrong: "table_add ipv4_lpm forward 10.0.0.0/8 1",
        right: "table_add ipv4_lpm forward 10.0.0.0/8 => 1",
    },
    Explanation {
        code: UNKNOWN_COMMAND,
        title: "no such control command",
        text: "The commands are those of BMv2's command line that change or read state, such as \
               table_add, table_set_default, mc_mgrp_create, mirroring_add and register_write. \
               docs/control-commands.md lists all commands with their arguments.",
        wrong: "tabel_add t a 1 =>",
        right: "table_add t a 1 =>",
    },
    Explanation {
        code: UNKNOWN_NAME,
        title: "the program has no table, action, field or object of this name",
        text: "Names are the control-plane names: the path of instances from the top block, such as \
               `MyIngress.ipv4_lpm`. A dotted suffix that is unique will do.",
        wrong: "table_add ipv4_lmp forward 10.0.0.0/8 => 1",
        right: "table_add ipv4_lpm forward 10.0.0.0/8 => 1",
    },
    Explanation {
        code: AMBIGUOUS_NAME,
        title: "a short name fits several objects",
        text: "Write more of the path, up to the full control-plane name.",
        wrong: "table_add t drop 1 =>",
        right: "table_add MyIngress.t drop 1 =>",
    },
    Explanation {
        code: BAD_VALUE,
        title: "a value does not fit",
        text: "Values are decimal, 0x, 0o or 0b numbers, IPv4, IPv6 or MAC addresses, `true`, `false`, \
               an error (`error.NoMatch` or `NoMatch`) or an enum member (`Kind.Small` or `Small`). They must \
               fit the width of the key, parameter or cell. Only keys, parameters and cells of a signed type \
               (int<8>) take negative numbers, from -128 to 127 for int<8>; for bit<9>, `-1` is an error, where \
               BMv2's command line would write 0. Multicast groups count from 1: group 0 means no multicast.",
        wrong: "table_add t forward 10.0.0.300/8 => 1",
        right: "table_add t forward 10.0.0.3/32 => 1",
    },
    Explanation {
        code: WRONG_COUNT,
        title: "too many or too few keys or arguments",
        text: "An entry gives one value for each key of its table and each parameter of its action.",
        wrong: "table_add t forward 10.0.0.3/32 =>",
        right: "table_add t forward 10.0.0.3/32 => 1",
    },
    Explanation {
        code: WRONG_MATCH,
        title: "this form of match does not suit the key",
        text: "exact: a value; lpm: value/length, the length always; ternary: value&&&mask; range: low->high (`5->9`); optional: a \
               value or nothing.",
        wrong: "table_add exact_table a 1&&&1 =>",
        right: "table_add exact_table a 1 =>",
    },
    Explanation {
        code: REFUSED,
        title: "the table or object refused the update",
        text: "The reason follows: full, entry exists, entries are const, action not in the table.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: PRIORITY,
        title: "a priority is missing or not allowed",
        text: "Tables with a ternary, range or optional key need a priority for each entry; others have \
               none. In BMv2 command text the smallest number wins, in P4Runtime the largest.",
        wrong: "table_add ternary_table a 1&&&1 =>",
        right: "table_add ternary_table a 1&&&1 => 10",
    },
    Explanation {
        code: UNKNOWN_HANDLE,
        title: "no entry, member, group or node has this handle",
        text: "Handles count from 0 in the order in which things are created, for each table or profile \
               on its own.",
        wrong: "mc_node_associate 1 7",
        right: "mc_mgrp_create 1\nmc_node_create 0 1 2\nmc_node_associate 1 0",
    },
];
