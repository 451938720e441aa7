#!/usr/bin/python3
"""Runs a GStreamer pipeline whose encoder follows the advice of ``strandcast send --advice FILE``.

    gstreamer.py [--share 0.9] [--audio 128] [--least 300] [--most 6000] FILE PIPELINE

PIPELINE is written as for ``gst-launch-1.0``. Its encoder is called ``video`` and has a property ``bitrate`` in kbit/s
that may change while it plays, as ``x264enc name=video`` has. Needs ``python3-gi`` and ``gir1.2-gstreamer-1.0``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

INTERVAL_MS = 250


def video_rate(line: str, options: argparse.Namespace) -> int | None:
    """The encoder's rate in kbit/s for a line of advice; None for anything else."""
    try:
        advised = float(json.loads(line)["rate_bps"])
    except (ValueError, KeyError, TypeError):
        return None
    return max(options.least, min(options.most, int(advised / 1000 * options.share - options.audio)))


def follow(encoder: Gst.Element, options: argparse.Namespace) -> bool:
    """Sets the rate where it changes by more than 2 %."""
    try:
        rate = video_rate(options.file.read_text(encoding="utf-8"), options)
    except OSError:
        rate = None
    now = encoder.get_property("bitrate")
    if rate is not None and abs(rate - now) > 0.02 * now:
        encoder.set_property("bitrate", rate)
        print(f"video {rate} kbit/s", file=sys.stderr, flush=True)
    return True


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, metavar="FILE", help="the file of --advice")
    parser.add_argument("pipeline", nargs="+", metavar="PIPELINE")
    parser.add_argument("--share", type=float, default=0.9, help="share of the advised rate that is used")
    parser.add_argument("--audio", type=int, default=128, help="kbit/s of the audio")
    parser.add_argument("--least", type=int, default=300, help="least video rate, kbit/s")
    parser.add_argument("--most", type=int, default=6000, help="greatest video rate, kbit/s")
    return parser.parse_args()


def main() -> int:
    """Plays until the pipeline ends."""
    options = arguments()
    Gst.init(None)
    pipeline = Gst.parse_launch(" ".join(options.pipeline))
    encoder = pipeline.get_by_name("video")
    if encoder is None or encoder.find_property("bitrate") is None:
        print("the pipeline has no encoder called video with a bitrate: x264enc name=video", file=sys.stderr)
        return 2
    loop, failed = GLib.MainLoop(), []

    def on_message(_: Gst.Bus, message: Gst.Message) -> None:
        if message.type == Gst.MessageType.ERROR:
            failed.append(message.parse_error()[0].message)
        if message.type in (Gst.MessageType.ERROR, Gst.MessageType.EOS):
            loop.quit()

    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", on_message)
    GLib.timeout_add(INTERVAL_MS, follow, encoder, options)
    pipeline.set_state(Gst.State.PLAYING)
    with contextlib.suppress(KeyboardInterrupt):
        loop.run()
    pipeline.set_state(Gst.State.NULL)
    for why in failed:
        print(why, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
