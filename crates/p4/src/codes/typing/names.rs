// SPDX-License-Identifier: Apache-2.0
//! Explanations of the codes about names, declarations and what is never used.

use super::explain;
use source::Explanation;

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    explain(
        super::MISSING_MAIN,
        "a program without `main`",
        "What runs is the package instance called `main` (P4_16 v1.2.5 §18.2). A program that has parsers \
         or controls for an architecture, but no `main`, does nothing.",
        "control Block(inout bit<8> x);\npackage Switch(Block b);\ncontrol c(inout bit<8> x) { apply { } }\n\
         Switch(c()) only;\n",
        "control Block(inout bit<8> x);\npackage Switch(Block b);\ncontrol c(inout bit<8> x) { apply { } }\n\
         Switch(c()) main;\n",
    ),
    explain(
        super::NAME_NOT_FOUND,
        "a name that nothing declares",
        "A name has to be declared before its first use, in the same block or one around it; only \
         parser states may be used before (P4_16 v1.2.5 §6.9). Look for a misspelling, a missing \
         `#include`, or a declaration that comes later.",
        "const bit<8> A = B;\n",
        "const bit<8> B = 1;\nconst bit<8> A = B;\n",
    ),
    explain(
        super::DUPLICATE_NAME,
        "a name declared twice",
        "In one scope a name has one meaning; types and values share their names. Only functions, \
         extern functions, methods and constructors can share a name, when their parameters have \
         different names (P4_16 v1.2.5 §7.2.11.2, §6.9).",
        "struct S { bit<8> a; }\nheader S { bit<8> b; }\n",
        "struct S { bit<8> a; }\nheader H { bit<8> b; }\n",
    ),
    explain(
        super::NOT_A_TYPE,
        "a name that is no type where a type is expected",
        "The name belongs to a constant, action, table or the like, but a type is needed here.",
        "const bit<8> width = 8;\nstruct S { width a; }\n",
        "typedef bit<8> width;\nstruct S { width a; }\n",
    ),
    explain(
        super::NOT_A_VALUE,
        "a type or state where a value is expected",
        "A type by itself has no value. Name a variable, parameter or instance of that type; of an \
         enum name a member.",
        "parser p(out bit<8> x) {\n    state start { x = done; transition done; }\n    \
         state done { transition accept; }\n}\n",
        "parser p(out bit<8> x) {\n    state start { x = 1; transition done; }\n    \
         state done { transition accept; }\n}\n",
    ),
    explain(
        super::NO_SUCH_MEMBER,
        "a member that the type does not have",
        "The type of what is before the dot has no field, member or method of this name.",
        "header H { bit<8> ttl; }\nvoid f(inout H h) { h.tll = 1; }\n",
        "header H { bit<8> ttl; }\nvoid f(inout H h) { h.ttl = 1; }\n",
    ),
    explain(
        super::RECURSIVE_DECLARATION,
        "a declaration that uses itself",
        "P4 has no recursion: a type cannot hold itself, a function or action cannot call itself, a \
         parser or control cannot instantiate itself, a generic type cannot be its own argument \
         (P4_16 v1.2.5 §10, appendix F).",
        "bit<8> f(in bit<8> x) { return f(x); }\n",
        "bit<8> f(in bit<8> x) { return x; }\n",
    ),
    explain(
        super::MAIN_NOT_PACKAGE,
        "`main` that is no package",
        "The name `main` at the top level is for the package instance that is the whole program \
         (P4_16 v1.2.5 §5.3, §17.2).",
        "extern E { E(); }\nE() main;\n",
        "extern E { E(); }\nE() counter;\n",
    ),
    explain(
        super::MISPLACED_DECLARATION,
        "a declaration where it may not stand",
        "Variables belong into parsers, controls, actions and functions; instances stand outside of \
         statements; tables and actions belong to controls (P4_16 v1.2.5 §11.2, appendix F).",
        "extern E { E(); }\ncontrol c() {\n    apply {\n        E() e;\n    }\n}\n",
        "extern E { E(); }\ncontrol c() {\n    E() e;\n    apply { }\n}\n",
    ),
    explain(
        super::SHADOWED_NAME,
        "a name that hides a parameter",
        "A declaration has the name of a parameter around it, which later code cannot \
         reach any more. Rename the declaration, or use the parameter.",
        "control c(inout bit<8> x) {\n    bit<8> x = 1;\n    apply { }\n}\n",
        "control c(inout bit<8> x) {\n    bit<8> y = 1;\n    apply { x = y; }\n}\n",
    ),
    explain(
        super::UNUSED,
        "a local declaration that nothing uses",
        "Nothing in its parser or control names this table, action, instance or variable. Remove it, \
         or use it. A name that starts with `_` and the annotation `@noWarn(\"unused\")` suppress \
         the warning.",
        "control c(inout bit<8> x) {\n    action a() { x = 1; }\n    apply { }\n}\n",
        "control c(inout bit<8> x) {\n    action a() { x = 1; }\n    apply { a(); }\n}\n",
    ),
    explain(
        super::DEPRECATED,
        "something marked `@deprecated` is used",
        "The annotation says what to use instead (P4_16 v1.2.5 §20.3.8).",
        "@deprecated(\"use g\") extern void f();\nextern void g();\ncontrol c() { apply { f(); } }\n",
        "@deprecated(\"use g\") extern void f();\nextern void g();\ncontrol c() { apply { g(); } }\n",
    ),
];
