// SPDX-License-Identifier: Apache-2.0
// The hashes of Domino for programs that g++ compiles: CRC-16 with the reflected polynomial 0xa001, bit by bit.
static unsigned crc_of(unsigned crc, unsigned word) {
  for (unsigned at = 0; at < 32; at += 8) {
    crc ^= (word >> at) & 0xffu;
    for (unsigned bit = 0; bit < 8; bit++) crc = (crc & 1u) ? (crc >> 1) ^ 0xa001u : crc >> 1;
  }
  return crc;
}
template <class A, class B> static NUMBER hash2(A a, B b) { return (NUMBER) (int) crc_of(crc_of(0, bits(a)), bits(b)); }
template <class A, class B> static NUMBER hash2a(A a, B b) { return hash2(a, b); }
template <class A, class B> static NUMBER hash2b(A a, B b) { return hash2(a, b); }
template <class A, class B> static NUMBER hash2c(A a, B b) { return hash2(a, b); }
template <class A, class B, class C> static NUMBER hash3(A a, B b, C c) {
  return (NUMBER) (int) crc_of(crc_of(crc_of(0, bits(a)), bits(b)), bits(c));
}
