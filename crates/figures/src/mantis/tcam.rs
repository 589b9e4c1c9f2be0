// SPDX-License-Identifier: Apache-2.0
//! Figure 13: TCAM of tables that write and read a malleable field, by the number of its alternatives and its width. Programs
//! are generated, and the layout model says what their tables take.

use super::switch::Program;
use crate::{Measuring, Table};
use pisa::{HardwareModel, MatchKind, Problem, Resource};
use source::Span;

/// Alternatives and widths of the figure's two parts.
const BY_ALTERNATIVES: [(u32, u32); 5] = [(2, 32), (3, 32), (4, 32), (8, 32), (10, 32)];
const BY_WIDTH: [(u32, u32); 4] = [(4, 8), (4, 16), (4, 32), (4, 64)];
const OCCUPANCIES: [u32; 2] = [512, 1024];

/// A program with a malleable field of so many alternatives and bits.
pub(super) fn text(is_read: bool, alternatives: u32, width_bits: u32, entries: u32) -> String {
    let fields: String = (0..alternatives).map(|at| format!("bit<{width_bits}> f{at}; ")).collect();
    let alts: Vec<String> = (0..alternatives).map(|at| format!("hdr.fields.f{at}")).collect();
    let (key, body) = match is_read {
        true => {
            let body = "meta.sum = meta.sum + (bit<64>) ${x} + (bit<64>) value;";
            ("${x}: ternary;", body)
        }
        false => ("", "${x} = value;"),
    };
    format!(
        "#include <core.p4>
#include <v1model.p4>
header tuple_t {{ bit<32> src; bit<32> dst; bit<16> sport; bit<16> dport; bit<8> protocol; }}
header fields_t {{ {fields} }}
struct headers_t {{ tuple_t five; fields_t fields; }}
struct meta_t {{ bit<64> sum; }}
malleable field bit<{width_bits}> x {{ init = {first}; alts {{ {alts} }} }}
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    state start {{ p.extract(hdr.five); p.extract(hdr.fields); transition accept; }}
}}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    action act(bit<{width_bits}> value) {{ {body} }}
    table t {{
        key = {{
            hdr.five.src: ternary;
            hdr.five.dst: ternary;
            hdr.five.sport: ternary;
            hdr.five.dport: ternary;
            hdr.five.protocol: ternary;
            {key}
        }}
        actions = {{ act; }}
        size = {entries};
    }}
    apply {{ t.apply(); s.egress_spec = (bit<9>) meta.sum; }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out p, in headers_t hdr) {{ apply {{ p.emit(hdr.five); p.emit(hdr.fields); }} }}
reaction r(ing hdr.five.src) {{ ${{x}} = {first}; }}
V1Switch(P(), C(), I(), E(), C(), D()) main;
",
        first = alts[0],
        alts = alts.join(", "),
    )
}

/// What a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// Rows times bits of the key, in bytes.
    pub bytes: u64,
    /// TCAM blocks of the layout model.
    pub blocks: u64,
}

/// What the table of a problem takes that matches in TCAM.
fn taken(problem: &Problem, target: &HardwareModel) -> Taken {
    let mut all = Taken { bytes: 0, blocks: 0 };
    let costs = pisa::cost::Model::new(problem, target);
    for (at, unit) in problem.units.iter().enumerate() {
        let Some(table) = &unit.table else { continue };
        if table.keys.iter().all(|key| key.kind == MatchKind::Exact) {
            continue;
        }
        let bits: u64 = table.keys.iter().map(|key| u64::from(key.width_bits)).sum();
        all.bytes += table.entries * bits / 8;
        let cost = costs.table(&[pisa::UnitId(at as u32)]);
        all.blocks += cost.demand.get(&Resource::TcamBlocks).copied().unwrap_or(0);
    }
    all
}

/// Compiles and lays out one program.
pub(super) fn measure(
    is_read: bool,
    (alternatives, width_bits): (u32, u32),
    entries: u32,
) -> Result<Taken, String> {
    let target =
        HardwareModel::named("tofino", Span::NONE).map_err(|error| error.message.clone())?;
    let program =
        Program::compile("field.p4r", &text(is_read, alternatives, width_bits, entries), &[])?;
    let problem = pisa::graph::problem_of(program.compiled.run.program());
    Ok(taken(&problem, &target))
}

/// TCAM by alternatives and width.
///
/// # Errors
///
/// Why it cannot be measured.
pub fn figure_13(measuring: &mut Measuring<'_>) -> Result<Table, String> {
    let mut table = Table::new(
        "Figure 13: TCAM of a malleable field, N entries of the user (kB; blocks of 44 x 512)",
        &[
            "alternatives, bits",
            "N",
            "write kB",
            "blocks",
            "published",
            "read kB",
            "blocks",
            "published",
        ],
    );
    let cases: Vec<(u32, u32)> = BY_ALTERNATIVES.into_iter().chain(BY_WIDTH).collect();
    for (at, case) in cases.iter().enumerate() {
        for (number, entries) in OCCUPANCIES.into_iter().enumerate() {
            (measuring.progress)("figure 13", (2 * at + number) as f64 / (2 * cases.len()) as f64);
            let write = measure(false, *case, entries)?;
            let read = measure(true, *case, entries)?;
            let by_width = at >= BY_ALTERNATIVES.len();
            table.row([
                format!("{}, {}", case.0, case.1),
                entries.to_string(),
                format!("{:.1}", write.bytes as f64 / 1000.0),
                write.blocks.to_string(),
                if by_width { "constant in bits" } else { "linear in alternatives" }.to_string(),
                format!("{:.1}", read.bytes as f64 / 1000.0),
                read.blocks.to_string(),
                if by_width { "linear in bits" } else { "quadratic in alternatives" }.to_string(),
            ]);
        }
    }
    table.remark(
        "Published as a drawing; the text gives these shapes. The write table has N rows for each alternative and a selector \
         as further key; the read table has a column for each alternative as well.",
    );
    Ok(table)
}
