#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The controller of the exercise flowcache: an entry for each flow on its first packet, until no packet came for 3 s."""
import json
import sys

CPU_PORT = 510
CLONE_SESSION = 57
SEND_TO_PORT = 1
TIMEOUT_MS = 3000
DSCP = 5
# The port behind which each switch has a host, by the third byte of the host's address.
PORTS = {
    "s1": {1: 1, 2: 2, 3: 3},
    "s2": {1: 2, 2: 1, 3: 3},
    "s3": {1: 2, 2: 3, 3: 1},
}

entries = set()


def write(**message):
    print(json.dumps(message))


for line in sys.stdin:
    message = json.loads(line)
    if message["event"] == "hello":
        for name in message["switches"]:
            write(switch=name, command=f"mirroring_add {CLONE_SESSION} {CPU_PORT}")
    elif message["event"] == "packet_in":
        switch, frame = message["switch"], bytes.fromhex(message["bytes"])
        protocol, source, target = frame[23], frame[26:30], frame[30:34]
        port = PORTS[switch][target[2]]
        host = f"08000000{target[2]:02x}{target[2] * 0x11:02x}"
        metadata = {"opcode": SEND_TO_PORT, "operand0": port}
        write(switch=switch, packet_out=host + frame[6:].hex(), metadata=metadata)
        key = f"{protocol} 0x{source.hex()} 0x{target.hex()}"
        if (switch, key) not in entries:
            entries.add((switch, key))
            command = f"table_add flow_cache cached_action {key} => {port} 1 {DSCP} 0x{host}"
            write(switch=switch, command=command, idle_timeout_ms=TIMEOUT_MS)
    elif message["event"] == "idle_timeout":
        keys = message["keys"]
        names = ("protocol", "srcAddr", "dstAddr")
        protocol, source, target = (int(keys[f"hdr.ipv4.{name}"], 0) for name in names)
        entries.discard((message["switch"], f"{protocol} 0x{source:08x} 0x{target:08x}"))
        write(switch=message["switch"], command=f"table_delete flow_cache {message['handle']}")
    print(json.dumps({"done": True}), flush=True)
