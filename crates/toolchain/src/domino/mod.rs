// SPDX-License-Identifier: Apache-2.0
//! Domino as a [`Frontend`]: packet transactions in C. Crate `domino` has the language and the compiler; `runs` runs tables
//! of packets, `emit` writes the files of the compiled program.

mod codelets;
mod emit;
mod layout;
mod runs;
mod words;

use device::DeviceOptions;
use domino::binding::{self, Binding};
use domino::compiler::{self, Layout};
use domino::core::{Core, flatten_with_calls};
use domino::passes;
use frontend::{
    Architecture, Checked, CodeletSource, Compiled, Console, Deployment, EmitRequest, EmitTarget,
    Emitter, Failure, FieldProgram, FieldRun, FieldRuns, Frontend, LayoutProblem, ProgramCodelets,
    ProgramFile,
};
use source::{Diagnostic, Diagnostics, Explanation, SourceMap};
use std::path::Path;

/// Domino.
pub struct Domino;

/// Reads and checks a program.
fn read(file: &ProgramFile<'_>) -> Result<domino::Checked, Failure> {
    let text = file.text()?;
    let read = domino::front(&file.name(), text, file, file.preprocessing);
    read.map_err(|(map, found)| Failure::Found(map, found))
}

/// Reads the binding file beside a program, if there is one.
fn binding(file: &ProgramFile<'_>, checked: &domino::Checked) -> Result<Option<Binding>, Failure> {
    let path = file.path.with_extension("").with_extension(binding::SUFFIX.trim_start_matches('.'));
    if file.path == Path::new("-") || !file.files.is_file(&path) {
        return Ok(None);
    }
    let text = file.files.text(&path)?;
    let mut map = SourceMap::new();
    let id = map.add(path.display().to_string(), text.as_str());
    match binding::read(id, &text, &checked.program) {
        Ok(binding) => Ok(Some(binding)),
        Err(found) => Err(Failure::Found(map, found)),
    }
}

/// Compiles a checked program to P4_16, for frames as its binding file describes them, or of words.
fn compile(
    file: &ProgramFile<'_>,
    checked: &domino::Checked,
) -> Result<compiler::Compiled, Failure> {
    let layout = binding(file, checked)?.map_or_else(Layout::default, Layout::Bound);
    compile_for(checked, &layout)
}

/// Compiles a checked program to P4_16 for a layout of frames.
fn compile_for(checked: &domino::Checked, layout: &Layout) -> Result<compiler::Compiled, Failure> {
    compiler::compile(&checked.core, checked.map.clone(), layout)
        .map_err(|(found, map)| Failure::Found(map, found))
}

/// Runs all passes.
fn after_passes(checked: &domino::Checked) -> Result<Core, Failure> {
    let core = flatten_with_calls(&checked.program).map_err(|error| found(checked, error))?;
    match passes::run(core, None) {
        Some(Ok(core)) => Ok(core),
        Some(Err(error)) => Err(found(checked, *error)),
        None => Err(Failure::Message("there is no last pass".to_string())),
    }
}

/// Reports an error of a checked program.
fn found(checked: &domino::Checked, error: Diagnostic) -> Failure {
    let mut diagnostics = checked.warnings.clone();
    diagnostics.push(error);
    Failure::Found(checked.map.clone(), diagnostics)
}

impl Frontend for Domino {
    fn name(&self) -> &'static str {
        "Domino"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["domino", "c"]
    }

    fn hardware_model(&self) -> &'static str {
        "banzai"
    }

    fn check(&self, file: &ProgramFile<'_>) -> Result<Checked, Failure> {
        let (map, diagnostics) = match read(file) {
            Ok(checked) => {
                binding(file, &checked)?;
                (checked.map, checked.warnings)
            }
            Err(Failure::Found(map, found)) => (map, found),
            Err(failure) => return Err(failure),
        };
        Ok(Checked { map, diagnostics, architecture: Architecture::Independent })
    }

    fn compile(&self, file: &ProgramFile<'_>, _: Option<&str>) -> Result<Compiled, Failure> {
        let checked = read(file)?;
        let compiler::Compiled { built, commands, .. } = compile(file, &checked)?;
        let lowered = Compiled::lower(built, file)?;
        let mut warnings = checked.warnings;
        // Of generated P4 only what has a place in the user's program.
        let placed = lowered.warnings.into_iter().filter(|one| !one.primary.span.is_none());
        placed.for_each(|one| warnings.push(one));
        let setup = vec![Deployment { switch: 0, options: DeviceOptions::default(), commands }];
        Ok(Compiled { warnings, setup, ..lowered })
    }

    fn format(&self, text: &str) -> Result<String, Diagnostics> {
        domino::format(text)
    }

    fn layout_problem(
        &self,
        program: &ProgramFile<'_>,
        console: &dyn Console,
    ) -> Result<LayoutProblem, Failure> {
        layout::problem(program, console)
    }

    fn explanations(&self) -> Vec<&'static Explanation> {
        domino::codes::explanations().collect()
    }

    fn emitter(&self) -> Option<&dyn Emitter> {
        Some(self)
    }

    fn codelet_source(&self) -> Option<&dyn CodeletSource> {
        Some(self)
    }

    fn field_runs(&self) -> Option<&dyn FieldRuns> {
        Some(self)
    }
}

impl CodeletSource for Domino {
    fn codelets(
        &self,
        program: &ProgramFile<'_>,
        console: &dyn Console,
    ) -> Result<ProgramCodelets, Failure> {
        codelets::codelets(program, console)
    }
}

impl Emitter for Domino {
    fn targets(&self) -> Vec<EmitTarget> {
        let described = ir::architecture::named(compiler::TARGET).into_iter();
        described.map(|one| EmitTarget { name: one.name, description: one.title }).collect()
    }

    fn emit(
        &self,
        program: &ProgramFile<'_>,
        request: &EmitRequest<'_>,
        console: &dyn Console,
    ) -> Result<(), Failure> {
        emit::emit(program, request, console)
    }
}

impl FieldRuns for Domino {
    fn run(
        &self,
        program: &ProgramFile<'_>,
        run: &FieldRun<'_>,
        console: &dyn Console,
    ) -> Result<frontend::ExitStatus, Failure> {
        runs::run(program, run, console)
    }

    fn prepare(
        &self,
        program: &ProgramFile<'_>,
        packets: &Path,
        console: &dyn Console,
    ) -> Result<FieldProgram, Failure> {
        runs::prepare(program, packets, console)
    }
}
