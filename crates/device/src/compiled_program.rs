// SPDX-License-Identifier: Apache-2.0
//! A program's machine code: the fast path, compiled when the program is loaded on a device that may use it, and units for
//! single blocks and for copies, compiled when the first packet needs them. Devices that run the same program share the code.

use crate::environment::BlockEnvironment;
use crate::fast_path::{FastPath, FastPathKind, ReplicaPath};
use interpreter::{Outcome, PacketContext};
use ir::{Program, StorageLayout};
use jit::{BoundInstance, CompileError, Compiled, Unit};
use state::Cells;
use state::forwarding::ForwardingState;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Code that is compiled when it is first needed.
type LazyCode = OnceLock<Result<Arc<Compiled>, CompileError>>;

/// Machine code of a program, shared by devices whose options lead to the same code. The code reaches state through
/// the instance that each device passes in.
#[derive(Debug)]
pub(crate) struct ProgramCode {
    program: Arc<Program>,
    layout: Arc<StorageLayout>,
    /// The fast path, or why the program has none.
    fast_path: Result<FastPath, String>,
    /// One unit for each block, in the order of the program's blocks.
    blocks: LazyCode,
    fast_path_code: LazyCode,
    /// The fast path with gates.
    gated_code: LazyCode,
    /// The fast path with planned departures.
    planned_code: LazyCode,
    replicas: LazyCode,
    /// Number of compilations so far.
    compilations: AtomicU64,
}

impl ProgramCode {
    /// Makes the code of a program, none of it compiled yet.
    pub fn new(program: &Arc<Program>, fast_path: Result<FastPath, String>) -> ProgramCode {
        ProgramCode {
            program: program.clone(),
            layout: Arc::new(StorageLayout::new(program)),
            fast_path,
            blocks: LazyCode::new(),
            fast_path_code: LazyCode::new(),
            gated_code: LazyCode::new(),
            planned_code: LazyCode::new(),
            replicas: LazyCode::new(),
            compilations: AtomicU64::new(0),
        }
    }

    fn compiled(
        &self,
        code: &LazyCode,
        units: impl FnOnce() -> Vec<Unit>,
    ) -> Result<Arc<Compiled>, CompileError> {
        let compile = || {
            self.compilations.fetch_add(1, Ordering::Relaxed);
            Compiled::new(self.program.clone(), &units()).map(Arc::new)
        };
        code.get_or_init(compile).clone()
    }

    fn blocks(&self) -> Result<Arc<Compiled>, CompileError> {
        self.compiled(&self.blocks, || {
            let blocks = self.program.blocks.iter().enumerate();
            blocks.map(|(at, block)| Unit::block(&block.name, at)).collect()
        })
    }

    /// Number of compilations so far.
    pub fn compilations(&self) -> u64 {
        self.compilations.load(Ordering::Relaxed)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Compiled>> {
        let all = [
            &self.blocks,
            &self.fast_path_code,
            &self.gated_code,
            &self.planned_code,
            &self.replicas,
        ];
        all.into_iter().filter_map(|code| code.get()?.as_ref().ok())
    }
}

/// Code and the addresses of the state that it is bound to.
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

/// Code of the fast path.
#[derive(Debug)]
pub(crate) struct BoundFastPath {
    pub bound: Bound,
    pub last_pass: u64,
}

/// Code of the fast path of copies.
#[derive(Debug)]
pub(crate) struct BoundReplicaPath {
    pub bound: Bound,
    /// Whether the second unit produces the bytes of all copies at once.
    pub share_bytes: bool,
    pub min_queue_count: u32,
    /// Scratch memory for the storage that each copy begins with.
    pub storage: Vec<u64>,
    /// Scratch memory for the copies in order of their ports.
    pub ordered: Vec<state::Replica>,
}

/// Machine code of a program, bound to the state of one device.
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    code: Arc<ProgramCode>,
    blocks: Option<Bound>,
    fast_path: Option<BoundFastPath>,
    gated: Option<BoundFastPath>,
    planned: Option<BoundFastPath>,
    replicas: Option<BoundReplicaPath>,
    notes: Vec<String>,
}

impl CompiledProgram {
    /// Binds a program's code, and compiles what the first packet needs: the fast path if the program has one and the
    /// device may use it, else the blocks.
    pub fn new(
        code: Arc<ProgramCode>,
        may_use_fast_path: bool,
    ) -> Result<CompiledProgram, CompileError> {
        let mut bound = CompiledProgram::block_by_block(code);
        let code = bound.code.clone();
        match &code.fast_path {
            Ok(described) if may_use_fast_path => {
                let unit = || vec![described.unit.clone()];
                let compiled = code.compiled(&code.fast_path_code, unit)?;
                bound.fast_path = Some(bind_fast_path(described, compiled));
            }
            Ok(_) | Err(_) => drop(code.blocks()?),
        }
        Ok(bound)
    }

    /// Binds a program's code without a fast path. The first packet compiles the blocks.
    pub fn block_by_block(code: Arc<ProgramCode>) -> CompiledProgram {
        let notes = match &code.fast_path {
            Ok(described) => described.notes.clone(),
            Err(why) => vec![format!("every packet goes block by block: {why}")],
        };
        CompiledProgram {
            code,
            blocks: None,
            fast_path: None,
            gated: None,
            planned: None,
            replicas: None,
            notes,
        }
    }

    pub fn code(&self) -> &Arc<ProgramCode> {
        &self.code
    }

    pub fn layout(&self) -> &Arc<StorageLayout> {
        &self.code.layout
    }

    /// Returns the pass of a packet in which the last block of the fast path runs, from 0.
    pub fn last_pass(&self) -> u64 {
        self.fast_path.as_ref().map_or(0, |fast_path| fast_path.last_pass)
    }

    /// Returns the fast path of a kind.
    #[inline]
    pub fn fast_path(&mut self, kind: FastPathKind) -> Option<&mut BoundFastPath> {
        match kind {
            FastPathKind::Plain => self.fast_path.as_mut(),
            FastPathKind::Gated(_) => {
                let unit = |path: &FastPath| path.gated.clone();
                bind_when_needed(&mut self.gated, &self.code, &self.code.gated_code, unit)
            }
            FastPathKind::Planned => {
                let unit = |path: &FastPath| path.planned.clone();
                bind_when_needed(&mut self.planned, &self.code, &self.code.planned_code, unit)
            }
        }
    }

    /// Returns the fast path of copies, if the program has one.
    pub fn replicas(&mut self) -> Result<Option<&mut BoundReplicaPath>, CompileError> {
        let described = self.code.fast_path.as_ref().ok().and_then(|path| path.replicas.as_ref());
        if self.replicas.is_none()
            && let Some(ReplicaPath { units, min_queue_count }) = described
        {
            let compiled = self.code.compiled(&self.code.replicas, || units.clone())?;
            self.replicas = Some(BoundReplicaPath {
                bound: Bound::new(compiled),
                share_bytes: units.len() > 1,
                min_queue_count: *min_queue_count,
                storage: Vec::new(),
                ordered: Vec::new(),
            });
        }
        Ok(self.replicas.as_mut())
    }

    #[inline]
    pub fn has_fast_path(&self) -> bool {
        self.fast_path.is_some()
    }

    /// Returns notes for users on what is slow.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the time spent on compilation so far, by all devices that share the code.
    pub fn compile_time(&self) -> Duration {
        self.code.all().map(|code| code.compile_time()).sum()
    }

    /// Returns the size of the machine code so far.
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

/// Returns the fast path with a unit that is compiled when the first packet needs it; `None` if the program has none.
#[inline]
fn bind_when_needed<'b>(
    bound: &'b mut Option<BoundFastPath>,
    code: &ProgramCode,
    compiled: &LazyCode,
    unit: impl FnOnce(&FastPath) -> Option<Unit>,
) -> Option<&'b mut BoundFastPath> {
    if bound.is_none()
        && let Ok(described) = &code.fast_path
        && let Some(unit) = unit(described)
        && let Ok(compiled) = code.compiled(compiled, || vec![unit])
    {
        *bound = Some(bind_fast_path(described, compiled));
    }
    bound.as_mut()
}

fn bind_fast_path(described: &FastPath, code: Arc<Compiled>) -> BoundFastPath {
    BoundFastPath { bound: Bound::new(code), last_pass: described.last_pass }
}
