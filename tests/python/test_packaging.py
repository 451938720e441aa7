"""Contents of the wheel, the end of its build without Rust, and the citation of the project."""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest
import yaml

from strandcast import _native


@pytest.fixture(scope="module")
def installed() -> importlib.metadata.Distribution:
    """The package as it is installed."""
    return importlib.metadata.distribution("strandcast")


def text_of(installed: importlib.metadata.Distribution, name: str) -> str:
    """A file next to the package's metadata."""
    (file,) = (file for file in installed.files or [] if str(file).endswith(f".dist-info/{name}"))
    return pathlib.Path(str(file.locate())).read_text(encoding="utf-8")


# The wheel


@pytest.mark.thorough
def test_each_crate_in_the_wheel_has_its_licence(
    installed: importlib.metadata.Distribution, root: pathlib.Path
) -> None:
    # Crates whose code may panic have their sources' paths in the module.
    assert _native.__file__
    paths = re.findall(
        rb"/registry/src/[^/]+/([a-z0-9_-]+)-(\d+\.\d+\.[^/]+)/", pathlib.Path(_native.__file__).read_bytes()
    )
    crates = {(name.decode(), version.decode()) for name, version in paths}
    assert len(crates) > 30
    packages = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    known = {(package["name"], package["version"]) for package in packages}
    text = text_of(installed, "licenses/THIRD-PARTY-LICENSES.txt")
    listed = {
        (name, version): numbers
        for name, version, numbers in re.findall(r"^(\S+) (\S+): .*? \[([0-9, ]+)\]$", text, re.MULTILINE)
    }
    assert crates <= listed.keys()
    locked = json.loads((root / "web/package-lock.json").read_text(encoding="utf-8"))["packages"]
    of_the_page = {(place.removeprefix("node_modules/"), part["version"]) for place, part in locked.items() if place}
    assert listed.keys() - of_the_page <= known, "the lock file also has crates of other systems"
    # A bill of materials by maturin would name folders of the machine: wheels of two folders would differ.
    assert not [file for file in map(str, installed.files or []) if "/sboms/" in file]
    texts = dict(re.findall(r"^=+\n\[(\d+)\]\n\n(.+?)(?=^={100}$|\Z)", text, re.MULTILINE | re.DOTALL))
    for crate, numbers in listed.items():
        assert max(len(texts[number]) for number in numbers.split(", ")) > 500, crate


@pytest.mark.thorough
def test_the_wheel_has_our_licences_and_all_that_python_needs(
    installed: importlib.metadata.Distribution, root: pathlib.Path
) -> None:
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt"):
        assert text_of(installed, f"licenses/{name}") == (root / name).read_text(encoding="utf-8")
    files = {str(file) for file in installed.files or []}
    # Not caches, nor what an editable installation leaves in the tree.
    there = [
        path for path in (root / "python/strandcast").rglob("*") if path.suffix in (".py", ".pyi", ".html", ".css")
    ]
    assert {str(path.relative_to(root / "python")) for path in there} <= files
    scenarios = {str(path.relative_to(root)) for path in (root / "scenarios").glob("*/*")}
    assert {f"strandcast/{name}" for name in scenarios} <= files
    experiments = {path.parent.name for path in (root / "experiments").glob("*/__init__.py")}
    assert not {part for name in files for part in pathlib.PurePath(name).parts} & experiments, "they are in the clone"
    assert sum(name.startswith("strandcast/_native") and name.endswith(".so") for name in files) == 1


def test_the_wheel_says_what_it_is(installed: importlib.metadata.Distribution) -> None:
    assert installed.metadata["Author"] == "The Strandcast authors"
    assert "SCTP" in installed.metadata["Keywords"]
    assert installed.metadata["License-Expression"] == "MIT OR Apache-2.0"


def links(text: str) -> list[str]:
    """Targets of the links and pictures of a page in Markdown."""
    return [markdown or html for markdown, html in re.findall(r"\]\(([^)\s]+)|<img[^>]+src=\"([^\"]+)", text)]


def test_links_of_the_readme_are_found_in_a_clone(root: pathlib.Path) -> None:
    found = [link.partition("#")[0] for link in links((root / "README.md").read_text(encoding="utf-8"))]
    assert any(link.endswith(".png") for link in found)
    for link in found:
        assert link.startswith("https://") or (root / link).exists(), link


def test_the_packages_page_needs_no_clone(installed: importlib.metadata.Distribution) -> None:
    _, _, page = (installed.read_text("METADATA") or "").partition("\n\n")
    assert "pip install" in page
    assert not links(page), "a page elsewhere finds no file of the clone"


def test_no_page_names_a_repository_of_the_project_that_is_not_there(root: pathlib.Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout
    kinds = (".md", ".rs", ".py", ".toml", ".cff", ".yml")
    invented = re.compile(r"github(?:usercontent)?\.com/strandcast" + r"/")
    for name in listed.splitlines():
        if name.endswith(kinds):
            assert not invented.search((root / name).read_text(encoding="utf-8")), name


# Its build


def build(root: pathlib.Path, path: pathlib.Path, hook: str = "get_requires_for_build_wheel") -> tuple[int, str, str]:
    """Exit code, output and errors of a hook of the build when only this folder is on the PATH."""
    done = subprocess.run(
        [sys.executable, "-c", f"import strandcast_build; print(strandcast_build.{hook}())"],
        env={"PATH": str(path), "PYTHONPATH": str(root / "tools/backend"), "HOME": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def rust(folder: pathlib.Path, says: str) -> pathlib.Path:
    """A folder with a compiler that does this when it is asked for its version."""
    for name in ("cargo", "rustc"):
        (folder / name).write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


HOW = "install Rust >= 1.95 (https://rustup.rs) and run again\n"


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_without_rust_the_build_ends_with_one_line(root: pathlib.Path, tmp_path: pathlib.Path, hook: str) -> None:
    assert build(root, tmp_path, hook) == (1, "", f"strandcast is compiled from Rust source: {HOW}")


def test_with_an_old_rust_the_build_ends_with_one_line(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    errors = f"strandcast is compiled from Rust source, and Rust 1.74 is too old: {HOW}"
    assert build(root, rust(tmp_path, "echo 'rustc 1.74.0 (79e9716c9 2023-11-13)'")) == (1, "", errors)


def test_with_a_rust_that_fails_the_build_ends_with_one_line(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    errors = f"strandcast is compiled from Rust source, but `rustc --version` fails (no toolchain): {HOW}"
    assert build(root, rust(tmp_path, "echo info >&2; echo no toolchain >&2; exit 1")) == (1, "", errors)


@pytest.mark.parametrize("version", ["1.95.0", "1.100.0-nightly", "2.0.1"])
def test_with_rust_the_build_is_maturins_and_downloads_none(
    root: pathlib.Path, tmp_path: pathlib.Path, version: str
) -> None:
    # maturin asks for puccinialin, which downloads Rust, where it finds none.
    assert build(root, rust(tmp_path, f"echo 'rustc {version} (0 2026-01-01)'")) == (0, "[]\n", "")


def test_the_oldest_rust_is_the_workspaces(root: pathlib.Path) -> None:
    manifest = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    assert f">= {manifest['workspace']['package']['rust-version']} " in HOW


def test_the_build_says_that_it_compiles(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code, output, _ = build(root, rust(tmp_path, "echo 'rustc 1.95.0'"), "say")
    assert code == 0
    assert re.match(r"strandcast is compiled from Rust source: about \d+ minutes on \d+ cores?\n", output)


# Citing it


def test_the_citation_is_valid(root: pathlib.Path) -> None:
    said: dict[str, Any] = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert said.keys() >= {"cff-version", "message", "title", "authors"}, "fields that the format requires"
    known = {
        "abstract",
        "type",
        "version",
        "license",
        "repository-code",
        "url",
        "keywords",
        "date-released",
        "doi",
        "references",
    }
    assert said.keys() <= {"cff-version", "message", "title", "authors"} | known
    assert said["cff-version"] == "1.2.0"
    assert said["type"] == "software"
    assert all(
        author.keys() <= {"name", "given-names", "family-names", "orcid", "affiliation"} for author in said["authors"]
    )
    manifest = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said["version"] == manifest["version"]
    assert " OR ".join(said["license"]) == manifest["license"] == project["license"]
    assert [author["name"] for author in said["authors"]] == [author["name"] for author in project["authors"]]
