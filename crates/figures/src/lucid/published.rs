// SPDX-License-Identifier: Apache-2.0
//! The paper's numbers for its applications (Lucid, Figure 9), and the order in which it lists them.

/// The numbers of an application.
pub(super) struct Published {
    /// Names of folders and programs with this application.
    names: &'static [&'static str],
    /// The paper's name.
    pub title: &'static str,
    /// Lines of Lucid.
    pub lucid_lines: u32,
    /// Lines of P4.
    pub p4_lines: u32,
    /// Stages of a Tofino.
    pub stages: u32,
}

const PUBLISHED: [Published; 10] = [
    Published {
        names: &["stateful_firewall", "stateful_fw"],
        title: "stateful firewall",
        lucid_lines: 189,
        p4_lines: 2267,
        stages: 10,
    },
    Published {
        names: &["fast_rerouter", "rerouter"],
        title: "fast rerouter",
        lucid_lines: 115,
        p4_lines: 899,
        stages: 8,
    },
    Published {
        names: &["dns_defense", "dnsguard"],
        title: "closed-loop DNS defense",
        lucid_lines: 215,
        p4_lines: 1874,
        stages: 10,
    },
    Published {
        names: &["starflow"],
        title: "*Flow",
        lucid_lines: 149,
        p4_lines: 1927,
        stages: 12,
    },
    Published {
        names: &["sro", "chain_replication"],
        title: "consistent shared state",
        lucid_lines: 94,
        p4_lines: 897,
        stages: 11,
    },
    Published {
        names: &["distributed_firewall", "chain_prob_stateful_firewall"],
        title: "distributed prob. firewall",
        lucid_lines: 66,
        p4_lines: 1073,
        stages: 10,
    },
    Published {
        names: &["distributed_firewall_aging", "chain_prob_stateful_firewall_timeout"],
        title: "  + aging",
        lucid_lines: 119,
        p4_lines: 1595,
        stages: 10,
    },
    Published {
        names: &["rip", "rip_single"],
        title: "single-destination RIP",
        lucid_lines: 81,
        p4_lines: 764,
        stages: 8,
    },
    Published {
        names: &["nat", "NAT"],
        title: "simple NAT",
        lucid_lines: 41,
        p4_lines: 707,
        stages: 11,
    },
    Published {
        names: &["count_min", "countmin_historical"],
        title: "historical prob. queries",
        lucid_lines: 93,
        p4_lines: 856,
        stages: 5,
    },
];

/// Finds an application in the paper's table, with its position there.
pub(super) fn published(name: &str) -> Option<(usize, &'static Published)> {
    PUBLISHED.iter().enumerate().find(|(_, one)| one.names.contains(&name))
}

/// Returns the position of an application in the paper's tables; other applications come behind all of them.
pub fn place_in_paper(name: &str) -> usize {
    published(name).map_or(usize::MAX, |(at, _)| at)
}

/// Returns the name that the paper has for an application; other applications keep their names.
pub(super) fn published_title(name: &str) -> String {
    published(name).map_or_else(|| name.to_owned(), |(_, one)| one.title.to_owned())
}
