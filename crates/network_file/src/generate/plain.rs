// SPDX-License-Identifier: Apache-2.0
//! Topologies whose addresses follow the switches: switch n has 10.(n / 256).(n mod 256).1 and the /24 around it, from
//! n = 1; its hosts have 2 and up.

use super::plan::Plan;

fn add_switch(plan: &mut Plan, name: String) -> usize {
    let number = plan.switches.len() + 1;
    plan.switch(name, [10, (number >> 8) as u8, number as u8, 1])
}

fn add_numbered(plan: &mut Plan) -> usize {
    let name = format!("s{}", plan.switches.len() + 1);
    add_switch(plan, name)
}

/// Adds hosts at the first ports of a switch.
fn add_hosts(plan: &mut Plan, switch: usize, count: u32) {
    for host in 0..count {
        plan.host(switch, host + 1, host + 2);
    }
}

/// Switches `s1` and so on in a line. Behind the ports of hosts come one to the previous and one to the next switch.
pub(super) fn line(switches: u32, hosts_per_switch: u32) -> Plan {
    let mut plan = Plan::default();
    for number in 0..switches {
        let switch = add_numbered(&mut plan);
        add_hosts(&mut plan, switch, hosts_per_switch);
        if number > 0 {
            plan.link_switches((switch - 1, hosts_per_switch + 2), (switch, hosts_per_switch + 1));
        }
    }
    plan
}

/// Hosts around one switch.
pub(super) fn star(hosts: u32) -> Plan {
    line(1, hosts)
}

/// Switches in levels, hosts at those of the last one. Ports 1 to `fanout` lead down, the next one up.
pub(super) fn tree(depth: u32, fanout: u32) -> Plan {
    let mut plan = Plan::default();
    let mut level = vec![add_numbered(&mut plan)];
    for _ in 1..depth {
        let mut next = Vec::new();
        for parent in level {
            for child in 1..=fanout {
                let switch = add_numbered(&mut plan);
                plan.link_switches((parent, child), (switch, fanout + 1));
                next.push(switch);
            }
        }
        level = next;
    }
    for switch in level {
        add_hosts(&mut plan, switch, fanout);
    }
    plan
}

/// Leaf switches `leaf1` and so on, each linked with each of `spine1` and so on.
pub(super) fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Plan {
    let mut plan = Plan::default();
    let numbered = |plan: &mut Plan, name: &str, count: u32| -> Vec<usize> {
        (1..=count).map(|number| add_switch(plan, format!("{name}{number}"))).collect()
    };
    let leaf_switches = numbered(&mut plan, "leaf", leaves);
    let spine_switches = numbered(&mut plan, "spine", spines);
    for (number, leaf) in (1..).zip(leaf_switches) {
        add_hosts(&mut plan, leaf, hosts_per_leaf);
        for (up, spine) in (hosts_per_leaf + 1..).zip(&spine_switches) {
            plan.link_switches((leaf, up), (*spine, number));
        }
    }
    plan
}

/// Two switches with hosts, and one link between them; `h1` and so on are at `s1`, the second half at `s2`.
pub(super) fn dumbbell(hosts_per_side: u32) -> Plan {
    let mut plan = Plan::default();
    let sides = [add_numbered(&mut plan), add_numbered(&mut plan)];
    for side in sides {
        add_hosts(&mut plan, side, hosts_per_side);
    }
    let port = hosts_per_side + 1;
    plan.link_switches((sides[0], port), (sides[1], port));
    if let Some(link) = plan.links.last_mut() {
        link.is_bottleneck = true;
    }
    plan
}
