// SPDX-License-Identifier: Apache-2.0
//! Live networks of users who are not root: the command runs again in a user namespace, in which it has the rights of
//! root over network namespaces of its own. `exec` and `pingall` run again in the network's.

use crate::kernel;
use crate::state::{FOLDER_VARIABLE, Record, folder};
use crate::system::{is_root, mount_empty};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Set in the process that runs again.
const IS_WITHIN: &str = "PLANEWRIGHT_USER_NAMESPACE";
const ADVICE: &str = "Run the command with sudo, or let users make user namespaces (`sysctl kernel.unprivileged_userns_clone=1` or \
                      `kernel.apparmor_restrict_unprivileged_userns=0`, by your system)";

/// Returns if this process has the rights that a live network needs. Else replaces the process by one that has them, with
/// these arguments.
///
/// # Errors
///
/// The kernel gives the user no such rights; the message says what to do.
pub fn enter(arguments: &[OsString]) -> Result<(), String> {
    if is_root() {
        return match std::env::var_os(IS_WITHIN) {
            // Names of namespaces are files there. Only root can make the folder if there is none.
            Some(_) => {
                let names = Path::new(kernel::NAMESPACES);
                mount_empty(if names.exists() { names } else { Path::new("/run") })
                    .map_err(|error| format!("cannot mount /run: {}", source::reason(&error)))
            }
            None => Ok(()),
        };
    }
    let unshare = ["--user", "--map-root-user", "--net", "--mount"];
    let mut probe = Command::new("unshare");
    probe.args(unshare).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        return Err(format!(
            "a live network needs the rights of root, or a user namespace, which this system refuses. {ADVICE}"
        ));
    }
    let mut command = Command::new("unshare");
    command.args(unshare);
    Err(again(command, arguments))
}

/// Returns if this process can enter the namespaces of a live network. Else replaces it by one that can.
///
/// # Errors
///
/// The network is another user's.
pub fn join(record: &Record, arguments: &[OsString]) -> Result<(), String> {
    if is_root() {
        return Ok(());
    }
    let mut command = Command::new("nsenter");
    let process = record.process.to_string();
    command.args(["-t", &process, "--user", "--mount", "--preserve-credentials", "--wd=."]);
    Err(again(command, arguments))
}

/// Replaces this process by the command with `plane` and its arguments. Returns only if that fails, with the reason.
fn again(mut command: Command, arguments: &[OsString]) -> String {
    let plane = match std::env::current_exe() {
        Ok(plane) => plane,
        Err(error) => return format!("cannot find `plane`: {}", source::reason(&error)),
    };
    command.env(FOLDER_VARIABLE, folder()).env(IS_WITHIN, "1");
    let error = command.arg(plane).args(arguments).exec();
    let name = command.get_program().to_string_lossy().into_owned();
    format!("cannot start `{name}` of util-linux: {}", source::reason(&error))
}
