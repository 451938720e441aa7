"""The compiled module is what its stub says."""

from __future__ import annotations

import pathlib
import subprocess
import sys

LEFT_OUT = r"""
# Signals are the core's to make: their constructors, which the module has, are offered to nobody.
strandcast\._native\.Signal\.[A-Z][A-Za-z]*\.(__new__|__match_args__)
# The package lists its own names.
strandcast\._native\.__all__
"""
# Only the stub is of interest: without all that the package imports it takes a tenth of the time.
CONFIG = "[mypy]\nfollow_imports = skip\ncache_dir = /dev/null\n"


def test_the_stub_is_the_module(tmp_path: pathlib.Path) -> None:
    (tmp_path / "left-out").write_text(LEFT_OUT)
    (tmp_path / "mypy.ini").write_text(CONFIG)
    check = [sys.executable, "-m", "mypy.stubtest", "strandcast._native", "--concise"]
    given = ["--allowlist", "left-out", "--mypy-config-file", "mypy.ini"]
    done = subprocess.run([*check, *given], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
