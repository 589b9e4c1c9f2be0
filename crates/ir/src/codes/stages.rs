// SPDX-License-Identifier: Apache-2.0
//! Codes of what keeps a control from being cut into stages: `IR-E03xx`.

use source::{Code, Explanation};

/// Not a control.
pub const NOT_A_CONTROL: Code = Code("IR-E0301");
/// A loop at run time.
pub const LOOP: Code = Code("IR-E0302");
/// `exit` in an action that is still in its table.
pub const EXIT: Code = Code("IR-E0303");
/// Stages that contradict the program's order.
pub const ILLEGAL: Code = Code("IR-E0304");

/// What `plane explain` says about each.
pub static EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: NOT_A_CONTROL,
        title: "only controls are cut into stages",
        text: "Stages are match-action stages, which hold the code of controls. Parsers and deparsers \
               are other parts of a pipeline. Name a control of the package.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: LOOP,
        title: "a loop at run time cannot be cut into stages",
        text: "A packet passes each stage once. Code that may run again at run time would have to go back to \
               an earlier stage. Loops whose number of rounds is a constant are unrolled: write a bound.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: EXIT,
        title: "an action that exits is still in its table",
        text: "An `exit` in an action ends the control, also its later stages, and these decide by conditions \
               that they can read. The code of the action has to be moved behind the table first \
               (`ir::stages::behind_tables`), where the `exit` is a branch like others.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: ILLEGAL,
        title: "stages that change what the program does",
        text: "An instruction is in no earlier stage than one whose result, condition or effect it needs, and \
               all accesses to one register array, counter, meter or extern, and those of one `@atomic` block, \
               are in one stage. The message names both instructions and why their order matters. Give the \
               second a later stage, or the first an earlier one.",
        wrong: "",
        right: "",
    },
];
