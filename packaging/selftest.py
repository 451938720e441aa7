#!/usr/bin/env python3
"""Tests of the files of a release, with a stand-in for the binary: no build. Prints what fails, exits with 1."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = b"\x7fELF stand-in"
EPOCH = 1_700_000_000
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
SHARE = {
    "man/man1/strandcast.1": ".TH strandcast 1\n",
    "bash-completion/completions/strandcast": "complete\n",
    "zsh/vendor-completions/_strandcast": "#compdef\n",
}
UNITS = sorted(path.name for path in (ROOT / "packaging/systemd").glob("*.service"))
PAGES = sorted(path.name for path in (ROOT / "docs/operate").iterdir())
SCRIPTS = sorted(path.name for path in (ROOT / "packaging/encoders").iterdir() if path.is_file())
DOCUMENTS = ["LICENSE-APACHE", "LICENSE-MIT", "cli.md", "options.md", *(f"operate/{name}" for name in PAGES)]
DOCUMENTS += [*(f"encoders/{name}" for name in SCRIPTS), "wireshark/strandcast.lua"]


def script(name: str, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of this folder."""
    environment = os.environ | {"VERSION": VERSION, "SOURCE_DATE_EPOCH": str(EPOCH)} | variables
    command = [str(ROOT / "packaging" / name), *(str(word) for word in words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def made(name: str, arch: str, umask: int = 0o022, age: int = 0) -> tuple[str, bytes]:
    """Name and bytes of the one file that `deb` or `archive` writes, from files of this age."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.umask(umask)
        for path, text in SHARE.items():
            file = pathlib.Path(folder, "share", path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            os.utime(file, (age, age))
        binary = pathlib.Path(folder, "binary")
        binary.write_bytes(BINARY)
        os.umask(before)
        done = script(name, arch, binary, pathlib.Path(folder, "share"), pathlib.Path(folder, "out"))
        assert done.returncode == 0, done.stderr
        (file,) = pathlib.Path(folder, "out").iterdir()
        return file.name, file.read_bytes()


def image(arch: str, binary: bytes = BINARY) -> bytes:
    """What `oci` writes."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = pathlib.Path(folder, "binary"), pathlib.Path(folder, "image.tar")
        source.write_bytes(binary)
        done = script("oci", arch, source, out)
        assert done.returncode == 0, done.stderr
        return out.read_bytes()


def members(data: bytes) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """The members of a tar archive, in its order."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {one.name: (one, tar.extractfile(one).read() if one.isfile() else b"") for one in tar.getmembers()}


def packed(data: bytes, part: str) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """Files of a Debian package: those of --fsys-tarfile, or of --ctrl-tarfile."""
    with tempfile.NamedTemporaryFile(suffix=".deb") as file:
        file.write(data)
        file.flush()
        done = subprocess.run(["dpkg-deb", part, file.name], check=True, stdout=subprocess.PIPE)
    return {name.removeprefix("./"): one for name, one in members(done.stdout).items() if not one[0].isdir()}


def blobs(arch: str) -> tuple[dict, dict, bytes]:
    """Manifest, configuration and uncompressed layer of an image whose digests and sizes all agree."""
    files = members(image(arch))

    def blob(one: dict) -> bytes:
        data = files["blobs/" + one["digest"].replace(":", "/")][1]
        assert (len(data), "sha256:" + hashlib.sha256(data).hexdigest()) == (one["size"], one["digest"])
        return data

    (entry,) = json.loads(files["index.json"][1])["manifests"]
    manifest = json.loads(blob(entry))
    config, layer = json.loads(blob(manifest["config"])), gzip.decompress(blob(manifest["layers"][0]))
    assert json.loads(files["oci-layout"][1]) == {"imageLayoutVersion": "1.0.0"}
    assert entry["platform"]["architecture"] == config["architecture"] == arch
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
    (docker,) = json.loads(files["manifest.json"][1])
    assert docker["Layers"] == ["blobs/" + manifest["layers"][0]["digest"].replace(":", "/")]
    assert docker["Config"] == "blobs/" + manifest["config"]["digest"].replace(":", "/")
    return manifest, config, layer


def package_has_its_files() -> bool:
    """The Debian package has these files, of root, and no other."""
    name, data = made("deb", "amd64")
    found = packed(data, "--fsys-tarfile")
    wanted = {"usr/bin/strandcast"} | {f"usr/lib/systemd/system/{unit}" for unit in UNITS}
    wanted |= {f"usr/share/{path}" + (".gz" if path.startswith("man/") else "") for path in SHARE}
    documents = [*DOCUMENTS, "copyright", "changelog.gz", "THIRD-PARTY-LICENSES.txt.gz"]
    wanted |= {f"usr/share/doc/strandcast/{path}" for path in documents}
    owners = {(one.uid, one.gid, one.mtime <= EPOCH) for one, _ in found.values()}
    programs = {path for path, (one, _) in found.items() if one.mode & 0o111}
    same = found["usr/bin/strandcast"][1] == BINARY
    return (name, set(found), owners, programs, same) == (
        f"strandcast_{VERSION.replace('-', '~')}_amd64.deb", wanted, {(0, 0, True)}, {"usr/bin/strandcast"}, True,
    )  # fmt: skip


def package_has_its_sums() -> bool:
    """`dpkg --verify` finds each file as it is."""
    data = made("deb", "arm64")[1]
    sums = packed(data, "--ctrl-tarfile")["md5sums"][1].decode()
    files = packed(data, "--fsys-tarfile")
    wanted = "".join(f"{hashlib.md5(files[name][1]).hexdigest()}  {name}\n" for name in sorted(files))
    return "".join(sorted(sums.splitlines(True), key=lambda line: line[34:])) == wanted


def units_name_the_program() -> bool:
    """Each unit starts the program of the package, and is enabled by nobody."""
    data = made("deb", "amd64")[1]
    units = [text.decode() for name, (_, text) in packed(data, "--fsys-tarfile").items() if name.endswith(".service")]
    scripts = b"".join(text for _, text in packed(data, "--ctrl-tarfile").values()).decode()
    started = all(re.search(r"^ExecStart=/usr/bin/strandcast ", text, re.MULTILINE) for text in units)
    return bool(units) and started and not re.search(r"systemctl (enable|start|restart)", scripts)


def control() -> bool:
    """The package names its architecture and needs no library."""
    fields = packed(made("deb", "arm64")[1], "--ctrl-tarfile")["control"][1].decode()
    return "\nArchitecture: arm64\n" in fields and "\nDepends: passwd\n" in fields


def same_bytes() -> bool:
    """Files of another age and other modes give the same packages and archives."""
    return all(made(name, "amd64") == made(name, "amd64", 0o077, 10**9) for name in ("deb", "archive"))


def archive_is_one_folder() -> bool:
    """The archive has one folder, with the program and a unit."""
    name, data = made("archive", "arm64")
    folder = f"strandcast-{VERSION}-linux-arm64"
    found = members(gzip.decompress(data))
    program = found[f"{folder}/bin/strandcast"]
    inside = all(path == folder or path.startswith(folder + "/") for path in found)
    # It is copied to /usr/local.
    unit = b"\nExecStart=/usr/local/bin/strandcast " in found[f"{folder}/share/doc/strandcast/systemd/{UNITS[0]}"][1]
    return name == folder + ".tar.gz" and inside and unit and list(found) == sorted(found) and program[0].mode == 0o755


def image_agrees() -> bool:
    """Digests agree, and the layer holds the program and a folder of the user that runs it."""
    for arch in ("amd64", "arm64"):
        _, config, layer = blobs(arch)
        files = members(layer)
        home = files["var/lib/strandcast"][0]
        user = f"{home.uid}:{home.gid}"
        if files["strandcast"][1] != BINARY or files["strandcast"][0].mode != 0o755 or home.mode != 0o700:
            return False
        if config["config"]["User"] != user or config["config"]["Entrypoint"] != ["/strandcast"] or home.uid == 0:
            return False
    return True


def image_is_the_binary() -> bool:
    """The same binary gives the same bytes, another one others."""
    return image("amd64") == image("amd64") != image("amd64", BINARY + b"!")


def bill() -> dict:
    """What `sbom` writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "bom.json")
        done = script("sbom", out, RUST="amd64 1.2.3 (x)\n", GLIBC="amd64 2.36-9\narm64 2.36-8\n")
        assert done.returncode == 0, done.stderr
        return json.loads(out.read_text(encoding="utf-8"))


def bill_has_each_crate() -> bool:
    """Each crate and package whose licence is shown is a component with its sum, and so are the C libraries; nothing differs in a second one."""
    first = bill()
    lines = re.findall(
        r"^(\S+) (\d\S*): .+ \[", (ROOT / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    parts = {(one["name"], one["version"]): one for one in first["components"]}
    libraries = [one["version"] for one in first["components"] if one["name"] == "glibc"]
    sums = all(re.fullmatch("[0-9a-f]{64}|[0-9a-f]{128}", parts[line]["hashes"][0]["content"]) for line in lines)
    named = {one["bom-ref"] for one in first["components"]} == set(first["dependencies"][0]["dependsOn"])
    return len(lines) > 100 and sums and named and libraries == ["2.36-9", "2.36-8"] and first == bill()


def refused(words: list[str], reason: str, name: str = "deb") -> bool:
    """Whether a script ends with one line that has the reason."""
    done = script(name, *words)
    return done.returncode == 1 and done.stderr.count("\n") == 1 and reason in done.stderr


def dirty_tree() -> bool:
    """A release of files that no commit has is refused, before anything is built."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "packaging").mkdir()
        for name in ("env.sh", "dist"):
            (root / "packaging" / name).write_bytes((ROOT / "packaging" / name).read_bytes())
        (root / "Cargo.toml").write_bytes((ROOT / "Cargo.toml").read_bytes())
        git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c"]
        for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "a"]):
            subprocess.run([*git, *words], check=True)
        (root / "new").write_text("", encoding="utf-8")
        done = subprocess.run(["bash", root / "packaging/dist"], capture_output=True, text=True, check=False)
        return done.returncode == 1 and "git status" in done.stderr and not (root / "target").exists()


CASES: dict[str, Callable[[], bool]] = {
    "files of the Debian package": package_has_its_files,
    "sums of the Debian package": package_has_its_sums,
    "units of the Debian package": units_name_the_program,
    "fields of the Debian package": control,
    "the same files, the same bytes": same_bytes,
    "one folder in the archive": archive_is_one_folder,
    "digests of the image": image_agrees,
    "the image is that of the binary": image_is_the_binary,
    "a bill of all crates": bill_has_each_crate,
    "an architecture that is none": lambda: refused(["mips", "/bin/true", "/", "/"], "mips is neither amd64 nor arm64"),
    "a tree with changes": dirty_tree,
}


def main() -> int:
    """Runs the cases."""
    failed = []
    for name, case in CASES.items():
        try:
            passed = case()
        except (AssertionError, KeyError, ValueError) as error:
            print(f"packaging: {name}: {error!r}")
            passed = False
        if not passed:
            failed.append(name)
            print(f"packaging: {name} ... FAILED")
    print(f"{len(CASES) - len(failed)} passed, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
