// SPDX-License-Identifier: Apache-2.0
// The Portable Switch Architecture as DPDK has it: counters and meters take a packet length.
#define PLANEWRIGHT_PSA_DPDK
#include <psa.p4>
