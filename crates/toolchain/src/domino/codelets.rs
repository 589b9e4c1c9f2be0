// SPDX-License-Identifier: Apache-2.0
//! The stateful codelets of a Domino program, as `plane atoms` asks about them.

use super::{after_passes, read};
use domino::passes::codelets::codelets as codelets_of;
use domino::passes::transactions::{Transaction, transaction};
use frontend::{Console, Failure, ProgramCodelets, ProgramFile, StatefulCodelet};

/// Returns the codelets. Those of which no atom can be asked get a warning.
pub(super) fn codelets(
    file: &ProgramFile<'_>,
    console: &dyn Console,
) -> Result<ProgramCodelets, Failure> {
    let mut checked = read(file)?;
    let core = after_passes(&checked)?;
    let mut codelets = Vec::new();
    for codelet in codelets_of(&core).codelets.iter().filter(|codelet| !codelet.states.is_empty()) {
        let name = codelet.name(&core);
        let stage = Some(codelet.stage);
        codelets.push(match transaction(&core, codelet) {
            Ok(Transaction { codelet, span, text, .. }) => {
                StatefulCodelet { name, span, stage, text, codelet: Some(codelet) }
            }
            Err(warning) => {
                let span = warning.primary.span;
                checked.warnings.push(*warning);
                StatefulCodelet { name, span, stage, text: String::new(), codelet: None }
            }
        });
    }
    console.warnings(&checked.map, &checked.warnings);
    Ok(ProgramCodelets { map: checked.map, codelets })
}
