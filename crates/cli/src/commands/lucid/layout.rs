// SPDX-License-Identifier: Apache-2.0
//! `plane layout` for Lucid programs: what the compiler makes of the handlers, before tables are made.

use super::super::layout::Ready;
use crate::output;
use std::path::Path;

/// The problem of a Lucid program; what is wrong with it is printed.
pub fn ready(path: &Path) -> Option<Ready> {
    output::error(&format!(
        "`{}` is a Lucid program, and layouts of those are not built in yet",
        path.display()
    ));
    None
}
