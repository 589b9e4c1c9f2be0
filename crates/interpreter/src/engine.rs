// SPDX-License-Identifier: Apache-2.0
//! Runs a block, at once or moment by moment: regions, basic blocks, terminators, and outcomes. Instructions
//! are in `operation`, headers and stacks in `headers`, tables in `table`.

use crate::PacketContext;
use crate::block_run::{BlockRun, Outcome, Position, Progress, StopAfter};
use crate::environment::Environment;
use crate::observer::{Event, Observer};
use ir::{
    Bits, BlockId, CounterId, Operand, OriginId, Program, Region, RegionId, RegionKind, STEP_LIMIT,
    StorageLayout, TableId, Temp, Terminator,
};
use state::{Cells, Configuration, EntryRecord};
use std::sync::Arc;

/// Numbers of the errors that extraction raises.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreErrors {
    pub(crate) packet_too_short: u32,
    pub(crate) stack_out_of_bounds: u32,
    pub(crate) header_too_short: u32,
    pub(crate) parser_invalid_argument: u32,
}

impl CoreErrors {
    fn of(program: &Program) -> CoreErrors {
        // A program whose `core.p4` lacks an error still has to reject: with a number of no name.
        let number =
            |name| program.error_number(name).unwrap_or(program.errors.len().max(1) as u32);
        CoreErrors {
            packet_too_short: number("PacketTooShort"),
            stack_out_of_bounds: number("StackOutOfBounds"),
            header_too_short: number("HeaderTooShort"),
            parser_invalid_argument: number("ParserInvalidArgument"),
        }
    }
}

/// The reference engine for one program.
#[derive(Clone, Debug)]
pub struct Interpreter {
    program: Arc<Program>,
    layout: Arc<StorageLayout>,
    pub(crate) core_errors: CoreErrors,
    /// Bits of the fixed fields of each header type.
    pub(crate) fixed_bits: Vec<usize>,
    /// By table: direct counters that count automatically on a hit.
    pub(crate) automatic_counters: Vec<Vec<CounterId>>,
}

impl Interpreter {
    /// An engine for a program that the verifier has accepted.
    ///
    /// A direct counter counts automatically whenever an entry of its table is hit, unless an action of the
    /// table counts it explicitly.
    pub fn new(program: Arc<Program>) -> Interpreter {
        let fixed_bits = program.header_types.iter().map(|ty| ty.fixed_bits() as usize).collect();
        let automatic_counters = (0..program.tables.len())
            .map(|table| program.automatic_counters(TableId(table as u32)))
            .collect();
        Interpreter {
            core_errors: CoreErrors::of(&program),
            fixed_bits,
            automatic_counters,
            layout: Arc::new(StorageLayout::new(&program)),
            program,
        }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The layout of the program's slots in a packet's storage.
    pub fn layout(&self) -> &Arc<StorageLayout> {
        &self.layout
    }

    /// A context for packets of the program, with all slots zero.
    pub fn context(&self) -> PacketContext {
        PacketContext::with_layout(self.layout.clone())
    }

    /// Runs a block, by its index in [`Program::blocks`]. The context, the configuration and the
    /// cells are of the same program.
    #[allow(clippy::too_many_arguments)] // Each is of another owner.
    pub fn run_block(
        &self,
        block: usize,
        context: &mut PacketContext,
        configuration: &Configuration,
        cells: &mut Cells,
        environment: &mut dyn Environment,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Outcome {
        let mut run = BlockRun::new(block);
        match self.resume(&mut run, None, context, configuration, cells, environment, observer) {
            Progress::Ended(outcome) => outcome,
            Progress::Stopped { .. } => unreachable!("a run without a stop ends"),
        }
    }

    /// Continues a run of a block to its end or to its stop. All parts of the run use one context, which no
    /// other block uses before the end; configuration and cells may change between parts.
    #[allow(clippy::too_many_arguments)] // Each is of another owner.
    pub fn resume(
        &self,
        block_run: &mut BlockRun,
        stop: Option<StopAfter<'_>>,
        context: &mut PacketContext,
        configuration: &Configuration,
        cells: &mut Cells,
        environment: &mut dyn Environment,
        observer: Option<&mut (dyn Observer + '_)>,
    ) -> Progress {
        debug_assert_eq!(context.layout(), &self.layout, "the context is of the same program");
        let block = block_run.block;
        let declared = &self.program.blocks[block];
        let region = &self.program.regions[declared.region.index()];
        let mut run = Run {
            interpreter: self,
            program: &self.program,
            context,
            configuration,
            cells,
            environment,
            // Inside an `Option` the borrow is not shortened by itself.
            observer: observer.map(|observer| -> &mut dyn Observer { observer }),
            entry: None,
        };
        let origin = Some(declared.origin);
        if !block_run.has_begun {
            block_run.has_begun = true;
            run.context.temps.clear();
            run.context.temps.resize(region.temps.len(), Bits::zero(0));
            run.notify(origin, |_| Event::BlockEntered { block });
        }
        let frame = Frame { id: declared.region, region, base: 0 };
        let outcome = match run.basic_blocks(frame, &mut block_run.position, stop) {
            Ok(Some(stage)) => return Progress::Stopped { stage },
            Ok(None) => Outcome::Returned,
            Err(outcome) => outcome,
        };
        run.context.temps.clear();
        if let (Outcome::Rejected(error), Some(slot)) = (&outcome, declared.parser_error) {
            run.store_slot(slot, &Bits::from_u64(32, u64::from(*error)), declared.origin);
        }
        run.notify(origin, |_| Event::BlockEnded { block, outcome: &outcome });
        Progress::Ended(outcome)
    }
}

/// One run of a block.
pub(crate) struct Run<'r> {
    pub(crate) interpreter: &'r Interpreter,
    pub(crate) program: &'r Program,
    pub(crate) context: &'r mut PacketContext,
    pub(crate) configuration: &'r Configuration,
    pub(crate) cells: &'r mut Cells,
    pub(crate) environment: &'r mut dyn Environment,
    pub(crate) observer: Option<&'r mut dyn Observer>,
    /// The entry whose action runs; `None` for a default action.
    pub(crate) entry: Option<&'r EntryRecord>,
}

/// A running region.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'r> {
    pub(crate) id: RegionId,
    pub(crate) region: &'r Region,
    /// Index of its first temporary.
    base: usize,
}

/// The place of an instruction and its origin.
#[derive(Clone, Copy)]
pub(crate) struct InstructionSite {
    pub(crate) block: BlockId,
    pub(crate) instruction: u32,
    pub(crate) origin: OriginId,
}

impl<'r> Run<'r> {
    /// Passes an event to the observer, if there is one.
    pub(crate) fn notify<'e>(
        &'e mut self,
        origin: Option<OriginId>,
        event: impl FnOnce(&'e PacketContext) -> Event<'e>,
    ) {
        if let Some(observer) = &mut self.observer {
            observer.observe(origin, event(self.context));
        }
    }

    /// Runs an action's region to its end. An error is the outcome of the whole block.
    pub(crate) fn region(&mut self, id: RegionId) -> Result<(), Outcome> {
        let program = self.program;
        let region = &program.regions[id.index()];
        let base = self.context.temps.len();
        self.context.temps.resize(base + region.temps.len(), Bits::zero(0));
        // Lookup and action are one moment.
        let mut position = Position::START;
        let result = self.basic_blocks(Frame { id, region, base }, &mut position, None);
        self.context.temps.truncate(base);
        result.map(|_| ())
    }

    /// Runs basic blocks from a position to the region's end, or to the moment to stop at: then it updates the
    /// position and returns the moment's stage.
    fn basic_blocks(
        &mut self,
        frame: Frame<'r>,
        position: &mut Position,
        stop: Option<StopAfter<'_>>,
    ) -> Result<Option<u32>, Outcome> {
        let Position { basic_block: mut at, instruction: mut first, mut back_edges } = *position;
        loop {
            let block = &frame.region.blocks[at.index()];
            let stop_here = stop.and_then(|stop| stop.first_in(at, first));
            let end = match stop_here {
                Some(moment) => moment.instruction as usize,
                None => block.instructions.len(),
            };
            let enters = first == 0 && (end > 0 || stop_here.is_none());
            if enters && frame.region.kind == RegionKind::Parser {
                // The terminator is at the state's end, so the first instruction is the better place.
                let first = block.instructions.first();
                let origin = first.map_or(block.origin, |instruction| instruction.origin);
                self.notify(Some(origin), |_| Event::ParserState {
                    region: frame.id,
                    block: at,
                    name: &block.name,
                });
            }
            for (number, instruction) in (first..).zip(&block.instructions[first..end]) {
                let site = InstructionSite {
                    block: at,
                    instruction: number as u32,
                    origin: instruction.origin,
                };
                self.execute(frame, site, &instruction.operation)?;
            }
            if let Some(moment) = stop_here {
                *position = Position { basic_block: at, instruction: end, back_edges };
                return Ok(Some(moment.stage));
            }
            let next = match &block.terminator {
                Terminator::Goto(next) => *next,
                Terminator::Branch { condition, then, otherwise } => {
                    let taken =
                        if self.value(frame, condition).is_true() { *then } else { *otherwise };
                    self.notify_decision(frame, at, taken, condition);
                    taken
                }
                Terminator::Switch { value, cases, default } => {
                    let known = self.value(frame, value);
                    let case = cases.iter().find(|(case, _)| case == known);
                    let taken = case.map_or(*default, |(_, next)| *next);
                    self.notify_decision(frame, at, taken, value);
                    taken
                }
                Terminator::Return => return Ok(None),
                Terminator::Exit => return Err(Outcome::Exited),
                Terminator::Reject(error) => {
                    let error = self.value(frame, error).low_u64() as u32;
                    return Err(self.reject(block.origin, error));
                }
            };
            // Every cycle has an edge that does not go to a later block.
            if next <= at {
                back_edges += 1;
                if back_edges >= STEP_LIMIT {
                    return Err(Outcome::StepLimit);
                }
            }
            at = next;
            first = 0;
        }
    }

    fn notify_decision(&mut self, frame: Frame<'_>, block: BlockId, taken: BlockId, on: &Operand) {
        if let Some(observer) = &mut self.observer {
            let value = match on {
                Operand::Constant(value) => value,
                Operand::Temp(temp) => &self.context.temps[frame.base + temp.index()],
            };
            let event = Event::Decided { region: frame.id, block, taken, value };
            observer.observe(Some(frame.region.blocks[block.index()].origin), event);
        }
    }

    /// The outcome of a parser that fails with this error.
    pub(crate) fn reject(&mut self, origin: OriginId, error: u32) -> Outcome {
        self.notify(Some(origin), |_| Event::ParserError { error });
        Outcome::Rejected(error)
    }

    pub(crate) fn value<'v>(&'v self, frame: Frame<'_>, operand: &'v Operand) -> &'v Bits {
        match operand {
            Operand::Constant(value) => value,
            Operand::Temp(temp) => &self.context.temps[frame.base + temp.index()],
        }
    }

    pub(crate) fn values(&self, frame: Frame<'_>, operands: &[Operand]) -> Vec<Bits> {
        operands.iter().map(|operand| self.value(frame, operand).clone()).collect()
    }

    /// Defines a temporary.
    pub(crate) fn define(&mut self, frame: Frame<'_>, temp: Temp, value: Bits) {
        self.context.temps[frame.base + temp.index()] = value;
    }

    /// The declared width of a temporary in bits.
    pub(crate) fn temp_width_bits(&self, frame: Frame<'_>, temp: Temp) -> u32 {
        frame.region.temps[temp.index()].width_bits()
    }
}
