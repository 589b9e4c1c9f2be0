// SPDX-License-Identifier: Apache-2.0
//! Domino programs on tables of packets: what `plane run --packets` writes.

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "struct Packet { int a; unsigned b; int c; int drop; };\n\
    int total = 5;\nunsigned seen[4] = {7, 4294967295u};\nint read_only = -3;\n\
    void func(struct Packet p) {\n  total += p.a;\n  seen[p.a & 3]++;\n  p.c = total;\n  p.drop = p.a == 2;\n}\n";

/// Runs `plane run` on a program and a table. Returns the exit status, both outputs, the table and the state.
fn run(
    program: &str,
    binding: &str,
    table: &str,
    options: &[&str],
) -> (i32, String, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    write("x.domino", program);
    write("in.csv", table);
    if !binding.is_empty() {
        write("x.bind.toml", binding);
    }
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args([
            "run",
            "x.domino",
            "--packets",
            "in.csv",
            "--packets-out",
            "out.csv",
            "--state-out",
            "state.json",
        ])
        .args(options)
        .current_dir(folder.path())
        .output()
        .expect("plane starts");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    (ran.status.code().unwrap_or(-1), said, read("out.csv"), read("state.json"))
}

#[test]
fn lines_stay_in_order_on_all_engines() {
    let table = "c, a\r\n9,1\r\n\r\n-4,2\r\n0 , 3\r\n";
    for options in [
        &["--engine", "reference"][..],
        &["--engine", "interp"],
        &[],
        &["--verify"],
        &["--pipelines", "2"],
        &["--pipelines", "3", "--verify"],
        &["--pipelines", "1", "--engine", "interp"],
    ] {
        let (status, said, out, state) = run(PROGRAM, "", table, options);
        assert_eq!(status, 0, "{said}");
        assert_eq!(out, "a,b,c,drop\n1,0,6,0\n2,0,8,1\n3,0,11,0\n", "{options:?}");
        assert_eq!(state, "{\"total\":11,\"seen\":[7,0,1,1],\"read_only\":-3}\n", "{options:?}");
        assert!(said.contains("3 packets, 0 dropped"), "{said}");
    }
}

#[test]
fn dropped_packets_have_empty_values() {
    let binding = "[fields]\ndrop = \"drop\"\n";
    for options in [&["--engine", "reference"][..], &["--verify"], &["--pipelines", "2"]] {
        let (status, said, out, _) = run(PROGRAM, binding, "a\n1\n2\n3\n", options);
        assert_eq!((status, out.as_str()), (0, "a,b,c,drop\n1,0,6,0\n,,,\n3,0,11,0\n"), "{said}");
        assert!(said.contains("3 packets, 1 dropped"), "{said}");
    }
}

#[test]
fn pipelines_run_tables_with_the_results_of_one_thread() {
    let mut table = "a,b,c,drop\n".to_string();
    for number in 0..3000u64 {
        table += &format!("{},{},0,0\n", number * number % 17, number);
    }
    let binding = "[fields]\ndrop = \"drop\"\n";
    let one = run(PROGRAM, binding, &table, &[]);
    let many = run(PROGRAM, binding, &table, &["--pipelines", "2"]);
    assert_eq!((one.0, &one.2, &one.3), (many.0, &many.2, &many.3));
    assert!(many.1.contains("migrations"), "{}", many.1);
    for (options, expected) in [
        (&["--pipelines", "2", "--engine", "reference"][..], (2, "has no pipelines")),
        (&["--pipelines", "0"], (2, "SC-E0101")),
    ] {
        let (status, said, ..) = run(PROGRAM, binding, &table, options);
        assert_eq!(status, expected.0, "{said}");
        assert!(said.contains(expected.1), "{said}");
    }
}

#[test]
fn a_header_alone_gives_a_header() {
    let (status, said, out, state) = run(PROGRAM, "", "a,b\n", &[]);
    assert_eq!((status, out.as_str()), (0, "a,b,c,drop\n"), "{said}");
    assert_eq!(state, "{\"total\":5,\"seen\":[7,4294967295,0,0],\"read_only\":-3}\n");
}

#[test]
fn emitted_files_are_the_program_and_its_first_values() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("x.domino");
    std::fs::write(&source, PROGRAM).expect("writable");
    let out = folder.path().join("out");
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args([Path::new("emit"), &source, Path::new("-o"), &out])
        .output()
        .expect("plane starts");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let commands = std::fs::read_to_string(out.join("x.commands.txt")).expect("commands");
    assert_eq!(
        commands,
        "register_write total 0 5\nregister_write seen 0 7\nregister_write seen 1 4294967295\n"
    );
    let checked =
        Command::new(env!("CARGO_BIN_EXE_plane")).arg("check").arg(out.join("x.p4")).output();
    let checked = checked.expect("plane starts");
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stderr));
}
