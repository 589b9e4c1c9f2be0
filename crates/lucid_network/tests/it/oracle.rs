// SPDX-License-Identifier: Apache-2.0
//! Compiles a program, runs it on devices, and compares with the reference interpreter.

use device::EngineChoice;
use lucid::core::Program;
use lucid_compiler::{Backend, Options};
use lucid_network::options::port_options;
use lucid_network::{CompiledSimulation, Verified, verify};
use lucid_reference::simulation::{NullObserver, Setup};
use lucid_reference::specification::Run;
use source::{RenderOptions, SourceMap, render_text};
use std::path::Path;
use std::sync::Arc;

/// What came of comparing.
pub enum Judged {
    /// It ran and nothing differs.
    /// Also what the P4_16 checker warns of.
    Same(Box<Verified>, String),
    /// The target cannot run it, and the compiler says so.
    Refused(String),
}

/// Runs a program compiled; the error says what differs.
pub fn judge(
    map: &SourceMap,
    program: &Program,
    run: &Run,
    folder: &Path,
    options: &Options,
    engine: EngineChoice,
) -> Result<Judged, String> {
    judge_as(map, (program, program), run, folder, options, engine)
}

/// The same with a program that means something and another that is compiled in its place.
pub fn judge_as(
    map: &SourceMap,
    programs: (&Program, &Program),
    run: &Run,
    folder: &Path,
    options: &Options,
    engine: EngineChoice,
) -> Result<Judged, String> {
    judge_after(map, programs, run, folder, (options, engine), &|_| {})
}

/// The same with a pass over the lowered program.
pub fn judge_after(
    map: &SourceMap,
    (program, compiled): (&Program, &Program),
    run: &Run,
    folder: &Path,
    (options, engine): (&Options, EngineChoice),
    pass: &dyn Fn(&mut ir::Program),
) -> Result<Judged, String> {
    let mut captures = |name: &str| {
        std::fs::read(folder.join(name)).map_err(|error| format!("cannot read `{name}`: {error}"))
    };
    let setup = Setup::with_captures(Arc::new(program.clone()), run, &mut captures);
    let setup = setup.map_err(|said| render_text(map, &said, RenderOptions::default()))?;
    let options = &port_options(&setup, options.clone());
    // Programs that are too large for a pipeline run all the same.
    let compiled = match options.target {
        Backend::V1Model => lucid_compiler::compile(compiled, map, options),
        Backend::Tna => lucid_compiler::tna::compile_unlimited(compiled, map.clone(), options),
    };
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(said) => {
            let text = render_text(map, &said, RenderOptions::default());
            // Mistakes of the compiler are no refusals.
            return match text.contains("LU-E0799") || text.contains("LU-E0789") {
                true => Err(text),
                false => Ok(Judged::Refused(text)),
            };
        }
    };
    let text = compiled.built.print();
    let warnings =
        render_text(&compiled.built.map, &compiled.built.warnings, RenderOptions::default());
    let (setup, compiled) = (Arc::new(setup), Arc::new(compiled));
    let simulation = CompiledSimulation::with_program(setup, compiled, engine, &|_| {}, pass);
    let mut simulation = simulation.map_err(|error| format!("{error}\n{text}"))?;
    let verified = verify(&mut simulation, &mut NullObserver);
    match &verified.difference {
        Some(difference) => Err(format!("{difference}\n{text}")),
        None => Ok(Judged::Same(Box::new(verified), warnings)),
    }
}
