"""Builds the Python package: maturin, after a look for the Rust compiler.

Without this look maturin would fetch a toolchain on its own. A build without a compiler, or with one that is too old, ends with one line
that says what to install; all else is maturin's.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
from typing import Any

os.environ["MATURIN_NO_INSTALL_RUST"] = "1"

import maturin

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOW = "install Rust >= {wanted} (https://rustup.rs) and run again"
MINUTES = 8
"""Processor time that compiling takes, about."""


def wanted() -> str:
    """The oldest compiler that builds it."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["rust-version"])


def complaint() -> str | None:
    """Fault of the compiler; None without one."""
    how = HOW.format(wanted=wanted())
    if not (shutil.which("cargo") and shutil.which("rustc")):
        return f"strandcast is compiled from Rust source: {how}"
    told = subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True, check=False)
    found = re.match(r"rustc (\d+)\.(\d+)(\S*)", told.stdout)
    if found is None:
        why = (told.stderr.strip().splitlines() or ["it says nothing"])[-1]
        return f"strandcast is compiled from Rust source, but `rustc --version` fails ({why}): {how}"
    if (int(found[1]), int(found[2])) < tuple(int(part) for part in wanted().split(".")[:2]):
        return f"strandcast is compiled from Rust source, and Rust {found[1]}.{found[2]} is too old: {how}"
    return None


def look() -> None:
    """Ends the build with one line if it can't work."""
    if why := complaint():
        sys.exit(why)


def say() -> None:
    """Says that it takes its time; pip shows it with -v."""
    cores = os.cpu_count() or 1
    time = f"about {max(2, round(MINUTES / cores))} minutes on {cores} core{'s' if cores > 1 else ''}"
    print(f"strandcast is compiled from Rust source: {time}", flush=True)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Requirements of a wheel; pip asks for them first."""
    look()
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Requirements of an editable installation."""
    look()
    return maturin.get_requires_for_build_editable(config_settings)


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    """Requirements of a source distribution."""
    look()
    return maturin.get_requires_for_build_sdist(config_settings)


def build_wheel(directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Compiles, and packs a wheel."""
    look()
    say()
    return maturin.build_wheel(directory, config_settings, metadata_directory)


def build_editable(directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Compiles in place."""
    look()
    say()
    return maturin.build_editable(directory, config_settings, metadata_directory)


def build_sdist(directory: str, config_settings: Any = None) -> str:
    """Packs the sources."""
    look()
    return maturin.build_sdist(directory, config_settings)


def prepare_metadata_for_build_wheel(directory: str, config_settings: Any = None) -> str:
    """Writes a wheel's metadata."""
    look()
    return maturin.prepare_metadata_for_build_wheel(directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
