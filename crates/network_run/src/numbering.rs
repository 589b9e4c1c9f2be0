// SPDX-License-Identifier: Apache-2.0
//! The numbers of nodes in a simulation: switches come first, in the order of the file, then hosts.

use network::node::NodeId;
use network_file::model::{Network, Node};

/// The id of a node.
pub(crate) fn node_id(network: &Network, node: Node) -> NodeId {
    NodeId(match node {
        Node::Switch(number) => number,
        Node::Host(number) => network.switches.len() + number,
    } as u32)
}
