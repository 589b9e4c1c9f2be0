// SPDX-License-Identifier: Apache-2.0
//! P4R as a [`Frontend`]: programs with malleables and reactions. Crate `react` has the language, the compiler, the control
//! map and the agent; `deploy` puts them in front of a switch, `reloading` exchanges reactions, `emit` writes files.

mod deploy;
mod emit;
mod reloading;

pub use deploy::{WORKER_ARGUMENT, run_reactions_in_workers, serve_worker};

use deploy::Reacting;
use frontend::{
    Architecture, Checked, Compiled, Console, EmitRequest, EmitTarget, Emitter, Failure, Frontend,
    PrintForm, ProgramFile,
};
use react::c::Compiler;
use react::compiler::architectures::SUPPORTED;
use react::compiler::{CompiledProgram, Limits};
use react::language::{P4R, P4rProgram};
use react::module::Code;
use source::{Diagnostics, Explanation, SourceMap};
use std::sync::Arc;

/// P4R.
pub struct P4r;

/// Reads and checks a program.
fn read(program: &ProgramFile<'_>) -> Result<(P4rProgram, Diagnostics), Failure> {
    let text = program.text()?;
    let read = react::language::read(&program.name(), text, program, program.preprocessing);
    read.map_err(|(map, found)| Failure::Found(map, found))
}

/// Compiles a checked program to P4_16. The warnings of both are joined.
fn compile(
    program: &P4rProgram,
    mut warnings: Diagnostics,
) -> Result<(CompiledProgram, Diagnostics), Failure> {
    let limits = Limits::of(program.architecture);
    match react::compiler::compile(program, limits) {
        Ok(compiled) => {
            warnings.append(compiled.warnings.clone());
            Ok((compiled, warnings))
        }
        Err((found, map)) => {
            warnings.append(found);
            Err(Failure::Found(map, warnings))
        }
    }
}

/// Compiles a program and its C.
fn compile_with_code(
    file: &ProgramFile<'_>,
) -> Result<(CompiledProgram, Code, SourceMap, Diagnostics), Failure> {
    let (program, warnings) = read(file)?;
    let (compiled, mut warnings) = compile(&program, warnings)?;
    let compiler = Compiler::from_environment();
    let (code, found) = react::c::compile(&compiled.interface, &program.map, &compiler);
    warnings.append(found);
    match code {
        Some(code) => Ok((compiled, code, program.map, warnings)),
        None => Err(Failure::Found(program.map, warnings)),
    }
}

impl Frontend for P4r {
    fn name(&self) -> &'static str {
        "P4R"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["p4r"]
    }

    fn architectures(&self) -> Vec<&'static str> {
        SUPPORTED.to_vec()
    }

    fn check(&self, file: &ProgramFile<'_>) -> Result<Checked, Failure> {
        let found = |map, diagnostics, architecture| Checked { map, diagnostics, architecture };
        let (program, warnings) = match read(file) {
            Ok(read) => read,
            Err(Failure::Found(map, diagnostics)) => {
                return Ok(found(map, diagnostics, Architecture::Unknown));
            }
            Err(failure) => return Err(failure),
        };
        let architecture = Architecture::Named(program.architecture.to_string());
        match compile(&program, warnings) {
            Ok((compiled, mut diagnostics)) => {
                let compiler = Compiler::from_environment();
                diagnostics.append(react::c::check(&compiled.interface, &program.map, &compiler));
                Ok(found(program.map, diagnostics, architecture))
            }
            Err(Failure::Found(map, diagnostics)) => Ok(found(map, diagnostics, architecture)),
            Err(failure) => Err(failure),
        }
    }

    fn compile(&self, file: &ProgramFile<'_>, _: Option<&str>) -> Result<Compiled, Failure> {
        let (compiled, code, _, warnings) = compile_with_code(file)?;
        let ready = compiled.run.clone();
        let map = compiled.map.clone();
        let written = Some(Arc::new(Reacting::new(compiled, code)) as Arc<_>);
        let (setup, controllers) = (Vec::new(), Vec::new());
        Ok(Compiled { ready, map, warnings, setup, controllers, written })
    }

    fn format(&self, text: &str) -> Result<String, Diagnostics> {
        p4::format::format_dialect(text, Some(&P4R))
    }

    fn print(
        &self,
        file: &ProgramFile<'_>,
        form: PrintForm,
        _: &dyn Console,
    ) -> Result<String, Failure> {
        let (program, _) = read(file)?;
        Ok(match form.expand_includes {
            true => p4::printer::print(&program.typed.program),
            false => p4::printer::print_with_includes(&program.map, &program.typed.program),
        })
    }

    fn explanations(&self) -> Vec<&'static Explanation> {
        react::explanations().collect()
    }

    fn emitter(&self) -> Option<&dyn Emitter> {
        Some(self)
    }
}

impl Emitter for P4r {
    fn targets(&self) -> Vec<EmitTarget> {
        let described = SUPPORTED.iter().filter_map(|name| ir::architecture::named(name));
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
