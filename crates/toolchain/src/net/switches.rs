// SPDX-License-Identifier: Apache-2.0
//! Makes the devices of a network's switches: programs, device files, ports as links ask for them, entries.

use super::NetRun;
use crate::control_files::{apply, apply_text};
use crate::controllers::{ControlPlane, Controllers, Reports};
use crate::device_run::load_error_text;
use crate::files::{self, Disk};
use crate::reactions;
use crate::selection;
use control::p4info::P4Info;
use control::session::Session;
use control::target::Target;
use device::{Device, DeviceOptions, EngineChoice};
use frontend::{
    Compiled, Console, ControllerOptions, Deployment, Failure, ProgramFile, ReloadRequest, Reloads,
    WrittenProgram,
};
use ir::ready::ReadyProgram;
use network_file::model::{Behaviour, Engine, Event, EventSubject, Network, Node, Origin, Switch};
use network_run::controllers::OwnControl;
use network_run::entries;
use source::{Code, Diagnostic, Diagnostics, Explanation, FileId, SourceMap};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The programs of a network, compiled, by their files.
pub(super) struct CompiledPrograms {
    programs: HashMap<PathBuf, SwitchProgram>,
    /// A device for each program, whose machine code the switches of all runs share.
    templates: Mutex<HashMap<PathBuf, Device>>,
}

/// A compiled program.
struct SwitchProgram {
    ready: ReadyProgram,
    map: SourceMap,
    setup: Option<Deployment>,
    written: Option<Arc<dyn WrittenProgram>>,
}

impl SwitchProgram {
    /// The program that the control plane speaks of.
    fn spoken_of(&self) -> &ReadyProgram {
        self.written.as_ref().map_or(&self.ready, |written| written.program())
    }
}

/// A switch with the session that installed its entries.
pub(super) struct MadeSwitch {
    pub(super) device: Device,
    pub(super) session: Session,
    /// The control plane that its program brings.
    pub(super) own: Option<OwnControl>,
    /// What the controllers of its program report.
    pub(super) reports: Option<Reports>,
    /// The exchange of their code, and the file of the program.
    pub(super) reloads: Option<(PathBuf, Box<dyn Reloads>)>,
}

impl CompiledPrograms {
    /// The texts of all sources, in the order of their names.
    pub(super) fn sources(&self) -> BTreeMap<&str, &str> {
        let files = self.programs.values().flat_map(|SwitchProgram { map, .. }| {
            let ids = (0..map.file_count() as u32).map(FileId);
            ids.map(|file| (&**map.name(file), &**map.text(file)))
        });
        files.collect()
    }

    /// Whether some program brings controllers that act until the end.
    pub(super) fn react(&self) -> bool {
        self.programs.values().any(|program| program.written.is_some())
    }

    /// Makes a device for a program.
    fn device(&self, path: &Path, options: DeviceOptions) -> Result<Device, Failure> {
        let Some(program) = self.programs.get(path) else {
            return Err(format!("`{}` was not compiled", path.display()).into());
        };
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        let made = match templates.get(path) {
            Some(template) => template.sharing_code_with(options),
            None => {
                let own = Device::new(program.ready.program().clone(), options.clone());
                own.and_then(|template| {
                    let device = template.sharing_code_with(options);
                    templates.insert(path.to_path_buf(), template);
                    device
                })
            }
        };
        made.map_err(|error| load_error_text(&error, &program.map).into())
    }
}

/// What devices are made from.
pub(super) struct Switches<'r> {
    pub(super) network: &'r Network,
    pub(super) folder: &'r Path,
    pub(super) run: &'r NetRun<'r>,
    pub(super) map: &'r SourceMap,
    pub(super) seed: u64,
    pub(super) controlled: ControllerOptions,
    pub(super) console: &'r dyn Console,
}

/// A switch without reactions has a reload.
pub(crate) const NO_REACTIONS: Code = Code("NW-E0409");

pub(crate) const EXPLANATIONS: &[Explanation] = &[Explanation {
    code: NO_REACTIONS,
    title: "a reload of a switch without reactions",
    text: "An event with `reload` gives a switch the reactions of another P4R program. The switch's own program must be a \
           P4R program, whose P4 code, malleables and measured arguments are the same.",
    wrong: "events: [{at: 1s, node: s1, reload: new.p4r}]",
    right: "",
}];

impl Switches<'_> {
    /// Makes all devices from compiled programs, in the order of the file, with the sessions that installed their entries.
    pub(super) fn make(&self, programs: &CompiledPrograms) -> Result<Vec<MadeSwitch>, Failure> {
        let mut found = Diagnostics::new();
        let mut devices: Vec<Device> = Vec::new();
        let mut latencies = Vec::new();
        for (number, switch) in self.network.switches.iter().enumerate() {
            let Some((path, compiled)) =
                self.program_of(switch).and_then(|path| programs.programs.get_key_value(&path))
            else {
                continue;
            };
            let options = self.options(number, switch, compiled, &mut found)?;
            let (options, latency) = reactions::without_latency(
                options,
                compiled.written.as_deref(),
                &self.controlled,
                self.run.driver_model.filter(|_| compiled.written.is_some()),
            )?;
            latencies.push(latency);
            let device = programs.device(path, options);
            devices.push(device.map_err(|failure| match failure {
                Failure::Message(why) => format!("switch `{}`: {why}", switch.name).into(),
                other => other,
            })?);
        }
        let mut is_fine = true;
        let mut made = Vec::with_capacity(devices.len());
        let devices = devices.into_iter().zip(latencies);
        for ((number, switch), (mut device, latency)) in
            self.network.switches.iter().enumerate().zip(devices)
        {
            let written = self.program_of(switch).and_then(|path| programs.programs.get(&path));
            let written = written.and_then(|program| program.written.as_deref());
            let plane = ControlPlane::of(written, Vec::new(), &[&mut device], &self.controlled);
            let plane = plane.map_err(|why| format!("switch `{}`: {why}", switch.name))?;
            let ControlPlane { mut target, controllers, reloads } = plane;
            self.schedule_reloads(number, reloads.as_deref(), &mut found)?;
            let mut session = Session::new(target.program());
            is_fine &= self.apply_entries(
                (number, switch),
                &mut session,
                &mut target,
                programs,
                &mut found,
            )?;
            let mut own = None;
            let mut reports = None;
            if written.is_some() {
                let started = Controllers::start_on(controllers);
                let started = started.map_err(|why| format!("switch `{}`: {why}", switch.name))?;
                reports = Some(started.reports());
                own = Some(OwnControl { target, agent: Box::new(started) });
                device.set_control_latency(latency);
            }
            let reloads = self.program_of(switch).zip(reloads);
            made.push(MadeSwitch { device, session, own, reports, reloads });
        }
        if found.has_errors() {
            return Err(Failure::Found(self.map.clone(), found));
        }
        match is_fine {
            true => Ok(made),
            false => {
                let message = "not run: correct the errors in the entries first";
                Err(Failure::Message(message.to_string()))
            }
        }
    }

    /// Compiles the new reactions of a switch and hands them to its agent.
    fn schedule_reloads(
        &self,
        number: usize,
        reloads: Option<&dyn Reloads>,
        found: &mut Diagnostics,
    ) -> Result<(), Failure> {
        for event in self.network.reloads.iter().filter(|event| event.switch == number) {
            let Some(reloads) = reloads else {
                let name = &self.network.switches[number].name;
                let message = format!("the program of switch `{name}` has no reactions");
                let error = Diagnostic::error(NO_REACTIONS, event.span, message);
                found.push(error.help("`reload` is for switches whose program is a .p4r file"));
                continue;
            };
            let path = self.locate(&event.program.value);
            let file =
                ProgramFile { path: &path, files: &Disk, preprocessing: self.run.preprocessing };
            let request = ReloadRequest {
                at_ps: event.at_ps,
                runs_init: event.runs_init,
                is_fresh: event.is_fresh,
            };
            let (map, warnings) = reloads.reload(&file, request)?;
            self.console.warnings(&map, &warnings);
        }
        Ok(())
    }

    /// A file that the network names. In the tutorials names are relative to the exercise, in whose folder or a folder of
    /// it the topology lies.
    pub(super) fn locate(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        let topology = match (&self.network.base, self.network.origin) {
            (Some(base), _) => self.folder.join(&base.value).parent().map(Path::to_path_buf),
            (None, Origin::Tutorial) => Some(self.folder.to_path_buf()),
            (None, Origin::NetworkFile) => None,
        };
        match topology {
            Some(topology) if !path.exists() => {
                let candidates = [topology.join(name), topology.join("..").join(name)];
                candidates.into_iter().find(|path| path.exists()).unwrap_or(path)
            }
            _ => path,
        }
    }

    pub(super) fn program_of(&self, switch: &Switch) -> Option<PathBuf> {
        switch.program.as_ref().map(|program| {
            let path = self.locate(&program.value);
            // A program of the command line is relative to the working directory.
            match self.run.program {
                Some(given) if Path::new(&program.value) == given => given.to_path_buf(),
                _ => path,
            }
        })
    }

    /// The interface of each switch whose controller is a program.
    pub(super) fn interfaces(&self, programs: &CompiledPrograms) -> Vec<Option<Arc<P4Info>>> {
        let controller = |switch: &Switch| self.network.controllers.get(switch.controller?);
        let is_wanted = |switch: &Switch| {
            controller(switch).is_some_and(|one| matches!(one.behaviour, Behaviour::Program(_)))
        };
        let mut known: HashMap<PathBuf, Arc<P4Info>> = HashMap::new();
        let mut interface = |switch: &Switch| {
            let path = self.program_of(switch).filter(|_| is_wanted(switch))?;
            let compiled = programs.programs.get(&path)?;
            let info =
                known.entry(path).or_insert_with(|| Arc::new(P4Info::of(compiled.spoken_of())));
            Some(info.clone())
        };
        self.network.switches.iter().map(&mut interface).collect()
    }

    /// Compiles each program once; all mistakes of all programs are reported.
    pub(super) fn compile(&self) -> Result<CompiledPrograms, Failure> {
        let mut programs = HashMap::new();
        let mut failed = Vec::new();
        for switch in &self.network.switches {
            let Some(path) = self.program_of(switch) else { continue };
            if programs.contains_key(&path) || failed.contains(&path) {
                continue;
            }
            let file =
                ProgramFile { path: &path, files: &Disk, preprocessing: self.run.preprocessing };
            let compiled = selection::of(&path)
                .map_err(Failure::Message)
                .and_then(|language| language.compile(&file, target(switch)));
            match compiled {
                Ok(compiled) => {
                    self.console.warnings(&compiled.map, &compiled.warnings);
                    let Compiled { ready, map, mut setup, written, .. } = compiled;
                    let setup = (!setup.is_empty()).then(|| setup.swap_remove(0));
                    programs.insert(path, SwitchProgram { ready, map, setup, written });
                }
                Err(failure) => {
                    failure.print(self.console);
                    failed.push(path);
                }
            }
        }
        match failed.is_empty() {
            true => Ok(CompiledPrograms { programs, templates: Mutex::default() }),
            false => {
                let names: Vec<String> =
                    failed.iter().map(|path| format!("`{}`", path.display())).collect();
                let message = format!("not run: {} has errors", names.join(" and "));
                Err(Failure::Message(message))
            }
        }
    }

    fn options(
        &self,
        number: usize,
        switch: &Switch,
        compiled: &SwitchProgram,
        found: &mut Diagnostics,
    ) -> Result<DeviceOptions, Failure> {
        let built = match &switch.device {
            None => compiled.setup.as_ref().map(|setup| setup.options.clone()).unwrap_or_default(),
            Some(device) => {
                let path = self.locate(&device.value);
                let text = files::read_text(&path)?;
                let mut map = SourceMap::new();
                let file = map.add(path.display().to_string(), text.as_str());
                device::configuration::read(file, &text)
                    .map_err(|diagnostics| Failure::Found(map, diagnostics))?
            }
        };
        let engine = match switch.engine.as_ref().map(|engine| engine.value) {
            Some(Engine::Interpreter) => EngineChoice::Interpreter,
            Some(Engine::Jit) => EngineChoice::Jit,
            // `network_run` refuses the reference machine.
            Some(Engine::Reference) | None => match built.pass_timing {
                Some(_) => EngineChoice::Interpreter,
                None => self.run.engine,
            },
        };
        let is_of_switch =
            |event: &Event| event.subject == EventSubject::Node(Node::Switch(number));
        let traffic_manager =
            network_run::traffic_manager(self.network, number, &built.traffic_manager, found);
        Ok(DeviceOptions {
            seed: self.seed,
            device_id: number as u64,
            cpu_port: switch.cpu_port.as_ref().map(|port| port.value).or(built.cpu_port),
            engine,
            // A controller may change tables while packets wait, and a switch that fails loses what waits.
            plans_departures: switch.controller.is_none()
                && compiled.written.is_none()
                && self.run.live.is_none()
                && !self.network.events.iter().any(is_of_switch),
            traffic_manager,
            tap: self.run.views.timeline.is_some(),
            ..built
        })
    }

    /// Applies the entries of a switch's files, or the routes of a generated topology. Returns whether all are right; the
    /// errors of files have been printed.
    fn apply_entries(
        &self,
        (number, switch): (usize, &Switch),
        session: &mut Session,
        target: &mut dyn Target,
        programs: &CompiledPrograms,
        found: &mut Diagnostics,
    ) -> Result<bool, Failure> {
        let program = target.program();
        let setup = self
            .program_of(switch)
            .and_then(|path| programs.programs.get(&path))
            .and_then(|compiled| compiled.setup.as_ref());
        if let Some(setup) = setup {
            apply_text("deployment", &setup.commands, None, session, target, self.console);
        }
        let paths: Vec<PathBuf> =
            switch.entries.iter().map(|file| self.locate(&file.value)).collect();
        let applied = apply(&paths, None, session, target, self.console)?;
        if let (Some(generated), true) = (&switch.routes, paths.is_empty()) {
            match entries::commands(&program, number, generated) {
                Some(text) => {
                    let name = format!("routes of {}", switch.name);
                    let applied = apply_text(&name, &text, None, session, target, self.console);
                    return Ok(applied.is_some());
                }
                None => {
                    let span = switch.program.as_ref().map_or(switch.span, |one| one.span);
                    let name = &switch.name;
                    let message =
                        format!("the program of `{name}` has no table for the generated routes");
                    let help = "give the switches `entries`, or a program with a table of routes";
                    let error = Diagnostic::error(entries::NO_ROUTES_TABLE, span, message);
                    found.push(error.help(help));
                }
            }
        }
        Ok(applied.is_some())
    }
}

fn target(switch: &Switch) -> Option<&str> {
    switch.target.as_ref().map(|target| target.value.as_str())
}
