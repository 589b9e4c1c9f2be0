// SPDX-License-Identifier: Apache-2.0
//! Layout problem straight from reads and writes.

use crate::compile::atomic::program::{AtomicProgram, Operation};
use crate::core::{GlobalKind, Program};
use pisa::guard::runs_together;
use pisa::*;

pub(super) fn problem(core: &Program, atomic: &AtomicProgram) -> Problem {
    let mut problem = Problem { name: "program".into(), ..Problem::default() };
    for v in &atomic.variables {
        problem.variables.push(Variable { name: v.name.clone(), width_bits: v.width_bits });
    }
    for a in &atomic.arrays {
        let g = &core.globals[a.global.0 as usize];
        let (cell_bits, length) = match g.kind {
            GlobalKind::Array { width_bits, length } => (width_bits, length),
            GlobalKind::PairArray { width_bits, length } => (2 * width_bits, length),
            GlobalKind::Counter { width_bits, .. } => (width_bits, 1),
            GlobalKind::Table(_) => (0, 0),
        };
        problem.arrays.push(Array { name: g.name.clone(), cell_bits, length, span: g.span });
    }
    for (at, s) in atomic.statements.iter().enumerate() {
        let (mut array, mut register_action, mut table) = (None, 0, None);
        match &s.operation {
            Operation::Memory { array: a, register_action: r, .. } => {
                array = Some(ArrayId(a.0));
                register_action = *r;
            }
            Operation::Lookup { table: id, key, .. } => {
                if let GlobalKind::Table(t) = &core.globals[id.0 as usize].kind {
                    table = Some(OwnTable {
                        keys: key.iter().zip(&t.key_widths).filter_map(|(o, w)| Some(OwnKey { variable: o.variable()?, kind: MatchKind::Ternary, width_bits: *w })).collect(),
                        entries: t.capacity, actions: t.actions.len() as u32, action_data_bits: 32,
                    });
                }
            }
            _ => {}
        }
        problem.units.push(Unit {
            name: format!("s{at}").into(), span: s.span, gress: s.gress, guard: s.guard.clone(),
            mergeable: table.is_none(), table, array, register_action,
            demand: [(Resource::Instructions, 1), (Resource::Statements, 1)].into_iter().collect(),
        });
        for (before, b) in atomic.statements[..at].iter().enumerate() {
            if b.gress != s.gress || !runs_together(&b.guard, &s.guard) { continue; }
            let (br, bw) = (atomic.reads(b), b.operation.writes());
            let (sr, sw) = (atomic.reads(s), s.operation.writes());
            let gv = s.guard.variables();
            let kind = if bw.iter().any(|v| gv.contains(v)) { DependencyKind::Match }
                else if bw.iter().any(|v| sr.contains(v) || sw.contains(v)) { DependencyKind::Action }
                else if sw.iter().any(|v| br.contains(v) || b.guard.variables().contains(v)) { DependencyKind::Anti }
                else { continue };
            problem.dependencies.push(Dependency { before: UnitId(before as u32), after: UnitId(at as u32), kind });
        }
    }
    problem
}
