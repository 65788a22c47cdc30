# make            build the program: build/release/saltus
# make demo       install what is missing, build, and sample the paper's 5 x 5 Ising model
# make test       install what is missing, build, and run every test
# make bench      speed, as a table
# make bench-peers  the same samplers in plain PyTorch, timed beside ours
# make bench-auto   how well --sampler auto chooses
# make sanitize   the tests under the address, undefined-behaviour and thread sanitizers
# make torture    kills, full disks, shared names, odd places, mutated files, for ten minutes
# make fuzz       fuzz the readers of model files, checkpoints and draws, a minute each
# make coverage   line coverage of the tests
# make format lint clean

.PHONY: all demo test bench bench-peers bench-auto sanitize torture fuzz coverage format lint clean
all:
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory build/release/saltus

configure = [ -f build/$(1)/build.ninja ] || cmake --preset $(1) $(2) >/dev/null

.PHONY: build/release/saltus
build/release/saltus:
	@$(call configure,release,$(shell dpkg-query -W libgtest-dev >/dev/null 2>&1 || echo -DSALTUS_TESTS=OFF))
	@cmake --build build/release --target saltus_cli

demo: all
	@build/release/saltus sample --chains 4 --draws 1000000

test:
	@scripts/setup.sh test
	@cmake --preset release -DSALTUS_TESTS=ON >/dev/null
	@cmake --build build/release
	@ctest --preset release -j $$(nproc)

bench:
	@scripts/setup.sh bench
	@cmake --preset bench >/dev/null
	@cmake --build build/bench
	@build/bench/bench/saltus_bench_table

bench-peers: all
	@scripts/setup.sh peers
	@/usr/bin/python3 bench/peers.py

bench-auto:
	@scripts/setup.sh bench
	@cmake --preset bench >/dev/null
	@cmake --build build/bench --target saltus_bench_auto
	@build/bench/bench/saltus_bench_auto

sanitize:
	@scripts/setup.sh test
	@for preset in asan-ubsan tsan; do \
	  cmake --preset $$preset >/dev/null && cmake --build build/$$preset && ctest --preset $$preset || exit 1; \
	done

torture: all
	@/usr/bin/python3 tests/torture/torture.py build/release/saltus --seconds 600

fuzz: all
	@scripts/setup.sh fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build build/fuzz
	@scripts/fuzz.sh build/fuzz/fuzz 60

coverage:
	@scripts/setup.sh coverage
	@cmake --preset coverage >/dev/null
	@cmake --build build/coverage
	@ctest --preset coverage
	@scripts/coverage.sh build/coverage

sources = $(shell git ls-files '*.cpp' '*.hpp')
format:
	@clang-format -i $(sources)

lint:
	@scripts/setup.sh lint
	@clang-format --dry-run -Werror $(sources)
	@[ -f build/release/compile_commands.json ] || cmake --preset release >/dev/null
	@# clang cannot read libtorch's headers as C++20, nor lanes and CUDA as gcc and nvcc do
	@printf '%s\n' $(filter-out src/ops/%_vector.cpp src/torch/% src/cuda/%,$(filter src/%.cpp cli/%.cpp,$(sources))) | \
	  xargs -n 1 -P $$(nproc) clang-tidy -quiet -p build/release --extra-arg=-Wno-unknown-warning-option 2>/dev/null

clean:
	@rm -rf build
