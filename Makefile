# softfault: build, test, measure. Everything that is made goes to $(BUILD).
#
#   make              the command, build/softfault, and the library, build/libsoftfault.a
#   make reproduce    installs what is missing, builds, prints every published figure beside ours
#   make test         installs what is missing, builds, runs every test, ends with "N passed, N failed"
#   make check        formatting, headers, include edges, file sizes, lock ranks
#   make diff         spaces against the model and the running kernel: OPS=N operations from SEED=S on
#   make stress       stress tests, with the thread sanitizer and without: MINUTES=N or SECONDS=N long, from SEED=S on
#   make explore      all checks under ever other schedules: MINUTES=N or SECONDS=N long, from SEED=S on
#   make bench        speed of the virtual machine and of the real one
#   make install      to $(DESTDIR)$(PREFIX)
#   make clean        removes $(BUILD)
#
# CC=clang BUILD=build/clang builds with clang. SANITIZE=address,undefined or SANITIZE=thread builds the unit
# and stress tests of the host home that way. DEBUG=1 adds the checks of debug builds. V=1 shows each command.

CC      ?= gcc
ifeq ($(origin CC),default)
CC       = gcc
endif
CFLAGS  ?= -O2
BUILD   ?= build
PREFIX  ?= /usr/local
INSTALL ?= install

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# A -j on the command line wins over this one.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc) --no-print-directory
endif
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

Q := $(if $(V),,@)

# --- Flags -----------------------------------------------------------------------------------------------
# -g always: the virtual machine names lines and functions from its own debug information.
WARNINGS := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla
COMMON   := -std=c11 -D_GNU_SOURCE $(if $(DEBUG),-DSYNC_DEBUG) -I. $(WARNINGS) -g $(CFLAGS) -fno-pie \
	    $(CPPFLAGS) -MMD -MP
COMPILER := $(if $(findstring clang,$(notdir $(CC))),clang,gcc)
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
# gcc warns that its thread sanitizer does not follow fences; what they order are relaxed atomics, which need no
# following.
SANITIZE_FLAGS += $(if $(and $(filter thread,$(SANITIZE)),$(filter gcc,$(COMPILER))),-Wno-tsan)

# gcc 12.2 was seen to delete stores through a pointer with this pass, in code of both homes.
HOME_FLAGS_gcc := -fno-ipa-modref

# The virtual machine's home: every access, and every entry and exit of a function, calls a hook of vsmp/.
# Why each flag: docs/HACKING.md, "Instrumented code".
INSTRUMENT_gcc   := -fsanitize=thread --param tsan-instrument-func-entry-exit=0 -Wno-tsan -fno-ipa-reference
INSTRUMENT_clang := -fsanitize=thread -mllvm -tsan-instrument-func-entry-exit=0
INSTRUMENT := $(INSTRUMENT_$(COMPILER)) -finstrument-functions -fno-optimize-sibling-calls \
	      -include vsmp/home/memory_functions.h

VSMP_HOME := -Ivsmp/home $(HOME_FLAGS_$(COMPILER)) $(INSTRUMENT)
# What the library is made of goes into programs of any kind: position-independent, and without the lazy
# allocation that thread-local variables cost otherwise, since a fault may run in a signal handler.
HOST_HOME := -Ihost/home $(HOME_FLAGS_$(COMPILER)) -fPIC -fno-semantic-interposition -ftls-model=initial-exec \
	     $(SANITIZE_FLAGS)
# clang copies and clears structures by plain calls of these, and gives such a copy no other hook.
MEMORY_FUNCTIONS := memcpy memmove memset memcmp
RENAME_clang     := objcopy $(foreach name,$(MEMORY_FUNCTIONS),--redefine-sym $(name)=vsmp_$(name))

SHARE     := -DSOFTFAULT_SHARE='"$(PREFIX)/share/softfault"'

# -no-pie: the addresses of globals, and so the identity of their cache lines, are the same in every run.
LINK = $(CC) -no-pie $(LDFLAGS)

VSMP_LIBS ?= -ldw -lm
HOST_LIBS ?= -lurcu-memb -lurcu-common -llz4 -lpthread
LAB_LIBS  ?= -lcyaml -lyaml -ljansson -lgsl -lgslcblas -lm
TEST_LIBS ?= -lcmocka

# Writes $(2) to the file $(1), unless it says that already: what depends on the file is then made again.
differ = $(subst x$(strip $(1)),,x$(strip $(2)))$(subst x$(strip $(2)),,x$(strip $(1)))
note = $(if $(call differ,$(2),$(file < $(1))),$(shell mkdir -p $(dir $(1)))$(file > $(1),$(2)))
$(call note,$(BUILD)/flags,$(CC) $(COMMON) $(HOST_HOME) $(VSMP_HOME) $(RENAME_$(COMPILER)))
$(call note,$(BUILD)/prefix,$(PREFIX))

# --- Sources, found by their folders ---------------------------------------------------------------------
c_files = $(sort $(shell find $(wildcard $(1)) /dev/null -name '*.c'))
objects = $(patsubst %.S,$(BUILD)/$(1)/%.o,$(patsubst %.c,$(BUILD)/$(1)/%.o,$(2)))

BASE_SOURCES  := $(call c_files,base)
BOTH_HOMES    := $(call c_files,sync mm) $(sort $(wildcard engine/memory*.c))
VSMP_SOURCES  := $(call c_files,vsmp) $(sort $(shell find $(wildcard vsmp) /dev/null -name '*.S'))
HOST_SOURCES  := $(call c_files,host library)
CHECK_SOURCES := $(call c_files,tests/explore)

BASE_OBJECTS  := $(call objects,plain,$(BASE_SOURCES))
# The parts of the report's page are files; all its scripts make one.
PAGE_OBJECTS  := $(patsubst %,$(BUILD)/page/%.o,page.html style.css script.js)
LAB_OBJECTS   := $(call objects,plain,$(call c_files,lab)) $(PAGE_OBJECTS)
CLI_OBJECTS   := $(call objects,plain,$(call c_files,cli))
VSMP_OBJECTS  := $(call objects,vsmp-home,$(BOTH_HOMES)) $(call objects,plain,$(VSMP_SOURCES)) $(BASE_OBJECTS)
# What `softfault explore` explores: a part of the command, as machines and experiments are.
CHECK_OBJECTS := $(call objects,vsmp-home,$(CHECK_SOURCES))
HOST_OBJECTS  := $(call objects,host-home,$(BOTH_HOMES) $(HOST_SOURCES) $(BASE_SOURCES))
LINUX_OBJECTS := $(call objects,host-home,engine/linux.c engine/linux_groups.c engine/linux_tasks.c engine/perf.c engine/perf_script.c engine/windows.c \
		 $(wildcard host/panic.c) $(BASE_SOURCES))
MODEL_OBJECTS := $(call objects,host-home,$(call c_files,model))
LIBRARY       := $(BUILD)/libsoftfault.a $(BUILD)/softfault.pc
LIBRARY_OBJECTS := $(call objects,host-home,$(call c_files,sync mm) $(HOST_SOURCES) $(BASE_SOURCES))

# What an engine shows besides its own: plain data and its checks, which have no twin in the other engine.
VSMP_EXPORTS := engine_vsmp engine_explorer
HOST_EXPORTS := engine_host
LINUX_EXPORTS := engine_linux perf_script_read perf_report_free

# Programs depend on this file, so that a source that is gone is linked no more. However the folder is called: what
# tests install is what they run meanwhile.
$(call note,$(BUILD)/sources,$(VSMP_EXPORTS) $(HOST_EXPORTS) $(LINUX_EXPORTS) $(patsubst $(BUILD)/%,%,$(VSMP_OBJECTS) \
	$(CHECK_OBJECTS) $(HOST_OBJECTS) $(LINUX_OBJECTS) $(MODEL_OBJECTS) $(LAB_OBJECTS) $(CLI_OBJECTS) $(LIBRARY_OBJECTS)))

# --- The command -----------------------------------------------------------------------------------------
.PHONY: all
all: $(if $(SANITIZE),tests-host,$(BUILD)/softfault $(LIBRARY))

define compile
@mkdir -p $(@D)
$(if $(V),,@echo '  $(COMPILER) $(@:$(BUILD)/%=%)')
$(Q)$(CC) $(COMMON) $(1) -c $< -o $@
endef

$(BUILD)/plain/%.o: %.c $(BUILD)/flags
	$(call compile,$(PLAIN_FLAGS))

$(BUILD)/plain/%.o: %.S $(BUILD)/flags
	$(call compile)

$(BUILD)/vsmp-home/%.o: %.c $(BUILD)/flags
	$(call compile,$(VSMP_HOME))
	$(if $(RENAME_$(COMPILER)),$(Q)$(RENAME_$(COMPILER)) $@)

$(BUILD)/host-home/%.o: %.c $(BUILD)/flags
	$(call compile,$(HOST_HOME))

$(BUILD)/page/script.js: $(sort $(wildcard lab/page/*.js))
	@mkdir -p $(@D)
	$(Q)cat $^ >$@

$(BUILD)/page/%: lab/page/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

# Named by the file alone, so that the symbols do not depend on where $(BUILD) is.
$(BUILD)/page/%.o: $(BUILD)/page/%
	$(Q)cd $(@D) && ld -r -b binary -z noexecstack -o $(@F) $* && \
		objcopy --rename-section .data=.rodata,alloc,load,readonly,data,contents $(@F)

$(LAB_OBJECTS) $(CLI_OBJECTS): PLAIN_FLAGS := $(SHARE)
$(LAB_OBJECTS) $(CLI_OBJECTS): $(BUILD)/prefix
# The machine itself is not instrumented.
$(call objects,plain,$(VSMP_SOURCES) engine/vsmp.c engine/explore.c): PLAIN_FLAGS := -Ivsmp/home

# One relocatable object that exports the symbols $(1), which may be patterns, and no other. An engine exports
# its operation table and little else.
define join_objects
$(if $(V),,@echo '  join $(@F)')
$(Q)ld -r -o $@.all $(filter %.o,$^)
$(Q)objcopy --wildcard $(patsubst %,'--keep-global-symbol=%',$(1)) $@.all $@
@rm -f $@.all
endef

$(BUILD)/engine_vsmp.o: $(VSMP_OBJECTS) $(CHECK_OBJECTS) $(call objects,plain,engine/vsmp.c engine/explore.c)
	$(call join_objects,$(VSMP_EXPORTS))

$(BUILD)/engine_host.o: $(HOST_OBJECTS) $(BUILD)/host-home/engine/host.o $(BUILD)/host-home/engine/windows.o
	$(call join_objects,$(HOST_EXPORTS))

$(BUILD)/engine_linux.o: $(LINUX_OBJECTS)
	$(call join_objects,$(LINUX_EXPORTS))

# What describes machines and policies is plain data that the lab, too, must check: it has its own copy.
DESCRIPTIONS := $(patsubst %,$(BUILD)/plain/%.o,vsmp/machine vsmp/parameters mm/policy/policy mm/policy/policy_text)
ENGINES := $(BUILD)/engine_vsmp.o $(BUILD)/engine_host.o $(BUILD)/engine_linux.o $(DESCRIPTIONS)

define link
@mkdir -p $(@D)
$(if $(V),,@echo '  link $(@:$(BUILD)/%=%)')
$(Q)$(LINK) -o $@ $(filter %.o,$^) $(1)
endef

$(BUILD)/softfault: $(CLI_OBJECTS) $(LAB_OBJECTS) $(BASE_OBJECTS) $(ENGINES)
	$(call link,$(VSMP_LIBS) $(HOST_LIBS) $(LAB_LIBS))

# A check with a program of its own: what `softfault explore` does needs nothing of this project but vsmp/, base/
# and port/.
$(BUILD)/examples/check: $(BUILD)/vsmp-home/examples/check.o $(call objects,plain,$(VSMP_SOURCES)) $(BASE_OBJECTS)
	$(call link,$(VSMP_LIBS))

# --- The library -----------------------------------------------------------------------------------------
# One object in one archive: whoever links it gets softfault.h's functions, and no name of ours can meet theirs.
VERSION := $(shell sed -n 's/.*SOFTFAULT_VERSION "\(.*\)"/\1/p' cli/commands.h)

$(BUILD)/softfault_library.o: $(LIBRARY_OBJECTS)
	$(call join_objects,sf_*)

$(BUILD)/libsoftfault.a: $(BUILD)/softfault_library.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $<

$(BUILD)/softfault.pc: library/softfault.pc.in cli/commands.h $(BUILD)/prefix $(BUILD)/flags
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(HOST_LIBS)|' $< >$@

# --- Tests -----------------------------------------------------------------------------------------------
# tests/unit and tests/stress run on real threads; tests/vsmp runs on the virtual machine; tests/lab runs the
# lab's own code; tests/cli runs the command; tests/tools runs what is in tools/; tests/library uses what
# `make install` installs.
tests_of = $(patsubst tests/%.c,$(BUILD)/tests/%,$(call c_files,tests/$(1)))

UNIT_TESTS   := $(call tests_of,unit)
STRESS_TESTS := $(call tests_of,stress)
VSMP_TESTS   := $(call tests_of,vsmp)
LAB_TESTS    := $(call tests_of,lab)
DIFF_TEST    := $(BUILD)/tests/diff/spaces
# Also built and run under the address and undefined-behaviour sanitizers.
SANITIZED_TESTS := $(UNIT_TESTS) $(STRESS_TESTS) $(DIFF_TEST)
HOST_BENCHES := $(call tests_of,bench/host)
VSMP_BENCHES := $(filter-out $(HOST_BENCHES),$(call tests_of,bench))
BENCHES      := $(VSMP_BENCHES) $(HOST_BENCHES)
SCRIPTS      := $(sort $(wildcard tests/cli/*.sh tests/tools/*.sh tests/library/*.sh))

$(UNIT_TESTS) $(STRESS_TESTS): $(BUILD)/tests/%: $(BUILD)/host-home/tests/%.o $(HOST_OBJECTS) $(MODEL_OBJECTS)
	$(call link,$(SANITIZE_FLAGS) $(HOST_LIBS) $(TEST_LIBS))

# One program: tests/diff holds our spaces, the model and the running kernel against each other.
$(DIFF_TEST): $(call objects,host-home,$(call c_files,tests/diff)) $(HOST_OBJECTS) $(MODEL_OBJECTS)
	$(call link,$(SANITIZE_FLAGS) $(HOST_LIBS) $(TEST_LIBS))

$(VSMP_TESTS): $(BUILD)/tests/%: $(BUILD)/vsmp-home/tests/%.o $(VSMP_OBJECTS)
	$(call link,$(VSMP_LIBS) $(TEST_LIBS))

# Those of exploration look for faults in the checks.
$(filter $(BUILD)/tests/vsmp/explore_%,$(VSMP_TESTS)): $(CHECK_OBJECTS)

$(LAB_TESTS): $(BUILD)/tests/%: $(BUILD)/plain/tests/%.o $(LAB_OBJECTS) $(BASE_OBJECTS) $(ENGINES)
	$(call link,$(VSMP_LIBS) $(HOST_LIBS) $(LAB_LIBS) $(TEST_LIBS))

$(VSMP_BENCHES): $(BUILD)/tests/%: $(BUILD)/vsmp-home/tests/%.o $(VSMP_OBJECTS)
	$(call link,$(VSMP_LIBS) $(TEST_LIBS))

$(HOST_BENCHES): $(BUILD)/tests/%: $(BUILD)/host-home/tests/%.o $(HOST_OBJECTS)
	$(call link,$(SANITIZE_FLAGS) $(HOST_LIBS))

.PHONY: tests-unit tests-stress tests-diff tests-host tests-all
tests-unit: $(UNIT_TESTS)
tests-stress: $(STRESS_TESTS)
tests-diff: $(DIFF_TEST)
tests-host: tests-unit tests-stress
tests-all: tests-host tests-diff $(VSMP_TESTS) $(LAB_TESTS) $(BENCHES) $(BUILD)/softfault $(BUILD)/examples/check $(LIBRARY)

$(BUILD)/engine_vsmp.o $(BUILD)/engine_host.o $(BUILD)/engine_linux.o $(BUILD)/softfault $(UNIT_TESTS) $(STRESS_TESTS) $(VSMP_TESTS) \
$(LAB_TESTS) $(BENCHES) $(BUILD)/examples/check $(BUILD)/softfault_library.o: $(BUILD)/sources

# --- What people call ------------------------------------------------------------------------------------
# `setup` may install the compiler, so what it precedes is a make of its own.
.PHONY: setup-build setup-all test check bench stress explore diff reproduce install clean
setup-build:
	@tools/setup build
setup-all:
	@tools/setup all

# Under the sanitizers the host home only: gcc's thread sanitizer and the virtual machine both own the hooks.
test: setup-all
	@$(MAKE) check
	@$(MAKE) tests-all
	@$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined DEBUG=1 tests-host tests-diff
	@$(MAKE) BUILD=$(BUILD)/tsan SANITIZE=thread DEBUG=1 tests-stress
	@$(MAKE) BUILD=$(BUILD)/clang CC=clang tests-all
	@tools/run-tests --command $(BUILD)/softfault $(SCRIPTS) $(VSMP_TESTS) $(LAB_TESTS) $(SANITIZED_TESTS) \
		$(SANITIZED_TESTS:$(BUILD)/%=$(BUILD)/asan/%) $(STRESS_TESTS:$(BUILD)/%=$(BUILD)/tsan/%) \
		$(patsubst $(BUILD)/%,$(BUILD)/clang/%,$(VSMP_TESTS) $(LAB_TESTS))

check:
	@tools/check

bench: $(BUILD)/softfault $(BENCHES) $(BUILD)/tests/lab/verdicts
	@tools/bench --command $(BUILD)/softfault --verdicts $(BUILD)/tests/lab/verdicts $(BENCHES)

stress: setup-all
	@$(MAKE) tests-stress
	@$(MAKE) BUILD=$(BUILD)/tsan SANITIZE=thread DEBUG=1 tests-stress
	@tools/stress --seed $(or $(SEED),1) --seconds $(or $(SECONDS),$(shell expr 60 '*' $(or $(MINUTES),10))) \
		--often reclaim $(STRESS_TESTS:$(BUILD)/%=$(BUILD)/tsan/%) $(STRESS_TESTS)

explore: $(BUILD)/softfault
	@tools/explore --command $(BUILD)/softfault --seed $(or $(SEED),1) \
		--seconds $(or $(SECONDS),$(shell expr 60 '*' $(or $(MINUTES),5)))

# OPS operations, 20,000 of each seed from SEED on.
diff: setup-all
	@$(MAKE) $(DIFF_TEST)
	@OPS=$(OPS) SEED=$(SEED) SEQUENCE=$(SEQUENCE) $(DIFF_TEST)

reproduce: setup-build
	@$(MAKE) $(BUILD)/softfault
	@$(BUILD)/softfault reproduce --report $(BUILD)/reproduce.html

install: $(BUILD)/softfault $(LIBRARY)
	$(INSTALL) -D -m 755 $(BUILD)/softfault $(DESTDIR)$(PREFIX)/bin/softfault
	$(INSTALL) -D -m 644 softfault.h $(DESTDIR)$(PREFIX)/include/softfault.h
	$(INSTALL) -D -m 644 $(BUILD)/libsoftfault.a $(DESTDIR)$(PREFIX)/lib/libsoftfault.a
	$(INSTALL) -D -m 644 $(BUILD)/softfault.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/softfault.pc
	$(INSTALL) -D -m 644 docs/softfault.1 $(DESTDIR)$(PREFIX)/share/man/man1/softfault.1
	$(INSTALL) -D -m 644 docs/result.schema.json $(DESTDIR)$(PREFIX)/share/softfault/result.schema.json
	$(INSTALL) -D -m 644 cli/completion/softfault.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/softfault
	$(INSTALL) -D -m 644 cli/completion/_softfault $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_softfault
	for file in $$(find machines experiments -name "*.yaml" -o -name "*.csv"); do \
		$(INSTALL) -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/softfault/$$file || exit 1; \
	done

clean:
	rm -rf $(BUILD)

-include $(shell find $(wildcard $(BUILD)/plain $(BUILD)/vsmp-home $(BUILD)/host-home) /dev/null -name '*.d')
