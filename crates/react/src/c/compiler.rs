// SPDX-License-Identifier: Apache-2.0
//! Runs the system's C compiler on generated C. It writes the C file and the shared object to a temporary folder, which it
//! removes; nothing else of this crate but the loader writes files.

use super::codes::COMPILER_FAILED;
use source::{Diagnostic, Span};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Options of every run. Constructs that newer compilers refuse are errors with all compilers.
const OPTIONS: [&str; 15] = [
    "-x",
    "c",
    "-std=gnu11",
    "-O2",
    "-g1",
    "-fPIC",
    "-fwrapv",
    "-fvisibility=hidden",
    "-fdollars-in-identifiers",
    "-Wall",
    // An empty line of the log is a line.
    "-Wno-format-zero-length",
    "-Werror=implicit-function-declaration",
    "-Werror=implicit-int",
    "-Werror=int-conversion",
    "-Wno-unused-command-line-argument",
];

/// Options of GCC. Errors in macros of the generated text are then reported where they are used.
const GCC_OPTIONS: [&str; 1] = ["-ftrack-macro-expansion=0"];

/// The command of a C compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: String,
    arguments: Vec<String>,
}

/// What a run of the compiler produces.
pub struct Run {
    /// Its messages.
    pub messages: String,
    /// The shared object, if there are no errors and the run was to make it.
    pub object: Option<Vec<u8>>,
    /// Whether the compiler reports success.
    pub succeeded: bool,
}

/// What the compiler is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Report errors and warnings.
    Check,
    /// Make a shared object.
    Build,
}

impl Compiler {
    /// The compiler in the variable CC, or `cc`.
    pub fn from_environment() -> Compiler {
        Compiler::new(&std::env::var("CC").unwrap_or_default())
    }

    /// The compiler of a command, with arguments separated by blanks; an empty one is `cc`.
    pub fn new(command: &str) -> Compiler {
        let mut words = command.split_whitespace().map(str::to_string);
        let program = words.next().unwrap_or_else(|| "cc".to_string());
        Compiler { program, arguments: words.collect() }
    }

    /// Compiles a text. Files in quotes are included from `folders`.
    ///
    /// # Errors
    ///
    /// The compiler does not start, or a temporary file cannot be written.
    pub fn run(&self, text: &str, folders: &[PathBuf], task: Task) -> Result<Run, Box<Diagnostic>> {
        let failed = |what: &str, error: std::io::Error| {
            let message = format!("{what}: {}", source::reason(&error));
            Box::new(Diagnostic::error(COMPILER_FAILED, Span::NONE, message))
        };
        let folder = tempfile::Builder::new().prefix("plane-react-").tempdir();
        let folder = folder.map_err(|error| failed("cannot make a temporary folder", error))?;
        let path = folder.path().join(super::generate::GENERATED_NAME);
        std::fs::write(&path, text).map_err(|error| failed("cannot write the C file", error))?;
        let object = folder.path().join("reactions.so");
        let output = self.output(&path, &object, folders, task).map_err(|error| {
            let message = format!("cannot run the C compiler `{}`", self.program);
            let help = "install a C compiler (gcc or clang), or name one in the variable CC";
            Box::new(failed(&message, error).help(help))
        })?;
        let mut messages = String::from_utf8_lossy(&output.stderr).into_owned();
        messages.push_str(&String::from_utf8_lossy(&output.stdout));
        let succeeded = output.status.success();
        let object = match succeeded && task == Task::Build {
            true => Some(
                std::fs::read(&object)
                    .map_err(|error| failed("cannot read what the C compiler made", error))?,
            ),
            false => None,
        };
        Ok(Run { messages, object, succeeded })
    }

    fn output(
        &self,
        path: &Path,
        object: &Path,
        folders: &[PathBuf],
        task: Task,
    ) -> std::io::Result<Output> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(OPTIONS);
        if self.is_gcc() {
            command.args(GCC_OPTIONS);
        }
        for folder in folders {
            command.arg("-iquote").arg(folder);
        }
        match task {
            Task::Check => command.arg("-fsyntax-only").arg(path),
            Task::Build => command
                .args(["-shared", "-Wl,-z,defs", "-o"])
                .arg(object)
                .arg(path)
                .args(["-lm", "-lpthread"]),
        };
        // Messages are read by their English words.
        command.env("LC_ALL", "C").stdin(std::process::Stdio::null()).output()
    }

    /// Whether the compiler is GCC: others do not know its options.
    fn is_gcc(&self) -> bool {
        let version = Command::new(&self.program)
            .args(&self.arguments)
            .args(["-dM", "-E", "-x", "c", "/dev/null"])
            .env("LC_ALL", "C")
            .stdin(std::process::Stdio::null())
            .output();
        version.is_ok_and(|output| {
            let macros = String::from_utf8_lossy(&output.stdout);
            macros.contains("#define __GNUC__ ")
                && !macros.contains("#define __clang__ ")
                && !macros.contains("#define __TINYC__ ")
        })
    }
}
