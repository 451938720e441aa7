# What every build of a release has in common; sourced by the scripts of this folder.
#
#   ROOT, TARGET   the repository; folder of build products (CARGO_TARGET_DIR, else target)
#   VERSION        of the workspace, as Cargo spells it: 0.1.0-dev
#   SOURCE_DATE_EPOCH   time of the commit, unless it is set: the only time that files of a release contain
#
# The paths of this machine are replaced in compiled code, so that a build in another folder gives the same bytes.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TARGET=$(realpath -m "${CARGO_TARGET_DIR:-$ROOT/target}")
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml")
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$ROOT" log -1 --format=%ct)}
export CARGO_TARGET_DIR=$TARGET SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
umask 022

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# Prints the Rust target of an architecture as Debian names it.
rust_target() {
    case $1 in
        amd64) echo x86_64-unknown-linux-gnu ;;
        arm64) echo aarch64-unknown-linux-gnu ;;
        *) die "architecture $1 is neither amd64 nor arm64" ;;
    esac
}

# Prints the version of the C library that `binary` links, as Debian's source package has it; nothing without that package.
glibc_version() {
    case $1 in
        amd64) dpkg-query -W -f '${source:Version}' libc6-dev 2>/dev/null || true ;;
        arm64) dpkg-deb -f "$TARGET"/dist-cross/archives/libc6-dev_*_arm64.deb Version 2>/dev/null || true ;;
    esac
}

# Sets the compilers of an architecture, and flags that replace the paths of this machine. The last match of a path counts.
use_compilers() {
    local arch=$1 registry sysroot
    cd "$ROOT"
    if [ "$arch" = arm64 ]; then
        "$ROOT/packaging/cross"
        # shellcheck source=/dev/null
        . "$TARGET/dist-cross/env.sh"
    fi
    cargo fetch --quiet --locked
    sysroot=$("${RUSTC:-rustc}" --print sysroot)
    local from=("$ROOT=/strandcast" "$TARGET=/target" "$sysroot/lib/rustlib/src/rust=/rust")
    for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do from+=("${registry%/}=/crates"); done
    CARGO_ENCODED_RUSTFLAGS=$(printf -- '--remap-path-prefix=%s\x1f' "${from[@]}")
    # A static program finds no functions by name, so that getrandom would open /dev/urandom, which an empty root lacks.
    CARGO_ENCODED_RUSTFLAGS+=$'--cfg\x1fgetrandom_backend="linux_getrandom"'
    export CARGO_ENCODED_RUSTFLAGS
    export CFLAGS="${from[*]/#/-ffile-prefix-map=}"
}
