// SPDX-License-Identifier: Apache-2.0
//! Generated P4R programs whose reaction measures and writes a given amount, for the figures about costs.

use std::fmt::Write;

/// Widest field that the program measures.
const WORD_BITS: usize = 32;
/// Rows of the malleable table.
const TABLE_SIZE: usize = 1024;

/// What the reaction of a program does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Probe {
    /// Header fields of 32 bits that it measures.
    pub fields: usize,
    /// Cells of 32 bits of one array that it measures.
    pub cells: usize,
    /// Malleable values of 32 bits.
    pub values: usize,
    /// Whether each call changes all of them.
    pub writes_values: bool,
    /// Entries that each call modifies.
    pub entries: usize,
    /// The time from call to call, in picoseconds; 0 is as often as possible.
    pub rate_ps: u64,
}

impl Probe {
    fn argument(&self) -> String {
        let fields = (0..self.fields).map(|at| format!("ing hdr.words.w{at}"));
        let cells = (self.cells > 0).then(|| format!("reg depths[0:{}]", self.cells - 1));
        fields.chain(cells).collect::<Vec<_>>().join(", ")
    }

    fn body(&self) -> String {
        let mut body = String::from("static uint32_t calls; calls++; ");
        if self.writes_values {
            for at in 0..self.values {
                let _ = write!(body, "${{v{at}}} = calls + {at}; ");
            }
        }
        if self.entries > 0 {
            let entries = self.entries;
            let _ = write!(
                body,
                "for (int i = 0; i < {entries}; i++) t_mod_send(handles[i], 1 + (calls & 1)); "
            );
        }
        body
    }

    /// The program.
    pub fn text(&self) -> String {
        let words = self.fields.max(1);
        let fields: String = (0..words).map(|at| format!("bit<{WORD_BITS}> w{at}; ")).collect();
        let values: String = (0..self.values)
            .map(|at| format!("malleable value bit<32> v{at} {{ init = 1; }}\n"))
            .collect();
        let sum: String = (0..self.values).map(|at| format!(" + ${{v{at}}}")).collect();
        let handles = match self.entries {
            0 => String::new(),
            entries => format!(
                "state {{ uint64_t handles[{entries}]; }}\n\
                 init {{ for (int i = 0; i < {entries}; i++) handles[i] = t_add_send(i, 1); }}\n"
            ),
        };
        let rate = match self.rate_ps {
            0 => String::new(),
            rate_ps => format!("@rate(\"{rate_ps}ps\")\n"),
        };
        format!(
            "#include <core.p4>
#include <v1model.p4>
header words_t {{ {fields} }}
struct headers_t {{ words_t words; }}
struct meta_t {{ bit<32> level; }}
{values}
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    state start {{ p.extract(hdr.words); transition accept; }}
}}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    register<bit<32>>({cells}) depths;
    action send(bit<9> port) {{ s.egress_spec = port; }}
    malleable table t {{
        key = {{ hdr.words.w0: exact; }}
        actions = {{ send; NoAction; }}
        default_action = send(1);
        size = {TABLE_SIZE};
    }}
    apply {{
        meta.level = hdr.words.w0{sum};
        depths.write(hdr.words.w0 % {cells}, meta.level);
        t.apply();
    }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out p, in headers_t hdr) {{ apply {{ p.emit(hdr.words); }} }}
{handles}{rate}reaction r({argument}) {{ {body} }}
V1Switch(P(), C(), I(), E(), C(), D()) main;
",
            cells = self.cells.max(1),
            argument = self.argument(),
            body = self.body(),
        )
    }
}
