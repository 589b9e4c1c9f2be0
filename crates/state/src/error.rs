// SPDX-License-Identifier: Apache-2.0
//! `UpdateError`: why the store refused an update or a read, in the control plane's terms, with a stable code each.
//! Transports map it to a gRPC status or a line of text.

use crate::{GroupId, MemberId};
use std::fmt;
use std::sync::Arc;

/// Classes of errors that transports distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The named object does not exist.
    NotFound,
    /// The object to be added exists.
    AlreadyExists,
    /// The request does not fit the program.
    InvalidArgument,
    /// There is no room.
    ResourceExhausted,
    /// The program forbids it.
    PermissionDenied,
    /// Other state prevents it now.
    FailedPrecondition,
    /// Not applied because another item of the batch failed.
    Aborted,
}

/// A part of an error whose names can be replaced.
trait Named {
    fn with_names(self, rename: &dyn Fn(&Arc<str>) -> Arc<str>) -> Self;
}

impl Named for Arc<str> {
    fn with_names(self, rename: &dyn Fn(&Arc<str>) -> Arc<str>) -> Arc<str> {
        rename(&self)
    }
}

macro_rules! nameless {
    ($($ty:ty),*) => {
        $(impl Named for $ty {
            fn with_names(self, _: &dyn Fn(&Arc<str>) -> Arc<str>) -> $ty {
                self
            }
        })*
    };
}

nameless!(u32, u64, usize, String, &'static str, GroupId, MemberId);

macro_rules! errors {
    ($(
        $(#[$doc:meta])*
        $name:ident $({ $($field:ident: $ty:ty),* $(,)? })? = $code:literal $class:ident $text:literal;
    )*) => {
        /// Why an update or a read was refused. The display form is what a user reads.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // The fields are what the message is made of.
        pub enum UpdateError {
            $($(#[$doc])* $name $({ $($field: $ty),* })?,)*
        }

        impl UpdateError {
            /// The stable code.
            pub fn code(&self) -> &'static str {
                match self {
                    $(UpdateError::$name { .. } => $code,)*
                }
            }

            /// Replaces the names of objects: calls `rename` with each name.
            pub fn renamed(self, rename: &dyn Fn(&Arc<str>) -> Arc<str>) -> UpdateError {
                match self {
                    $(UpdateError::$name $({ $($field),* })? => {
                        UpdateError::$name $({ $($field: $field.with_names(rename)),* })?
                    })*
                }
            }

            /// The broad kind.
            pub fn class(&self) -> ErrorClass {
                match self {
                    $(UpdateError::$name { .. } => ErrorClass::$class,)*
                }
            }
        }

        impl fmt::Display for UpdateError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(UpdateError::$name $({ $($field),* })? => write!(f, $text),)*
                }
            }
        }

        #[cfg(test)]
        const CODES: &[&str] = &[$($code),*];
    };
}

errors! {
    /// A handle that the program does not have.
    NoSuchObject { kind: &'static str, index: u32 } = "ST-E01" NotFound
        "the program has no {kind} number {index}";
    /// The table has as many entries as it declares.
    TableFull { table: Arc<str>, size: u64 } = "ST-E02" ResourceExhausted
        "table `{table}` is full: it is declared with {size} entries; it keeps what it has";
    /// The same keys and priority are there.
    EntryExists { table: Arc<str>, entry: String } = "ST-E03" AlreadyExists
        "table `{table}` already has an entry for {entry}; modify or delete that one";
    /// No entry has these keys and this priority.
    NoSuchEntry { table: Arc<str>, entry: String } = "ST-E04" NotFound
        "table `{table}` has no entry for {entry}";
    /// The entries are constant.
    ConstEntries { table: Arc<str> } = "ST-E05" PermissionDenied
        "the entries of table `{table}` are `const`: the program fixes them";
    /// The default action is constant.
    ConstDefaultAction { table: Arc<str> } = "ST-E06" PermissionDenied
        "the default action of table `{table}` is `const`: the program fixes it";
    /// Too few or too many keys.
    WrongKeyCount { object: Arc<str>, expected: usize, given: usize } = "ST-E07" InvalidArgument
        "`{object}` matches on {expected} key(s), {given} given";
    /// A value with more bits than its key.
    KeyTooWide { object: Arc<str>, key: Arc<str>, width_bits: u32, value: String } = "ST-E08" InvalidArgument
        "{value} does not fit key `{key}` of `{object}`, which has {width_bits} bits";
    /// A pattern that the key's match kind cannot express.
    PatternNotOfKind { object: Arc<str>, key: Arc<str>, match_kind: Arc<str>, pattern: &'static str } = "ST-E09" InvalidArgument
        "key `{key}` of `{object}` is matched by `{match_kind}`, which takes no {pattern}";
    /// A prefix longer than its key.
    PrefixTooLong { object: Arc<str>, key: Arc<str>, width_bits: u32, length_bits: u32 } = "ST-E10" InvalidArgument
        "a prefix of {length_bits} bits does not fit key `{key}` of `{object}`, which has {width_bits} bits";
    /// A range whose low end lies above its high end.
    EmptyRange { object: Arc<str>, key: Arc<str>, low: String, high: String } = "ST-E11" InvalidArgument
        "the range {low}..{high} for key `{key}` of `{object}` is empty";
    /// The table does not list the action.
    ActionNotInTable { table: Arc<str>, action: Arc<str> } = "ST-E12" InvalidArgument
        "table `{table}` does not list action `{action}`";
    /// `@defaultonly` in an entry.
    ActionDefaultOnly { table: Arc<str>, action: Arc<str> } = "ST-E13" PermissionDenied
        "action `{action}` is `@defaultonly` in table `{table}`: entries cannot use it";
    /// `@tableonly` as the default.
    ActionTableOnly { table: Arc<str>, action: Arc<str> } = "ST-E14" PermissionDenied
        "action `{action}` is `@tableonly` in table `{table}`: it cannot be the default action";
    /// Too few or too many arguments.
    WrongArgumentCount { action: Arc<str>, expected: usize, given: usize } = "ST-E15" InvalidArgument
        "action `{action}` takes {expected} argument(s), {given} given";
    /// A value with more bits than its parameter.
    ArgumentTooWide { action: Arc<str>, parameter: Arc<str>, width_bits: u32, value: String } = "ST-E16" InvalidArgument
        "{value} does not fit parameter `{parameter}` of action `{action}`, which has {width_bits} bits";
    /// A direct action in a table with an action profile.
    NeedsMember { table: Arc<str>, profile: Arc<str> } = "ST-E17" InvalidArgument
        "table `{table}` takes its actions from `{profile}`: give a member, a group or a weighted set";
    /// A member or group in a table without an action profile.
    NoProfile { table: Arc<str> } = "ST-E18" InvalidArgument
        "table `{table}` has no action profile: give an action";
    /// A group of a profile that is no selector.
    NoSelector { profile: Arc<str> } = "ST-E19" InvalidArgument
        "action profile `{profile}` is no selector: it has no groups";
    /// No such member.
    NoSuchMember { profile: Arc<str>, member: MemberId } = "ST-E20" NotFound
        "action profile `{profile}` has no member {member}";
    /// Member is there.
    MemberExists { profile: Arc<str>, member: MemberId } = "ST-E21" AlreadyExists
        "action profile `{profile}` already has a member {member}";
    /// Member is referred to.
    MemberInUse { profile: Arc<str>, member: MemberId } = "ST-E22" FailedPrecondition
        "member {member} of `{profile}` is still used by an entry or a group";
    /// Profile has as many members as it declares.
    ProfileFull { profile: Arc<str>, size: u64 } = "ST-E23" ResourceExhausted
        "action profile `{profile}` is full: it is declared with {size} members; it keeps what it has";
    /// No such group.
    NoSuchGroup { profile: Arc<str>, group: GroupId } = "ST-E24" NotFound
        "action selector `{profile}` has no group {group}";
    /// Group is there.
    GroupExists { profile: Arc<str>, group: GroupId } = "ST-E25" AlreadyExists
        "action selector `{profile}` already has a group {group}";
    /// Group is referred to.
    GroupInUse { profile: Arc<str>, group: GroupId } = "ST-E26" FailedPrecondition
        "group {group} of `{profile}` is still used by an entry";
    /// Group has more members than it may.
    GroupTooLarge { profile: Arc<str>, group: GroupId, limit: u32 } = "ST-E27" ResourceExhausted
        "group {group} of `{profile}` may have {limit} members at most";
    /// A weight of zero.
    ZeroWeight { profile: Arc<str> } = "ST-E28" InvalidArgument
        "weights in `{profile}` are at least 1";
    /// An idle timeout in a table without.
    NoIdleTimeout { table: Arc<str> } = "ST-E29" InvalidArgument
        "table `{table}` does not declare that its entries may time out";
    /// Value set is full.
    ValueSetFull { set: Arc<str>, size: u64 } = "ST-E30" ResourceExhausted
        "value set `{set}` is full: it is declared with {size} members; it keeps what it has";
    /// Value set member is there.
    ValueSetMemberExists { set: Arc<str>, member: String } = "ST-E31" AlreadyExists
        "value set `{set}` already has the member {member}";
    /// No such value set member.
    NoSuchValueSetMember { set: Arc<str>, member: String } = "ST-E32" NotFound
        "value set `{set}` has no member {member}";
    /// An index beyond an array.
    IndexOutOfBounds { object: Arc<str>, index: u64, size: u64 } = "ST-E33" InvalidArgument
        "index {index} is outside `{object}`, which has {size} cells";
    /// A value with more bits than a register's cell.
    RegisterValueTooWide { register: Arc<str>, width_bits: u32, value: String } = "ST-E34" InvalidArgument
        "{value} does not fit a cell of register `{register}`, which has {width_bits} bits";
    /// An index for a direct counter or meter.
    IsDirect { object: Arc<str> } = "ST-E35" InvalidArgument
        "`{object}` is attached to a table: name an entry instead of an index";
    /// An entry for an indexed counter or meter.
    IsIndexed { object: Arc<str> } = "ST-E36" InvalidArgument
        "`{object}` is not attached to a table: give an index instead of an entry";
    /// A committed rate above the peak rate.
    RatesReversed { meter: Arc<str> } = "ST-E37" InvalidArgument
        "the committed rate for `{meter}` is above its peak rate";
    /// No such multicast group.
    NoSuchMulticastGroup { group: u32 } = "ST-E38" NotFound
        "there is no multicast group {group}";
    /// Multicast group is there.
    MulticastGroupExists { group: u32 } = "ST-E39" AlreadyExists
        "there already is a multicast group {group}";
    /// No such clone session.
    NoSuchCloneSession { session: u32 } = "ST-E40" NotFound
        "there is no clone session {session}";
    /// Clone session is there.
    CloneSessionExists { session: u32 } = "ST-E41" AlreadyExists
        "there already is a clone session {session}";
    /// The same copy twice.
    DuplicateReplica { egress_port: u32, instance: u32 } = "ST-E42" InvalidArgument
        "the replica for port {egress_port} with instance {instance} is given twice";
    /// CRC parameters beyond the CRC's width.
    CrcParametersTooWide { width_bits: u32 } = "ST-E43" InvalidArgument
        "polynomial, initial value and final exclusive-or of this CRC have {width_bits} bits";
    /// Another item failed.
    Aborted = "ST-E44" Aborted
        "not done, because another update of the batch failed";
    /// More cells than one request may name.
    TooManyCells { object: Arc<str>, size: u64 } = "ST-E45" InvalidArgument
        "`{object}` has {size} cells, too many for one request: name a range of them";
    /// Registers, counters or meters in a batch of configuration only.
    CellsAreTheDevices = "ST-E46" FailedPrecondition
        "registers, counters and meters belong to the device that runs the program: ask the device";
    /// A calculation that the program does not have.
    NoSuchCalculation { number: u32 } = "ST-E47" NotFound
        "the program has no calculation number {number}";
    /// The numbers of values and of cells differ.
    WrongCellCount { object: Arc<str>, cells: u64, given: usize } = "ST-E48" InvalidArgument
        "{given} value(s) given for {cells} cell(s) of `{object}`";
    /// The entry named by its place was deleted or replaced.
    EntryChanged { table: Arc<str>, place: u32, generation: u64 } = "ST-E49" FailedPrecondition
        "table `{table}` no longer has entry {generation} at place {place}: look the entry up again";
}

impl std::error::Error for UpdateError {}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_ascending() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn messages_speak_of_the_users_objects() {
        let error = UpdateError::TableFull { table: "ingress.ipv4_lpm".into(), size: 1024 };
        assert_eq!(error.code(), "ST-E02");
        assert_eq!(
            error.to_string(),
            "table `ingress.ipv4_lpm` is full: it is declared with 1024 entries; it keeps what it has"
        );
        let error = UpdateError::NoSuchMember { profile: "ap".into(), member: MemberId(7) };
        assert_eq!(error.to_string(), "action profile `ap` has no member 7");
    }
}
