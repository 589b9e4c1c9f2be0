// SPDX-License-Identifier: Apache-2.0
//! `Reloader`: reloads of reactions while switches forward in real time. Programs are compiled on a thread of its own, so
//! switches and dialogues go on meanwhile. Requests come by SIGHUP and, in live networks, by `plane react reload`, which
//! asks through a socket in the network's folder.

use crate::files::Disk;
use frontend::{Console, Failure, ProgramFile, ReloadRequest, Reloads};
use network_live::state;
use p4::preprocessor::PreprocessorOptions;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The socket in the folder of a live network.
const SOCKET: &str = "react.sock";

/// How long `plane react reload` waits for the compiler.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest request in bytes.
const MAX_REQUEST: u64 = 4096;

/// A switch whose reactions can be exchanged.
pub(super) struct ReactingSwitch {
    /// Its name.
    pub name: String,
    /// The file of its program.
    pub program: PathBuf,
    /// The exchange.
    pub reloads: Box<dyn Reloads>,
}

/// What to reload, and for whom the result is.
struct Order {
    /// The switch; `None` stands for all.
    switch: Option<String>,
    request: ReloadRequest,
    answer: Option<Sender<(bool, Vec<String>)>>,
}

/// Reloads reactions at the user's request.
pub(super) struct Reloader {
    orders: Sender<Order>,
    /// What the user should know, from the thread that compiles.
    messages: Mutex<Receiver<String>>,
    has_switches: bool,
}

impl Reloader {
    /// Starts the thread that compiles.
    pub fn start(switches: Vec<ReactingSwitch>, preprocessing: &PreprocessorOptions) -> Reloader {
        let (orders, taken) = mpsc::channel::<Order>();
        let (said, messages) = mpsc::channel();
        let preprocessing = preprocessing.clone();
        let has_switches = !switches.is_empty();
        std::thread::spawn(move || {
            for order in taken {
                let (is_fine, lines) = carry_out(&order, &switches, &preprocessing);
                match order.answer {
                    Some(answer) => drop(answer.send((is_fine, lines))),
                    None => lines.into_iter().for_each(|line| drop(said.send(line))),
                }
            }
        });
        Reloader { orders, messages: Mutex::new(messages), has_switches }
    }

    /// Begins a reload if the user asked for one by a signal, and prints what became known of earlier ones.
    pub fn look(&self, asked: &AtomicBool, console: &dyn Console) {
        if asked.swap(false, Ordering::Relaxed) {
            match self.has_switches {
                true => {
                    let request = ReloadRequest::default();
                    let _ = self.orders.send(Order { switch: None, request, answer: None });
                }
                false => console.note("no switch has reactions to reload"),
            }
        }
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.try_iter().for_each(|line| console.note(&line));
    }

    /// Listens for `plane react reload` in the folder of a live network.
    ///
    /// # Errors
    ///
    /// The socket cannot be made.
    pub fn listen(&self, folder: &Path) -> Result<(), String> {
        let path = folder.join(SOCKET);
        let listener = UnixListener::bind(&path).map_err(|error| {
            format!("cannot listen at `{}`: {}", path.display(), source::reason(&error))
        })?;
        let orders = self.orders.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let orders = orders.clone();
                std::thread::spawn(move || serve(stream, &orders));
            }
        });
        Ok(())
    }
}

/// Compiles the programs and hands their reactions over. Returns whether all went well, and what to say.
fn carry_out(
    order: &Order,
    switches: &[ReactingSwitch],
    preprocessing: &PreprocessorOptions,
) -> (bool, Vec<String>) {
    let is_wanted = |switch: &&ReactingSwitch| {
        order.switch.as_ref().is_none_or(|wanted| *wanted == switch.name)
    };
    let wanted: Vec<&ReactingSwitch> = switches.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = switches.iter().map(|switch| switch.name.as_str()).collect();
        let line = match names.is_empty() {
            true => "no switch has reactions to reload".to_string(),
            false => {
                format!("no such switch has reactions; those with reactions: {}", names.join(", "))
            }
        };
        return (false, vec![line]);
    }
    let mut is_fine = true;
    let mut lines = Vec::new();
    for switch in wanted {
        let program = ProgramFile { path: &switch.program, files: &Disk, preprocessing };
        match switch.reloads.reload(&program, order.request) {
            Ok((map, warnings)) => {
                let text = Failure::Found(map, warnings).text();
                lines.extend((!text.is_empty()).then_some(text));
                let name = switch.program.display();
                lines.push(format!("{}: takes the reactions of `{name}`", switch.name));
            }
            Err(failure) => {
                is_fine = false;
                lines.push(format!("{}: not reloaded; the reactions before go on", switch.name));
                lines.push(failure.text());
            }
        }
    }
    (is_fine, lines)
}

/// Answers one request: an object a line in, an object a line out.
fn serve(stream: UnixStream, orders: &Sender<Order>) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut line = String::new();
    BufReader::new(std::io::Read::take(&stream, MAX_REQUEST)).read_line(&mut line).ok()?;
    let value: Value = serde_json::from_str(&line).ok()?;
    let request = ReloadRequest {
        at_ps: 0,
        runs_init: value["init"].as_bool().unwrap_or(false),
        is_fresh: value["fresh"].as_bool().unwrap_or(false),
    };
    let switch = value["switch"].as_str().map(str::to_string);
    let (answer, answered) = mpsc::channel();
    orders.send(Order { switch, request, answer: Some(answer) }).ok()?;
    let (is_fine, lines) = answered.recv().ok()?;
    let text = json!({"reloaded": is_fine, "lines": lines}).to_string() + "\n";
    (&stream).write_all(text.as_bytes()).ok()
}

/// Asks a live network to reload reactions. Returns whether it did, and what it says.
///
/// # Errors
///
/// There is no such network, or it does not answer.
pub fn ask(
    network: Option<&str>,
    switch: Option<&str>,
    request: ReloadRequest,
) -> Result<(bool, Vec<String>), String> {
    let record = state::find(network)?;
    let name = &record.name;
    let silent = |error: std::io::Error| {
        let why = source::reason(&error);
        format!("the live network `{name}` does not take new reactions: {why}")
    };
    let stream = UnixStream::connect(record.folder().join(SOCKET)).map_err(silent)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(silent)?;
    let line =
        json!({"switch": switch, "init": request.runs_init, "fresh": request.is_fresh}).to_string();
    (&stream).write_all((line + "\n").as_bytes()).map_err(silent)?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).map_err(silent)?;
    let answer: Value = serde_json::from_str(&answer)
        .map_err(|_| format!("the live network `{name}` ended before it reloaded"))?;
    let lines = answer["lines"].as_array().into_iter().flatten();
    let lines = lines.filter_map(Value::as_str).map(str::to_string).collect();
    Ok((answer["reloaded"].as_bool().unwrap_or(false), lines))
}
