#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the hosts of the examples say that no ready-made program says: small servers, and senders of
packets that need a raw socket. Run by capture.py inside the hosts' network namespaces; the network
itself is made there.
"""

import fcntl
import http.server
import os
import re
import select
import socket
import struct
import subprocess
import sys
import time


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


def udp_socket(address="", port=0):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    udp.bind((address, int(port)))
    return udp


def udp_sink(port):
    """Receives and does not answer."""
    with udp_socket(port=port) as udp:
        while True:
            udp.recv(65536)


def udp_echo(port):
    """Sends everything back."""
    with udp_socket(port=port) as udp:
        while True:
            data, sender = udp.recvfrom(65536)
            udp.sendto(data, sender)


def send_udp(source, source_port, destination, port, count, interval_ms, size):
    """Sends datagrams of `size` bytes at a fixed interval."""
    with udp_socket(source, source_port) as udp:
        start = time.monotonic()
        for number in range(int(count)):
            time.sleep(max(0.0, start + number * int(interval_ms) / 1000 - time.monotonic()))
            payload = struct.pack("!I", number).ljust(int(size), b".")
            udp.sendto(payload, (destination, int(port)))


def connect_in_vain(source, destination, ports):
    """Tries to connect to TCP ports that do not answer, long enough for one more try each."""
    attempts = []
    for port in ports.split(","):
        tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        tcp.bind((source, 0))
        tcp.setblocking(False)
        tcp.connect_ex((destination, int(port)))
        attempts.append(tcp)
    time.sleep(1.3)
    for tcp in attempts:
        tcp.close()


def source_route_tunnel(address, *routes):
    """Carries the IP packets of a TUN device in Ethernet frames with a source route.

    A route is DESTINATION=MAC=PORT,PORT,...: an output port for every switch on the path. Frames
    that arrive lose what is left of their route.
    """
    table = {}
    for route in routes:
        destination, mac, ports = route.split("=")
        hops = [int(port) for port in ports.split(",")]
        hops[-1] |= 0x8000
        stack = struct.pack(f"!{len(hops)}H", *hops)
        table[socket.inet_aton(destination)] = mac_bytes(mac) + own_mac() + b"\x88\xb5" + stack

    tunnel = os.open("/dev/net/tun", os.O_RDWR)
    set_interface, tun_without_header = 0x400454CA, 0x1001
    fcntl.ioctl(tunnel, set_interface, struct.pack("16sH22x", b"route0", tun_without_header))
    for command in (f"address add {address} dev route0", "link set route0 mtu 1400 up"):
        subprocess.run(["ip", *command.split()], check=True, timeout=10)
    with raw_socket(0x88B5) as raw:
        while True:
            for ready in select.select([tunnel, raw], [], [])[0]:
                if ready == tunnel:
                    packet = os.read(tunnel, 65536)
                    head = table.get(packet[16:20])
                    if head and packet[0] >> 4 == 4:
                        raw.send(head + packet)
                else:
                    frame, sender = raw.recvfrom(65536)
                    if sender[2] == socket.PACKET_OUTGOING or frame[:6] != own_mac():
                        continue
                    offset = 14
                    while offset < len(frame) and not frame[offset] & 0x80:
                        offset += 2
                    os.write(tunnel, frame[offset + 2:])


def telemetry_probe(destination, port, count, reports):
    """Sends datagrams with a telemetry option; `reports` are SWITCH:QUEUE,... already in it."""
    pairs = [tuple(map(int, report.split(":"))) for report in reports.split(",") if report]
    option = struct.pack("!BBH", 31, 4 + 8 * len(pairs), len(pairs))
    option += b"".join(struct.pack("!II", *pair) for pair in pairs)
    with udp_socket() as udp:
        udp.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, option)
        for number in range(int(count)):
            udp.sendto(f"probe {number}".encode(), (destination, int(port)))
            time.sleep(0.02)


def send_calculator(raw, destination, body):
    raw.send(mac_bytes(destination) + own_mac() + b"\x88\xb6" + body)
    time.sleep(0.01)


def calculator_requests(destination, *sums):
    """Sends requests such as 7+5; the operation is one character."""
    with raw_socket() as raw:
        for text in sums:
            left, operation, right = re.fullmatch(r"(\d+)(.)(\d+)", text).groups()
            body = b"P4\x01" + operation.encode() + struct.pack("!III", int(left), int(right), 0)
            send_calculator(raw, destination, body)


def calculator_malformed(destination):
    """Sends what must not be answered: another version, another magic, two that end too early."""
    good = b"P4\x01+" + struct.pack("!III", 1, 2, 0)
    with raw_socket() as raw:
        for body in (b"P4\x02" + good[3:], b"p4\x01" + good[3:], good[:11], good[:2]):
            send_calculator(raw, destination, body)


def multicast_member(group, port):
    """Joins a group and receives."""
    with udp_socket(port=port) as udp:
        membership = socket.inet_aton(group) + socket.inet_aton("0.0.0.0")
        udp.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        while True:
            udp.recv(65536)


def multicast_send(group, port, ttl, count):
    """Sends datagrams to a group."""
    with udp_socket() as udp:
        udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, int(ttl))
        for number in range(int(count)):
            udp.sendto(f"to all of {group}: {number}".encode(), (group, int(port)))
            time.sleep(0.02)


COMMANDS = {
    "http-server": http_server,
    "bad-checksum": bad_checksum,
    "udp-sink": udp_sink,
    "udp-echo": udp_echo,
    "send-udp": send_udp,
    "connect-in-vain": connect_in_vain,
    "source-route-tunnel": source_route_tunnel,
    "telemetry-probe": telemetry_probe,
    "calculator-requests": calculator_requests,
    "calculator-malformed": calculator_malformed,
    "multicast-member": multicast_member,
    "multicast-send": multicast_send,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
