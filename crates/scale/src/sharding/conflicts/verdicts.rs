// SPDX-License-Identifier: Apache-2.0
//! The verdicts on a control whose groups have their stages: predicates of groups, what decides about an access and when, stages in
//! front.

use super::{Assignment, Candidate};
use crate::sharding::{ControlSharding, ShardGroup};
use ir::analysis::Predicate;
use ir::effects::Location;
use std::collections::BTreeMap;

impl<'p> Assignment<'p> {
    /// Returns the verdicts.
    pub(in crate::sharding) fn finish(mut self, block: usize) -> ControlSharding<'p> {
        let program = self.accesses.values.program();
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by_key(|at| (self.stage(*at), self.candidates[*at].arrays[0]));
        let stage_of_access: BTreeMap<usize, usize> = (0..self.candidates.len())
            .flat_map(|at| {
                let stage = self.stage(at);
                self.group_accesses(at).into_iter().map(move |access| (access, stage))
            })
            .collect();
        let mut groups = Vec::new();
        for at in order {
            let accesses = self.group_accesses(at);
            let stage = self.stage(at);
            let Candidate { mut arrays, is_sharded, moved_from, .. } = self.candidates[at].clone();
            arrays.sort_unstable();
            let (mut predicate, mut may) = (Predicate::FALSE, Predicate::FALSE);
            for access in &accesses {
                let one = self.accesses.values.accesses()[*access].predicate;
                let predicates = self.accesses.values.values_mut().predicates_mut();
                predicate = predicates.or(predicate, one);
                may = predicates.or(may, self.accesses.may[*access]);
            }
            let known_after = (predicate != may)
                .then(|| {
                    let reads = self.accesses.values.values_mut().reads_of_predicate(predicate);
                    reads.iter().filter_map(|access| stage_of_access.get(access)).max().copied()
                })
                .flatten()
                .filter(|known| *known < stage);
            let cells = arrays.iter().map(|array| self.arrays[*array].cells).max().unwrap_or(1);
            for array in &arrays {
                self.arrays[*array].group = Some(groups.len());
            }
            groups.push(ShardGroup {
                arrays,
                stage,
                moved_from,
                is_sharded,
                cells: if is_sharded { cells } else { 1 },
                accesses,
                predicate,
                may,
                known_after,
            });
        }
        let nodes: Vec<usize> =
            self.candidates.iter().flat_map(|one| one.nodes.iter().copied()).collect();
        let stages_in_front = self.is_laid_out.then(|| self.graph.stages_in_front(&nodes));
        let counters = self.counters.iter().filter_map(|counter| match counter {
            Location::Counter(counter) => Some(program.counters[counter.index()].name.clone()),
            _ => None,
        });
        ControlSharding {
            block,
            gress: self.gress,
            stage_source: self.graph.source,
            stages: self.stages.iter().map(|stage| stage + 1).max().unwrap_or(0),
            counters: counters.collect(),
            stages_in_front,
            values: Some(self.accesses.values),
            arrays: self.arrays,
            groups,
        }
    }
}
