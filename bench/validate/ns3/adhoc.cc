// TCP NewReno flows over an ad-hoc network of IEEE 802.11b with AODV in ns-3.37: bytes that each flow's receiver got.
// Constants are ns-3's own, but for the rates, RTS before every frame, ns-2's powers and thresholds, the queue
// and the buffers of TCP.
// Standard input: a line `node X Y` for each station, in metres, and a line `flow FROM TO START` for each flow.

#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <iostream>
#include <vector>

using namespace ns3;

struct Flow
{
    uint32_t from, to;
    double start;
};

int
main(int argc, char* argv[])
{
    double time = 60, warmup = 10, received_dbm = -64.375, sensed_dbm = -78.072;
    uint32_t seed = 1, segment = 1000, window = 20, queue = 50;
    CommandLine cmd;
    cmd.AddValue("time", "end, s", time);
    cmd.AddValue("warmup", "goodput counts from here, s", warmup);
    cmd.AddValue("received", "power from which frames are received, dBm", received_dbm);
    cmd.AddValue("sensed", "power from which frames are sensed, dBm", sensed_dbm);
    cmd.AddValue("seed", "run number", seed);
    cmd.AddValue("segment", "bytes", segment);
    cmd.AddValue("window", "buffers of TCP, segments", window);
    cmd.AddValue("queue", "interface queue, packets", queue);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);

    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    std::vector<Flow> flows;
    std::string word;
    uint32_t stations = 0;
    while (std::cin >> word)
    {
        double a, b, c;
        if (word == "node" && std::cin >> a >> b)
        {
            places->Add(Vector(a, b, 0));
            ++stations;
        }
        else if (word == "flow" && std::cin >> a >> b >> c)
        {
            flows.push_back({uint32_t(a), uint32_t(b), c});
        }
        else
        {
            std::cerr << "adhoc: can't read '" << word << "'" << std::endl;
            return 2;
        }
    }

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window * segment));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * segment));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(0));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));

    NodeContainer nodes(stations);
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    // ns-2's radio: 0.28183815 W at 914 MHz, antennas 1.5 m high.
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(914e6),
                               "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(24.5));
    phy.Set("TxPowerEnd", DoubleValue(24.5));
    phy.Set("RxSensitivity", DoubleValue(sensed_dbm));
    phy.Set("CcaEdThreshold", DoubleValue(sensed_dbm));
    phy.Set("CcaSensitivity", DoubleValue(sensed_dbm));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(received_dbm));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("DsssRate11Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    AodvHelper aodv;
    InternetStackHelper stack;
    stack.SetRoutingHelper(aodv);
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);

    ApplicationContainer sinks;
    for (uint32_t i = 0; i < flows.size(); ++i)
    {
        InetSocketAddress to(interfaces.GetAddress(flows[i].to), 5000 + i);
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", to).Install(nodes.Get(flows[i].to)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", to);
        bulk.SetAttribute("SendSize", UintegerValue(segment));
        bulk.Install(nodes.Get(flows[i].from)).Start(Seconds(flows[i].start));
    }
    std::vector<uint64_t> before(flows.size());
    auto received = [&sinks](uint32_t i) { return DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx(); };
    Simulator::Schedule(Seconds(warmup), [&] {
        for (uint32_t i = 0; i < before.size(); ++i)
        {
            before[i] = received(i);
        }
    });
    Simulator::Stop(Seconds(time));
    Simulator::Run();
    std::cout << "{\"goodput_bps\": [" << std::fixed;
    std::cout.precision(0);
    for (uint32_t i = 0; i < before.size(); ++i)
    {
        std::cout << (i ? ", " : "") << (received(i) - before[i]) * 8 / (time - warmup);
    }
    std::cout << "]}" << std::endl;
    Simulator::Destroy();
    return 0;
}
