// SPDX-License-Identifier: Apache-2.0
//! The function that runs before a unit: for each packet it makes the batched lookups and prefetches for the
//! others.

use super::batched_lookups::{BatchedLookups, batched_item_offset};
use super::function::FunctionCompiler;
use crate::runtime::pass::ENDED;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData};

impl FunctionCompiler<'_, '_> {
    /// Makes the batched lookups of one packet, and prefetches what the others read first in large tables.
    pub fn batch_lookups(&mut self, lookups: &BatchedLookups) {
        for lookup in &lookups.known {
            let mark = self.scratch.mark();
            match lookup.batch_index {
                Some(at) => {
                    let keys = self.packet_keys(&lookup.parts);
                    let place = self.batch_lookup(lookup.table, &keys);
                    let flags = MemFlagsData::trusted();
                    self.builder.ins().istore32(
                        flags,
                        place,
                        self.received,
                        batched_item_offset(at),
                    );
                }
                None => {
                    let is_large = self.is_large(lookup.table);
                    let joined = self.begin_if(is_large);
                    let keys = self.packet_keys(&lookup.parts);
                    self.prefetch_lookup(lookup.table, &keys);
                    self.end_if(joined);
                }
            }
            self.scratch.release(mark);
        }
        let code = self.number(ENDED);
        self.finish(code);
    }
}
