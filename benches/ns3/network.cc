// SPDX-License-Identifier: Apache-2.0
// Runs one network of TCP flows in ns-3 and prints what it measured as a JSON object. `compare.py` compiles it and runs
// `plane net` on the same networks. A device's queue pads each packet to the length of an Ethernet frame, since PPP's header
// is 12 bytes shorter. No interface has a queue disc but the one that marks.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

// Ethernet's header has 14 bytes, PPP's 2.
constexpr uint32_t PADDING_BYTES = 12;

class PaddingQueue : public DropTailQueue<Packet> {
public:
    static TypeId GetTypeId() {
        // `SetQueue` adds `<Packet>` to names of queues without it.
        static TypeId id = TypeId("PaddingQueue<Packet>")
                               .SetParent<DropTailQueue<Packet>>()
                               .AddConstructor<PaddingQueue>();
        return id;
    }

    // IPv4 removes what follows its packet, so each hop pads again.
    bool Enqueue(Ptr<Packet> packet) override {
        packet->AddPaddingAtEnd(PADDING_BYTES);
        return DropTailQueue<Packet>::Enqueue(packet);
    }
};

NS_OBJECT_ENSURE_REGISTERED(PaddingQueue);

// For how long how many packets waited, in a device's queue and the queue disc before it.
class WaitingPackets {
public:
    void InDevice(uint32_t, uint32_t now) {
        Account();
        inDevice = now;
    }

    void InDisc(uint32_t, uint32_t now) {
        Account();
        inDisc = now;
    }

    void Print(std::ostream& out) {
        Account();
        double total = 0;
        double weighted = 0;
        for (const auto& [packets, seconds] : times) {
            total += seconds;
            weighted += packets * seconds;
        }
        double above = total;
        uint32_t p99 = 0;
        uint32_t most = 0;
        for (const auto& [packets, seconds] : times) {
            if (above > 0.01 * total) {
                p99 = packets;
            }
            above -= seconds;
            most = packets;
        }
        out << "\"queue_mean\": " << weighted / total << ", \"queue_p99\": " << p99 << ", \"queue_max\": " << most;
    }

private:
    void Account() {
        Time now = Simulator::Now();
        if (now > since) {
            times[inDevice + inDisc] += (now - since).GetSeconds();
            since = now;
        }
    }

    std::map<uint32_t, double> times;
    Time since;
    uint32_t inDevice = 0;
    uint32_t inDisc = 0;
};

uint64_t frames = 0;
uint64_t drops = 0;

void CountFrame(Ptr<const Packet>) {
    ++frames;
}

void CountDrop(Ptr<const Packet>) {
    ++drops;
}

void CountDropOfDisc(Ptr<const QueueDiscItem>) {
    ++drops;
}

struct Flow {
    uint32_t from;
    uint32_t to;
    double start;
    uint64_t received = 0;
    double lastByte = -1;

    void Receive(Ptr<const Packet> packet, const Address&) {
        received += packet->GetSize();
        lastByte = Simulator::Now().GetSeconds();
    }
};

struct Options {
    std::string kind = "dumbbell";
    std::string control = "TcpNewReno";
    std::string rate = "10Mbps";
    std::string latency = "18ms";
    std::string accessRate = "1Gbps";
    std::string accessLatency = "1ms";
    std::string minRto = "1s";
    // "from-to@start" for each flow, with commas between.
    std::string flows;
    uint32_t hosts = 1;
    uint32_t queue = 50;
    uint32_t mark = 0;
    uint32_t segment = 1448;
    uint32_t window = 8 << 20;
    uint32_t initialWindow = 10;
    uint64_t bytes = 0;
    double loss = 0;
    double until = 10;
    bool delayedAck = true;
    bool sack = true;
    uint32_t seed = 1;
};

// A link between two nodes, with addresses of its own.
class Links {
public:
    Links() {
        addresses.SetBase("10.0.0.0", "255.255.255.252");
    }

    NetDeviceContainer Add(Ptr<Node> one, Ptr<Node> other, const std::string& rate, const std::string& latency,
                           uint32_t queue) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetChannelAttribute("Delay", StringValue(latency));
        link.SetQueue("PaddingQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
        NetDeviceContainer devices = link.Install(one, other);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        TrafficControlHelper().Uninstall(devices);
        for (uint32_t end = 0; end < 2; ++end) {
            devices.Get(end)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&CountFrame));
        }
        // A host's address is that of its one interface.
        hostAddresses[one->GetId()] = interfaces.GetAddress(0);
        hostAddresses[other->GetId()] = interfaces.GetAddress(1);
        return devices;
    }

    Ipv4Address Of(Ptr<Node> host) const {
        return hostAddresses.at(host->GetId());
    }

private:
    Ipv4AddressHelper addresses;
    std::map<uint32_t, Ipv4Address> hostAddresses;
};

// Marks packets as a step: at this many packets that wait in the disc.
void InstallMarking(Ptr<NetDevice> device, const Options& options, WaitingPackets& waiting) {
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("ns3::RedQueueDisc", "MinTh", DoubleValue(options.mark), "MaxTh", DoubleValue(options.mark),
                            "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, options.queue)), "UseEcn",
                            BooleanValue(true), "UseHardDrop", BooleanValue(false), "Gentle", BooleanValue(false), "QW",
                            DoubleValue(1), "MeanPktSize", UintegerValue(1500), "LinkBandwidth",
                            StringValue(options.rate), "LinkDelay", StringValue(options.latency));
    Ptr<QueueDisc> disc = helper.Install(device).Get(0);
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&WaitingPackets::InDisc, &waiting));
    disc->TraceConnectWithoutContext("Drop", MakeCallback(&CountDropOfDisc));
}

void Measure(Ptr<NetDevice> device, WaitingPackets& waiting) {
    Ptr<Queue<Packet>> queue = DynamicCast<PointToPointNetDevice>(device)->GetQueue();
    queue->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&WaitingPackets::InDevice, &waiting));
    // A device whose queue is full stops the layer above it, which drops.
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&CountDrop));
    Ptr<TrafficControlLayer> above = device->GetNode()->GetObject<TrafficControlLayer>();
    above->TraceConnectWithoutContext("TcDrop", MakeCallback(&CountDrop));
}

// Frames that wait in a host or for a port that is no bottleneck.
constexpr uint32_t DEEP_QUEUE = 1000;

NodeContainer Dumbbell(const Options& options, Links& links, WaitingPackets& waiting) {
    NodeContainer hosts(2 * options.hosts);
    NodeContainer routers(2);
    InternetStackHelper().Install(NodeContainer(hosts, routers));
    const uint32_t queue = options.mark > 0 ? 1 : options.queue;
    NetDeviceContainer bottleneck = links.Add(routers.Get(0), routers.Get(1), options.rate, options.latency, queue);
    if (options.mark > 0) {
        InstallMarking(bottleneck.Get(0), options, waiting);
    }
    Measure(bottleneck.Get(0), waiting);
    if (options.loss > 0) {
        Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(options.loss);
        bottleneck.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    for (uint32_t host = 0; host < hosts.GetN(); ++host) {
        Ptr<Node> router = routers.Get(host / options.hosts);
        links.Add(hosts.Get(host), router, options.accessRate, options.accessLatency, DEEP_QUEUE);
    }
    return hosts;
}

// All hosts at one router; the queue is that to the last host.
NodeContainer Star(const Options& options, Links& links, WaitingPackets& waiting) {
    NodeContainer hosts(options.hosts);
    NodeContainer router(1);
    InternetStackHelper().Install(NodeContainer(hosts, router));
    for (uint32_t host = 0; host < options.hosts; ++host) {
        const bool isLast = host + 1 == options.hosts;
        const uint32_t queue = isLast ? options.queue : DEEP_QUEUE;
        NetDeviceContainer devices = links.Add(hosts.Get(host), router.Get(0), options.rate, options.latency, queue);
        if (isLast) {
            Measure(devices.Get(1), waiting);
        }
    }
    return hosts;
}

// Four pods of two edge and two aggregation switches, four cores, 16 hosts.
NodeContainer FatTree(const Options& options, Links& links) {
    constexpr uint32_t K = 4;
    NodeContainer hosts(K * K * K / 4);
    NodeContainer edges(K * K / 2);
    NodeContainer aggregations(K * K / 2);
    NodeContainer cores(K * K / 4);
    for (const NodeContainer& nodes : {hosts, edges, aggregations, cores}) {
        InternetStackHelper().Install(nodes);
    }
    auto add = [&](Ptr<Node> one, Ptr<Node> other) {
        links.Add(one, other, options.rate, options.latency, options.queue);
    };
    for (uint32_t edge = 0; edge < edges.GetN(); ++edge) {
        const uint32_t pod = edge / (K / 2);
        for (uint32_t other = 0; other < K / 2; ++other) {
            add(hosts.Get(edge * K / 2 + other), edges.Get(edge));
            add(edges.Get(edge), aggregations.Get(pod * K / 2 + other));
            // Aggregation switches have the numbers of edge switches, and their cores in turn.
            add(aggregations.Get(edge), cores.Get(edge % (K / 2) * K / 2 + other));
        }
    }
    return hosts;
}

std::vector<Flow> ReadFlows(const std::string& text) {
    std::vector<Flow> flows;
    std::istringstream input(text);
    std::string one;
    while (std::getline(input, one, ',')) {
        Flow flow{};
        char dash = 0;
        char at = 0;
        std::istringstream(one) >> flow.from >> dash >> flow.to >> at >> flow.start;
        flows.push_back(flow);
    }
    return flows;
}

void SetDefaults(const Options& options) {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + options.control));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(options.segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(options.initialWindow));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(options.window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.window));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(options.delayedAck ? 2 : 1));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", StringValue("200ms"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue(options.minRto));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(options.sack));
    if (options.mark > 0) {
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    }
    RngSeedManager::SetRun(options.seed);
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    CommandLine command;
    command.AddValue("kind", "dumbbell, star or fat-tree", options.kind);
    command.AddValue("control", "class of the congestion control", options.control);
    command.AddValue("rate", "rate of the bottleneck, or of all links", options.rate);
    command.AddValue("latency", "latency of the bottleneck, or of all links", options.latency);
    command.AddValue("access-rate", "rate of the links of hosts", options.accessRate);
    command.AddValue("access-latency", "latency of the links of hosts", options.accessLatency);
    command.AddValue("min-rto", "least retransmission timeout", options.minRto);
    command.AddValue("flows", "flows: from-to@start,...", options.flows);
    command.AddValue("hosts", "hosts, of a dumbbell on each side", options.hosts);
    command.AddValue("queue", "packets that may wait at the bottleneck", options.queue);
    command.AddValue("mark", "packets in the queue disc from which on it marks; 0 has no disc", options.mark);
    command.AddValue("segment", "payload of a segment", options.segment);
    command.AddValue("initial-window", "segments of the initial window", options.initialWindow);
    command.AddValue("bytes", "bytes of each flow; 0 has no end", options.bytes);
    command.AddValue("loss", "probability that the bottleneck loses a packet of the flows", options.loss);
    command.AddValue("until", "simulated seconds", options.until);
    command.AddValue("delayed-ack", "acknowledge every second segment", options.delayedAck);
    command.AddValue("sack", "selective acknowledgements", options.sack);
    command.AddValue("seed", "number of the run", options.seed);
    command.Parse(argc, argv);
    SetDefaults(options);

    WaitingPackets waiting;
    Links links;
    NodeContainer hosts;
    if (options.kind == "star") {
        hosts = Star(options, links, waiting);
    } else if (options.kind == "fat-tree") {
        hosts = FatTree(options, links);
    } else {
        hosts = Dumbbell(options, links, waiting);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<Flow> flows = ReadFlows(options.flows);
    uint16_t port = 5001;
    for (Flow& flow : flows) {
        InetSocketAddress at(links.Of(hosts.Get(flow.to)), port);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        ApplicationContainer receiver = sink.Install(hosts.Get(flow.to));
        receiver.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Flow::Receive, &flow));
        BulkSendHelper source("ns3::TcpSocketFactory", at);
        source.SetAttribute("MaxBytes", UintegerValue(options.bytes));
        source.SetAttribute("SendSize", UintegerValue(options.segment));
        source.Install(hosts.Get(flow.from)).Start(Seconds(flow.start));
        ++port;
    }
    Simulator::Stop(Seconds(options.until));
    Simulator::Run();

    std::cout.precision(12);
    std::cout << "{\"frames\": " << frames << ", \"drops\": " << drops << ", ";
    if (options.kind != "fat-tree") {
        waiting.Print(std::cout);
        std::cout << ", ";
    }
    std::cout << "\"flows\": [";
    for (std::size_t at = 0; at < flows.size(); ++at) {
        const Flow& flow = flows[at];
        const bool isComplete = options.bytes > 0 && flow.received == options.bytes;
        std::cout << (at > 0 ? ", " : "") << "{\"bytes\": " << flow.received << ", \"completion\": ";
        if (isComplete) {
            std::cout << flow.lastByte - flow.start;
        } else {
            std::cout << "null";
        }
        std::cout << "}";
    }
    std::cout << "]}" << std::endl;
    Simulator::Destroy();
    return 0;
}
