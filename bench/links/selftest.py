"""Tests of the bench that need neither root nor time: streams, parsing, plans, verdicts, a dry run."""

import struct

from bench.common import LEAST_PACKETS, UnsoundError, refused
from bench.links import contestants, experiments, netns, peers, tcp_messages
from bench.links import main as links


def stream_reads_back():
    """Numbers and times come out as they went in; every packet is whole, counters continue, tables have their CRC."""
    stream, numbers, counters = peers.Stream(), [], []
    for n in range(2 * peers.TABLES_EVERY):
        datagram = stream.datagram(1000 * n)
        assert len(datagram) == peers.PACKET * peers.IN_DATAGRAM
        pieces = [datagram[i : i + peers.PACKET] for i in range(0, len(datagram), peers.PACKET)]
        assert all(p[0] == 0x47 for p in pieces)
        counters += [p[3] & 15 for p in pieces if (p[1] & 0x1F) << 8 | p[2] == peers.MEDIA]
        found = list(peers.numbered(datagram))
        assert {sent for _, sent in found} == {1000 * n}
        numbers += [number for number, _ in found]
    assert numbers == list(range(stream.number))
    assert counters == [n & 15 for n in range(stream.number)]
    assert peers.crc32(peers.PAT[1:]) == peers.crc32(peers.PMT[1:]) == 0, "a section with its CRC has CRC 0"


def clock_in_the_stream():
    """A PCR of 27 MHz ticks, base and extension."""
    piece = peers.packet(peers.MEDIA, 3, b"", pcr=27_000_000 * 10 + 7)
    base, low = struct.unpack_from("!IH", piece, 6)
    assert ((base << 1 | low >> 15) * 300 + (low & 0x1FF)) == 27_000_000 * 10 + 7


def losses_are_counted_behind_the_first_second():
    """Losses, delays and gaps by hand: a packet each 100 ms, 50 ms late; three lost, one of them in the first second."""
    sent = {"begun": 5, "sent_ns": [n * 100_000_000 for n in range(40)]}
    came = {"came": [[n, 5 + n * 100_000_000 + 50_000_000] for n in range(40) if n not in (4, 20, 21)], "doubled": 0}
    found = contestants.analyse(sent, came)
    assert (found["packets"], found["lost"], found["first_lost_s"], found["last_lost_s"]) == (30, 2, 2.0, 2.1)
    assert found["delay_ms"] == {"median": 50.0, "most": 50.0}
    assert found["gaps_s"] == [[1.95, 2.25]]
    assert found["late_share"] == contestants.analyse(sent, came, latency_ms=30)["late_share"] == 2 / 30
    assert contestants.analyse(sent, came, latency_ms=29)["late_share"] == 1
    assert contestants.analyse(sent, {"came": [], "doubled": 0})["delay_ms"] is None


def old_messages_are_not_sent():
    """Messages older than the latency are dropped, but not the rest of a begun one; the reader gets whole messages."""
    backlog, buffer = tcp_messages.Backlog(0.5), bytearray()
    for n in range(3):
        backlog.add(b"%d" % n * 10, n * 0.2)
    first = backlog.next(0.5)
    backlog.wrote(4)
    assert first == b"\0\n" + b"0" * 10
    assert backlog.next(2) == first[4:], "a message that was begun continues"
    backlog.wrote(len(first) - 4)
    assert backlog.next(0.8) == b"\0\n" + b"2" * 10
    assert backlog.dropped == 1
    buffer += first + first[:5]
    assert list(tcp_messages.messages(buffer)) == [b"0" * 10]
    assert buffer == first[:5]
    buffer += first[5:]
    assert list(tcp_messages.messages(buffer)) == [b"0" * 10]
    assert not buffer


def back_after_an_outage():
    """Time from the return of the links to the first packet: 0 for a stream that continued, None for one that ended."""
    heard = {"last_came_s": 30.0, "gaps_s": [[3.0, 3.4], [10.02, 18.4]]}
    assert abs(experiments.back(heard, 10, 18) - 0.4) < 1e-9
    assert experiments.back({"last_came_s": 30.0, "gaps_s": [[10.5, 17.9]]}, 10, 18) == 0
    for last in (None, 10.5):
        assert experiments.back({"last_came_s": last, "gaps_s": []}, 10, 18) is None


def names_of_contestants():
    """A scheme may have keys; a link is a number."""
    assert contestants.parse("cmt,rtx=same@2") == ("cmt,rtx=same", [2])
    assert contestants.parse("cmt") == ("cmt", None)
    assert contestants.is_tcp("mptcp-cubic")
    assert not contestants.is_tcp("cmt")


def goodput_is_of_the_time_behind_the_warm_up():
    """Whole intervals only; tenths of a second of TCP."""
    sums = [{"start": s, "end": s + 1, "seconds": 1.0, "bytes": 1000 * s} for s in range(12)]
    result = {"intervals": [{"sum": s} for s in sums]}
    assert contestants.our_goodput(result, 10, 12) == 8 * (10_000 + 11_000) / 2
    tenths = [[n, 10] for n in range(30)]
    assert contestants.tcp_goodput(tenths, 0, 1, 2) == 8 * 100


def networks_are_scenarios():
    """Each cell's network is there, and its changes name its links."""
    for cell in experiments.cells(["cmt"]):
        network = netns.network(cell.network)
        assert {"c", "s"} == set(network["nodes"]), cell.network
        for change in cell.sets:
            assert change.split(".")[1] in network["links"], change
        highest = max((contestants.parse(n)[1] or [1])[0] for n in cell.contestants)
        assert highest <= len(network["links"]), cell.name


def plans_go_in_turn():
    """Run by run all contestants of a cell."""
    made = [c for c in experiments.cells(["cmt"], 2) if (c.experiment, c.name) == ("hole", "1 %, 500 ms")]
    tasks = links.plan(made, None, "program")
    assert [(n, run) for _, n, run in tasks.values()] == [("cmt", 1), ("rist", 1), ("cmt", 2), ("rist", 2)]
    assert [key[-1] for key in tasks] == ["program", "", "program", ""], "others' rows outlast our program"
    assert [n for _, n, _ in links.plan(made, ["rist"], "").values()] == ["rist", "rist"]


def verdicts():
    """Bars are met and missed; what is missing is said."""
    made = [c for c in experiments.cells(["cmt"]) if c.experiment == "hole"][:1]

    def judged(**shares: float) -> list:
        rows = {("hole", made[0].name, who): {"result": {"lost_share": share}} for who, share in shares.items()}
        return [v[3] for v in experiments.Findings(rows, ["cmt"]).verdicts(made)]

    assert judged(cmt=0.0004, rist=0.0003) == [True]
    assert judged(cmt=0.0006, rist=0.0003) == [False]
    assert judged(cmt=0.0006) == [None]


def links_that_carried_nothing():
    """Each kind of contestant that claims two links is held to both; one that claims a link, to that one."""
    way = lambda packets: {"delivered": {"packets": packets}, "late": [0, 0, 0], "worst_ms": 0.0}  # noqa: E731
    env, idle = netns.Environment(None, "pair", 1), LEAST_PACKETS - 1

    def sound(contestant, *packets):
        netns.sound([{"forward": way(n), "reverse": way(n)} for n in packets], contestants.links_of(env, contestant))

    for name in ("bond", "cmt,rtx=same", "redundant", "rist", "rist-copies", "mptcp", "mptcp-cubic"):
        sound(name, 1000, LEAST_PACKETS)
        for n, packets in ((1, (idle, 1000)), (2, (1000, idle))):
            assert refused(lambda of=(name, *packets): sound(*of), f"link {n} carried 19 packets", UnsoundError), name
    for name in ("srt@1", "bond@1", "tcp-cubic@1"):
        sound(name, 1000, 0)
        assert refused(lambda of=name: sound(of, 0, 1000), "link 1 carried 0 packets", UnsoundError), name


def mptcp_is_mptcp():
    """A connection that was plain TCP, that fell back, or that lacks a subflow does not count."""
    fine = {"MPTcpExtMPCapableSYNTX": 1, "MPTcpExtMPJoinSynAckRx": 1}
    contestants.check_mptcp(fine, 2)
    for kernel, links_ in (({}, 2), (fine | {"MPTcpExtMPCapableFallbackSYNACK": 1}, 2), (fine, 3)):
        assert refused(lambda of=(kernel, links_): contestants.check_mptcp(*of), kind=UnsoundError)


def lateness_is_judged():
    """One packet in a hundred may be 5 ms late, one in a thousand 20 ms."""
    way = lambda late: {"delivered": {"packets": 1000}, "late": late, "worst_ms": 30.0}  # noqa: E731
    assert netns.lateness([{"forward": way([90, 20, 2]), "reverse": way([0, 0, 0])}])["sound"]
    assert not netns.lateness([{"forward": way([90, 20, 3]), "reverse": way([0, 0, 0])}])["sound"]
    assert not netns.lateness([{"error": "gone"}])["sound"]
