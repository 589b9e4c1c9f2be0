// SPDX-License-Identifier: Apache-2.0
//! The files of a Lucid run, found and read: program, specification, symbolics, captures. What is
//! wrong with them is printed here; a run is made ready of them.

use super::captures::{self, Times};
use crate::file_kind::{self, FileKind, SPECIFICATIONS};
use crate::{Ending, files, output};
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::report::Verdicts;
use lucid::simulation::Setup;
use lucid::specification::{self, Format, InputKind, Run};
use source::{Diagnostics, FileId, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run ready to go.
pub struct Ready {
    pub map: SourceMap,
    pub setup: Arc<Setup>,
    pub run: Run,
    pub program_path: PathBuf,
    /// Of the program itself if there is no specification.
    pub specification_path: PathBuf,
    /// Times of the captures that the command line names.
    pub capture_times: Times,
}

impl Ready {
    /// Program and specification, for people.
    pub fn title(&self) -> String {
        if self.specification_path == self.program_path {
            return self.program_path.display().to_string();
        }
        format!("{} with {}", self.program_path.display(), self.specification_path.display())
    }

    /// All files that were read as texts, and captures: results never overwrite them.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let texts = texts_of(&self.map);
        let captures = self.run.inputs.iter().filter_map(|input| match &input.kind {
            InputKind::Capture { file, .. } => Some(relative(&self.specification_path, file)),
            _ => None,
        });
        texts.chain(captures)
    }
}

/// All files that a map has.
pub fn texts_of(map: &SourceMap) -> impl Iterator<Item = PathBuf> + '_ {
    (0..map.file_count()).map(|file| PathBuf::from(&**map.name(FileId(file as u32))))
}

/// Which files to take, and what counts over the specification.
#[derive(Default)]
pub struct Wanted<'a> {
    pub program: Option<&'a Path>,
    pub specification: Option<&'a Path>,
    pub symbolics: Option<&'a Path>,
    pub until_ps: Option<u64>,
    pub seed: Option<u64>,
    /// Captures of packets that come in at ports of switch 0. With some, no specification is looked for.
    pub captures: &'a [(u32, PathBuf)],
}

/// Why there is no run.
pub enum Trouble {
    /// A message about the command line.
    Usage(String),
    /// A message about a file.
    Message(String),
    /// What is wrong with the files.
    Found(SourceMap, Diagnostics),
}

impl Trouble {
    /// Prints it. How the command ends with it.
    pub fn print(&self) -> Ending {
        match self {
            Trouble::Usage(message) => {
                output::error(message);
                return Ending::WrongUsage;
            }
            Trouble::Message(message) => output::error(message),
            Trouble::Found(map, diagnostics) => output::diagnostics(map, diagnostics),
        }
        Ending::WrongInput
    }
}

impl From<String> for Trouble {
    fn from(message: String) -> Trouble {
        Trouble::Message(message)
    }
}

/// The specification beside a program.
pub fn specification_beside(program: &Path) -> Result<PathBuf, String> {
    let beside = SPECIFICATIONS.iter().map(|end| program.with_extension(end));
    let found: Vec<PathBuf> = beside.filter(|path| path.is_file()).collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!(
            "there is no specification for `{program}`: write `{}` (docs/lucid-runs.md) or name \
             another with --spec FILE",
            program.with_extension("json").display(),
            program = program.display(),
        )),
        [one, other, ..] => Err(format!(
            "`{}` has several specifications, `{}` and `{}`: choose one with --spec FILE",
            program.display(),
            one.display(),
            other.display()
        )),
    }
}

/// Reads all files of a run and makes it ready. Warnings are printed unless `quiet`.
pub fn ready(wanted: &Wanted<'_>, quiet: bool) -> Result<Ready, Trouble> {
    let is_bare = wanted.specification.is_none() && !wanted.captures.is_empty();
    let specification_path = match (wanted.specification, wanted.program) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(program)) if is_bare => program.to_path_buf(),
        (None, Some(program)) => specification_beside(program)?,
        (None, None) => return Err("there is no specification".to_string().into()),
    };
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let mut run = Run::default();
    if let Some(kind @ (FileKind::Lucid | FileKind::P4)) =
        FileKind::of_readable(&specification_path)
        && !is_bare
    {
        let is_not = "is no specification of a run";
        return Err(Trouble::Message(file_kind::wrong(&specification_path, is_not, kind)));
    }
    if !is_bare {
        let (file, format) = add(&mut map, &specification_path)?;
        let (read, problems) = specification::read_until(&map, file, format, wanted.until_ps);
        found.append(problems);
        let Some(read) = read else { return Err(Trouble::Found(map, found)) };
        run = read;
    }
    let capture_times = captures::add(&mut run, wanted.captures, is_bare)?;
    if let Some(until_ps) = wanted.until_ps {
        run.max_time_ps = until_ps;
    }
    if let Some(seed) = wanted.seed {
        run.seed = seed;
    }
    let program_path = match (wanted.program, &run.program) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(name)) => relative(&specification_path, name),
        (None, None) => specification_path.with_extension("dpt"),
    };
    if wanted.program.is_none() && run.program.is_none() && !program_path.is_file() {
        return Err(Trouble::Message(format!(
            "`{}` names no program, and there is no `{}`: add \"program\": \"FILE.dpt\" to it, or name \
             one with --program FILE",
            specification_path.display(),
            program_path.display()
        )));
    }
    let symbolics =
        symbolics(&mut map, wanted, &run, &program_path, &specification_path, &mut found)?;
    let Some(symbolics) = symbolics else { return Err(Trouble::Found(map, found)) };
    let text = files::read_text(&program_path)?;
    let name = program_path.display().to_string();
    let analysis = front::analyse(&mut map, &name, text, &files::DiskLoader);
    found.append(analysis.diagnostics.clone());
    let roots = specification::roots(&run, &analysis.checked);
    let program = match analysis.elaborate(&symbolics, &roots) {
        Ok(program) => program,
        Err(problems) => {
            // What the analysis found is among them.
            found.append(problems);
            return Err(Trouble::Found(map, found));
        }
    };
    let mut read_capture = |name: &str| {
        let path = relative(&specification_path, name);
        std::fs::read(&path)
            .map_err(|error| format!("cannot read `{}`: {}", path.display(), files::reason(&error)))
    };
    let program = Arc::new(program);
    let setup = Setup::with_captures(program.clone(), &run, &mut read_capture);
    // Mistakes of inputs and of expectations are told together.
    if let Err(problems) = Verdicts::new(&program, &run.expectations) {
        found.append(problems);
    }
    let setup = match setup {
        Ok(setup) if !found.has_errors() => Arc::new(setup),
        Ok(_) => return Err(Trouble::Found(map, found)),
        Err(problems) => {
            found.append(problems);
            return Err(Trouble::Found(map, found));
        }
    };
    if !quiet {
        output::diagnostics(&map, &found);
    }
    Ok(Ready { map, setup, run, program_path, specification_path, capture_times })
}

fn add(map: &mut SourceMap, path: &Path) -> Result<(FileId, Format), Trouble> {
    let text = files::read_text(path)?;
    let name = path.display().to_string();
    let format = Format::of_name(&name);
    Ok((map.add(name, text), format))
}

/// A file named in a specification stands relative to it.
fn relative(specification: &Path, name: &str) -> PathBuf {
    specification.parent().unwrap_or(Path::new("")).join(name)
}

/// Symbolics: the file of the command line counts over what stands in the specification, and that
/// over the file that it names or the `.symb` file beside the program.
fn symbolics(
    map: &mut SourceMap,
    wanted: &Wanted<'_>,
    run: &Run,
    program: &Path,
    specification: &Path,
    found: &mut Diagnostics,
) -> Result<Option<Symbolics>, Trouble> {
    let beside = program.with_extension("symb");
    let first = match &run.symbolics_file {
        Some(name) => Some(relative(specification, name)),
        None => Some(beside).filter(|path| path.is_file()),
    };
    let mut symbolics = Symbolics::default();
    if let Some(path) = first {
        let Some(more) = read_symbolics(map, &path, found)? else { return Ok(None) };
        add_symbolics(&mut symbolics, more);
    }
    add_symbolics(&mut symbolics, run.symbolics.clone());
    if let Some(path) = wanted.symbolics {
        let Some(more) = read_symbolics(map, path, found)? else { return Ok(None) };
        add_symbolics(&mut symbolics, more);
    }
    Ok(Some(symbolics))
}

fn add_symbolics(symbolics: &mut Symbolics, more: Symbolics) {
    symbolics.sizes.extend(more.sizes);
    symbolics.values.extend(more.values);
}

fn read_symbolics(
    map: &mut SourceMap,
    path: &Path,
    found: &mut Diagnostics,
) -> Result<Option<Symbolics>, Trouble> {
    let (file, format) = add(map, path)?;
    let (symbolics, problems) = specification::read_symbolics(map, file, format);
    found.append(problems);
    Ok(symbolics)
}

/// Symbolics of the `.symb` file beside a program; none if there is no such file.
pub fn symbolics_beside(
    map: &mut SourceMap,
    program: &Path,
    found: &mut Diagnostics,
) -> Result<Option<Symbolics>, Trouble> {
    let beside = program.with_extension("symb");
    match beside.is_file() {
        true => read_symbolics(map, &beside, found),
        false => Ok(Some(Symbolics::default())),
    }
}
