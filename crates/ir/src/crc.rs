// SPDX-License-Identifier: Apache-2.0
//! Calculations of a program: CRCs whose parameters a control plane may set. CRCs themselves are in
//! `arithmetic`.

use crate::OriginId;
use arithmetic::crc::CrcParameters;
use std::sync::Arc;

/// The widths that a calculation may have, in bits.
pub const CRC_WIDTHS_BITS: std::ops::RangeInclusive<u32> = 8..=32;

/// A CRC at a place of the program, with parameters of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Calculation {
    /// The name that a control plane sets its parameters by.
    pub name: Arc<str>,
    /// Parameters until the control plane sets others; the width is in [`CRC_WIDTHS_BITS`].
    pub parameters: CrcParameters,
    /// The call, or the object's declaration.
    pub origin: OriginId,
}
