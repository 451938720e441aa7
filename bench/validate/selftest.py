"""Tests how runs of the kernel are read and refused, and what explains a gap, without root."""

from bench.common import UnsoundError
from bench.common import refused as fails
from bench.links import contestants, netns
from bench.validate import constants, linux, mptcp, sides

# Lines of `ss -tinOH`: two subflows of the data, one of iperf3's control connection.
CONTROL = (
    "ESTAB 0 0 10.78.1.1:32869 10.78.0.2:5201 bbr wscale:10,10 rto:212 rtt:10.331/2.927 ato:40 mss:1448 cwnd:13 "
    "bytes_sent:186 bytes_acked:187 data_segs_out:3 minrtt:10.266 "
    "tcp-ulp-mptcp flags:Mmec token:0000(id:0)/21162897(id:0) seq:56e60a488b12a934 sfseq:4"
)
FIRST = (
    "ESTAB 0 281664 10.78.1.1:45387 10.78.0.2:5201 cubic wscale:10,10 rto:224 rtt:20.317/0.155 mss:1448 cwnd:34 "
    "ssthresh:23 bytes_sent:5867117 bytes_retrans:52688 bytes_acked:5766110 segs_out:4133 data_segs_out:4131 "
    "unacked:34 retrans:0/37 rcv_rtt:1 minrtt:10.239 tcp-ulp-mptcp flags:Mmec token:0000(id:0)/5c193d8b(id:0) sfseq:1"
)
SECOND = (
    "ESTAB 0 189248 10.78.2.1%up2:33057 10.78.0.2:5201 cubic wscale:10,10 rto:284 rtt:80.845/0.607 mss:1448 cwnd:47 "
    "ssthresh:47 bytes_sent:2758248 bytes_retrans:7120 bytes_acked:2598857 segs_out:1944 data_segs_out:1942 "
    "retrans:1/5 lost:1 tcp-ulp-mptcp flags:Jjec token:fff13966(id:0)/5c193d8b(id:1) sfseq:0"
)
BOTH = {"10.78.1.1", "10.78.2.1"}


def data(*lines: str, seconds: int = 5) -> list:
    """The same sockets in each second."""
    return linux.of_the_data([(float(at), linux.sockets("\n".join(lines))) for at in range(seconds)])


def refused(call, words: str) -> bool:
    """Returns whether a run is refused, and with these words."""
    return fails(call, words, UnsoundError)


def sockets_are_read() -> None:
    """Address, window and counters; what the kernel leaves out is 0."""
    one, other = linux.sockets(f"{FIRST}\n{SECOND}")
    assert (one["local"], other["local"]) == ("10.78.1.1", "10.78.2.1")
    assert one["connection"] == other["connection"] == "5c193d8b"
    assert (one["algorithm"], one["cwnd"], one["rtt"], one["retrans"]) == ("cubic", 34, 20.317, 37)
    assert linux.sockets(CONTROL)[0]["bytes_retrans"] == 0


def the_control_connection_is_left_out() -> None:
    """The connection with the data has sent the most."""
    assert {one["algorithm"] for _, found in data(CONTROL, FIRST, SECOND) for one in found} == {"cubic"}


def subflows_are_checked() -> None:
    """Two, one from each address, with the congestion control that was named."""
    linux.check_subflows(data(FIRST, SECOND), BOTH, "cubic")
    assert refused(lambda: linux.check_subflows(data(FIRST), BOTH, "cubic"), "subflows from")
    assert refused(lambda: linux.check_subflows(data(FIRST, SECOND, SECOND), BOTH, "cubic"), "subflows from")
    assert refused(lambda: linux.check_subflows(data(FIRST, SECOND), BOTH, "reno"), "congestion control cubic")


def a_fallback_is_noticed() -> None:
    """TCP's own counters do not count, and a run without MP_CAPABLE is not MPTCP."""
    fine = {
        "MPTcpExtMPCapableSYNTX": 2,
        "TcpExtTCPSackShiftFallback": 116,
        "MPTcpExtMPCapableFallbackACK": 0,
        "MPTcpExtMPJoinSynAckRx": 1,
    }
    contestants.check_mptcp(fine, 2)
    assert refused(lambda: contestants.check_mptcp(fine | {"MPTcpExtDssFallback": 1}, 2), "DssFallback")
    assert refused(lambda: contestants.check_mptcp({}, 2), "MP_CAPABLE")


def goodput_is_of_the_time_behind_the_warm_up() -> None:
    """The second in the middle of the run, and not what is left at its end."""
    sums = [{"start": s, "end": s + 1.001, "seconds": 1.0, "bytes": 1000 * s} for s in range(13)]
    intervals = {"intervals": [{"sum": one} for one in sums]}
    assert linux.goodput_bps(intervals, 10, 12) == 8 * (10_000 + 11_000) / 2
    assert refused(lambda: linux.goodput_bps(intervals, 10, 30), "reports 3 s")


def segments_left_together_are_noticed() -> None:
    """More than the MTU on a link."""
    assert linux.large_packet({"forward": {"largest": 2924}})
    assert not linux.large_packet({"forward": {"largest": 1500}})


class Rig(netns.Environment):
    """A network whose links carried these packets."""

    def __init__(self, *packets: int) -> None:
        super().__init__(None, linux.NETWORK, 1)
        self.carried = packets

    def lay(self) -> None:
        """Makes nothing."""

    def close(self) -> None:
        """Counters of links that were in time."""
        ways = [
            {"delivered": {"packets": n}, "late": [0, 0, 0], "worst_ms": 0.1, "largest": 1500} for n in self.carried
        ]
        self.counters = [{"forward": way, "reverse": way} for way in ways]


def links_that_carried_nothing() -> None:
    """The kernel's MPTCP has to use both links, its TCP the one that it names."""

    def counted(contestant: str, *packets: int) -> dict:
        rig = Rig(*packets)
        return linux.counted(rig, contestants.links_of(rig, contestant), lambda _: {"goodput_bps": 1})

    assert counted("mptcp-cubic", 900, 900) == counted("tcp-reno@2", 0, 900) == {"goodput_bps": 1}
    for contestant, *packets in (("mptcp-cubic", 900, 3), ("mptcp-reno", 3, 900), ("tcp-reno@2", 900, 3)):
        assert refused(lambda of=(contestant, *packets): counted(*of), "carried 3 packets"), contestant


def an_explanation_has_bounds() -> None:
    """A gap that nothing explains is off, and so is one below or above what its explanation allows."""
    assert set(mptcp.EXPLAINED) <= set(mptcp.cells())
    for name in mptcp.EXPLAINED:
        said = [mptcp.verdict(name, ratio) for ratio in (0.85, 0.95, 1.05, 1.59, 1.61)]
        assert said == ["**off**", "", "", "explained below", "**off**"], (name, said)
    assert [mptcp.verdict("mptcp-cubic/none", ratio) for ratio in (0.85, 1.05, 1.2)] == ["**off**", "", "**off**"]


def cells_are_named() -> None:
    """Those that there are; others are refused."""
    assert {"mptcp-cubic/none", "mptcp-reno/both", "tcp-cubic@2/p2", "mptcp-cubic/p2/large"} <= set(mptcp.cells())
    assert fails(lambda: sides.some(mptcp.cells(), ["mptcp-bbr/none"]), "no cell mptcp-bbr/none")


def constants_that_differ_are_named() -> None:
    """A default of ns-2 that is another than ours is a line, and no line is about one that is ours."""
    our_sctp = constants.sctp()
    our_tcp = constants.tcp()
    theirs = {}
    for agent in constants.AGENTS:
        if agent.startswith("Agent/SCTP"):
            theirs |= {(agent, name): str(our_sctp[key]) for name, key in constants.AGENT_SCTP.items()}
        else:
            theirs |= {(agent, name): str(our_tcp[key]) for name, key in constants.AGENT_TCP.items()}
            theirs[agent, "window_"] = str(our_tcp["receive_window"] / our_tcp["segment"])
    theirs |= {("Agent/SCTP", name): value for name, (value, *_) in constants.SCTP_RULES.items()}
    theirs |= {("Agent/SCTP/CMT", name): value for name, (value, *_) in constants.CMT_RULES.items()}
    assert constants.differences(theirs) == []
    for agent, name, value in (
        ("Agent/SCTP", "rtxToAlt_", "0"),
        ("Agent/SCTP/CMT", "initialRto_", "1.0"),
        ("Agent/TCP/Reno", "window_", "64"),
        ("Agent/SCTP/CMT", "eCmtRtxPolicy_", "0"),
    ):
        (line,) = constants.differences(theirs | {(agent, name): value})
        assert f"{agent} {name} is {value}" in line, line
