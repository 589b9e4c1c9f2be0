// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: the compiled program in P4_16, and the control commands that write the cells' first values; with
//! `--after PASS` the program after a pass.

use crate::files;
use crate::registry::enumerated;
use domino::compiler::{self, TARGET};
use domino::core::flatten_with_calls;
use domino::passes::{self, PASSES};
use frontend::{Console, EmitRequest, Failure, ProgramFile, count};

/// Compiles the program, and prints or writes it.
pub(super) fn emit(
    file: &ProgramFile<'_>,
    request: &EmitRequest<'_>,
    console: &dyn Console,
) -> Result<(), Failure> {
    if request.target != TARGET {
        let message =
            format!("{} compiles to {TARGET} only: use --target {TARGET}", file.quoted_name());
        return Err(Failure::Message(message));
    }
    let checked = super::read(file)?;
    console.warnings(&checked.map, &checked.warnings);
    if let Some(pass) = request.after {
        let core = flatten_with_calls(&checked.program);
        let core = core.map_err(|error| super::found(&checked, error))?;
        return match passes::run(core, Some(pass)) {
            Some(Ok(core)) => {
                console.print(&passes::print(&core));
                Ok(())
            }
            Some(Err(error)) => Err(super::found(&checked, *error)),
            None => {
                let names: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
                let names = enumerated(&names, "and");
                Err(Failure::Usage(format!("there is no pass `{pass}`; the passes are {names}")))
            }
        };
    }
    let compiler::Compiled { built, commands, .. } = super::compile(file, &checked)?;
    let text = built.print();
    let Some(folder) = request.output else {
        console.print(&text);
        return Ok(());
    };
    let title = file.title();
    let mut texts = vec![(format!("{title}.p4"), text)];
    if !commands.is_empty() {
        texts.push((format!("{title}.commands.txt"), commands));
    }
    files::write_texts(folder, &texts)?;
    console.note(&format!("{} in {}", count(texts.len(), "file"), folder.display()));
    Ok(())
}
