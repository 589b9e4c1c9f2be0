// SPDX-License-Identifier: Apache-2.0
//! What `plane explain` says about mistakes in network files. The examples are files in YAML.

use crate::codes;
use source::Explanation;

/// The explanations of the codes of this crate.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: codes::SYNTAX,
        title: "a network file is not written in its notation",
        text: "Network files are YAML, JSON (with comments and trailing commas) or TOML; the extension decides: \
               .yaml or .yml, .json, .toml. The message says what the parser expected.",
        wrong: "topology: {kind: star, size: 4\n",
        right: "topology: {kind: star, size: 4, program: router.p4}\n",
    },
    Explanation {
        code: codes::WRONG_TYPE,
        title: "a field of a network file has a value of another type",
        text: "Each field takes values of one type: a text, a number, a list, an object. docs/networks.md lists all \
               fields.",
        wrong: "topology: {kind: star, size: 4, program: router.p4}\nevents: none\n",
        right: "topology: {kind: star, size: 4, program: router.p4}\nevents: []\n",
    },
    Explanation {
        code: codes::MISSING,
        title: "an item of a network file lacks a field",
        text: "The message names the field and an example. Fields that many items share can stand below `defaults`.",
        wrong: "switches: {s1: {}}\nhosts: {h1: {}}\nlinks: [[h1, \"s1:1\"]]\n",
        right: "switches: {s1: {program: router.p4}}\nhosts: {h1: {}}\nlinks: [[h1, \"s1:1\"]]\n",
    },
    Explanation {
        code: codes::BAD_VALUE,
        title: "a quantity, a word or another value that a field does not take",
        text: "Times (10us), rates (10Mbps) and frequencies (1000/s) need a unit: a number alone means milliseconds in \
               one tool and microseconds in another. Sizes are bytes, or have a unit (64KB, 64KiB). Probabilities are \
               numbers from 0 to 1 or percentages. Queues have a length in packets (64p) or bytes (64KB).",
        wrong: "topology: {kind: star, size: 4, program: router.p4, rate: \"10\"}\n",
        right: "topology: {kind: star, size: 4, program: router.p4, rate: 10Mbps}\n",
    },
    Explanation {
        code: codes::UNKNOWN_FIELD,
        title: "an unknown field",
        text: "The message names the field that was probably meant, or the name here of a field of another tool. \
               `comment` and `description` are for your notes.",
        wrong: "topology: {kind: star, size: 4, program: router.p4, bw: 10Mbps}\n",
        right: "topology: {kind: star, size: 4, program: router.p4, rate: 10Mbps}\n",
    },
    Explanation {
        code: codes::REPEATED_FIELD,
        title: "a field or name that is there twice",
        text: "Each field of an object is written once, and each switch, host and controller has its own name.",
        wrong: "topology: {kind: star, size: 4, program: router.p4}\nseed: 1\nseed: 2\n",
        right: "topology: {kind: star, size: 4, program: router.p4}\nseed: 1\n",
    },
    Explanation {
        code: codes::UNKNOWN_NODE,
        title: "a switch, host, port or controller that the network does not have",
        text: "Links, applications, events, captures and expectations refer to nodes by their names, and to ports as \
               s1:1 or s1-p1. A generated topology has switches s1, s2, ... and hosts h1, h2, ...; docs/networks.md has \
               the names of each kind.",
        wrong: "topology: {kind: star, size: 4, program: router.p4}\napplications: [ping: {from: h1, to: h9}]\n",
        right: "topology: {kind: star, size: 4, program: router.p4}\napplications: [ping: {from: h1, to: h4}]\n",
    },
    Explanation {
        code: codes::BAD_LINK,
        title: "links that cannot all exist",
        text: "A link joins two different ports, and a port has at most one link. Links run in both directions, so each \
               is written once.",
        wrong: "switches: {s1: {program: a.p4}}\nhosts: {h1: {}, h2: {}}\nlinks: [[h1, \"s1:1\"], [h2, \"s1:1\"]]\n",
        right: "switches: {s1: {program: a.p4}}\nhosts: {h1: {}, h2: {}}\nlinks: [[h1, \"s1:1\"], [h2, \"s1:2\"]]\n",
    },
    Explanation {
        code: codes::BAD_ADDRESS,
        title: "an address that a host cannot have or reach",
        text: "Every host has addresses of its own, with the length of the network's prefix (10.0.1.1/24). A gateway and \
               the next hop of a route are in the network of an address of the host, on a route without next hop, or \
               have an entry in `arp`.",
        wrong: "switches: {s1: {program: a.p4}}\nhosts: {h1: {address: 10.0.1.1/24, gateway: 10.0.2.1}}\nlinks: [[h1, \
                \"s1:1\"]]\n",
        right: "switches: {s1: {program: a.p4}}\nhosts: {h1: {address: 10.0.1.1/24, gateway: 10.0.1.254}}\nlinks: [[h1, \
                \"s1:1\"]]\n",
    },
    Explanation {
        code: codes::CONFLICT,
        title: "fields that exclude each other",
        text: "Only one of the two can hold: a flow sends a number of bytes or for a time, a link has random or burst \
               loss, a controller has commands or a program.",
        wrong: "topology: {kind: star, size: 4, program: a.p4}\napplications: [tcp: {from: h1, to: h2, bytes: 1MB, \
                duration: 1s}]\n",
        right: "topology: {kind: star, size: 4, program: a.p4}\napplications: [tcp: {from: h1, to: h2, bytes: 1MB}]\n",
    },
    Explanation {
        code: codes::BAD_TOPOLOGY,
        title: "a topology that cannot be generated",
        text: "Half of the k ports of a switch of a fat tree lead up and half down, so k is even. A topology has at most \
               65,535 switches and as many hosts.",
        wrong: "topology: {kind: fat-tree, k: 5, program: router.p4}\n",
        right: "topology: {kind: fat-tree, k: 4, program: router.p4}\n",
    },
    Explanation {
        code: codes::NO_ADDRESS,
        title: "a host without an address in an application that needs one",
        text: "A host that sends or receives IP packets by an application needs an `address`. `send` and `replay` send \
               whole frames, and `listen` takes any, so these need none.",
        wrong: "switches: {s1: {program: a.p4}}\nhosts: {h1: {applications: [echo]}}\nlinks: [[h1, \"s1:1\"]]\n",
        right: "switches: {s1: {program: a.p4}}\nhosts: {h1: {address: 10.0.1.1/24, applications: [echo]}}\nlinks: \
                [[h1, \"s1:1\"]]\n",
    },
    Explanation {
        code: codes::UNKNOWN_SUBJECT,
        title: "an expectation about something that the network does not have",
        text: "`application` names an application by its `name`, or by host and kind: h1.tcp, the second one h1.tcp2. \
               `ping: h1-h2` needs a ping from h1 to h2 among the applications.",
        wrong: "topology: {kind: star, size: 4, program: a.p4}\nexpect: [{ping: h1-h2, loss: 0}]\n",
        right: "topology: {kind: star, size: 4, program: a.p4}\napplications: [ping: {from: h1, to: h2}]\nexpect: \
                [{ping: h1-h2, loss: 0}]\n",
    },
    Explanation {
        code: codes::BAD_NAME,
        title: "a name that an item cannot have",
        text: "Names of switches, hosts, controllers, links and applications have letters, digits, `_`, `-` and `.`, \
               and no two nodes have the same name. `all` stands for all items.",
        wrong: "switches: {s1: {program: a.p4}}\nhosts: {s1: {}}\n",
        right: "switches: {s1: {program: a.p4}}\nhosts: {h1: {}}\nlinks: [[h1, \"s1:1\"]]\n",
    },
    Explanation {
        code: codes::UNKNOWN_COMMAND,
        title: "a shell command without effect",
        text: "Of the shell commands of a host, those that set default gateways, routes and ARP entries are understood: \
               `route add default gw`, `ip route add`, `arp -s`. Programs are `applications`.",
        wrong: "switches: {s1: {program: a.p4}}\nhosts: {h1: {commands: [python3 server.py]}}\nlinks: [[h1, \"s1:1\"]]\n",
        right: "switches: {s1: {program: a.p4}}\nhosts: {h1: {address: 10.0.1.1/24, applications: [echo]}}\nlinks: \
                [[h1, \"s1:1\"]]\n",
    },
    Explanation {
        code: codes::TOO_LATE,
        title: "something that happens after the end of the run",
        text: "The run ends at `until`; what comes later does not happen.",
        wrong: "topology: {kind: star, size: 2, program: a.p4}\nuntil: 1s\nevents: [{at: 2s, node: s1, state: down}]\n",
        right: "topology: {kind: star, size: 2, program: a.p4}\nuntil: 3s\nevents: [{at: 2s, node: s1, state: down}]\n",
    },
    Explanation {
        code: codes::NOT_CONNECTED,
        title: "a node without links",
        text: "Nothing reaches the switch or host. `links` connects nodes.",
        wrong: "switches: {s1: {program: a.p4}}\nhosts: {h1: {}, h2: {}}\nlinks: [[h1, \"s1:1\"]]\n",
        right: "switches: {s1: {program: a.p4}}\nhosts: {h1: {}, h2: {}}\nlinks: [[h1, \"s1:1\"], [h2, \"s1:2\"]]\n",
    },
    Explanation {
        code: codes::NOT_ROUTED,
        title: "an IPv6 address to which generated routes do not lead",
        text: "The routes that a topology generates are of IPv4. A switch with `entries` of its own routes what these say.",
        wrong: "topology: {kind: star, size: 2, program: a.p4}\nhosts: {h1: {address: \"2001:db8::1/64\"}}\n",
        right: "topology: {kind: star, size: 2, program: a.p4, entries: a.txt}\nhosts: {h1: {address: \"2001:db8::1/64\"}}\n",
    },
];
