// SPDX-License-Identifier: Apache-2.0
//! Writes the coverage of the P4_16 specification to `docs/specification-coverage.md` and prints its
//! summary. Run it from anywhere in the checkout.

use conformance::specification::coverage::{REPORT, coverage};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let written = coverage(&root).and_then(|report| {
        let path = root.join(REPORT);
        std::fs::write(&path, report.markdown())
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(report)
    });
    match written {
        Ok(report) => {
            let (tested, cited, all) = report.shares();
            println!("{tested} of {all} normative clauses have tests, {cited} are cited by code.");
            for (place, number) in &report.unknown {
                println!("{place}: there is no clause {number}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
