// SPDX-License-Identifier: Apache-2.0
//! Explanations of the codes about types.

use super::explain;
use source::Explanation;

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    explain(
        super::TYPE_MISMATCH,
        "a value of the wrong type",
        "P4 converts implicitly only from `int` to types with a width and from an enum with a type to \
         that type; lists and field lists take the type of the place where they stand (P4_16 v1.2.5 \
         §8.12.2). Everything else needs a cast.",
        "void f(in bit<8> a, out bit<16> b) { b = a; }\n",
        "void f(in bit<8> a, out bit<16> b) { b = (bit<16>) a; }\n",
    ),
    explain(
        super::INVALID_WIDTH,
        "a width that is not valid",
        "A width is a compile-time integer from 0 bits (for `int<W>` from 1 bit) up to the documented \
         limit (P4_16 v1.2.5 §7.1.6).",
        "const bit<(2 - 3)> a = 0;\n",
        "const bit<(3 - 2)> a = 0;\n",
    ),
    explain(
        super::INVALID_NESTING,
        "a type that may not be part of another",
        "A header holds fields of fixed format: `bit`, `int<W>`, `varbit`, `bool`, enums with a type, \
         and structs of these. A header union holds headers only; a struct holds no `int`, `string` \
         or extern object (P4_16 v1.2.5 §7.2.9).",
        "enum Color { RED, GREEN }\nheader H { Color c; }\n",
        "enum bit<8> Color { RED = 0, GREEN = 1 }\nheader H { Color c; }\n",
    ),
    explain(
        super::TYPE_ARGUMENT_COUNT,
        "too many or too few type arguments",
        "A generic type needs as many type arguments as it declares type parameters; only in calls and \
         constructors can they be left out, all together (P4_16 v1.2.5 §7.2.12).",
        "struct Pair<T> { T a; T b; }\nconst Pair p = { 8w1, 8w2 };\n",
        "struct Pair<T> { T a; T b; }\nconst Pair<bit<8>> p = { 8w1, 8w2 };\n",
    ),
    explain(
        super::INVALID_STACK_SIZE,
        "a size that is not valid",
        "The size of an array or header stack is a compile-time integer that is not negative and not \
         larger than the documented limit (P4_16 v1.2.5 §7.2.3).",
        "header H { bit<8> a; }\nstruct S { H[-2] h; }\n",
        "header H { bit<8> a; }\nstruct S { H[2] h; }\n",
    ),
    explain(
        super::INVALID_ENUM,
        "an enum whose type or values do not fit",
        "An enum with a type is over `bit<W>` or `int<W>`, and each of its members has a value that \
         fits it; an enum without a type has no values (P4_16 v1.2.5 §7.2.1).",
        "enum bit<2> E { A = 5 }\n",
        "enum bit<4> E { A = 5 }\n",
    ),
    explain(
        super::INVALID_NEW_TYPE,
        "a type that cannot be renamed",
        "`type` makes a new type of `bit<W>`, `int<W>`, `bool` or another new type. Other types get \
         another name by `typedef`, except `void` and `match_kind` (P4_16 v1.2.5 §7.2.9, §7.6).",
        "type varbit<8> Options;\n",
        "typedef varbit<8> Options;\n",
    ),
    explain(
        super::CANNOT_INFER,
        "a type argument that nothing determines",
        "Type arguments that are left out follow from the types of the arguments. Where these say \
         nothing, or where a number has no width, write the type argument or give the number a width \
         (P4_16 v1.2.5 §8.22).",
        "extern T make<T>();\nvoid f(out bit<8> x) { x = make(); }\n",
        "extern T make<T>();\nvoid f(out bit<8> x) { x = make<bit<8>>(); }\n",
    ),
    explain(
        super::SEVERAL_VARBITS,
        "more than one `varbit` field in an extracted header",
        "`extract` takes one size, so the header has one field of variable size (P4_16 v1.2.5 \
         §13.8.2). Use two headers.",
        "#include <core.p4>\nheader H { varbit<8> a; varbit<8> b; }\nparser p(packet_in k, out H h) {\n    \
         state start { k.extract(h, 8); transition accept; }\n}\n",
        "#include <core.p4>\nheader H { varbit<8> a; bit<8> b; }\nparser p(packet_in k, out H h) {\n    \
         state start { k.extract(h, 8); transition accept; }\n}\n",
    ),
    explain(
        super::INVALID_VALUE_TYPE,
        "a type that a variable, constant or result cannot have",
        "Variables hold values: not parsers, controls, tables, `void`, and not `int` or `string`, whose \
         values exist at compile time only. Extern objects are instantiated, not declared as variables \
         (P4_16 v1.2.5 §7.1.6.5, §11.2).",
        "void f() { int x = 1; }\n",
        "void f() { bit<8> x = 1; }\n",
    ),
];
