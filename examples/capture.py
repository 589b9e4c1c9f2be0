#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Regenerates the captures of the examples from real traffic between network namespaces.

Usage (as root, on Linux): capture.py [EXAMPLE...]

Each example's hosts are namespaces joined by a switch namespace, in which the kernel forwards (a
bridge or a router). What arrives at port N of the switch is captured with tcpdump. What the hosts
say is in traffic.py. Every step is bounded in time, and all namespaces and processes are removed
at the end, also after an error.

Debian packages: tcpdump iproute2 iputils-ping ethtool curl dnsmasq-base bind9-dnsutils procps
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

    def start_dns_server(self, name, addresses):
        """Starts a name server that knows www.example.com only."""
        self.start(
            name, "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv",
            "--no-hosts", "--user=root", "--pid-file=", "--port=53",
            f"--host-record=www.example.com,{addresses}",
        )
        time.sleep(0.4)

    def resolve(self, name, server, kind="A"):
        """Asks a name server for www.example.com."""
        self.inside(name, "dig", "+tries=1", "+time=3", f"@{server}", "www.example.com", kind)

    def download(self, name, url):
        """Fetches a page over HTTP."""
        self.inside(
            name, "curl", "-sS", "-o", "/dev/null", "-A", "client", "--max-time", "20", url
        )

    def ping(self, name, *arguments, check=True):
        """Pings twenty times a second."""
        self.inside(name, "ping", "-i0.05", "-W1", *arguments, check=check)

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
            (1, "10.0.1", "2001:db8:1:"),
            (2, "10.0.2", "2001:db8:2:"),
            (3, "192.0.2", "2001:db8:3:"),
        ):
            network.add_host(
                port, f"{v4}.10/24", f"{v6}:10/64", gateways=(f"{v4}.1", f"{v6}:1"),
            )
            network.make_router([(port, f"{v4}.1/24"), (port, f"{v6}:1/64")])
        # A queue of a few packets before host 1: TCP fills it, loses packets and sends them again.
        network.inside(
            "switch", "tc", "qdisc", "add", "dev", "p1", "root", "tbf",
            "rate", "4mbit", "burst", "3100", "limit", "9000",
        )
        network.start_traffic("h3", "http-server", "8080")
        network.start_dns_server("h3", "192.0.2.10,2001:db8:3::10")
        network.start_capture("router")
        network.ping("h1", "-c4", "10.0.2.10")
        network.ping("h1", "-c4", "2001:db8:3::10")
        network.ping("h2", "-c3", "2001:db8:1::10")
        for server in ("192.0.2.10", "2001:db8:3::10"):
            for kind in ("A", "AAAA", "MX"):
                network.resolve("h2", server, kind)
        network.download("h1", "http://192.0.2.10:8080/96000")
        network.download("h2", "http://[2001:db8:3::10]:8080/24000")
        # What must be dropped: TTL exceeded, no route, IPv4 options, bad header checksum.
        network.ping("h1", "-c2", "-t1", "10.0.2.10", check=False)
        network.ping("h1", "-c2", "203.0.113.7", check=False)
        network.ping("h1", "-c2", "-R", "10.0.2.10", check=False)
        network.traffic("h2", "bad-checksum", "10.0.2.10", "10.0.1.10", port_mac(2), "3")
        network.stop_capture()


def learning_switch():
    """Four hosts on one Ethernet: ARP, neighbour discovery, ping, a page and a name."""
    with Network(has_ipv6=True) as network:
        for port in (1, 2, 3, 4):
            network.add_host(port, f"10.0.0.{port}/24", f"2001:db8::{port}/64")
        network.make_bridge()
        network.start_traffic("h2", "http-server", "8080")
        network.start_dns_server("h4", "10.0.0.2")
        network.start_capture("learning_switch")
        network.ping("h1", "-c4", "10.0.0.2")
        network.ping("h1", "-c3", "10.0.0.3")
        network.ping("h3", "-c3", "10.0.0.4")
        network.ping("h4", "-c3", "2001:db8::2")
        network.resolve("h3", "10.0.0.4")
        network.download("h1", "http://10.0.0.2:8080/12000")
        network.download("h3", "http://10.0.0.2:8080/3000")
        network.stop_capture()


def stateful_firewall():
    """A client inside, servers outside, and a stranger outside who tries to come in."""
    with Network() as network:
        network.add_host(1, "10.0.0.10/24")
        network.add_host(2, "10.0.0.20/24", "10.0.0.66/24")
        network.make_bridge()
        # The firewall is in the example, not here. So that the client is as silent to the stranger
        # as it will be behind the firewall, it has no route back to it.
        network.inside("h1", "ip", "route", "add", "blackhole", "10.0.0.66/32")
        network.start_traffic("h2", "http-server", "8080")
        network.start_dns_server("h2", "10.0.0.20")
        network.start_traffic("h1", "udp-sink", "5353")
        network.start_traffic("h1", "udp-sink", "161")
        network.start_capture("stateful_firewall")
        network.ping("h1", "-c3", "10.0.0.20")
        network.ping("h2", "-c2", "-I", "10.0.0.20", "10.0.0.10")
        network.resolve("h1", "10.0.0.20")
        network.download("h1", "http://10.0.0.20:8080/40000")
        network.traffic("h2", "connect-in-vain", "10.0.0.66", "10.0.0.10", "22,80,443,3389,8080")
        network.traffic("h2", "send-udp", "10.0.0.66", "40161", "10.0.0.10", "161", "4", "20", "60")
        network.traffic("h2", "send-udp", "10.0.0.20", "5354", "10.0.0.10", "5353", "3", "20", "60")
        network.resolve("h1", "10.0.0.20", "AAAA")
        network.download("h1", "http://10.0.0.20:8080/500")
        network.stop_capture()


def ecmp():
    """A client fetches pages and names from one address that three servers share."""
    service = "203.0.113.80"
    with Network() as network:
        network.add_host(1, "10.0.1.10/24", gateways=("10.0.1.1",))
        addresses = [(1, "10.0.1.1/24")]
        for port in (2, 3, 4):
            network.add_host(port, f"10.0.{port}.10/24", gateways=(f"10.0.{port}.1",))
            network.inside(f"h{port}", "ip", "address", "add", f"{service}/32", "dev", "lo")
            addresses.append((port, f"10.0.{port}.1/24"))
        network.make_router(addresses)
        network.inside("switch", "sysctl", "-qw", "net.ipv4.fib_multipath_hash_policy=1")
        hops = [word for port in (2, 3, 4) for word in ("nexthop", "via", f"10.0.{port}.10")]
        network.inside("switch", "ip", "route", "add", service, *hops)
        for port in (2, 3, 4):
            network.start_traffic(f"h{port}", "http-server", "8080")
            network.start_dns_server(f"h{port}", service)
        network.start_capture("ecmp")
        for _ in range(24):
            network.download("h1", f"http://{service}:8080/900")
        for _ in range(16):
            network.resolve("h1", service)
        network.ping("h1", "-c4", service)
        network.ping("h1", "-c1", "-t1", service, check=False)
        network.stop_capture()


def source_routing():
    """IP inside a source route: tunnels put the route before every packet."""
    with Network() as network:
        for port in (1, 2, 3):
            network.add_host(port)
        network.make_bridge()
        network.start_capture("source_routing")
        # From host 1 this switch is the first of three to host 2, and the first of two to host 3;
        # from both it is the last hop of the path back.
        tunnels = {
            1: [f"10.0.1.2={host_mac(2)}=2,7,4", f"10.0.1.3={host_mac(3)}=3,1"],
            2: [f"10.0.1.1={host_mac(1)}=1"],
            3: [f"10.0.1.1={host_mac(1)}=1"],
        }
        for port, routes in tunnels.items():
            network.start_traffic(f"h{port}", "source-route-tunnel", f"10.0.1.{port}/24", *routes)
        network.start_traffic("h2", "http-server", "8080")
        network.ping("h1", "-c5", "10.0.1.2")
        network.ping("h1", "-c4", "10.0.1.3")
        network.ping("h3", "-c2", "10.0.1.1")
        network.download("h1", "http://10.0.1.2:8080/20000")
        # Without a source route: must be dropped.
        network.inside("h1", "ip", "address", "add", "192.0.2.1/24", "dev", "eth0")
        network.inside("h2", "ip", "address", "add", "192.0.2.2/24", "dev", "eth0")
        network.ping("h1", "-c2", "192.0.2.2")
        network.stop_capture()


def telemetry():
    """UDP with a telemetry option that is empty, partly filled, or full; and ping without one."""
    with Network() as network:
        for port in (1, 2):
            network.add_host(port, f"10.0.{port}.10/24", gateways=(f"10.0.{port}.1",))
        network.make_router([(port, f"10.0.{port}.1/24") for port in (1, 2)])
        network.start_traffic("h2", "udp-echo", "7000")
        network.start_capture("telemetry")
        for reports, count in (("", 5), ("7:12", 3), ("9:0,8:70000,7:3", 2), ("4:4,3:3,2:2,1:1", 2)):
            network.traffic("h1", "telemetry-probe", "10.0.2.10", "7000", str(count), reports)
        network.ping("h1", "-c3", "10.0.2.10")
        network.ping("h1", "-c1", "-R", "10.0.2.10")
        network.stop_capture()


def calculator():
    """Two hosts send sums to a calculator; some are not sums."""
    with Network() as network:
        for port in (1, 2):
            network.add_host(port, f"10.0.0.{port}/24")
        network.make_bridge()
        network.start_capture("calculator")
        network.traffic(
            "h1", "calculator-requests", port_mac(1),
            "7+5", "1-2", "4294967295+1", "4294967295s1", "12s30",
            "65280&4080", "65280|4080", "65280^4080", "6*7",
        )
        network.traffic("h2", "calculator-requests", port_mac(2), "40+2", "100-58", "3^3")
        network.traffic("h2", "calculator-malformed", port_mac(2))
        network.ping("h1", "-c1", "10.0.0.2")
        network.stop_capture()


def multicast():
    """Senders and members of two multicast groups, with the members' IGMP reports."""
    with Network() as network:
        for port in (1, 2, 3, 4):
            network.add_host(port, f"10.0.0.{port}/24")
            network.inside(f"h{port}", "ip", "route", "add", "224.0.0.0/4", "dev", "eth0")
        network.make_bridge()
        network.start_capture("multicast")
        for port, group in ((2, "239.1.1.1"), (3, "239.1.1.1"), (4, "239.1.1.1"), (3, "239.1.7.7")):
            network.start_traffic(f"h{port}", "multicast-member", group, "5000")
        network.traffic("h1", "multicast-send", "239.1.1.1", "5000", "8", "10")
        network.traffic("h1", "multicast-send", "239.1.7.7", "5000", "8", "5")
        network.traffic("h4", "multicast-send", "239.1.1.1", "5000", "8", "4")
        # Not to be forwarded: a TTL of 1, and a group without a route.
        network.traffic("h1", "multicast-send", "239.1.1.1", "5000", "1", "2")
        network.traffic("h2", "multicast-send", "239.2.0.1", "5000", "8", "3")
        network.stop_capture()


def meter_police():
    """One subscriber sends faster than agreed, in bursts; the other keeps to its rate."""
    with Network() as network:
        network.add_host(1, "10.0.0.11/24", "10.0.0.12/24")
        network.add_host(2, "10.0.0.20/24")
        network.make_bridge()
        network.start_traffic("h2", "udp-sink", "9000")
        network.start_capture("meter_police")
        fast = network.start_traffic(
            "h1", "send-udp", "10.0.0.11", "40011", "10.0.0.20", "9000", "120", "10", "958"
        )
        network.traffic(
            "h1", "send-udp", "10.0.0.12", "40012", "10.0.0.20", "9000", "30", "35", "958"
        )
        fast.wait(timeout=LIMIT_S)
        network.ping("h2", "-c3", "10.0.0.11")
        network.stop_capture()


EXAMPLES = {
    "router": router,
    "learning_switch": learning_switch,
    "stateful_firewall": stateful_firewall,
    "ecmp": ecmp,
    "source_routing": source_routing,
    "telemetry": telemetry,
    "calculator": calculator,
    "multicast": multicast,
    "meter_police": meter_police,
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
