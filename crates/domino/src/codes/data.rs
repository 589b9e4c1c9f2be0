// SPDX-License-Identifier: Apache-2.0
//! Codes of errors in files of packets, `DO-E02xx`, with their explanations.

use source::{Code, Explanation};

/// A file of packets without a line of names.
pub const NO_HEADER: Code = Code("DO-E0201");
/// A column that is no field.
pub const UNKNOWN_COLUMN: Code = Code("DO-E0202");
/// A column that is given twice.
pub const DOUBLED_COLUMN: Code = Code("DO-E0203");
/// A line with too few or too many values.
pub const VALUE_COUNT: Code = Code("DO-E0204");
/// A value that is no number of the field's type.
pub const VALUE: Code = Code("DO-E0205");

/// One for each code.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: NO_HEADER,
        title: "a file of packets without a line of names",
        text: "The first line of a CSV file names the packet's fields, separated by commas.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNKNOWN_COLUMN,
        title: "a column that is no field",
        text: "Each name in the first line of a CSV file is a field of the packet. A field without a column starts at 0.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: DOUBLED_COLUMN,
        title: "a column that is given twice",
        text: "Each field has at most one column.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: VALUE_COUNT,
        title: "a line with too few or too many values",
        text: "Each line has one value for each name of the first line.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: VALUE,
        title: "a value that is no number of the field's type",
        text: "Values are decimal, with an optional `-`. An `int` is from -2147483648 to 2147483647, an `unsigned` from 0 to 4294967295.",
        wrong: "",
        right: "",
    },
];
