// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: compiles a Lucid program to P4_16 and writes it with what the control plane has to set
//! up at each switch. What is written there is the compiler's.

use super::inputs::{Trouble, Wanted, ready, symbolics_beside};
use crate::arguments::{Emit, EmitClock, EmitDelay, EmitRecirculation, EmitTarget};
use crate::{Ending, files, output};
use lucid::compile::deploy::{self, Site};
use lucid::compile::normal::AfterPass;
use lucid::compile::{
    self, Clock, Compiled, Delay, Options, Recirculation, Target, UserP4, atomic, normal,
};
use lucid::core::Program;
use lucid::simulation::Setup;
use source::{Diagnostics, SourceMap};
use std::path::Path;
use std::sync::Arc;

/// A program with its sources, and the run that it is compiled for, if there is one.
struct Source {
    map: SourceMap,
    program: Arc<Program>,
    setup: Option<Arc<Setup>>,
}

/// Does it. Warnings are left out when `quiet`.
pub fn run(arguments: &Emit, quiet: bool) -> Ending {
    let is_v1model = arguments.target == EmitTarget::V1model;
    for (flag, given) in [
        ("--bmv2", arguments.bmv2),
        ("--clock us", arguments.clock == EmitClock::Us),
        ("--recirculation primitive", arguments.recirculation == EmitRecirculation::Primitive),
    ] {
        if given && !is_v1model {
            output::error(&format!("{flag} is for --target v1model"));
            return Ending::WrongUsage;
        }
    }
    match emit(arguments, quiet) {
        Ok(()) => Ending::Fine,
        Err(trouble) => {
            trouble.print();
            Ending::WrongInput
        }
    }
}

fn emit(arguments: &Emit, quiet: bool) -> Result<(), Trouble> {
    let Source { map, program, setup } = source(arguments, quiet)?;
    if let Some(wanted) = &arguments.after {
        return after(wanted, map, &program);
    }
    let options = options(arguments)?;
    let options = match &setup {
        Some(setup) => setup.port_options(options),
        None => options,
    };
    let compiled = compile::compile(&program, &map, &options);
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(problems) => return Err(Trouble::Found(with_user_p4(map, &options), problems)),
    };
    if !quiet {
        output::diagnostics(&compiled.built.map, &compiled.warnings);
        output::diagnostics(&compiled.built.map, &compiled.built.warnings);
    }
    let text = compiled.built.print();
    let Some(folder) = &arguments.output else {
        output::print(&text);
        return Ok(());
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make the folder `{}`: {error}", folder.display()))?;
    let stem =
        arguments.program.file_stem().map_or("program".into(), |stem| stem.to_string_lossy());
    write(folder, &format!("{stem}.p4"), &text)?;
    let sites = match &setup {
        Some(setup) => (0..setup.switches()).map(|switch| Site::of(setup, switch)).collect(),
        None => vec![alone(&options, &program)],
    };
    for site in &sites {
        let number = site.switch;
        let commands = deploy::commands(&compiled, &program, site);
        write(folder, &format!("commands-{number}.txt"), &commands)?;
        write(folder, &format!("device-{number}.toml"), &deploy::device_file(&compiled, site))?;
        if options.target == Target::Tna {
            let script = compile::tna::script::script(&compiled, &program, site, &stem);
            write(folder, &format!("bfrt-{number}.py"), &script)?;
        }
    }
    write(folder, "README.md", &readme(&stem, &compiled, sites.len()))?;
    if !quiet {
        let each = if options.target == Target::Tna { 3 } else { 2 };
        output::note(&format!("{} files in {}", each * sites.len() + 2, folder.display()));
    }
    Ok(())
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Trouble> {
    files::write_text(&folder.join(name), text).map_err(Trouble::Message)
}

/// The program, and its run if one is named.
fn source(arguments: &Emit, quiet: bool) -> Result<Source, Trouble> {
    let path = &arguments.program;
    if let Some(specification) = &arguments.spec {
        let wanted =
            Wanted { program: Some(path), specification: Some(specification), ..Wanted::default() };
        let ready = ready(&wanted, quiet)?;
        let program = ready.setup.program().clone();
        return Ok(Source { map: ready.map, program, setup: Some(ready.setup) });
    }
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let mut found = Diagnostics::new();
    let Some(symbolics) = symbolics_beside(&mut map, path, &mut found)? else {
        return Err(Trouble::Found(map, found));
    };
    let name = path.display().to_string();
    let analysis = lucid::front::analyse(&mut map, &name, text, &files::DiskLoader);
    match analysis.elaborate(&symbolics, &[]) {
        Ok(program) => {
            if !quiet {
                output::diagnostics(&map, &analysis.diagnostics);
            }
            Ok(Source { map, program: Arc::new(program), setup: None })
        }
        Err(problems) => Err(Trouble::Found(map, problems)),
    }
}

fn options(arguments: &Emit) -> Result<Options, Trouble> {
    let user = |path: &Option<std::path::PathBuf>| {
        path.as_ref()
            .map(|path| {
                let text = files::read_text(path)?;
                let (name, reading) = (path.display().to_string(), arguments.reading.options());
                Ok(UserP4::read(&name, &text, &reading, &files::DiskLoader))
            })
            .transpose()
            .map_err(Trouble::Message)
    };
    let mut options = Options {
        target: match arguments.target {
            EmitTarget::V1model => Target::V1Model,
            EmitTarget::Tna => Target::Tna,
        },
        delay: match arguments.delay {
            EmitDelay::Queue => Delay::Queue,
            EmitDelay::Recirculation => Delay::Recirculation,
        },
        clock: match arguments.clock {
            EmitClock::Ns => Clock::Nanoseconds,
            EmitClock::Us => Clock::Microseconds,
        },
        recirculation: match arguments.recirculation {
            EmitRecirculation::Port => Recirculation::Port,
            EmitRecirculation::Primitive => Recirculation::Primitive,
        },
        before: user(&arguments.p4_before)?,
        after: user(&arguments.p4_after)?,
        ..Options::default()
    };
    if arguments.bmv2 {
        options.delay = Delay::Recirculation;
        options.clock = Clock::Microseconds;
        options.recirculation = Recirculation::Primitive;
    }
    Ok(options)
}

/// With the user's P4 among the sources.
fn with_user_p4(mut map: SourceMap, options: &Options) -> SourceMap {
    compile::v1model::add_files(&mut map, options);
    map
}

/// One switch without links.
fn alone(options: &Options, program: &Program) -> Site {
    let zero = |ty| match ty {
        lucid::core::Type::Bool => lucid::interpreter::Value::Bool(false),
        _ => lucid::interpreter::Value::Int(0),
    };
    Site {
        recirculation_port: options.recirculation_port,
        externs: program.externs.iter().map(|one| zero(one.ty)).collect(),
        ..Site::default()
    }
}

/// Prints what a pass made.
fn after(wanted: &str, map: SourceMap, program: &Program) -> Result<(), Trouble> {
    let mut passes: Vec<AfterPass> = normal::after_passes(program);
    // Those to the normal form can be shown of programs that no pipeline can run.
    match atomic::after_passes(&normal::normalize(program)) {
        Ok(more) => passes.extend(more),
        Err(problems) if !passes.iter().any(|pass| pass.name == wanted) => {
            return Err(Trouble::Found(map, problems));
        }
        Err(_) => {}
    }
    if wanted == "list" {
        let lines: Vec<String> =
            passes.iter().map(|pass| format!("{:16} {}\n", pass.name, pass.description)).collect();
        output::print(&lines.concat());
        return Ok(());
    }
    match passes.iter().find(|pass| pass.name == wanted) {
        Some(pass) => {
            output::print(&pass.text);
            Ok(())
        }
        None => {
            let names: Vec<&str> = passes.iter().map(|pass| pass.name).collect();
            let message =
                format!("there is no pass `{wanted}`: the passes are {}", names.join(", "));
            Err(Trouble::Message(message))
        }
    }
}

fn readme(stem: &str, compiled: &Compiled, switches: usize) -> String {
    let port = compiled.options.recirculation_port;
    let mut text =
        format!("# {stem}\n\nMade by `plane emit`.\n\n| file | what it is |\n| --- | --- |\n");
    text.push_str(&format!("| {stem}.p4 | the program, the same at every switch |\n"));
    text.push_str(
        "| commands-N.txt | what the control plane of switch N sets up before the first packet |\n",
    );
    text.push_str("| device-N.toml | how a device of Planewright is built for switch N |\n\n");
    text.push_str(&format!("There are {switches} switches.\n\n"));
    match (compiled.options.target, compiled.options.recirculation) {
        (Target::V1Model, Recirculation::Primitive) => text.push_str(&format!(
            "On BMv2: `p4c-bm2-ss {stem}.p4 -o {stem}.json`, start `simple_switch` with it, and hand \
             commands-N.txt to `simple_switch_CLI`. Time stamps are microseconds; port {port} is only \
             a number: packets to it are recirculated.\n"
        )),
        (Target::V1Model, Recirculation::Port) => text.push_str(&format!(
            "With Planewright: `plane run {stem}.dpt` does all of this by itself. To run the P4_16 \
             program, `plane run {stem}.p4 --entries commands-0.txt` with the device file: packets that \
             leave by port {port} come back by it. For BMv2, whose ports all lead outside, compile with \
             `--bmv2`.\n"
        )),
        (Target::Tna, _) => text.push_str(
            "With Planewright: `plane run` takes the program with commands and device file. For a \
             Tofino, compile the program for its native architecture and run bfrt-N.py in the shell of \
             switch N: it sets up multicast groups, routes, the recirculation port and the packet \
             generator. The script was not tested on hardware.\n",
        ),
    }
    text
}
