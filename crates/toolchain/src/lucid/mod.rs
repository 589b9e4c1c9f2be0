// SPDX-License-Identifier: Apache-2.0
//! Lucid as a [`Frontend`]: programs with their symbolics, runs of specifications, compilation to P4_16. The crates
//! `lucid`, `lucid_reference`, `lucid_compiler` and `lucid_network` have the language, runs and reports.

mod captures;
mod emit;
mod emitted;
mod executor;
pub mod includes;
pub mod inputs;
mod layout;
mod live;
mod progress;
mod replay;
mod report;
mod run;
mod targets;
mod test;
mod user_p4;

use frontend::{
    Architecture, Checked, Compiled, Console, Deployment, EmitRequest, EmitTarget, Emitter,
    ExitStatus, Failure, Frontend, LayoutProblem, NetworkRun, NetworkRuns, NetworkTest, PrintForm,
    ProgramFile, Tested,
};
use includes::Includes;
use inputs::{LucidProgram, is_network, read_program};
use lucid_compiler::{Backend, Options};
use lucid_network::deploy;
use lucid_reference::specification::{Format, has_expectations};
use source::{Diagnostics, Explanation, SourceMap};
use targets::target_of;

/// Lucid.
pub struct Lucid;

impl Frontend for Lucid {
    fn name(&self) -> &'static str {
        "Lucid"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["dpt"]
    }

    fn check(&self, program: &ProgramFile<'_>) -> Result<Checked, Failure> {
        let text = program.text()?;
        let mut map = SourceMap::new();
        let name = program.path.display().to_string();
        let analysis = lucid::front::analyse(&mut map, &name, text, &Includes(program.files));
        let (mut diagnostics, elaborated) = analysis.all_diagnostics();
        if let Some(program) = elaborated {
            diagnostics.append(lucid_compiler::support::known_ports(&program));
        }
        Ok(Checked { map, diagnostics, architecture: Architecture::Independent })
    }

    /// Compiles for one switch without links, as `plane emit` does.
    fn compile(&self, file: &ProgramFile<'_>, target: Option<&str>) -> Result<Compiled, Failure> {
        let target = target_of(target)?;
        let LucidProgram { map, program, mut warnings } = read_program(file.files, file.path)?;
        let options = Options { target, ..Options::default() };
        let compiled = lucid_compiler::compile(&program, &map, &options)
            .map_err(|problems| Failure::Found(map, problems))?;
        let site = emitted::unconnected_switch(compiled.options.recirculation_port, &program);
        let setup = Deployment {
            switch: site.number,
            options: deploy::device_options(&compiled, &site),
            commands: deploy::commands(&compiled, &program, &site),
        };
        warnings.append(compiled.warnings);
        let lowered = Compiled::lower(compiled.built, file)?;
        // Of generated P4 only what has a place in the user's program.
        let placed = lowered.warnings.into_iter().filter(|one| !one.primary.span.is_none());
        placed.for_each(|one| warnings.push(one));
        Ok(Compiled { warnings, setup: vec![setup], ..lowered })
    }

    fn format(&self, text: &str) -> Result<String, Diagnostics> {
        lucid::syntax::format::format_source(text)
    }

    fn print(
        &self,
        program: &ProgramFile<'_>,
        _: PrintForm,
        _: &dyn Console,
    ) -> Result<String, Failure> {
        let file = program.path.display();
        Err(Failure::Message(format!(
            "`{file}` is a Lucid program: `plane emit {file} --target {} -o DIR` writes it as P4_16, \
             and `plane ir {file}` prints its core program",
            Backend::default().name()
        )))
    }

    fn ir(&self, program: &ProgramFile<'_>) -> Result<String, Failure> {
        let LucidProgram { program, .. } = read_program(program.files, program.path)?;
        Ok(lucid::core::print(&program))
    }

    fn effects(&self, program: &ProgramFile<'_>) -> Result<String, Failure> {
        Err(Failure::Message(format!(
            "--effects does not apply to {} programs such as `{}`: `plane emit` compiles it to P4_16",
            self.name(),
            program.path.display()
        )))
    }

    fn layout_problem(
        &self,
        program: &ProgramFile<'_>,
        _console: &dyn Console,
    ) -> Result<LayoutProblem, Failure> {
        layout::problem(program)
    }

    fn explanations(&self) -> Vec<&'static Explanation> {
        lucid::explanations()
            .chain(lucid_reference::explanations())
            .chain(lucid_compiler::explanations())
            .collect()
    }

    fn emitter(&self) -> Option<&dyn Emitter> {
        Some(self)
    }

    fn networks(&self) -> Option<&dyn NetworkRuns> {
        Some(self)
    }
}

impl Emitter for Lucid {
    fn targets(&self) -> Vec<EmitTarget> {
        let target =
            |target: Backend| EmitTarget { name: target.name(), description: target.description() };
        Backend::ALL.map(target).into()
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

impl NetworkRuns for Lucid {
    fn run(
        &self,
        program: &ProgramFile<'_>,
        run: &NetworkRun<'_>,
        console: &dyn Console,
    ) -> Result<ExitStatus, Failure> {
        run::run(program, run, console)
    }

    fn test(&self, test: &NetworkTest<'_>) -> Tested {
        test::test(test)
    }

    fn is_test(&self, file: &ProgramFile<'_>) -> bool {
        let format = Format::of_name(&file.path.display().to_string());
        file.text().is_ok_and(|text| has_expectations(&text, format)) && !is_network(file)
    }
}
