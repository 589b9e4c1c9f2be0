// SPDX-License-Identifier: Apache-2.0
//! Link types: the numbers by which pcap and pcapng say how a packet's first header is to be read.
//! The names are those of the registry at tcpdump.org; only those a user is likely to meet are here.

use std::fmt;

/// A link type number of pcap and pcapng (`LINKTYPE_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Ethernet, the one a switch's port carries.
    pub const ETHERNET: LinkType = LinkType(1);

    /// The registered name without its prefix, where this table has it.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "NULL (BSD loopback)",
            1 => "ETHERNET",
            6 => "IEEE802_5 (token ring)",
            9 => "PPP",
            10 => "FDDI",
            12 | 14 | 101 => "RAW (IP without a link header)",
            50 => "PPP_HDLC",
            51 => "PPP_ETHER",
            104 => "C_HDLC",
            105 => "IEEE802_11 (wireless)",
            107 => "FRELAY",
            108 => "LOOP (OpenBSD loopback)",
            113 => "LINUX_SLL (Linux \"any\" device)",
            127 => "IEEE802_11_RADIOTAP (wireless)",
            147..=162 => "USER (private use)",
            187 => "BLUETOOTH_HCI_H4",
            189 => "USB_LINUX",
            195 => "IEEE802_15_4_WITHFCS",
            220 => "USB_LINUX_MMAPPED",
            227 => "CAN_SOCKETCAN",
            228 => "IPV4",
            229 => "IPV6",
            239 => "NFLOG",
            249 => "USBPCAP",
            253 => "NETLINK",
            276 => "LINUX_SLL2 (Linux \"any\" device)",
            _ => return None,
        })
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(formatter, "{} ({name})", self.0),
            None => write!(formatter, "{}", self.0),
        }
    }
}
