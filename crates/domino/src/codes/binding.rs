// SPDX-License-Identifier: Apache-2.0
//! Codes of errors in binding files, `DO-E03xx`, with their explanations.

use source::{Code, Explanation};

/// A binding file that is not TOML.
pub const SYNTAX: Code = Code("DO-E0301");
/// A value that a binding file cannot have.
pub const VALUE: Code = Code("DO-E0302");
/// A section that binding files do not have.
pub const UNKNOWN_SECTION: Code = Code("DO-E0303");
/// A binding of a field that the packet does not have.
pub const UNKNOWN_FIELD: Code = Code("DO-E0304");
/// A binding to what no frame has.
pub const UNKNOWN_SOURCE: Code = Code("DO-E0305");

/// One for each code.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: SYNTAX,
        title: "a binding file that is not TOML",
        text: "A binding file has sections in brackets and lines of a name, `=` and a value.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: VALUE,
        title: "a value that a binding file cannot have",
        text: "In `[fields]` each value is the name of a header field or of a property of the frame, in quotes. In `[ports]` names and values are numbers of ports.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNKNOWN_SECTION,
        title: "a section that binding files do not have",
        text: "A binding file has the sections `[fields]` and `[ports]`.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNKNOWN_FIELD,
        title: "a binding of a field that the packet does not have",
        text: "Each name in `[fields]` is a field of the program's packet.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNKNOWN_SOURCE,
        title: "a binding to what no frame has",
        text: "A field stands for a header field such as `ipv4.source`, or for `length`, `time`, `ingress_port`, `egress_port`, `drop` or `congestion`. docs/domino.md lists all of them.",
        wrong: "",
        right: "",
    },
];
