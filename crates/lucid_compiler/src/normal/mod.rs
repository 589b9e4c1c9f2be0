// SPDX-License-Identifier: Apache-2.0
//! The normal form: what all back ends compile. It is a core program again, so the reference
//! interpreter runs it, and each pass that leads to it can be judged by running the program before
//! and after. Passes are in modules of their own; what a target cannot do is in `support`.
//!
//! # Invariants
//!
//! Those of [`lucid::core::verify`], and these, which [`verify()`] checks. Ids of globals, events,
//! memops, actions, externs and parsers are those of the core program that came in; locals of a body
//! are numbered anew, parameters first.
//!
//! 1. **Events.** No parameter, local, assignment or table has the type `Event`; there is no `this`,
//!    no `IfEvent`, no `Locate`, no `LocateMany`. An event value stands in a `Generate` only, as
//!    `Event { .. }` or `Delay { Event { .. }, nanoseconds }`; in a parser's `Generate` as
//!    `Event { .. }`. [`lucid::core::Destination::Event`] means *here*: this switch (an exit event: out
//!    of the network).
//! 2. **Groups.** No parameter, local, assignment or table has the type `Group`. A group stands in
//!    `Destination::Ports` and `Destination::Switches` only: as a constant (members ascending, each once, at
//!    least one), as an extern, or as `Flood(port)` of a leaf (a local, constant, extern or
//!    built-in). Events to known switches are single events, so that there is no `Switches` of a
//!    constant, and `support` refuses floods there. Groups are not compared.
//! 3. **Payloads.** The only locals of type `Payload` are parameters, at most one a body; an
//!    expression of that type is this parameter or `EmptyPayload`, and stands only as an argument of
//!    an event. Nothing assigns it. Tables have none. In a parser a payload is a local that one
//!    `Rest` on the path set, or a parameter.
//! 4. **Expressions.** What is known is computed: no operator has constants alone for operands.
//!    Seeds of hashes are constants unless `support` said that they cannot be. No cast to the width
//!    that is there already, no slice of a whole operand, no slice of a slice, no cast of a cast
//!    that one would do for. Conditions are any boolean expression over locals and built-ins; both
//!    sides of `&&` and `||` may be evaluated.
//! 5. **Control.** No `Return`. No `If` with a constant condition or without statements. A `Match`
//!    has at least one subject and one branch; the only branch that matches everything is the last;
//!    it may have empty branches in front of others. Nothing reads a local that no path assigned
//!    without an assignment of zero in front of it: *every local is assigned before it is read on
//!    every path*, parameters by the event.
//! 6. **Generates.** How many events each path generates is known ([`GenerateSlots`]), at most
//!    [`crate::wire::MAX_GENERATED`] (`support` says where there are more).
//!
//! `Match` statements stay, with their patterns, since they map to static entries of a table; a
//! `match` that elaboration made conditions of stays `If`. Egress handlers, control handlers,
//! parsers, tables, installs, prints and calls of extern functions stay as they are, within these
//! invariants; `support` says which targets take them.
//!
//! A dead assignment goes, a random draw never (schedules count draws); a read of an array whose
//! unused value goes with it. Names and spans stay: a local that a pass makes is named after
//! the user's local (`e.tag`, `e.route.x`, `g.which`), and has its span.

mod dead_code;
mod event_values;
mod events;
mod facts;
mod fold;
mod groups;
mod initial;
mod locals;
mod parsers;
mod payloads;
mod returns;
mod simplify;
mod slots;
mod substitution;
mod verify;

pub(crate) use locals::NewLocals;
pub use slots::{GenerateSlots, Slots, generate_slots};
pub use verify::verify;

use lucid::core::Program;

/// A step from one program to the next, for people who want to see it (`plane emit --after`) and
/// for tests that run the program before and after.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// One word, as a user writes it.
    pub name: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// Does it.
    pub run: fn(&mut Program),
}

/// The program after a pass, of this module or of a later one, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterPass {
    /// The pass's name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What it made.
    pub text: String,
}

const PASSES: &[Pass] = &[
    Pass {
        name: "returns",
        description: "what follows a statement that may leave the handler runs only if it did not",
        run: returns::run,
    },
    Pass {
        name: "events",
        description: "event values in variables become a number for the constructor, arguments, \
                      delay and place",
        run: events::run,
    },
    Pass {
        name: "groups",
        description: "groups in variables become numbers of the groups that they can be",
        run: groups::run,
    },
    Pass {
        name: "payloads",
        description: "payloads in variables become the packet's rest or nothing",
        run: payloads::run,
    },
    Pass {
        name: "initial",
        description: "variables that are read before they are assigned begin as zero",
        run: initial::run,
    },
    Pass {
        name: "fold",
        description: "what is known is computed, and what is decided is taken",
        run: fold::run,
    },
    Pass { name: "dead_code", description: "what makes no difference goes", run: dead_code::run },
];

/// The passes to the normal form, in order.
pub fn passes() -> &'static [Pass] {
    PASSES
}

/// The program in normal form.
pub fn normalize(program: &Program) -> Program {
    let mut program = program.clone();
    for pass in passes() {
        (pass.run)(&mut program);
        debug_assert_eq!(lucid::core::verify(&program), Ok(()), "after {}", pass.name);
    }
    program
}

/// The program after each pass.
pub fn after_passes(program: &Program) -> Vec<AfterPass> {
    let mut program = program.clone();
    let show = |pass: &Pass| {
        (pass.run)(&mut program);
        let text = lucid::core::print(&program);
        AfterPass { name: pass.name, description: pass.description, text }
    };
    passes().iter().map(show).collect()
}
