# The only entry point.
#
#   make demo    a real video over three emulated links; report in target/demo/report.html (ARGS="--network xu2015")
#   make test    what must pass before a change lands, Rust and Python; installs what it needs when root, else names what it
#                skips (docs of both tiers with their times: CONTRIBUTING.md)
#   make test-all  the second tier as well: many seeds, whole products of combinations, long clocks, other programs
#   make scheme  what a new scheme or part has to pass, in one go (ARGS=NAME; docs/adding-a-scheme.md)
#   make lint    formatting, clippy, ruff, mypy, the crates' walls, licences
#   make wheel   the Python package, with the command in it: target/wheels
#   make dist    the files of a release, from the commit, for amd64 and arm64: target/dist (Debian 12 on amd64; ARGS=amd64 for one)
#   make dist-check  those files as users try them, and a second build of them (root; ARGS=chroot for a part)
#   make bench   the state machines in memory, what schemes cost, failover over sockets, bulk transfer beside others, runs and
#                sweeps from Python, policies in Python (docs/measurements/performance.md)
#   make validate  goodput beside ns-2.35's on the networks of tools/validate, wired and radio (docs/measurements/validation.md)
#   make friendliness  RFC 6356's goals for every window of MPTCP flows, marks and tables of docs/measurements/friendliness.md; a quarter
#                  of an hour, and it goes on where it stopped (ARGS=--quick: a minute; ARGS=--write: tables into the page)
#   make repair  late messages of a live video with and without repair symbols, docs/measurements/repair.md; ten minutes, and it goes on
#                where it stopped (ARGS=--quick: some seconds; ARGS=--write: tables into the page)
#   make live    live video over links that fail, docs/measurements/live.md, in the simulator; an hour, and it goes on where it stopped
#                (ARGS="--seeds test", ARGS=silence for the time to leave a silent path, ARGS=fairness for what
#                TCPs on a bottleneck keep, ARGS=report for tables alone)
#   make firsttry  bursty live inputs with the default scheme over real sockets, beside cmt and SRT, docs/measurements/first-try.md (root, a C
#                compiler, srt-tools); half an hour, and it goes on where it stopped (ARGS=reorder for links on which packets
#                overtake each other, ARGS=simulate for all cells in the simulator)
#   make hotplug  a stream while its uplinks are unplugged, renumbered and renamed, 10 minutes in each mode; HOTPLUG_SEED is another run
#   make soak    a stream for 20 minutes over three links that flap, with 50 faults drawn from a seed: processes killed and
#                stopped, errors of sockets, a full disk, clocks set, interfaces that go (root, ffmpeg, a C compiler; ARGS=--quick:
#                40 s, ARGS="--seed 7 --replay 12": one fault again; docs/measurements/long-trial.md)
#   make harm    a scheme on 200 random networks beside the best path alone; an hour, and it goes on where it stopped
#                (SCHEME=bond; ARGS="--only 0,1,2" for some of the networks)
#   make validate-mptcp  the kernel's MPTCP and TCP beside ours over emulated links (root, TUN, iperf3, mptcpize; two
#                  hours, and it goes on where it stopped; ARGS=--quick: one run of 5 s)
#   make validate-bbr  the kernel's TCP BBR beside ours, alone and beside CUBIC (root, TUN, iperf3; an hour and a half, and it
#                  goes on where it stopped)
#   make figures   the papers' figures from 30 runs each into docs/figures, tables into docs; it goes on where it
#                  stopped (ARGS=--quick: in minutes, into target/figures; docs/reproduction.md)
#   make deviations  assumptions that the papers leave open, one at a time over all of their figures, tables into docs; an hour
#                  of one core, and it goes on where it stopped (PAPER=xu2015; ARGS=--plan: what is missing)
#   make networks  schemes on random networks and on those of docs/measurements/real-paths.md, beside the best path alone; hours, and it
#                  goes on where it stopped (ARGS="--set live" or "--seed 5" for a part)
#   make links     real sockets over emulated links, beside RIST, SRT and the kernel's TCP (root; an hour or two; it goes on where
#                  it stopped; ARGS="hole --schemes bond,cmt" for a part; docs/measurements/real-paths.md)
#   make fuzz    each fuzz target for a minute (needs the nightly toolchain)
#   make docs    the site, target/site/index.html, and the crates' documentation, target/doc
#   make pages   looks at the site and the demo's report in Chromium, after `make docs` and `make demo`

.PHONY: demo test test-all pytest pytest-thorough scheme lint wheel dist dist-check bench validate validate-mptcp validate-bbr friendliness repair live firsttry soak hotplug harm figures deviations networks links fuzz docs pages interop
SHELL := bash
# Python with the tools that tools/requirements.txt pins; `tools/venv` makes it.
VENV := $(CURDIR)/target/venv

demo:
	cargo run --release --locked -p strandcast-cli -- demo $(ARGS)

# Tests of the second tier are in modules called `thorough`. Many tests of sockets and of the command sleep: eight at once.
TESTS := RUST_TEST_THREADS=8 cargo test --quiet --locked --workspace --exclude strandcast-bench --no-fail-fast
OTHER_TARGET := $(shell uname -m)-unknown-linux-musl

test:
	tools/setup
	@if grep -qx usrsctp target/parts; then $(MAKE) --no-print-directory interop; fi
	STRANDCAST_PARTS="$$(paste -sd ' ' target/parts)" $(TESTS) -- --skip thorough
	@if grep -qx usrsctp target/parts; then tests/interop/selftest; fi
	tools/selftest
	@if grep -qx python target/parts; then $(MAKE) --no-print-directory pytest; fi

test-all: test
	STRANDCAST_PARTS="$$(paste -sd ' ' target/parts)" $(TESTS) --lib --bins --tests thorough
	tools/selftest thorough
	tools/check-packages
	cargo test --quiet --locked -p strandcast-proto --no-default-features --doc
	@if grep -qx python target/parts; then $(MAKE) --no-print-directory pytest-thorough; fi
	@if grep -qx usrsctp target/parts; then \
		tests/interop/selftest \
			$$(grep -qx netns target/parts && echo --netns) $$(grep -qx tshark target/parts && echo --pcap); \
	fi
	@if [ -d "$$(rustc --print sysroot)/lib/rustlib/$(OTHER_TARGET)/lib" ]; then \
		CC_$(subst -,_,$(OTHER_TARGET))=cc cargo test --quiet --locked -p strandcast-lab --test it golden --target $(OTHER_TARGET); \
	else \
		echo "no $(OTHER_TARGET) (rustup target add $(OTHER_TARGET)): golden fingerprints on this target alone"; \
	fi

# Python's tests, of the package as it is installed; tests of the second tier are marked `thorough`, and try the wheel.
pytest:
	tools/venv --tested
	$(VENV)/bin/pytest -q -m "not thorough" $(ARGS)

pytest-thorough:
	tools/venv --package
	$(VENV)/bin/pytest -q -m thorough $(ARGS)

scheme:
	tools/scheme $(ARGS)

# The cheapest first: most mistakes are found within seconds.
lint:
	tools/venv
	cargo fmt --all --check
	tools/check-arrows
	tools/check-sources
	tools/check-cycles
	tools/check-properties
	$(VENV)/bin/ruff check --quiet
	$(VENV)/bin/ruff format --quiet --check
	$(VENV)/bin/mypy --no-error-summary
	tools/licences --check
	cargo check --quiet --locked -p strandcast-proto --no-default-features
	$(VENV)/bin/python tools/deny-python
	cargo clippy --quiet --locked --workspace --all-targets --features strandcast-py/command -- -D warnings
	tools/deny

wheel:
	tools/venv
	PATH="$(VENV)/bin:$$PATH" maturin build --quiet --release --out target/wheels
	@ls -t target/wheels/*.whl | head -1

dist:
	packaging/dist $(ARGS)

dist-check:
	packaging/check $(ARGS)

# Without those that another tool runs: policies_memory (tools/bench/instructions), symbols.
BENCHES := air codecs datagrams handshake link policies_simulator policies_sockets repair sack simulated_radio simulated_sctp \
	simulated_tcp transfer windows

bench:
	tools/setup
	cargo bench --locked -p strandcast-bench $(addprefix --bench ,$(BENCHES))
	tools/bench/failover
	tools/bench/bulk
	tools/venv --package
	$(VENV)/bin/python tools/bench/run
	$(VENV)/bin/python tools/bench/sweep
	$(VENV)/bin/python tools/bench/policies

# Real sockets over emulated links, beside RIST, SRT and TCP: root, an hour or two. ARGS: what to measure (tools/bench/links list).
links:
	python3 tools/bench/links check
	python3 tools/bench/links run $(ARGS) --jobs 4
	python3 tools/bench/links report $(ARGS)

validate:
	cargo build --release --locked -p strandcast-cli
	tools/validate/run constants
	tools/validate/run ns2
	tools/validate/run ours target/release/strandcast
	tools/validate/run compare
	tools/validate/radio/run ns2
	tools/validate/radio/run ours target/release/strandcast
	tools/validate/radio/run compare

friendliness:
	cargo build --release --locked -p strandcast-cli
	python3 tools/friendliness $(ARGS)

repair:
	cargo build --release --locked -p strandcast-cli
	python3 tools/repair $(ARGS)

live:
	cargo build --release --locked -p strandcast-cli
	tools/venv --package
	$(VENV)/bin/python tools/livebench $(ARGS)

firsttry:
	cargo build --release --locked -p strandcast-cli
	python3 tools/firsttry $(ARGS)

soak:
	cargo build --release --locked -p strandcast-cli
	python3 tools/soak $(ARGS)

# A stream while its four uplinks come, go, are renumbered and renamed, 10 min in each mode: a user who may make namespaces.
hotplug:
	HOTPLUG_SECONDS=600 cargo test --release --locked -p strandcast-cli --test hotplug -- $(ARGS)

comma := ,
harm:
	cargo build --release --locked -p strandcast-lab --example random_networks
	target/release/examples/random_networks --harm --networks 200 --runs 5 --warmup 5 --scheme $(or $(SCHEME),strand) \
		$(foreach alone,sctp sctp$(comma)cc=cubic sctp$(comma)cc=bbr,--alone $(alone) --keep $(alone)) \
		--jobs "$$(nproc)" --out tools/livebench/results/harm.jsonl $(ARGS)

validate-mptcp:
	cargo build --release --locked -p strandcast-cli
	cargo build --release --locked -p strandcast-cli --example tun
	tools/validate/mptcp linux target/release/examples/tun $(ARGS)
	tools/validate/mptcp ours target/release/strandcast
	tools/validate/mptcp compare

validate-bbr:
	cargo build --release --locked -p strandcast-cli
	cargo build --release --locked -p strandcast-cli --example tun
	tools/validate/bbr linux target/release/examples/tun $(ARGS)
	tools/validate/bbr ours target/release/strandcast
	tools/validate/bbr compare

figures:
	tools/venv --package
	$(VENV)/bin/strandcast figures all $(if $(filter --quick% --runs% --scheme%,$(ARGS)),,--tables docs) $(ARGS)

deviations:
	tools/venv --package
	$(VENV)/bin/strandcast figures $(or $(PAPER),all) --deviations --tables docs $(ARGS)

networks:
	cargo build --release --locked -p strandcast-lab --example random_networks
	@mkdir -p target/networks; status=0; \
	for part in $(if $(ARGS),"$(ARGS)","--set links" "--set live" "--set traces" "--seed 4"); do \
		target/release/examples/random_networks $$part --jobs "$$(nproc)" --out target/networks/runs.jsonl || status=1; \
	done; exit $$status

fuzz:
	fuzz/run

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --workspace --no-deps
	tools/public-api --check
	tools/venv
	tools/diagrams --check
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict
	tools/check-site target/site

pages:
	tools/setup
	tools/check-pages target/site target/demo/report.html
	tools/demo-pictures --check target/demo/report.html

# The foreign peer of the interop tests.
interop: target/interop/usrsctp_peer

target/interop/usrsctp_peer: tests/interop/usrsctp_peer.c
	mkdir -p target/interop
	cc -std=gnu11 -O2 -Wall -Wextra -Werror -o $@ $< -lusrsctp -lpthread
