// SPDX-License-Identifier: Apache-2.0
//! Explanations of the checker's codes for `plane explain`. Tests check that each wrong example gets its
//! code, and that each corrected example gets no code.

use super::*;
use source::Explanation;

/// One for each code.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: UNDECLARED,
        title: "a name is not declared",
        text: "A name can be used only after its declaration, in the module of the \
               declaration or, with the module in front, outside of it. From a module with an \
               interface only what the interface lists is visible. Values, sizes, types, \
               parsers and modules have names of their own: the number of a size `n` as a \
               value is `size_to_int(n)`.",
        wrong: "global Array.t<32> counts = Array.create(8);\n\
                event count(int i) { Array.set(cuonts, i, 1); }\n",
        right: "global Array.t<32> counts = Array.create(8);\n\
                event count(int i) { Array.set(counts, i, 1); }\n",
    },
    Explanation {
        code: DUPLICATE,
        title: "a name is declared twice",
        text: "Two declarations of one kind in one module cannot share a name, as later uses \
               could mean either. A local may have the name of something outside of its \
               handler, and of an earlier local, which it then hides.",
        wrong: "const int LIMIT = 4;\n\
                const int LIMIT = 5;\n",
        right: "const int LIMIT = 4;\n\
                const int HARD_LIMIT = 5;\n",
    },
    Explanation {
        code: TYPE_MISMATCH,
        title: "a value has another type than is wanted",
        text: "Types must agree exactly; the compiler inserts no implicit conversions. A \
               boolean becomes an integer by a cast, an integer a boolean by a comparison.",
        wrong: "event e(int x) { if (x) { printf(\"set\"); } }\n",
        right: "event e(int x) { if (x != 0) { printf(\"set\"); } }\n",
    },
    Explanation {
        code: WIDTH_MISMATCH,
        title: "an integer has another width than is wanted",
        text: "`int<16>` and `int<32>` are different types. Operands of arithmetic and \
               comparisons have one width; a shift may be by any. A cast cuts off upper bits \
               or puts zeros there; a slice takes bits out. Literals take the width that \
               their use wants.",
        wrong: "event e(int<16> x) { int y = x + 1; printf(\"%d\", y); }\n",
        right: "event e(int<16> x) { int y = (int<32>)x + 1; printf(\"%d\", y); }\n",
    },
    Explanation {
        code: ARGUMENT_COUNT,
        title: "there are too many or too few arguments",
        text: "A call gives one argument for each parameter in the declaration. `Array.get` and `Array.set` \
               have two forms: the plain one, and the paper's with a memop and its argument.",
        wrong: "fun int sum(int a, int b) { return a + b; }\n\
                event e(int x) { printf(\"%d\", sum(x)); }\n",
        right: "fun int sum(int a, int b) { return a + b; }\n\
                event e(int x) { printf(\"%d\", sum(x, 1)); }\n",
    },
    Explanation {
        code: LITERAL_TOO_WIDE,
        title: "a literal does not fit its width",
        text: "A literal without a width of its own is as wide as its use wants, or else 32 \
               bits. A value that does not fit is an error; it is not cut off.",
        wrong: "event e(int<8> x) { if (x == 256) { printf(\"never\"); } }\n",
        right: "event e(int<8> x) { if (x == 255) { printf(\"full\"); } }\n",
    },
    Explanation {
        code: WRONG_KIND,
        title: "a construct in a place that does not allow it",
        text: "Memops are not called: they are passed to an access of an array, which runs \
               them. Functions and events need their arguments. Accesses, and `this` and \
               `ingress_port`, make sense only where an event is handled. Sizes and variables of loops are \
               no values: `size_to_int(n)` is the value of the size `n`.",
        wrong: "memop plus(int stored, int x) { return stored + x; }\n\
                event e(int x) { int y = plus(x, 1); printf(\"%d\", y); }\n",
        right: "fun int plus(int a, int b) { return a + b; }\n\
                event e(int x) { int y = plus(x, 1); printf(\"%d\", y); }\n",
    },
    Explanation {
        code: HANDLER,
        title: "a handler has no event",
        text: "A handler is for an event that is declared in front of it, in the same module.",
        wrong: "handle ping(int x) { printf(\"%d\", x); }\n",
        right: "event ping(int x);\n\
                handle ping(int x) { printf(\"%d\", x); }\n",
    },
    Explanation {
        code: HANDLER_PARAMETERS,
        title: "a handler's parameters are not its event's",
        text: "A handler has as many parameters as its event, of the same types in the same \
               order. Their names may differ.",
        wrong: "event ping(int x);\n\
                handle ping(int<16> x) { printf(\"%d\", x); }\n",
        right: "event ping(int x);\n\
                handle ping(int sequence) { printf(\"%d\", sequence); }\n",
    },
    Explanation {
        code: RECURSION,
        title: "functions or parsers call themselves",
        text: "Functions and parsers are put in place of their calls, as a switch has no \
               stack. What should happen again is an event that the handler generates: it \
               runs once more after the other work of the switch (Lucid §3).",
        wrong: "fun int down(int x) { return down(x - 1); }\n",
        right: "event down(int x) { if (x != 0) { generate down(x - 1); } }\n",
    },
    Explanation {
        code: RETURN,
        title: "a `return` does not fit",
        text: "Functions return a value of their declared type; a `void` function returns nothing. \
               Handlers do not return.",
        wrong: "event e(int x) { if (x == 0) { return; } printf(\"%d\", x); }\n",
        right: "event e(int x) { if (x != 0) { printf(\"%d\", x); } }\n",
    },
    Explanation {
        code: MISSING_RETURN,
        title: "a function may end without a value",
        text: "Every path through a function that returns a value must reach a `return`. A \
               loop may run no round at all, and a `match` may match nothing unless its last \
               branch is `_`.",
        wrong: "fun int sign(int x) { if (x == 0) { return 0; } }\n",
        right: "fun int sign(int x) { if (x == 0) { return 0; } return 1; }\n",
    },
    Explanation {
        code: NOT_ASSIGNABLE,
        title: "something that is no local is assigned to",
        text: "Only locals and parameters can be assigned to. Constants never change; arrays \
               and counters change through `Array.set` and its relatives.",
        wrong: "const int LIMIT = 4;\n\
                event e() { LIMIT = 5; }\n",
        right: "event e() { int limit = 4; limit = 5; printf(\"%d\", limit); }\n",
    },
    Explanation {
        code: GLOBAL_MISUSE,
        title: "persistent state where it is not allowed, or none where it is required",
        text: "Arrays, counters, tables and what is made of them are declared with `global`, \
               outside of modules, because the order of these declarations is the order in \
               which handlers may access them (Lucid §5). They are built there or in \
               constructors, and are handed to functions and events as arguments; locals \
               cannot hold them and functions cannot return them.",
        wrong: "global Array.t<32> a = Array.create(8);\n\
                event e(int i) { auto b = a; Array.set(b, i, 1); }\n",
        right: "global Array.t<32> a = Array.create(8);\n\
                event e(int i) { Array.set(a, i, 1); }\n",
    },
    Explanation {
        code: WIRE_NUMBER,
        title: "numbers of events on the wire clash",
        text: "On the wire a 16-bit number identifies the event, so no two events of a \
               program can have the same. Events without a number get a free one.",
        wrong: "event ping@1(int x);\n\
                event pong@1(int x);\n",
        right: "event ping@1(int x);\n\
                event pong@2(int x);\n",
    },
    Explanation {
        code: INTERFACE,
        title: "a module does not fit its interface",
        text: "Everything that an interface lists must be in the module, with the same types, \
               for all sizes that the interface leaves open. A type that holds persistent \
               state is listed as `global type`.",
        wrong: "module M : { fun int f(int x); } { fun int f(int<8> x) { return (int<32>)x; } }\n",
        right: "module M : { fun int f(int<8> x); } { fun int f(int<8> x) { return (int<32>)x; } }\n",
    },
    Explanation {
        code: ALIAS,
        title: "the two modules of an alias differ",
        text: "The program uses one of the two modules, whichever the condition says; so it \
               must be right for both. They show the same names with the same types. Types \
               that both hide become one type of the alias.",
        wrong: "module A { fun int f(int x) { return x; } }\n\
                module B { fun int g(int x) { return x; } }\n\
                symbolic bool fast;\n\
                module F = A if fast else B;\n",
        right: "module A { fun int f(int x) { return x; } }\n\
                module B { fun int f(int x) { return x + 1; } }\n\
                symbolic bool fast;\n\
                module F = A if fast else B;\n",
    },
    Explanation {
        code: FIELD,
        title: "a field is not there",
        text: "Which record a literal `{a = 1; b = 2}` is follows from where it is used or \
               from its labels; all fields need a value. Outside of its module the fields of \
               a type are hidden if the interface lists the type without saying what it is.",
        wrong: "type pair = { int left; int right; }\n\
                event e(int x) { pair p = { left = x; right = x }; printf(\"%d\", p#rigth); }\n",
        right: "type pair = { int left; int right; }\n\
                event e(int x) { pair p = { left = x; right = x }; printf(\"%d\", p#right); }\n",
    },
    Explanation {
        code: INDEX,
        title: "an index may be outside of its vector",
        text: "Vectors are taken apart before the program runs, so that an index is a number \
               or the variable of a loop, and must be below the length. For an index that is \
               known only at run time, use an array.",
        wrong: "event e() { int[3] v = [1; 2; 3]; for (i < 4) { printf(\"%d\", v[i]); } }\n",
        right: "event e() { int[3] v = [1; 2; 3]; for (i < 3) { printf(\"%d\", v[i]); } }\n",
    },
    Explanation {
        code: SLICE,
        title: "a slice has bits that are not there",
        text: "`x[high:low]` has both bits and those between them; bits count from 0 for the \
               lowest.",
        wrong: "event e(int x) { int<8> top = x[39:32]; printf(\"%d\", top); }\n",
        right: "event e(int x) { int<8> top = x[31:24]; printf(\"%d\", top); }\n",
    },
    Explanation {
        code: FORMAT,
        title: "a text does not fit the values that are printed",
        text: "`%d` prints an integer and `%b` a boolean, one for each value, in \
               order. `\\%` is a percent sign.",
        wrong: "event e(int x) { printf(\"%d of %d\", x); }\n",
        right: "event e(int x) { printf(\"%d of %d\", x, 10); }\n",
    },
    Explanation {
        code: SIZES,
        title: "a type has wrong sizes",
        text: "`Array.t`, `PairArray.t` and `Counter.t` take the width of a cell in bits; \
               user types take the sizes that they declare; `Table.t` takes four types in \
               double brackets.",
        wrong: "global Array.t a = Array.create(8);\n",
        right: "global Array.t<32> a = Array.create(8);\n",
    },
    Explanation {
        code: PATTERN,
        title: "a pattern does not fit what is matched",
        text: "A branch has a pattern for each value, or a single `_`. Patterns are numbers, \
               bits such as `0b1*0` of exactly the width, names of constants, and events with \
               their parameters.",
        wrong: "event e(int<4> x) { match x with | 0b10* -> { printf(\"2\"); } | _ -> { skip; } }\n",
        right: "event e(int<4> x) { match x with | 0b010* -> { printf(\"2\"); } | _ -> { skip; } }\n",
    },
    Explanation {
        code: PARSER,
        title: "something is right only in parsers, or not there",
        text: "A parser reads integers, booleans and what is made of them from a packet, a \
               `bitstring`. `main` gets each packet and nothing else. `Payload.parse` takes \
               the rest of a packet and ends a parser; elsewhere a payload is handed on or is \
               `Payload.empty()`.",
        wrong: "parser main(int x) { drop; }\n",
        right: "parser main(bitstring packet) { drop; }\n",
    },
    Explanation {
        code: NOT_DETERMINED,
        title: "a type or size that cannot be inferred",
        text: "Types and sizes are found from uses. Where no use determines them, the program \
               must: lengths of vectors and rounds of loops have no default, and an event's \
               parameters have fixed widths.",
        wrong: "event e(int<'a> x) { printf(\"%d\", x); }\n",
        right: "event e(int<16> x) { printf(\"%d\", x); }\n",
    },
    Explanation {
        code: TYPE_TOO_LARGE,
        title: "a type grows too large",
        text: "Types found by inference can double with every line, to sizes that nothing can hold. \
               A type has at most 4096 parts and is at most 64 deep, where a user type counts as one \
               part.",
        wrong: "fun auto a('t x) { return [[[[x]]]]; }\n\
                fun auto b('t x) { return a(a(a(a(x)))); }\n\
                event e(int x) { auto y = b(b(b(b(b(x))))); }\n",
        right: "fun auto a('t x) { return [[[[x]]]]; }\n\
                event e(int x) { auto y = a(a(x)); }\n",
    },
    Explanation {
        code: UNUSED_LOCAL,
        title: "a local is never read",
        text: "What is computed and not read is work for nothing, or a slip. Begin the name \
               with `_` if it is meant.",
        wrong: "event e(int x) { int y = x + 1; printf(\"%d\", x); }\n",
        right: "event e(int x) { int y = x + 1; printf(\"%d\", y); }\n",
    },
    Explanation {
        code: UNUSED_PARAMETER,
        title: "a parameter of a function is never read",
        text: "Begin the name with `_` if callers must give it all the same. Parameters that \
               an event, a table, a memop or an interface asks for are not warned about.",
        wrong: "fun int f(int x, int y) { return x; }\n\
                event e(int x) { printf(\"%d\", f(x, 1)); }\n",
        right: "fun int f(int x, int _y) { return x; }\n\
                event e(int x) { printf(\"%d\", f(x, 1)); }\n",
    },
    Explanation {
        code: UNUSED_FUNCTION,
        title: "a function, memop or action is never used",
        text: "Only the program's own file is looked at, and only if it handles events: what \
               libraries offer may be left unused.",
        wrong: "memop plus(int stored, int x) { return stored + x; }\n\
                event e(int x) { printf(\"%d\", x); }\n",
        right: "memop plus(int stored, int x) { return stored + x; }\n\
                global Array.t<32> a = Array.create(8);\n\
                event e(int x) { Array.setm(a, 0, plus, x); }\n",
    },
    Explanation {
        code: UNUSED_GLOBAL,
        title: "a global is never used",
        text: "It takes memory of a stage all the same.",
        wrong: "global Array.t<32> a = Array.create(8);\n\
                event e(int x) { printf(\"%d\", x); }\n",
        right: "global Array.t<32> a = Array.create(8);\n\
                event e(int x) { Array.set(a, 0, x); }\n",
    },
    Explanation {
        code: UNHANDLED_EVENT,
        title: "an event is generated and nothing handles it",
        text: "Such an event does nothing when it arrives. Events that only leave to the \
               outside are `exit event` or `packet event`.",
        wrong: "event seen(int x);\n\
                event e(int x) { generate seen(x); }\n",
        right: "event seen(int x) { printf(\"%d\", x); }\n\
                event e(int x) { generate seen(x); }\n",
    },
    Explanation {
        code: EVENT_DROPPED,
        title: "an event is made and dropped",
        text: "`e(1);` makes the value of an event and nothing more; `generate e(1);` sends \
               it.",
        wrong: "event e(int x) { if (x != 0) { e(x - 1); } }\n",
        right: "event e(int x) { if (x != 0) { generate e(x - 1); } }\n",
    },
    Explanation {
        code: PATTERN_NEVER_MATCHES,
        title: "a pattern cannot match",
        text: "The number does not fit into the bits that are matched.",
        wrong: "event e(int<3> x) { match x with | 8 -> { printf(\"8\"); } | _ -> { skip; } }\n",
        right: "event e(int<4> x) { match x with | 8 -> { printf(\"8\"); } | _ -> { skip; } }\n",
    },
    Explanation {
        code: SIGNED_COMPARISON,
        title: "a comparison takes integers for signed",
        text: "Lucid's integers are unsigned: `-5` in 32 bits is 4294967291, and no integer is below 0. Numbers \
               in two's complement have the order of unsigned numbers once the top bit of both is flipped.",
        wrong: "event e(int x) { if (x < -5) { printf(\"%d\", x); } }\n",
        right: "event e(int x) { if ((x ^^ 2147483648) < 2147483643) { printf(\"%d\", x); } }\n",
    },
];
