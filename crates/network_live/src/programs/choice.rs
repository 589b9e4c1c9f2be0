// SPDX-License-Identifier: Apache-2.0
//! Chooses a program with its arguments for each application, and refuses what programs and the kernel cannot do.

use super::{MISSING_PROGRAM, NOT_JUDGED, NOT_LIVE};
use crate::system::has_congestion_control;
use network_file::Located;
use network_file::model::{
    Amount, Application, ApplicationIndex, ApplicationKind, Arrivals, CongestionControl,
    DatagramSize, Destination, Metric, Network, Subject, TcpOptions, UdpRate,
};
use source::{Diagnostic, Diagnostics};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

const SECOND_PS: u64 = 1_000_000_000_000;
/// The port of iperf3's first server on a host whose file gives none.
const FIRST_PORT: u16 = 5201;
/// The longest block that iperf3 sends over TCP at once.
const BLOCK_BYTES: u64 = 131_072;

/// What a program is, for reading its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// `ping`; a reply after this time counts as lost.
    Ping { timeout_ps: u64 },
    /// `iperf3` over TCP; whether it sends a number of bytes.
    Tcp { is_sized: bool },
    /// A program of the user's.
    Command,
    /// `iperf3` over UDP; bytes of a datagram.
    Udp { size_bytes: u64 },
}

impl Program {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Program::Ping { .. } => "ping",
            Program::Command => "sh",
            Program::Tcp { .. } | Program::Udp { .. } => "iperf3",
        }
    }
}

/// A program that runs on a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    pub(crate) index: ApplicationIndex,
    pub(crate) program: Program,
    pub(crate) start_ps: u64,
    pub(crate) arguments: Vec<String>,
    pub(crate) destination: Option<IpAddr>,
    /// Host and port of its server.
    pub(crate) server: Option<(usize, u16)>,
}

/// Settings of hosts: the host, the path below /proc/sys/net, and the value.
pub(crate) type Setting = (usize, &'static str, &'static str);

/// The programs of all applications.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Programs, in the order of the file.
    pub programs: Vec<Chosen>,
    pub(crate) settings: Vec<Setting>,
}

/// Chooses programs for all applications. Conditions that they do not measure are taken out of the network, with a
/// warning.
pub fn choose(network: &mut Network, until_ps: Option<u64>, found: &mut Diagnostics) -> Choice {
    leave_out_unmeasured(network, found);
    let mut chooser =
        Chooser { network, until_ps, found, ports: BTreeMap::new(), choice: Choice::default() };
    let all = network.hosts.iter().enumerate().flat_map(|(host, described)| {
        let indexed = described.applications.iter().enumerate();
        indexed.map(move |(application, described)| {
            (ApplicationIndex { host, application }, described)
        })
    });
    let all: Vec<_> = all.collect();
    // Ports that the file names come first, so that no other server takes them.
    let (fixed, free): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, application)| port_of(&application.kind).is_some());
    for (index, application) in fixed.into_iter().chain(free) {
        chooser.add(index, application);
    }
    let mut choice = chooser.choice;
    choice.programs.sort_by_key(|program| program.index);
    missing_programs(network, &choice, found);
    choice
}

fn port_of(kind: &ApplicationKind) -> Option<u16> {
    match kind {
        ApplicationKind::Tcp { tcp, .. } => tcp.port,
        ApplicationKind::Udp { port, .. } => *port,
        _ => None,
    }
}

fn leave_out_unmeasured(network: &mut Network, found: &mut Diagnostics) {
    for expectation in &mut network.expectations {
        let is_of_program =
            matches!(expectation.subject, Subject::Applications(_) | Subject::Ping { .. });
        expectation.conditions.retain(|condition| {
            let is_measured = !(is_of_program && condition.metric == Metric::Timeouts);
            if !is_measured {
                let message = "NOT JUDGED: iperf3 does not report `timeouts`";
                let warning = Diagnostic::warning(NOT_JUDGED, condition.span, message);
                found.push(warning.help("run the file without --live to judge it"));
            }
            is_measured
        });
    }
}

fn missing_programs(network: &Network, choice: &Choice, found: &mut Diagnostics) {
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    for chosen in &choice.programs {
        let name = chosen.program.name();
        let is_there = *known.entry(name).or_insert_with(|| is_installed(name));
        if is_there {
            continue;
        }
        let application = &network.hosts[chosen.index.host].applications[chosen.index.application];
        let message = format!("application `{}` needs the program `{name}`", application.name);
        let package = if name == "ping" { "iputils-ping" } else { name };
        let help = format!("install it, on Debian and Ubuntu by `sudo apt-get install {package}`");
        found.push(Diagnostic::error(MISSING_PROGRAM, application.span, message).help(help));
        return;
    }
}

/// Whether the command path has a program.
pub fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

struct Chooser<'c> {
    network: &'c Network,
    until_ps: Option<u64>,
    found: &'c mut Diagnostics,
    /// Ports of servers that are taken, by host.
    ports: BTreeMap<usize, BTreeSet<u16>>,
    choice: Choice,
}

/// Seconds as programs take them.
fn seconds(time_ps: u64) -> String {
    format!("{:.6}", time_ps as f64 / SECOND_PS as f64)
}

impl Chooser<'_> {
    fn refuse(&mut self, application: &Application, why: &str, help: &str) {
        let message = format!("application `{}` cannot run live: {why}", application.name);
        self.found.push(Diagnostic::error(NOT_LIVE, application.span, message).help(help));
    }

    fn address(&self, from: usize, to: &Destination) -> Option<(IpAddr, Option<usize>)> {
        let hosts = &self.network.hosts;
        match to {
            Destination::Host(host) => Some((hosts[*host].address_for(&hosts[from])?, Some(*host))),
            Destination::Address(address) => {
                Some((*address, hosts.iter().position(|host| host.has_address(*address))))
            }
        }
    }

    fn add(&mut self, index: ApplicationIndex, application: &Application) {
        match &application.kind {
            ApplicationKind::Ping { to, count, interval_ps, size_bytes, timeout_ps, tos } => {
                for to in to {
                    let Some((destination, _)) = self.address(index.host, &to.value) else {
                        continue;
                    };
                    let words = [
                        "-n".to_string(),
                        "-c".to_string(),
                        count.to_string(),
                        "-i".to_string(),
                        seconds(*interval_ps),
                        "-s".to_string(),
                        size_bytes.to_string(),
                        "-W".to_string(),
                        seconds(*timeout_ps),
                        "-Q".to_string(),
                        tos.to_string(),
                        destination.to_string(),
                    ];
                    self.choice.programs.push(Chosen {
                        index,
                        program: Program::Ping { timeout_ps: *timeout_ps },
                        start_ps: application.start_ps,
                        arguments: words.to_vec(),
                        destination: Some(destination),
                        server: None,
                    });
                }
            }
            ApplicationKind::Tcp { to, amount, rate_bps, parallel, tcp } => {
                let Some(mut words) = self.tcp(index, application, tcp) else { return };
                words.extend(["-P".to_string(), parallel.to_string()]);
                let of_all = |bytes: u64| bytes.saturating_mul((*parallel).into());
                match amount {
                    Amount::Bytes(bytes) => {
                        let block = (*bytes).clamp(1, BLOCK_BYTES).to_string();
                        let bytes = of_all(*bytes).to_string();
                        words.extend(["-n".to_string(), bytes, "-l".to_string(), block]);
                        // iperf3 ends when its socket has the last byte. Without a limit a socket takes megabytes.
                        self.choice.settings.push((index.host, "ipv4/tcp_notsent_lowat", "16384"));
                    }
                    amount => words.extend(self.duration(application, amount)),
                }
                if let Some(rate_bps) = rate_bps {
                    words.extend(["-b".to_string(), rate_bps.to_string()]);
                }
                let program = Program::Tcp { is_sized: matches!(amount, Amount::Bytes(_)) };
                self.with_servers(index, application, to, (program, tcp.port), &words);
            }
            ApplicationKind::Udp { to, rate, size, amount, arrivals, port, source_port, tos } => {
                if *arrivals == Arrivals::Poisson {
                    let why = "iperf3 sends datagrams at equal distances only";
                    return self.refuse(application, why, "leave `arrivals: poisson` out");
                }
                let DatagramSize::Fixed(size_bytes) = size else {
                    let why = "iperf3 sends datagrams of one size only";
                    return self.refuse(application, why, "write one `size`, such as `size: 500B`");
                };
                let rate_bps = match rate {
                    UdpRate::Bits(rate) => *rate,
                    UdpRate::Datagrams(rate) => rate.saturating_mul(size_bytes * 8),
                };
                let mut words = vec![
                    "-u".to_string(),
                    "-b".to_string(),
                    rate_bps.to_string(),
                    "-l".to_string(),
                    size_bytes.to_string(),
                    "-S".to_string(),
                    tos.to_string(),
                ];
                match amount {
                    Amount::Count(count) => words.extend(["-k".to_string(), count.to_string()]),
                    Amount::Bytes(bytes) => words.extend(["-n".to_string(), bytes.to_string()]),
                    amount => words.extend(self.duration(application, amount)),
                }
                if let Some(source_port) = source_port {
                    words.extend(["--cport".to_string(), source_port.to_string()]);
                }
                let program = Program::Udp { size_bytes: *size_bytes };
                self.with_servers(index, application, to, (program, *port), &words);
            }
            ApplicationKind::Command { run } => self.choice.programs.push(Chosen {
                index,
                program: Program::Command,
                start_ps: application.start_ps,
                arguments: vec!["-c".to_string(), run.clone()],
                destination: None,
                server: None,
            }),
            other => {
                let why = format!("there is no program for `{}`", other.name());
                let help = "use ping, tcp, udp or command; or run the network with --no-applications, and programs of your own by \
                            `plane net exec`";
                self.refuse(application, &why, help);
            }
        }
    }

    /// iperf3 counts whole seconds.
    fn duration(&self, application: &Application, amount: &Amount) -> [String; 2] {
        let time_ps = match amount {
            Amount::Duration(time_ps) => *time_ps,
            _ => self
                .until_ps
                .map_or(10 * SECOND_PS, |until_ps| until_ps.saturating_sub(application.start_ps)),
        };
        ["-t".to_string(), time_ps.div_ceil(SECOND_PS).max(1).to_string()]
    }

    /// Options of TCP as arguments of iperf3; `None` if something has no counterpart.
    fn tcp(
        &mut self,
        index: ApplicationIndex,
        application: &Application,
        tcp: &TcpOptions,
    ) -> Option<Vec<String>> {
        let usual = TcpOptions::default();
        let fixed = [
            ("initial_window", tcp.initial_window != usual.initial_window),
            ("min_rto", tcp.min_rto_ps != usual.min_rto_ps),
            ("delayed_ack", tcp.delayed_ack != usual.delayed_ack),
            ("small_queue", tcp.has_small_queue != usual.has_small_queue),
        ];
        if let Some((name, _)) = fixed.into_iter().find(|(_, is_set)| *is_set) {
            let why = format!("iperf3 does not set `{name}`; it is the kernel's");
            self.refuse(application, &why, "leave the field out");
            return None;
        }
        let control = match tcp.control {
            CongestionControl::Reno | CongestionControl::LinuxReno => "reno",
            CongestionControl::Cubic => "cubic",
            CongestionControl::Dctcp => "dctcp",
        };
        if !has_congestion_control(control) {
            let why = format!("this kernel has no congestion control `{control}`");
            let help = format!("`modprobe tcp_{control}` loads it if the kernel has the module");
            self.refuse(application, &why, &help);
            return None;
        }
        if tcp.has_ecn {
            self.choice.settings.push((index.host, "ipv4/tcp_ecn", "1"));
        }
        if !tcp.has_sack {
            self.choice.settings.push((index.host, "ipv4/tcp_sack", "0"));
        }
        let mut words = vec!["-C".to_string(), control.to_string()];
        // Timestamps take 12 bytes of each segment beside the payload.
        words.extend(["-M".to_string(), (tcp.segment_bytes + 12).to_string()]);
        if tcp.window_bytes != usual.window_bytes {
            words.extend(["-w".to_string(), tcp.window_bytes.to_string()]);
        }
        words.extend(["-S".to_string(), tcp.tos.to_string()]);
        Some(words)
    }

    /// Adds a client for each destination, with a server of its own.
    fn with_servers(
        &mut self,
        index: ApplicationIndex,
        application: &Application,
        to: &[Located<Destination>],
        (program, port): (Program, Option<u16>),
        options: &[String],
    ) {
        for to in to {
            let Some((destination, host)) = self.address(index.host, &to.value) else { continue };
            let Some(host) = host else {
                let why =
                    format!("{destination} is no host of the network, so no iperf3 serves there");
                return self.refuse(application, &why, "name a host of the network");
            };
            let taken = self.ports.entry(host).or_default();
            let port = match port {
                Some(port) if taken.contains(&port) => {
                    let name = &self.network.hosts[host].name;
                    let why = format!(
                        "port {port} of `{name}` serves another flow, and an iperf3 serves one client"
                    );
                    return self.refuse(
                        application,
                        &why,
                        "leave `port` out, or give each its own",
                    );
                }
                Some(port) => port,
                None => {
                    let is_free = |port: &u16| !taken.contains(port);
                    (FIRST_PORT..u16::MAX).find(is_free).unwrap_or(FIRST_PORT)
                }
            };
            taken.insert(port);
            let mut arguments = vec![
                "-c".to_string(),
                destination.to_string(),
                "-p".to_string(),
                port.to_string(),
                "-J".to_string(),
                "--connect-timeout".to_string(),
                "5000".to_string(),
            ];
            arguments.extend_from_slice(options);
            self.choice.programs.push(Chosen {
                index,
                program,
                start_ps: application.start_ps,
                arguments,
                destination: Some(destination),
                server: Some((host, port)),
            });
        }
    }
}
