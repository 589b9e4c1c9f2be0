// SPDX-License-Identifier: Apache-2.0
//! Codes of what targets cannot do, whichever back end compiles: `LU-E070x` and `LU-W070x`. Those of
//! the back ends are with them. The words of a particular report are in `support`.

use source::{Code, Explanation};

/// A handler that installs table entries.
pub const INSTALL: Code = Code("LU-E0701");
/// An event or group where only integers and booleans can be.
pub const NO_BITS: Code = Code("LU-E0702");
/// A handler for the switch's processor.
pub const CONTROL_HANDLER: Code = Code("LU-E0703");
/// A call of an extern function.
pub const EXTERN_FUNCTION: Code = Code("LU-E0704");
/// A group whose members the program has to know.
pub const OPEN_GROUP: Code = Code("LU-E0705");
/// More events on one path than the serialiser takes apart.
pub const TOO_MANY_EVENTS: Code = Code("LU-E0706");
/// A payload that begins within a byte.
pub const UNALIGNED: Code = Code("LU-E0707");
/// Cells wider than a stateful ALU.
pub const WIDE_CELLS: Code = Code("LU-E0708");
/// The depth of a queue where it is not known.
pub const QUEUE_DEPTH: Code = Code("LU-E0709");
/// An egress handler that the target cannot run.
pub const EGRESS: Code = Code("LU-E0710");
/// A hash or checksum in the action of a table.
pub const ACTION: Code = Code("LU-E0711");
/// A parser that computes.
pub const PARSER: Code = Code("LU-E0712");
/// A payload that would have to be cut off.
pub const CUT_PAYLOAD: Code = Code("LU-E0713");
/// A port that no compiled switch has.
pub const PORT: Code = Code("LU-E0714");
/// A delay granularity that no device has.
pub const DELAY_PERIOD: Code = Code("LU-E0715");
/// A `printf` that is left out.
pub const PRINT: Code = Code("LU-W0701");
/// A constant port that no compiled switch has.
pub const UNUSABLE_PORT: Code = Code("LU-W0702");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: INSTALL,
        title: "a handler that installs table entries",
        text: "The pipelines of P4 targets look tables up and cannot add entries; the control plane \
               does that (P4_16 §14.2). Keep what a handler learns in arrays, as the paper's stateful \
               firewall does (Lucid §7.1), or let the control plane install the entries. The reference \
               interpreter runs such programs: `plane run --engine reference`.",
        wrong: r#"action bool open(bool b)() { return b; }
global Table.t<<int, bool, (), bool>> known = Table.create(64, [open], open, false);
event learn(int host) { Table.install(known, host, open, true); }
event ask(int host) {
    bool found = Table.lookup(known, host, ());
    if (found) { generate learn(host); }
}
"#,
        right: r#"global Array.t<32> known = Array.create(64);
event learn(int host) { Array.set(known, hash<6>(1, host), host); }
event ask(int host) {
    int found = Array.get(known, hash<6>(1, host));
    if (found == host) { generate learn(host); }
}
"#,
    },
    Explanation {
        code: NO_BITS,
        title: "an event or group where only numbers can be",
        text: "Events travel as frames of integers and booleans, tables match and return them, and \
               parsers read them. An event or a group has no bits: hand over a number that says which \
               one, and decide by it in the handler.",
        wrong: "event pong(int x);\nevent ping(event back) { generate back; }\nevent start(int x) { \
                generate ping(pong(x)); }\n",
        right: "event pong(int x);\nevent ping(int x) { generate pong(x); }\nevent start(int x) { \
                generate ping(x); }\n",
    },
    Explanation {
        code: CONTROL_HANDLER,
        title: "a handler for the switch's processor",
        text: "A `control handle` runs on the processor beside the pipeline, which runs no compiled \
               program. Handle the event in the pipeline, or send it out of the port at which the \
               processor listens.",
        wrong: "event seen(int x);\nhandle seen(int x) { skip; }\ncontrol handle seen(int x) { \
                printf(\"%d\", x); }\n",
        right: "packet event seen(int x);\nhandle seen(int x) { generate_port(64, seen(x)); }\n",
    },
    Explanation {
        code: EXTERN_FUNCTION,
        title: "a call of an extern function",
        text: "An extern function belongs to the surroundings of the reference interpreter. For \
               v1model a call becomes a line of the log; a Tofino pipeline has nothing to call. \
               Generate an event that leaves by a port and do the rest there.",
        wrong: "extern tell(int x);\nevent seen(int x) { tell(x); }\n",
        right: "packet event tell(int x);\nevent seen(int x) { generate_port(64, tell(x)); }\n",
    },
    Explanation {
        code: OPEN_GROUP,
        title: "a group whose members the program has to know",
        text: "Ports that are members of an `extern` group are known to the control plane, which sets \
               up a multicast group of them; the program itself does not know them, so it cannot \
               compare such a group. And a flood is of the ports of a switch: it does not say which switches \
               there are.",
        wrong: "event hello(int x);\nevent all(int x) { generate Event.locate(hello(x), flood 0); \
                }\n",
        right: "event hello(int x);\nevent all(int x) { generate Event.locate(hello(x), {1, 2}); \
                }\n",
    },
    Explanation {
        code: TOO_MANY_EVENTS,
        title: "more events on one path than the serialiser takes apart",
        text: "A handler's events are copied out of one packet by multicast and clone numbers (Lucid \
               §3.2), at most 63 of them. Generate an event that goes on with the rest.",
        wrong: "event hello(int x);\nevent all(int x) { for (i < 64) { generate hello(x); } }\n",
        right: "event hello(int x);\nevent all(int x) { for (i < 8) { generate hello(x); } }\n",
    },
    Explanation {
        code: UNALIGNED,
        title: "a payload that begins within a byte",
        text: "Headers on P4 targets are whole bytes (P4_16 §8.9 leaves other widths to the target, \
               and none has them in front of a payload). Let the parameters in front of the payload \
               have a multiple of 8 bits together, with a parameter that fills them up.",
        wrong: "packet event data(int<9> port, Payload.t rest);\nhandle data(int<9> port, Payload.t \
                rest) { generate_port(port, data(port, rest)); }\n",
        right: "packet event data(int<16> port, Payload.t rest);\nhandle data(int<16> port, \
                Payload.t rest) { generate_port(port, data(port, rest)); }\n",
    },
    Explanation {
        code: WIDE_CELLS,
        title: "cells wider than a stateful ALU",
        text: "A stateful ALU of a Tofino works on cells of 8, 16 or 32 bits, or on pairs of them \
               (narrower cells take the next width). Use a pair array, or two arrays with the halves.",
        wrong: "global Array.t<64> seen = Array.create(16);\nevent note(int<64> x) { \
                Array.set(seen, 3, x); }\n",
        right: "global Array.t<32> high = Array.create(16);\nglobal Array.t<32> low = \
                Array.create(16);\nevent note(int<64> x) { Array.set(high, 3, x[63:32]); \
                Array.set(low, 3, x[31:0]); }\n",
    },
    Explanation {
        code: QUEUE_DEPTH,
        title: "the depth of a queue where it is not known",
        text: "How many packets wait is known when a packet leaves its queue, which is after ingress. \
               Egress handlers know it.",
        wrong: "event go(int<19> x) { int<19> waiting = Sys.dequeue_depth(); generate go(waiting); \
                }\n",
        right: "event go(int<19> x) { generate go(x); }\n",
    },
    Explanation {
        code: EGRESS,
        title: "an egress handler that the target cannot run",
        text: "What an egress handler generates leaves in the place of the packet that is leaving, so \
               it can generate one event. Generate the others in the ingress handler.",
        wrong: "event out(int x);\n@egress handle out(int x) { generate out(x); generate out(x + 1); \
                }\nevent go(int x) { generate_port(1, out(x)); }\n",
        right: "event out(int x);\nevent go(int x) { generate_port(1, out(x)); generate_port(1, out(x \
                + 1)); }\n",
    },
    Explanation {
        code: ACTION,
        title: "a hash in the action of a table",
        text: "On Tofino an entry's action is a few operations of ALUs, whose operands the match selects; a hash unit \
               computes the same for every packet that reaches the table. Hash in the handler and hand the \
               result to the lookup. On v1model actions hash.",
        wrong: "action int pick(int seed)(int x) { return hash<32>(1, x); }\nglobal Table.t<<int, \
                int, int, int>> picks = Table.create(16, [pick], pick, 0);\nevent go(int x) { int y \
                = Table.lookup(picks, x, x); generate go(y); }\n",
        right: "action int pick(int seed)(int x) { return x; }\nglobal Table.t<<int, int, int, int>> \
                picks = Table.create(16, [pick], pick, 0);\nevent go(int x) { int h = hash<32>(1, \
                x); int y = Table.lookup(picks, x, h); generate go(y); }\n",
    },
    Explanation {
        code: PARSER,
        title: "a parser that computes",
        text: "A parser of a Tofino extracts, skips and compares; it has no ALU. A parser of a P4 target \
               has no hash unit either; on v1model it adds up internet checksums. Generate an event \
               with what was read and compute in its handler.",
        wrong: "packet event seen(int x);\nhandle seen(int x) { skip; }\nparser main(bitstring pkt) \
                {\n    int x = read(pkt);\n    int h = hash<32>(1, x);\n    generate(seen(h));\n}\n",
        right: "packet event seen(int x);\nhandle seen(int x) { int h = hash<32>(1, x); generate \
                seen(h); }\nparser main(bitstring pkt) {\n    int x = read(pkt);\n    \
                generate(seen(x));\n}\n",
    },
    Explanation {
        code: CUT_PAYLOAD,
        title: "a payload that would have to be cut off",
        text: "What follows the headers of a packet goes through a Tofino as it is. To send an event without \
               the payload of its packet, the compiled program sends a mirror copy that is cut to the length \
               of the event, by way of the recirculation port. An egress handler cannot do that, since its \
               packet leaves at once, and neither can a parser. Generate the event in the ingress handler, \
               or hand on the payload.",
        wrong: "event alarm(int x);\nevent data(int x, Payload.t rest);\nhandle data(int x, Payload.t rest) {\n    \
                generate_port(1, data(x, rest));\n}\n@egress handle data(int x, Payload.t rest) {\n    \
                generate alarm(x);\n}\n",
        right: "event alarm(int x);\nevent data(int x, Payload.t rest);\nhandle data(int x, Payload.t rest) {\n    \
                generate_port(1, alarm(x));\n}\n",
    },
    Explanation {
        code: PORT,
        title: "a port that no compiled switch has",
        text: "Ports of v1model and Tofino are numbers of 9 bits. 511 is v1model's port for packets to drop, \
               and compiled programs keep 509 and 510 for what leaves by no port in particular, so a \
               switch's own ports are 0 to 508. That holds for ports that handlers generate events to, \
               and in a run for links, recirculation ports and inputs. The reference interpreter takes \
               any number.",
        wrong: "event out(int x);\nevent go(int x) { generate_port(511, out(x)); }\n",
        right: "event out(int x);\nevent go(int x) { generate_port(11, out(x)); }\n",
    },
    Explanation {
        code: DELAY_PERIOD,
        title: "a delay granularity that no device has",
        text: "Delayed events wait in a queue that frames of flow control pause until it is released, at \
               each multiple of the `delay granularity`. A frame pauses a fast port for a short time, and \
               the frames between two releases are limited: at 100 Gb/s the granularity is a third of a \
               second at most. It is never below a nanosecond. Events of programs for Tofino count their time in \
               the queue with a time stamp of 16 bits, so in runs for Tofino the granularity is 1.5 seconds at most.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: PRINT,
        title: "a `printf` that is left out",
        text: "On v1model a `printf` becomes a line of the log. A Tofino pipeline has no log, so the \
               compiled program prints nothing. The program does the same otherwise.",
        wrong: "event seen(int x) { printf(\"%d\", x); }\n",
        right: "event seen(int x) { skip; }\n",
    },
    Explanation {
        code: UNUSABLE_PORT,
        title: "a constant port that no compiled switch has",
        text: "Compiled switches have the ports 0 to 508 (LU-E0714 says why), so every target refuses the program. \
               The reference interpreter runs it.",
        wrong: "event out(int x);\nevent go(int x) { generate_port(600, out(x)); }\n",
        right: "event out(int x);\nevent go(int x) { generate_port(60, out(x)); }\n",
    },
];
