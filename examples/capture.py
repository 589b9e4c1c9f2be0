#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Regenerates the captures of the examples from real traffic between network namespaces.

Usage (as root, on Linux): capture.py [EXAMPLE...]

Each example's hosts are namespaces joined by a switch namespace, in which the kernel forwards (a
bridge or a router). What arrives at port N of the switch is captured with tcpdump. What the hosts
say is in traffic.py. Every step is bounded in time, and all namespaces and processes are removed
at the end, also after an error.

Debian packages: tcpdump iproute2 iputils-ping ethtool nftables curl dnsmasq-base bind9-dnsutils
"""

import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TRAFFIC = HERE / "traffic.py"
# No step takes longer than this, in seconds.
LIMIT_S = 30


def run(*command, check=True):
    """Runs a command to its end; its output appears only when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_S,
        check=False,
    )
    if check and done.returncode != 0:
        output = done.stdout.decode(errors="replace")
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{output}")
    return done.returncode


def host_mac(port):
    """The MAC address of the host at a port."""
    return f"02:00:00:00:01:{port:02x}"


def port_mac(port):
    """The MAC address of the switch's port."""
    return f"02:00:00:00:00:{port:02x}"


class Network:
    """A switch namespace with a host namespace at each port."""

    def __init__(self, has_ipv6=False):
        self.prefix = f"pw{os.getpid()}-"
        self.has_ipv6 = has_ipv6
        self.namespaces = []
        self.processes = []
        self.captures = []
        self.ports = []

    def __enter__(self):
        self.add_namespace("switch")
        return self

    def __exit__(self, *_):
        for process in self.captures + self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        for namespace in self.namespaces:
            run("ip", "netns", "del", namespace, check=False)

    def add_namespace(self, name):
        namespace = self.prefix + name
        run("ip", "netns", "add", namespace)
        self.namespaces.append(namespace)
        self.inside(name, "ip", "link", "set", "lo", "up")
        if not self.has_ipv6:
            for scope in ("all", "default"):
                self.inside(name, "sysctl", "-qw", f"net.ipv6.conf.{scope}.disable_ipv6=1")

    def inside(self, name, *command, check=True):
        """Runs a command in a namespace to its end."""
        return run("ip", "netns", "exec", self.prefix + name, *command, check=check)

    def start(self, name, *command):
        """Starts a command in a namespace; it is ended with the network."""
        arguments = ["ip", "netns", "exec", self.prefix + name, *map(str, command)]
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def traffic(self, name, *arguments, check=True):
        """Runs a sender of traffic.py to its end."""
        return self.inside(name, sys.executable, TRAFFIC, *arguments, check=check)

    def start_traffic(self, name, *arguments):
        """Starts a receiver or server of traffic.py and gives it time to listen."""
        process = self.start(name, sys.executable, TRAFFIC, *arguments)
        time.sleep(0.4)
        return process

    def add_host(self, port, *addresses, gateways=()):
        """Adds host `h<port>` with its addresses at a port of the switch."""
        name, device = f"h{port}", f"p{port}"
        self.add_namespace(name)
        self.ports.append(port)
        self.inside(
            "switch", "ip", "link", "add", device, "address", port_mac(port), "type", "veth",
            "peer", "name", "eth0", "address", host_mac(port), "netns", self.prefix + name,
        )
        for owner, interface in (("switch", device), (name, "eth0")):
            # Without these the capture has packets no wire carries: longer than the MTU, and
            # with checksums left for hardware to fill in.
            self.inside(
                owner, "ethtool", "-K", interface,
                "tx", "off", "tso", "off", "gso", "off", "gro", "off",
            )
            self.inside(owner, "ip", "link", "set", interface, "up")
        for address in addresses:
            nodad = ["nodad"] if ":" in address else []
            self.inside(name, "ip", "address", "add", address, "dev", "eth0", *nodad)
        for gateway in gateways:
            family = "-6" if ":" in gateway else "-4"
            self.inside(name, "ip", family, "route", "add", "default", "via", gateway)

    def make_bridge(self):
        """Lets the switch forward by MAC address."""
        self.inside(
            "switch", "ip", "link", "add", "br0", "type", "bridge",
            "stp_state", "0", "mcast_snooping", "0",
        )
        self.inside("switch", "ip", "link", "set", "br0", "up")
        for port in self.ports:
            self.inside("switch", "ip", "link", "set", f"p{port}", "master", "br0")

    def make_router(self, addresses):
        """Lets the switch forward by IP address; `addresses` are (port, address) pairs."""
        self.inside("switch", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        if self.has_ipv6:
            self.inside("switch", "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        for port, address in addresses:
            nodad = ["nodad"] if ":" in address else []
            self.inside("switch", "ip", "address", "add", address, "dev", f"p{port}", *nodad)

    def start_capture(self, example):
        """Captures what arrives at every port, to captures/host<port>.pcap of the example."""
        time.sleep(1.0 if self.has_ipv6 else 0.2)
        directory = HERE / example / "captures"
        directory.mkdir(parents=True, exist_ok=True)
        for port in self.ports:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.prefix + "switch", "tcpdump", "-n", "-Z", "root",
                 "-i", f"p{port}", "-Q", "in", "-s", "0", "--time-stamp-precision=nano",
                 "--immediate-mode", "-w", str(directory / f"host{port}.pcap")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )
            self.captures.append(process)
            # It says "listening on" once every further packet is captured.
            process.stderr.readline()

    def stop_capture(self):
        time.sleep(0.3)
        for process in self.captures:
            process.terminate()
            process.wait(timeout=LIMIT_S)


def router():
    """Ping, HTTP with congestion losses, DNS, and packets a router must drop."""
    with Network(has_ipv6=True) as network:
        for port, v4, v6 in (
            (1, "10.0.1", "2001:db8:1:"), (2, "10.0.2", "2001:db8:2:"), (3, "192.0.2", "2001:db8:3:"),
        ):
            network.add_host(
                port, f"{v4}.10/24", f"{v6}:10/64", gateways=(),
            )
            network.make_router([(port, f"{v4}.1/24"), (port, f"{v6}:1/64")])
            network.inside(f"h{port}", "ip", "route", "add", "default", "via", f"{v4}.1")
            network.inside(f"h{port}", "ip", "-6", "route", "add", "default", "via", f"{v6}:1")
        # A queue of a few packets before host 1: TCP fills it, loses packets and sends them again.
        network.inside(
            "switch", "tc", "qdisc", "add", "dev", "p1", "root", "tbf",
            "rate", "4mbit", "burst", "3100", "limit", "9000",
        )
        network.start_traffic("h3", "http-server", "8080")
        network.start(
            "h3", "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv",
            "--no-hosts", "--user=root", "--pid-file=", "--port=53",
            "--host-record=www.example.com,192.0.2.10,2001:db8:3::10",
        )
        network.start_capture("router")
        network.inside("h1", "ping", "-c4", "-i0.05", "10.0.2.10")
        network.inside("h1", "ping", "-c4", "-i0.05", "2001:db8:3::10")
        network.inside("h2", "ping", "-c3", "-i0.05", "2001:db8:1::10")
        for server in ("192.0.2.10", "2001:db8:3::10"):
            for kind in ("A", "AAAA", "MX"):
                network.inside("h2", "dig", "+tries=1", f"@{server}", "www.example.com", kind)
        curl = ("curl", "-sS", "-o", "/dev/null", "-A", "client", "--max-time", "20")
        network.inside("h1", *curl, "http://192.0.2.10:8080/96000")
        network.inside("h2", *curl, "http://[2001:db8:3::10]:8080/24000")
        # What must be dropped: TTL exceeded, no route, IPv4 options, bad header checksum.
        network.inside("h1", "ping", "-c2", "-i0.05", "-W1", "-t1", "10.0.2.10", check=False)
        network.inside("h1", "ping", "-c2", "-i0.05", "-W1", "203.0.113.7", check=False)
        network.inside("h1", "ping", "-c2", "-i0.05", "-W1", "-R", "10.0.2.10", check=False)
        network.traffic("h2", "bad-checksum", "10.0.2.10", "10.0.1.10", port_mac(2), "3")
        network.stop_capture()


EXAMPLES = {
    "router": router,
}


def main():
    names = sys.argv[1:] or list(EXAMPLES)
    unknown = [name for name in names if name not in EXAMPLES]
    if unknown:
        sys.exit(f"no such example: {' '.join(unknown)}; there are: {' '.join(EXAMPLES)}")
    if os.geteuid() != 0:
        sys.exit("network namespaces need root")
    for name in names:
        print(f"capturing {name}", flush=True)
        EXAMPLES[name]()


if __name__ == "__main__":
    main()
