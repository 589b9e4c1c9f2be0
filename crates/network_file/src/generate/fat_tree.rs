// SPDX-License-Identifier: Apache-2.0
//! The fat tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008), with its addresses: switch 10.pod.switch.1, core
//! 10.k.j.i, host 10.pod.edge.ID with ID from 2 on.

use super::plan::{Aggregation, Plan};

/// Plans a fat tree of an even `k`. Edge switches are `p0e0`, aggregation switches `p0a0`, cores `c1`. Ports 1 to k/2 lead
/// down, the others up; port p + 1 of a core leads to pod p.
pub(super) fn fat_tree(k: u32) -> Plan {
    let half = k / 2;
    let mut plan = Plan::with(Aggregation::Pods);
    let byte = |number: u32| number as u8;
    let mut pods: Vec<Vec<usize>> = Vec::new();
    for pod in 0..k {
        let address = |switch: u32| [10, byte(pod), byte(switch), 1];
        let edges = (0..half).map(|edge| (format!("p{pod}e{edge}"), address(edge)));
        let upper = (0..half).map(|upper| (format!("p{pod}a{upper}"), address(half + upper)));
        let names: Vec<_> = edges.chain(upper).collect();
        pods.push(names.into_iter().map(|(name, address)| plan.switch(name, address)).collect());
    }
    let core = |number: u32| {
        (
            format!("c{}", number + 1),
            [10, byte(k), byte(number / half + 1), byte(number % half + 1)],
        )
    };
    let cores: Vec<usize> =
        (0..half * half).map(core).map(|(name, address)| plan.switch(name, address)).collect();
    for (pod, switches) in (0..).zip(&pods) {
        let (edges, upper) = switches.split_at(half as usize);
        for (edge_number, edge) in (0..).zip(edges) {
            for host in 0..half {
                plan.host(*edge, host + 1, host + 2);
            }
            for (upper_number, upper) in (0..).zip(upper) {
                plan.link_switches((*edge, half + upper_number + 1), (*upper, edge_number + 1));
            }
        }
        for (upper_number, upper) in (0..).zip(upper) {
            for at in 0..half {
                let core = cores[(upper_number * half + at) as usize];
                plan.link_switches((*upper, half + at + 1), (core, pod + 1));
            }
        }
    }
    plan
}
