// SPDX-License-Identifier: Apache-2.0
//! Lines of code of the paper's ten applications as written here, beside the paper's (Lucid, Figure
//! 9): `cargo run -p figures --example lines_of_code`. A line counts if it holds a token, so that blank
//! lines and comments do not; what a program includes is counted beside it. Other programs can be
//! named as arguments.

use lucid::syntax::{Loader, lexer, load};
use source::{Diagnostics, FileId, SourceMap};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folder and program, the paper's name, the paper's lines.
const APPLICATIONS: [(&str, &str, u32); 10] = [
    ("stateful_firewall", "stateful firewall", 189),
    ("fast_rerouter", "fast rerouter", 115),
    ("dns_defense", "closed-loop DNS defense", 215),
    ("starflow", "*Flow", 149),
    ("sro", "consistent shared state", 94),
    ("distributed_firewall", "distributed prob. firewall", 66),
    ("distributed_firewall_aging", "  + aging", 119),
    ("rip", "single-destination RIP", 81),
    ("nat", "simple NAT", 41),
    ("count_min", "historical prob. queries", 93),
];

struct Files;

impl Loader for Files {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Lines with tokens of the file itself and of what it includes.
fn lines(path: &Path) -> Result<(usize, usize), String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let mut map = SourceMap::new();
    let (_, diagnostics) = load(&mut map, &name, text, &Files);
    if diagnostics.has_errors() {
        return Err(format!("{name} has errors: `plane check {name}` shows them"));
    }
    let counts: Vec<usize> = (0..map.file_count())
        .map(|file| {
            let file = FileId(file as u32);
            let lexed = lexer::lex(&map, file, &mut Diagnostics::new());
            let places = lexed.tokens.iter().filter(|token| token.span.start < token.span.end);
            let lines = places.filter_map(|token| map.location(token.span));
            lines.map(|location| location.line).collect::<BTreeSet<_>>().len()
        })
        .collect();
    Ok((counts[0], counts[1..].iter().sum()))
}

fn main() {
    let named: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let failed = |message: String| -> ! {
        eprintln!("{message}");
        std::process::exit(1);
    };
    if !named.is_empty() {
        for path in named {
            let (own, included) = lines(&path).unwrap_or_else(|message| failed(message));
            println!("{:>6} + {:>4}  {}", own, included, path.display());
        }
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lucid");
    println!("{:<28} {:>6} {:>9} {:>6} {:>7}", "application", "here", "included", "paper", "ratio");
    for (name, title, paper) in APPLICATIONS {
        let path = folder.join(name).join(name).with_extension("dpt");
        let (own, included) = lines(&path).unwrap_or_else(|message| failed(message));
        let ratio = own as f64 / f64::from(paper);
        println!("{title:<28} {own:>6} {included:>9} {paper:>6} {ratio:>7.2}");
    }
}
