// SPDX-License-Identifier: Apache-2.0
// The core library: what every P4_16 architecture shares (P4_16 v1.2.5 appendix D).
#ifndef _CORE_P4_
#define _CORE_P4_

// What a parser, or `verify` in it, can report. Programs and architectures add their own.
error {
    NoError,               // nothing went wrong
    PacketTooShort,        // `extract` or `advance` beyond the end of the packet
    NoMatch,               // no case of a `select` fits
    StackOutOfBounds,      // a header stack has no element to extract into
    HeaderTooShort,        // more bits asked for than the varbit field holds
    ParserTimeout,         // the parser took more steps than the target allows
    ParserInvalidArgument  // an argument that the target cannot serve
}

// The packet as it arrives: a cursor over its bits, used by parsers.
extern packet_in {
    // Fills a header of fixed size and moves on. An invalid header becomes valid.
    void extract<T>(out T hdr);
    // Fills a header with one varbit field, which takes this many bits.
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);
    // Reads without moving on.
    T lookahead<T>();
    // Moves on without reading.
    void advance(in bit<32> sizeInBits);
    // The whole packet's length in bytes, where the architecture knows it.
    bit<32> length();
}

// The packet as it leaves: headers are appended in the order they are emitted.
extern packet_out {
    // Appends a header if it is valid; of stacks, unions and structs, all that is valid in them.
    void emit<T>(in T hdr);
}

// In a parser: when `check` is false, stop in state `reject` with this error.
extern void verify(in bool check, in error toSignal);

// Does nothing. The default action of a table that names no other.
@noWarn("unused")
action NoAction() {}

// How table keys match, on every architecture. Each may add kinds.
match_kind {
    exact,    // equal
    ternary,  // equal where a mask has ones
    lpm       // equal in a prefix, the longest one wins
}

// Checked while compiling; false ends the compilation with the message. The result is `true`, so
// that the check can initialise a constant.
extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);

#endif
