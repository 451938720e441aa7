# `make help` lists the targets; CONTRIBUTING.md has what each needs and how long it takes.

.PHONY: help demo test test-all rust rust-thorough python python-thorough pytest pytest-thorough scheme lint wheel web dist dist-check bench hotplug figures deviations fuzz docs pages interop
SHELL := bash
# Python with the tools that tools/requirements.txt pins; `tools/venv` makes it.
VENV := $(CURDIR)/target/venv

# A target, two hashes, what it does.
help: ## the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

demo: ## a real video over three emulated links; report in target/demo/report.html (ARGS="--network xu2015")
	cargo run --release --locked -p strandcast-cli -- demo $(ARGS)

# Tests of the second tier are in modules called `thorough`. Many tests of sockets and of the command sleep: eight at once.
TESTS := cargo test --quiet --locked --workspace --exclude strandcast-bench --no-fail-fast
PARTS = RUST_TEST_THREADS=8 STRANDCAST_PARTS="$$(paste -sd ' ' target/parts)"
OTHER_TARGET := $(shell uname -m)-unknown-linux-musl
# Two targets at once, because most tests of Rust sleep. The output of the second is printed after that of the first.
together = @$(MAKE) --no-print-directory $2 >target/$2.log 2>&1 & other=$$!; \
	$(MAKE) --no-print-directory $1; code=$$?; wait $$other || code=1; cat target/$2.log; exit $$code

test: ## all that must pass before a change lands, Rust and Python
	tools/setup
	@if grep -qx usrsctp target/parts; then $(MAKE) --no-print-directory interop; fi
	$(TESTS) --no-run
	$(call together,rust,python)

rust:
	$(PARTS) $(TESTS) -- --skip thorough
	@if grep -qx usrsctp target/parts; then tests/interop/selftest; fi
	tools/selftest

test-all: test ## both tiers: many seeds, products of combinations, long clocks, other programs
	$(call together,rust-thorough,python-thorough)

rust-thorough:
	$(PARTS) $(TESTS) --lib --bins --tests thorough
	tools/selftest thorough
	tools/check-packages
	cargo test --quiet --locked --manifest-path tests/interop/sapflow/Cargo.toml --target-dir $(or $(CARGO_TARGET_DIR),target)/sapflow
	tools/check-features
	cargo test --quiet --locked -p strandcast-proto --no-default-features --doc
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

python python-thorough: python%:
	@if grep -qx python target/parts; then $(MAKE) --no-print-directory pytest$*; fi

scheme: ## all that a scheme or part has to pass (ARGS=NAME; docs/adding-a-scheme.md)
	tools/scheme $(ARGS)

# The cheapest first: most mistakes are found within seconds.
lint: ## formatting, clippy, ruff, mypy, the walls of crates, licences
	tools/venv
	cargo fmt --all --check
	tools/check-arrows
	tools/check-sources
	tools/check-cycles
	tools/check-properties
	tools/check-features --count
	$(VENV)/bin/ruff check --quiet
	$(VENV)/bin/ruff format --quiet --check
	$(VENV)/bin/mypy --no-error-summary
	tools/licences --check
	cargo check --quiet --locked -p strandcast-proto --no-default-features
	$(VENV)/bin/python tools/deny-python
	cargo clippy --quiet --locked --workspace --all-targets --features strandcast-py/command -- -D warnings
	tools/deny

# Builds of the command after it have the page in them. Without `npm` they say so, and all but the page works.
web: ## the page of `serve`: target/web (npm)
	tools/web

wheel: ## the Python package with the command in it: target/wheels
	tools/venv
	PATH="$(VENV)/bin:$$PATH" maturin build --quiet --release --out target/wheels
	@ls -t target/wheels/*.whl | head -1

dist: ## the files of a release: target/dist (ARGS=amd64 for one machine)
	packaging/dist $(ARGS)

dist-check:
	packaging/check $(ARGS)

# Measurements: `python3 -m bench` lists them, with what each needs (docs/measurements/index.md).
BENCH := $(VENV)/bin/python -m bench
# Without those that another bench runs: policies_memory (instructions), symbols.
BENCHES := air codecs handshake link policies_simulator policies_sockets repair simulated_radio simulated_sctp \
	simulated_tcp transfer windows

bench: ## measurements (ARGS="NAME OPTION..."; without: costs in memory, over sockets, in Python)
ifdef ARGS
	cargo build --release --locked -p strandcast-cli
	tools/venv --package
	$(BENCH) $(ARGS)
else
	tools/setup
	cargo bench --locked -p strandcast-bench $(addprefix --bench ,$(BENCHES))
	tools/venv --package
	for name in failover bulk run sweep policies; do $(BENCH) $$name || exit; done
endif

# A stream while its four uplinks come, go, are renumbered and renamed, 10 min in each mode: a user who may make namespaces.
hotplug:
	HOTPLUG_SECONDS=600 cargo test --release --locked -p strandcast-cli --test hotplug -- $(ARGS)

figures: ## the figures of the papers, into docs (ARGS=--quick: into target/figures)
	tools/venv --package
	$(VENV)/bin/strandcast figures all $(if $(filter --quick% --runs% --scheme%,$(ARGS)),,--tables docs) $(ARGS)

deviations:
	tools/venv --package
	$(VENV)/bin/strandcast figures $(or $(PAPER),all) --deviations --tables docs $(ARGS)

fuzz: ## each fuzz target for a minute (nightly Rust)
	fuzz/run

docs: ## the site, target/site/index.html, and the documentation of crates, target/doc
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --workspace --no-deps
	tools/public-api --check
	tools/venv
	tools/diagrams --check
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict
	tools/check-site target/site

pages: ## looks at the site and the report of the demo in Chromium, after docs and demo
	tools/setup
	tools/check-pages target/site target/demo/report.html
	tools/demo-pictures --check target/demo/report.html

# The foreign peer of the interop tests.
interop: target/interop/usrsctp_peer

target/interop/usrsctp_peer: tests/interop/usrsctp_peer.c
	mkdir -p target/interop
	cc -std=gnu11 -O2 -Wall -Wextra -Werror -o $@ $< -lusrsctp -lpthread
