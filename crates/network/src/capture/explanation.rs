// SPDX-License-Identifier: Apache-2.0
//! What `plane explain NET-E01xx` prints: one entry for every code of `error`.

use source::{Code, Explanation};

/// An entry without example programs: capture files are binary.
const fn entry(code: &'static str, title: &'static str, text: &'static str) -> Explanation {
    Explanation { code: Code(code), title, text, wrong: "", right: "" }
}

/// The explanations of all codes about capture files.
pub static EXPLANATIONS: &[Explanation] = &[
    entry(
        "NET-E0101",
        "a capture file cannot be opened or read",
        "The operating system refused to open or read the file; its reason is in the message. \
         Check that the path exists and that you may read it.",
    ),
    entry(
        "NET-E0102",
        "a file is neither pcap nor pcapng",
        "The first four bytes of a capture say its format and byte order. These are not those of \
         pcap (micro- or nanosecond) or pcapng. Compressed captures must be decompressed first \
         (`gunzip`, `zstd -d`); other formats can be converted with Wireshark's `editcap`.",
    ),
    entry(
        "NET-E0103",
        "a capture file ends too early",
        "The file ends inside a header, packet or block, as it does when the capturing program was \
         killed, the disk was full, or a copy was cut short. All packets before that place have \
         been used. `tcpdump -U` writes every packet at once, so that stopping it leaves a whole \
         file.",
    ),
    entry(
        "NET-E0104",
        "a length in a capture file is too large",
        "A packet claims more than 262144 bytes, or a block whose contents must be kept in memory \
         more than 16 MiB. No real capture has such lengths: the file is damaged at this place or \
         before it. All packets before that place have been used.",
    ),
    entry(
        "NET-E0105",
        "a capture file contradicts itself",
        "Fields that must agree do not: for example the two lengths of a pcapng block, or a packet \
         that names an interface the section does not describe. The file is damaged or was \
         written by a faulty program. All packets before that place have been used. Opening and \
         saving the file with Wireshark shows what can be saved.",
    ),
    entry(
        "NET-E0106",
        "a packet is not Ethernet",
        "What arrives at a switch's port is an Ethernet frame, but this packet was captured with \
         another link-layer header, for example on Linux's \"any\" device, on a tunnel, or on a \
         wireless interface. Capture on the Ethernet interface itself (`tcpdump -i eth0`).",
    ),
    entry(
        "NET-E0107",
        "a capture file has a version that is not supported",
        "pcap is read in version 2.4, the only one written since 1998, and pcapng in version 1. \
         `editcap` converts others.",
    ),
    entry(
        "NET-E0108",
        "a capture file cannot be created or written",
        "The operating system refused to create, write or rename the file; its reason is in the \
         message. A capture is written under a temporary name beside its place and renamed when \
         it is complete, so the directory must be writable.",
    ),
    entry(
        "NET-E0109",
        "a packet cannot be expressed in a pcap file",
        "pcap counts the seconds since 1970 in 32 unsigned bits, which end in 2106, and a packet \
         may have at most 262144 bytes.",
    ),
    entry(
        "NET-W0101",
        "a capture has only the beginning of a packet",
        "The capturing program kept the first bytes of each packet (its snap length, `tcpdump -s 96`). The switch runs \
         what the file has: short packets, a small `packet_length`, byte counters that count the bytes in the file. \
         `tcpdump -s 0` captures whole packets. `plane run --pad-snapped` fills each packet with zeros to its length on \
         the wire, so that lengths and counters are right and only payloads are not.",
    ),
    entry(
        "NET-W0102",
        "times of a capture go back",
        "A packet has an earlier time than a packet before it in the same file, as after a step of the capturing \
         machine's clock, or in a file that was joined from others. Packets arrive in the order of the file; one with \
         an earlier time arrives at the time of the latest packet before it. `reordercap` and `mergecap` of Wireshark \
         sort packets by time.",
    ),
];
