// SPDX-License-Identifier: Apache-2.0
//! Constructs that declare something.

use super::{Construct, On, both, on};
use lucid_compiler::codes;

pub(super) const LIST: &[Construct] = &[
    both(
        "constant: `const int K = 4;`",
        "const int K = 4;\nevent go(int x) { generate go(x + K); }\n",
    ),
    both("size: `size s = 10;`", "size s = 10;\nevent go(int<s> x) { generate go(x + 1); }\n"),
    both(
        "symbolic: `symbolic int n; symbolic size w;`",
        "symbolic int n;\nsymbolic size w;\nevent go(int<w> x, int y) { generate go(x, y + n); }\n",
    ),
    both(
        "extern value: `extern int lim;`",
        "extern int lim;\nevent go(int x) { if (x < lim) { generate go(x + 1); } }\n",
    ),
    both(
        "array: `global Array.t<32> a = Array.create(8);`",
        "global Array.t<32> a = Array.create(8);\nevent go(int i) { Array.set(a, i & 7, i); }\n",
    ),
    both(
        "array, as the artifact writes it: `global a = new Array<<32>>(8);`",
        "global a = new Array<<32>>(8);\nevent go(int i) { Array.set(a, i & 7, i); }\n",
    ),
    on(
        "array of cells wider than 32 bits",
        "global Array.t<64> a = Array.create(8);\nevent go(int<64> x) { Array.set(a, 1, x); }\n",
        On::Compiles,
        On::Refused(codes::WIDE_CELLS),
    ),
    on(
        "array of cells of other widths: `Array.t<9>`",
        "global Array.t<9> a = Array.create(8);\nevent go(int<9> x) { Array.set(a, 1, x); }\n",
        On::Compiles,
        On::As("in cells of 8, 16 or 32 bits"),
    ),
    both(
        "pair array: `PairArray.t<32>`",
        "memop both(int c1, int c2, int x, int y) { bool low = c1 < x; if (low) { cell1 = x; } \
         if (low) { cell2 = y; } if (low) { return c2; } }\n\
         global PairArray.t<32> p = PairArray.create(8);\n\
         event go(int x) { int old = PairArray.update(p, x & 7, both, x, 1, 0); generate go(old); }\n",
    ),
    both(
        "counter: `Counter.create(3)`",
        "global Counter.t<32> c = Counter.create(3);\n\
         event go(int x) { int n = Counter.add(c, 1); generate go(n); }\n",
    ),
    both(
        "memop: `memop f(int stored, int x) { return stored + x; }`",
        "memop plus(int stored, int x) { return stored + x; }\n\
         global Array.t<32> a = Array.create(8);\n\
         event go(int i) { Array.setm(a, i & 7, plus, 1); }\n",
    ),
    both(
        "memop with a condition",
        "memop least(int stored, int x) { if (stored < x) { return stored; } else { return x; } }\n\
         global Array.t<32> a = Array.create(8);\n\
         event go(int i) { Array.setm(a, i & 7, least, i); }\n",
    ),
    both(
        "memop of three arguments",
        "memop step(int stored, int x, int y) { bool full = stored > x; if (full) { cell1 = y; } \
         else { if (!full) { cell1 = stored + x; } } if (full) { return cell1; } }\n\
         global Array.t<32> a = Array.create(8);\n\
         event go(int i) { int r = Array.update_complex(a, i & 7, step, 9, 1, 0); generate go(r); }\n",
    ),
    both(
        "event: `event e(int x);`",
        "event e(int x);\nevent go(int x) { generate_port(1, e(x)); }\n",
    ),
    both(
        "event and handler: `event e(int x) { ... }`",
        "event go(int x) { generate go(x + 1); }\n",
    ),
    both("event with a number: `event e@7(int x);`", "event go@7(int x) { generate go(x + 1); }\n"),
    both(
        "event over globals: `event u(Array.t<32> p)`",
        "global Array.t<32> a = Array.create(8);\nglobal Array.t<32> b = Array.create(8);\n\
         event put(Array.t<32> p, int x) { Array.set(p, 1, x); }\n\
         event go(int x) { generate put(a, x); generate put(b, x); }\n",
    ),
    on(
        "event over events: `event e(event f)`",
        "event pong(int x);\nevent ping(event back) { generate back; }\n\
         event go(int x) { generate ping(pong(x)); }\n",
        On::Refused(codes::NO_BITS),
        On::Refused(codes::NO_BITS),
    ),
    on(
        "event over groups: `event e(group g)`",
        "event hello();\nevent tell(group to) { generate_ports(to, hello()); }\n\
         event go(int x) { generate tell({1, 2}); }\n",
        On::Refused(codes::NO_BITS),
        On::Refused(codes::NO_BITS),
    ),
    both(
        "packet event: `packet event eth(int<48> d, int<48> s, int<16> t);`",
        "packet event eth(int<48> d, int<48> s, int<16> t, Payload.t rest);\n\
         handle eth(int<48> d, int<48> s, int<16> t, Payload.t rest) {\n\
         generate_port(1, eth(s, d, t, rest)); }\n",
    ),
    on(
        "packet event whose payload begins within a byte",
        "packet event data(int<9> p, Payload.t rest);\n\
         handle data(int<9> p, Payload.t rest) { generate_port(p, data(p, rest)); }\n",
        On::Refused(codes::UNALIGNED),
        On::Refused(codes::UNALIGNED),
    ),
    both(
        "`entry` and `exit` events",
        "exit event out(int x);\nentry event come(int x);\nhandle come(int x) { generate out(x); }\n",
    ),
    both(
        "handler: `handle e(int x) { ... }`",
        "event go(int x);\nhandle go(int x) { generate go(x); }\n",
    ),
    both(
        "egress handler: `@egress handle`",
        "event out(int x);\n@egress handle out(int x) { generate out(x + 1); }\n\
         event go(int x) { generate_port(1, out(x)); }\n",
    ),
    on(
        "egress handler that generates two events",
        "event out(int x);\n@egress handle out(int x) { generate out(x); generate out(x + 1); }\n\
         event go(int x) { generate_port(1, out(x)); }\n",
        On::Refused(codes::EGRESS),
        On::Refused(codes::EGRESS),
    ),
    on(
        "control handler: `control handle`",
        "event seen(int x);\nhandle seen(int x) { skip; }\n\
         control handle seen(int x) { printf(\"%d\", x); }\n",
        On::Refused(codes::CONTROL_HANDLER),
        On::Refused(codes::CONTROL_HANDLER),
    ),
    both(
        "function: `fun int g(int x) { ... }`",
        "fun int twice(int x) { return x + x; }\nevent go(int x) { generate go(twice(x)); }\n",
    ),
    both(
        "function over globals with an order: `fun void f(Array.t<32> p, Array.t<32> q) [p < q]`",
        "global Array.t<32> a = Array.create(8);\nglobal Array.t<32> b = Array.create(8);\n\
         fun void f(Array.t<32> p, Array.t<32> q) [p < q] { int x = Array.get(p, 1); \
         Array.set(q, 1, x); }\nevent go(int x) { f(a, b); }\n",
    ),
    both(
        "record type: `type pair = { int a; int b; }`",
        "type pair = { int a; int b; }\nevent go(pair r) { generate go({a = r#b; b = r#a}); }\n",
    ),
    both(
        "record of globals and its constructor: `constr t mk(int n) = { ... };`",
        "type t = { Array.t<32> cells; Counter.t<32> hits; }\n\
         constr t mk(int n) = { cells = Array.create(n); hits = Counter.create(0); };\n\
         global t one = mk(8);\n\
         event go(int i) { Array.set(one#cells, i & 7, i); Counter.add(one#hits, 1); }\n",
    ),
    both(
        "module: `module M { ... }`",
        "module M { const int K = 3; fun int plus(int x) { return x + K; } }\n\
         event go(int x) { generate go(M.plus(x)); }\n",
    ),
    both(
        "module with an interface",
        "module M : { fun int plus(int x); } { fun int plus(int x) { return x + 3; } }\n\
         event go(int x) { generate go(M.plus(x)); }\n",
    ),
    both(
        "module alias: `module F = A if b else B;`",
        "const bool b = true;\nmodule A { const int K = 3; }\nmodule B { const int K = 4; }\n\
         module F = A if b else B;\nevent go(int x) { generate go(x + F.K); }\n",
    ),
    both(
        "group: `group G = {1, 2};`",
        "group G = {1, 2};\nevent go(int x) { generate_ports(G, go(x)); }\n",
    ),
    both(
        "action and table: `Table.create`, `Table.lookup`",
        "action int hit(int d)(int q) { return d + q; }\n\
         global Table.t<<int, int, int, int>> t = Table.create(16, [hit], hit, 0);\n\
         event go(int x) { int y = Table.lookup(t, x, 3); generate go(y); }\n",
    ),
    on(
        "table filled by a handler: `Table.install`",
        "action int hit(int d)() { return d; }\n\
         global Table.t<<int, int, (), int>> t = Table.create(16, [hit], hit, 0);\n\
         event learn(int x) { Table.install(t, x, hit, 1); }\n\
         event go(int x) { int y = Table.lookup(t, x, ()); generate learn(y); }\n",
        On::Refused(codes::INSTALL),
        On::Refused(codes::INSTALL),
    ),
    on(
        "action that hashes",
        "action int pick(int seed)(int x) { return hash<32>(1, x); }\n\
         global Table.t<<int, int, int, int>> t = Table.create(16, [pick], pick, 0);\n\
         event go(int x) { int y = Table.lookup(t, x, x); generate go(y); }\n",
        On::Compiles,
        On::Refused(codes::ACTION),
    ),
    on(
        "table of groups or events",
        "action group way(group g)() { return g; }\n\
         global Table.t<<int, group, (), group>> t = Table.create(16, [way], way, {1, 2});\n\
         event go(int x) { group g = Table.lookup(t, x, ()); generate_ports(g, go(x)); }\n",
        On::Refused(codes::NO_BITS),
        On::Refused(codes::NO_BITS),
    ),
    both(
        "parser: `parser main(bitstring pkt) { ... }`",
        "packet event eth(int<48> d, int<48> s, int<16> t, Payload.t rest);\n\
         handle eth(int<48> d, int<48> s, int<16> t, Payload.t rest) { \
         generate_port(1, eth(d, s, t, rest)); }\n\
         parser main(bitstring pkt) {\n int<48> d = read(pkt); int<48> s = read(pkt); int<16> t = \
         read(pkt);\n match t with\n | LUCID_ETHERTY -> { do_lucid_parsing(pkt); }\n\
         | _ -> { generate(eth(d, s, t, Payload.parse(pkt))); }\n}\n",
    ),
    on(
        "parser that adds",
        "packet event seen(int x);\nhandle seen(int x) { skip; }\n\
         parser main(bitstring pkt) { int x = read(pkt); generate(seen(x + 1)); }\n",
        On::Compiles,
        On::Refused(codes::PARSER),
    ),
    on(
        "parser that decides within a byte",
        "packet event seen(int x);\nhandle seen(int x) { skip; }\n\
         parser main(bitstring pkt) {\n int<4> kind = read(pkt);\n match kind with\n\
         | 1 -> { int<28> _x = read(pkt); generate(seen(1)); }\n | _ -> { drop; }\n}\n",
        On::Compiles,
        On::Refused(codes::UNALIGNED),
    ),
    on(
        "parser that hashes",
        "packet event seen(int x);\nhandle seen(int x) { skip; }\n\
         parser main(bitstring pkt) { int x = read(pkt); int h = hash<32>(1, x); \
         generate(seen(h)); }\n",
        On::Refused(codes::PARSER),
        On::Refused(codes::PARSER),
    ),
    on(
        "internet checksum in a parser",
        "packet event seen(int x, int<16> sum);\nhandle seen(int x, int<16> sum) { skip; }\n\
         parser main(bitstring pkt) {\n int x = read(pkt); int<8> y = read(pkt); int<16> sum = \
         hash<16>(checksum, x, y);\n match hash<16>(checksum, y, sum) with\n\
         | 0 -> { generate(seen(x, sum)); }\n | _ -> { drop; }\n}\n",
        On::Compiles,
        On::Refused(codes::PARSER),
    ),
    on(
        "extern function: `extern tell(int x);`",
        "extern tell(int x);\nevent go(int x) { tell(x); }\n",
        On::As("a line of the log"),
        On::Refused(codes::EXTERN_FUNCTION),
    ),
    both(
        "`include \"x.dpt\"`",
        "include \"memops.dpt\"\nglobal Array.t<32> a = Array.create(8);\n\
         event go(int i) { Array.setm(a, i & 7, plus, 1); }\n",
    ),
];
