// SPDX-License-Identifier: Apache-2.0
//! The files of a Lucid run, found and read: program, specification, symbolics, captures. A [`Ready`] run is
//! made of them.

use super::captures::{self, Times};
use super::includes::Includes;
use frontend::{Console, Failure, Files, SPECIFICATIONS};
use lucid::core::Program;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid_reference::report::Verdicts;
use lucid_reference::simulation::Setup;
use lucid_reference::specification::{self, Format, InputKind, Run};
use source::{Diagnostics, FileId, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run ready to go.
pub struct Ready {
    /// The files that spans point into.
    pub map: SourceMap,
    /// The network and its inputs.
    pub setup: Arc<Setup>,
    /// The specification.
    pub run: Run,
    /// The program's file.
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
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Where files are read.
    pub files: &'a dyn Files,
    /// The program; what the specification names, or the file beside it, if not said.
    pub program: Option<&'a Path>,
    /// The specification; the file beside the program if not said.
    pub specification: Option<&'a Path>,
    /// A file of symbolics.
    pub symbolics: Option<&'a Path>,
    /// The end of the run.
    pub until_ps: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// Captures of packets that come in at ports of switch 0. With some, no specification is looked for.
    pub captures: &'a [(u32, PathBuf)],
}

impl<'a> Wanted<'a> {
    /// Nothing yet.
    pub fn from(files: &'a dyn Files) -> Wanted<'a> {
        Wanted {
            files,
            program: None,
            specification: None,
            symbolics: None,
            until_ps: None,
            seed: None,
            captures: &[],
        }
    }
}

/// The specification beside a program.
pub fn specification_beside(files: &dyn Files, program: &Path) -> Result<PathBuf, String> {
    let beside = SPECIFICATIONS.iter().map(|end| program.with_extension(end));
    let found: Vec<PathBuf> = beside.filter(|path| files.is_file(path)).collect();
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

/// Reads all files of a run and makes it ready. Warnings are printed on the console, if there is one.
pub fn ready(wanted: &Wanted<'_>, console: Option<&dyn Console>) -> Result<Ready, Failure> {
    let is_bare = wanted.specification.is_none() && !wanted.captures.is_empty();
    let specification_path = match (wanted.specification, wanted.program) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(program)) if is_bare => program.to_path_buf(),
        (None, Some(program)) => specification_beside(wanted.files, program)?,
        (None, None) => return Err("there is no specification".to_string().into()),
    };
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let mut run = Run::default();
    if !is_bare {
        let (file, format) = add(wanted.files, &mut map, &specification_path)?;
        let (read, problems) = specification::read_until(&map, file, format, wanted.until_ps);
        found.append(problems);
        let Some(read) = read else { return Err(Failure::Found(map, found)) };
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
    if wanted.program.is_none() && run.program.is_none() && !wanted.files.is_file(&program_path) {
        return Err(Failure::Message(format!(
            "`{}` names no program, and there is no `{}`: add \"program\": \"FILE.dpt\" to it, or name \
             one with --program FILE",
            specification_path.display(),
            program_path.display()
        )));
    }
    let symbolics =
        symbolics(&mut map, wanted, &run, &program_path, &specification_path, &mut found)?;
    let Some(symbolics) = symbolics else { return Err(Failure::Found(map, found)) };
    let text = wanted.files.text(&program_path)?;
    let name = program_path.display().to_string();
    let analysis = front::analyse(&mut map, &name, text, &Includes(wanted.files));
    found.append(analysis.diagnostics.clone());
    let roots = specification::roots(&run, &analysis.checked);
    let program = match analysis.elaborate(&symbolics, &roots) {
        Ok(program) => program,
        Err(problems) => {
            // What the analysis found is among them.
            found.append(problems);
            return Err(Failure::Found(map, found));
        }
    };
    let mut read_capture = |name: &str| wanted.files.bytes(&relative(&specification_path, name));
    let program = Arc::new(program);
    let setup = Setup::with_captures(program.clone(), &run, &mut read_capture);
    // Mistakes of inputs and of expectations are told together.
    if let Err(problems) = Verdicts::new(&program, &run.expectations) {
        found.append(problems);
    }
    let setup = match setup {
        Ok(setup) if !found.has_errors() => Arc::new(setup),
        Ok(_) => return Err(Failure::Found(map, found)),
        Err(problems) => {
            found.append(problems);
            return Err(Failure::Found(map, found));
        }
    };
    if let Some(console) = console {
        console.warnings(&map, &found);
    }
    Ok(Ready { map, setup, run, program_path, specification_path, capture_times })
}

fn add(files: &dyn Files, map: &mut SourceMap, path: &Path) -> Result<(FileId, Format), Failure> {
    let text = files.text(path)?;
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
) -> Result<Option<Symbolics>, Failure> {
    let beside = program.with_extension("symb");
    let first = match &run.symbolics_file {
        Some(name) => Some(relative(specification, name)),
        None => Some(beside).filter(|path| wanted.files.is_file(path)),
    };
    let mut symbolics = Symbolics::default();
    if let Some(path) = first {
        let Some(more) = read_symbolics(wanted.files, map, &path, found)? else { return Ok(None) };
        add_symbolics(&mut symbolics, more);
    }
    add_symbolics(&mut symbolics, run.symbolics.clone());
    if let Some(path) = wanted.symbolics {
        let Some(more) = read_symbolics(wanted.files, map, path, found)? else { return Ok(None) };
        add_symbolics(&mut symbolics, more);
    }
    Ok(Some(symbolics))
}

fn add_symbolics(symbolics: &mut Symbolics, more: Symbolics) {
    symbolics.sizes.extend(more.sizes);
    symbolics.values.extend(more.values);
}

fn read_symbolics(
    files: &dyn Files,
    map: &mut SourceMap,
    path: &Path,
    found: &mut Diagnostics,
) -> Result<Option<Symbolics>, Failure> {
    let (file, format) = add(files, map, path)?;
    let (symbolics, problems) = specification::read_symbolics(map, file, format);
    found.append(problems);
    Ok(symbolics)
}

/// Symbolics of the `.symb` file beside a program; none if there is no such file.
pub fn symbolics_beside(
    files: &dyn Files,
    map: &mut SourceMap,
    program: &Path,
    found: &mut Diagnostics,
) -> Result<Option<Symbolics>, Failure> {
    let beside = program.with_extension("symb");
    match files.is_file(&beside) {
        true => read_symbolics(files, map, &beside, found),
        false => Ok(Some(Symbolics::default())),
    }
}

/// A program without a run, elaborated with the symbolics of the `.symb` file beside it.
pub struct Alone {
    /// The files that spans point into.
    pub map: SourceMap,
    /// The core program.
    pub program: Program,
    /// What the checker warns of.
    pub warnings: Diagnostics,
}

/// Reads a program by itself.
pub fn alone(files: &dyn Files, path: &Path) -> Result<Alone, Failure> {
    let text = files.text(path)?;
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let Some(symbolics) = symbolics_beside(files, &mut map, path, &mut found)? else {
        return Err(Failure::Found(map, found));
    };
    let name = path.display().to_string();
    let analysis = front::analyse(&mut map, &name, text, &Includes(files));
    match analysis.elaborate(&symbolics, &[]) {
        Ok(program) => Ok(Alone { map, program, warnings: analysis.diagnostics }),
        Err(problems) => Err(Failure::Found(map, problems)),
    }
}
