// SPDX-License-Identifier: Apache-2.0
//! Constructs that have a value.

use super::{Construct, On, both, on};
use lucid_compiler::atomic::codes::{SEED, SHIFT_BY_VARIABLE, WIDE_ARITHMETIC};
use lucid_compiler::codes;

pub(super) const LIST: &[Construct] = &[
    both(
        "`int<N>`, `bool`",
        "event go(int<16> x, bool b) { if (b) { generate go(x + 1, !b); } }\n",
    ),
    both("`auto`", "event go(int x) { auto y = x + 1; generate go(y); }\n"),
    both("vectors: `T[N]`", "event go(int[3] v) { generate go([v[1]; v[2]; v[0]]); }\n"),
    both(
        "records: `r#f`, `{r with f = 1}`",
        "type pair = { int a; int b; }\nevent go(pair r) { generate go({r with a = r#b}); }\n",
    ),
    both(
        "`+ - & | ^^ ~`",
        "event go(int x, int y) { generate go((x + y) ^^ (x - y), (x & ~y) | 1); }\n",
    ),
    on(
        "arithmetic and order of more than 32 bits",
        "event go(int<48> x) { generate go(x + 1); }\n",
        On::Compiles,
        On::Refused(WIDE_ARITHMETIC),
    ),
    both(
        "values of more than 32 bits, copied and compared for equality",
        "event go(int<48> x, int<48> y) { if (x == y) { generate go(y, 7); } }\n",
    ),
    both("`|+|`, `|-|`", "event go(int x) { generate go((x |+| 5) |-| 3); }\n"),
    both("`<<`, `>>` by a constant", "event go(int x) { generate go((x << 3) >> 1); }\n"),
    both("`<<`, `>>` by a variable", "event go(int x, int n) { generate go(x << n, n); }\n"),
    on(
        "`<<`, `>>` of more than 32 bits by a variable",
        "event go(int<48> x, int n) { generate go(x >> n, n); }\n",
        On::Compiles,
        On::Refused(SHIFT_BY_VARIABLE),
    ),
    both(
        "concatenation `^`, slices `x[7:0]`, casts",
        "event go(int<8> x, int<16> y) { generate go(y[7:0], x ^ (int<8>)y); }\n",
    ),
    both(
        "comparisons, `&&`, `||`, `!`",
        "event go(int x, int y) { if ((x < y || x == 3) && !(y >= 9)) { generate go(y, x); } }\n",
    ),
    both("`3w16`, `3<<16>>`", "event go(int<16> x) { generate go(x + 3w16); }\n"),
    both(
        "hash with a constant seed: `hash<10>(1, a, b)`",
        "event go(int x, int<8> y) { int<10> h = hash<10>(1, x, y); generate go((int<32>)h, y); }\n",
    ),
    both(
        "hash of more than 32 bits",
        "event go(int<48> x) { int<48> h = hash<48>(1, x); generate go(h); }\n",
    ),
    on(
        "hash with a seed that varies",
        "event go(int x, int s) { generate go(hash<32>(s, x), s); }\n",
        On::Refused(SEED),
        On::Refused(SEED),
    ),
    both(
        "internet checksum: `hash<16>(checksum, a, b)`",
        "event go(int<16> x, int y) { int<16> s = hash<16>(checksum, x, y); generate go(s, y); }\n",
    ),
    both("`Sys.time()`", "event go(int x) { int now = Sys.time(); generate go(now - x); }\n"),
    both("`Sys.random()`", "event go(int x) { int r = Sys.random(); generate go(r); }\n"),
    on(
        "`Sys.dequeue_depth()`",
        "event go(int<19> x) { int<19> d = Sys.dequeue_depth(); generate go(d); }\n",
        On::Refused(codes::QUEUE_DEPTH),
        On::Refused(codes::QUEUE_DEPTH),
    ),
    both(
        "`Sys.dequeue_depth()` in an egress handler",
        "event out(int<19> x);\n@egress handle out(int<19> x) { int<19> d = Sys.dequeue_depth(); \
         generate out(d); }\nevent go(int x) { generate_port(1, out(0)); }\n",
    ),
    both(
        "internet checksum that the handler itself uses",
        "event go(int x, int<16> y) { int<16> c = hash<16>(checksum, x, y); if (c == 0) { generate \
         go(x, c + 1); } }\n",
    ),
    both("`self`", "event go(int x) { generate go(self); }\n"),
    both(
        "`ingress_port`, `recirculation_port`",
        "event go(int<9> p) { generate_port(ingress_port, go(ingress_port)); }\n",
    ),
    both(
        "payload that is handed on: `Payload.t`",
        "packet event data(int x, Payload.t rest);\nhandle data(int x, Payload.t rest) {\n\
         Payload.t p = rest;\n generate_port(1, data(x, p)); }\n",
    ),
    both(
        "payload that is cut off: `Payload.empty()`",
        "packet event data(int x, Payload.t rest);\nhandle data(int x, Payload.t rest) {\n\
         Payload.t p = rest;\n if (x == 1) { p = Payload.empty(); }\n generate_port(1, data(x, p)); }\n",
    ),
    on(
        "payload that an egress handler cuts off",
        "event out(int x);\nevent data(int x, Payload.t rest);\n@egress handle data(int x, Payload.t rest) {\n\
         generate out(x); }\n",
        On::Compiles,
        On::Refused(codes::CUT_PAYLOAD),
    ),
];
