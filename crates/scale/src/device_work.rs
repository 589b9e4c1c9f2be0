// SPDX-License-Identifier: Apache-2.0
//! [`DeviceWork`]: a control in stages as [`Work`], on a [`DevicePipeline`] for each pipeline.

use crate::device_pipeline::{DevicePipeline, StagedPass};
use crate::packet_fields::{FlowOrder, PacketOptions};
use crate::staged::{StagedControl, StagedGroup};
use crate::work::{Access, Comparable, Group, StageOutcome, Work};
use device::DeviceError;
use state::Cells;

/// A control in stages, with its pipelines.
#[derive(Debug)]
pub struct DeviceWork {
    groups: Vec<Group>,
    pipelines: Vec<DevicePipeline>,
    options: PacketOptions,
    failure: Option<DeviceError>,
}

impl DeviceWork {
    /// A control on several pipelines like this one, all of whose cells have its values. Its counts stay with the first.
    pub fn new(first: DevicePipeline, pipelines: usize) -> DeviceWork {
        let groups = first.control().work_groups();
        let mut all = vec![first];
        while all.len() < pipelines {
            let mut other = all[0].another();
            other.cells_mut().clear_counts();
            all.push(other);
        }
        DeviceWork { groups, pipelines: all, options: PacketOptions::default(), failure: None }
    }

    /// Does this with packets beside the program. The order of flows takes a stage of its own, behind the last one.
    #[must_use]
    pub fn with_options(mut self, options: &PacketOptions) -> DeviceWork {
        if options.order.is_some() {
            let stage = self.stages();
            let name = "order of flows".to_string();
            self.groups.push(Group { name, stage, cells: FlowOrder::CELLS });
        }
        self.options.clone_from(options);
        self
    }

    /// Returns the pipelines.
    pub fn pipelines(&mut self) -> &mut [DevicePipeline] {
        &mut self.pipelines
    }

    /// Takes the error of a block that did not run to its end, if there is one: an assertion or an extern.
    pub fn take_failure(&mut self) -> Option<DeviceError> {
        self.failure.take()
    }

    /// Returns the cells of the program: each cell of a group from the pipeline where it is active, counters summed. `map` has
    /// the pipeline of each cell by group.
    pub fn cells(&self, map: &[Vec<u8>]) -> Cells {
        let cells: Vec<&Cells> = self.pipelines.iter().map(DevicePipeline::cells).collect();
        gathered(self.pipelines[0].control(), &cells, map)
    }

    fn note<T: Default>(&mut self, ran: Result<T, DeviceError>) -> T {
        ran.unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            T::default()
        })
    }
}

/// Returns the cells of a program from those of its pipelines, as [`DeviceWork::cells`] does.
pub fn gathered(control: &StagedControl, pipelines: &[&Cells], map: &[Vec<u8>]) -> Cells {
    let mut all = pipelines[0].clone();
    for (group, cells) in control.groups.iter().zip(map) {
        for (cell, pipeline) in cells.iter().enumerate() {
            copy(group, cell as u64, pipelines[usize::from(*pipeline)], &mut all);
        }
    }
    pipelines[1..].iter().for_each(|other| all.add_counts(other));
    all
}

/// Copies a cell of all arrays of a group; all cells of a group that is not sharded.
pub fn copy(group: &StagedGroup, cell: u64, from: &Cells, to: &mut Cells) {
    for array in &group.arrays {
        to.take_values(*array, group.moved_cells(cell), from);
    }
}

impl Work for DeviceWork {
    type Packet = StagedPass;

    fn stages(&self) -> usize {
        self.pipelines[0].control().stages.len() + usize::from(self.options.order.is_some())
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn resolve(&mut self, packet: &mut StagedPass, accesses: &mut Vec<Access>) {
        let resolved = self.pipelines[0].resolve(packet, accesses);
        self.note(resolved);
        if let Some(order) = self.options.order.as_ref().filter(|_| !packet.pass.is_ended()) {
            let group = self.groups.len() as u32 - 1;
            accesses.push(Access { group, cell: order.cell(packet.pass.context()) });
        }
    }

    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut StagedPass) -> StageOutcome {
        if stage == self.pipelines[pipeline].control().stages.len() {
            return StageOutcome::default();
        }
        let ran = self.pipelines[pipeline].run(stage, packet);
        self.note(ran)
    }

    fn move_cell(&mut self, access: Access, from: usize, to: usize) {
        let Ok([from, to]) = self.pipelines.get_disjoint_mut([from, to]) else { return };
        let control = from.control();
        let Some(group) = control.groups.get(access.group as usize) else { return };
        copy(group, u64::from(access.cell), from.cells(), to.cells_mut());
    }

    fn mark_congestion(&mut self, packet: &mut StagedPass) {
        if let Some(field) = self.options.mark {
            field.mark(packet.pass.context_mut());
        }
    }
}

impl Comparable for DeviceWork {
    fn is_same_packet(&self, packet: &StagedPass, reference: &StagedPass) -> bool {
        packet.is_same(reference)
    }

    fn is_same_cell(&self, access: Access, pipeline: usize, reference: &DeviceWork) -> bool {
        let control = self.pipelines[0].control();
        let Some(group) = control.groups.get(access.group as usize) else { return true };
        let (found, expected) = (self.pipelines[pipeline].cells(), reference.pipelines[0].cells());
        let moved = group.moved_cells(u64::from(access.cell));
        group.arrays.iter().all(|array| found.has_values_of(*array, moved, expected))
    }
}
