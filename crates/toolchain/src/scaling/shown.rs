// SPDX-License-Identifier: Apache-2.0
//! `plane scale --show`: the code of a program's controls as one pipeline runs it, and as stages of several pipelines with
//! address resolution in front (MP5, Figure 5).

use super::machine_run::StagedProgram;
use super::{ScaleRequest, Scaled};
use frontend::{Console, Failure, Frontend, ProgramFile};
use ir::architecture::stages_of;
use ir::text::print_regions;
use ir::{Program, RegionId};
use pisa::Gress;
use scale::staged::{StagedControl, StagedGroup};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Which code is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The program as it is written.
    Before,
    /// The stages, with what runs in front of them.
    After,
}

/// Returns the code as text. Prints warnings of the program.
///
/// # Errors
///
/// Errors of the program or of the request, and why it has no stages.
pub fn show(
    language: &dyn Frontend,
    file: &ProgramFile<'_>,
    request: &ScaleRequest<'_>,
    (shown, console): (Shown, &dyn Console),
) -> Result<String, Failure> {
    let scaled = Scaled::new(language, file, request, console)?;
    let staged = StagedProgram::of(&scaled, request.pipelines)?;
    let program = scaled.compiled.ready.program();
    let mut text = String::new();
    for (gress, control) in staged.controls() {
        match shown {
            Shown::Before => before(program, gress, &mut text),
            Shown::After => after(gress, control, &mut text),
        }
    }
    Ok(text)
}

fn name(gress: Gress) -> &'static str {
    match gress {
        Gress::Ingress => "ingress",
        Gress::Egress => "egress",
    }
}

/// Appends the code of the blocks of a half that take stages.
fn before(program: &Program, gress: Gress, text: &mut String) {
    for (at, block) in program.blocks.iter().enumerate() {
        if stages_of(program, block) == Some(gress) {
            let _ = writeln!(text, "# {}", name(gress));
            text.push_str(&print_regions(program, program.regions_of_block(at)));
        }
    }
}

/// Appends the code of a control in stages.
fn after(gress: Gress, control: &StagedControl, text: &mut String) {
    let StagedControl { program, stages, front, resolution, groups, .. } = control;
    let region =
        |program: &Program, block: usize| print_regions(program, [program.blocks[block].region]);
    let half = name(gress);
    let _ = writeln!(text, "# {half}: addresses");
    text.push_str(&region(front, *resolution));
    let mut actions: BTreeSet<RegionId> = BTreeSet::new();
    for (stage, block) in stages.iter().enumerate() {
        let here = groups.iter().filter(|group| group.stage == stage);
        let arrays: Vec<String> = here.map(|group| format!("`{}`", group.name)).collect();
        let arrays = match arrays[..] {
            [] => String::new(),
            _ => format!(", {}", arrays.join(", ")),
        };
        let _ = writeln!(text, "# {half}: stage {stage}{arrays}");
        text.push_str(&region(program, *block));
        let own = program.blocks[*block].region;
        actions.extend(program.regions_of_block(*block).into_iter().filter(|one| *one != own));
        let decided_here =
            |group: &&StagedGroup| group.decision.is_some_and(|it| it.after == stage);
        for group in groups.iter().filter(decided_here) {
            let Some(decision) = group.decision else { continue };
            let _ = writeln!(
                text,
                "# {half}: behind stage {stage}, whether a packet accesses `{}`",
                group.name
            );
            text.push_str(&region(front, decision.block));
        }
    }
    if !actions.is_empty() {
        let _ = writeln!(text, "# {half}: actions");
        text.push_str(&print_regions(program, actions));
    }
}
