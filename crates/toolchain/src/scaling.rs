// SPDX-License-Identifier: Apache-2.0
//! `plane scale`: programs of any language on several pipelines. Crate `scale` decides; here programs are compiled, laid
//! out for their stages, and checked.

pub mod capture_run;
pub mod field_run;
pub mod hardware;
pub mod machine_run;
mod muted;
mod observed;
pub mod shares;
pub mod shown;
pub mod staged_device;

use crate::layouts::{self, TargetError};
use frontend::{Compiled, Console, Failure, Frontend, ProgramFile};
use ir::architecture::stages_of;
use ir::effects::Location;
use ir::{Program, RegisterArray, RegisterId};
use muted::Muted;
use pisa::{Gress, HardwareModel, Layout, Problem};
use scale::codes;
use scale::machine::MAX_PIPELINES;
use scale::report::{Report, Subject};
use scale::sharding::{ControlSharding, Rule, ShardOptions, StageGraph, declaration, shard};
use source::{Diagnostic, Diagnostics, SourceMap, Span};

/// The most bytes of cells in all pipelines.
const MAX_CELL_BYTES: u128 = 64 << 30;

/// How a program is to be spread.
#[derive(Clone, Debug, Default)]
pub struct ScaleRequest<'r> {
    /// The number of pipelines.
    pub pipelines: u64,
    /// The stages of each half of a pipeline; `None` for those of the target.
    pub stages: Option<u64>,
    /// The hardware model that gives the stages; `None` for that of the language.
    pub target: Option<&'r str>,
    /// Whether registers that no packet writes are state.
    pub read_only_is_state: bool,
    /// Whether counters are arrays with an owner for each cell.
    pub counters_are_state: bool,
}

/// A program and the stages of its layout.
pub struct Scaled {
    /// The program.
    pub compiled: Compiled,
    /// The problem and its layout, or why there is none.
    layout: Result<(Problem, Layout), String>,
    target: HardwareModel,
    stages: Option<usize>,
    options: ShardOptions,
}

/// Reports on the arrays of a program. Prints warnings.
///
/// # Errors
///
/// Errors of the program or of the request.
pub fn report(
    language: &dyn Frontend,
    file: &ProgramFile<'_>,
    request: &ScaleRequest<'_>,
    console: &dyn Console,
) -> Result<Report, Failure> {
    let scaled = Scaled::new(language, file, request, console)?;
    let program = scaled.compiled.ready.program();
    let mut controls = scaled.controls(program);
    let mut found = Diagnostics::new();
    let blocks = program.blocks.iter();
    if blocks.filter_map(|block| stages_of(program, block)).next().is_none() {
        let message = format!("{} has no control that takes stages", file.quoted_name());
        found.push(
            Diagnostic::error(codes::NO_CONTROL, Span::NONE, message)
                .help("write it for an architecture with match-action controls"),
        );
    }
    found.append(scaled.limits(program, &controls, request.pipelines));
    let map = &scaled.compiled.map;
    if found.has_errors() {
        return Err(Failure::Found(map.clone(), found));
    }
    controls.iter().for_each(|control| two_cells(program, control, &mut found));
    console.warnings(map, &found);
    let subject = Subject {
        program: &file.title(),
        pipelines: request.pipelines as u32,
        remarks: scaled.remarks(),
    };
    Ok(scale::report::report(&subject, program, &mut controls, map))
}

impl Scaled {
    /// Compiles a program and lays it out. Prints the warnings of the program.
    ///
    /// # Errors
    ///
    /// Errors of the program or of the request.
    pub fn new(
        language: &dyn Frontend,
        file: &ProgramFile<'_>,
        request: &ScaleRequest<'_>,
        console: &dyn Console,
    ) -> Result<Scaled, Failure> {
        let found = check(request);
        if found.has_errors() {
            return Err(Failure::Found(SourceMap::new(), found));
        }
        let compiled = language.compile(file, None)?;
        console.warnings(&compiled.map, &compiled.warnings);
        Scaled::of(compiled, language, file, request)
    }

    /// Lays out a program that is compiled.
    ///
    /// # Errors
    ///
    /// Errors of the request.
    pub fn of(
        compiled: Compiled,
        language: &dyn Frontend,
        file: &ProgramFile<'_>,
        request: &ScaleRequest<'_>,
    ) -> Result<Scaled, Failure> {
        let found = check(request);
        if found.has_errors() {
            return Err(Failure::Found(SourceMap::new(), found));
        }
        let target = layouts::target(request.target.unwrap_or(language.hardware_model()));
        let target = target
            .map_err(|(TargetError::Unknown(failure) | TargetError::File(failure))| failure)?;
        let layout = match language.layout_problem(file, &Muted) {
            Ok(ready) => match pisa::greedy::greedy(&ready.problem, &target) {
                Ok(layout) => Ok((ready.problem, layout)),
                Err(found) => Err(first_message(&found)),
            },
            Err(Failure::Found(_, found)) => Err(first_message(&found)),
            Err(Failure::Usage(message) | Failure::Message(message)) => Err(message),
        };
        let stages = request.stages.map(|stages| stages as usize);
        let options = ShardOptions {
            read_only_is_state: request.read_only_is_state,
            counters_are_state: request.counters_are_state,
        };
        Ok(Scaled { compiled, layout, target, stages, options })
    }

    /// Returns the verdicts on the arrays of the program as run.
    pub fn controls<'p>(&self, program: &'p Program) -> Vec<ControlSharding<'p>> {
        let graph = |gress: Gress| {
            let (problem, layout) = self.layout.as_ref().ok()?;
            Some(StageGraph::of_layout(problem, layout, gress))
        };
        let most = |gress: Gress| match (self.stages, gress) {
            (Some(stages), _) => stages,
            (None, Gress::Ingress) => self.target.ingress_stages as usize,
            (None, Gress::Egress) => self.target.egress_stages as usize,
        };
        shard(program, self.options, &graph, &most)
    }

    /// Checks that pipelines have the stages that controls take, and room for all cells.
    fn limits(
        &self,
        program: &Program,
        controls: &[ControlSharding<'_>],
        pipelines: u64,
    ) -> Diagnostics {
        let mut found = check_memory(program, pipelines);
        let Some(stages) = self.stages else { return found };
        for control in controls.iter().filter(|control| control.stages > stages) {
            let name = &program.blocks[control.block].name;
            let message =
                format!("--stages {stages}: control `{name}` takes {} stages", control.stages);
            let help = format!("write a number from {}, or leave the option out", control.stages);
            found.push(Diagnostic::error(codes::STAGES, Span::NONE, message).help(help));
        }
        found
    }

    /// Returns what the report says of the stages.
    fn remarks(&self) -> Vec<String> {
        let reason = self.layout.as_ref().err();
        let remark = |reason: &String| {
            format!("no layout on {}, so dependences give the stages: {reason}", self.target.name)
        };
        reason.map(remark).into_iter().collect()
    }
}

fn first_message(found: &Diagnostics) -> String {
    found.iter().next().map_or(String::new(), |one| one.message.clone())
}

/// Says whether a diagnostic is about a request, such as a number of pipelines, and not about a program.
pub fn is_of_the_request(found: &Diagnostic) -> bool {
    use codes::{CLOCK, DEPTH, DESIGN, FIELD, PIPELINES, REMAP, STAGES};
    [PIPELINES, STAGES, DEPTH, REMAP, DESIGN, CLOCK, FIELD, rtl::codes::SHAPE].contains(&found.code)
}

/// Checks a number of pipelines.
pub(crate) fn check_pipelines(pipelines: u64) -> Diagnostics {
    let mut found = Diagnostics::new();
    if !(1..=MAX_PIPELINES as u64).contains(&pipelines) {
        let message = format!("--pipelines {pipelines}: a switch has 1 to {MAX_PIPELINES}");
        found.push(
            Diagnostic::error(codes::PIPELINES, Span::NONE, message)
                .help(format!("write a number from 1 to {MAX_PIPELINES}")),
        );
    }
    found
}

/// Checks the numbers of a request.
fn check(request: &ScaleRequest<'_>) -> Diagnostics {
    let mut found = check_pipelines(request.pipelines);
    if request.stages == Some(0) {
        let message = "--stages 0: a pipeline has stages";
        found.push(
            Diagnostic::error(codes::STAGES, Span::NONE, message)
                .help("write a number from 1, such as the target's, or leave the option out"),
        );
    }
    found
}

/// Checks that all pipelines together can hold the cells of registers.
pub(crate) fn check_memory(program: &Program, pipelines: u64) -> Diagnostics {
    let mut found = Diagnostics::new();
    let bytes = |array: &RegisterArray| {
        u128::from(array.size)
            * u128::from(array.width_bits.div_ceil(8).max(1))
            * u128::from(pipelines)
    };
    let all: u128 = program.registers.iter().map(bytes).sum();
    if all <= MAX_CELL_BYTES {
        return found;
    }
    let registers = (0..).map(RegisterId).zip(&program.registers);
    let Some((register, largest)) = registers.max_by_key(|(_, array)| bytes(array)) else {
        return found;
    };
    let message = format!(
        "{pipelines} pipelines with room for all cells take {} GiB; the largest array is `{}` of {} cells",
        all >> 30,
        largest.name,
        largest.size
    );
    found.push(
        Diagnostic::error(
            codes::MEMORY,
            declaration(program, Location::Register(register)),
            message,
        )
        .help("make the arrays smaller, or use fewer pipelines"),
    );
    found
}

/// Warns of arrays of which one packet accesses two cells.
fn two_cells(program: &Program, control: &ControlSharding<'_>, found: &mut Diagnostics) {
    let Some(values) = &control.values else { return };
    for array in control.arrays.iter().filter(|array| array.rule == Rule::TwoCells) {
        let Some(first) = array.accesses.first() else { continue };
        let span = |access: usize| {
            let origin = program.merged_origins(values.accesses()[access].origin)[0];
            program.origins.get(origin.index()).map_or(Span::NONE, |origin| origin.span)
        };
        let message = format!("one packet may access two cells of `{}`", array.name);
        let mut diagnostic = Diagnostic::warning(codes::TWO_CELLS, span(*first), message)
            .note("all its cells lie in one pipeline, so at most one packet a cycle accesses it");
        for access in &array.accesses[1..] {
            let span = span(*access);
            if !span.is_none() {
                diagnostic = diagnostic.label(span, "another access");
            }
        }
        found.push(diagnostic);
    }
}
