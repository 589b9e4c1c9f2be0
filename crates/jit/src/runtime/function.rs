// SPDX-License-Identifier: Apache-2.0
//! Addresses and signatures of the runtime's functions, for the code generator.

/// A function of the runtime: every parameter is 64 bits wide, and so is the result, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuntimeFunction {
    /// Its address.
    pub address: usize,
    /// Number of parameters.
    pub parameters: usize,
    /// Whether it has a result.
    pub has_result: bool,
}

/// Declares constructors, by number of parameters, for functions with or without a result.
macro_rules! constructors {
    ($($name:ident $parameters:literal ($($parameter:ty),*) $(-> $result:ty)?;)*) => {
        impl RuntimeFunction {$(
            #[doc = concat!("A function with ", $parameters, " parameters.")]
            pub fn $name(function: unsafe extern "C" fn($($parameter),*) $(-> $result)?) -> RuntimeFunction {
                let has_result = false $(|| size_of::<$result>() > 0)?;
                RuntimeFunction { address: function as usize, parameters: $parameters, has_result }
            }
        )*}
    };
}

constructors! {
    taking_1 1 (u64);
    taking_2 2 (u64, u64);
    taking_3 3 (u64, u64, u64);
    taking_4 4 (u64, u64, u64, u64);
    taking_5 5 (u64, u64, u64, u64, u64);
    giving_2 2 (u64, u64) -> u64;
    giving_3 3 (u64, u64, u64) -> u64;
    giving_4 4 (u64, u64, u64, u64) -> u64;
    giving_5 5 (u64, u64, u64, u64, u64) -> u64;
    giving_6 6 (u64, u64, u64, u64, u64, u64) -> u64;
    giving_7 7 (u64, u64, u64, u64, u64, u64, u64) -> u64;
}
