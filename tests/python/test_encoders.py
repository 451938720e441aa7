"""Encoders that follow the advice of `send`: the script for OBS, with a stand-in for OBS, and the one for GStreamer."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest
from conftest import AbsentError

OBS = """
local calls, now = {}, 0
local stream, encoder = {}, {}
obslua = {
    OBS_PATH_FILE = 1,
    obs_properties_create = function() return {} end,
    obs_properties_add_path = function() end,
    obs_properties_add_int = function() end,
    obs_data_set_default_string = function(data, key, value) data[key] = value end,
    obs_data_set_default_int = function(data, key, value) data[key] = value end,
    obs_data_get_string = function(data, key) return data[key] end,
    obs_data_get_int = function(data, key) return data[key] end,
    obs_data_set_int = function(data, key, value) data[key] = value end,
    obs_data_release = function() calls.held = calls.held - 1 end,
    obs_frontend_get_streaming_output = function()
        if not streaming then return nil end
        calls.held = calls.held + 1
        return stream
    end,
    obs_output_get_video_encoder = function() return encoder end,
    obs_output_active = function() return active end,
    obs_encoder_get_settings = function() calls.held = calls.held + 1 return {} end,
    obs_encoder_update = function(_, settings) print(settings.bitrate) end,
    obs_output_release = function() calls.held = calls.held - 1 end,
    timer_add = function(what) timer = what end,
    timer_remove = function() timer = nil end,
}
calls.held, streaming, active = 0, true, true
dofile(arg[1])
local settings = {}
script_defaults(settings)
settings.file = arg[2]
script_properties()
script_update(settings)
local function advise(text)
    local file = io.open(arg[2], "w")
    file:write(text)
    file:close()
    timer()
end
timer()                                                            -- there is no file yet
advise('{"rate_bps":3000000,"safe_bps":1,"seconds":1.0}')          -- 2540
advise('{"rate_bps":3010000,"safe_bps":1,"seconds":2.0}')          -- less than 2 %
advise('{"rate_bps":1500000,"safe_bps":1,"seconds":3.0}')          -- 1190
advise('{"rate_bps":100000,"safe_bps":1,"seconds":4.0}')           -- the least
advise('{"rate_bps":90000000,"safe_bps":1,"seconds":5.0}')         -- the greatest
advise('no advice')
active = false
advise('{"rate_bps":1500000,"safe_bps":1,"seconds":6.0}')          -- nothing is streamed
active = true
timer()                                                            -- 1190
streaming = false
advise('{"rate_bps":3000000,"safe_bps":1,"seconds":7.0}')          -- there is no output
assert(calls.held == 0, "references are left: " .. calls.held)
"""

HALVED = """
ip link set lo up
unshare -n sleep 600 &
studio=$!
until [ "$(readlink /proc/$studio/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
in_studio() { nsenter --preserve-credentials -t $studio -n "$@"; }
ip link add up0 type veth peer name down0 netns $studio
ip addr add 10.77.0.2/24 dev up0
ip link set up0 up
in_studio ip addr add 10.77.0.1/24 dev down0
in_studio ip link set down0 up
tc qdisc add dev up0 root tbf rate 3mbit burst 6kb latency 300ms || exit 77
in_studio $STRANDCAST receive :9899 out.ts --plain --once --json >receive.json 2>receive.txt &
receive=$!
sleep 3
$STRANDCAST send udp://127.0.0.1:5000 10.77.0.1 --plain --latency 1000 --advice advice.json >send.txt 2>&1 &
send=$!
sleep 3
/usr/bin/python3 "$FOLLOW" --audio 0 --least 200 --most 4000 advice.json "$PIPELINE" 2>&1 |
    while read -r line; do echo "$(date +%s.%N) $line"; done >rates.txt &
sleep 40
date +%s.%N >halved.txt
tc qdisc change dev up0 root tbf rate 1500kbit burst 6kb latency 300ms
sleep 30
kill -INT $send
wait $receive
kill $studio
"""
"""A sender over one link of 3 Mbit/s, which carries half of that after 40 s."""


def test_the_script_for_obs_sets_the_encoder(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    lua = shutil.which("luajit") or shutil.which("lua5.1") or shutil.which("lua5.4")
    if lua is None:
        raise AbsentError("lua")
    (tmp_path / "obs.lua").write_text(OBS, encoding="utf-8")
    done = subprocess.run(
        [lua, str(tmp_path / "obs.lua"), str(root / "packaging/encoders/obs.lua"), str(tmp_path / "advice.json")],
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [float(line) for line in done.stdout.splitlines()] == [2540, 1190, 300, 6000, 1190]


@pytest.mark.thorough
def test_the_program_for_gstreamer_sets_the_encoder_while_it_plays(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    python = "/usr/bin/python3"
    probe = "import gi; gi.require_version('Gst', '1.0'); from gi.repository import Gst; Gst.init(None);"
    has = f"{probe} assert Gst.ElementFactory.find('x264enc') and Gst.ElementFactory.find('mpegtsmux')"
    if subprocess.run([python, "-c", has], capture_output=True, check=False).returncode != 0:
        raise AbsentError("python3-gi")
    advice, log = tmp_path / "advice.json", tmp_path / "log"
    pipeline = (
        "videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=25/1 ! x264enc name=video"
        " tune=zerolatency speed-preset=ultrafast bitrate=1000 ! h264parse ! mpegtsmux ! fakesink"
    )
    with log.open("wb") as out:
        playing = subprocess.Popen(
            [python, str(root / "packaging/encoders/gstreamer.py"), "--audio", "0", str(advice), pipeline], stderr=out
        )
    try:
        for rate, expected in ((2_000_000, "video 1800 kbit/s"), (1_000_000, "video 900 kbit/s")):
            new = tmp_path / "new"
            new.write_text(json.dumps({"rate_bps": rate}), encoding="utf-8")
            new.replace(advice)
            until = time.monotonic() + 30
            while expected not in log.read_text(encoding="utf-8"):
                assert time.monotonic() < until, log.read_text(encoding="utf-8")
                assert playing.poll() is None, log.read_text(encoding="utf-8")
                time.sleep(0.1)
    finally:
        playing.kill()
        playing.wait(timeout=10)


@pytest.mark.thorough
def test_gstreamer_follows_a_link_that_carries_half(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    has = "import gi; gi.require_version('Gst', '1.0')"
    if subprocess.run(["/usr/bin/python3", "-c", has], capture_output=True, check=False).returncode != 0:
        raise AbsentError("python3-gi")
    pipeline = (
        "videotestsrc pattern=snow is-live=true ! video/x-raw,width=320,height=180,framerate=25/1 ! x264enc name=video"
        " tune=zerolatency speed-preset=ultrafast bitrate=1500 key-int-max=50 vbv-buf-capacity=300 ! h264parse !"
        " mpegtsmux alignment=7 ! udpsink host=127.0.0.1 port=5000"
    )
    follow = str(root / "packaging/encoders/gstreamer.py")
    settings = {"STRANDCAST": f"{sys.executable} -m strandcast", "FOLLOW": follow, "PIPELINE": pipeline}
    done = subprocess.run(
        ["unshare", "-rnpf", "--mount-proc", "--kill-child", "bash", "-c", HALVED],
        cwd=tmp_path, env={**os.environ, **settings}, capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    if not (tmp_path / "halved.txt").exists():
        pytest.skip("needs network namespaces of its own, and tc")
    halved = float((tmp_path / "halved.txt").read_text(encoding="utf-8"))
    lines = [line.split() for line in (tmp_path / "rates.txt").read_text(encoding="utf-8").splitlines()]
    rates = [(float(line[0]) - halved, int(line[2])) for line in lines if line[1:2] == ["video"]]
    result = json.loads((tmp_path / "receive.json").read_text(encoding="utf-8"))
    missing = result["late"] + result["lost"]
    print(f"after the link halved: {[rate for rate in rates if rate[0] > 0]}; {missing} of {result['played']} missing")
    assert max(rate for at, rate in rates if at <= 0) > 1500, (rates, done.stderr)
    assert min(rate for at, rate in rates if at > 0) < 1500, rates
    # A share that a slow machine keeps as well; the page has the one of a quiet machine.
    assert missing < 0.05 * result["played"], result
