// SPDX-License-Identifier: Apache-2.0
//! [`PacketSocket`]: all Ethernet frames of an interface, in and out, many a call. VLAN tags, which the kernel takes out of
//! received frames, are put back.
#![allow(
    unsafe_code,
    reason = "recvmmsg with control messages has no safe function in the libraries in use"
)]

use libc::{c_int, c_uint, c_void, iovec, mmsghdr, sockaddr_ll, tpacket_auxdata, tpacket_stats};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Frames of one call.
const BATCH: usize = 32;
/// The longest frame: an IP packet of 64 KB with its Ethernet header and VLAN tags.
const LONGEST_BYTES: usize = 65_536 + 64;
/// Room for frames that wait in the kernel.
const RECEIVE_BUFFER_BYTES: c_int = 8 << 20;
/// Room for a control message with `tpacket_auxdata`.
const CONTROL_BYTES: usize = 64;
/// The place of a VLAN tag: behind both addresses.
const TAG_AT: usize = 12;

/// A received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its bytes, without the check sequence.
    pub bytes: Vec<u8>,
    /// Whether the sender left a checksum to its hardware, so that it is not complete.
    pub lacks_checksum: bool,
}

/// Memory for received frames; sockets share it.
pub struct FrameBuffers {
    bytes: Vec<u8>,
    control: Vec<[u64; CONTROL_BYTES / 8]>,
}

impl Default for FrameBuffers {
    fn default() -> FrameBuffers {
        FrameBuffers {
            bytes: vec![0; BATCH * LONGEST_BYTES],
            control: vec![[0; CONTROL_BYTES / 8]; BATCH],
        }
    }
}

/// A socket for the frames of one interface.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Whether this thread's network namespace has an interface.
pub fn has_interface(name: &str) -> bool {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    socket.is_ok_and(|socket| netdevice::name_to_index(socket, name).is_ok())
}

impl PacketSocket {
    /// Opens one at an interface of this thread's network namespace.
    pub fn open(interface: &str) -> io::Result<PacketSocket> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        // Without a protocol nothing arrives until the socket is bound, so no frame of another interface does.
        let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
        let index = netdevice::name_to_index(&socket, interface)?;
        let socket = PacketSocket { socket };
        socket.set(libc::PACKET_AUXDATA, 1)?;
        // Kernels before 4.20 do not have it; `receive` tests the direction of each frame.
        let _ = socket.set(libc::PACKET_IGNORE_OUTGOING, 1);
        let _ = socket.set(libc::PACKET_QDISC_BYPASS, 1);
        socket.set_receive_buffer();
        socket.bind(index)?;
        Ok(socket)
    }

    fn set(&self, option: c_int, value: c_int) -> io::Result<()> {
        // SAFETY: the option's value is an int, which lives until the call returns.
        let set = unsafe {
            libc::setsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                option,
                (&raw const value).cast::<c_void>(),
                size_of::<c_int>() as libc::socklen_t,
            )
        };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Beyond the limit for all users where the rights allow it.
    fn set_receive_buffer(&self) {
        use rustix::net::sockopt;
        let bytes = RECEIVE_BUFFER_BYTES as usize;
        if sockopt::set_socket_recv_buffer_size_force(&self.socket, bytes).is_err() {
            let _ = sockopt::set_socket_recv_buffer_size(&self.socket, bytes);
        }
    }

    fn bind(&self, index: u32) -> io::Result<()> {
        // SAFETY: zero is a value of all fields.
        let mut address: sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index as i32;
        // SAFETY: the address is a `sockaddr_ll` of the given length.
        let bound = unsafe {
            libc::bind(
                self.socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<sockaddr_ll>() as libc::socklen_t,
            )
        };
        if bound < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Takes waiting frames, at most one batch. Returns whether there may be more.
    pub fn receive(
        &self,
        buffers: &mut FrameBuffers,
        mut take: impl FnMut(Received),
    ) -> io::Result<bool> {
        // SAFETY: zero is a value of all fields.
        let mut sources: [sockaddr_ll; BATCH] = unsafe { zeroed() };
        let mut vectors: [iovec; BATCH] = std::array::from_fn(|at| iovec {
            iov_base: buffers.bytes[at * LONGEST_BYTES..].as_mut_ptr().cast(),
            iov_len: LONGEST_BYTES,
        });
        // SAFETY: zero is a value of all fields.
        let mut messages: [mmsghdr; BATCH] = unsafe { zeroed() };
        for (at, message) in messages.iter_mut().enumerate() {
            let header = &mut message.msg_hdr;
            header.msg_name = (&raw mut sources[at]).cast();
            header.msg_namelen = size_of::<sockaddr_ll>() as libc::socklen_t;
            header.msg_iov = &raw mut vectors[at];
            header.msg_iovlen = 1;
            header.msg_control = buffers.control[at].as_mut_ptr().cast();
            header.msg_controllen = CONTROL_BYTES as _;
        }
        // SAFETY: each message has a vector with its own part of the buffer, room for the address and for control
        // messages; all live until the call returns.
        let count = unsafe {
            libc::recvmmsg(
                self.socket.as_raw_fd(),
                messages.as_mut_ptr(),
                BATCH as c_uint,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        };
        if count < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(false),
                // The interface is down; frames come when it is up again.
                _ if error.raw_os_error() == Some(libc::ENETDOWN) => Ok(false),
                _ => Err(error),
            };
        }
        let count = count as usize;
        for (at, message) in messages.iter().take(count).enumerate() {
            if sources[at].sll_pkttype == libc::PACKET_OUTGOING {
                continue;
            }
            let length = (message.msg_len as usize).min(LONGEST_BYTES);
            let begin = at * LONGEST_BYTES;
            let mut bytes = buffers.bytes[begin..begin + length].to_vec();
            let auxiliary = auxiliary(&message.msg_hdr);
            if let Some(tag) = auxiliary.as_ref().and_then(vlan_tag).filter(|_| length >= TAG_AT) {
                bytes.splice(TAG_AT..TAG_AT, tag);
            }
            let lacks_checksum =
                auxiliary.is_some_and(|data| data.tp_status & libc::TP_STATUS_CSUMNOTREADY != 0);
            take(Received { bytes, lacks_checksum });
        }
        Ok(count == BATCH)
    }

    /// Sends frames. Returns how many the interface took; the others are lost.
    pub fn send<'f>(&self, frames: impl Iterator<Item = &'f [u8]>) -> usize {
        let mut vectors: Vec<iovec> = frames
            .map(|frame| iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() })
            .collect();
        let mut sent = 0;
        for vectors in vectors.chunks_mut(BATCH) {
            // SAFETY: zero is a value of all fields.
            let mut messages: [mmsghdr; BATCH] = unsafe { zeroed() };
            for (message, vector) in messages.iter_mut().zip(vectors.iter_mut()) {
                message.msg_hdr.msg_iov = &raw mut *vector;
                message.msg_hdr.msg_iovlen = 1;
            }
            let mut begin = 0;
            while begin < vectors.len() {
                // SAFETY: each of these messages has a vector with a frame, which the kernel only reads.
                let count = unsafe {
                    libc::sendmmsg(
                        self.socket.as_raw_fd(),
                        messages[begin..].as_mut_ptr(),
                        (vectors.len() - begin) as c_uint,
                        libc::MSG_DONTWAIT as _,
                    )
                };
                // A frame that the interface does not take is lost; the next one may be taken.
                sent += usize::try_from(count).unwrap_or(0);
                begin += usize::try_from(count).map_or(1, |count| count.max(1));
            }
        }
        sent
    }

    /// Returns how many frames found no room in the kernel since the last call.
    pub fn take_drops(&self) -> u64 {
        let mut counts = tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of::<tpacket_stats>() as libc::socklen_t;
        // SAFETY: the option's value is a `tpacket_stats` of the given length.
        let got = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast::<c_void>(),
                &raw mut length,
            )
        };
        if got < 0 { 0 } else { counts.tp_drops.into() }
    }
}

/// What the kernel says beside a received frame.
fn auxiliary(header: &libc::msghdr) -> Option<tpacket_auxdata> {
    // SAFETY: the kernel has written the control messages and their length.
    let mut control = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !control.is_null() {
        // SAFETY: the pointer is that of a control message within the buffer.
        let (level, kind, length) =
            unsafe { ((*control).cmsg_level, (*control).cmsg_type, (*control).cmsg_len) };
        // SAFETY: the function only computes with the length.
        let needed = unsafe { libc::CMSG_LEN(size_of::<tpacket_auxdata>() as c_uint) };
        if (level, kind) == (libc::SOL_PACKET, libc::PACKET_AUXDATA) && length >= needed as _ {
            // SAFETY: the message's data is a `tpacket_auxdata`, perhaps not aligned.
            return Some(unsafe {
                libc::CMSG_DATA(control).cast::<tpacket_auxdata>().read_unaligned()
            });
        }
        // SAFETY: both pointers are those that the kernel filled.
        control = unsafe { libc::CMSG_NXTHDR(header, control) };
    }
    None
}

/// The VLAN tag that the kernel took out of a frame.
fn vlan_tag(data: &tpacket_auxdata) -> Option<[u8; 4]> {
    if data.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let protocol = match data.tp_status & libc::TP_STATUS_VLAN_TPID_VALID {
        0 => 0x8100,
        _ => data.tp_vlan_tpid,
    };
    let ([p0, p1], [t0, t1]) = (protocol.to_be_bytes(), data.tp_vlan_tci.to_be_bytes());
    Some([p0, p1, t0, t1])
}
