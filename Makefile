# SPDX-License-Identifier: MIT
# parplan: one Makefile, explicit lists, everything built under build/<variant>/.
# `make help` lists the targets and the variables.

VERSION := 0.1.0

# --- what there is -----------------------------------------------------------------
# Adding a file means adding its line here; `make lint` finds files that no list names.

BASE_SOURCES := \
	common/base/arena.c \
	common/base/data_file.c \
	common/base/error.c \
	common/base/id_set.c \
	common/base/json_document.c \
	common/base/log_sink.c \
	common/base/memory.c \
	common/base/name_index.c \
	common/base/node_list.c \
	common/base/parse_number.c \
	common/base/text_buffer.c \
	common/base/text_file.c \
	common/base/yaml_document.c \
	common/base/yaml_fields.c \
	common/base/yaml_writer.c

TOPOLOGY_SOURCES :=

WORKLOAD_SOURCES :=

PLANNER_SOURCES :=

MAPPING_SOURCES :=

REPORT_SOURCES :=

CLI_SOURCES :=

# Left edge: readers that need hwloc, a child process or a device. Not in the plugin.
READER_SOURCES :=

SPANK_SOURCES :=

# common/<layer>/data/*.yaml, compiled in and found by their last path component.
DATA_FILES :=

# One test program each: tests/unit/<layer>/<file>_test.c
UNIT_TESTS :=

# One test program each: tests/property/<name>_test.c
PROPERTY_TESTS :=

# One libFuzzer target each: tests/fuzz/<name>_fuzz.c; seeds in tests/fuzz/corpus/<name>/
FUZZ_TESTS :=

# One program each: tests/bench/<name>_bench.c
BENCHES :=

# Linked into every test, property, fuzz and bench program as needed.
SUPPORT_SOURCES := \
	tests/support/unit_test.c

# docs/man/<name>.<section>
MAN_PAGES :=

# --- the user's choices ------------------------------------------------------------

VARIANT ?= release
# Two people who build one tree at the same time use two of these.
BUILD_ROOT ?= build
BUILD := $(BUILD_ROOT)/$(VARIANT)

prefix ?= /usr/local
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/parplan
sysconfdir ?= /etc
# Where spank_parplan.so goes; for Debian's Slurm: spankdir=/usr/lib/x86_64-linux-gnu/slurm-wlm
spankdir ?= $(libdir)/slurm

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang-14
CLANG_FORMAT ?= clang-format-14
INSTALL ?= install
PKG_CONFIG ?= pkg-config
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# --- flags: ours first, the user's CPPFLAGS, CFLAGS and LDFLAGS last ----------------

MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
package_cflags = $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags $(1) 2>/dev/null))
package_libs = $(or $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null),$(2))

HWLOC_LIBS := $(call package_libs,hwloc,-lhwloc)
YAML_LIBS := $(call package_libs,yaml-0.1,-lyaml)
JSON_LIBS := $(call package_libs,json-c,-ljson-c)
CMOCKA_LIBS := $(call package_libs,cmocka,-lcmocka)

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wmissing-prototypes \
	-Wstrict-prototypes -Wold-style-definition -Wundef -Wformat=2 -Wwrite-strings \
	-Wpointer-arith -Wredundant-decls -Wnested-externs

# Every object may end in the plugin, so all are position independent.
# -fno-semantic-interposition: our own calls stay direct (and inlinable) all the same.
OUR_CPPFLAGS := -D_GNU_SOURCE -DPARPLAN_VERSION='"$(VERSION)"' -Icommon -I. \
	$(call package_cflags,hwloc yaml-0.1 json-c cmocka)
OUR_CFLAGS := -std=gnu11 -fPIC -fno-semantic-interposition -ffunction-sections \
	-fdata-sections $(WARNINGS)
OUR_LDFLAGS := -Wl,--as-needed -Wl,--gc-sections
HARDENING := -fstack-protector-strong
ifneq (,$(filter x86_64%,$(MACHINE)))
HARDENING += -fstack-clash-protection -fcf-protection
endif

ifeq ($(VARIANT),release)
OUR_CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
OUR_CFLAGS += -O2 -g $(HARDENING)
OUR_LDFLAGS += -Wl,-z,relro,-z,now
else ifeq ($(VARIANT),debug)
OUR_CPPFLAGS += -DMEMORY_TORTURE
OUR_CFLAGS += -Og -g
else ifeq ($(VARIANT),asan)
OUR_CPPFLAGS += -DMEMORY_TORTURE
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
OUR_CFLAGS += -O1 -g -fno-omit-frame-pointer
else ifeq ($(VARIANT),tsan)
SANITIZE := -fsanitize=thread
OUR_CFLAGS += -O1 -g -fno-omit-frame-pointer
else ifeq ($(VARIANT),coverage)
OUR_CPPFLAGS += -DMEMORY_TORTURE
SANITIZE := --coverage
OUR_CFLAGS += -O0 -g
else ifeq ($(VARIANT),fuzz)
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
OUR_CFLAGS += -O1 -g -fno-omit-frame-pointer
else
$(error VARIANT=$(VARIANT): one of release, debug, asan, tsan, coverage, fuzz)
endif

# WERROR=-Werror is for `make lint` alone.
COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(SANITIZE) $(WERROR) $(CFLAGS)
LINK = $(CC) $(SANITIZE) $(OUR_LDFLAGS)

# --- objects -----------------------------------------------------------------------

# A listed file that is not there yet is left out with a word, so that parts can be
# built while others are being written; `make lint` refuses it.
LISTED := $(BASE_SOURCES) $(TOPOLOGY_SOURCES) $(READER_SOURCES) $(WORKLOAD_SOURCES) \
	$(PLANNER_SOURCES) $(MAPPING_SOURCES) $(REPORT_SOURCES) $(CLI_SOURCES) \
	$(SPANK_SOURCES) $(DATA_FILES) $(UNIT_TESTS) $(PROPERTY_TESTS) $(FUZZ_TESTS) \
	$(BENCHES) $(SUPPORT_SOURCES) $(MAN_PAGES)
MISSING := $(filter-out $(wildcard $(LISTED)),$(LISTED))
ifneq (,$(strip $(MISSING)))
$(warning listed but not there: $(MISSING))
endif
present = $(filter-out $(MISSING),$(1))
objects = $(patsubst %.c,$(BUILD)/objects/%.o,$(call present,$(1)))
programs = $(patsubst %.c,$(BUILD)/%,$(call present,$(1)))

DATA_OBJECT := $(BUILD)/objects/common/data.o
PLUGIN_COMMON_OBJECTS := $(call objects,$(BASE_SOURCES) $(TOPOLOGY_SOURCES) \
	$(WORKLOAD_SOURCES) $(PLANNER_SOURCES) $(MAPPING_SOURCES)) $(DATA_OBJECT)
CLI_OBJECTS := $(PLUGIN_COMMON_OBJECTS) \
	$(call objects,$(READER_SOURCES) $(REPORT_SOURCES) $(CLI_SOURCES))
SPANK_OBJECTS := $(call objects,$(SPANK_SOURCES))
SUPPORT_OBJECTS := $(call objects,$(SUPPORT_SOURCES))

UNIT_PROGRAMS := $(call programs,$(UNIT_TESTS))
PROPERTY_PROGRAMS := $(call programs,$(PROPERTY_TESTS))
FUZZ_PROGRAMS := $(call programs,$(FUZZ_TESTS))
BENCH_PROGRAMS := $(call programs,$(BENCHES))

PRODUCTS := $(if $(call present,$(CLI_SOURCES)),$(BUILD)/parplan) \
	$(if $(call present,$(SPANK_SOURCES)),$(BUILD)/spank_parplan.so)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-5s %s\n' $(1) $(2)
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

.PHONY: all
all: $(PRODUCTS)  ## build parplan and spank_parplan.so (the default)

# Objects are rebuilt when the compiler or a flag changes.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(COMPILE) | $(LINK) $(LDFLAGS))' > $@.new.$$$$ && \
	if cmp -s $@.new.$$$$ $@; then rm -f $@.new.$$$$; else mv $@.new.$$$$ $@; fi
.PHONY: FORCE
FORCE:

$(BUILD)/objects/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(BUILD)/objects/common/data.S: common/base/embed_data.sh $(call present,$(DATA_FILES)) Makefile
	$(call say,DATA,$@)
	@mkdir -p $(@D)
	$(Q)common/base/embed_data.sh $@ $(call present,$(DATA_FILES))

$(DATA_OBJECT): $(BUILD)/objects/common/data.S $(BUILD)/flags
	$(call say,AS,$<)
	$(Q)$(CC) -c -o $@ $<

# --- products ----------------------------------------------------------------------

$(BUILD)/parplan: $(CLI_OBJECTS) $(BUILD)/flags
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie -o $@ $(CLI_OBJECTS) $(LDFLAGS) $(HWLOC_LIBS) $(YAML_LIBS) $(JSON_LIBS) -lm

# No -lslurm: Slurm's symbols come from srun, slurmd and slurmstepd. The version script
# exports the entry points alone, so that --gc-sections drops what they do not reach.
SPANK_MAP := spank_plugin/spank_parplan.map
$(BUILD)/spank_parplan.so: $(SPANK_OBJECTS) $(PLUGIN_COMMON_OBJECTS) $(SPANK_MAP) $(BUILD)/flags
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,--version-script=$(SPANK_MAP) -Wl,-z,relro,-z,now -o $@ \
		$(SPANK_OBJECTS) $(PLUGIN_COMMON_OBJECTS) $(LDFLAGS) $(YAML_LIBS) $(JSON_LIBS) -lm

# --- test programs: all of ours as one archive, so that each takes what it uses ------

ARCHIVE := $(BUILD)/parplan.a
$(ARCHIVE): $(CLI_OBJECTS) $(SPANK_OBJECTS) $(SUPPORT_OBJECTS)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

TEST_LIBS = $(HWLOC_LIBS) $(YAML_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS) -lm
$(BUILD)/tests/%: $(BUILD)/objects/tests/%.o $(ARCHIVE) $(BUILD)/flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(if $(filter fuzz/%,$*),-fsanitize=fuzzer) -o $@ $< $(ARCHIVE) $(LDFLAGS) \
		$(TEST_LIBS)

.PHONY: unit-programs property-programs fuzz-programs bench-programs objects
unit-programs: $(UNIT_PROGRAMS)
property-programs: $(PROPERTY_PROGRAMS)
fuzz-programs: $(FUZZ_PROGRAMS)
bench-programs: $(BENCH_PROGRAMS)
objects: $(CLI_OBJECTS) $(SPANK_OBJECTS) $(SUPPORT_OBJECTS) \
	$(call objects,$(UNIT_TESTS) $(PROPERTY_TESTS) $(FUZZ_TESTS) $(BENCHES))

# --- the rest ----------------------------------------------------------------------

.PHONY: clean
clean:  ## remove everything that was built
	rm -rf $(BUILD_ROOT)

.PHONY: help
help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1|/p' Makefile | awk -F'|' '{printf "  %-16s %s\n", $$1, $$2}'

-include $(shell find $(BUILD)/objects -name '*.d' 2>/dev/null)
