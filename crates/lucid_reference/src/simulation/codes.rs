// SPDX-License-Identifier: Apache-2.0
//! Codes of specifications that do not match the program, and of runs that stop, `LU-E06xx`. Each message is
//! written where the error is found.

use source::{Code, Explanation};

/// An event that the program does not declare.
pub const UNKNOWN_EVENT: Code = Code("LU-E0601");
/// An event with too few or too many arguments.
pub const ARGUMENT_COUNT: Code = Code("LU-E0602");
/// An argument, extern or cell of the wrong type, or too large for its width.
pub const MISFIT: Code = Code("LU-E0603");
/// A switch that does not exist, or a port that cannot be used.
pub const UNKNOWN_PLACE: Code = Code("LU-E0604");
/// An extern without values, or values for no extern.
pub const EXTERN_VALUES: Code = Code("LU-E0605");
/// A command on an array or table that the program does not declare.
pub const UNKNOWN_GLOBAL: Code = Code("LU-E0606");
/// A command on cells beyond the end of an array.
pub const BEYOND_THE_END: Code = Code("LU-E0607");
/// A table entry whose key, action or arguments do not fit the table.
pub const ENTRY_MISFIT: Code = Code("LU-E0608");
/// A packet for a program without a parser.
pub const NO_PARSER: Code = Code("LU-E0609");
/// Arrays that need more memory than a run may take.
pub const TOO_LARGE: Code = Code("LU-E0610");
/// A capture that cannot be read, or an unknown field of packets.
pub const CAPTURE: Code = Code("LU-E0611");
/// A run stopped at an access beyond the end of an array.
pub const OUT_OF_RANGE: Code = Code("LU-E0620");
/// A schedule that the program's meaning does not allow.
pub const ILLEGAL_SCHEDULE: Code = Code("LU-E0621");
/// A recorded schedule that cannot be read.
pub const BAD_SCHEDULE: Code = Code("LU-E0622");
/// A table did not take an entry because it was full.
pub const TABLE_FULL: Code = Code("LU-W0601");
/// An argument of an event is wider than its parameter.
pub const CUT_OFF: Code = Code("LU-W0602");
/// An event for a switch takes another path because a link is down.
pub const DETOUR: Code = Code("LU-W0603");
/// The core program is inconsistent: a mistake in Planewright.
pub const INTERNAL: Code = Code("LU-E0699");

/// What `plane explain` says about each. Specifications are for the program
///
/// ```text
/// extern int<8> limit;
/// global Array.t<16> hits = Array.create(8);
/// action int<8> give(int<8> v)(int<8> x) { return v; }
/// global Table.t<<int<8>, int<8>, int<8>, int<8>>> routes = Table.create(2, [give], give, 0);
/// event request(int<8> client, bool is_urgent) { Array.set(hits, client, 1); }
/// ```
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: UNKNOWN_EVENT,
        title: "an event that the program does not declare",
        text: "Events are named as in the program, with their modules: `Cache.expire`. An event \
               that takes globals is named with the names of the globals among its arguments, and \
               must be used with these globals somewhere in the program.",
        wrong: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"name\": \"reqest\", \"args\": [1, \
                true]}]}\n",
        right: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"name\": \"request\", \"args\": [1, \
                true]}]}\n",
    },
    Explanation {
        code: ARGUMENT_COUNT,
        title: "an event with too few or too many arguments",
        text: "An event has one argument for each parameter of its declaration; those for a record \
               or vector are its parts in order, by themselves or in a list. A payload at the end \
               may be left out.",
        wrong: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"name\": \"request\", \"args\": \
                [1]}]}\n",
        right: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"name\": \"request\", \"args\": [1, \
                false]}]}\n",
    },
    Explanation {
        code: MISFIT,
        title: "a value that does not fit its type",
        text: "Integers must fit their width. Only a number among an event's arguments that names no width is cut, \
               with a warning (LU-W0602). Booleans are true and false, groups lists of numbers, payloads texts of \
               hexadecimal digits.",
        wrong: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"name\": \"request\", \"args\": \
                [\"256<16>\", true]}]}\n",
        right: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"name\": \"request\", \"args\": \
                [\"255<8>\", true]}]}\n",
    },
    Explanation {
        code: UNKNOWN_PLACE,
        title: "a switch, port or link that is not there",
        text: "Switches are numbered from 0. A recirculation port cannot have a link, and only \
               links of the specification go down and up.",
        wrong: "{\"switches\": 2, \"links\": {\"0:196\": \"1:1\"}, \"externs\": {\"limit\": [3, \
                3]}, \"events\": []}\n",
        right: "{\"switches\": 2, \"links\": {\"0:1\": \"1:1\"}, \"externs\": {\"limit\": [3, 3]}, \
                \"events\": []}\n",
    },
    Explanation {
        code: EXTERN_VALUES,
        title: "an extern without values, or values for no extern",
        text: "Each `extern` of the program has one value for each switch in `externs`.",
        wrong: "{\"events\": []}\n",
        right: "{\"externs\": {\"limit\": [3]}, \"events\": []}\n",
    },
    Explanation {
        code: UNKNOWN_GLOBAL,
        title: "a command on an array or table that the program does not declare",
        text: "Globals are named as in the program, parts of records as `filter#cells`, elements of \
               vectors as `rows[2]`. Array commands are for arrays, pairs and counters, table \
               commands for tables.",
        wrong: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"type\": \"command\", \"name\": \
                \"Array.get\", \"args\": {\"array\": \"hit\", \"index\": 0}}]}\n",
        right: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"type\": \"command\", \"name\": \
                \"Array.get\", \"args\": {\"array\": \"hits\", \"index\": 0}}]}\n",
    },
    Explanation {
        code: BEYOND_THE_END,
        title: "a command on cells beyond the end of an array",
        text: "An array of n cells has the indices 0 to n - 1; a range ends before its `end`.",
        wrong: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"type\": \"command\", \"name\": \
                \"Array.get\", \"args\": {\"array\": \"hits\", \"index\": 8}}]}\n",
        right: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"type\": \"command\", \"name\": \
                \"Array.get\", \"args\": {\"array\": \"hits\", \"index\": 7}}]}\n",
    },
    Explanation {
        code: ENTRY_MISFIT,
        title: "a table entry that does not fit its table",
        text: "An entry's key has one pattern for each field of the table's key, its action is one \
               of the table's, and its arguments are the action's install arguments.",
        wrong: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"type\": \"command\", \"name\": \
                \"Table.install\", \"args\": {\"table\": \"routes\", \"key\": [1, 2], \"action\": \
                \"give\", \"args\": [7]}}]}\n",
        right: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"type\": \"command\", \"name\": \
                \"Table.install\", \"args\": {\"table\": \"routes\", \"key\": [1], \"action\": \
                \"give\", \"args\": [7]}}]}\n",
    },
    Explanation {
        code: NO_PARSER,
        title: "a packet for a program without a parser",
        text: "Bytes become events in the program's parser, `parser main(bitstring pkt) { ... }`. A \
               program without one is given events by name.",
        wrong: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"type\": \"packet\", \"bytes\": \
                \"0102\"}]}\n",
        right: "{\"externs\": {\"limit\": [3]}, \"events\": [{\"name\": \"request\", \"args\": [1, \
                true]}]}\n",
    },
    Explanation {
        code: TOO_LARGE,
        title: "arrays that need more memory than a run may take",
        text: "Every switch has its own copy of all arrays. A run may take 8 GiB for them.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: CAPTURE,
        title: "a capture that cannot be read, or a field that packets do not have",
        text: "Captures are pcap or pcapng files, named relative to the specification. Fields of \
               packets are named as the message lists them, such as `ipv4.src` and `length`.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: OUT_OF_RANGE,
        title: "a run stopped at an access beyond the end of an array",
        text: "On a switch an index beyond the end reads zero and changes nothing, which is \
               seldom meant. The run stops there, as in the reference implementation; a \
               specification can ask to go on and count them.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: ILLEGAL_SCHEDULE,
        title: "a schedule that the program's meaning does not allow",
        text: "Handlers ran in an order or at times that no switch may choose: an event before its \
               delay was over, two of one switch in the wrong order, an event that nothing \
               generated, or one that was generated and never handled. The message names the \
               dispatch and the rule; the rules stand in the documentation of `lucid::simulation`.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: BAD_SCHEDULE,
        title: "a recorded schedule that cannot be read",
        text: "A schedule is one JSON object a line, as recorded by a run.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TABLE_FULL,
        title: "a table was full and did not take an entry",
        text: "A table holds as many entries as its declaration says; one more is not taken and \
               the table stays as it is. Declare it larger, or remove entries.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: INTERNAL,
        title: "the program's flat form does not hold together",
        text: "This is a mistake in Planewright, not in your program. Please report it with the \
               program.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: CUT_OFF,
        title: "an argument of an event is wider than its parameter",
        text: "The upper bits are cut off, as Lucid's reference implementation does without a word. A number \
               that names its width, `\"5<48>\"`, is not cut: it is an error (LU-E0603) if it does not fit.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: DETOUR,
        title: "an event for a switch takes another path because a link is down",
        text: "`generate_switch` and events with a place go to a switch by its number: along a shortest path of links \
               that are up, as a routed network does. While a link is down, such an event takes another path if there \
               is one, so a heartbeat sent like this does not notice the broken link. An event that is generated for \
               a port (`generate_port`) goes over the link of this port, and is lost while it is down.",
        wrong: "",
        right: "",
    },
];
