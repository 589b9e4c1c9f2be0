// SPDX-License-Identifier: Apache-2.0
//! Codes of warnings about a whole package: `IR-W03xx`. The code that finds a fault words the diagnostic.

use source::{Code, Explanation};

/// A call or write that has a meaning in another block only.
pub const WRONG_BLOCK: Code = Code("IR-W0301");
/// A header that a deparser emits twice.
pub const EMITTED_TWICE: Code = Code("IR-W0302");
/// A header that is extracted and never emitted.
pub const NOT_EMITTED: Code = Code("IR-W0303");
/// A direct counter or meter that no table names.
pub const UNATTACHED_DIRECT_OBJECT: Code = Code("IR-W0304");

/// A v1model program with these parts: egress, its locals, the deparser's statements.
macro_rules! program {
    ($locals:literal, $egress:literal, $deparser:literal) => {
        concat!(
            "#include <core.p4>\n#include <v1model.p4>\n\
             header a_t { bit<8> x; }\nheader b_t { bit<8> y; }\n\
             struct H { a_t a; b_t b; }\nstruct M { }\n\
             parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {\n\
             \x20   state start { p.extract(h.a); p.extract(h.b); transition accept; }\n\
             }\n\
             control C(inout H h, inout M m) { apply { } }\n\
             control I(inout H h, inout M m, inout standard_metadata_t s) {\n\
             \x20   apply { s.egress_spec = 1; }\n\
             }\n\
             control E(inout H h, inout M m, inout standard_metadata_t s) {\n",
            $locals,
            "    apply { ",
            $egress,
            " }\n}\ncontrol D(packet_out p, in H h) { apply { ",
            $deparser,
            " } }\nV1Switch(P(), C(), I(), E(), C(), D()) main;\n"
        )
    };
}

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: WRONG_BLOCK,
        title: "a call or write without effect in this block",
        text: "The architecture gives the call or the field of its metadata a meaning in another block: \
               in v1model the device resubmits packets and chooses their port and multicast group behind \
               ingress, and recirculates them behind egress. Move the statement to that block.",
        wrong: program!(
            "",
            "s.mcast_grp = 1; resubmit_preserving_field_list(0);",
            "p.emit(h.a); p.emit(h.b);"
        ),
        right: program!("", "recirculate_preserving_field_list(0);", "p.emit(h.a); p.emit(h.b);"),
    },
    Explanation {
        code: EMITTED_TWICE,
        title: "a header that is emitted twice",
        text: "Every path to the second `emit` has emitted the header before, and nothing has changed it \
               since, so its bytes appear twice in the packet (P4_16 v1.2.5 §16). Remove one of the calls, \
               or emit the header that was meant.",
        wrong: program!("", "", "p.emit(h.a); p.emit(h.b); p.emit(h.a);"),
        right: program!("", "", "p.emit(h.a); p.emit(h.b);"),
    },
    Explanation {
        code: NOT_EMITTED,
        title: "a header that is extracted, but never emitted",
        text: "A parser takes the header out of the packet, it may still be valid when the deparser runs, and \
               no deparser emits it or another header of its type: the packet leaves without these bytes. \
               Emit it; if the packet loses the header on purpose, call its `setInvalid`, which says so. \
               The check leaves out programs that add headers to packets, headers that the deparser reads for a \
               checksum, and headers with `@controller_header`.",
        wrong: program!("", "", "p.emit(h.a);"),
        right: program!("", "h.b.setInvalid();", "p.emit(h.a);"),
    },
    Explanation {
        code: UNATTACHED_DIRECT_OBJECT,
        title: "a direct counter or meter that no table names",
        text: "A direct counter or meter has one cell for each entry of a table. Without a table it has none, \
               and calls of its methods do nothing. Name it in the table: in v1model by `counters = c;` or \
               `meters = m;`.",
        wrong: program!(
            "    direct_counter(CounterType.packets) n;\n\
             \x20   action count() { n.count(); }\n\
             \x20   table t { key = { h.a.x: exact; } actions = { count; NoAction; } \
             default_action = NoAction(); }\n",
            "t.apply();",
            "p.emit(h.a); p.emit(h.b);"
        ),
        right: program!(
            "    direct_counter(CounterType.packets) n;\n\
             \x20   action count() { n.count(); }\n\
             \x20   table t { key = { h.a.x: exact; } actions = { count; NoAction; } \
             default_action = NoAction(); counters = n; }\n",
            "t.apply();",
            "p.emit(h.a); p.emit(h.b);"
        ),
    },
];
