// SPDX-License-Identifier: Apache-2.0
//! Codes of mistakes that show when a program is compiled for v1model.

use source::{Code, Explanation};

/// What v1model cannot do, or this compiler not yet.
pub const NOT_ON_TARGET: Code = Code("LU-E0790");
/// The user's P4 around the dispatcher does not go with the rest of the program.
pub const USER_P4: Code = Code("LU-E0791");
/// The P4_16 program that was made is wrong: a mistake of ours.
pub const INTERNAL: Code = Code("LU-E0799");

/// What `plane explain` says about these codes.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: NOT_ON_TARGET,
        title: "the target cannot do this",
        text: "The reference interpreter runs it, but no P4_16 program for this target can do it. The \
               message says what would do instead.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: USER_P4,
        title: "P4 of yours that does not go with the rest of the program",
        text: "What `--p4-before` and `--p4-after` name is put into the program that the compiler makes. Its \
               names have to be others than those of the program, and its control `before` or `after` takes \
               `inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t \
               standard_metadata`.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: INTERNAL,
        title: "the compiler made a wrong P4_16 program",
        text: "This is a mistake in Planewright. The notes tell what the P4_16 checker found; please \
               report them with the program.",
        wrong: "",
        right: "",
    },
];
