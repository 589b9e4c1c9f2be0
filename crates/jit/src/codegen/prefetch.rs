// SPDX-License-Identifier: Apache-2.0
//! Prefetch instructions, which Cranelift lacks. On x86-64 a load of an unused byte is marked by its trap code,
//! and `make_prefetches` rewrites it to `prefetcht0` in the machine code: both have the same length and
//! addressing. On other machines the runtime is called.

use super::function::FunctionCompiler;
use crate::runtime::tables as runtime;
use cranelift_codegen::MachTrap;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, TrapCode, Value, types};

/// Trap code of loads that become prefetches.
const IS_PREFETCH: TrapCode = TrapCode::unwrap_user(2);

impl FunctionCompiler<'_, '_> {
    /// Prefetches the cache line at an address, which may be invalid.
    pub fn prefetch_at(&mut self, address: Value) {
        if cfg!(target_arch = "x86_64") {
            // Cranelift keeps an unused load that may trap.
            let flags = MemFlagsData::new().with_trap_code(Some(IS_PREFETCH));
            self.builder.ins().load(types::I8, flags, address, 0);
        } else {
            self.call(runtime::prefetch_address(), &[address]);
        }
    }
}

/// Rewrites the marked loads in a function's machine code to prefetches. `None` when one is not encoded as
/// expected.
pub(crate) fn make_prefetches(code: &mut [u8], traps: &[MachTrap]) -> Option<()> {
    for trap in traps.iter().filter(|trap| trap.code == IS_PREFETCH) {
        make_prefetch(code.get_mut(trap.offset as usize..)?)?;
    }
    Some(())
}

/// Rewrites `movzx register, byte [address]` at the start of `code` to `prefetcht0 [address]`: prefixes and
/// address stay, the opcode changes, and 1 replaces the register.
fn make_prefetch(code: &mut [u8]) -> Option<()> {
    const REX: std::ops::RangeInclusive<u8> = 0x40..=0x4f;
    const REX_W_AND_R: u8 = 0x0c;
    let at = usize::from(REX.contains(code.first()?));
    let [0x0f, opcode @ 0xb6, mod_rm, ..] = code.get_mut(at..)? else { return None };
    *opcode = 0x18;
    *mod_rm = *mod_rm & 0xc7 | 1 << 3;
    if at == 1 {
        code[0] &= !REX_W_AND_R;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(load: &[u8], expected: Option<&[u8]>) {
        let mut code = load.to_vec();
        let traps = [MachTrap { offset: 0, code: IS_PREFETCH }];
        let made = make_prefetches(&mut code, &traps).map(|()| &code[..]);
        assert_eq!(made, expected);
    }

    #[test]
    fn loads_of_a_byte_become_prefetches() {
        // movzx rax, byte [rdx + rdi * 4]
        check(&[0x48, 0x0f, 0xb6, 0x04, 0xba], Some(&[0x40, 0x0f, 0x18, 0x0c, 0xba]));
        // movzx r9d, byte [r11 + 14]
        check(&[0x45, 0x0f, 0xb6, 0x4b, 0x0e], Some(&[0x41, 0x0f, 0x18, 0x4b, 0x0e]));
        // movzx eax, byte [rdi]
        check(&[0x0f, 0xb6, 0x07], Some(&[0x0f, 0x18, 0x0f]));
        // mov rax, [rdi]
        check(&[0x48, 0x8b, 0x07], None);
        check(&[], None);
    }

    #[test]
    fn other_traps_stay() {
        let mut code = [0x48, 0x0f, 0xb6, 0x04, 0xba];
        let traps = [MachTrap { offset: 0, code: TrapCode::INTEGER_OVERFLOW }];
        assert_eq!(make_prefetches(&mut code, &traps), Some(()));
        assert_eq!(code, [0x48, 0x0f, 0xb6, 0x04, 0xba]);
    }
}
