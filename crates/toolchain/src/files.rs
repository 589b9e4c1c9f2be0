// SPDX-License-Identifier: Apache-2.0
//! Files on disk: reads texts, loads includes, and writes files whole or not at all.

use control::latency::{DriverModel, LatencyModel};
use frontend::{Failure, Files};
use source::SourceMap;
pub use source::reason;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Reads from disk.
pub struct Disk;

impl Files for Disk {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        std::fs::read(path)
            .map_err(|error| format!("cannot read `{}`: {}", path.display(), reason(&error)))
    }

    fn text(&self, path: &Path) -> Result<String, String> {
        read_text(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn include(&self, path: &str) -> Result<Option<String>, String> {
        match std::fs::read(path) {
            Ok(bytes) => text_of(bytes).map(Some),
            Err(error) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Ok(None),
                _ if Path::new(path).is_dir() => Ok(None),
                _ => Err(reason(&error)),
            },
        }
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("not text: byte {at} is not UTF-8")
    })
}

/// Reads the text of a file; `-` is standard input. The error is a whole message.
pub fn read_text(path: &Path) -> Result<String, String> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)
            .map_err(|error| format!("cannot read standard input: {}", reason(&error)))?;
        return text_of(bytes).map_err(|why| format!("cannot read standard input: {why}"));
    }
    let bytes = Disk.bytes(path)?;
    text_of(bytes).map_err(|why| format!("cannot read `{}`: {why}", path.display()))
}

/// Reads the latency model of a driver from a file.
///
/// # Errors
///
/// The file cannot be read, or all mistakes in it.
pub fn read_driver_model(path: &Path) -> Result<LatencyModel, Failure> {
    let text = read_text(path)?;
    let mut map = SourceMap::new();
    let file = map.add(path.display().to_string(), text.as_str());
    let read = DriverModel::from_toml(file, &text);
    read.map(|driver| driver.model).map_err(|found| Failure::Found(map, found))
}

/// Writes a file whole or not at all: writes a temporary file beside it and renames it. A link stays a link, and an
/// existing file keeps its permissions.
pub fn write_text(path: &Path, text: &str) -> Result<(), String> {
    Partial::write(path, text)?.complete()
}

/// Checks that [`write_text`] can write a file, without a change of it.
pub fn check_output(path: &Path) -> Result<(), String> {
    Partial::write(path, "").map(drop)
}

/// Writes several files into a folder, all or none, and creates the folder if it does not exist.
pub fn write_texts(folder: &Path, texts: &[(String, String)]) -> Result<(), String> {
    if folder.exists() && !folder.is_dir() {
        return Err(format!("`{}` is a file; name a folder", folder.display()));
    }
    let is_new = !folder.exists();
    std::fs::create_dir_all(folder).map_err(|error| {
        format!("cannot make the folder `{}`: {}", folder.display(), reason(&error))
    })?;
    let write = |(name, text): &(String, String)| Partial::write(&folder.join(name), text);
    let written: Result<Vec<Partial>, String> = texts.iter().map(write).collect();
    match written {
        Ok(partials) => partials.into_iter().try_for_each(Partial::complete),
        Err(message) => {
            if is_new {
                // It stays if another program has put something into it meanwhile.
                let _ = std::fs::remove_dir(folder);
            }
            Err(message)
        }
    }
}

/// A temporary file beside its target, removed when it is dropped before it is completed.
struct Partial {
    beside: PathBuf,
    target: PathBuf,
    /// The path that the user gave.
    path: PathBuf,
}

impl Partial {
    fn write(path: &Path, text: &str) -> Result<Partial, String> {
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if target.is_dir() {
            return Err(format!("cannot write `{}`: it is a directory", path.display()));
        }
        let permissions = std::fs::metadata(&target).map(|metadata| metadata.permissions()).ok();
        let mut beside = target.as_os_str().to_owned();
        beside.push(format!(".{}.partial", std::process::id()));
        let message = |error| cannot_write(path, &error);
        // A file of this name belongs to another program and is not touched.
        let created = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside);
        let mut file = created.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("cannot write `{}`: its folder does not exist", path.display())
            }
            _ => message(error),
        })?;
        let partial = Partial { beside: beside.into(), target, path: path.to_owned() };
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(message)?;
        if let Some(permissions) = permissions {
            std::fs::set_permissions(&partial.beside, permissions).map_err(message)?;
        }
        Ok(partial)
    }

    fn complete(self) -> Result<(), String> {
        std::fs::rename(&self.beside, &self.target)
            .map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // A completed file has been renamed.
        let _ = std::fs::remove_file(&self.beside);
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write `{}`: {}", path.display(), reason(error))
}

/// Checks that an output is not one of the inputs, under this or another name.
pub fn not_overwritten<'a>(
    output: &Path,
    mut inputs: impl Iterator<Item = &'a Path>,
) -> Result<(), String> {
    let Ok(written) = output.canonicalize() else { return Ok(()) };
    let is_same = |input: &Path| input.canonicalize().is_ok_and(|input| input == written);
    match inputs.any(is_same) {
        true => Err(format!("`{}` is an input: write somewhere else", output.display())),
        false => Ok(()),
    }
}

/// Returns the files of a folder and of its subfolders that `is_selected` accepts, in order of their paths.
pub fn files_in(
    folder: &Path,
    is_selected: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("cannot read `{}`: {}", folder.display(), reason(&error)))?;
    for entry in entries.flatten() {
        let path = entry.path();
        // A link to a folder may lead in a circle: only real folders are searched.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(files_in(&path, is_selected)?);
        } else if is_selected(&path) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
