# compactlab: a thin front over meson. `make demo` and `make check` need nothing but
# make itself: they install what is missing first.

BUILD  ?= build
prefix ?= /usr/local

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@scripts/deps build
	@meson setup $(BUILD) --prefix=$(prefix) -Dtests=false -Doptimization=3 > $(BUILD).log 2>&1 || \
		{ cat $(BUILD).log; rm -f $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

demo: ; @scripts/deps build && $(MAKE) --no-print-directory all && scripts/demo $(BUILD)

check: ; @scripts/deps build guest test && scripts/check

kernel-check: ; @scripts/deps build guest kernel && $(MAKE) --no-print-directory all && \
	scripts/kernel-check $(BUILD) $(QUICK)

kernel-policies: ; @scripts/deps build guest kernel && $(MAKE) --no-print-directory all && \
	scripts/kernel-policies $(BUILD)

bench: ; @scripts/deps build guest && $(MAKE) --no-print-directory all && bench/run $(BUILD)

experiments: ; @scripts/deps build guest && $(MAKE) --no-print-directory all && scripts/experiments $(BUILD)

fidelity: ; @scripts/deps build guest && $(MAKE) --no-print-directory all && scripts/fidelity $(BUILD) && \
	scripts/fidelity-from-snapshot $(BUILD) && { scripts/fidelity-policies $(BUILD) || [ $$? -eq 77 ]; }

differential: ; @scripts/deps build guest && $(MAKE) --no-print-directory all && \
	scripts/differential $(BUILD) --seed $(or $(SEED),1) --count $(or $(COUNT),10)

fuzz: ; @scripts/deps build test && scripts/fuzz

install: $(BUILD)/build.ninja
	@meson configure $(BUILD) --prefix=$(prefix)
	@ninja -C $(BUILD) --quiet
	@meson install -C $(BUILD) --no-rebuild --quiet

format: ; @clang-format -i $$(git ls-files '*.c' '*.h')

clean: ; rm -rf build build-check-* build-fuzz build-bench

.PHONY: all demo check kernel-check kernel-policies bench experiments fidelity differential fuzz install \
	format clean
