// SPDX-License-Identifier: Apache-2.0
//! Codes of what can be wrong with a target: its name or its file.

use source::{Code, Explanation};

/// Not TOML.
pub const SYNTAX: Code = Code("PI-E0101");
/// A field that targets do not have.
pub const UNKNOWN_FIELD: Code = Code("PI-E0102");
/// A field that a target needs.
pub const MISSING: Code = Code("PI-E0103");
/// A value of the wrong kind or out of range.
pub const WRONG_VALUE: Code = Code("PI-E0104");
/// No such target.
pub const UNKNOWN_TARGET: Code = Code("PI-E0105");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: SYNTAX,
        title: "a target file is not TOML",
        text: "Targets are TOML files: sections in brackets, fields as `name = value`. The message \
               says what was expected where.",
        wrong: "[pipeline\nstages = 12\n",
        right: "[pipeline]\nstages = 12\n",
    },
    Explanation {
        code: UNKNOWN_FIELD,
        title: "a target file has a field that targets do not have",
        text: "Sections are `pipeline`, `stage`, `table`, `array`, `memory`, `match`, \
               `stateful-alu` and the list `containers`. A misspelt limit would be no limit, so an \
               unknown field is an error. The message suggests the nearest field.",
        wrong: "[pipeline]\nstages = 12\n[stage]\nhash-unit = 6\n",
        right: "[pipeline]\nstages = 12\n[stage]\nhash-units = 6\n",
    },
    Explanation {
        code: MISSING,
        title: "a target file lacks a field that it needs",
        text: "Only `pipeline.stages` is needed, and in each template and each entry of `containers` \
               the fields that the message names. A resource without a limit is unlimited; sizes of \
               memory blocks are those of Tofino where nothing is said.",
        wrong: "[pipeline]\nshared = true\n",
        right: "[pipeline]\nstages = 12\nshared = true\n",
    },
    Explanation {
        code: WRONG_VALUE,
        title: "a field of a target file has a value that cannot be",
        text: "Numbers are whole and not negative, some not zero; a number may be given with its \
               origin, as `{ value = 16, source = \"data sheet, page 3\" }`. The message says what \
               is wanted.",
        wrong: "[pipeline]\nstages = \"twelve\"\n",
        right: "[pipeline]\nstages = { value = 12, source = \"the data sheet\" }\n",
    },
    Explanation {
        code: UNKNOWN_TARGET,
        title: "there is no target of this name",
        text: "`tofino`, `rmt` and `banzai` are shipped. Another is a TOML file whose path is given \
               instead of a name.",
        wrong: "",
        right: "",
    },
];
