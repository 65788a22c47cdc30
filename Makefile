# make            build the program, build/release/saltus, and its parts for networks and GPUs
# make demo       build what the demo needs, and sample the paper's 5 x 5 Ising model; the
#                 parts for networks and text (libtorch) and for GPUs (CUDA) are left for make
# make install    copy program, library and manual to /usr/local, or to PREFIX=...; needs a build (make)
# make uninstall  remove what was installed from this build, and nothing else
# make package    Debian packages, in build/release/packages
# make python     a wheel of the Python package, in build/python
# make site       the documents as pages that can be searched, in build/site
# make test       build, and run every test
# make test-minimal  the same in a build without libtorch, netCDF, BLAS, PNG and pages
# make bench      speed, as a table
# make bench-peers  the same samplers in plain PyTorch, timed beside ours
# make bench-auto   how well --sampler auto chooses
# make bench-choosing  every sampler on twenty models
# make bench-warned    how often a summary is wrong and content, or warned without need
# make bench-python     what the Python package costs beside the program and plain PyTorch
# make bench-optimisation  the best of generated problems: cuts, sets, cliques, partitions, clauses
# make sanitize   the tests under the address, undefined-behaviour and thread sanitizers
# make torture    kills, full disks, shared names, odd places, mutated files, for ten minutes
# make fuzz       fuzz the readers of model files, checkpoints and draws, a minute each
# make coverage   line coverage of the tests
# make format lint clean
# make check-format lint-changed   what .ci/run asks of formatting and of changed files
#
# Debian packages that are missing are named first, with what each is for. Root gets them installed, everyone
# else is shown the command. CI=true makes errors of the compiler's warnings.

.PHONY: all demo install uninstall package python site test test-minimal bench bench-peers bench-auto bench-choosing bench-warned bench-optimisation bench-python sanitize torture fuzz coverage format lint \
  check-format lint-changed clean
all:
	@scripts/setup.sh build
	@$(configure)
	@cmake --build build/release --target saltus_program

# Every time, so that a library that was installed since is found.
configure = cmake --preset release $(shell dpkg-query -W libgtest-dev >/dev/null 2>&1 || echo -DSALTUS_TESTS=OFF) >/dev/null

demo:
	@scripts/setup.sh build
	@$(configure)
	@# a module of an earlier build must not meet a newer program
	@cmake --build build/release --target $(if $(wildcard build/release/saltus_*.so),saltus_program,saltus_cli)
	@build/release/saltus sample --chains 4 --draws 1000000
	@if grep -q "saltus_[a-z]*\.so" build/release/build.ninja && ! ls build/release/saltus_*.so >/dev/null 2>&1; then \
	  echo; echo "The program is build/release/saltus. Run make to build its parts for networks, text and GPUs, too."; \
	fi

install:
	@cmake --install build/release $(if $(PREFIX),--prefix $(PREFIX))

uninstall:
	@cmake -DMANIFEST=build/release/install_manifest.txt -P cmake/uninstall.cmake

package: all
	@scripts/setup.sh package
	@cpack --config build/release/CPackConfig.cmake -G DEB

# pip fetches scikit-build-core, which builds the library anew, without optional parts.
python:
	@scripts/setup.sh python
	@/usr/bin/python3 -m pip wheel --quiet --no-deps --wheel-dir build/python .
	@ls build/python/*.whl

site:
	@scripts/setup.sh site
	@/usr/bin/python3 scripts/site/make_site.py build/site $(addprefix --program ,$(wildcard build/release/saltus))

test:
	@scripts/setup.sh test
	@cmake --preset release -DSALTUS_TESTS=ON >/dev/null
	@cmake --build build/release
	@ctest --preset release -j $$(nproc)
	@scripts/python_tests.sh

test-minimal:
	@scripts/setup.sh test
	@cmake --preset minimal >/dev/null
	@cmake --build build/minimal
	@ctest --preset minimal -j $$(nproc)

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

bench-choosing: all
	@/usr/bin/python3 bench/choosing.py build/release/saltus --out results/choosing/results.json

bench-warned: all
	@/usr/bin/python3 bench/warned.py build/release/saltus --out results/warned/results.json

bench-python: all
	@scripts/setup.sh peers
	@SALTUS_LIBRARY=$(CURDIR)/build/release/libsaltus_c.so PYTHONPATH=python /usr/bin/python3 bench/python_table.py

bench-optimisation: all
	@nice -n 10 /usr/bin/python3 bench/optimisation.py build/release/saltus --out results/optimisation/results.json

sanitize:
	@scripts/setup.sh test
	@for preset in asan-ubsan tsan; do \
	  cmake --preset $$preset >/dev/null && cmake --build build/$$preset && ctest --preset $$preset -j $$(nproc) || exit 1; \
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

check-format:
	@scripts/setup.sh format
	@clang-format --dry-run -Werror $(sources)

lint: check-format
	@scripts/setup.sh lint
	@scripts/lint.sh $(sources)

lint-changed:
	@scripts/setup.sh lint
	@scripts/lint.sh

clean:
	@rm -rf build
