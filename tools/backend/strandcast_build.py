"""Build backend of the Python package: checks the Rust compiler, then calls maturin.

Without this check maturin would download a toolchain. If there is no compiler, or if it is too old, the build ends with
one line that names the compiler to install.
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
"""Approximate processor time of compilation, in minutes."""


def wanted() -> str:
    """Returns the oldest compiler version that builds the package."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["rust-version"])


def complaint() -> str | None:
    """Returns the fault of the compiler; None without one."""
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
    """Ends the build with one line if it cannot succeed."""
    if why := complaint():
        sys.exit(why)


def say() -> None:
    """Prints that the build takes some minutes; pip shows this line with -v."""
    cores = os.cpu_count() or 1
    time = f"about {max(2, round(MINUTES / cores))} minutes on {cores} core{'s' if cores > 1 else ''}"
    print(f"strandcast is compiled from Rust source: {time}", flush=True)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Returns the requirements of a wheel, which pip requests first."""
    look()
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Returns the requirements of an editable installation."""
    look()
    return maturin.get_requires_for_build_editable(config_settings)


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    """Returns the requirements of a source distribution."""
    look()
    return maturin.get_requires_for_build_sdist(config_settings)


def build_wheel(directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Compiles the package, and packs a wheel."""
    look()
    say()
    return maturin.build_wheel(directory, config_settings, metadata_directory)


def build_editable(directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Compiles the package in place."""
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
