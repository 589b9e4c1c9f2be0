// SPDX-License-Identifier: Apache-2.0
//! `plane ir` for Lucid programs: the core program as text, which is what runs.

use super::inputs::{Trouble, symbolics_beside};
use crate::{Ending, files, output};
use source::{Diagnostics, SourceMap};
use std::path::Path;

/// Prints it. Symbolics come from the `.symb` file beside the program.
pub fn run(path: &Path) -> Ending {
    match text(path) {
        Ok(text) => {
            output::print(&text);
            Ending::Fine
        }
        Err(trouble) => trouble.print(),
    }
}

fn text(path: &Path) -> Result<String, Trouble> {
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let Some(symbolics) = symbolics_beside(&mut map, path, &mut found)? else {
        return Err(Trouble::Found(map, found));
    };
    let name = path.display().to_string();
    let analysis = lucid::front::analyse(&mut map, &name, text, &files::DiskLoader);
    match analysis.elaborate(&symbolics, &[]) {
        Ok(program) => Ok(lucid::core::print(&program)),
        Err(problems) => Err(Trouble::Found(map, problems)),
    }
}
