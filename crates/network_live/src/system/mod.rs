// SPDX-License-Identifier: Apache-2.0
//! What only Linux has: network namespaces, packet sockets, offloads of interfaces. The only module of this crate with
//! `unsafe`.

mod namespace;
mod offloads;
mod packet_socket;
mod realtime;
#[cfg(test)]
mod tests;

pub use namespace::{in_namespace, namespace_of_path};
pub use offloads::turn_offloads_off;
pub use packet_socket::{FrameBuffers, PacketSocket, Received, has_interface};
pub use realtime::run_in_real_time;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::MountFlags;
use rustix::net::{AddressFamily, SocketType, socket, sockopt};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// Waits until a socket has frames, or for this time. Returns which sockets have some.
pub fn wait<'s>(sockets: impl Iterator<Item = &'s PacketSocket>, time: Duration) -> Vec<bool> {
    let sockets: Vec<&PacketSocket> = sockets.collect();
    let mut waiting: Vec<PollFd<'_>> = sockets
        .iter()
        .map(|socket| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN))
        .collect();
    let time = Timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    // An interrupted call counts as one without frames: the caller waits again.
    let _ = poll(&mut waiting, Some(&time));
    waiting.iter().map(|one| !one.revents().is_empty()).collect()
}

/// How a program is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As by Ctrl-C (SIGINT): programs that measure report what they have.
    Interrupted,
    /// SIGTERM.
    Asked,
    /// SIGKILL.
    Forced,
}

/// Ends a program that leads a group of its own, and the programs that it has started.
pub fn end_group(process: u32, ending: Ending) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(process, signal(ending));
    }
}

fn signal(ending: Ending) -> Signal {
    match ending {
        Ending::Interrupted => Signal::INT,
        Ending::Asked => Signal::TERM,
        Ending::Forced => Signal::KILL,
    }
}

/// Ends a program. One that has ended already stays so.
pub fn end_program(process: u32, ending: Ending) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = kill_process(process, signal(ending));
    }
}

/// Whether this process has the rights of root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Mounts an empty folder at a path.
pub fn mount_empty(path: &Path) -> io::Result<()> {
    rustix::mount::mount(c"tmpfs", path, c"tmpfs", MountFlags::empty(), c"mode=0755")?;
    Ok(())
}

/// The number of the user.
pub fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Whether the kernel has a congestion control algorithm; it loads the module if there is one.
pub fn has_congestion_control(name: &str) -> bool {
    socket(AddressFamily::INET, SocketType::STREAM, None)
        .and_then(|socket| sockopt::set_tcp_congestion(&socket, name))
        .is_ok()
}

/// Lets the kernel wake this thread within a microsecond of the time that it asks for; without this call it may take 50.
pub fn wake_on_time() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1_000));
}
