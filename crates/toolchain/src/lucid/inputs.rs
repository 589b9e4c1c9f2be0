// SPDX-License-Identifier: Apache-2.0
//! Finds and reads the files of a Lucid run: program, specification, symbolics, captures. [`read_run`] makes a
//! [`LucidRun`] of them, [`read_program`] reads a program without a run.

use super::captures::{self, Times};
use super::includes::Includes;
use super::targets::unknown_executions;
use frontend::{Console, Failure, Files, ProgramFile, SPECIFICATIONS};
use lucid::core::Program;
use lucid::elaborate::{self, Symbolics};
use lucid::front;
use lucid_reference::report::Verdicts;
use lucid_reference::simulation::Setup;
use lucid_reference::specification::{self, Format, InputKind, Run};
use source::{Diagnostics, FileId, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A program with its specification, resolved.
pub struct LucidRun {
    /// The files that spans point into.
    pub map: SourceMap,
    /// The network and its inputs.
    pub setup: Arc<Setup>,
    /// The specification.
    pub specification: Run,
    /// The program's file.
    pub program_path: PathBuf,
    /// The specification's file; that of the program if there is no specification.
    pub specification_path: PathBuf,
    /// Times of the captures of the command line.
    pub capture_times: Times,
}

impl LucidRun {
    /// Program and specification, for people.
    pub fn title(&self) -> String {
        if self.specification_path == self.program_path {
            return self.program_path.display().to_string();
        }
        format!("{} with {}", self.program_path.display(), self.specification_path.display())
    }

    /// Returns all texts and captures that were read. Results never overwrite them.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let texts = texts_of(&self.map);
        let captures = self.specification.inputs.iter().filter_map(|input| match &input.kind {
            InputKind::Capture { file, .. } => Some(relative(&self.specification_path, file)),
            _ => None,
        });
        texts.chain(captures)
    }
}

/// Returns the paths of all files of a source map.
pub fn texts_of(map: &SourceMap) -> impl Iterator<Item = PathBuf> + '_ {
    (0..map.file_count()).map(|file| PathBuf::from(&**map.name(FileId(file as u32))))
}

/// The files of a run, and values that replace those of the specification.
#[derive(Clone, Copy)]
pub struct RunRequest<'a> {
    /// The files to read from.
    pub files: &'a dyn Files,
    /// The program; `None` is the one that the specification names, or the file beside it.
    pub program: Option<&'a Path>,
    /// The specification; `None` is the file beside the program.
    pub specification: Option<&'a Path>,
    /// A file of symbolics.
    pub symbolics: Option<&'a Path>,
    /// The end of the run.
    pub until_ps: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// Captures of packets that enter by ports of switch 0. With captures, the specification is optional.
    pub captures: &'a [(u32, PathBuf)],
}

impl<'a> RunRequest<'a> {
    /// Creates a request without any file.
    pub fn from(files: &'a dyn Files) -> RunRequest<'a> {
        RunRequest {
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

/// Returns the program of a run. The command line overrides the specification; the default is the file beside the
/// specification.
fn program_of(
    specification: &Path,
    named: Option<&str>,
    given: Option<&Path>,
    files: &dyn Files,
) -> Result<PathBuf, Failure> {
    match (given, named) {
        (Some(path), _) => Ok(path.to_path_buf()),
        (None, Some(name)) => Ok(relative(specification, name)),
        (None, None) => {
            let beside = specification.with_extension("dpt");
            if files.is_file(&beside) {
                return Ok(beside);
            }
            Err(Failure::Message(format!(
                "`{}` names no program, and there is no `{}`: add \"program\": \"FILE.dpt\" to it, or give \
                 --program FILE",
                specification.display(),
                beside.display()
            )))
        }
    }
}

/// Returns the program of a specification in a file; `given` is the command line's.
///
/// # Errors
///
/// The specification cannot be read or is wrong, or names no program.
pub fn program_of_file(
    specification: &Path,
    given: Option<&Path>,
    files: &dyn Files,
) -> Result<PathBuf, Failure> {
    let text = files.text(specification)?;
    let mut map = SourceMap::new();
    let name = specification.display().to_string();
    let file = map.add(name.clone(), text.as_str());
    match specification::read(&map, file, Format::of_name(&name)) {
        (Some(run), _) => program_of(specification, run.program.as_deref(), given, files),
        (None, found) => Err(Failure::Found(map, found)),
    }
}

/// Whether a file describes a network, which has expectations as specifications have, and which `plane net` judges.
pub fn is_network(file: &ProgramFile<'_>) -> bool {
    let name = file.path.display().to_string();
    let format = Format::of_name(&name);
    let mut map = SourceMap::new();
    file.text().is_ok_and(|text| {
        let id = map.add(name, text.as_str());
        network_file::is_network(&map, id, format)
    })
}

/// Finds the specification beside a program.
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

/// Reads all files of a run and resolves it. Prints warnings on the console, if there is one.
pub fn read_run(
    request: &RunRequest<'_>,
    console: Option<&dyn Console>,
) -> Result<LucidRun, Failure> {
    if let Some(program) = request.program.filter(|program| !request.files.is_file(program)) {
        // Reading it says why; a message about its specification would only distract.
        request.files.text(program)?;
    }
    let is_bare = request.specification.is_none() && !request.captures.is_empty();
    let specification_path = match (request.specification, request.program) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(program)) if is_bare => program.to_path_buf(),
        (None, Some(program)) => specification_beside(request.files, program)?,
        (None, None) => return Err("there is no specification".to_string().into()),
    };
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let mut run = Run::default();
    if !is_bare {
        let (file, format) = add(request.files, &mut map, &specification_path)?;
        let (read, problems) = specification::read_until(&map, file, format, request.until_ps);
        found.append(problems);
        let Some(read) = read else { return Err(Failure::Found(map, found)) };
        run = read;
    }
    let capture_times = captures::add(&mut run, request.captures, is_bare)?;
    if let Some(until_ps) = request.until_ps {
        run.max_time_ps = until_ps;
    }
    if let Some(seed) = request.seed {
        run.seed = seed;
    }
    let program_path =
        program_of(&specification_path, run.program.as_deref(), request.program, request.files)?;
    let symbolics =
        symbolics(&mut map, request, &run, &program_path, &specification_path, &mut found)?;
    let Some(symbolics) = symbolics else { return Err(Failure::Found(map, found)) };
    let text = request.files.text(&program_path)?;
    let name = program_path.display().to_string();
    let analysis = front::analyse(&mut map, &name, text, &Includes(request.files));
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
    let mut read_capture = |name: &str| request.files.bytes(&relative(&specification_path, name));
    found.append(elaborate::lint(&program));
    found.append(elaborate::unknown_symbolics(&analysis.checked, &symbolics));
    let program = Arc::new(program);
    let setup = Setup::with_captures(program.clone(), &run, &mut read_capture);
    found.append(unknown_executions(&run.expectations));
    // Mistakes of inputs and of expectations are reported together.
    if let Err(problems) = Verdicts::new(&program, &run.expectations) {
        found.append(problems);
    }
    let setup = match setup {
        Ok(setup) if !found.has_errors() => {
            found.append(setup.warnings().clone());
            Arc::new(setup)
        }
        Ok(_) => return Err(Failure::Found(map, found)),
        Err(problems) => {
            found.append(problems);
            return Err(Failure::Found(map, found));
        }
    };
    if let Some(console) = console {
        console.warnings(&map, &found);
    }
    Ok(LucidRun { map, setup, specification: run, program_path, specification_path, capture_times })
}

fn add(files: &dyn Files, map: &mut SourceMap, path: &Path) -> Result<(FileId, Format), Failure> {
    let text = files.text(path)?;
    let name = path.display().to_string();
    let format = Format::of_name(&name);
    Ok((map.add(name, text), format))
}

/// Resolves a file name of a specification, which is relative to the specification.
fn relative(specification: &Path, name: &str) -> PathBuf {
    specification.parent().unwrap_or(Path::new("")).join(name)
}

/// Reads symbolics. The file of the command line replaces those of the specification, and these replace those of the
/// file that the specification names, or of the `.symb` file beside the program.
fn symbolics(
    map: &mut SourceMap,
    request: &RunRequest<'_>,
    run: &Run,
    program: &Path,
    specification: &Path,
    found: &mut Diagnostics,
) -> Result<Option<Symbolics>, Failure> {
    let beside = program.with_extension("symb");
    let first = match &run.symbolics_file {
        Some(name) => Some(relative(specification, name)),
        None => Some(beside).filter(|path| request.files.is_file(path)),
    };
    let mut symbolics = Symbolics::default();
    if let Some(path) = first {
        let Some(more) = read_symbolics(request.files, map, &path, found)? else { return Ok(None) };
        add_symbolics(&mut symbolics, more);
    }
    add_symbolics(&mut symbolics, run.symbolics.clone());
    if let Some(path) = request.symbolics {
        let Some(more) = read_symbolics(request.files, map, path, found)? else { return Ok(None) };
        add_symbolics(&mut symbolics, more);
    }
    Ok(Some(symbolics))
}

fn add_symbolics(symbolics: &mut Symbolics, more: Symbolics) {
    symbolics.sizes.extend(more.sizes);
    symbolics.values.extend(more.values);
    symbolics.size_places.extend(more.size_places);
    symbolics.value_places.extend(more.value_places);
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

/// Reads the symbolics of the `.symb` file beside a program; without such a file there are none.
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
pub struct LucidProgram {
    /// The files that spans point into.
    pub map: SourceMap,
    /// The core program.
    pub program: Program,
    /// Warnings of the checker.
    pub warnings: Diagnostics,
}

/// Reads a program without a run.
pub fn read_program(files: &dyn Files, path: &Path) -> Result<LucidProgram, Failure> {
    let text = files.text(path)?;
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let Some(symbolics) = symbolics_beside(files, &mut map, path, &mut found)? else {
        return Err(Failure::Found(map, found));
    };
    let name = path.display().to_string();
    let analysis = front::analyse(&mut map, &name, text, &Includes(files));
    match analysis.elaborate(&symbolics, &[]) {
        Ok(program) => {
            let mut warnings = analysis.diagnostics.clone();
            warnings.append(elaborate::lint(&program));
            warnings.append(elaborate::unknown_symbolics(&analysis.checked, &symbolics));
            Ok(LucidProgram { map, program, warnings })
        }
        Err(problems) => Err(Failure::Found(map, problems)),
    }
}
