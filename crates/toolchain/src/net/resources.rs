// SPDX-License-Identifier: Apache-2.0
//! Reads the captures and flow size distributions that applications of a network file name.

use crate::files;
use frontend::Failure;
use network::capture::CaptureReader;
use network_file::Located;
use network_file::model::{ApplicationKind, FlowSizes, Network};
use network_run::Resources;
use source::{Code, Diagnostic, Diagnostics, Explanation, SourceMap};
use std::path::Path;

/// A file that an application names cannot be used.
pub(crate) const BAD_RESOURCE: Code = Code("NW-E0408");

pub(crate) const EXPLANATIONS: &[Explanation] = &[Explanation {
    code: BAD_RESOURCE,
    title: "a file that a network names cannot be used",
    text: "Names of files in a network file are relative to it. A capture is a pcap or pcapng file of Ethernet frames. A \
           distribution of flow sizes has a size in bytes and a cumulative probability a line, the last one 1.",
    wrong: "",
    right: "",
}];

/// Reads all of them; every file that cannot be used is reported.
pub(super) fn read(
    network: &Network,
    folder: &Path,
    map: &SourceMap,
) -> Result<Resources, Failure> {
    let mut resources = Resources::default();
    let mut found = Diagnostics::new();
    let applications = network.hosts.iter().flat_map(|host| &host.applications);
    for application in applications {
        let read = match &application.kind {
            ApplicationKind::Replay { capture, .. } => packets(folder, capture)
                .map(|packets| drop(resources.captures.insert(capture.value.clone(), packets)))
                .map_err(|error| (capture.span, error)),
            ApplicationKind::Flows { sizes: FlowSizes::File(file), .. } => sizes(folder, file)
                .map(|points| drop(resources.flow_sizes.insert(file.value.clone(), points)))
                .map_err(|error| (file.span, error)),
            _ => Ok(()),
        };
        if let Err((span, message)) = read {
            found.push(Diagnostic::error(BAD_RESOURCE, span, message));
        }
    }
    match found.has_errors() {
        true => Err(Failure::Found(map.clone(), found)),
        false => Ok(resources),
    }
}

/// The packets of a capture, with times from the first one on.
fn packets(folder: &Path, name: &Located<String>) -> Result<Vec<(u64, Vec<u8>)>, String> {
    let path = folder.join(&name.value);
    let reader = CaptureReader::open(&path).map_err(|error| error.to_string())?;
    let mut packets = Vec::new();
    let mut first_ps = None;
    for packet in reader {
        let packet = packet.map_err(|error| error.with_path(&path).to_string())?;
        let first_ps = *first_ps.get_or_insert(packet.timestamp_ps);
        let after_ps = u64::try_from(packet.timestamp_ps - first_ps).unwrap_or(0);
        packets.push((after_ps, packet.data));
    }
    Ok(packets)
}

/// The points of a distribution.
fn sizes(folder: &Path, name: &Located<String>) -> Result<Vec<(u64, f64)>, String> {
    let path = folder.join(&name.value);
    let text = files::read_text(&path)?;
    let mut points = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let mut words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let point = (|| {
            let bytes: f64 = words.next()?.parse().ok()?;
            // Some files have the number of the point between the two.
            let probability: f64 = words.next_back()?.parse().ok()?;
            (bytes >= 0.0 && (0.0..=1.0).contains(&probability)).then_some((bytes, probability))
        })();
        match point {
            Some((bytes, probability)) => points.push((bytes as u64, probability)),
            None => {
                let path = path.display();
                return Err(format!(
                    "{path}:{number}: `{line}` is not a size in bytes and a probability from 0 to 1"
                ));
            }
        }
    }
    match points.last() {
        Some((_, 1.0)) => Ok(points),
        _ => Err(format!("{}: the last probability is not 1", path.display())),
    }
}
