// SPDX-License-Identifier: Apache-2.0
//! Codes of what keeps a program off several pipelines, and of what is probably not meant there.

use source::{Code, Explanation};

/// A number of pipelines that no switch has.
pub const PIPELINES: Code = Code("SC-E0101");
/// A number of stages that does not hold the program.
pub const STAGES: Code = Code("SC-E0102");
/// Arrays that are too large to be in each pipeline.
pub const MEMORY: Code = Code("SC-E0103");
/// A program without a control that takes stages.
pub const NO_CONTROL: Code = Code("SC-E0104");
/// Queues without a place.
pub const DEPTH: Code = Code("SC-E0105");
/// Remaps that are no cycle apart.
pub const REMAP: Code = Code("SC-E0106");
/// A design that there is not.
pub const DESIGN: Code = Code("SC-E0107");
/// A program that no machine runs.
pub const NOT_RUN: Code = Code("SC-E0108");
/// A clock that no pipeline has.
pub const CLOCK: Code = Code("SC-E0109");
/// A field that the program does not have.
pub const FIELD: Code = Code("SC-E0110");
/// A packet that accesses two cells of an array.
pub const TWO_CELLS: Code = Code("SC-W0101");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: PIPELINES,
        title: "a number of pipelines that no switch has",
        text: "A program runs on 1 to 64 pipelines. `--pipelines 1` is the program on one pipeline, with which \
               the others are compared.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: STAGES,
        title: "a number of stages that does not hold the program",
        text: "`--stages` says how many stages a pipeline has, so that arrays of one stage can move to stages that are \
               left. A pipeline has at least one stage, and at least as many as the control takes by its layout or its \
               dependences.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: MEMORY,
        title: "arrays that are too large to be in each pipeline",
        text: "Each pipeline has room for all cells of all arrays, because any cell may be active in it (MP5 §3.1). All \
               pipelines together hold at most 64 GiB of cells. Make the arrays smaller, or use fewer pipelines.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: NO_CONTROL,
        title: "a program without a control that takes stages",
        text: "Only the match-action controls of a package are spread over pipelines, and this program has none: its \
               architecture gives stages to no block.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: DEPTH,
        title: "queues without a place",
        text: "`--depth` is the number of entries of a ring; in front of each stage a pipeline has a ring for each pipeline. \
               A packet needs at least one entry. Without the option no queue is bounded, and no packet is lost.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: REMAP,
        title: "remaps that are no cycle apart",
        text: "`--remap-every` is the number of cycles between two remaps of cells (MP5, Figure 6), at least one.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: DESIGN,
        title: "a design that there is not",
        text: "`--design` names a machine: `mp5` is the paper's. The message lists all names.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: NOT_RUN,
        title: "a program that no machine runs",
        text: "A machine runs the stages of ingress, and those of egress if it accesses arrays. It cannot run a program of which \
               ingress and egress access the same array, or whose control has a loop or too many conditions. The report of \
               `plane scale` says for each array what is in the way.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: CLOCK,
        title: "a clock that no pipeline has",
        text: "`--clock` is the frequency of the pipelines of a run of captures: a pipeline takes one packet a cycle. It is \
               from 1Hz to 1THz; a cycle has a whole number of picoseconds, rounded down.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: FIELD,
        title: "a field that the program does not have",
        text: "`--ecn FIELD=THRESHOLD` and `--keep-order FIELDS` name fields of headers or metadata as the program does, such \
               as `hdr.ipv4.ecn`, or the end of a name if only one field has it, such as `ipv4.ecn`. Without fields they take \
               those of the program's first IPv4 header, and of TCP and UDP.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TWO_CELLS,
        title: "one packet accesses two cells of an array",
        text: "In a stage a packet is in one pipeline, so all cells of this array lie in one pipeline: at most one packet \
               a cycle accesses it, however many pipelines there are. Hardware with one access of an array a packet \
               cannot run the program at all. Access one cell, or use two arrays.",
        wrong: "",
        right: "",
    },
];
