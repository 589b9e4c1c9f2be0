// SPDX-License-Identifier: Apache-2.0
//! The use cases of the paper: the programs of `examples/react`.

/// A use case.
pub(super) struct UseCase {
    pub title: &'static str,
    pub name: &'static str,
    pub text: &'static str,
}

pub(super) const DOS: UseCase = UseCase {
    title: "flow sizes and DoS",
    name: "dos.p4r",
    text: include_str!("../../../../examples/react/dos/dos.p4r"),
};

pub(super) const GRAY_FAILURE: UseCase = UseCase {
    title: "gray failures",
    name: "gray_failure.p4r",
    text: include_str!("../../../../examples/react/gray_failure/gray_failure.p4r"),
};

pub(super) const HASH_POLARIZATION: UseCase = UseCase {
    title: "hash polarization",
    name: "hash_polarization.p4r",
    text: include_str!("../../../../examples/react/hash_polarization/hash_polarization.p4r"),
};

pub(super) const DCTCP_RL: UseCase = UseCase {
    title: "reinforcement learning",
    name: "dctcp_rl.p4r",
    text: include_str!("../../../../examples/react/dctcp_rl/dctcp_rl.p4r"),
};

/// The use cases in the order of Table 1.
pub(super) const USE_CASES: [&UseCase; 4] = [&DOS, &GRAY_FAILURE, &HASH_POLARIZATION, &DCTCP_RL];
