// SPDX-License-Identifier: Apache-2.0
//! `plane layout` for Lucid programs: the statements of the handlers and the tables of the event
//! scheduler, as the compiler lays them out for Tofino's architecture.

use super::super::layout::{Ready, title};
use super::inputs::{Trouble, symbolics_beside};
use crate::files;
use lucid::compile::{Options, Target, normal, tna};
use source::{Diagnostics, SourceMap};
use std::path::Path;

/// The problem of a Lucid program; what is wrong with it is printed. Symbolics come from the `.symb`
/// file beside the program.
pub fn ready(path: &Path) -> Option<Ready> {
    problem(path)
        .map_err(|trouble| {
            trouble.print();
        })
        .ok()
}

fn problem(path: &Path) -> Result<Ready, Trouble> {
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let Some(symbolics) = symbolics_beside(&mut map, path, &mut found)? else {
        return Err(Trouble::Found(map, found));
    };
    let name = path.display().to_string();
    let analysis = lucid::front::analyse(&mut map, &name, text, &files::DiskLoader);
    let program = match analysis.elaborate(&symbolics, &[]) {
        Ok(program) => program,
        Err(problems) => return Err(Trouble::Found(map, problems)),
    };
    let options = Options { target: Target::Tna, ..Options::default() };
    match tna::prepare(&normal::normalize(&program), &options) {
        Ok(prepared) => {
            let mut problem = prepared.problem;
            problem.name = title(path).into();
            let scheduler = (0..).zip(&prepared.parts).filter_map(|(at, part)| match part {
                tna::Part::Scheduler(_) => Some(pisa::UnitId(at)),
                tna::Part::Statement(_) => None,
            });
            Ok(Ready { problem, map, scheduler: scheduler.collect() })
        }
        Err(problems) => Err(Trouble::Found(map, problems)),
    }
}
