// SPDX-License-Identifier: Apache-2.0
//! [`Obstacle`]: what keeps a program or a device from running packets ahead. Ingress must depend on the packet, the tables and
//! registers of its own only, and a packet must not come to ingress again: a pass that ran ahead would have had to see its
//! writes.

use crate::sharding::{ShardOptions, shard};
use crate::staged::{StagedControl, stage};
use device::DeviceOptions;
use ir::architecture::{self, Gress, role_of};
use ir::{ExternAccess, Instruction, Operation, OriginId, Program};
use source::Span;

/// Stages that arrays may take: registers that conflict in one stage move to later ones.
const STAGES: usize = 64;

/// Why a program runs on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The reason, a sentence without a full stop.
    pub reason: String,
    /// Its place, if it has one.
    pub span: Span,
}

impl Obstacle {
    /// A reason without a place.
    pub fn new(reason: impl Into<String>) -> Obstacle {
        Obstacle { reason: reason.into(), span: Span::NONE }
    }

    fn at(program: &Program, origin: Option<OriginId>, reason: String) -> Obstacle {
        let origin = origin.map(|origin| program.merged_origins(origin)[0]);
        let origin = origin.and_then(|origin| program.origins.get(origin.index()));
        let span = origin.map_or(Span::NONE, |origin| origin.span);
        Obstacle { reason, span }
    }
}

/// Returns what keeps a device from running passes ahead.
pub fn of_device(options: &DeviceOptions) -> Option<Obstacle> {
    let queues = &options.traffic_manager;
    let mut ports = queues.ports.values().chain([&queues.default_port]);
    let obstacles = [
        (options.trace || options.tap, "packets are traced"),
        (
            ports.clone().any(|port| port.loopback),
            "a port is in loopback: its packets come to ingress again",
        ),
        (
            !options.packet_generator.is_empty() || !options.generator_applications.is_empty(),
            "the packet generator's packets come to ingress between those of captures",
        ),
        (
            options.ingress_interval_ps > 0,
            "packets wait for ingress (a limit of packets a second), so they begin later than they arrive",
        ),
        (
            ports.any(|port| port.flow_control.is_some()),
            "ports obey flow control, so not each packet comes to ingress",
        ),
        (options.pass_timing.is_some(), "passes take time, so accesses of packets interleave"),
        (
            options.control_latency.is_some(),
            "control commands take time, so they change tables between packets",
        ),
        (options.pass_limit == Some(0), "no packet has a pass"),
    ];
    let found = obstacles.into_iter().find(|(is_there, _)| *is_there);
    found.map(|(_, reason)| Obstacle::new(reason))
}

/// Cuts the ingress control of a program into stages that workers run ahead.
///
/// # Errors
///
/// What keeps the program from it.
pub fn staged(program: &Program) -> Result<StagedControl, Obstacle> {
    returns_to_ingress(program)?;
    let mut controls = shard(program, ShardOptions::default(), &|_| None, &|_| STAGES);
    controls.retain(|control| control.gress == Gress::Ingress);
    let [control] = controls.as_mut_slice() else {
        return Err(Obstacle::new("its ingress is not one control"));
    };
    for (at, block) in program.blocks.iter().enumerate() {
        if role_of(program, block).is_some_and(|role| role.gress == Gress::Ingress) {
            can_run_ahead(program, at, at == control.block)?;
        }
    }
    control.keep_stages_of_groups();
    stage(control)
        .map_err(|error| Obstacle { reason: error.to_string(), span: error.span(program) })
}

/// Refuses programs whose packets may come to ingress again.
fn returns_to_ingress(program: &Program) -> Result<(), Obstacle> {
    let again = "its packets come to ingress again, after others that ran ahead of them";
    let ports = architecture::of(program).and_then(|description| description.ports);
    if let Some(port) = ports.and_then(|ports| ports.recirculation) {
        let message = format!(
            "port {port} sends packets to ingress again, after others that ran ahead of them"
        );
        return Err(Obstacle::new(message));
    }
    for instruction in instructions(program, 0..program.regions.len()) {
        if let Operation::Request { request, .. } = &instruction.operation {
            let name = &*program.requests[request.index()].name;
            if matches!(name, "resubmit" | "recirculate") {
                let reason = format!("`{name}`: {again}");
                return Err(Obstacle::at(program, Some(instruction.origin), reason));
            }
        }
    }
    Ok(())
}

/// Refuses blocks of ingress whose effects depend on the order of packets in a way that workers do not keep: state outside the
/// control that is cut, assertions (a run ends with the first packet that fails), time stamps of entries.
fn can_run_ahead(program: &Program, block: usize, is_control: bool) -> Result<(), Obstacle> {
    let regions = program.regions_of_block(block);
    for instruction in instructions(program, regions.iter().map(|region| region.index())) {
        let reason = match &instruction.operation {
            Operation::Assert { .. } => {
                "an assertion ends the run, and later packets have run ahead"
            }
            Operation::Apply { table, .. } if program.tables[table.index()].idle_timeout => {
                "a table with an idle timeout needs the time of each packet in order"
            }
            Operation::RegisterAccess { .. } if !is_control => {
                "a block beside the control accesses a register"
            }
            Operation::Meter { .. } | Operation::MeterDirect { .. } if !is_control => {
                "a block beside the control accesses a meter"
            }
            Operation::CallExtern { effects, .. } if effects.access == ExternAccess::Any => {
                "a call of an extern may hold, release and emit packets"
            }
            _ => continue,
        };
        return Err(Obstacle::at(program, Some(instruction.origin), reason.to_string()));
    }
    Ok(())
}

fn instructions(
    program: &Program,
    regions: impl IntoIterator<Item = usize>,
) -> impl Iterator<Item = &Instruction> {
    let blocks = regions.into_iter().flat_map(|region| &program.regions[region].blocks);
    blocks.flat_map(|block| &block.instructions)
}
