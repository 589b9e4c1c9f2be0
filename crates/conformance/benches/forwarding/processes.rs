// SPDX-License-Identifier: Apache-2.0
//! The children that forward: the C programs, compiled here, and this benchmark itself. How they are
//! started, asked, and how much memory they hold.

use super::engine::EngineName;
use super::workload::{self, ByHand, Workload};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Who forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    ByHand,
    Ours(EngineName),
}

impl Side {
    pub fn name(self) -> &'static str {
        match self {
            Side::ByHand => "C",
            Side::Ours(engine) => engine.name(),
        }
    }
}

/// A folder for what the benchmark makes; it goes with this value.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Result<Scratch, String> {
        let folder =
            std::env::temp_dir().join(format!("planewright-forwarding-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing depends on it; the system clears its temporary folder too.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The first of these programs that is on `PATH`.
pub fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

/// Asks glibc's allocator for large pages. The programs in C ask for them themselves, for packets' buffers
/// too; ours have these from the allocator.
const ALLOCATOR_OPTIONS: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

const OPTIMISED: [&str; 2] = ["-O3", "-march=native"];

/// A C compiler, and the binaries it made.
pub struct CCompiler {
    program: PathBuf,
    /// As it calls itself.
    pub version: String,
}

impl CCompiler {
    pub fn find() -> Option<CCompiler> {
        let program = on_path(&["gcc", "cc"])?;
        let output = Command::new(&program).arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).lines().next()?.to_string();
        Some(CCompiler { program, version })
    }

    /// Compiles a program of `benches/c`.
    fn compile(&self, source: &str, binary: &Path, further: &[&str]) -> Result<(), String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/c");
        let status = Command::new(&self.program)
            .args(OPTIMISED)
            .args(further)
            .arg("-o")
            .arg(binary)
            .arg(folder.join(source))
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(format!("{} does not compile {source}", self.program.display())),
            Err(error) => Err(format!("cannot run {}: {error}", self.program.display())),
        }
    }
}

/// A workload ready for children.
pub struct Prepared {
    pub name: String,
    corpus_program: Option<PathBuf>,
    /// The file, the binary, and the binary without instructions that valgrind does not know.
    by_hand: Option<[PathBuf; 3]>,
}

impl Prepared {
    pub fn new(
        name: &str,
        workload: &Workload,
        corpus_program: Option<&Path>,
        compiler: Option<&CCompiler>,
        scratch: &Scratch,
    ) -> Result<Prepared, String> {
        let mut prepared = Prepared {
            name: name.to_string(),
            corpus_program: corpus_program.map(Path::to_path_buf),
            by_hand: None,
        };
        let (Some(ByHand { source, tables }), Some(compiler)) = (&workload.by_hand, compiler)
        else {
            return Ok(prepared);
        };
        let file = scratch.0.join(format!("{name}.workload"));
        let content = workload::file(workload, tables);
        std::fs::write(&file, content)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        let binaries = [scratch.0.join(name), scratch.0.join(format!("{name}-portable"))];
        compiler.compile(source, &binaries[0], &[])?;
        let without_avx_512: &[&str] =
            if cfg!(target_arch = "x86_64") { &["-mno-avx512f"] } else { &[] };
        compiler.compile(source, &binaries[1], without_avx_512)?;
        let [native, portable] = binaries;
        prepared.by_hand = Some([file, native, portable]);
        Ok(prepared)
    }

    /// Who can forward this workload.
    pub fn sides(&self) -> Vec<Side> {
        let ours = EngineName::ALL.into_iter().map(Side::Ours);
        self.by_hand.iter().map(|_| Side::ByHand).chain(ours).collect()
    }

    /// The command line of a child, without its mode.
    pub fn command_line(&self, side: Side, is_for_valgrind: bool) -> Result<Vec<String>, String> {
        let text = |path: &Path| path.display().to_string();
        match side {
            Side::ByHand => {
                let [file, native, portable] =
                    self.by_hand.as_ref().ok_or("there is no C for this workload")?;
                Ok(vec![text(if is_for_valgrind { portable } else { native }), text(file)])
            }
            Side::Ours(engine) => {
                let this = std::env::current_exe().map_err(|error| error.to_string())?;
                let mut line = vec![text(&this)];
                if let Some(path) = &self.corpus_program {
                    line.extend(["--corpus-program".to_string(), text(path)]);
                }
                line.extend(["--child".into(), engine.name().into(), self.name.clone()]);
                Ok(line)
            }
        }
    }

    /// Starts a child that answers requests.
    pub fn serve(&self, side: Side) -> Result<Server, String> {
        let line = self.command_line(side, false)?;
        let mut process = Command::new(&line[0])
            .args(&line[1..])
            .arg("serve")
            .env(ALLOCATOR_OPTIONS.0, ALLOCATOR_OPTIONS.1)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run {}: {error}", line[0]))?;
        let requests = process.stdin.take().ok_or("no input")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no output")?);
        let mut server =
            Server { side, process, requests: Some(requests), answers, preparation: Vec::new() };
        let ready = server.answer()?;
        server.preparation = ready
            .split(' ')
            .filter_map(|piece| piece.split_once('='))
            .filter_map(|(name, value)| Some((name.to_string(), value.parse().ok()?)))
            .collect();
        Ok(server)
    }

    /// Runs a child to its end.
    pub fn run(&self, side: Side, mode: &[&str]) -> Result<(), String> {
        let line = self.command_line(side, false)?;
        let status = Command::new(&line[0])
            .args(&line[1..])
            .args(mode)
            .status()
            .map_err(|error| format!("cannot run {}: {error}", line[0]))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("{} failed with {}: {status}", side.name(), self.name))
        }
    }
}

/// What a child says of a round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Outputs.
    pub sent: u64,
    /// By the clock, in nanoseconds.
    pub taken_ns: u64,
    /// Of it, how long the child was on a core.
    pub on_core_ns: u64,
}

/// A child that answers.
pub struct Server {
    pub side: Side,
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// How long each step of getting ready took, in nanoseconds.
    pub preparation: Vec<(String, f64)>,
}

impl Server {
    fn answer(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(length) if length > 0 => Ok(line.trim_end().to_string()),
            _ => Err(format!("{} gave no answer", self.side.name())),
        }
    }

    fn ask(&mut self, request: &str) -> Result<String, String> {
        let requests = self.requests.as_mut().ok_or("the child is done")?;
        writeln!(requests, "{request}").map_err(|error| error.to_string())?;
        self.answer()
    }

    /// Which packets to go round from now on.
    pub fn ring(&mut self, name: &str) -> Result<(), String> {
        self.ask(&format!("ring {name}")).map(|_| ())
    }

    /// Forwards so many packets.
    pub fn round(&mut self, count: u64) -> Result<Round, String> {
        let answer = self.ask(&format!("round {count}"))?;
        let numbers: Vec<u64> =
            answer.split(' ').filter_map(|number| number.parse().ok()).collect();
        match numbers[..] {
            [taken_ns, sent, on_core_ns] => Ok(Round { sent, taken_ns, on_core_ns }),
            _ => Err(format!("{} answers {answer}", self.side.name())),
        }
    }

    /// Memory in bytes that the child holds; `None` where the system does not say.
    pub fn memory_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kibibytes << 10)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // At the end of its input a child ends.
        self.requests = None;
        let _ = self.process.wait();
    }
}
