"""Commands of docs/operate run as they stand, in a network namespace of the test's own."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from conftest import AbsentError

BLOCK = re.compile(
    r"(?P<mark>^ *<!-- not run: [^\n]+ -->\n\n)?^(?P<indent> *)```sh\n(?P<code>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
WHERE = re.compile(r"^# (new )?(?P<role>field|studio)\b", re.MULTILINE)
HERE = {
    "studio.example": "127.0.0.1",
    # Less work for the encoder, and for the simulator.
    "size=1280x720": "size=320x180",
    "width=1280,height=720": "width=320,height=180",
    "--time 30": "--time 2",
    "--runs 5": "--runs 1",
}
"""Names and numbers of the pages, and those of the test."""
PROGRAMS = (
    "ffmpeg", "gst-launch-1.0", "jq", "ristreceiver", "ristsender", "systemd-analyze",
)  # fmt: skip

ENCODER = (
    "ffmpeg -v error -re -f lavfi -i testsrc2=size=320x180:rate=25 -c:v libx264 -preset ultrafast"
    " -tune zerolatency -g 25 -b:v 500k "
)
INPUTS = {
    "A pipe from ffmpeg": "",
    "GStreamer": "",
    "A camera with RTMP": f"until {ENCODER} -f flv rtmp://127.0.0.1:1935/live/camera; do sleep 0.5; done",
    "SRT": f"until {ENCODER} -f mpegts 'srt://127.0.0.1:7001?pkt_size=1316'; do sleep 0.5; done",
    "RIST": f"{ENCODER} -f mpegts 'udp://127.0.0.1:8100?pkt_size=1316' &"
    " ristsender -i udp://@127.0.0.1:8100 -o rist://127.0.0.1:8200",
    "A file": "",
}
"""Headings of encoders, with the encoder that the command serves."""
OUTPUTS = {
    "An SRT player": ("srt", 7002),
    "A RIST player": ("ristreceiver -i rist://@0.0.0.0:8300 -o udp://127.0.0.1:1235", 1235),
}
"""Headings of players, with the player and the port that it plays to."""
TESTED = {
    "first-hour.md": {"Check it", "Pair", "Start", "If no picture comes", "A recording", *INPUTS, *OUTPUTS},
    "encoders.md": {"Encoders that follow", "GStreamer"},
    "latency-and-rate.md": {"Measure", "The rule for the latency"},
    "modems.md": {
        "One default route for each modem", "Routes in a table of their own", "rp_filter", "Plans with a cap",
    },
    "first-month.md": {
        "The receiver as a service", "Statistics: size and rotation", "Alarms", "Backup",
        "Moving the receiver to another host", "Cost of 1 GB of video",
    },
    "serve.md": {"Three vans"},
}  # fmt: skip
"""Headings whose commands a test below runs."""

READ = """
import socket, sys
plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
plug.bind(("127.0.0.1", int(sys.argv[1])))
plug.settimeout(60)
packets = 0
while packets < 300:
    data = plug.recv(2048)
    assert len(data) % 188 == 0 and set(data[::188]) == {0x47}, data[:16]
    packets += len(data) // 188
"""
"""Reads three hundred packets of a transport stream."""


def blocks(root: pathlib.Path, page: str, heading: str) -> list[str]:
    """The commands below a heading that are not marked, as the test runs them."""
    return [code for at, marked, code in commands(root, page) if at == heading and not marked]


def commands(root: pathlib.Path, page: str) -> list[tuple[str, bool, str]]:
    """Heading, mark and text of each block of commands."""
    text, found = (root / "docs/operate" / page).read_text(encoding="utf-8"), []
    for block in BLOCK.finditer(text):
        (*_, heading) = HEADING.findall(re.sub(r"```.*?```", "", text[: block.start()], flags=re.DOTALL))
        code = re.sub(rf"^{block['indent']}", "", block["code"], flags=re.MULTILINE)
        for name, here in HERE.items():
            code = code.replace(name, here)
        found.append((heading, bool(block["mark"]), code))
    return found


class Site:
    """The field and the studio: two homes on one loopback device."""

    def __init__(self, folder: pathlib.Path, namespace: int) -> None:
        self.folder, self._namespace = folder, namespace
        self.running: list[subprocess.Popen[bytes]] = []
        programs = folder / "bin"
        programs.mkdir()
        strandcast = programs / "strandcast"
        strandcast.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m strandcast "$@"\n', encoding="utf-8")
        strandcast.chmod(0o755)
        self._path = f"{programs}:{os.environ['PATH']}"
        for role in ("field", "studio"):
            self.home(role).mkdir()

    def home(self, role: str) -> pathlib.Path:
        return self.folder / role

    def _command(self, code: str, role: str) -> tuple[list[str], dict[str, str]]:
        for program in PROGRAMS:
            if re.search(rf"\b{program}\b", code) and shutil.which(program) is None:
                raise AbsentError(program)
        inside = ["nsenter", "--preserve-credentials", f"--target={self._namespace}", "--user", "--net"]
        kept = {name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}
        return [*inside, "sh", "-c", code], {**kept, "HOME": str(self.home(role)), "PATH": self._path}

    def run(self, code: str, role: str = "", given: str | None = None) -> str:
        """Runs commands to their end; they must succeed."""
        role = role or role_of(code)
        command, environment = self._command(code, role)
        done = subprocess.run(
            command, cwd=self.home(role), env=environment, input=given, capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"{code}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def start(self, code: str, role: str = "") -> pathlib.Path:
        """Starts commands, and returns the file with what they print."""
        role = role or role_of(code)
        command, environment = self._command(code, role)
        log = self.folder / f"{len(self.running)}.log"
        with log.open("wb") as out:
            started = subprocess.Popen(
                command, cwd=self.home(role), env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True,
            )  # fmt: skip
        self.running.append(started)
        return log

    def plays(self, port: int = 1234, role: str = "studio") -> None:
        """A transport stream arrives at a UDP port."""
        self.run(f"'{sys.executable}' -c '{READ}' {port}", role)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        for started in self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, how)
        for started in self.running:
            started.wait(timeout=20)
            # A shell ends before the commands that it has started, which then still hold their ports.
            until = time.monotonic() + 20
            with contextlib.suppress(ProcessLookupError):
                while time.monotonic() < until:
                    os.killpg(started.pid, 0)
                    time.sleep(0.05)
        self.running.clear()


def role_of(code: str) -> str:
    where = WHERE.search(code)
    return where["role"] if where else "field"


def wait_for(text: str, log: pathlib.Path) -> None:
    until = time.monotonic() + 30
    while text not in log.read_text(encoding="utf-8", errors="replace"):
        assert time.monotonic() < until, log.read_text(encoding="utf-8", errors="replace")
        time.sleep(0.1)


@pytest.fixture
def site(tmp_path: pathlib.Path) -> Iterator[Site]:
    holder = subprocess.Popen(
        ["unshare", "--map-root-user", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 600"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert holder.stdout is not None
    with holder.stdout as out:
        is_up = out.readline() == b"up\n"
    if not is_up:
        holder.wait(timeout=10)
        pytest.skip("needs network namespaces of its own")
    made = Site(tmp_path, holder.pid)
    try:
        yield made
        made.stop()
    finally:
        made.stop(signal.SIGKILL)
        holder.kill()
        holder.wait(timeout=10)


@pytest.fixture
def paired(root: pathlib.Path, site: Site) -> Site:
    pair, add = blocks(root, "first-hour.md", "Pair")
    command = pair.replace("# studio\n", "").strip()
    (text,) = re.findall(r"^(sc1-\w+)", site.run(f"script -qec '{command}' /dev/null", "studio"), re.MULTILINE)
    assert "strandcast send INPUT @studio" in site.run(add, given=text)
    return site


@pytest.fixture
def streaming(root: pathlib.Path, paired: Site) -> Site:
    """The first stream of the page runs, but for its encoder."""
    receive, send, _ = blocks(root, "first-hour.md", "Start")
    wait_for("listening on UDP [::]:9899, playing to udp://127.0.0.1:1234", paired.start(receive))
    wait_for("encrypted with", paired.start(send))
    return paired


def encoder(root: pathlib.Path) -> str:
    return blocks(root, "first-hour.md", "Start")[2]


def test_each_command_is_run_or_marked(root: pathlib.Path) -> None:
    for page in sorted((root / "docs/operate").glob("*.md")):
        run = {heading for heading, marked, _ in commands(root, page.name) if not marked}
        assert run == TESTED.get(page.name, set()), page.name
        assert page.read_text(encoding="utf-8").count("```sh") == len(commands(root, page.name))
    assert all(any(name in page.read_text() for page in (root / "docs/operate").glob("*.md")) for name in HERE)


def test_the_program_says_its_version(root: pathlib.Path, site: Site) -> None:
    (version,) = blocks(root, "first-hour.md", "Check it")
    assert site.run(version).startswith("strandcast ")


def test_the_first_stream_plays(root: pathlib.Path, streaming: Site) -> None:
    streaming.start(encoder(root))
    streaming.plays()


@pytest.mark.thorough
@pytest.mark.parametrize("heading", INPUTS)
def test_encoders(root: pathlib.Path, paired: Site, heading: str) -> None:
    receive, send, _ = blocks(root, "first-hour.md", "Start")
    (code,) = blocks(root, "first-hour.md", heading)
    if heading == "A file":
        paired.run(f"{ENCODER.replace('-re', '')} -t 8 -f mpegts clip.ts", "field")
    wait_for("listening on", paired.start(receive))
    if "strandcast send" not in code:
        wait_for("encrypted with", paired.start(send))
    paired.start(code)
    if INPUTS[heading]:
        paired.start(INPUTS[heading], "field")
    paired.plays()


@pytest.mark.thorough
@pytest.mark.parametrize("heading", OUTPUTS)
def test_players(root: pathlib.Path, paired: Site, heading: str) -> None:
    (code,) = blocks(root, "first-hour.md", heading)
    player, port = OUTPUTS[heading]
    receive, send, encode = blocks(root, "first-hour.md", "Start")
    # A receiver that serves the player takes the place of the first stream's.
    serves = "strandcast receive" in code
    wait_for("listening on", paired.start(code if serves else receive))
    wait_for("encrypted with", paired.start(send))
    paired.start(encode)
    if not serves:
        paired.start(code)
    if player == "srt":
        ask = f"ffprobe -v error -show_entries stream=codec_name -of csv=p=0 srt://127.0.0.1:{port}"
        found = paired.run(f"for i in $(seq 40); do timeout 30 {ask} && exit; sleep 0.5; done; exit 1", "studio")
        assert "h264" in found
    else:
        paired.start(player, "studio")
        paired.plays(port)


@pytest.mark.thorough
def test_recordings(root: pathlib.Path, paired: Site) -> None:
    _, send, encode = blocks(root, "first-hour.md", "Start")
    (receive,) = blocks(root, "first-hour.md", "A recording")
    paired.start(receive)
    wait_for("encrypted with", paired.start(send))
    paired.start(encode)
    until = time.monotonic() + 40
    paired.plays()
    while not any(file.stat().st_size > 10_000 for file in paired.home("studio").glob("rec-*.ts")):
        assert time.monotonic() < until
        time.sleep(0.2)


@pytest.mark.thorough
def test_measurement(root: pathlib.Path, paired: Site) -> None:
    server, client = blocks(root, "latency-and-rate.md", "Measure")
    paired.start(server)
    assert "received " in paired.run(client)


@pytest.mark.thorough
@pytest.mark.parametrize("heading", ["The rule for the latency"])
def test_options_of_a_stream(root: pathlib.Path, paired: Site, heading: str) -> None:
    receive, _, encode = blocks(root, "first-hour.md", "Start")
    for send in blocks(root, "latency-and-rate.md", heading):
        (latency,) = re.findall(r"--latency (\d+)", send)
        log = paired.start(receive)
        paired.start(send)
        paired.start(encode)
        wait_for(f"latency {latency} ms", log)
        paired.plays()
        paired.stop()


@pytest.mark.thorough
def test_modems(root: pathlib.Path, paired: Site) -> None:
    """Links end in the same namespace: routes and options are checked, and no stream."""
    for number, name in enumerate(("wlan0", "wwan0", "wwan1")):
        address = f"10.0.{number}"
        paired.run(
            f"ip link add {name} type veth peer name r{number} && ip addr add {address}.2/24 dev {name}"
            f" && ip link set {name} up && ip link set r{number} up", "field",
        )  # fmt: skip
        if number < 2:
            paired.run(f"ip route add default via {address}.1 dev {name} metric {600 + 100 * number}", "field")
    show, replace = blocks(root, "modems.md", "One default route for each modem")
    paired.run(replace)
    shown = paired.run(show)
    assert [line.split()[4] for line in shown.splitlines()] == ["wlan0", "wwan0", "wwan1"]
    (tables,) = blocks(root, "modems.md", "Routes in a table of their own")
    paired.run(tables)
    assert "wwan1" in paired.run("ip route get 203.0.113.9 from 10.0.2.2", "field")
    (filters,) = blocks(root, "modems.md", "rp_filter")
    paired.run(filters)
    assert paired.run("cat /proc/sys/net/ipv4/conf/all/rp_filter", "field") == "2\n"
    (tariffs,) = blocks(root, "modems.md", "Plans with a cap")
    # The other end is not on this machine, and nobody answers.
    studio = paired.home("field") / ".config/strandcast/identity.receivers"
    studio.write_text(studio.read_text(encoding="utf-8").replace("127.0.0.1", "203.0.113.9"), encoding="utf-8")
    log = paired.start(tariffs)
    for line in ("over wlan0, wwan0, wwan1", "wwan0: 5.00 GB of 5.00 GB left until"):
        wait_for(line, log)


@pytest.mark.thorough
def test_the_doctor_finds_nothing(root: pathlib.Path, paired: Site) -> None:
    receive, *_ = blocks(root, "first-hour.md", "Start")
    wait_for("listening on", paired.start(receive))
    (doctor,) = blocks(root, "first-hour.md", "If no picture comes")
    assert "no findings" in paired.run(doctor)


@pytest.mark.thorough
def test_an_encoder_follows(root: pathlib.Path, paired: Site) -> None:
    has = "import gi; gi.require_version('Gst', '1.0')"
    if subprocess.run(["/usr/bin/python3", "-c", has], capture_output=True, check=False).returncode != 0:
        raise AbsentError("python3-gi")
    receive, *_ = blocks(root, "first-hour.md", "Start")
    (send,) = blocks(root, "encoders.md", "Encoders that follow")
    (code,) = blocks(root, "encoders.md", "GStreamer")
    # A stream over loopback has no capacity to measure, so the file has advice from before.
    (paired.home("field") / "advice.json").write_text('{"rate_bps":1500000}\n', encoding="utf-8")
    wait_for("listening on", paired.start(receive))
    wait_for("encrypted with", paired.start(send))
    program = root / "packaging/encoders/gstreamer.py"
    log = paired.start(code.replace("python3 gstreamer.py", f"/usr/bin/python3 '{program}'"))
    wait_for("video 1350 kbit/s", log)
    paired.plays()


@pytest.mark.thorough
def test_units(root: pathlib.Path, site: Site, tmp_path: pathlib.Path) -> None:
    (checks,) = blocks(root, "first-month.md", "The receiver as a service")
    program = str(tmp_path / "bin/strandcast")
    for role, line in (("studio", "listening on"), ("field", "there is no receiver @studio")):
        name = f"strandcast-{'receive' if role == 'studio' else 'send'}.service"
        unit = (root / "packaging/systemd" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(unit.replace("/usr/local/bin/strandcast", program), encoding="utf-8")
        code = checks.replace("/etc/systemd/system", str(tmp_path)).replace("strandcast-receive.service", name)
        (level,) = re.findall(rf"exposure level for {name}: ([\d.]+)", site.run(code, "studio"))
        assert float(level) <= 2
        # The program has these options, and the folders that the unit makes suffice.
        (command,) = re.findall(r"^ExecStart=/usr/local/bin/(.*)$", unit, re.MULTILINE)
        for folder in ("recordings", "stats"):
            (site.home(role) / folder).mkdir()
        command = command.replace("%%", "%").replace("/run/strandcast/", "")
        wait_for(line, site.start("exec " + command, role))


@pytest.mark.thorough
def test_a_server_of_three_vans(root: pathlib.Path, site: Site) -> None:
    page = (root / "docs/operate/serve.md").read_text(encoding="utf-8")
    (config,) = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (site.home("studio") / "serve.toml").write_text(config, encoding="utf-8")
    check, pair, add, allow, serve, send = blocks(root, "serve.md", "Three vans")
    assert "no sender is called van1 here yet" in site.run(check)
    site.run(pair)
    shutil.copy(site.home("studio") / "pairing.txt", site.home("field"))
    (*_, key) = re.findall(r"sck1-[\w-]+", site.run(add))
    site.run(allow.replace("KEY", key))
    wait_for("listening on UDP [::]:9899 for van1, van2, van3", site.start(serve))
    wait_for("encrypted with", site.start(send))
    site.start(f"{ENCODER} -f mpegts 'udp://127.0.0.1:5000?pkt_size=1316'", "field")
    site.plays(5001)
    assert [file.name[:5] for file in (site.home("studio") / "recordings").iterdir()] == ["van1-"]


@pytest.mark.thorough
def test_statistics(root: pathlib.Path, paired: Site) -> None:
    receive, send, encode = blocks(root, "first-hour.md", "Start")
    for role, code in (("studio", receive), ("field", send)):
        (paired.home(role) / "stats").mkdir()
        paired.start(f"{code.strip()} --stats=stats/{'receive' if role == 'studio' else 'send'}.jsonl")
    paired.start(encode)
    paired.plays()
    time.sleep(3)
    last, lost, paths = (line for code in blocks(root, "first-month.md", "Alarms") for line in code.splitlines()[1:])
    shown = json.loads(paired.run(last, "studio"))
    assert shown["messages"] > 0
    assert set(shown) == {"time", "peer", "messages", "late", "lost", "buffer_ms"}
    assert int(paired.run(lost, "studio")) >= 0
    assert "\tactive\t" in paired.run(paths, "field")
    # As `copytruncate` does it.
    file = paired.home("studio") / "stats/receive.jsonl"
    os.truncate(file, 0)
    time.sleep(2.5)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines
    assert all(dt.datetime.fromisoformat(json.loads(line)["time"]).tzinfo == dt.UTC for line in lines)
    old = paired.home("studio") / "recordings"
    old.mkdir()
    for name, days in (("old.ts", 31), ("new.ts", 1), ("old.txt", 31)):
        (old / name).touch()
        os.utime(old / name, (time.time() - days * 86400,) * 2)
    (remove,) = blocks(root, "first-month.md", "Statistics: size and rotation")
    paired.run(remove)
    assert sorted(file.name for file in old.iterdir()) == ["new.ts", "old.txt"]


@pytest.mark.thorough
def test_the_receiver_moves(root: pathlib.Path, paired: Site) -> None:
    key = paired.run("strandcast key show", "studio")
    (save,) = blocks(root, "first-month.md", "Backup")
    (restore,) = blocks(root, "first-month.md", "Moving the receiver to another host")
    paired.run(save)
    keys = paired.home("studio") / ".config/strandcast"
    keys.rename(keys.with_name("old"))
    assert paired.run(restore, "studio") == key
    assert {"identity", "identity.senders"} <= {file.name for file in keys.iterdir()}
    for code in blocks(root, "first-hour.md", "Start"):
        paired.start(code)
    paired.plays()


@pytest.mark.thorough
def test_cost_on_the_wire(root: pathlib.Path, site: Site) -> None:
    (site.home("field") / "scenarios").symlink_to(root / "scenarios")
    (code,) = blocks(root, "first-month.md", "Cost of 1 GB of video")
    cost = float(site.run(code).splitlines()[-1])
    text = (root / "docs/operate/first-month.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| round trip 80 ms \| .*?\| (\d\.\d+) ", text, re.MULTILINE)
    assert cost == pytest.approx(float(row), abs=0.015)
