// SPDX-License-Identifier: Apache-2.0
//! Constructs that do something: statements, events with their times and places.

use super::{Construct, On, both, on};
use lucid_compiler::codes;

pub(super) const LIST: &[Construct] = &[
    both(
        "locals and assignment",
        "event go(int x) { int y = x + 1; y = y & 7; generate go(y); }\n",
    ),
    both(
        "`if`, `else`",
        "event go(int x) { if (x < 4 && x != 2) { generate go(x + 1); } else { generate go(0); } }\n",
    ),
    both(
        "`match` with patterns `_`, `0b1*0`, several subjects",
        "event go(int x, int<3> y) {\n match (x, y) with\n | 1, 0b1*0 -> { generate go(2, y); }\n\
         | _, 3 -> { generate go(x, 0); }\n | _, _ -> { skip; }\n}\n",
    ),
    both(
        "`match` on event values",
        "event a(int x);\nevent b(int x);\nevent go(int x) {\n event e = a(x);\n if (x == 1) { e = \
         b(x); }\n match e with\n | a(int y) -> { generate b(y); }\n | _ -> { generate e; }\n}\n",
    ),
    both(
        "`return` out of the middle of a function",
        "fun int f(int x) { if (x == 1) { return 2; } return x; }\n\
         event go(int x) { generate go(f(x)); }\n",
    ),
    both(
        "`for (i < 4)`",
        "event go(int x) { int y = 0; for (i < 4) { y = y + x; } generate go(y); }\n",
    ),
    on(
        "`printf`",
        "event go(int x) { printf(\"%d\", x); }\n",
        On::As("a line of the log"),
        On::LeftOut(codes::PRINT),
    ),
    both("`generate e;`", "event go(int x) { generate go(x + 1); }\n"),
    both(
        "several events from one handler",
        "event go(int x) { generate go(x + 1); generate go(x + 2); generate_port(1, go(x)); }\n",
    ),
    on(
        "more than 63 events from one handler",
        "event go(int x) { for (i < 64) { generate go(x); } }\n",
        On::Refused(codes::TOO_MANY_EVENTS),
        On::Refused(codes::TOO_MANY_EVENTS),
    ),
    both("`generate_switch(s, e);`", "event go(int x) { generate_switch(x & 1, go(x)); }\n"),
    both("`generate_port(p, e);`", "event go(int x) { generate_port(x & 3, go(x)); }\n"),
    both(
        "`generate_ports(g, e);` to a group that is written out",
        "event go(int x) { generate_ports({1, 2}, go(x)); }\n",
    ),
    both(
        "`generate_ports(flood p, e);`",
        "event go(int x) { generate_ports(flood ingress_port, go(x)); }\n",
    ),
    both(
        "`generate_ports` to an `extern group`",
        "extern group G;\nevent go(int x) { generate_ports(G, go(x)); }\n",
    ),
    both(
        "groups in variables",
        "event go(int x) { group g = {1}; if (x == 1) { g = {1, 2}; } if (x == 2) { g = flood 1; } \
         generate_ports(g, go(x)); }\n",
    ),
    both(
        "comparison of groups",
        "event go(int x) { group g = {1}; if (x == 1) { g = {1, 2}; } if (g == {1}) { \
         generate_ports(g, go(x)); } }\n",
    ),
    on(
        "comparison with an `extern group`",
        "extern group G;\nevent go(int x) { if (G == {1}) { generate go(x); } }\n",
        On::Refused(codes::OPEN_GROUP),
        On::Refused(codes::OPEN_GROUP),
    ),
    both(
        "event values in variables, passed to functions",
        "event a(int x);\nfun event later(event e, int t) { return Event.delay(e, t); }\n\
         event go(int x) { event e = a(x); if (x == 1) { e = go(0); } generate later(e, 500); }\n",
    ),
    both(
        "`Event.delay(e, t)`",
        "event go(int x) { generate Event.delay(go(x), 1000); generate Event.delay(go(x), x); }\n",
    ),
    both("`Event.locate(e, s)`", "event go(int x) { generate Event.locate(go(x), x & 1); }\n"),
    both(
        "`Event.locate(e, g)` to a group that is written out",
        "event go(int x) { generate Event.locate(go(x), {1, 2}); }\n",
    ),
    both(
        "`Event.locate(e, g)` to an `extern group`",
        "extern group G;\nevent go(int x) { generate Event.locate(go(x), G); }\n",
    ),
    on(
        "`Event.locate(e, g)` to a flood",
        "event go(int x) { generate Event.locate(go(x), flood 0); }\n",
        On::Refused(codes::OPEN_GROUP),
        On::Refused(codes::OPEN_GROUP),
    ),
    both(
        "`this`",
        "event go(int x) { x = x + 1; generate Event.delay(this, 100); generate_port(1, go(x)); }\n",
    ),
    both(
        "array methods: `get`, `getm`, `set`, `setm`, `update`",
        "memop plus(int stored, int x) { return stored + x; }\n\
         memop keep(int stored, int x) { return stored; }\n\
         global Array.t<32> a = Array.create(8);\nglobal Array.t<32> b = Array.create(8);\n\
         global Array.t<32> c = Array.create(8);\nglobal Array.t<32> d = Array.create(8);\n\
         global Array.t<32> e = Array.create(8);\n\
         event go(int i) { int x = Array.get(a, 1); int y = Array.getm(b, 1, plus, x); \
         Array.set(c, 1, y); Array.setm(d, 1, plus, i); int z = Array.update(e, 1, keep, 0, plus, y); \
         generate go(z); }\n",
    ),
];
