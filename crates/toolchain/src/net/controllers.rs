// SPDX-License-Identifier: Apache-2.0
//! Controllers of a network file that apply commands at times.

use crate::control_files::apply_text;
use crate::files;
use control::session::Session;
use frontend::{Console, Failure};
use network_file::model::{Behaviour, CommandSource, Controller};
use network_run::Built;
use std::collections::HashMap;
use std::path::Path;

/// Commands for a switch at a time.
struct Due {
    time_ps: u64,
    switch: usize,
    controller: String,
    name: String,
    text: String,
}

/// Commands in order of time, and the sessions that they run in.
pub(super) struct Controllers {
    /// The latest first.
    due: Vec<Due>,
    sessions: HashMap<usize, Session>,
}

impl Controllers {
    /// Reads the files of commands.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or a controller is a program.
    pub(super) fn new(controllers: &[Controller], folder: &Path) -> Result<Controllers, Failure> {
        let mut due = Vec::new();
        for controller in controllers {
            let timed = match &controller.behaviour {
                Behaviour::Commands(timed) => timed,
                Behaviour::Program(_) => {
                    let name = &controller.name;
                    let message = format!("controller `{name}`: programs are not run yet");
                    return Err(Failure::Message(message));
                }
            };
            for commands in timed {
                let (name, text) = match &commands.commands {
                    CommandSource::Text(text) => {
                        (format!("controller `{}`", controller.name), text.value.clone())
                    }
                    CommandSource::File(file) => {
                        let path = folder.join(&file.value);
                        (path.display().to_string(), files::read_text(&path)?)
                    }
                };
                let time_ps = commands.at_ps.saturating_add(controller.latency_ps);
                for switch in &controller.switches {
                    let (name, text) = (name.clone(), text.clone());
                    let controller = controller.name.clone();
                    due.push(Due { time_ps, switch: *switch, controller, name, text });
                }
            }
        }
        due.sort_by_key(|one| one.time_ps);
        due.reverse();
        Ok(Controllers { due, sessions: HashMap::new() })
    }

    /// When the next commands take effect.
    pub(super) fn next_ps(&self) -> Option<u64> {
        self.due.last().map(|due| due.time_ps)
    }

    /// Applies the commands that are due. Returns whether there are later ones.
    ///
    /// # Errors
    ///
    /// A command is wrong; the reasons have been printed.
    pub(super) fn act(
        &mut self,
        built: &mut Built,
        now_ps: u64,
        console: &dyn Console,
    ) -> Result<bool, Failure> {
        while self.due.last().is_some_and(|due| due.time_ps <= now_ps) {
            let Some(due) = self.due.pop() else { break };
            let Some(device) = built.device_mut(due.switch) else { continue };
            let session = self
                .sessions
                .entry(due.switch)
                .or_insert_with(|| Session::new(device.program().clone()));
            if apply_text(&due.name, &due.text, None, &mut [(session, device)], console).is_none() {
                let message = format!("the commands of {} are wrong", due.name);
                return Err(Failure::Message(message));
            }
            if let Some(timeline) = built.timeline_mut() {
                let text = due.text.trim();
                timeline.remark(now_ps, &due.controller, Some(due.switch), text);
            }
        }
        Ok(!self.due.is_empty())
    }
}
