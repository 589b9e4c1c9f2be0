// SPDX-License-Identifier: Apache-2.0
//! Codes of mistakes in the C texts of a program, with their explanations.

use source::{Code, Explanation};

/// The C compiler reports an error.
pub const C_ERROR: Code = Code("R-E0301");
/// The C compiler cannot be run, or ends without a message about a place.
pub const COMPILER_FAILED: Code = Code("R-E0302");
/// `${name}` is neither a malleable value nor a malleable field.
pub const UNKNOWN_MALLEABLE: Code = Code("R-E0303");
/// A field that a malleable field does not have as an alternative.
pub const UNKNOWN_ALTERNATIVE: Code = Code("R-E0304");
/// C names a field that is not an argument of its reaction.
pub const NOT_AN_ARGUMENT: Code = Code("R-E0305");
/// A `state` block has something other than variables.
pub const NOT_STATE: Code = Code("R-E0306");
/// C names a cell of a register that its reaction does not measure.
pub const CELL_NOT_MEASURED: Code = Code("R-E0307");
/// Two tables have functions of one name.
pub const FUNCTION_NAME: Code = Code("R-E0308");
/// The C compiler reports a warning.
pub const C_WARNING: Code = Code("R-W0301");
/// A variable of a `state` block has a pointer.
pub const POINTER_IN_STATE: Code = Code("R-W0302");

/// A program with these texts after its malleables and before `main`.
macro_rules! program {
    ($texts:literal) => {
        concat!(
            r#"#include <core.p4>
#include <v1model.p4>

header ip_t { bit<32> src; bit<32> dst; }
struct headers_t { ip_t ip; }
struct meta_t { }

malleable value bit<8> level { init = 1; }
malleable field bit<32> key { init = hdr.ip.src; alts { hdr.ip.src, hdr.ip.dst } }

parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    state start { p.extract(hdr.ip); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<8>>(16) depths;
    apply {
        if (${key}[7:0] > ${level}) { standard_metadata.egress_spec = 1; }
        depths.write(hdr.ip.dst & 15, hdr.ip.src[7:0]);
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.ip); } }

"#,
            $texts,
            "\nV1Switch(P(), C(), I(), E(), C(), D()) main;\n"
        )
    };
}

/// The explanations of the codes of this module.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: C_ERROR,
        title: "the C compiler reports an error",
        text: "Reactions, `init`, `c` and `state` blocks are C11 with GNU extensions. The system's C compiler reads them \
               (`cc`, or the command in the variable CC); the message is the compiler's, the place is in the P4R file. \
               An argument is named as in P4 (hdr.ipv4.src); a register is an array with the register's own indices.",
        wrong: program!(
            r#"reaction r(ing hdr.ip.src) {
    uint8_t last = hdr.ip.src & 0xff
    ${level} = last;
}"#
        ),
        right: program!(
            r#"reaction r(ing hdr.ip.src) {
    uint8_t last = hdr.ip.src & 0xff;
    ${level} = last;
}"#
        ),
    },
    Explanation {
        code: COMPILER_FAILED,
        title: "the C compiler does not produce a module",
        text: "Reactions need a C compiler at the time of `plane run`: install gcc or clang, or name one in the variable \
               CC, such as CC=clang. A function that is declared but never defined is reported by the linker, often \
               without a place.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNKNOWN_MALLEABLE,
        title: "${name} in C is not declared",
        text: "`${name}` in C is a malleable value or a malleable field of the program. Arguments have no `${}`: they are \
               written as in P4. Malleable tables are written by functions such as T_add_A.",
        wrong: program!(
            r#"reaction r(ing hdr.ip.src) {
    ${levle} = hdr.ip.src;
}"#
        ),
        right: program!(
            r#"reaction r(ing hdr.ip.src) {
    ${level} = hdr.ip.src;
}"#
        ),
    },
    Explanation {
        code: UNKNOWN_ALTERNATIVE,
        title: "a field that is not an alternative of the malleable field",
        text: "A malleable field stands for one of the fields in its `alts`. `${f} = hdr.b.y;` makes it stand for another, \
               `${f} == hdr.b.y` compares, `${f} = c ? hdr.a.x : hdr.b.y;` chooses. The field is written as in `alts`.",
        wrong: program!(
            r#"reaction r(ing hdr.ip.src) {
    ${key} = hdr.ip.dest;
}"#
        ),
        right: program!(
            r#"reaction r(ing hdr.ip.src) {
    ${key} = hdr.ip.src > 9 ? hdr.ip.dst : hdr.ip.src;
}"#
        ),
    },
    Explanation {
        code: NOT_AN_ARGUMENT,
        title: "C names a field that is not an argument of its reaction",
        text: "A reaction sees the fields and registers between its parentheses, measured together before each call. Add \
               the field there, for example `ing hdr.ipv4.src`, or `ing hdr.ipv4` for the whole header.",
        wrong: program!(
            r#"reaction r(ing hdr.ip.src) {
    ${level} = hdr.ip.dst;
}"#
        ),
        right: program!(
            r#"reaction r(ing hdr.ip.src, ing hdr.ip.dst) {
    ${level} = hdr.ip.dst;
}"#
        ),
    },
    Explanation {
        code: NOT_STATE,
        title: "a state block has something other than variables",
        text: "The variables of `state { }` keep their values when the C code is reloaded, if name and type are equal. \
               Functions, types and includes belong in `c { }`.",
        wrong: program!(
            r#"state {
    uint32_t calls;
    void count(void) { calls++; }
}
reaction r(ing hdr.ip.src) {
    count();
    ${level} = calls;
}"#
        ),
        right: program!(
            r#"state {
    uint32_t calls;
}
c {
    static void count(void) { calls++; }
}
reaction r(ing hdr.ip.src) {
    count();
    ${level} = calls;
}"#
        ),
    },
    Explanation {
        code: CELL_NOT_MEASURED,
        title: "C names a cell of a register that its reaction does not measure",
        text: "`reg depths[1:10]` measures the cells 1 to 10, both included. The array in C has the register's own indices, \
               so `depths[0]` is none of them. An index that is computed is not checked.",
        wrong: program!(
            r#"reaction r(reg depths[1:10]) {
    ${level} = depths[0];
}"#
        ),
        right: program!(
            r#"reaction r(reg depths[0:10]) {
    ${level} = depths[0];
}"#
        ),
    },
    Explanation {
        code: FUNCTION_NAME,
        title: "two tables have functions of one name in C",
        text: "Functions have the name of a table, a verb and the name of an action. The table `t` with the action `add_x` \
               and the table `t_add` with the action `x` both have the function `t_add_add_x`. Rename a table or an action.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: C_WARNING,
        title: "the C compiler reports a warning",
        text: "The C texts are compiled with -Wall. The note names the option that controls the warning; in C, \
               `#pragma GCC diagnostic ignored \"-W...\"` turns it off.",
        wrong: program!(
            r#"reaction r(ing hdr.ip.src) {
    uint32_t unused;
    ${level} = hdr.ip.src;
}"#
        ),
        right: program!(
            r#"reaction r(ing hdr.ip.src) {
    ${level} = hdr.ip.src;
}"#
        ),
    },
    Explanation {
        code: POINTER_IN_STATE,
        title: "a variable of a state block has a pointer",
        text: "A reload copies the bytes of the variable. The pointer then points into the code that was unloaded, or to \
               nothing in a new process. Keep values in arrays of fixed size and refer to them by index.",
        wrong: program!(
            r#"state {
    uint32_t levels[4];
    uint32_t *best;
}
reaction r(ing hdr.ip.src) {
    best = &levels[hdr.ip.src % 4];
    ${level} = *best;
}"#
        ),
        right: program!(
            r#"state {
    uint32_t levels[4];
    uint32_t best;
}
reaction r(ing hdr.ip.src) {
    best = hdr.ip.src % 4;
    ${level} = levels[best];
}"#
        ),
    },
];
