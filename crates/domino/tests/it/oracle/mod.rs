// SPDX-License-Identifier: Apache-2.0
//! Domino programs compiled by g++: many programs in one source file, one process that runs packets through one of them.
//! The source stays as it is, except that the packet is passed by reference and, for checked programs, that `int` and
//! arrays are classes with Domino's rules (`checked.h`).

use domino::program::Program;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// How programs are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// `int` and arrays are classes that give what C leaves undefined a value.
    Checked,
    /// As they are, with `-fwrapv`; the undefined-behaviour sanitizer ends a run at the first packet that it reports.
    Plain,
}

/// Compiled programs.
pub struct Oracle {
    folder: tempfile::TempDir,
}

/// What a program has done.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    /// The fields of each packet; fewer than there were packets if the sanitizer has ended the run.
    pub packets: Vec<Vec<u32>>,
    /// All cells of each global, unless the run ended early.
    pub cells: Option<Vec<Vec<u32>>>,
}

/// Whether g++ starts. Otherwise says that a test was not run, or fails where tests with g++ are required.
pub fn has_compiler(test: &str) -> bool {
    testing::programs::are_installed(test, &["g++"], "PLANEWRIGHT_GCC_TESTS")
}

const CHECKED: &str = include_str!("checked.h");
const HASHES: &str = include_str!("hashes.h");
const MAIN: &str = include_str!("main.h");

/// Words of C++ that are names in C.
const CXX_WORDS: &[&str] = &[
    "new",
    "delete",
    "class",
    "this",
    "template",
    "private",
    "public",
    "protected",
    "operator",
    "try",
    "catch",
    "throw",
    "namespace",
    "friend",
    "virtual",
    "using",
    "typename",
    "mutable",
    "export",
];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !(one.is_ascii_alphanumeric() || one == '_'))
        .filter(|word| !word.is_empty())
}

/// Replaces whole words.
fn replace_words(text: &str, replace: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for one in text.chars().chain(['\n']) {
        if one.is_ascii_alphanumeric() || one == '_' {
            word.push(one);
            continue;
        }
        out.push_str(&replace(&word).unwrap_or_else(|| word.clone()));
        word.clear();
        out.push(one);
    }
    out.pop();
    out
}

/// Declares the arrays of a program as objects.
fn with_checked_arrays(text: &str, program: &Program) -> String {
    let mut text = text.to_string();
    for global in program.globals.iter().filter(|global| global.size.is_some()) {
        let ty = if global.ty.is_unsigned() { "Uns" } else { "Int" };
        let Some(at) = find_declaration(&text, &global.name) else { continue };
        let start = text[..at].rfind(['\n', ';', '}']).map_or(0, |before| before + 1);
        let open = at + text[at..].find('[').unwrap_or(0);
        let close = open + text[open..].find(']').unwrap_or(0);
        let size = global.size.unwrap_or(1);
        let declaration = format!(" Cells<{ty}, {size}> {}", global.name);
        text.replace_range(start..=close, &declaration);
    }
    text
}

/// Returns where the name of a global array stands in its declaration.
fn find_declaration(text: &str, name: &str) -> Option<usize> {
    let mut depth = 0;
    let bytes = text.as_bytes();
    for at in 0..text.len() {
        match bytes[at] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ if depth == 0 && text.is_char_boundary(at) && text[at..].starts_with(name) => {
                let before = bytes[..at]
                    .last()
                    .is_none_or(|one| !one.is_ascii_alphanumeric() && *one != b'_');
                let behind = text[at + name.len()..].trim_start();
                if before && behind.starts_with('[') {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the source of one program in a namespace.
fn section(number: usize, text: &str, program: &Program, flavour: Flavour) -> String {
    let function = &program.packet().name;
    let mut text = text.to_string();
    // By reference: the caller reads the fields.
    if let Some(at) = text.find(&format!("{function}(struct Packet")) {
        let at = at + function.len() + "(struct Packet".len();
        text.insert_str(at, " &");
    }
    if flavour == Flavour::Checked {
        text = with_checked_arrays(&text, program);
        let replace = |word: &str| (word == "unsigned").then(|| "Uns".to_string());
        text = replace_words(&text.replace("unsigned int", "unsigned"), &replace);
        text = replace_words(&text, &|word| (word == "int").then(|| "Int".to_string()));
    }
    let mut defines: Vec<&str> = Vec::new();
    for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("#define")) {
        defines.extend(words(line).next());
    }
    let mut out = String::new();
    let renamed: Vec<&str> =
        CXX_WORDS.iter().copied().filter(|word| words(&text).any(|one| one == *word)).collect();
    for word in &renamed {
        let _ = writeln!(out, "#define {word} {word}_in_c");
    }
    let _ = writeln!(out, "namespace program_{number} {{\n{text}");
    for word in &defines {
        let _ = writeln!(out, "#undef {word}");
    }
    let _ = writeln!(out, "void run(unsigned *words) {{\n  struct Packet packet;");
    for (at, field) in program.fields.iter().enumerate() {
        let _ = writeln!(out, "  packet.{} = (int) words[{at}];", field.name);
    }
    let _ = writeln!(out, "  {function}(packet);");
    for (at, field) in program.fields.iter().enumerate() {
        let _ = writeln!(out, "  words[{at}] = bits(packet.{});", field.name);
    }
    let _ = writeln!(out, "}}\nvoid dump() {{");
    for global in &program.globals {
        let _ = match global.size {
            None => writeln!(out, "  put(bits({}));", global.name),
            Some(size) => {
                writeln!(out, "  for (int i = 0; i < {size}; i++) put(bits({}[i]));", global.name)
            }
        };
    }
    let _ = writeln!(out, "}}\n}}");
    for word in renamed {
        let _ = writeln!(out, "#undef {word}");
    }
    out
}

impl Oracle {
    /// Compiles programs.
    pub fn compile(programs: &[(&str, &Program)], flavour: Flavour) -> Oracle {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut text = String::new();
        if flavour == Flavour::Checked {
            text.push_str(CHECKED);
        }
        text.push_str(MAIN);
        for (number, (source, program)) in programs.iter().enumerate() {
            text.push_str(&section(number, source, program, flavour));
        }
        text.push_str("void (*const runs[])(unsigned *) = {");
        (0..programs.len()).for_each(|number| text.push_str(&format!("program_{number}::run, ")));
        text.push_str("};\nvoid (*const dumps[])() = {");
        (0..programs.len()).for_each(|number| text.push_str(&format!("program_{number}::dump, ")));
        text.push_str("};\n");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("writable")
        };
        write("all.cpp", &text);
        write("hashes.h", HASHES);
        let mut command = Command::new("g++");
        command
            .args([
                "-std=gnu++17",
                "-O0",
                "-w",
                "-fwrapv",
                "-fno-operator-names",
                "-o",
                "all",
                "all.cpp",
            ])
            .current_dir(folder.path());
        if flavour == Flavour::Plain {
            command.args(["-DPLAIN", "-fsanitize=shift,integer-divide-by-zero,bounds"]);
        }
        let output = command.output().expect("g++ starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "g++ ({flavour:?}): {}",
            said.chars().take(4000).collect::<String>()
        );
        Oracle { folder }
    }

    fn executable(&self) -> PathBuf {
        self.folder.path().join("all")
    }

    /// Runs packets through one of the programs.
    pub fn run(&self, number: usize, program: &Program, packets: &[Vec<u32>]) -> Ran {
        let mut input = Vec::new();
        for word in packets.iter().flatten() {
            input.extend(word.to_le_bytes());
        }
        let arguments =
            [number.to_string(), program.fields.len().to_string(), packets.len().to_string()];
        let mut child = Command::new(self.executable())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the compiled programs start");
        let mut stdin = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("the compiled programs end");
        let _ = writer.join();
        let words: Vec<u32> = output
            .stdout
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let fields = program.fields.len();
        let done =
            *words.first().unwrap_or_else(|| panic!("program {number} printed nothing")) as usize;
        let (packets_out, cells) = words[1..].split_at(done * fields);
        let packets_out = packets_out.chunks_exact(fields).map(<[u32]>::to_vec).collect();
        let total: usize = program.globals.iter().map(|global| global.cells()).sum();
        let cells = (done == packets.len()).then(|| {
            assert_eq!(cells.len(), total);
            let mut rest = cells;
            let each = program.globals.iter().map(|global| {
                let (mine, behind) = rest.split_at(global.cells());
                rest = behind;
                mine.to_vec()
            });
            each.collect()
        });
        Ran { packets: packets_out, cells }
    }
}
