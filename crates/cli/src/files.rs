// SPDX-License-Identifier: Apache-2.0
//! Files: reading texts, loading includes, writing so that nothing is left half-written.

use p4::preprocessor::IncludeLoader;
use std::io::Write;
use std::path::Path;

/// Loads included files from disk.
pub struct DiskLoader;

impl IncludeLoader for DiskLoader {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
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

impl lucid::syntax::Loader for DiskLoader {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        IncludeLoader::load(self, path)
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("not text: byte {at} is not UTF-8")
    })
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        std::io::ErrorKind::IsADirectory => "it is a directory".to_string(),
        _ => error.to_string(),
    }
}

/// The text of a file; `-` is standard input. The error is a whole message.
pub fn read_text(path: &Path) -> Result<String, String> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)
            .map_err(|error| format!("cannot read standard input: {}", reason(&error)))?;
        return text_of(bytes).map_err(|why| format!("cannot read standard input: {why}"));
    }
    let bytes = std::fs::read(path)
        .map_err(|error| format!("cannot read `{}`: {}", path.display(), reason(&error)))?;
    text_of(bytes).map_err(|why| format!("cannot read `{}`: {why}", path.display()))
}

/// Writes a file whole or not at all: beside it first, then renamed. A link stays a link, and an existing
/// file keeps its permissions.
pub fn write_text(path: &Path, text: &str) -> Result<(), String> {
    let message =
        |error: std::io::Error| format!("cannot write `{}`: {}", path.display(), reason(&error));
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let permissions = std::fs::metadata(&target).map(|metadata| metadata.permissions()).ok();
    let mut beside = target.as_os_str().to_owned();
    beside.push(format!(".{}.partial", std::process::id()));
    // A file of this name is somebody else's and is not touched.
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside);
    let mut file = created.map_err(message)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| {
        if let Some(permissions) = permissions {
            std::fs::set_permissions(&beside, permissions)?;
        }
        std::fs::rename(&beside, &target)
    });
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        message(error)
    })
}

/// All `.p4` files of a folder and of its subfolders, in order of their paths.
pub fn programs_in(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("cannot read `{}`: {}", folder.display(), reason(&error)))?;
    for entry in entries.flatten() {
        let path = entry.path();
        // A link to a folder may lead in a circle: only real folders are searched.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(programs_in(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "p4") && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
