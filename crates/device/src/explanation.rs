// SPDX-License-Identifier: Apache-2.0
//! What `plane explain DV-E...` prints: one entry for every code of this crate.

use source::{Code, Explanation};

/// No device for the architecture.
pub const UNSUPPORTED_ARCHITECTURE: Code = Code("DV-E0101");
/// Externs without a provider.
pub const UNSUPPORTED_EXTERNS: Code = Code("DV-E0102");
/// A request that the device does not know.
pub const UNSUPPORTED_REQUEST: Code = Code("DV-E0103");
/// A block is missing.
pub const MISSING_PART: Code = Code("DV-E0104");
/// The program's own entries are not possible.
pub const INITIAL_STATE: Code = Code("DV-E0105");
/// No machine code.
pub const NOT_COMPILED: Code = Code("DV-E0106");
/// Timed passes on machine code.
pub const PASS_TIMING_ON_JIT: Code = Code("DV-E0107");
/// Stages that a program cannot have.
pub const PASS_TIMING: Code = Code("DV-E0108");
/// A program that is not loaded.
pub const NO_SUCH_PROGRAM: Code = Code("DV-E0109");
/// A program that the admission rule still names.
pub const PROGRAM_IN_USE: Code = Code("DV-E0110");
/// Code for other state.
pub const DIFFERENT_SHAPE: Code = Code("DV-E0111");
/// An assertion did not hold.
pub const ASSERTION_FAILED: Code = Code("DV-E0201");
/// An extern could not be called.
pub const EXTERN_FAILED: Code = Code("DV-E0202");
/// A packet in the past.
pub const TIME_WENT_BACK: Code = Code("DV-E0203");
/// A port that does not exist.
pub const NO_SUCH_PORT: Code = Code("DV-E0204");
/// A pass of another program.
pub const FOREIGN_PASS: Code = Code("DV-E0205");
/// A device file that is no TOML.
pub const CONFIGURATION_SYNTAX: Code = Code("DV-E0301");
/// An unknown field of a device file.
pub const CONFIGURATION_FIELD: Code = Code("DV-E0302");
/// A wrong value in a device file.
pub const CONFIGURATION_VALUE: Code = Code("DV-E0303");
/// A field that a device file has to have.
pub const CONFIGURATION_MISSING: Code = Code("DV-E0304");
/// A device in which packets could loop without device time passing.
pub const CONFIGURATION_ZERO_TIME_LOOP: Code = Code("DV-E0305");

const fn entry(code: Code, title: &'static str, text: &'static str) -> Explanation {
    Explanation { code, title, text, wrong: "", right: "" }
}

/// The explanations of all codes of this crate.
pub static EXPLANATIONS: &[Explanation] = &[
    entry(
        UNSUPPORTED_ARCHITECTURE,
        "no device runs programs for this architecture",
        "Planewright checks, lowers and prints such a program but cannot run it: it has no description of what \
         happens between its blocks (queues, replication, the meaning of its metadata). The message lists the \
         architectures that can be run.",
    ),
    entry(
        UNSUPPORTED_EXTERNS,
        "the program calls externs that the device does not provide",
        "The device provides the externs that its architecture's interface declares, and those that it \
         is given a provider of. Another extern object or function has no meaning here, so the program is \
         refused before its first packet rather than run with a call left out. Give the device a provider \
         (docs/externs.md says how), or take the call out. A provider may do no more than the extern's \
         declaration says: `@pure` lets it compute only, `@noSideEffects` lets it read its state, and \
         only `@random` lets it draw random numbers.",
    ),
    entry(
        UNSUPPORTED_REQUEST,
        "the program issues a request that the device does not support",
        "The program was lowered for an architecture whose device can do more than this one, or by \
         a different version.",
    ),
    entry(
        MISSING_PART,
        "a block or a metadata field is missing",
        "The device needs every block of its architecture's package and the fields of its metadata by which \
         packets find their ports. Include the interface that the device was built for.",
    ),
    entry(
        INITIAL_STATE,
        "an entry or default action in the program is not possible",
        "The entries that a table declares are inserted when the program is loaded, by the rules \
         that hold for a control plane: values fit their widths, no two entries are the same, and \
         there are no more than the declared size.",
    ),
    entry(
        NOT_COMPILED,
        "the program could not be made into machine code",
        "The machine, or a form that the program takes, is not one that the code generator knows. The \
         interpreter runs every program: `--engine interp` on the command line.",
    ),
    entry(
        PASS_TIMING_ON_JIT,
        "passes that take time need the interpreter",
        "With [pass_timing] in the device file each access to a table or register happens at a time of \
         its own, and other packets and the control plane act in between. Machine code runs a pass \
         in one moment. Run with `--engine interp`, or leave the engine out.",
    ),
    entry(
        PASS_TIMING,
        "the stages of [pass_timing] do not fit the program",
        "A stage is given to something that ingress and egress do not access, or to an access that \
         comes after one in a later stage, or different stages are given to accesses of one @atomic \
         block. Stages never decrease along a path of the program: correct the stage, or leave it \
         out, and the access stands behind all that come before it.",
    ),
    entry(
        NO_SUCH_PROGRAM,
        "the device has not loaded the named program",
        "`Device::load` gives each program of a device a number and never reuses it, so the number of an \
         unloaded program is not valid any more.",
    ),
    entry(
        PROGRAM_IN_USE,
        "a program cannot be unloaded while the device sends packets to it",
        "The admission rule names the program, or it is the device's main program, which targets without a \
         number control. Change the rule first (`Device::admit`); packets in the device then finish on \
         the program that they entered.",
    ),
    entry(
        DIFFERENT_SHAPE,
        "code cannot be replaced by code for other state",
        "Entries, registers, counters, meters, profiles and value sets stay in place when a program's code is \
         replaced, so the other program declares the same ones, with equal names, widths and sizes, in the \
         same order. A program with other state can be loaded beside it, and be swapped in.",
    ),
    entry(
        ASSERTION_FAILED,
        "an assertion did not hold",
        "The run stops at the first packet for which the condition of an `assert` or `assume` is \
         false. Run it again with `--trace` to see the path of the packet.",
    ),
    entry(
        EXTERN_FAILED,
        "an extern could not be called",
        "The extern's implementation refused the call; its reason is in the message.",
    ),
    entry(
        TIME_WENT_BACK,
        "a packet was given for a time before the device's clock",
        "A device's clock does not go back. Packets of several captures must be merged by time.",
    ),
    entry(
        NO_SUCH_PORT,
        "a packet was given for a port that does not exist",
        "Port numbers have the width that the architecture's metadata gives them: `ingress_port` \
         of BMv2 has 9 bits, so the largest port is 511.",
    ),
    entry(
        FOREIGN_PASS,
        "a pass was given to an executor or a device of another program",
        "A pass that a caller runs itself (`Device::begin`) belongs to one program of one device. Executors \
         of that program run its blocks, and that device finishes it.",
    ),
    Explanation {
        wrong: "clock = ns\n",
        right: "clock = \"ns\"\n",
        ..entry(
            CONFIGURATION_SYNTAX,
            "the device file is no TOML",
            "A device file is a TOML document: fields as `name = value`, and sections in brackets.",
        )
    },
    Explanation {
        wrong: "[port.1]\nlatncy = \"1us\"\n",
        right: "[port.1]\nlatency = \"1us\"\n",
        ..entry(
            CONFIGURATION_FIELD,
            "the device file has a field that does not exist",
            "Unknown fields are refused, as a misspelt one would change nothing unnoticed. The message \
             lists the fields of the section.",
        )
    },
    Explanation {
        wrong: "[port.1]\nlatency = 5\n",
        right: "[port.1]\nlatency = \"5ns\"\n",
        ..entry(
            CONFIGURATION_VALUE,
            "a value in the device file is not possible",
            "Times and rates are texts with their units, exact to the picosecond and to the bit per \
             second; numbers have to be within what the message says.",
        )
    },
    Explanation {
        wrong: "[[pausable_queue]]\nport = 1\nperiod = \"100us\"\n",
        right: "[[pausable_queue]]\nport = 1\nperiod = \"100us\"\nopen = \"1us\"\n",
        ..entry(
            CONFIGURATION_MISSING,
            "the device file lacks a field",
            "There is no sensible value that the field could have by itself.",
        )
    },
    Explanation {
        wrong: "pass_limit = \"none\"\n[port.68]\nloopback = true\n",
        right: "pass_limit = \"none\"\ningress_interval = \"1ns\"\n[port.68]\nloopback = true\n",
        ..entry(
            CONFIGURATION_ZERO_TIME_LOOP,
            "packets could loop without device time passing",
            "Without `pass_limit` a packet may loop forever. A run still ends at its end time as long as each \
             loop takes device time. If no loop takes time, the run would not end.",
        )
    },
];

#[cfg(test)]
mod tests {
    use super::EXPLANATIONS;

    #[test]
    fn every_code_is_explained_once() {
        let codes: Vec<_> = EXPLANATIONS.iter().map(|entry| entry.code).collect();
        assert!(codes.is_sorted_by(|one, next| one < next), "{codes:?}");
    }
}
