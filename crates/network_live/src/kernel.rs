// SPDX-License-Identifier: Apache-2.0
//! Makes the namespaces and interfaces of a plan with the `ip` command of iproute2, and removes them. `ip` has an exact
//! counterpart for each step, its namespaces have names under which `ip netns` finds them, and its messages name causes.

use crate::plan::{HOST_INTERFACE, HostPlan, PREFIX, Plan};
use crate::system::{
    Ending, FrameBuffers, PacketSocket, end_program, has_interface, in_namespace,
    namespace_of_path, turn_offloads_off,
};
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Where `ip netns` keeps the namespaces with names.
pub(crate) const NAMESPACES: &str = "/run/netns";
/// Between two looks for an interface that does not exist yet.
const APPEARANCE_TIME: Duration = Duration::from_millis(100);
/// How long programs in a namespace may take to end after SIGTERM.
const LEAVE_TIME: Duration = Duration::from_millis(500);

/// The file of a namespace.
pub fn namespace_path(name: &str) -> PathBuf {
    Path::new(NAMESPACES).join(name)
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    run("ip", arguments, "")
}

/// Runs a command with a text as its input.
fn run(program: &str, arguments: &[&str], input: &str) -> Result<(), String> {
    let started = Command::new(program)
        .args(arguments)
        .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!("the program `{program}` is missing: install iproute2"));
        }
        Err(error) => return Err(format!("cannot start `{program}`: {}", source::reason(&error))),
    };
    if let Some(mut to) = child.stdin.take() {
        // If the program ends early, its message says why.
        let _ = to.write_all(input.as_bytes());
    }
    let ended = child.wait_with_output().map_err(|error| source::reason(&error))?;
    if ended.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&ended.stderr);
    let first = errors.lines().next().unwrap_or("no reason given");
    Err(format!("`{program} {}`: {first}", arguments.join(" ")))
}

/// The interfaces of a network at work: a socket for each host, in the order of the file.
#[derive(Debug)]
pub struct Interfaces {
    /// The switches' ends.
    pub sockets: Vec<PacketSocket>,
}

/// Makes everything of a plan. After an error the caller removes what there is.
pub fn make(plan: &Plan) -> Result<Interfaces, String> {
    for namespace in plan.namespaces() {
        ip(&["netns", "add", namespace])?;
    }
    let mut links = String::new();
    for host in &plan.hosts {
        links.push_str(&format!(
            "link add {HOST_INTERFACE} address {} netns {} type veth peer name {} netns {}\n",
            host.mac, host.namespace, host.port, plan.switches
        ));
    }
    quiet(&plan.switches, &[("ipv6/conf/default/disable_ipv6", "1")])?;
    for host in &plan.hosts {
        quiet(&host.namespace, &host.settings)?;
    }
    run("ip", &["-batch", "-"], &links)?;
    let ports: String =
        plan.hosts.iter().map(|host| format!("link set {} up promisc on\n", host.port)).collect();
    if !ports.is_empty() {
        run("ip", &["-n", &plan.switches, "-batch", "-"], &ports)?;
    }
    let sockets = in_namespace(&namespace_path(&plan.switches), || {
        let open = |host: &HostPlan| {
            turn_offloads_off(&host.port)?;
            PacketSocket::open(&host.port)
        };
        plan.hosts.iter().map(open).collect::<io::Result<Vec<PacketSocket>>>()
    })
    .map_err(|error| {
        format!("cannot open the ports of the switches: {}", source::reason(&error))
    })?;
    for host in &plan.hosts {
        set_up(host)?;
    }
    // Hosts may have sent something before all were ready.
    let mut buffers = FrameBuffers::default();
    for socket in &sockets {
        while socket.receive(&mut buffers, drop).map_err(|error| source::reason(&error))? {}
    }
    Ok(Interfaces { sockets })
}

/// Opens interfaces that exist, or will soon, in this process's namespace.
pub fn open(
    names: &[String],
    interrupted: &AtomicBool,
    mut waits: impl FnMut(&str),
) -> Result<Option<Interfaces>, String> {
    let mut sockets = Vec::new();
    for name in names {
        let mut has_waited = false;
        while !has_interface(name) {
            if !has_waited {
                waits(name);
                has_waited = true;
            }
            if interrupted.load(Ordering::Relaxed) {
                return Ok(None);
            }
            std::thread::sleep(APPEARANCE_TIME);
        }
        ip(&["link", "set", name, "up", "promisc", "on"])?;
        let opened = turn_offloads_off(name).and_then(|()| PacketSocket::open(name));
        sockets.push(opened.map_err(|error| {
            format!("cannot open the interface `{name}`: {}", source::reason(&error))
        })?);
    }
    Ok(Some(Interfaces { sockets }))
}

/// Writes settings of a namespace.
fn quiet(namespace: &str, settings: &[(&str, &str)]) -> Result<(), String> {
    in_namespace(&namespace_path(namespace), || {
        for (name, value) in settings {
            let path = Path::new("/proc/sys/net").join(name);
            // A kernel without IPv6 has no such file.
            if path.exists() {
                std::fs::write(path, value)?;
            }
        }
        Ok(())
    })
    .map_err(|error| format!("cannot set up `{namespace}`: {}", source::reason(&error)))
}

fn set_up(host: &HostPlan) -> Result<(), String> {
    in_namespace(&namespace_path(&host.namespace), || turn_offloads_off(HOST_INTERFACE)).map_err(
        |error| {
            let why = source::reason(&error);
            format!("cannot turn off the offloads of host `{}`: {why}", host.name)
        },
    )?;
    let commands: String = host.commands.iter().map(|command| format!("{command}\n")).collect();
    run("ip", &["-n", &host.namespace, "-batch", "-"], &commands)
        .map_err(|error| format!("cannot set up host `{}`: {error}", host.name))?;
    if let Some(rate_bps) = host.rate_bps.filter(|rate| *rate > 0) {
        // A queue of the kernel before the link slows a host's TCP down before frames are lost, as a network card does.
        // Without this queueing discipline frames wait, and are lost, in the network's own queue of the host.
        let burst = (rate_bps / 8 / 1_000).max(3_028).to_string();
        let rate = format!("{rate_bps}bit");
        let namespace = &host.namespace;
        let words = [
            "-n",
            namespace,
            "qdisc",
            "replace",
            "dev",
            HOST_INTERFACE,
            "root",
            "tbf",
            "rate",
            &rate,
            "burst",
            &burst,
            "limit",
            "1514000",
        ];
        let _ = run("tc", &words, "");
    }
    Ok(())
}

/// The programs in these namespaces, by their process.
pub fn programs_in(namespaces: &[String]) -> Vec<u32> {
    let numbers: BTreeSet<(u64, u64)> =
        namespaces.iter().filter_map(|name| namespace_of_path(&namespace_path(name))).collect();
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|process| {
            let namespace = PathBuf::from(format!("/proc/{process}/ns/net"));
            *process != own
                && namespace_of_path(&namespace).is_some_and(|number| numbers.contains(&number))
        })
        .collect()
}

/// Ends the programs in namespaces, removes these, and with them their interfaces. Returns the reasons for those that
/// are left.
pub fn remove(namespaces: &[String]) -> Vec<String> {
    let until = Instant::now() + LEAVE_TIME;
    let mut programs = programs_in(namespaces);
    programs.iter().for_each(|program| end_program(*program, Ending::Asked));
    while !programs.is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
        programs = programs_in(namespaces);
    }
    programs.iter().for_each(|program| end_program(*program, Ending::Forced));
    let exists = |name: &&String| namespace_path(name).exists();
    namespaces
        .iter()
        .filter(exists)
        .filter_map(|name| ip(&["netns", "delete", name]).err())
        .collect()
}

/// All namespaces of live networks, also of crashed ones.
pub fn all_namespaces() -> Vec<String> {
    let entries = std::fs::read_dir(NAMESPACES).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(PREFIX)).collect();
    names.sort();
    names
}
