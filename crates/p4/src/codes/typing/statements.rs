// SPDX-License-Identifier: Apache-2.0
//! Explanations of the codes about statements and parsers.

use super::explain;
use source::Explanation;

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    explain(
        super::INVALID_RETURN,
        "`return` that does not fit its function",
        "A function with a result type returns a value on every path; actions, controls and `void` \
         functions return no value (P4_16 v1.2.5 §10, §12.4).",
        "bit<8> f(in bool b) { if (b) { return 1; } }\n",
        "bit<8> f(in bool b) { if (b) { return 1; } return 2; }\n",
    ),
    explain(
        super::MISPLACED_STATEMENT,
        "a statement where it may not stand",
        "`break` and `continue` belong into loops, `exit` into controls and actions, `return` not into \
         parser states (P4_16 v1.2.5 §12.4, §12.5, §12.8).",
        "void f() { break; }\n",
        "void f() { for (bit<8> i in 0 .. 3) { break; } }\n",
    ),
    explain(
        super::INVALID_SWITCH_SUBJECT,
        "`switch` on a type it is not defined for",
        "`switch` looks at `t.apply().action_run`, numbers, `bool`, enums and errors (P4_16 v1.2.5 \
         §12.7).",
        "struct S { bit<8> a; }\ncontrol c(inout S s) { apply { switch (s) { default: { } } } }\n",
        "struct S { bit<8> a; }\ncontrol c(inout S s) { apply { switch (s.a) { default: { } } } }\n",
    ),
    explain(
        super::INVALID_SWITCH_LABEL,
        "a label that is wrong, repeated or after `default`",
        "Each label stands once; `default` is the last; after `action_run` labels are actions of the \
         table (P4_16 v1.2.5 §12.7).",
        "control c(inout bit<8> x) { apply { switch (x) { 1: { } 1: { } } } }\n",
        "control c(inout bit<8> x) { apply { switch (x) { 1: { } 2: { } } } }\n",
    ),
    explain(
        super::INVALID_FOR_COLLECTION,
        "a loop over something without elements, or of another type",
        "`for ... in` goes over a range of numbers, an array, a header stack or a list; its variable has \
         the type of the elements (P4_16 v1.2.5 §12.8).",
        "void f(in bit<8> x) { for (bit<8> i in x) { } }\n",
        "void f(in bit<8> x) { for (bit<8> i in 0 .. x) { } }\n",
    ),
    explain(
        super::UNREACHABLE_STATEMENT,
        "a statement that is never reached",
        "The statements before it always end in `return`, `exit`, `break` or `continue`.",
        "void f(inout bit<8> a) { return; a = 1; }\n",
        "void f(inout bit<8> a) { a = 1; return; }\n",
    ),
    explain(
        super::NO_START_STATE,
        "a parser without a `start` state",
        "Parsing begins in the state called `start` (P4_16 v1.2.5 §13.2).",
        "parser p() { state begin { transition accept; } }\n",
        "parser p() { state start { transition accept; } }\n",
    ),
    explain(
        super::RESERVED_STATE,
        "a state called `accept` or `reject`",
        "These two states are built in and end the parser (P4_16 v1.2.5 §13.1).",
        "parser p() {\n    state start { transition accept; }\n    state accept { transition reject; }\n}\n",
        "parser p() {\n    state start { transition done; }\n    state done { transition accept; }\n}\n",
    ),
    explain(
        super::INVALID_SELECT_SUBJECT,
        "`select` on a type it is not defined for",
        "`select` looks at numbers, `bool`, enums and errors; of a header or struct look at its fields \
         (P4_16 v1.2.5 §13.6).",
        "struct S { bit<8> a; }\nparser p(in S s) { state start { transition select(s) { _: accept; } } }\n",
        "struct S { bit<8> a; }\nparser p(in S s) { state start { transition select(s.a) { _: accept; } } }\n",
    ),
    explain(
        super::INVALID_KEYSET,
        "a keyset that does not fit what it is compared with",
        "A keyset has as many elements as there are values; masks and ranges are for numbers (P4_16 \
         v1.2.5 §8.16, §13.6).",
        "parser p(in bit<8> a, in bit<8> b) {\n    state start { transition select(a, b) { (1, 2, 3): accept; } }\n}\n",
        "parser p(in bit<8> a, in bit<8> b) {\n    state start { transition select(a, b) { (1, 2): accept; } }\n}\n",
    ),
    explain(
        super::NOT_A_STATE,
        "a transition to something that is no state",
        "A transition names a state of the same parser, `accept` or `reject` (P4_16 v1.2.5 §13.5).",
        "const bit<8> done = 1;\nparser p() { state start { transition done; } }\n",
        "parser p() {\n    state start { transition done; }\n    state done { transition accept; }\n}\n",
    ),
    explain(
        super::PARSER_NEVER_ENDS,
        "a parser that never reaches `accept` or `reject`",
        "Its states only lead to one another, in a cycle (P4_16 v1.2.5 §13.3).",
        "parser p() { state start { transition start; } }\n",
        "parser p() { state start { transition accept; } }\n",
    ),
    explain(
        super::UNREACHABLE_STATE,
        "a state that is never reached",
        "No transition that can be taken from `start` leads to it.",
        "parser p() {\n    state start { transition accept; }\n    state more { transition accept; }\n}\n",
        "parser p() {\n    state start { transition more; }\n    state more { transition accept; }\n}\n",
    ),
    explain(
        super::UNREACHABLE_CASE,
        "a case of `select` that is never taken",
        "Cases are tried in order, and earlier ones take all values of this one (P4_16 v1.2.5 §13.6). \
         Give it other values, remove it, or move it in front of the wider case.",
        "parser p(in bit<8> a) { state start { transition select(a) { 0 .. 9: accept; 1: reject; } } }\n",
        "parser p(in bit<8> a) { state start { transition select(a) { 1: reject; 0 .. 9: accept; } } }\n",
    ),
    explain(
        super::NEVER_ACCEPTS,
        "a parser that rejects every packet",
        "No path through its states reaches `accept`. A state without `transition` goes to `reject` \
         (P4_16 v1.2.5 §13.5).",
        "parser p() { state start { transition reject; } }\n",
        "parser p() { state start { transition accept; } }\n",
    ),
];
