# SPDX-License-Identifier: MIT
# parplan: one Makefile, explicit lists, everything built under build/<variant>/.
# `make help` lists the targets.

VARIANT ?= release
prefix ?= /usr/local
BUILD := build/$(VARIANT)

# --- what there is -----------------------------------------------------------------

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

DATA_FILES :=

# One test program each: tests/unit/<layer>/<file>_test.c
UNIT_TESTS :=
