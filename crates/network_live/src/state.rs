// SPDX-License-Identifier: Apache-2.0
//! The records of live networks: a folder each, with what the network has in the kernel, and a lock that its process holds
//! as long as it lives. `plane net exec`, `pingall` and `--clean` find networks by them.

use crate::kernel;
use crate::plan::{PREFIX, Plan};
use crate::system::{is_root, user_id};
use serde_json::{Value, json};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// The variable with the folder of records; without it the folder is that of the user.
pub const FOLDER_VARIABLE: &str = "PLANEWRIGHT_LIVE";
const RECORD: &str = "network.json";
const LOCK: &str = "lock";

pub(crate) fn folder() -> PathBuf {
    match std::env::var_os(FOLDER_VARIABLE) {
        Some(folder) => PathBuf::from(folder),
        None if is_root() => PathBuf::from("/run/planewright"),
        None => PathBuf::from(format!("/tmp/planewright-{}", user_id())),
    }
}

/// A live network, as its record describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// The network file.
    pub file: String,
    /// The process that runs it.
    pub process: u32,
    /// Its namespaces.
    pub namespaces: Vec<String>,
    /// Its hosts: name, namespace, addresses.
    pub hosts: Vec<(String, String, Vec<String>)>,
}

/// The claim of this process on the name of a network. When it is dropped, the record goes.
#[derive(Debug)]
pub struct Claim {
    folder: PathBuf,
    _lock: File,
}

impl Claim {
    /// The folder of the record.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} `{}`: {}", path.display(), source::reason(error))
}

/// Records a network of this process, before it makes anything.
pub fn claim(name: &str, file: &Path, plan: &Plan) -> Result<Claim, String> {
    let folder = folder().join(name);
    std::fs::create_dir_all(&folder).map_err(|error| cannot("make", &folder, &error))?;
    let path = folder.join(LOCK);
    let lock = File::create(&path).map_err(|error| cannot("write", &path, &error))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(format!(
                "a live network `{name}` is running: give this one another --name"
            ));
        }
        Err(TryLockError::Error(error)) => return Err(cannot("lock", &path, &error)),
    }
    let hosts: Vec<Value> = plan
        .hosts
        .iter()
        .map(|host| {
            json!({"name": host.name, "namespace": host.namespace, "addresses": host.addresses})
        })
        .collect();
    let record = json!({
        "network": name,
        "file": file.display().to_string(),
        "process": std::process::id(),
        "namespaces": plan.namespaces().collect::<Vec<_>>(),
        "hosts": hosts,
    });
    let path = folder.join(RECORD);
    std::fs::write(&path, format!("{record:#}\n"))
        .map_err(|error| cannot("write", &path, &error))?;
    Ok(Claim { folder, _lock: lock })
}

fn read(folder: &Path) -> Option<Record> {
    let text = std::fs::read_to_string(folder.join(RECORD)).ok()?;
    let record: Value = serde_json::from_str(&text).ok()?;
    let words = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_string).collect()
    };
    let word = |value: &Value| value.as_str().map(str::to_string);
    let hosts = record["hosts"].as_array()?.iter();
    Some(Record {
        name: word(&record["network"])?,
        file: word(&record["file"])?,
        process: record["process"].as_u64()? as u32,
        namespaces: words(&record["namespaces"]),
        hosts: hosts
            .filter_map(|host| {
                Some((word(&host["name"])?, word(&host["namespace"])?, words(&host["addresses"])))
            })
            .collect(),
    })
}

/// Whether the process of a record lives: it holds the lock.
fn is_alive(folder: &Path) -> bool {
    let lock = File::open(folder.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

fn folders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// The networks that run now, by name.
pub fn running() -> Vec<Record> {
    folders()
        .into_iter()
        .filter(|folder| is_alive(folder))
        .filter_map(|folder| read(&folder))
        .collect()
}

/// The network of this name, or the only one.
pub fn find(name: Option<&str>) -> Result<Record, String> {
    let mut running = running();
    let names: Vec<&str> = running.iter().map(|record| record.name.as_str()).collect();
    let names = names.join(", ");
    let start = "`plane net FILE --live` starts one, in another terminal";
    match name {
        Some(name) => {
            let known = running.into_iter().find(|record| record.name == name);
            known.ok_or_else(|| match names.as_str() {
                "" => format!("no live network is running: {start}"),
                names => format!("no live network `{name}` is running, but {names}"),
            })
        }
        None if running.len() > 1 => {
            Err(format!("several live networks are running: choose by --name one of {names}"))
        }
        None => running.pop().ok_or_else(|| format!("no live network is running: {start}")),
    }
}

/// What [`clean`] removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Networks whose process has ended.
    pub networks: Vec<String>,
    /// Their namespaces.
    pub namespaces: Vec<String>,
    /// Networks that still run.
    pub running: Vec<String>,
    /// What could not be removed.
    pub failures: Vec<String>,
}

/// Removes what crashed networks left: programs, namespaces, interfaces and records. Networks that run stay.
pub fn clean() -> Cleaned {
    let running = running();
    let mut cleaned = Cleaned::default();
    let is_kept =
        |namespace: &String| running.iter().any(|record| record.namespaces.contains(namespace));
    // Those of other users vanish with their last program.
    let all = if is_root() { kernel::all_namespaces() } else { Vec::new() };
    let left: Vec<String> = all.into_iter().filter(|namespace| !is_kept(namespace)).collect();
    cleaned.failures = kernel::remove(&left);
    for folder in folders() {
        if is_alive(&folder) {
            continue;
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match std::fs::remove_dir_all(&folder) {
            Ok(()) => cleaned.networks.push(name),
            Err(error) => cleaned.failures.push(cannot("remove", &folder, &error)),
        }
    }
    // Namespaces of records that are lost.
    for namespace in &left {
        let rest = namespace.strip_prefix(PREFIX).unwrap_or(namespace);
        let is_known = cleaned.networks.iter().any(|name| {
            rest.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        if !is_known && !rest.contains('.') {
            cleaned.networks.push(rest.to_string());
        }
    }
    cleaned.namespaces = left;
    cleaned.running = running.into_iter().map(|record| record.name).collect();
    cleaned
}

/// Names after a message about an unknown one: the nearest, and the first of all.
pub(crate) fn known_names<'n>(
    what: &str,
    unknown: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> String {
    let near = source::nearest(unknown, names.clone());
    let near = near.map(|near| format!(": `{near}` may be meant")).unwrap_or_default();
    let more = if names.clone().count() > 8 { ", ..." } else { "" };
    let first: Vec<&str> = names.take(8).collect();
    format!("{near}; its {what} are {}{more}", first.join(", "))
}

impl Record {
    /// The folder of the record.
    pub fn folder(&self) -> PathBuf {
        folder().join(&self.name)
    }

    /// The first address of a host.
    pub fn address(&self, host: &str) -> Option<String> {
        let (_, _, addresses) = self.hosts.iter().find(|(name, ..)| name == host)?;
        addresses.first().cloned()
    }

    /// A host's namespace.
    pub fn namespace(&self, host: &str) -> Result<PathBuf, String> {
        let found = self.hosts.iter().find(|(name, _, _)| name == host);
        match found {
            Some((_, namespace, _)) => Ok(kernel::namespace_path(namespace)),
            None => {
                let names = self.hosts.iter().map(|(name, _, _)| name.as_str());
                let known = known_names("hosts", host, names);
                Err(format!("the network `{}` has no host `{host}`{known}", self.name))
            }
        }
    }
}
