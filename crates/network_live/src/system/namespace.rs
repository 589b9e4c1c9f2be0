// SPDX-License-Identifier: Apache-2.0
//! Work in other network namespaces: a thread of its own enters the namespace, so the others stay where they are.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Calls a function in the network namespace of this file. Programs that the function starts are in it, too.
pub fn in_namespace<T: Send>(
    namespace: &Path,
    call: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let file = File::open(namespace)?;
    std::thread::scope(|scope| {
        let entered = scope.spawn(move || {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
            call()
        });
        entered
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace ended")))
    })
}

/// The number of the namespace that a file stands for, such as `/proc/1/ns/net`.
pub fn namespace_of_path(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}
