// SPDX-License-Identifier: Apache-2.0
//! Typed indices into the lists of a [`crate::Program`].

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub u32);

            impl $name {
                /// As an index into the program's list.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

handles! {
    /// Index into [`crate::Program::slots`].
    SlotId;
    /// Index into [`crate::Program::header_types`].
    HeaderTypeId;
    /// Index into [`crate::Program::headers`].
    HeaderId;
    /// Index into [`crate::Program::stacks`].
    StackId;
    /// Index into [`crate::Program::tables`].
    TableId;
    /// Index into [`crate::Program::actions`].
    ActionId;
    /// Index into [`crate::Program::registers`].
    RegisterId;
    /// Index into [`crate::Program::counters`].
    CounterId;
    /// Index into [`crate::Program::meters`].
    MeterId;
    /// Index into [`crate::Program::action_profiles`].
    ActionProfileId;
    /// Index into [`crate::Program::value_sets`].
    ValueSetId;
    /// Index into [`crate::Program::calculations`].
    CalculationId;
    /// Index into [`crate::Program::requests`].
    RequestId;
    /// Index into [`crate::Program::externs`].
    ExternId;
    /// Index into [`crate::Program::regions`].
    RegionId;
    /// Index into [`crate::Program::origins`].
    OriginId;
}
