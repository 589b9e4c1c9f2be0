// SPDX-License-Identifier: Apache-2.0
//! [`ControlledWork`]: a control in stages, with writes of the control plane. A write of a cell is an arrival like a packet:
//! it has a place in the order, queues at the cell's owner, and writes when it reaches the head of the queue.

use crate::device_pipeline::StagedPass;
use crate::device_work::DeviceWork;
use crate::staged::StagedControl;
use crate::work::{Access, Comparable, Group, StageOutcome, Work};
use ir::effects::Location;
use ir::{Bits, RegisterId};

/// A write of a register cell.
#[derive(Clone, Debug)]
pub struct CellWrite {
    access: Access,
    register: RegisterId,
    index: u64,
    value: Bits,
}

impl CellWrite {
    /// A write of a cell; `None` if the control does not keep the register's cells in one pipeline each.
    pub fn new(
        control: &StagedControl,
        register: RegisterId,
        index: u64,
        value: Bits,
    ) -> Option<CellWrite> {
        let array = Location::Register(register);
        let group = control.groups.iter().position(|group| group.arrays.contains(&array))?;
        let cell = if control.groups[group].is_sharded { index as u32 } else { 0 };
        Some(CellWrite { access: Access { group: group as u32, cell }, register, index, value })
    }
}

/// What travels through the stages.
#[derive(Clone, Debug)]
pub enum Carried {
    /// A packet.
    Pass(Box<StagedPass>),
    /// A write of the control plane.
    Write(CellWrite),
}

/// A control in stages, with its pipelines.
#[derive(Debug)]
pub struct ControlledWork(pub DeviceWork);

impl Work for ControlledWork {
    type Packet = Carried;

    fn stages(&self) -> usize {
        self.0.stages()
    }

    fn groups(&self) -> &[Group] {
        self.0.groups()
    }

    fn resolve(&mut self, packet: &mut Carried, accesses: &mut Vec<Access>) {
        match packet {
            Carried::Pass(pass) => self.0.resolve(pass, accesses),
            Carried::Write(write) => accesses.push(write.access),
        }
    }

    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut Carried) -> StageOutcome {
        match packet {
            Carried::Pass(pass) => self.0.run(stage, pipeline, pass),
            Carried::Write(write) => {
                if self.groups()[write.access.group as usize].stage == stage
                    && let Some(cells) =
                        self.0.pipelines()[pipeline].cells_mut().register_mut(write.register)
                {
                    cells.write(write.index, write.value.clone());
                }
                StageOutcome::default()
            }
        }
    }

    fn move_cell(&mut self, access: Access, from: usize, to: usize) {
        self.0.move_cell(access, from, to);
    }

    fn mark_congestion(&mut self, packet: &mut Carried) {
        if let Carried::Pass(pass) = packet {
            self.0.mark_congestion(pass);
        }
    }
}

impl Comparable for ControlledWork {
    fn is_same_packet(&self, packet: &Carried, reference: &Carried) -> bool {
        match (packet, reference) {
            (Carried::Pass(packet), Carried::Pass(reference)) => {
                self.0.is_same_packet(packet, reference)
            }
            (Carried::Write(_), Carried::Write(_)) => true,
            (Carried::Pass(_), Carried::Write(_)) | (Carried::Write(_), Carried::Pass(_)) => false,
        }
    }

    fn is_same_cell(&self, access: Access, pipeline: usize, reference: &ControlledWork) -> bool {
        self.0.is_same_cell(access, pipeline, &reference.0)
    }
}
