// SPDX-License-Identifier: Apache-2.0
//! Explanations of the codes about calls, parameters and instances.

use super::explain;
use source::Explanation;

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    explain(
        super::ARGUMENT_COUNT,
        "too many or too few arguments",
        "Each parameter needs an argument, unless it has a default value or is `@optional` (P4_16 \
         v1.2.5 §6.8).",
        "void g(in bit<8> a, in bit<8> b) { }\ncontrol c() { apply { g(1); } }\n",
        "void g(in bit<8> a, in bit<8> b) { }\ncontrol c() { apply { g(1, 2); } }\n",
    ),
    explain(
        super::ARGUMENT_NAMES,
        "arguments by names that do not fit",
        "Arguments are given all by position or all by name; each name is that of a parameter, once \
         (P4_16 v1.2.5 §6.8).",
        "void g(in bit<8> a, in bit<8> b) { }\ncontrol c() { apply { g(a = 1, c = 2); } }\n",
        "void g(in bit<8> a, in bit<8> b) { }\ncontrol c() { apply { g(a = 1, b = 2); } }\n",
    ),
    explain(
        super::NO_MATCHING_OVERLOAD,
        "no overload fits the arguments, or several do",
        "Overloads differ in the number or the names of their parameters, not in their types (P4_16 \
         v1.2.5 §8.22). Name the arguments where several overloads fit.",
        "extern void g(in bit<8> a);\nextern void g(in bit<8> a, in bit<8> b);\n\
         control c() { apply { g(1, 2, 3); } }\n",
        "extern void g(in bit<8> a);\nextern void g(in bit<8> a, in bit<8> b);\n\
         control c() { apply { g(1, 2); } }\n",
    ),
    explain(
        super::NOT_CALLABLE,
        "a call of something that cannot be called",
        "Functions, actions, methods and constructors are called; tables, parsers and controls have the \
         method `apply`.",
        "control c() {\n    table t { actions = { } }\n    apply { t(); }\n}\n",
        "control c() {\n    table t { actions = { } }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::CALL_NOT_ALLOWED,
        "a call where it may not be",
        "Tables and controls are applied in the apply block of a control, parsers in parser states; \
         actions are called from controls and actions; `verify` only from parser states (P4_16 v1.2.5 \
         appendix F).",
        "control c() {\n    table t { actions = { } }\n    action a() { t.apply(); }\n    apply { a(); }\n}\n",
        "control c() {\n    action a() { }\n    table t { actions = { a; } }\n    apply { t.apply(); }\n}\n",
    ),
    explain(
        super::ARGUMENT_NOT_L_VALUE,
        "an `out` or `inout` argument that cannot be written",
        "What is passed is written when the call returns, so it has to be a variable, a writable \
         parameter or a part of these (P4_16 v1.2.5 §6.8).",
        "void g(out bit<8> a) { a = 1; }\ncontrol c() { apply { g(1); } }\n",
        "void g(out bit<8> a) { a = 1; }\ncontrol c() {\n    bit<8> x;\n    apply { g(x); }\n}\n",
    ),
    explain(
        super::INVALID_PARAMETER,
        "a parameter whose direction, type or default does not fit",
        "Constructor parameters have no direction; extern objects, strings and `int` are passed without \
         one; parameters that an action takes from the control plane come last; what is written has no \
         default (P4_16 v1.2.5 §6.8, §14.1, appendix F).",
        "control c(inout bit<8> x) {\n    action a(bit<8> data, in bit<8> y) { x = data + y; }\n    apply { a(1, 2); }\n}\n",
        "control c(inout bit<8> x) {\n    action a(in bit<8> y, bit<8> data) { x = data + y; }\n    apply { a(1, 2); }\n}\n",
    ),
    explain(
        super::ABSTRACT_METHOD,
        "abstract methods and their implementations do not fit",
        "An instance of an extern object with abstract methods implements each of them, with the same \
         types, in an initializer (P4_16 v1.2.5 §11.3.1).",
        "extern E { E(); abstract void f(); }\nE() e;\n",
        "extern E { E(); abstract void f(); }\nE() e = { void f() { } };\n",
    ),
    explain(
        super::CANNOT_INSTANTIATE,
        "a type without instances, or not here",
        "Parsers are instantiated in parsers, controls in controls, packages at the top level, extern \
         objects in all of these; types of parsers and controls have no instances (P4_16 v1.2.5 \
         §11.3, appendix F).",
        "parser P();\ncontrol c() {\n    P() p;\n    apply { }\n}\n",
        "control p() { apply { } }\ncontrol c() {\n    p() q;\n    apply { q.apply(); }\n}\n",
    ),
    explain(
        super::BLOCK_TYPE_MISMATCH,
        "a parser or control that does not fit its type",
        "The architecture says which parameters a block has. What is passed has the same ones in order, \
         with the same directions and types that agree (P4_16 v1.2.5 §7.2.13).",
        "control C(inout bit<8> x);\npackage P(C c);\ncontrol mine(in bit<8> x) { apply { } }\nP(mine()) main;\n",
        "control C(inout bit<8> x);\npackage P(C c);\ncontrol mine(inout bit<8> x) { apply { } }\nP(mine()) main;\n",
    ),
    explain(
        super::ASSERTION_FAILED,
        "a static assertion fails",
        "The program asks to be rejected when this condition does not hold (P4_16 v1.2.5 §19).",
        "#include <core.p4>\nconst bool check = static_assert(1 > 2, \"order\");\n",
        "#include <core.p4>\nconst bool check = static_assert(2 > 1, \"order\");\n",
    ),
    explain(
        super::INVALID_CONSTRUCTOR,
        "a constructor declared wrongly",
        "A constructor has the name of its extern object and no result type; every other method has one \
         (P4_16 v1.2.5 §7.2.11.2).",
        "extern E { void E(); }\n",
        "extern E { E(); }\n",
    ),
    explain(
        super::INVALID_PACKET_TYPE,
        "a type that cannot be extracted, looked at ahead or emitted",
        "`extract` takes a header, with a size when it has a `varbit` field and only then; `lookahead` \
         takes a type of fixed width; `emit` takes headers and what is made of headers (P4_16 v1.2.5 \
         §13.8, §16.1).",
        "#include <core.p4>\nstruct S { bit<8> a; }\nparser p(packet_in k, out S s) {\n    \
         state start { k.extract(s); transition accept; }\n}\n",
        "#include <core.p4>\nheader S { bit<8> a; }\nparser p(packet_in k, out S s) {\n    \
         state start { k.extract(s); transition accept; }\n}\n",
    ),
];
