// SPDX-License-Identifier: Apache-2.0
//! All of this crate's `unsafe`: loads shared objects, calls the functions in them, copies their variables, and maps memory
//! that two processes share. The C that is called is the user's: it can do in this process what any code can.
#![allow(
    unsafe_code,
    reason = "code is loaded and called, and memory is shared with another process"
)]

use super::code::{ABI_VERSION, LoadError};
use crate::interface::{Host, TableOperation};
use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_void};
#[cfg(target_os = "linux")]
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicU32, AtomicU64};

/// `struct p4r_host`: the functions that C calls.
#[repr(C)]
struct HostTable {
    context: *mut c_void,
    table: unsafe extern "C" fn(*mut c_void, u32, u32, u32, *const u64, u64) -> u64,
    now: unsafe extern "C" fn(*mut c_void) -> u64,
    log: unsafe extern "C" fn(*mut c_void, *const c_char, u64),
    failed_commits: unsafe extern "C" fn(*mut c_void) -> u64,
}

type CallFunction = unsafe extern "C" fn(*const HostTable, *const u64, *mut u64);

/// `struct p4r_call`
#[repr(C)]
struct Call {
    function: Option<CallFunction>,
    words: u64,
}

/// `struct p4r_state`
#[repr(C)]
struct Variable {
    name: *const c_char,
    ty: *const c_char,
    address: *mut c_void,
    bytes: u64,
}

/// `struct p4r_module`
#[repr(C)]
struct ModuleTable {
    abi: u64,
    malleable_words: u64,
    init: Call,
    reactions: u64,
    calls: *const Call,
    variables: u64,
    state: *const Variable,
}

/// What the functions of [`HostTable`] work on during a call.
struct CallContext<'h> {
    host: &'h mut dyn Host,
    /// A panic of the host, which must not pass through C.
    panic: Option<Box<dyn Any + Send>>,
}

impl CallContext<'_> {
    fn guarded(&mut self, work: impl FnOnce(&mut dyn Host) -> u64) -> u64 {
        if self.panic.is_some() {
            return 0;
        }
        match catch_unwind(AssertUnwindSafe(|| work(&mut *self.host))) {
            Ok(result) => result,
            Err(panic) => {
                self.panic = Some(panic);
                0
            }
        }
    }
}

/// Returns the operation of a number.
pub fn operation(number: u32) -> Option<TableOperation> {
    use TableOperation::{Add, Delete, Find, Modify, ResetDefault, SetDefault};
    [Add, Modify, Delete, Find, SetDefault, ResetDefault]
        .into_iter()
        .find(|of| *of as u32 == number)
}

unsafe extern "C" fn host_table(
    context: *mut c_void,
    number: u32,
    table: u32,
    action: u32,
    words: *const u64,
    count: u64,
) -> u64 {
    // SAFETY: the generated C passes the context of the call that runs, which `LoadedCode::run` borrows for nothing else
    // meanwhile, and an array of `count` words.
    let (context, words) = unsafe {
        let words = std::slice::from_raw_parts(words, count as usize);
        (&mut *context.cast::<CallContext<'_>>(), words)
    };
    let Some(operation) = operation(number) else { return 0 };
    context.guarded(|host| host.table(operation, table as usize, action as usize, words))
}

unsafe extern "C" fn host_now(context: *mut c_void) -> u64 {
    // SAFETY: as in `host_table`.
    let context = unsafe { &mut *context.cast::<CallContext<'_>>() };
    context.guarded(|host| host.now_ns())
}

unsafe extern "C" fn host_log(context: *mut c_void, line: *const c_char, bytes: u64) {
    // SAFETY: as in `host_table`; the line has this many bytes.
    let (context, line) = unsafe {
        let line = std::slice::from_raw_parts(line.cast::<u8>(), bytes as usize);
        (&mut *context.cast::<CallContext<'_>>(), line)
    };
    let line = String::from_utf8_lossy(line);
    context.guarded(|host| {
        host.log(&line);
        0
    });
}

unsafe extern "C" fn host_failed_commits(context: *mut c_void) -> u64 {
    // SAFETY: as in `host_table`.
    let context = unsafe { &mut *context.cast::<CallContext<'_>>() };
    context.guarded(|host| host.failed_commits())
}

/// A shared object in this process. Dropping it unloads it.
pub struct LoadedCode {
    handle: *mut c_void,
    /// Lives as long as `handle`.
    module: *const ModuleTable,
}

// SAFETY: the object is only used through the one owner; the C in it has no thread of its own to be bound to.
unsafe impl Send for LoadedCode {}

impl LoadedCode {
    /// Loads a shared object.
    ///
    /// # Errors
    ///
    /// The system does not load it, or it has no reactions.
    pub fn open(path: &Path) -> Result<LoadedCode, LoadError> {
        let file = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| LoadError("the path of the code has a zero byte".to_string()))?;
        // SAFETY: the path ends with a zero. Constructors of the object may run: they are the user's code.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(LoadError(format!("the system does not load the code: {}", last_error())));
        }
        // SAFETY: the handle is open, and the name ends with a zero.
        let module = unsafe { libc::dlsym(handle, c"p4r_module".as_ptr()) };
        let loaded = LoadedCode { handle, module: module.cast() };
        match !module.is_null() && loaded.module().abi == ABI_VERSION {
            true => Ok(loaded),
            false => Err(LoadError("the code has no reactions of this version".to_string())),
        }
    }

    fn module(&self) -> &ModuleTable {
        // SAFETY: `open` found the symbol, whose type the generated C declares alike; the object is loaded while `self`
        // lives, and its table is constant.
        unsafe { &*self.module }
    }

    fn calls(&self) -> &[Call] {
        let module = self.module();
        // SAFETY: the generated C says how many there are.
        unsafe { std::slice::from_raw_parts(module.calls, module.reactions as usize) }
    }

    fn variables(&self) -> &[Variable] {
        let module = self.module();
        // SAFETY: the generated C says how many there are.
        unsafe { std::slice::from_raw_parts(module.state, module.variables as usize) }
    }

    /// Returns the number of malleables.
    pub fn malleable_words(&self) -> usize {
        self.module().malleable_words as usize
    }

    /// Calls a reaction.
    ///
    /// # Panics
    ///
    /// If there is no such reaction, if the numbers of words are not those of the interface, or if the host panics.
    pub fn call(
        &mut self,
        reaction: usize,
        input: &[u64],
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) {
        let call = &self.calls()[reaction];
        self.run(call, input, malleables, host);
    }

    /// Calls `init`, if there is one.
    ///
    /// # Panics
    ///
    /// As [`LoadedCode::call`].
    pub fn call_init(&mut self, malleables: &mut [u64], host: &mut dyn Host) {
        self.run(&self.module().init, &[], malleables, host);
    }

    fn run(&self, call: &Call, input: &[u64], malleables: &mut [u64], host: &mut dyn Host) {
        assert_eq!(input.len() as u64, call.words, "the words of the input");
        assert_eq!(malleables.len() as u64, self.module().malleable_words, "a word a malleable");
        let Some(function) = call.function else { return };
        let mut context = CallContext { host, panic: None };
        let table = HostTable {
            context: (&raw mut context).cast(),
            table: host_table,
            now: host_now,
            log: host_log,
            failed_commits: host_failed_commits,
        };
        // SAFETY: the generated C reads as many words of the input and of the malleables as its table says, which were
        // compared above, and uses `table` only until it returns. `&mut self` of the callers keeps out a second call.
        unsafe { function(&raw const table, input.as_ptr(), malleables.as_mut_ptr()) };
        if let Some(panic) = context.panic {
            resume_unwind(panic);
        }
    }

    /// Copies the variables of `state` blocks whose names, types and sizes are equal.
    pub fn carry_state_from(&mut self, old: &LoadedCode) {
        for new in self.variables() {
            let same = |old: &&Variable| {
                // SAFETY: names and types are literals of the generated C.
                let texts = |variable: &Variable| unsafe {
                    (CStr::from_ptr(variable.name), CStr::from_ptr(variable.ty))
                };
                texts(old) == texts(new) && old.bytes == new.bytes
            };
            if let Some(old) = old.variables().iter().find(same) {
                // SAFETY: both are whole variables of this size in two objects, and no C runs meanwhile.
                unsafe {
                    let (from, to) = (old.address.cast::<u8>(), new.address.cast::<u8>());
                    std::ptr::copy(from, to, new.bytes as usize);
                }
            }
        }
    }
}

impl Drop for LoadedCode {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nothing borrows from the object any more.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Writes what C has printed.
pub fn flush_c_streams() {
    // SAFETY: without a stream, all streams are flushed, each under its lock.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

fn last_error() -> String {
    // SAFETY: the text is valid until the next call of these functions on this thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "unknown error".to_string();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Memory that two processes map. All accesses are atomic, so that neither side relies on the other.
#[cfg(target_os = "linux")]
pub struct SharedWords {
    start: *const AtomicU64,
    count: usize,
}

// SAFETY: the memory belongs to no thread, and its words are atomic.
#[cfg(target_os = "linux")]
unsafe impl Send for SharedWords {}

#[cfg(target_os = "linux")]
impl SharedWords {
    /// Makes memory of this many words, all 0. Its size stays.
    ///
    /// # Errors
    ///
    /// The system has no such memory.
    pub fn new_memory(count: usize) -> std::io::Result<OwnedFd> {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("plane-react", flags)?;
        ftruncate(&file, (count * size_of::<u64>()) as u64)?;
        // A smaller file would make accesses signals.
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(file)
    }

    /// Maps memory from [`SharedWords::new_memory`].
    ///
    /// # Errors
    ///
    /// The memory is smaller, or the system does not map it.
    pub fn map(file: BorrowedFd<'_>, count: usize) -> std::io::Result<SharedWords> {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let bytes = count * size_of::<u64>();
        if rustix::fs::fstat(file)?.st_size < bytes as i64 || bytes == 0 {
            return Err(std::io::Error::other("the shared memory is too small"));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses an address that nothing has.
        let start =
            unsafe { mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, file, 0) }?;
        Ok(SharedWords { start: start.cast(), count })
    }

    /// Returns the beginning of word 0, for waiting. Nothing else accesses word 0.
    pub fn turn(&self) -> &AtomicU32 {
        // SAFETY: the mapping has at least one word and lives as long as `self`.
        unsafe { &*self.start.cast::<AtomicU32>() }
    }
}

#[cfg(target_os = "linux")]
impl std::ops::Deref for SharedWords {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has this many words, is aligned to a page, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start, self.count) }
    }
}

#[cfg(target_os = "linux")]
impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: `map` mapped exactly this, and nothing borrows from it any more.
        let _ = unsafe {
            rustix::mm::munmap(self.start.cast_mut().cast(), self.count * size_of::<u64>())
        };
    }
}
