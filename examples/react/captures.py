#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the captures of these examples again: synthetic packets at exact times, the same bytes each time.

Usage: captures.py [EXAMPLE...]
"""

import pathlib
import random
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
US = 1_000


def write(example, name, packets, snap_bytes=65535):
    """Writes (time in ns, bytes) as a capture with nanoseconds; longer packets are cut to `snap_bytes`."""
    folder = HERE / example / "captures"
    folder.mkdir(exist_ok=True)
    with open(folder / f"{name}.pcap", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snap_bytes, 1))
        for time_ns, packet in sorted(packets, key=lambda packet: packet[0]):
            kept = packet[:snap_bytes]
            seconds, rest_ns = divmod(time_ns, 1_000_000_000)
            file.write(struct.pack("<IIII", seconds, rest_ns, len(kept), len(packet)) + kept)


def figure1():
    """The queue of port 4 grows, then that of port 9; each third packet misses."""
    packets = []
    for number in range(60):
        port = 1 + number % 10
        depth = {4: number, 9: 2 * number - 50}.get(port, 3)
        foo = 8 if number % 3 == 2 else 7
        packets.append((number * 10 * US, struct.pack("!IIIHH", foo, 1, 1000, port, max(depth, 0))))
    write("figure1", "in", packets)


def figure4():
    write("figure4", "in", [(number * 10 * US, struct.pack("!HH", 100, 0)) for number in range(12)])


def figure5():
    """Fields that grow by the table's amounts; a key of 9 misses."""
    packets = []
    for number in range(12):
        key = 9 if number == 6 else 1 + number % 2
        foo, bar, baz = [(30, 10, 20), (20, 30, 10), (10, 20, 30)][number // 4]
        packets.append((number * 20 * US, struct.pack("!IIII", key, foo, bar, baz)))
    write("figure5", "in", packets)


def figure6():
    """Packets with 5 in foo or in bar, or in neither."""
    values = [(5, 6), (6, 5), (6, 6)]
    packets = []
    for number in range(30):
        foo, bar = values[number % 3]
        packets.append((number * 20 * US, struct.pack("!IIIH", foo, bar, 0, 0)))
    write("figure6", "in", packets)


def field_arg():
    packets = []
    for number in range(8):
        head = struct.pack("!HhQ", (number % 8) << 13 | number, 190 + 5 * number, number * 1_000_000_007)
        address = bytes.fromhex("0200000000") + bytes([number])
        packet = head[:4] + address + head[4:] + bytes(range(16 * number, 16 * number + 16))
        packets.append((number * 100 * US, packet + bytes(20)))
    write("field_arg", "in", packets)


def mbl_table():
    """10.0.0.1, which the first entry matches, another of 10.0.0.0/8, and 11.0.0.1, which none matches."""
    packets = []
    for number in range(36):
        address = (0x0A000001, 0x0A0000FF, 0x0B000001)[number % 3]
        packets.append((number * 15 * US, struct.pack("!IHH", address, number, 0)))
    write("mbl_table", "in", packets)


def table_add_del_mod():
    """Four destinations, one of them without a route; sizes inside and outside of the ranges; one of 666."""
    packets = []
    for number in range(40):
        address = (0x0A000001, 0x0A010001, 0x0A010101, 0x0C000001)[number % 4]
        size = 666 if number == 20 else (64, 1000)[number // 4 % 2]
        packets.append((number * 10 * US, struct.pack("!IIHBB", 0x0A000001, address, size, 1, 0)))
    write("table_add_del_mod", "in", packets)


def checksum(data):
    """RFC 1071."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(source, destination, length_bytes, protocol=17, identification=0, tos=0, ports=(4000, 9)):
    """An Ethernet frame of so many bytes with IPv4 and ports."""
    header = struct.pack(
        "!BBHHHBBHII", 0x45, tos, length_bytes - 14, identification, 0, 64, protocol, 0, source, destination
    )
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    head = bytes.fromhex("020000000001 020000000002 0800") + header + struct.pack("!HH", *ports)
    return head + bytes(length_bytes - len(head))


def dos():
    """40 senders share 2 Gbit/s; at 300 us 10.0.9.9 joins with 5 Gbit/s. Frames of 1500 bytes, cut to 64."""
    server = 0xC0000201
    packets = []
    for number in range(170):
        packets.append((number * 6 * US, ipv4(0x0A000001 + number % 40, server, 1500)))
    for number in range(160):
        packets.append((300 * US + number * 2_400, ipv4(0x0A000909, server, 1500)))
    write("dos", "in", packets, snap_bytes=64)


def gray_failure():
    """Heartbeats from three neighbours each 5 us. At 300 us port 2 begins to lose seven of eight of them."""
    heartbeat = bytes.fromhex("0180c2000000 020000000002 88b5") + bytes(46)
    for port in (1, 2, 3):
        packets = []
        for number in range(120):
            time_ns = (5 * number + port) * US
            if port == 2 and time_ns >= 300 * US and number % 8:
                continue
            packets.append((time_ns, heartbeat))
        write("gray_failure", f"neighbour{port}", packets)
    packets = []
    for number in range(120):
        destination = 0x0A010001 + (number % 5 << 16)
        packets.append((number * 5 * US, ipv4(0x0A000001, destination, 64, identification=number)))
    write("gray_failure", "host", packets)


def crc16(data):
    """CRC-16 with the polynomial 0x8005, reflected: `HashAlgorithm.crc16`."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0xA001 if value & 1 else value >> 1
    return value


def hash_polarization():
    """80 flows that a switch with the same hash over two paths sent here: all have an even hash."""
    numbers = random.Random(3)
    flows = []
    while len(flows) < 80:
        source = 0x0A000000 | numbers.randrange(1 << 24)
        destination = 0xC0000200 | numbers.randrange(1, 255)
        ports = (numbers.randrange(32768, 61000), numbers.choice((80, 443, 8080)))
        if crc16(struct.pack("!IIBHH", source, destination, 6, *ports)) % 2 == 0:
            flows.append((source, destination, ports))
    packets = []
    for number in range(480):
        source, destination, ports = numbers.choice(flows)
        packets.append((number * 2 * US, ipv4(source, destination, 64, protocol=6, ports=ports)))
    write("hash_polarization", "in", packets)


def dctcp_rl():
    """Two senders with bursts that fill a queue for a link of 200 Mb/s. Frames of 256 bytes, cut to 64, ECN-capable."""
    for sender in (2, 3):
        packets = []
        for number in range(224):
            burst, place = divmod(number, 28)
            time_ns = (600 * burst + 10 * place + sender) * US
            packet = ipv4(0x0A000000 + sender, 0x0A000001, 256, protocol=6, identification=number, tos=2)
            packets.append((time_ns, packet))
        write("dctcp_rl", f"sender{sender}", packets, snap_bytes=64)


EXAMPLES = {
    "figure1": figure1,
    "figure4": figure4,
    "figure5": figure5,
    "figure6": figure6,
    "field_arg": field_arg,
    "mbl_table": mbl_table,
    "table_add_del_mod": table_add_del_mod,
    "dos": dos,
    "gray_failure": gray_failure,
    "dctcp_rl": dctcp_rl,
    "hash_polarization": hash_polarization,
}


def main():
    names = sys.argv[1:] or list(EXAMPLES)
    unknown = [name for name in names if name not in EXAMPLES]
    if unknown:
        sys.exit(f"no such example: {' '.join(unknown)}; there are: {' '.join(EXAMPLES)}")
    for name in names:
        EXAMPLES[name]()


if __name__ == "__main__":
    main()
