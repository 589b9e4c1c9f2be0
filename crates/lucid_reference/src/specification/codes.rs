// SPDX-License-Identifier: Apache-2.0
//! Codes of errors in the specification of a run. Each message is written where the error is found.

use source::{Code, Explanation};

/// Not JSON, YAML or TOML.
pub const SYNTAX: Code = Code("LU-E0501");
/// A value of another kind is expected.
pub const WRONG_TYPE: Code = Code("LU-E0502");
/// A required field is missing.
pub const MISSING: Code = Code("LU-E0503");
/// A time, rate, count or number that cannot be.
pub const BAD_QUANTITY: Code = Code("LU-E0504");
/// A switch or port that is not there, or a place that is not written as one.
pub const BAD_LOCATION: Code = Code("LU-E0505");
/// Links that cannot all be.
pub const BAD_LINK: Code = Code("LU-E0506");
/// An entry, command or state that does not exist.
pub const UNKNOWN_KIND: Code = Code("LU-E0507");
/// Values for each switch that are not as many as the switches.
pub const COUNT_OF_SWITCHES: Code = Code("LU-E0508");
/// Bytes that are not written in hexadecimal.
pub const BAD_BYTES: Code = Code("LU-E0509");
/// The key of a table entry.
pub const BAD_KEY: Code = Code("LU-E0510");
/// Two fields that exclude each other.
pub const CONFLICT: Code = Code("LU-E0511");
/// An expectation names something that the program does not have.
pub const EXPECTED_NAME: Code = Code("LU-E0521");
/// Values in an expectation that the program's types do not take.
pub const EXPECTED_ARGUMENTS: Code = Code("LU-E0522");
/// An unknown field.
pub const UNKNOWN_FIELD: Code = Code("LU-W0501");
/// A field that is there twice.
pub const REPEATED_FIELD: Code = Code("LU-W0502");
/// A field of the reference implementation that means nothing here.
pub const NO_EFFECT: Code = Code("LU-W0503");
/// Something that happens after the end of the run.
pub const TOO_LATE: Code = Code("LU-W0504");
/// Several switches without links.
pub const NOT_CONNECTED: Code = Code("LU-W0505");
/// A number that the run replaces with the least one that is possible.
pub const REPLACED: Code = Code("LU-W0506");

/// The texts of `plane explain`. The examples are specifications in JSON.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: SYNTAX,
        title: "a specification is not written in its notation",
        text: "Specifications of runs are JSON (comments and trailing commas are fine), YAML or \
               TOML; the end of the file's name says which: .json, .yaml or .yml, .toml. The \
               message says what was expected where.",
        wrong: "{\"max time\": 1000 \"events\": []}\n",
        right: "{\"max time\": 1000, \"events\": []}\n",
    },
    Explanation {
        code: WRONG_TYPE,
        title: "a field of a specification has a value of the wrong kind",
        text: "Each field takes values of one kind: a number, a text, a list, an object. The \
               message says which kind is wanted and which is there; docs/lucid-runs.md lists all \
               fields. Lucid's integers are unsigned, so numbers are never negative.",
        wrong: "{\"switches\": \"three\"}\n",
        right: "{\"switches\": 3, \"links\": \"full mesh\"}\n",
    },
    Explanation {
        code: MISSING,
        title: "an entry of a specification lacks a field",
        text: "An event needs its name, a packet its bytes, a command its name and arguments. The \
               message names the field and an example.",
        wrong: "{\"events\": [{\"args\": [1, 2]}]}\n",
        right: "{\"events\": [{\"name\": \"request\", \"args\": [1, 2]}]}\n",
    },
    Explanation {
        code: BAD_QUANTITY,
        title: "a time, rate or number that cannot be",
        text: "Times are numbers of nanoseconds or texts with a unit (\"100ns\", \"5us\", \
               \"1.5 ms\", \"2s\", \"300ps\"); rates are bits a second (\"10Gbps\"); probabilities \
               lie between 0 and 1; counts are numbers, \"at least 3\", \"at most 3\" or \"2..5\".",
        wrong: "{\"max time\": \"5 parsecs\"}\n",
        right: "{\"max time\": \"5us\"}\n",
    },
    Explanation {
        code: BAD_LOCATION,
        title: "a switch or port that is not there",
        text: "Places are written \"switch:port\", such as \"0:3\", or as the switch's number \
               alone. Switches are numbered from 0; `switches` says how many there are (1 if it \
               is absent).",
        wrong: "{\"switches\": 2, \"links\": {\"0:1\": \"2:1\"}}\n",
        right: "{\"switches\": 3, \"links\": {\"0:1\": \"2:1\"}}\n",
    },
    Explanation {
        code: BAD_LINK,
        title: "links that cannot all be",
        text: "A port has at most one link, and a link has two different ends. Links run in both \
               directions, so each is written once.",
        wrong: "{\"switches\": 3, \"links\": {\"0:1\": \"1:1\", \"2:1\": \"1:1\"}}\n",
        right: "{\"switches\": 3, \"links\": {\"0:1\": \"1:1\", \"2:1\": \"1:2\"}}\n",
    },
    Explanation {
        code: UNKNOWN_KIND,
        title: "an entry or command of an unknown kind",
        text: "Entries of `events` have the types event (the default), packet, command, generator, \
               capture and link; commands are Array.get, Array.getrange, Array.set, \
               Array.setrange, Table.install, Table.remove and Table.get.",
        wrong: "{\"events\": [{\"type\": \"packte\", \"bytes\": \"00\"}]}\n",
        right: "{\"events\": [{\"type\": \"packet\", \"bytes\": \"00\"}]}\n",
    },
    Explanation {
        code: COUNT_OF_SWITCHES,
        title: "not one value for each switch",
        text: "The values of an extern and the recirculation ports are lists with one value for \
               each switch, that of switch 0 first.",
        wrong: "{\"switches\": 2, \"links\": \"full mesh\", \"externs\": {\"role\": [1]}}\n",
        right: "{\"switches\": 2, \"links\": \"full mesh\", \"externs\": {\"role\": [1, 0]}}\n",
    },
    Explanation {
        code: BAD_BYTES,
        title: "bytes that are not hexadecimal",
        text: "The bytes of a packet are written with two hexadecimal digits each; spaces may \
               stand between them.",
        wrong: "{\"events\": [{\"type\": \"packet\", \"bytes\": \"00 1\"}]}\n",
        right: "{\"events\": [{\"type\": \"packet\", \"bytes\": \"00 01\"}]}\n",
    },
    Explanation {
        code: BAD_KEY,
        title: "the key of a table entry is not written as one",
        text: "A key is a list with a pattern for each field: a number, \"5<32>\" or \"5<<32>>\" \
               (value and width in bits), \"9<<24>> &&& 7\" (value and mask), \"_<<16>>\" or \"_\" \
               (anything). Masks can also stand in a list `mask` of the same length.",
        wrong: "{\"events\": [{\"type\": \"command\", \"name\": \"Table.install\", \"args\": \
                {\"table\": \"t\", \"key\": [\"5<\"], \"action\": \"hit\", \"args\": []}}]}\n",
        right: "{\"events\": [{\"type\": \"command\", \"name\": \"Table.install\", \"args\": \
                {\"table\": \"t\", \"key\": [\"5<32>\"], \"action\": \"hit\", \"args\": []}}]}\n",
    },
    Explanation {
        code: CONFLICT,
        title: "two fields that exclude each other",
        text: "Only one of the two can be said: for example a generator has a gap or a rate.",
        wrong: "{\"events\": [{\"type\": \"generator\", \"name\": \"e\", \"args\": [], \"count\": \
                3, \"gap\": 10, \"rate\": 1000}]}\n",
        right: "{\"events\": [{\"type\": \"generator\", \"name\": \"e\", \"args\": [], \"count\": \
                3, \"gap\": 10}]}\n",
    },
    Explanation {
        code: EXPECTED_NAME,
        title: "an expectation names an event or array that the program does not have",
        text: "Expectations name events as the program declares them, and arrays by their full \
               names, such as `counts` or `M.counts`. The message names the nearest one.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: EXPECTED_ARGUMENTS,
        title: "an expectation has values that cannot be",
        text: "An expectation has one value (or \"_\") for each parameter of its event, of the \
               parameter's type and width, and one value for each cell of an array, two in an \
               array of pairs.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNKNOWN_FIELD,
        title: "an unknown field",
        text: "The field does nothing, as in the reference implementation. The message names the \
               field that was probably meant. Spaces, underscores and hyphens in names are alike; \
               `comment` and `description` are free for your notes.",
        wrong: "{\"maximum time\": 100, \"events\": []}\n",
        right: "{\"max time\": 100, \"events\": []}\n",
    },
    Explanation {
        code: REPEATED_FIELD,
        title: "a field that is there twice",
        text: "The first counts, as in the reference implementation.",
        wrong: "{\"seed\": 1, \"seed\": 2}\n",
        right: "{\"seed\": 1}\n",
    },
    Explanation {
        code: NO_EFFECT,
        title: "a field of the reference implementation that means nothing here",
        text: "Extern functions are not run in Python: calls are shown in the log with their \
               arguments. There is no control pipe: commands stand in `events`.",
        wrong: "{\"python file\": \"count.py\", \"events\": []}\n",
        right: "{\"events\": []}\n",
    },
    Explanation {
        code: TOO_LATE,
        title: "something that happens after the end of the run",
        text: "The run ends at `max time` (10,000 ns if it is absent); what comes later never \
               happens.",
        wrong: "{\"max time\": 100, \"events\": [{\"name\": \"e\", \"args\": [], \"timestamp\": \
                200}]}\n",
        right: "{\"max time\": 300, \"events\": [{\"name\": \"e\", \"args\": [], \"timestamp\": \
                200}]}\n",
    },
    Explanation {
        code: NOT_CONNECTED,
        title: "several switches without links",
        text: "Without `links` the switches cannot send each other anything. Write `\"links\": \
               \"full mesh\"` or name each link; `\"links\": {}` says that none is meant.",
        wrong: "{\"switches\": 2, \"events\": []}\n",
        right: "{\"switches\": 2, \"links\": {\"0:1\": \"1:0\"}, \"events\": []}\n",
    },
    Explanation {
        code: REPLACED,
        title: "a number that the run replaces",
        text: "A run has 1 switch at least. Lucid's reference implementation takes `\"switches\": 0` as 1, and so \
               does this one, with a warning.",
        wrong: "{\"switches\": 0, \"events\": []}\n",
        right: "{\"switches\": 1, \"events\": []}\n",
    },
];
