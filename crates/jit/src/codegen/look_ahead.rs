// SPDX-License-Identifier: Apache-2.0
//! The function that makes the batched lookups of a unit for one packet, or prefetches for them, before the unit
//! runs.

use super::batched_lookups::{Lookups, offset_of_found};
use super::function::FunctionCompiler;
use crate::runtime::pass::ENDED;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData};

impl FunctionCompiler<'_, '_> {
    /// For one packet: makes the lookups, or fetches what they read first in large tables.
    pub fn look_ahead(&mut self, lookups: &Lookups) {
        for lookup in &lookups.known {
            let mark = self.scratch.mark();
            match lookup.found_ahead {
                Some(at) => {
                    let keys = self.keys_ahead(&lookup.parts);
                    let place = self.find_ahead(lookup.table, &keys);
                    let flags = MemFlagsData::trusted();
                    self.builder.ins().istore32(flags, place, self.received, offset_of_found(at));
                }
                None => {
                    let is_large = self.is_large(lookup.table);
                    let joined = self.when(is_large);
                    let keys = self.keys_ahead(&lookup.parts);
                    self.fetch(lookup.table, &keys);
                    self.go_on(joined);
                }
            }
            self.scratch.release(mark);
        }
        let code = self.number(ENDED);
        self.finish(code);
    }
}
