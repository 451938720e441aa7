// TCP NewReno flows over a dumbbell in ns-3.37: goodput, and how many packets leave links in a second of wall time.
// Constants are ns-3's own, but for the segment, whether SACK is used, how many segments an acknowledgement stands for and
// buffers that bind nobody. (ns-3.37's TcpClassicRecovery and a MinRto below 1 s are not a reference: with 1 % loss the former
// sends faster than any formula for Reno allows.)
// Access links of 100 Mbit/s and 5 ms on both sides of the bottleneck; drop-tail queues; no traces unless --count.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <iostream>

using namespace ns3;

static uint64_t packet_hops = 0;

static void
CountHop(Ptr<const Packet>)
{
    ++packet_hops;
}

// A link of two point-to-point devices, addressed, without the queue discipline that ns-3 puts in front of them.
static NetDeviceContainer
Connect(Ptr<Node> a, Ptr<Node> b, double mbps, double ms, uint32_t queue, Ipv4AddressHelper& addresses)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(mbps * 1e6)));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(ms / 1e3)));
    // The packet being sent does not count here.
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue - 1)));
    NetDeviceContainer devices = link.Install(a, b);
    addresses.Assign(devices);
    addresses.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    return devices;
}

int
main(int argc, char* argv[])
{
    double rate = 10, delay = 40, loss = 0, time = 200, warmup = 20;
    uint32_t queue = 100, flows = 1, seed = 1, ack_every = 1, segment = 1000;
    bool sack = false, count = false;
    CommandLine cmd;
    cmd.AddValue("rate", "bottleneck, Mbit/s", rate);
    cmd.AddValue("delay", "bottleneck, ms one way", delay);
    cmd.AddValue("queue", "bottleneck, packets with the one being sent", queue);
    cmd.AddValue("loss", "share of packets lost behind the bottleneck, data direction", loss);
    cmd.AddValue("flows", "TCP flows", flows);
    cmd.AddValue("time", "end, s", time);
    cmd.AddValue("warmup", "goodput counts from here, s", warmup);
    cmd.AddValue("seed", "run number", seed);
    cmd.AddValue("ack", "segments an acknowledgement", ack_every);
    cmd.AddValue("segment", "bytes", segment);
    cmd.AddValue("sack", "selective acknowledgements", sack);
    cmd.AddValue("count", "count packet-hops (slower)", count);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(ack_every));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1000 * segment));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1000 * segment));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));

    NodeContainer routers(2), left(flows), right(flows);
    InternetStackHelper stack;
    stack.Install(NodeContainer(routers, left, right));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    NetDeviceContainer bottleneck = Connect(routers.Get(0), routers.Get(1), rate, delay, queue, addresses);
    if (loss > 0)
    {
        Ptr<RateErrorModel> model = CreateObject<RateErrorModel>();
        model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        model->SetRate(loss);
        bottleneck.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(model));
    }

    ApplicationContainer sinks;
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        Connect(left.Get(flow), routers.Get(0), 100, 5, 10000, addresses);
        Connect(routers.Get(1), right.Get(flow), 100, 5, 10000, addresses);
        Ipv4Address to = right.Get(flow)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
        InetSocketAddress address(to, 5000);
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", address).Install(right.Get(flow)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", address);
        bulk.SetAttribute("SendSize", UintegerValue(segment));
        ApplicationContainer source = bulk.Install(left.Get(flow));
        source.Start(Seconds(start->GetValue()));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    if (count)
    {
        Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::PointToPointNetDevice/PhyTxEnd",
                                      MakeCallback(&CountHop));
    }

    uint64_t before = 0;
    auto received = [&sinks] {
        uint64_t total = 0;
        for (auto sink = sinks.Begin(); sink != sinks.End(); ++sink)
        {
            total += DynamicCast<PacketSink>(*sink)->GetTotalRx();
        }
        return total;
    };
    Simulator::Schedule(Seconds(warmup), [&] { before = received(); });
    Simulator::Stop(Seconds(time));
    auto began = std::chrono::steady_clock::now();
    Simulator::Run();
    double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::cout << "{\"goodput_bps\": " << std::fixed << (received() - before) * 8 / (time - warmup)
              << ", \"packet_hops\": " << packet_hops << ", \"wall_s\": " << wall << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
