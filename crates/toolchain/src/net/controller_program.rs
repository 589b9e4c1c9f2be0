// SPDX-License-Identifier: Apache-2.0
//! [`Process`]: a controller program as a process group with pipes. A program that is silent for 10 s of real time fails. At
//! its end its standard input is closed; a second later the process group is killed.

use crate::controllers::{Report, Reports};
use frontend::Activity;
use network_run::controllers::{Conversation, NoLine};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the simulation waits for a line.
const SILENCE: Duration = Duration::from_secs(10);
/// How often a waiting simulation looks for an interrupt.
const POLL: Duration = Duration::from_millis(20);
/// How long a program may take to end after its standard input is closed.
const GRACE: Duration = Duration::from_secs(1);
/// How long the last lines of standard error may take.
const LAST_LINES: Duration = Duration::from_millis(200);
/// Lines that wait in each direction.
const PIPE_LINES: usize = 256;
/// The longest line, in bytes.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Lines of the standard error of programs, with the names of their controllers.
#[derive(Clone, Debug, Default)]
pub(super) struct StandardError {
    lines: Arc<Mutex<Vec<String>>>,
    /// Reports of controllers that programs of switches bring, with number and name of the switch.
    reports: Arc<Mutex<Vec<(usize, String, Reports)>>>,
    /// What these controllers did, with the number of the switch.
    activities: Arc<Mutex<Vec<(usize, Activity)>>>,
}

impl StandardError {
    /// Takes the lines since the last call.
    pub(super) fn take(&self) -> Vec<String> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let mut activities = self.activities.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, switch, reports) in
            &*self.reports.lock().unwrap_or_else(PoisonError::into_inner)
        {
            for report in reports.take() {
                match report {
                    Report::Log(line) => lines.push(format!("{switch}: {line}")),
                    Report::Activity(activity) => activities.push((*number, activity)),
                }
            }
        }
        std::mem::take(&mut lines)
    }

    /// Takes what controllers of switches' programs did, as far as [`StandardError::take`] found it.
    pub(super) fn take_activities(&self) -> Vec<(usize, Activity)> {
        std::mem::take(&mut *self.activities.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Passes on what the controllers of a switch's program log and do.
    pub(super) fn follow(&self, number: usize, switch: &str, reports: Reports) {
        let mut all = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((number, switch.to_string(), reports));
    }

    fn add(&self, name: &str, line: &str) {
        let line = format!("{name}: {}", line.trim_end());
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

/// A running program.
pub(super) struct Process {
    child: Child,
    /// `None` after the end.
    input: Option<SyncSender<String>>,
    output: Receiver<Line>,
    /// Closed when standard error is.
    error_ends: Receiver<()>,
    interrupted: Arc<AtomicBool>,
    /// Whether to wait before the kill.
    ends_itself: bool,
}

/// What comes from a program's standard output.
enum Line {
    Text(String),
    TooLong,
}

impl Process {
    /// Starts the program of a controller; a file beside the network file is `./NAME`.
    pub(super) fn start(
        name: &str,
        words: &[String],
        folder: &Path,
        interrupted: Arc<AtomicBool>,
        standard_error: &StandardError,
    ) -> Result<Process, NoLine> {
        let cannot = |error: &io::Error| cannot_start(words, error);
        let (program, arguments) = words.split_first().ok_or_else(|| NoLine::Failed {
            what: "its `program` is empty".to_string(),
            help: "such as `program: [python3, control.py]`".to_string(),
        })?;
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        let path = match program.contains('/') {
            true => std::path::absolute(folder.join(program)).map_err(|error| cannot(&error))?,
            false => PathBuf::from(program),
        };
        let mut command = Command::new(path);
        command.args(arguments).current_dir(folder).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| cannot(&error))?;
        let (input, written) = mpsc::sync_channel(PIPE_LINES);
        let (lines, output) = mpsc::sync_channel(PIPE_LINES);
        let (error_end, error_ends) = mpsc::sync_channel(0);
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        std::thread::spawn(move || stdin.map(|stdin| write_lines(stdin, &written)));
        std::thread::spawn(move || stdout.map(|stdout| read_lines(stdout, &lines)));
        let (name, standard_error) = (name.to_string(), standard_error.clone());
        std::thread::spawn(move || {
            let _end = error_end;
            let Some(stderr) = stderr else { return };
            let mut reader = BufReader::new(stderr);
            while let Ok(Some(line)) = next_line(&mut reader) {
                match line {
                    Line::Text(text) => standard_error.add(&name, &text),
                    Line::TooLong => break,
                }
            }
        });
        let input = Some(input);
        Ok(Process { child, input, output, error_ends, interrupted, ends_itself: true })
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn silent(&mut self) -> NoLine {
        self.ends_itself = false;
        NoLine::Failed {
            what: "its program was silent for 10 s".to_string(),
            help: "it ends each turn with {\"done\": true} or {\"wake_ps\": N}, and flushes its standard output".to_string(),
        }
    }

    /// Waits for the end of the program, but no longer than a second.
    fn wait(&mut self) -> Option<ExitStatus> {
        let until = Instant::now() + GRACE;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            if Instant::now() >= until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn wait_for_last_lines(&self) {
        let _ = self.error_ends.recv_timeout(LAST_LINES);
    }
}

impl Conversation for Process {
    fn write(&mut self, line: &str) -> Result<(), NoLine> {
        let until = Instant::now() + SILENCE;
        let mut line = format!("{line}\n");
        let Some(input) = self.input.clone() else { return Ok(()) };
        loop {
            match input.try_send(line) {
                // The reader says why a program is gone.
                Ok(()) | Err(TrySendError::Disconnected(_)) => return Ok(()),
                Err(TrySendError::Full(unsent)) => line = unsent,
            }
            if self.is_interrupted() {
                return Err(NoLine::Interrupted);
            }
            if Instant::now() >= until {
                return Err(self.silent());
            }
            std::thread::sleep(POLL);
        }
    }

    fn read(&mut self) -> Result<String, NoLine> {
        let until = Instant::now() + SILENCE;
        loop {
            if self.is_interrupted() {
                return Err(NoLine::Interrupted);
            }
            match self.output.recv_timeout(POLL) {
                Ok(Line::Text(text)) => return Ok(text),
                Ok(Line::TooLong) => {
                    return Err(NoLine::Failed {
                        what: format!(
                            "its program wrote a line of more than {} MiB",
                            MAX_LINE_BYTES >> 20
                        ),
                        help: "write one JSON object a line".to_string(),
                    });
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                    return Err(self.silent());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.wait();
                    self.wait_for_last_lines();
                    let what = match status {
                        Some(status) => format!("its program ended before the run did ({status})"),
                        None => "its program closed its standard output before the run ended"
                            .to_string(),
                    };
                    let help = "it reads messages until its standard input ends; its standard error has a reason, if it gave one";
                    return Err(NoLine::Failed { what, help: help.to_string() });
                }
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input = None;
        if self.ends_itself && !self.is_interrupted() {
            self.wait();
        }
        // Also what the program itself has started.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        self.wait_for_last_lines();
    }
}

fn cannot_start(words: &[String], error: &io::Error) -> NoLine {
    let program = words.first().map_or("", String::as_str);
    let help = match error.kind() {
        io::ErrorKind::NotFound if program.contains('/') => {
            "the path is relative to the network file".to_string()
        }
        io::ErrorKind::NotFound => {
            format!("install it, or write `./{program}` for a file beside the network file")
        }
        io::ErrorKind::PermissionDenied => {
            format!("make the file executable: chmod +x {program}")
        }
        _ => "`program` is a list of the program and its arguments".to_string(),
    };
    let what = format!("its program `{program}` cannot be started: {}", source::reason(error));
    NoLine::Failed { what, help }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv() {
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            break;
        }
    }
}

fn read_lines(stdout: impl Read, lines: &SyncSender<Line>) {
    let mut reader = BufReader::new(stdout);
    while let Ok(Some(line)) = next_line(&mut reader) {
        let is_last = matches!(line, Line::TooLong);
        if lines.send(line).is_err() || is_last {
            break;
        }
    }
}

/// The next line without its end; `None` at the end of the file.
fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    let length = reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)?;
    if length == 0 {
        return Ok(None);
    }
    if length as u64 == MAX_LINE_BYTES && bytes.last() != Some(&b'\n') {
        return Ok(Some(Line::TooLong));
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(Line::Text(text.trim_end_matches(['\n', '\r']).to_string())))
}
