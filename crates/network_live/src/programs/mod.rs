// SPDX-License-Identifier: Apache-2.0
//! Applications of a network file as programs: ping is `ping`, bulk TCP and UDP of a constant rate are `iperf3`. `choice`
//! chooses programs and refuses what they cannot do, `at_work` runs them, `ping` and `iperf3` read what they print.

mod at_work;
mod choice;
mod iperf3;
mod ping;

pub use at_work::{AtWork, Outcome};
pub use choice::{Choice, Chosen, choose, is_installed};

use source::{Code, Explanation};

/// An application or an option that no program has.
pub const NOT_LIVE: Code = Code("NW-E0501");
/// A program that a live network needs is missing.
pub const MISSING_PROGRAM: Code = Code("NW-E0502");
/// A program reported an error.
pub const PROGRAM_FAILED: Code = Code("NW-W0501");
/// An expectation about something that programs do not measure.
pub const NOT_JUDGED: Code = Code("NW-W0502");

pub(crate) const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: NOT_LIVE,
        title: "an application or an option that a live network does not have",
        text: "In a live network `ping` is the program ping; `tcp` and `udp` are iperf3. Other applications, and options that \
               these programs and the kernel do not have, run in simulations only. With --no-applications the network \
               runs without any, and `plane net exec` runs programs of yours in its hosts.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: MISSING_PROGRAM,
        title: "a program that a live network needs is missing",
        text: "Install it with the package manager of your system: ping is in iputils-ping (Debian) or iputils, iperf3 in \
               iperf3, ip and tc in iproute2.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: PROGRAM_FAILED,
        title: "a program of a live network reported an error",
        text: "The message is the program's own. iperf3 needs a path for TCP in both directions, for UDP flows too.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: NOT_JUDGED,
        title: "an expectation about something that programs do not measure",
        text: "iperf3 does not report retransmission timeouts. The condition is left out; a simulation judges it.",
        wrong: "",
        right: "",
    },
];
