// SPDX-License-Identifier: Apache-2.0
//! The passes that make codelets of a program (Domino, section 4): each rewrites a core program to one with the same
//! meaning. `codelets` partitions the result of the last one.
//!
//! The order is that of the paper's compiler, which names them if_converter, stateful_flanks, ssa, expr_propagater,
//! expr_flattener and cse. State is renamed behind the fields here, because an index has to be known first.

mod branches;
pub mod codelets;
mod common_subexpressions;
mod flanks;
mod inputs;
mod names;
mod print;
mod propagate;
mod simplify;
mod ssa;
mod three_address;
pub mod transactions;

pub use print::{print, print_statement};

use crate::core::Core;
use source::Diagnostic;

/// A pass.
pub struct Pass {
    /// Its name, as in `plane emit --after NAME`.
    pub name: &'static str,
    run: fn(Core) -> Result<Core, Box<Diagnostic>>,
}

/// The passes in their order. The first one is the program in evaluation order.
pub const PASSES: &[Pass] = &[
    Pass { name: "order", run: Ok },
    Pass { name: "branches", run: |core| Ok(branches::run(core)) },
    Pass { name: "simplify", run: |core| Ok(simplify::run(core)) },
    Pass { name: "ssa", run: |core| Ok(ssa::run(core)) },
    Pass { name: "flanks", run: flanks::run },
    Pass { name: "propagate", run: |core| Ok(propagate::run(core)) },
    Pass { name: "three-address", run: |core| Ok(three_address::run(core)) },
    Pass { name: "cse", run: |core| Ok(common_subexpressions::run(core)) },
];

/// Runs the passes up to the one with this name; all of them without a name. `None` if there is no such pass.
pub fn run(mut core: Core, last: Option<&str>) -> Option<Result<Core, Box<Diagnostic>>> {
    if last.is_some_and(|name| PASSES.iter().all(|pass| pass.name != name)) {
        return None;
    }
    for pass in PASSES {
        core = match (pass.run)(core) {
            Ok(core) => core,
            Err(error) => return Some(Err(error)),
        };
        if Some(pass.name) == last {
            break;
        }
    }
    Some(Ok(core))
}
