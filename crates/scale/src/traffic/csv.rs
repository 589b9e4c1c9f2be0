// SPDX-License-Identifier: Apache-2.0
//! The files of MP5's artifact: flows (`flowid`, then pairs of stage and cell) and packets (`port,pkt_size,flowid,time`), with a header
//! line each. Flows are numbered from 1; packets of flow 0 access nothing.

use super::TrafficPacket;

/// Why a file is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for CsvError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

/// The numbers of each line behind the header, with the line's number.
fn rows(text: &str) -> Result<Vec<(usize, Vec<u64>)>, CsvError> {
    let lines = (1..).zip(text.lines()).skip(1);
    let lines = lines.map(|(line, row)| (line, row.trim_end_matches('\r').trim_end_matches(',')));
    lines
        .filter(|(_, row)| !row.is_empty())
        .map(|(line, row)| {
            let numbers = row.split(',').map(|field| {
                let message = format!("`{field}` is no number");
                field.trim().parse().map_err(|_| CsvError { line, message })
            });
            Ok((line, numbers.collect::<Result<Vec<u64>, CsvError>>()?))
        })
        .collect()
}

/// Reads flows: the stage and cell of each access.
pub fn flows(text: &str) -> Result<Vec<Vec<(usize, u32)>>, CsvError> {
    let mut flows = Vec::new();
    for (line, row) in rows(text)? {
        let expected = flows.len() as u64 + 1;
        if row[0] != expected {
            let message = format!("flow {} stands where flow {expected} should", row[0]);
            return Err(CsvError { line, message });
        }
        if row.len() % 2 == 0 {
            let message = "a stage without a cell at the end".to_string();
            return Err(CsvError { line, message });
        }
        let pairs = row[1..].chunks(2).map(|pair| (pair[0] as usize, pair[1] as u32));
        flows.push(pairs.collect());
    }
    Ok(flows)
}

/// Reads packets. `flows` is the number of flows.
pub fn packets(text: &str, flows: usize) -> Result<Vec<TrafficPacket>, CsvError> {
    let packet = |(line, row): (usize, Vec<u64>)| {
        let [port, bytes, flow, cycle] = row[..] else {
            let message = format!("{} fields, not port, size, flow and time", row.len());
            return Err(CsvError { line, message });
        };
        if flow > flows as u64 {
            let message = format!("flow {flow} of {flows}");
            return Err(CsvError { line, message });
        }
        let flow = flow.checked_sub(1).map(|flow| flow as u32);
        Ok(TrafficPacket { cycle, port: port as u32, bytes: bytes as u32, flow })
    };
    rows(text)?.into_iter().map(packet).collect()
}
