// SPDX-License-Identifier: Apache-2.0
// The Portable NIC Architecture as DPDK has it: packet lengths for counters and meters, IPsec.
#define PLANEWRIGHT_PNA_DPDK
#include <pna.p4>
