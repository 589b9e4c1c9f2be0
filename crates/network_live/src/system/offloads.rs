// SPDX-License-Identifier: Apache-2.0
//! Turns off what interfaces leave to hardware: checksums, segmentation and the joining of received segments. With them a
//! virtual interface hands on packets whose checksums are missing, and segments of 64 KB.
#![allow(unsafe_code, reason = "ioctl has no safe function in the libraries in use")]

use rustix::net::{AddressFamily, SocketType, socket};
use std::io;
use std::os::fd::AsRawFd;

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Commands of linux/ethtool.h that switch a feature on or off, in the order in which features need each other.
const COMMANDS: [u32; 7] = [
    0x1f, // TCP segmentation (STSO)
    0x24, // generic segmentation (SGSO)
    0x22, // UDP fragmentation (SUFO)
    0x2c, // joining of received segments (SGRO)
    0x26, // VLAN tags and receive hashing beside the packet (SFLAGS)
    0x17, // checksums of sent packets (STXCSUM)
    0x15, // checksums of received packets (SRXCSUM)
];

/// Turns them off at an interface of this thread's network namespace. Features that it does not have count as off.
pub fn turn_offloads_off(interface: &str) -> io::Result<()> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    for command in COMMANDS {
        let mut value = EthtoolValue { command, data: 0 };
        // SAFETY: zero is a value of all fields of `ifreq`.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        // The last byte stays 0.
        let length = request.ifr_name.len() - 1;
        if interface.len() > length {
            return Err(io::Error::other(format!(
                "`{interface}` is longer than an interface's name"
            )));
        }
        for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // SAFETY: the request names the interface, and its data is an `ethtool_value`, as these commands need; both live
        // until the call returns.
        let done =
            unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
        if done < 0 {
            let error = io::Error::last_os_error();
            let is_absent = matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EINVAL));
            if !is_absent {
                return Err(error);
            }
        }
    }
    Ok(())
}
