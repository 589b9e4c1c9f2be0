// SPDX-License-Identifier: Apache-2.0
//! The options of runs with reactions (`.p4r`), and those of `plane react`.

use clap::{Args, Subcommand, ValueEnum};
use frontend::{ControllerOptions, Driver, ReloadRequest};
use std::path::PathBuf;
use std::time::Duration;
use toolchain::reactions::TimedReload;

/// How reactions run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Only for P4R programs")]
pub struct ReactionOptions {
    /// How long a call of a reaction may take, by the clock.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = watchdog)]
    pub watchdog: Watchdog,
    /// The costs of the driver between agent and switch.
    #[arg(long, value_enum, value_name = "DRIVER", default_value_t = DriverName::Simulated)]
    pub driver: DriverName,
    /// The costs of a simulated driver [default: those of the device file, or those that fit the Mantis paper].
    #[arg(long, value_name = "FILE.toml")]
    pub driver_model: Option<PathBuf>,
    /// Run reactions in this process instead of one of their own: calls are faster, and a crash ends the command.
    #[arg(long)]
    pub in_process: bool,
    /// Run `init` and the first dialogue this long after the start, with the costs of the driver; at 0 `init` precedes the
    /// first packet and costs nothing.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = source::quantity::duration_ps)]
    pub boot_time: u64,
}

/// The limit of a call.
#[derive(Clone, Copy, Debug)]
pub struct Watchdog(pub Duration);

impl Default for Watchdog {
    fn default() -> Watchdog {
        Watchdog(Duration::from_secs(1))
    }
}

/// Drivers.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum DriverName {
    /// The costs of the device file, or those of a switch chip: runs repeat.
    #[default]
    Simulated,
    /// No costs but the time that this machine needs: runs do not repeat.
    InProcess,
}

impl ReactionOptions {
    /// Returns the options of controllers, beside a live switch with the share of a processor.
    pub fn options(&self, live_share: Option<f64>) -> ControllerOptions {
        ControllerOptions {
            watchdog: Some(self.watchdog.0),
            in_process: self.in_process,
            driver: match self.driver {
                DriverName::Simulated => Driver::Simulated,
                DriverName::InProcess => Driver::InProcess,
            },
            boot_ps: self.boot_time,
            live_share,
            records: false,
        }
    }
}

fn watchdog(text: &str) -> Result<Watchdog, String> {
    match source::quantity::duration_ps(text)? / 1000 {
        0 => Err("a limit is at least 1ns".to_string()),
        nanoseconds => Ok(Watchdog(Duration::from_nanos(nanoseconds))),
    }
}

/// Parses `TIME=FILE.p4r[,init][,fresh]`.
pub fn timed_reload(text: &str) -> Result<TimedReload, String> {
    let form = "write TIME=FILE.p4r, such as 5ms=new.p4r, and `,init` or `,fresh` behind it";
    let (time, file) = text.split_once('=').ok_or(form)?;
    let at_ps = source::quantity::duration_ps(time)?;
    let mut request = ReloadRequest { at_ps, ..ReloadRequest::default() };
    let mut file = file;
    while let Some((before, word)) = file.rsplit_once(',') {
        match word {
            "init" => request.runs_init = true,
            "fresh" => request.is_fresh = true,
            _ => break,
        }
        file = before;
    }
    match file.is_empty() {
        true => Err(form.to_string()),
        false => Ok(TimedReload { file: PathBuf::from(file), request }),
    }
}

/// Parses a share of a processor, such as `20%`.
pub fn share(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let is_possible = |percent: &f64| (1.0..=100.0).contains(percent);
    let percent = number.filter(is_possible);
    percent.map(|percent| percent / 100.0).ok_or("write a share from 1% to 100%".to_string())
}

/// Arguments of `plane react`.
#[derive(Debug, Args)]
pub struct React {
    #[command(subcommand)]
    pub command: ReactCommand,
}

/// What `plane react` does.
#[derive(Debug, Subcommand)]
pub enum ReactCommand {
    /// Give switches of a live network the reactions that their program files have now.
    #[command(after_help = "Example:\n  plane react reload --init\n\n\
        Only the C, rates and costs of reactions can change. SIGHUP to the running command does the same, without `init`.")]
    Reload(Reload),
}

/// Arguments of `plane react reload`.
#[derive(Debug, Args)]
pub struct Reload {
    /// The live network, if several are running.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The switch; without it all with reactions.
    #[arg(long, value_name = "SWITCH")]
    pub switch: Option<String>,
    /// Run the `init` of the new program.
    #[arg(long)]
    pub init: bool,
    /// Give `state` variables their initial values instead of those that they have.
    #[arg(long)]
    pub fresh: bool,
}
