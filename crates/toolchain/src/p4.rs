// SPDX-License-Identifier: Apache-2.0
//! P4_16 as a [`Frontend`]: the front end of crate `p4` and the lowering of crate `ir`.

use conformance::corpus;
use frontend::{
    Architecture, Checked, Compiled, Console, CorpusJudge, Failure, Frontend, LayoutProblem,
    Outcome, PrintForm, ProgramFile,
};
use ir::analysis::{Analysis, StatementTree};
use ir::architecture::ARCHITECTURES;
use ir::ready::ReadyProgram;
use p4::ast::{Expression, ExpressionKind, NodeId};
use p4::compile::Compilation;
use p4::typed::TypedProgram;
use p4::visit::{Visit, walk_expression, walk_program};
use source::{Diagnostics, Explanation, Span};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// P4_16.
pub struct P4;

/// Reads and checks a program; lowers it if it has a `main`.
fn compilation(program: &ProgramFile<'_>) -> Result<(Compilation, Option<ReadyProgram>), Failure> {
    let text = program.text()?;
    let mut compiled = p4::compile::compile(&program.name(), text, program, program.preprocessing);
    let ready = ReadyProgram::of(&mut compiled);
    Ok((compiled, ready))
}

/// Where the calls of a program are.
fn places(typed: &TypedProgram) -> HashMap<NodeId, Span> {
    struct Places(HashMap<NodeId, Span>);
    impl<'a> Visit<'a> for Places {
        fn expression(&mut self, expression: &'a Expression) {
            if matches!(expression.kind, ExpressionKind::Call(_)) {
                self.0.insert(expression.id, expression.span);
            }
            walk_expression(self, expression);
        }
    }
    let mut places = Places(HashMap::new());
    walk_program(&mut places, &typed.program);
    places.0
}

/// The same of a program that must be right.
fn accepted(program: &ProgramFile<'_>) -> Result<(Compilation, Option<ReadyProgram>), Failure> {
    let (compiled, ready) = compilation(program)?;
    match compiled.diagnostics.has_errors() {
        true => Err(Failure::Found(compiled.map, compiled.diagnostics)),
        false => Ok((compiled, ready)),
    }
}

fn no_main(program: &ProgramFile<'_>) -> Failure {
    Failure::Message(format!(
        "`{}` has no `main`, so there is nothing to run: instantiate a package",
        program.path.display()
    ))
}

impl Frontend for P4 {
    fn name(&self) -> &'static str {
        "P4"
    }

    fn extensions(&self) -> &'static [&'static str] {
        // The others are files that programs include.
        &["p4", "p4i", "p4inc", "inc", "h"]
    }

    fn architectures(&self) -> Vec<&'static str> {
        ARCHITECTURES.iter().map(|description| description.name).collect()
    }

    fn check(&self, program: &ProgramFile<'_>) -> Result<Checked, Failure> {
        let (compiled, ready) = compilation(program)?;
        let architecture = match &ready {
            Some(ready) => Architecture::Named(ready.lowered().architecture.to_string()),
            None => Architecture::NoMain,
        };
        Ok(Checked { map: compiled.map, diagnostics: compiled.diagnostics, architecture })
    }

    fn compile(
        &self,
        program: &ProgramFile<'_>,
        _target: Option<&str>,
    ) -> Result<Compiled, Failure> {
        let (compiled, ready) = accepted(program)?;
        let Compilation { map, diagnostics: warnings, .. } = compiled;
        match ready {
            Some(ready) => {
                Ok(Compiled { ready, map, warnings, setup: Vec::new(), controllers: Vec::new() })
            }
            None => Err(Failure::Message(format!(
                "`{}` has no `main`, so there is nothing to run: instantiate a package such as \
                 V1Switch",
                program.path.display()
            ))),
        }
    }

    fn format(&self, text: &str) -> Result<String, Diagnostics> {
        p4::format::format_source(text)
    }

    fn print(
        &self,
        program: &ProgramFile<'_>,
        form: PrintForm,
        console: &dyn Console,
    ) -> Result<String, Failure> {
        let (compiled, _) = accepted(program)?;
        let Some(mut typed) = compiled.program else { return Ok(String::new()) };
        let mut map = compiled.map;
        if form.inline {
            let inlined = p4::inline::inline_all(&typed, map)
                .map_err(|(found, map)| Failure::Found(map, found))?;
            let places = places(&typed);
            for (call, obstacle) in &inlined.refused {
                let place = places.get(call).and_then(|span| inlined.program.map.location(*span));
                let place = place.map_or(String::new(), |at| format!("{}:{}: ", at.file, at.line));
                console.note(&format!("{place}this call is not inlined: {obstacle}"));
            }
            typed = inlined.program.program;
            map = inlined.program.map;
        }
        Ok(match form.expand_includes {
            true => p4::printer::print(&typed.program),
            false => p4::printer::print_with_includes(&map, &typed.program),
        })
    }

    fn ir(&self, program: &ProgramFile<'_>) -> Result<String, Failure> {
        match accepted(program)? {
            (_, Some(ready)) => Ok(ir::text::print(ready.program())),
            (_, None) => Err(no_main(program)),
        }
    }

    fn effects(&self, program: &ProgramFile<'_>) -> Result<String, Failure> {
        match accepted(program)? {
            (compiled, Some(ready)) => {
                let analysis = Analysis::of(ready.lowered());
                let tree = StatementTree::of(&ready.typed().program);
                Ok(ir::analysis_report::report(&analysis, &tree, &compiled.map))
            }
            (_, None) => Err(no_main(program)),
        }
    }

    fn layout_problem(
        &self,
        program: &ProgramFile<'_>,
        console: &dyn Console,
    ) -> Result<LayoutProblem, Failure> {
        let (compiled, ready) = accepted(program)?;
        console.warnings(&compiled.map, &compiled.diagnostics);
        let Some(ready) = ready else {
            return Err(Failure::Message(format!(
                "{} has no `main`, so there is nothing to lay out: instantiate a package",
                match program.path == Path::new("-") {
                    true => "standard input".to_string(),
                    false => format!("`{}`", program.path.display()),
                }
            )));
        };
        let obstacles = pisa::graph::obstacles(ready.program());
        if obstacles.has_errors() {
            return Err(Failure::Found(compiled.map, obstacles));
        }
        console.diagnostics(&compiled.map, &obstacles);
        let mut problem = pisa::graph::problem_of(ready.program());
        problem.name = program.title().into();
        Ok(LayoutProblem { problem, map: compiled.map, scheduler: BTreeSet::new() })
    }

    fn explanations(&self) -> Vec<&'static Explanation> {
        p4::codes::explanations().chain(ir::codes::explanations()).collect()
    }

    fn corpus(&self) -> Option<&dyn CorpusJudge> {
        Some(self)
    }
}

impl CorpusJudge for P4 {
    fn judge(&self, program: &ProgramFile<'_>, text: &str) -> Outcome {
        corpus::run_one(&program.name(), text, program, program.preprocessing)
    }
}
