// SPDX-License-Identifier: Apache-2.0
//! A program's machine code in devices: one unit a block and one for copies, made when the first packet
//! needs them, and the straight way as one unit, made when the program is loaded. Devices that run the same
//! program share it. Which packets take which is not here.

use crate::architecture::{Replicas, Straight};
use crate::environment::BlockEnvironment;
use interpreter::{Outcome, PacketContext};
use ir::{Program, StorageLayout};
use jit::{BoundInstance, CompileError, Compiled, Unit};
use state::Cells;
use state::forwarding::ForwardingState;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Code that is made when it is first needed.
type Way = OnceLock<Result<Arc<Compiled>, CompileError>>;

/// Machine code of a program for all devices that run it alike: code reaches state through the instance
/// that a device hands in.
#[derive(Debug)]
pub(crate) struct ProgramCode {
    program: Arc<Program>,
    layout: Arc<StorageLayout>,
    /// Or why there is none.
    straight: Result<Straight, String>,
    /// A unit a block, in the order of the program's blocks.
    blocks: Way,
    straight_way: Way,
    /// The straight way with gates.
    gated_way: Way,
    replicas: Way,
    /// How often the compiler was asked.
    compilations: AtomicU64,
}

impl ProgramCode {
    /// Makes the code that the first packet needs.
    pub fn new(
        program: &Arc<Program>,
        straight: Result<Straight, String>,
    ) -> Result<ProgramCode, CompileError> {
        let code = ProgramCode {
            program: program.clone(),
            layout: Arc::new(StorageLayout::new(program)),
            straight,
            blocks: Way::new(),
            straight_way: Way::new(),
            gated_way: Way::new(),
            replicas: Way::new(),
            compilations: AtomicU64::new(0),
        };
        match &code.straight {
            Ok(straight) => code.way(&code.straight_way, || vec![straight.unit.clone()])?,
            Err(_) => code.blocks()?,
        };
        Ok(code)
    }

    fn way(
        &self,
        way: &Way,
        units: impl FnOnce() -> Vec<Unit>,
    ) -> Result<Arc<Compiled>, CompileError> {
        let compile = || {
            self.compilations.fetch_add(1, Ordering::Relaxed);
            Compiled::new(self.program.clone(), &units()).map(Arc::new)
        };
        way.get_or_init(compile).clone()
    }

    fn blocks(&self) -> Result<Arc<Compiled>, CompileError> {
        self.way(&self.blocks, || {
            let blocks = self.program.blocks.iter().enumerate();
            blocks.map(|(at, block)| Unit::block(&block.name, at)).collect()
        })
    }

    /// How often the compiler was asked.
    pub fn compilations(&self) -> u64 {
        self.compilations.load(Ordering::Relaxed)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Compiled>> {
        let ways = [&self.blocks, &self.straight_way, &self.gated_way, &self.replicas];
        ways.into_iter().filter_map(|way| way.get()?.as_ref().ok())
    }
}

/// Code and the addresses that it works with.
#[derive(Debug)]
pub(crate) struct Bound {
    pub code: Arc<Compiled>,
    pub instance: BoundInstance,
}

impl Bound {
    fn new(code: Arc<Compiled>) -> Bound {
        Bound { code, instance: BoundInstance::new() }
    }
}

/// Code of the straight way.
#[derive(Debug)]
pub(crate) struct BoundStraight {
    pub bound: Bound,
    pub last_pass: u64,
}

/// Code of the way of copies.
#[derive(Debug)]
pub(crate) struct BoundReplicas {
    pub bound: Bound,
    /// Whether the second unit makes what all copies send.
    pub share_bytes: bool,
    pub least_queue_count: u32,
    /// For the storage that each copy begins with.
    pub storage: Vec<u64>,
    /// For the copies in order.
    pub ordered: Vec<state::Replica>,
}

/// Machine code of a program and the state of one device.
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    code: Arc<ProgramCode>,
    blocks: Option<Bound>,
    straight: Option<BoundStraight>,
    gated: Option<BoundStraight>,
    replicas: Option<BoundReplicas>,
    notes: Vec<String>,
}

impl CompiledProgram {
    pub fn new(code: Arc<ProgramCode>) -> CompiledProgram {
        let (mut notes, mut straight) = (Vec::new(), None);
        match (&code.straight, code.straight_way.get()) {
            (Ok(described), Some(Ok(compiled))) => {
                straight = Some(bind_straight(described, compiled.clone()));
                notes.clone_from(&described.notes);
            }
            (Err(why), _) => notes.push(block_by_block(why)),
            (Ok(_), Some(Err(error))) => notes.push(block_by_block(&error.message)),
            // It was made with the code.
            (Ok(_), None) => {}
        }
        CompiledProgram { code, blocks: None, straight, gated: None, replicas: None, notes }
    }

    pub fn code(&self) -> &Arc<ProgramCode> {
        &self.code
    }

    pub fn layout(&self) -> &Arc<StorageLayout> {
        &self.code.layout
    }

    /// The pass of a packet in which the last block of the straight way runs.
    pub fn last_pass(&self) -> u64 {
        self.straight.as_ref().map_or(0, |straight| straight.last_pass)
    }

    /// The straight way, with gates or without.
    #[inline]
    pub fn straight(&mut self, gated: bool) -> Option<&mut BoundStraight> {
        if gated { self.gated() } else { self.straight.as_mut() }
    }

    fn gated(&mut self) -> Option<&mut BoundStraight> {
        if self.gated.is_none()
            && let Ok(described) = &self.code.straight
            && let Some(unit) = &described.gated
            && let Ok(compiled) = self.code.way(&self.code.gated_way, || vec![unit.clone()])
        {
            self.gated = Some(bind_straight(described, compiled));
        }
        self.gated.as_mut()
    }

    /// The way of copies, if they have one.
    pub fn replicas(&mut self) -> Result<Option<&mut BoundReplicas>, CompileError> {
        let described = self.code.straight.as_ref().ok().and_then(|way| way.replicas.as_ref());
        if self.replicas.is_none()
            && let Some(Replicas { units, least_queue_count }) = described
        {
            let compiled = self.code.way(&self.code.replicas, || units.clone())?;
            self.replicas = Some(BoundReplicas {
                bound: Bound::new(compiled),
                share_bytes: units.len() > 1,
                least_queue_count: *least_queue_count,
                storage: Vec::new(),
                ordered: Vec::new(),
            });
        }
        Ok(self.replicas.as_mut())
    }

    #[inline]
    pub fn has_straight(&self) -> bool {
        self.straight.is_some()
    }

    /// What is slow, for people.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Time spent on compiling so far, for all devices that share the code.
    pub fn compile_time(&self) -> Duration {
        self.code.all().map(|code| code.compile_time()).sum()
    }

    /// Machine code so far.
    pub fn code_bytes(&self) -> usize {
        self.code.all().map(|code| code.code_bytes()).sum()
    }

    /// Runs a block on a packet.
    pub fn run_block(
        &mut self,
        block: usize,
        context: &mut PacketContext,
        forwarding: &ForwardingState,
        cells: &mut Cells,
        environment: &mut BlockEnvironment<'_>,
    ) -> Result<Outcome, CompileError> {
        let blocks = match self.blocks.take() {
            Some(blocks) => blocks,
            None => Bound::new(self.code.blocks()?),
        };
        let Bound { code, instance } = self.blocks.insert(blocks);
        Ok(code.run_on_context(block, context, instance, forwarding, cells, environment))
    }
}

/// That there is no straight way, for people.
fn block_by_block(why: &str) -> String {
    format!("every packet goes block by block: {why}")
}

fn bind_straight(described: &Straight, code: Arc<Compiled>) -> BoundStraight {
    BoundStraight { bound: Bound::new(code), last_pass: described.last_pass }
}
