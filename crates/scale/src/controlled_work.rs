// SPDX-License-Identifier: Apache-2.0
//! [`ControlledWork`]: a control in stages, with accesses of the control plane. An access of a cell is an arrival like a packet:
//! it has a place in the order, queues at the cell's owner, and reads or writes when it reaches the head of the queue.

use crate::device_pipeline::StagedPass;
use crate::device_work::DeviceWork;
use crate::staged::StagedControl;
use crate::work::{Access, Comparable, Group, StageOutcome, Work};
use ir::Bits;
use ir::effects::Location;
use state::{CounterValue, MeterConfiguration};

/// What the control plane writes to a cell, or has read there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellValue {
    /// Of a register.
    Register(Bits),
    /// Of a counter: the sum of all pipelines.
    Counter(CounterValue),
    /// The configuration of a meter.
    Meter(Option<MeterConfiguration>),
}

/// An access of a cell by the control plane.
#[derive(Clone, Debug)]
pub struct CellAccess {
    /// The batch, the item in it, and the place of the access in the item.
    pub place: (u64, usize, usize),
    access: Access,
    object: Location,
    index: u64,
    /// What it writes; `None` of a read.
    written: Option<CellValue>,
    /// When it was submitted, in picoseconds.
    time_ps: u64,
    /// What it has read.
    pub value: Option<CellValue>,
    /// A full ring lost it.
    pub is_lost: bool,
}

impl CellAccess {
    /// An access of a cell of a register, a counter or a meter; `None` if the control does not keep the object's cells in one
    /// pipeline each.
    pub fn new(
        control: &StagedControl,
        (object, index): (Location, u64),
        written: Option<CellValue>,
        time_ps: u64,
    ) -> Option<CellAccess> {
        let group = control.groups.iter().position(|group| group.arrays.contains(&object))?;
        let cell = if control.groups[group].is_sharded { index as u32 } else { 0 };
        let access = Access { group: group as u32, cell };
        Some(CellAccess {
            place: (0, 0, 0),
            access,
            object,
            index,
            written,
            time_ps,
            value: None,
            is_lost: false,
        })
    }

    /// Whether it writes.
    pub fn writes(&self) -> bool {
        self.written.is_some()
    }

    /// Reads or writes, in the pipeline that owns the cell. All pipelines together have a counter's value.
    fn run(&mut self, work: &mut DeviceWork, owner: usize) {
        let index = self.index;
        let CellAccess { object, written, value, time_ps, .. } = self;
        match (*object, written) {
            (Location::Counter(counter), Some(CellValue::Counter(written))) => {
                for (at, pipeline) in work.pipelines().iter_mut().enumerate() {
                    let value = if at == owner { *written } else { CounterValue::default() };
                    pipeline.cells_mut().set_counter(counter, index, value);
                }
            }
            (Location::Counter(counter), None) => {
                let mut sum = CounterValue::default();
                for pipeline in work.pipelines() {
                    let found = pipeline.cells().counter(counter, index).unwrap_or_default();
                    sum.packets = sum.packets.wrapping_add(found.packets);
                    sum.bytes = sum.bytes.wrapping_add(found.bytes);
                }
                *value = Some(CellValue::Counter(sum));
            }
            (Location::Register(register), written) => {
                let Some(cells) = work.pipelines()[owner].cells_mut().register_mut(register) else {
                    return;
                };
                match written {
                    Some(CellValue::Register(written)) => cells.write(index, written.clone()),
                    _ => *value = cells.read(index).map(CellValue::Register),
                }
            }
            (Location::Meter(meter), Some(CellValue::Meter(written))) => {
                let cells = work.pipelines()[owner].cells_mut();
                cells.configure_meter(meter, index, *written, *time_ps);
            }
            (Location::Meter(meter), None) => {
                let found = work.pipelines()[owner].cells().meter(meter, index);
                *value = Some(CellValue::Meter(found));
            }
            _ => {}
        }
    }
}

/// What travels through the stages.
#[derive(Clone, Debug)]
pub enum Carried {
    /// A packet.
    Pass(Box<StagedPass>),
    /// An access of the control plane.
    Cell(Box<CellAccess>),
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
            Carried::Cell(cell) => accesses.push(cell.access),
        }
    }

    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut Carried) -> StageOutcome {
        match packet {
            Carried::Pass(pass) => self.0.run(stage, pipeline, pass),
            Carried::Cell(cell) => {
                if self.groups()[cell.access.group as usize].stage == stage {
                    cell.run(&mut self.0, pipeline);
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
            (Carried::Cell(cell), Carried::Cell(reference)) => cell.value == reference.value,
            (Carried::Pass(_), Carried::Cell(_)) | (Carried::Cell(_), Carried::Pass(_)) => false,
        }
    }

    fn is_same_cell(&self, access: Access, pipeline: usize, reference: &ControlledWork) -> bool {
        self.0.is_same_cell(access, pipeline, &reference.0)
    }
}
