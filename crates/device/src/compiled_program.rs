// SPDX-License-Identifier: Apache-2.0
//! A program's machine code in a device: one unit a block and one for copies, made when the first packet
//! needs them, and the straight way as one unit, made when the program is loaded. Which packets take
//! which is not here.

use crate::architecture::{Replicas, Straight};
use crate::environment::BlockEnvironment;
use interpreter::{Outcome, PacketContext};
use ir::{Program, StorageLayout};
use jit::{BoundInstance, CompileError, Compiled, Unit};
use state::Cells;
use state::forwarding::ForwardingState;
use std::sync::Arc;
use std::time::Duration;

/// Code and the addresses that it works with.
#[derive(Debug)]
pub(crate) struct Bound {
    pub code: Compiled,
    pub instance: BoundInstance,
}

impl Bound {
    fn new(program: &Arc<Program>, units: &[Unit]) -> Result<Bound, CompileError> {
        let code = Compiled::new(program.clone(), units)?;
        Ok(Bound { code, instance: BoundInstance::new() })
    }
}

/// Code of the straight way.
#[derive(Debug)]
pub(crate) struct BoundStraight {
    pub bound: Bound,
    pub last_pass: u64,
    /// Rows that it counts in; `None` when it does not count.
    pub tally_rows: Option<u32>,
}

/// Code of the way of copies.
#[derive(Debug)]
pub(crate) struct BoundReplicas {
    pub bound: Bound,
    pub least_queue_count: u32,
    /// For the storage that each copy begins with.
    pub storage: Vec<u64>,
    /// For the copies in order.
    pub ordered: Vec<state::Replica>,
}

/// Machine code of a program.
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    layout: Arc<StorageLayout>,
    /// A unit a block, in the order of the program's blocks.
    blocks: Option<Bound>,
    straight: Option<BoundStraight>,
    replicas: Option<BoundReplicas>,
    /// Until the first copy.
    replicas_to_come: Option<Replicas>,
    notes: Vec<String>,
}

impl CompiledProgram {
    pub fn new(
        program: &Arc<Program>,
        straight: Option<Straight>,
    ) -> Result<CompiledProgram, CompileError> {
        let mut compiled = CompiledProgram {
            layout: Arc::new(StorageLayout::new(program)),
            blocks: None,
            straight: None,
            replicas: None,
            replicas_to_come: None,
            notes: Vec::new(),
        };
        match straight {
            Some(Straight { unit, last_pass, replicas, notes }) => {
                compiled.replicas_to_come = replicas;
                let tally_rows = unit.tallying.map(|tallying| tallying.rows);
                let bound = Bound::new(program, &[unit])?;
                compiled.straight = Some(BoundStraight { bound, last_pass, tally_rows });
                compiled.notes = notes;
            }
            None => {
                compiled.blocks(program)?;
                compiled.notes.push("every packet takes the general way".to_string());
            }
        }
        Ok(compiled)
    }

    pub fn layout(&self) -> &Arc<StorageLayout> {
        &self.layout
    }

    pub fn straight(&mut self) -> Option<&mut BoundStraight> {
        self.straight.as_mut()
    }

    /// The way of copies, if they have one.
    pub fn replicas(
        &mut self,
        program: &Arc<Program>,
    ) -> Result<Option<&mut BoundReplicas>, CompileError> {
        if let Some(Replicas { unit, least_queue_count }) = self.replicas_to_come.take() {
            let bound = Bound::new(program, &[unit])?;
            let (storage, ordered) = (Vec::new(), Vec::new());
            self.replicas = Some(BoundReplicas { bound, least_queue_count, storage, ordered });
        }
        Ok(self.replicas.as_mut())
    }

    pub fn has_straight(&self) -> bool {
        self.straight.is_some()
    }

    /// What is slow, for people.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn all(&self) -> impl Iterator<Item = &Compiled> {
        let straight = self.straight.as_ref().map(|straight| &straight.bound);
        let replicas = self.replicas.as_ref().map(|replicas| &replicas.bound);
        self.blocks.as_ref().into_iter().chain(straight).chain(replicas).map(|bound| &bound.code)
    }

    /// Time spent on compiling so far.
    pub fn compile_time(&self) -> Duration {
        self.all().map(Compiled::compile_time).sum()
    }

    /// Machine code so far.
    pub fn code_bytes(&self) -> usize {
        self.all().map(Compiled::code_bytes).sum()
    }

    fn blocks(&mut self, program: &Arc<Program>) -> Result<&mut Bound, CompileError> {
        let blocks = match self.blocks.take() {
            Some(blocks) => blocks,
            None => {
                let blocks = program.blocks.iter().enumerate();
                let units: Vec<Unit> =
                    blocks.map(|(at, block)| Unit::block(&block.name, at)).collect();
                Bound::new(program, &units)?
            }
        };
        Ok(self.blocks.insert(blocks))
    }

    /// Runs a block on a packet.
    pub fn run_block(
        &mut self,
        program: &Arc<Program>,
        block: usize,
        context: &mut PacketContext,
        forwarding: &ForwardingState,
        cells: &mut Cells,
        environment: &mut BlockEnvironment<'_>,
    ) -> Result<Outcome, CompileError> {
        let Bound { code, instance } = self.blocks(program)?;
        Ok(code.run_on_context(block, context, instance, forwarding, cells, environment))
    }
}
