// SPDX-License-Identifier: Apache-2.0
//! `plane test` for specifications: folders, targets, verification.

use crate::lucid::{PROGRAM, RUN, folder, plane, text};

#[test]
fn tests_of_a_folder_run_on_a_target() {
    let failing = RUN.replace("count: 3", "count: 4");
    let other = "# not a specification of a run\nentries: []\n";
    let files = [("count.yaml", RUN), ("other.yaml", other), ("broken.json", "{")];
    let folder = folder(&files);
    std::fs::create_dir(folder.path().join("below")).expect("a folder");
    for (name, text) in [("below/count.dpt", PROGRAM), ("below/count.yaml", &failing)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    for (words, status, said) in [
        (
            "test count.yaml --target tna --verify",
            0,
            "1 passed, 0 failed (compiled for tna, jit, beside",
        ),
        (
            "test count.yaml --verify",
            0,
            "compiled for v1model, jit, beside the reference interpreter",
        ),
        (
            "test count.yaml --target v1model --engine interp",
            0,
            "compiled for v1model, interpreter",
        ),
        ("test . --target tna", 1, "1 passed, 1 failed (compiled for tna, jit)"),
        ("test .", 1, "1 passed, 1 failed (Lucid reference interpreter)"),
    ] {
        let ran = plane(folder.path(), words);
        let output = text(&ran.stdout) + &text(&ran.stderr);
        assert_eq!(
            (ran.status.code(), output.contains(said)),
            (Some(status), true),
            "{words}: {output}"
        );
    }
    std::fs::remove_dir_all(folder.path().join("below")).expect("removable");
    std::fs::remove_file(folder.path().join("count.yaml")).expect("removable");
    std::fs::write(folder.path().join("x.stf"), "").expect("a file");
    for (words, status, said) in [
        (
            "test . --target tna",
            1,
            "`.` has no tests: they are specifications of runs with `expect`",
        ),
        (
            "test x.stf --verify",
            1,
            "--verify applies only to specifications of Lucid runs; `x.stf`",
        ),
        (
            "test . --verify --engine reference",
            2,
            "--verify cannot be combined with --engine reference",
        ),
    ] {
        let ran = plane(folder.path(), words);
        let output = text(&ran.stdout) + &text(&ran.stderr);
        assert_eq!(
            (ran.status.code(), output.contains(said)),
            (Some(status), true),
            "{words}: {output}"
        );
    }
}
