// SPDX-License-Identifier: Apache-2.0
//! Numbers of the groups of ports and of switches that a program in normal form names, in the order in
//! which `generate` statements name them. What the numbers mean on the wire is said in
//! [`crate::wire`].

use crate::compiled::PortGroup;
use lucid::core::walk::each_statement;
use lucid::core::{
    Body, Constant, Destination, Expression, ExpressionKind, ExternId, Program, StatementKind,
};

/// A group as a program names it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    Members(Vec<u32>),
    Extern(ExternId),
}

/// All groups of a program.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    ports: Vec<Named>,
    switches: Vec<Named>,
}

impl Groups {
    /// Those that handlers name: events in order, of each the handler, then the egress handler.
    pub fn of(program: &Program) -> Groups {
        let mut groups = Groups::default();
        let bodies =
            program.events.iter().flat_map(|event| [&event.handler, &event.egress_handler]);
        for body in bodies.flatten() {
            groups.add(body);
        }
        groups
    }

    fn add(&mut self, body: &Body) {
        each_statement(&body.statements, &mut |statement| {
            let StatementKind::Generate { destination, .. } = &statement.kind else { return };
            let (list, group) = match destination {
                Destination::Ports(group) => (&mut self.ports, group),
                Destination::Switches(group) => (&mut self.switches, group),
                _ => return,
            };
            if let Some(named) = named(group)
                && !list.contains(&named)
            {
                list.push(named);
            }
        });
    }

    /// The number of a group of ports.
    pub fn ports(&self, group: &Expression) -> Option<u32> {
        let named = named(group)?;
        self.ports.iter().position(|known| *known == named).map(|at| at as u32)
    }

    /// The number of a group of switches.
    pub fn switches(&self, group: &Expression) -> Option<u32> {
        let named = named(group)?;
        self.switches.iter().position(|known| *known == named).map(|at| at as u32)
    }

    /// Groups of ports by their numbers, for the control plane.
    pub fn port_groups(&self) -> Vec<PortGroup> {
        let group = |named: &Named| match named {
            Named::Members(members) => PortGroup::Ports(members.clone()),
            Named::Extern(id) => PortGroup::Extern(*id),
        };
        self.ports.iter().map(group).collect()
    }

    /// Groups of switches by their numbers; an extern's value is the switch's own.
    pub fn switch_groups(&self) -> Vec<PortGroup> {
        let group = |named: &Named| match named {
            Named::Members(members) => PortGroup::Ports(members.clone()),
            Named::Extern(id) => PortGroup::Extern(*id),
        };
        self.switches.iter().map(group).collect()
    }
}

fn named(group: &Expression) -> Option<Named> {
    match &group.kind {
        ExpressionKind::Constant(Constant::Group(members)) => Some(Named::Members(members.clone())),
        ExpressionKind::Extern(id) => Some(Named::Extern(*id)),
        _ => None,
    }
}
