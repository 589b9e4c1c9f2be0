// SPDX-License-Identifier: Apache-2.0
//! Multicast in a session. BMv2's commands make groups and nodes apart and tie them together; the store
//! has groups with their replicas, so the nodes are kept here.

use super::{Answer, Applying, MulticastNode};
use crate::command::Command;
use crate::error::{BAD_VALUE, ControlError, UNKNOWN_HANDLE};
use state::{MulticastGroup, Replica, Update};

impl Applying<'_> {
    pub(super) fn multicast(&mut self, command: &Command) -> Result<Answer, ControlError> {
        match command {
            Command::MulticastGroupCreate { group } => {
                let group = self.new_group(*group)?;
                let content = MulticastGroup::default();
                self.update(Update::InsertMulticastGroup { group, content })?;
                self.session.multicast_groups.push(group);
                Ok(Answer::Handle(u64::from(group)))
            }
            Command::MulticastGroupDestroy { group } => {
                let group = self.small(*group, "multicast group")?;
                self.update(Update::DeleteMulticastGroup { group })?;
                self.session.multicast_groups.retain(|each| *each != group);
                for node in self.session.multicast_nodes.values_mut() {
                    if node.group == Some(group) {
                        node.group = None;
                    }
                }
                Ok(Answer::Done)
            }
            Command::MulticastGroup { group, replicas } => {
                let group = self.new_group(*group)?;
                let content = MulticastGroup {
                    replicas: self.resolver().replicas(replicas)?,
                    metadata: Vec::new(),
                };
                self.update(Update::InsertMulticastGroup { group, content })
            }
            Command::MulticastNodeCreate { rid, ports } => {
                let ports = self.resolver().ports(ports)?;
                let rid = self.small(*rid, "replication id")?;
                let handle = self.session.free_nodes.take();
                let node = MulticastNode { rid, ports, group: None };
                self.session.multicast_nodes.insert(handle, node);
                Ok(Answer::Handle(handle))
            }
            Command::MulticastNodeUpdate { node, ports } => {
                let ports = self.resolver().ports(ports)?;
                let node = self.node(*node)?;
                node.ports = ports;
                let group = node.group;
                self.refresh(group)
            }
            Command::MulticastNodeDestroy { node } => {
                let group = self.node(*node)?.group;
                self.session.multicast_nodes.remove(node);
                self.session.free_nodes.give_back(*node);
                self.refresh(group)
            }
            Command::MulticastNodeAssociate { group, node } => {
                let group = self.small(*group, "multicast group")?;
                if !self.session.multicast_groups.contains(&group) {
                    let message = format!("no multicast group {group}");
                    return Err(self
                        .error(UNKNOWN_HANDLE, message)
                        .help(format!("make it first: mc_mgrp_create {group}")));
                }
                self.node(*node)?.group = Some(group);
                self.refresh(Some(group))
            }
            Command::MulticastNodeDissociate { group, node } => {
                let group = self.small(*group, "multicast group")?;
                let node = self.node(*node)?;
                if node.group == Some(group) {
                    node.group = None;
                }
                self.refresh(Some(group))
            }
            _ => Ok(Answer::Done),
        }
    }

    /// Checks the number of a new group.
    fn new_group(&self, group: u64) -> Result<u32, ControlError> {
        if group == 0 {
            let message = "multicast group 0 stands for no multicast; groups count from 1";
            return Err(self.error(BAD_VALUE, message));
        }
        self.small(group, "multicast group")
    }

    pub(super) fn node(&mut self, handle: u64) -> Result<&mut MulticastNode, ControlError> {
        let error = ControlError::new(
            UNKNOWN_HANDLE,
            self.origin,
            format!("no multicast node with handle {handle}"),
        );
        self.session.multicast_nodes.get_mut(&handle).ok_or(error)
    }

    /// Writes a group's replicas after one of its nodes changed.
    pub(super) fn refresh(&mut self, group: Option<u32>) -> Result<Answer, ControlError> {
        let Some(group) = group else { return Ok(Answer::Done) };
        let nodes = self.session.multicast_nodes.values();
        let replicas = nodes
            .filter(|node| node.group == Some(group))
            .flat_map(|node| {
                let instance = node.rid;
                node.ports.iter().map(move |port| Replica { egress_port: *port, instance })
            })
            .collect();
        let content = MulticastGroup { replicas, metadata: Vec::new() };
        self.update(Update::ModifyMulticastGroup { group, content })
    }
}
