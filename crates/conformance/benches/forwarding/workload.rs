// SPDX-License-Identifier: Apache-2.0
//! What a workload is, the list of all of them, and the file that carries one to the program in C.

use super::packets::{Packet, Sizes};
use super::{access_list, corpus_program, firewall, generated, router, switch, telemetry};
use ir::Program;
use state::Update;
use std::path::Path;

/// A program, its state and its packets.
pub struct Workload {
    /// Of the P4 program, for diagnostics.
    pub program_file: String,
    pub program: String,
    /// An entries file by name and text, which goes through `control` like the entries of any user.
    pub commands: (String, String),
    /// Further entries, written to the state store directly: a million entries as text would take too long.
    pub updates: Vec<UpdateMaker>,
    /// The packets of the timed ring: a multiple of 32.
    pub ring: Box<dyn Fn(Sizes) -> Vec<Packet>>,
    /// Packets forwarded once, in order, and compared.
    pub check: Vec<Packet>,
    pub by_hand: Option<ByHand>,
}

/// Makes updates once the program is known.
pub type UpdateMaker = Box<dyn Fn(&Program) -> Vec<Update>>;

/// The program in C.
pub struct ByHand {
    /// In `benches/c`.
    pub source: &'static str,
    /// Sections of the workload file by name (up to 7 bytes).
    pub tables: Vec<(&'static str, Vec<u8>)>,
}

/// How many packets are in a ring, unless a workload is too slow for it.
pub const RING_PACKETS: usize = 8192;

/// A workload by name, made when it is needed.
pub struct Description {
    pub name: String,
    /// Whether loading it takes so long that our sides cannot do it under valgrind.
    pub is_large: bool,
    pub make: Box<dyn Fn() -> Workload>,
}

impl Description {
    fn new(name: &str, is_large: bool, make: impl Fn() -> Workload + 'static) -> Description {
        Description { name: name.to_string(), is_large, make: Box::new(make) }
    }
}

/// All workloads in the order of the table.
pub fn catalogue(corpus_path: Option<&Path>) -> Vec<Description> {
    let mut list = vec![
        Description::new("router-10", false, || router::workload(10)),
        Description::new("router-1000", false, || router::workload(1000)),
        Description::new("router-1000000", true, || router::workload(1_000_000)),
        Description::new("switch-1000", false, || switch::workload(1000)),
        Description::new("switch-1000000", true, || switch::workload(1_000_000)),
        Description::new("access-list-100", false, || access_list::workload(100)),
        Description::new("access-list-10000", false, || access_list::workload(10_000)),
        Description::new("firewall", false, firewall::workload),
        Description::new("telemetry", false, telemetry::workload),
        Description::new("generated-350", false, generated::workload),
    ];
    if let Some(path) = corpus_path {
        let path = path.to_owned();
        list.push(Description::new("corpus", false, move || corpus_program::workload(&path)));
    }
    list
}

/// The workload file that `benches/c/forwarding.h` describes.
pub fn file(workload: &Workload, tables: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut file = b"PLNWRT01".to_vec();
    let mut section = |name: &str, content: &[u8]| {
        let mut padded = [0u8; 8];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        file.extend(padded);
        file.extend((content.len() as u64).to_ne_bytes());
        file.extend(content);
        file.resize(file.len().next_multiple_of(8), 0);
    };
    for (name, content) in tables {
        section(name, content);
    }
    for sizes in Sizes::ALL {
        section(sizes.name(), &packets_content(&(workload.ring)(sizes)));
    }
    section("check", &packets_content(&workload.check));
    file
}

fn packets_content(packets: &[Packet]) -> Vec<u8> {
    let mut content = (packets.len() as u32).to_ne_bytes().to_vec();
    for packet in packets {
        content.extend(packet.ingress_port.to_ne_bytes());
        content.extend((packet.bytes.len() as u32).to_ne_bytes());
        content.extend(&packet.bytes);
        content
            .resize(content.len() + packet.bytes.len().next_multiple_of(4) - packet.bytes.len(), 0);
    }
    content
}

/// Numbers of 32 bits as the programs in C read them.
pub fn words(list: impl IntoIterator<Item = u32>) -> Vec<u8> {
    list.into_iter().flat_map(u32::to_ne_bytes).collect()
}
