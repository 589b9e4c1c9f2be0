#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the hosts of the examples say that no ready-made program says: small servers, and senders of
packets that need a raw socket. Run by capture.py inside the hosts' network namespaces; the network
itself is made there.
"""

import http.server
import socket
import struct
import sys


def internet_checksum(data):
    """RFC 1071."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def raw_socket(protocol=0):
    """A socket that sends and receives whole Ethernet frames on eth0."""
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    raw.bind(("eth0", protocol))
    return raw


def own_mac():
    with raw_socket() as raw:
        return raw.getsockname()[4]


def http_server(port):
    """Answers GET /N with N bytes of text, over IPv4 and IPv6."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "server"
        sys_version = ""

        def do_GET(self):
            size = int(self.path.strip("/") or "0")
            line = b"All packets are equal, but some match a longer prefix.\n"
            body = (line * (size // len(line) + 1))[:size]
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(size))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

    try:
        server = Server(("", int(port)), Handler)
    except OSError:
        Server.address_family = socket.AF_INET
        server = Server(("", int(port)), Handler)
    server.serve_forever()


def bad_checksum(source, destination, gateway_mac, count):
    """Sends UDP packets whose IPv4 header checksum is off by one."""
    payload = b"bad header checksum"
    with raw_socket() as raw:
        for number in range(int(count)):
            header = struct.pack(
                "!BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), number, 0, 64, 17, 0,
                socket.inet_aton(source), socket.inet_aton(destination),
            )
            checksum = (internet_checksum(header) + 1) & 0xFFFF
            header = header[:10] + struct.pack("!H", checksum) + header[12:]
            udp = struct.pack("!HHHH", 40000, 9, 8 + len(payload), 0)
            raw.send(mac_bytes(gateway_mac) + own_mac() + b"\x08\x00" + header + udp + payload)


COMMANDS = {
    "http-server": http_server,
    "bad-checksum": bad_checksum,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
