# Makefile -- build, test, measure: the one entry. `make help` lists the targets.
#
#   CC=clang            another compiler          DEBUG=1              -O1 -g
#   SANITIZE=address,undefined                    BUILD=dir            another build folder
#   STATIC=0            link the libraries dynamically                V=1  show the commands
#   CUDA=0              without the CUDA backend (built where nvcc is found)
#   CUDA_ARCH=sm_90     for this GPU; default: the one that is there, else one that any newer runs;
#                       all: a binary for each generation that nvcc knows, and text for later ones

# All processors; -j says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),1)
endif

ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build
Q := $(if $(V),,@)
PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3
STATIC ?= 1
VERSION := $(shell cat VERSION)

comma := ,
ifneq ($(SANITIZE),)
BUILD := $(BUILD)-$(subst $(comma),-,$(SANITIZE))
endif

WARN = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
       -Wpointer-arith -Wcast-align -Wundef -Wvla -Wdouble-promotion -Wfloat-conversion \
       -Wimplicit-fallthrough -Wno-unknown-pragmas
OPT = $(if $(DEBUG)$(SANITIZE),-O1 -g -fno-omit-frame-pointer,-O3 -g1)
# No contraction and no reordering: one scenario gives the same bits on every x86-64 level.
FLOAT = -ffp-contract=off -fno-math-errno -fno-trapping-math
CFLAGS_ALL = -std=c11 -D_GNU_SOURCE $(WARN) $(OPT) $(FLOAT) -fopenmp -I. -I$(BUILD)/gen \
             $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all) $(CPPFLAGS) $(CFLAGS)

# Libraries: static where the compiler finds an archive, so that the binary needs none of them.
# Where there is no compiler yet they find nothing and say nothing: make demo and make test install it.
find_static = $(if $(filter 1,$(STATIC)),$(filter /%,$(shell $(CC) -print-file-name=$(1) 2>/dev/null)))
static_or = $(or $(call find_static,$(1)),$(2))
LUA_CFLAGS ?= $(if $(wildcard /usr/include/lua5.4/lua.h),-I/usr/include/lua5.4,$(shell pkg-config --cflags lua5.4 2>/dev/null))
LUA_LIBS ?= $(call static_or,liblua5.4.a,-llua5.4)
ZLIB_LIBS ?= $(call static_or,libz.a,-lz)
PNG_LIBS ?= $(call static_or,libpng16.a,-lpng16)
# An archive of libtiff needs those of all its codecs; one of them is in C++.
TIFF_PARTS := tiff webp Lerc jbig zstd lzma jpeg deflate stdc++
TIFF_FOUND := $(foreach part,$(TIFF_PARTS),$(call find_static,lib$(part).a))
TIFF_LIBS ?= $(if $(filter $(words $(TIFF_PARTS)),$(words $(TIFF_FOUND))),$(TIFF_FOUND) -static-libgcc,-ltiff)
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))
OPENMP_LIBS ?= $(if $(IS_CLANG),$(call static_or,libomp.a,-fopenmp),$(call static_or,libgomp.a,-fopenmp))
ENGINE_LIBS = $(CUDA_LIBS) $(TIFF_LIBS) $(PNG_LIBS) $(ZLIB_LIBS) $(OPENMP_LIBS) -pthread -ldl -lm
LDLIBS_ALL = $(LUA_LIBS) $(ENGINE_LIBS) -lrt
LDFLAGS_ALL = $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)

# The CUDA backend, where there is nvcc. A GPU that is there, and that nvcc knows, gets code of its
# own; without one the oldest virtual architecture, which drivers translate for every newer GPU.
NVCC ?= $(firstword $(wildcard $(shell command -v nvcc 2>/dev/null) /usr/local/cuda/bin/nvcc))
CUDA ?= $(if $(NVCC),$(if $(SANITIZE),0,1),0)
SOLVERS_ON_CUDA := $(wildcard engine/solvers/*/*_cuda.c)
WHY_NO_CUDA = $(if $(filter-out file,$(origin CUDA)),CUDA=$(CUDA),$(if $(NVCC),sanitizers do not know it,nvcc is not \
              here (CUDA 12 or later; NVCC=FILE says where)))
ifeq ($(CUDA),1)
# NVCC may begin with a launcher, such as ccache. nvcc says where its toolkit keeps things; if not,
# they are where NVIDIA, conda or the system's compiler keep them.
NVCC_ALONE := $(lastword $(NVCC))
NVCC_FOLDERS := $(shell $(NVCC_ALONE) --dryrun -x cu /dev/null 2>&1 | \
                  sed -n 's/^\#\$$ [A-Z_]*\(INCLUDES\|LIBRARIES\)=//p' | tr -d '"')
CUDA_HOME ?= $(abspath $(dir $(realpath $(shell command -v $(NVCC_ALONE))))..)
CUDA_LAYOUT := $(CUDA_HOME)/targets/$(patsubst aarch64,sbsa,$(shell uname -m))-linux
CUDART ?= $(firstword $(wildcard $(addsuffix /libcudart_static.a,$(patsubst -L%,%,$(filter -L%,$(NVCC_FOLDERS))) \
              $(CUDA_HOME)/lib64 $(CUDA_HOME)/lib $(CUDA_LAYOUT)/lib)) \
              $(filter /%,$(shell $(CC) -print-file-name=libcudart_static.a)))
CUDA_INCLUDE ?= $(patsubst %/cuda_runtime_api.h,%,$(firstword $(wildcard $(addsuffix /cuda_runtime_api.h, \
                    $(patsubst -I%,%,$(filter -I%,$(NVCC_FOLDERS))) $(CUDA_HOME)/include $(CUDA_LAYOUT)/include \
                    /usr/include))))
need_cuda = $(if $($(1)),,$(error $(NVCC_ALONE) is there, but not $(2); install the files for developers of \
              the CUDA runtime, say where with $(1)=$(3), or build without a GPU: make CUDA=0))
GPU_HERE := $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | \
              sed -n '1s/^\([0-9][0-9]*\)\.\([0-9][0-9]*\)$$/sm_\1\2/p')
# Kernels take their arguments as __grid_constant__, which begins with 7.0.
GPU_ARCHES := $(shell $(NVCC) --list-gpu-arch | sed 's/compute_//' | grep -v '^[3-6].$$' | sort -n)
GPU_GENERATIONS := $(firstword $(GPU_ARCHES)) $(filter-out $(firstword $(GPU_ARCHES)),$(filter %0,$(GPU_ARCHES)))
CUDA_ARCH ?= $(or $(filter $(GPU_ARCHES:%=sm_%),$(GPU_HERE)),compute_$(firstword $(GPU_ARCHES)))
ifeq ($(CUDA_ARCH),all)
CUDA_TARGET = $(foreach a,$(GPU_GENERATIONS),-gencode arch=compute_$(a),code=sm_$(a)) \
              -gencode arch=compute_$(lastword $(GPU_GENERATIONS)),code=compute_$(lastword $(GPU_GENERATIONS))
else
CUDA_TARGET = -arch=$(CUDA_ARCH)
endif
CUDA_SOURCES := $(wildcard cuda/*.c) $(SOLVERS_ON_CUDA)
CUDA_KERNELS := $(filter-out $(addprefix engine/solvers/lbm/lbm_,step.cu moments.cu pass.cu), \
                  $(wildcard cuda/*.cu engine/solvers/*/*.cu))
LBM_STEPS := d2q9_f32 d2q9_f64 d3q19_f32 d3q19_f64
LBM_PASSES := d2q9_f32 d2q9_f64
CUDA_OBJECTS = $(CUDA_SOURCES:%.c=$(BUILD)/%.o) $(CUDA_KERNELS:%.cu=$(BUILD)/%.cu.o) \
               $(LBM_STEPS:%=$(BUILD)/engine/solvers/lbm/lbm_step_%.cu.o) \
               $(LBM_STEPS:%=$(BUILD)/engine/solvers/lbm/lbm_moments_%.cu.o) \
               $(LBM_PASSES:%=$(BUILD)/engine/solvers/lbm/lbm_pass_%.cu.o)
NVCCFLAGS = -std=c++17 $(CUDA_TARGET) -O3 $(if $(DEBUG),-lineinfo) -I. -I$(BUILD)/gen -ccbin $(CUDA_HOST_CXX) \
            -Xcompiler -Wall,-Wextra,-Werror -Werror all-warnings
CUDA_HOST_CXX ?= g++
CUDA_LIBS = $(call need_cuda,CUDART,libcudart_static.a,FILE)$(CUDART) -lrt $(call static_or,libstdc++.a,-lstdc++)
endif

# Files named *_kernel.c hold inner loops: built once per x86-64 level, chosen at start.
KERNELS := $(wildcard engine/*/*_kernel.c engine/*/*/*_kernel.c)
CORE := $(filter-out engine/app/main.c engine/mpi/plugin.c $(KERNELS) $(SOLVERS_ON_CUDA),\
            $(wildcard engine/*/*.c engine/*/*/*.c geometry/*.c))
LUA_ROOMS := lua/script lua/tables lua/functions lua/commands
LUA_SOURCES := $(wildcard $(LUA_ROOMS:%=%/*.c))
ifeq ($(shell uname -m),x86_64)
LEVELS := v2 v3 v4
else
LEVELS := any
endif
level_flags = $(if $(filter any,$(1)),,-march=x86-64-$(1) -mprefer-vector-width=$(if $(filter v4,$(1)),512,256))

CORE_OBJECTS := $(CORE:%.c=$(BUILD)/%.o) $(CUDA_OBJECTS) \
                $(foreach l,$(LEVELS),$(KERNELS:%.c=$(BUILD)/%.$(l).o))
LUA_OBJECTS := $(LUA_SOURCES:%.c=$(BUILD)/%.o)
LIBRARY := $(BUILD)/libselenite.a
PROGRAM := $(BUILD)/selenite

# A plug-in for each MPI that compiles: Debian's openmpi-bin and mpich bring mpicc without mpi.h.
mpi_compiles = $(shell printf '\043include <mpi.h>\n' | $(1) -fsyntax-only -x c - >/dev/null 2>&1 && echo $(1))
MPICC_OPENMPI ?= $(call mpi_compiles,$(firstword $(shell command -v mpicc.openmpi 2>/dev/null) \
                   $(shell mpicc --showme:version >/dev/null 2>&1 && command -v mpicc)))
MPICC_MPICH ?= $(call mpi_compiles,$(firstword $(shell command -v mpicc.mpich 2>/dev/null) \
                 $(shell mpicc -compile_info >/dev/null 2>&1 && command -v mpicc)))
PLUGINS := $(if $(MPICC_OPENMPI),$(BUILD)/selenite_openmpi.so) $(if $(MPICC_MPICH),$(BUILD)/selenite_mpich.so)

UNIT_SOURCES := $(wildcard tests/unit/test_*.c)
UNIT_TESTS := $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/tests/%)
# Some systems have an archive, others only the shared library.
CMOCKA_LIBS ?= $(or $(call find_static,libcmocka-static.a),$(call static_or,libcmocka.a,-lcmocka))

.PHONY: all demo test validate results bench lint format install release clean help setup-run setup-test \
        setup-lint compiler unit-tests gpu-tests test-device annotations test-paraview test-fresh fuzz FORCE
.DELETE_ON_ERROR:

all: $(PROGRAM) $(PLUGINS)

$(BUILD)/selenite_openmpi.so: MPICC = $(MPICC_OPENMPI)
$(BUILD)/selenite_mpich.so: MPICC = $(MPICC_MPICH)
$(BUILD)/selenite_%.so: engine/mpi/plugin.c engine/base/ranks_plugin.h engine/base/ranks.h engine/base/status.h Makefile
	@mkdir -p $(@D)
	@echo 'compile $< for $*'
	$(Q)$(MPICC) -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -fPIC -shared -I. -o $@ $<

$(PROGRAM): $(BUILD)/engine/app/main.o $(LUA_OBJECTS) $(LIBRARY)
	@echo 'link    $@'
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS_ALL)
ifneq ($(CUDA),1)
	@echo 'without CUDA, for CPUs only: $(WHY_NO_CUDA)'
endif

$(LIBRARY): $(CORE_OBJECTS) $(BUILD)/gen/backends
	@rm -f $@
	$(Q)ar rcs $@ $(filter %.o,$^)

$(BUILD)/lua/%.o $(BUILD)/tests/fuzz/%.o: CFLAGS_ALL += $(LUA_CFLAGS)
$(CUDA_SOURCES:%.c=$(BUILD)/%.o): CFLAGS_ALL += $(patsubst %,-isystem %,$(filter-out /usr/include,$(CUDA_INCLUDE))) \
                          $(call need_cuda,CUDA_INCLUDE,cuda_runtime_api.h,FOLDER) \
                          $(call need_cuda,CUDART,libcudart_static.a,FILE)
CHOOSERS := $(foreach solver,lbm aqua heat rule poisson,$(BUILD)/engine/solvers/$(solver)/$(solver)_plan.o)
$(CHOOSERS): CFLAGS_ALL += $(if $(filter 1,$(CUDA)),-DSEL_CUDA)
$(CHOOSERS) $(CUDA_OBJECTS): $(BUILD)/gen/backends
$(BUILD)/%.o: %.c Makefile | compiler $(BUILD)/gen/selenite_version.h
	@mkdir -p $(@D)
	@echo 'compile $<'
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# One source, four lattices and precisions. The kernels of populations contract; laws do not
# (lbm_laws.cu, below).
$(BUILD)/engine/solvers/lbm/lbm_step_%.cu.o: engine/solvers/lbm/lbm_step.cu Makefile
	@mkdir -p $(@D)
	@echo 'compile $< for $*'
	$(Q)$(NVCC) $(NVCCFLAGS) -DLBM_STEP_TRAITS=$* -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
# The march by one step and that by several round alike: without contraction.
define MARCH
	@mkdir -p $(@D)
	@echo 'compile $< for $*'
	$(Q)$(NVCC) $(NVCCFLAGS) -prec-div=false -fmad=false -DLBM_STEP_TRAITS=$* -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
endef
$(BUILD)/engine/solvers/lbm/lbm_moments_%.cu.o: engine/solvers/lbm/lbm_moments.cu Makefile
	$(MARCH)
$(BUILD)/engine/solvers/lbm/lbm_pass_%.cu.o: engine/solvers/lbm/lbm_pass.cu Makefile
	$(MARCH)
$(addprefix $(BUILD)/,$(addprefix engine/solvers/,lbm/lbm_laws.cu.o aqua/aqua_%.cu.o heat/heat.cu.o heat/heat_%.cu.o rule/rule.cu.o \
    multigrid/mg_solve.cu.o diffusion/diffusion.cu.o) cuda/inputs.cu.o): NVCCFLAGS += -fmad=false
$(BUILD)/%.cu.o: %.cu Makefile
	@mkdir -p $(@D)
	@echo 'compile $<'
	$(Q)$(NVCC) $(NVCCFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# One message instead of one per file.
compiler:
	@command -v $(lastword $(filter-out -%,$(CC))) >/dev/null || { \
	    echo '$(CC): there is no such compiler; make demo installs what is missing (Debian, Ubuntu),' >&2; \
	    echo 'CC=clang takes another one' >&2; exit 1; }

define kernel_rule
$(BUILD)/%_kernel.$(1).o: %_kernel.c Makefile | compiler
	@mkdir -p $$(@D)
	@echo 'compile $$< for $(1)'
	$$(Q)$$(CC) $$(CFLAGS_ALL) $(call level_flags,$(1)) -DSEL_LEVEL=$(1) -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call kernel_rule,$(l))))

# The scenario library, completions of shells and the man page are in the binary; these end with 0.
bytes_of = { echo 'static const unsigned char $(1)[] = {'; \
             od -An -v -tx1 $(2) | sed 's/\([0-9a-f][0-9a-f]\)/0x\1,/g'; echo '$(3)};'; }
vpath %.lua $(LUA_ROOMS)
$(BUILD)/gen/%_lua.h: %.lua Makefile
	@mkdir -p $(@D)
	$(Q)$(call bytes_of,$*_lua,$<,) > $@
# What kernels compiled at run time include, by name and content; standard.h stands for the standard's.
RUN_TIME_HEADERS := $(addprefix engine/solvers/aqua/,aqua_kernels_cuda.h aqua_method.h aqua_step.h aqua_supply.cuh aqua_traits.cuh) \
                    $(addprefix engine/solvers/rule/,rule_cell.cuh rule_margin.h rule_view.h) \
                    $(addprefix engine/,base/sums.h core/vicinity.h scene/grid.h values/lookup_value.h values/philox.h values/program_eval.h) \
                    $(addprefix cuda/,fill.cuh fill.h ops.cuh query.h standard.h temporal_blocking.cuh temporal_blocking.h \
                    terms.cuh terms.h wide.cuh)
STANDARD_HEADERS := cuda_runtime_api.h math.h stdbool.h stddef.h stdint.h string.h
.PHONY: run-time-headers
run-time-headers:
	@printf '%s\n' $(RUN_TIME_HEADERS)
text_of = $(subst .,_,$(notdir $(1)))_text
$(BUILD)/gen/run_time_headers.h: $(RUN_TIME_HEADERS) Makefile
	@mkdir -p $(@D)
	$(Q){ $(foreach h,$(RUN_TIME_HEADERS),$(call bytes_of,$(call text_of,$(h)),$(h),0);) \
	    echo 'static const unsigned char *const headers[] = {'; \
	    printf '    %s,\n' $(foreach h,$(RUN_TIME_HEADERS),$(call text_of,$(h))) $(STANDARD_HEADERS:%=standard_h_text); \
	    echo '}; static const char *const header_names[] = {'; \
	    printf '    "%s",\n' $(RUN_TIME_HEADERS) $(STANDARD_HEADERS); echo '};'; } > $@
$(BUILD)/cuda/compile.o: $(BUILD)/gen/run_time_headers.h
$(BUILD)/gen/completion_%.h: tools/completion.% Makefile
	@mkdir -p $(@D)
	$(Q)$(call bytes_of,completion_$*,$<,0) > $@
$(BUILD)/gen/man_page.h: tools/selenite.man Makefile
	@mkdir -p $(@D)
	$(Q)$(call bytes_of,man_page,$<,0) > $@
$(BUILD)/engine/app/help.o: $(patsubst %,$(BUILD)/gen/%.h,completion_bash completion_zsh man_page)
$(LUA_OBJECTS): $(patsubst %.lua,$(BUILD)/gen/%_lua.h,$(notdir $(wildcard $(LUA_ROOMS:%=%/*.lua))))

# Rewritten only when what they say changes, so that nothing is rebuilt for nothing.
keep_if_same = cmp -s $@.tmp $@ || mv $@.tmp $@; rm -f $@.tmp
$(BUILD)/gen/selenite_version.h: FORCE
	@mkdir -p $(@D)
	@{ echo '#define SEL_VERSION "$(VERSION)"'; \
	   echo "#define SEL_COMMIT \"$$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)\""; } > $@.tmp
	@$(keep_if_same)
$(BUILD)/gen/backends: FORCE
	@mkdir -p $(@D)
	@echo 'cpu $(if $(filter 1,$(CUDA)),cuda $(CUDA_ARCH) $(NVCC))' > $@.tmp
	@$(keep_if_same)
FORCE:

# Tests. Each program prints TAP; tests/run.sh runs them and counts.
$(BUILD)/tests/%: tests/unit/%.c $(LUA_OBJECTS) $(LIBRARY) Makefile
	@mkdir -p $(@D)
	@echo 'compile $<'
	$(Q)$(CC) $(CFLAGS_ALL) $(LUA_CFLAGS) -MMD -MP $(LDFLAGS_ALL) -o $@ $< $(TEST_KERNELS) $(LUA_OBJECTS) $(LIBRARY) \
	    -Wl,-rpath,'$$ORIGIN/lib' $(CMOCKA_LIBS) $(LDLIBS_ALL)

# A solver of its own, with kernels where there is nvcc.
ifeq ($(CUDA),1)
$(BUILD)/tests/test_machine: TEST_KERNELS = $(BUILD)/tests/unit/blur.cu.o
$(BUILD)/tests/test_machine: $(BUILD)/tests/unit/blur.cu.o
$(addprefix $(BUILD)/tests/,test_cuda_fill test_cuda_moments test_cuda_passes test_machine test_pour_print test_rule_print): CFLAGS_ALL += -DSEL_CUDA -isystem $(CUDA_INCLUDE)
endif

# A program with a solver of its own beside those of the engine (tests/solver).
SOLVER_TEST := $(BUILD)/tests/shallow
SOLVER_TEST_OBJECTS := $(patsubst %,$(BUILD)/tests/solver/%,shallow.o solvers.o $(if $(filter 1,$(CUDA)),shallow.cu.o))
$(SOLVER_TEST): $(SOLVER_TEST_OBJECTS) $(BUILD)/engine/app/main.o $(LUA_OBJECTS) $(LIBRARY)
	@echo 'link    $@'
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LDLIBS_ALL)
ifeq ($(CUDA),1)
$(BUILD)/tests/solver/shallow.o: CFLAGS_ALL += -DSEL_CUDA -isystem $(CUDA_INCLUDE)
$(BUILD)/tests/solver/shallow.cu.o: NVCCFLAGS += -fmad=false
endif

# The targets of `make fuzz` are compiled here too, lest they fall behind.
unit-tests: $(UNIT_TESTS) $(SOLVER_TEST) $(BUILD)/examples/c/embed $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/*.c))

# All that tests/cuda/gpu.sh runs, for a machine with a GPU that has no compiler and no cmocka.
GPU_TESTS := $(filter $(BUILD)/tests/test_cuda% $(BUILD)/tests/test_machine,$(UNIT_TESTS))
CMOCKA_SHARED = $(filter /%,$(shell $(CC) -print-file-name=libcmocka.so.0))
gpu-tests: $(PROGRAM) $(PLUGINS) $(GPU_TESTS) $(SOLVER_TEST) $(BUILD)/examples/c/embed
	@mkdir -p $(BUILD)/gpu/tests/lib $(BUILD)/gpu/examples/c
	@echo 'gather  $(BUILD)/gpu'
	$(Q)for f in selenite examples/c/embed $(SOLVER_TEST:$(BUILD)/%=%) $(GPU_TESTS:$(BUILD)/%=%); do \
	    strip -g -o $(BUILD)/gpu/$$f $(BUILD)/$$f || exit 1; done
	$(Q)$(if $(PLUGINS),cp $(PLUGINS) $(BUILD)/gpu/)
	$(Q)$(if $(CMOCKA_SHARED),cp -L $(CMOCKA_SHARED) $(BUILD)/gpu/tests/lib/)

# The same tests where there is no GPU: kernels compiled for the processor, each once (tests/device).
# Ranks divide smaller grids than on GPUs, where these would not pay.
DEVICE := $(BUILD)/device
DEVICE_LIBRARY = $(abspath $(DEVICE))/lib/libcudart.so
$(DEVICE_LIBRARY): $(wildcard tests/device/*)
	@mkdir -p $(@D)
	@echo 'compile tests/device'
	$(Q)tests/device/nvcc --library $@
	$(Q)ln -sf libcudart.so $(@D)/libnvrtc.so
	$(Q)ln -sf libcudart.so $(@D)/libcuda.so.1
	$(Q)ln -sf libcudart.so $(@D)/libnccl.so.2
test-device: setup-test $(DEVICE_LIBRARY)
	$(MAKE) BUILD=$(DEVICE) CUDA=1 NVCC=tests/device/nvcc CUDA_ARCH=sm_90 CUDART=$(DEVICE_LIBRARY) \
	    CUDA_INCLUDE=tests/device/include CPPFLAGS="-DMG_ALONE_ON_DEVICE=4096 -DLBM_PASS_BOUNDED=65536" gpu-tests
	DEVICE=$(DEVICE) tests/device/all.sh $(ONLY)

# The engine alone: no Lua in it.
$(BUILD)/examples/c/embed: $(BUILD)/%: %.c $(LIBRARY)
	@mkdir -p $(@D)
	@echo 'compile $<'
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $< $(LIBRARY) $(ENGINE_LIBS)

test: setup-test
	$(MAKE) all unit-tests
	BUILD=$(BUILD) PYTHON=$(PYTHON) tests/run.sh

validate: setup-run
	$(MAKE) all
	$(PROGRAM) validate $(CASES)

# docs/results.md, docs/performance.md and two tables of README.md, from bench/results and the report of the last validate.
REPORT := $(wildcard out/validate/results.json)
results:
	$(PYTHON) tools/results.py $(if $(REPORT),--validation $(REPORT))

demo: setup-run
	$(MAKE) all
	BUILD=$(BUILD) tools/demo.sh

bench: all
	$(PROGRAM) bench

setup-run setup-test setup-lint:
	@tools/setup.sh $(@:setup-%=%)

annotations: $(PROGRAM)
	$(PROGRAM) help --annotations > lua/meta/selenite.lua
	$(PROGRAM) help --reference > docs/reference.md
	$(PROGRAM) help --man > docs/selenite.1

# The loops of D3Q19 are those of D2Q9 with more directions, and take cppcheck minutes. What has not
# changed since the last time is not checked again.
CPPCHECK = cppcheck -q -j $(shell nproc) --error-exitcode=1 --std=c11 --inline-suppr -I. \
           --suppressions-list=tools/cppcheck.txt --cppcheck-build-dir=$(BUILD)/cppcheck \
           -i engine/solvers/lbm/lbm_d3q19_kernel.c $(SOLVERS_ON_CUDA:%=-i %) engine lua geometry
TRACKED = $(shell git ls-files '*.c' '*.h' '*.cu' '*.cuh')
lint: setup-lint
	@clang-format --dry-run -Werror $(TRACKED)
	luacheck -q --no-color lua scenarios examples
	@mkdir -p $(BUILD)/cppcheck
	$(CPPCHECK)
	shellcheck -x tools/*.sh tests/*.sh tests/*/*.sh .ci/run

format:
	clang-format -i $(TRACKED)

install: all
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/selenite
	for f in $(PLUGINS); do install -D -m 755 $$f $(DESTDIR)$(PREFIX)/lib/selenite/$${f##*/} || exit 1; done
	install -D -m 644 $(LIBRARY) $(DESTDIR)$(PREFIX)/lib/libselenite.a
	for h in $$(find engine geometry -name '*.h' ! -name '*_cuda.h'); do install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/selenite/$$h; done
	@mkdir -p $(DESTDIR)$(PREFIX)/lib/pkgconfig
	printf '%s\n' 'Name: Selenite' 'Description: simulation engine' 'Version: $(VERSION)' \
	    'Cflags: -I$(PREFIX)/include/selenite' 'Libs: -L$(PREFIX)/lib -lselenite $(ENGINE_LIBS)' \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/selenite.pc
	install -D -m 644 lua/meta/selenite.lua $(DESTDIR)$(PREFIX)/share/selenite/meta/selenite.lua
	for f in $$(find scenarios examples -type f); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/selenite/$$f; done
	install -D -m 644 docs/selenite.1 $(DESTDIR)$(PREFIX)/share/man/man1/selenite.1
	for f in README.md CHANGELOG.md LICENSE $$(find docs -name '*.md') docs/pictures/*; do \
	    install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/doc/selenite/$$f || exit 1; done
	@mkdir -p $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions
	$(PROGRAM) help --completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/selenite
	$(PROGRAM) help --completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_selenite

release:
	$(MAKE) BUILD=build-release CUDA_ARCH=all all
	strip -o build-release/selenite-$(VERSION)-$$(uname -m) build-release/selenite

fuzz:
	tests/fuzz/fuzz.sh

test-paraview test-fresh:
	tests/fresh/$(@:test-%=%).sh $(FIRST)

clean:
	rm -rf build build-*

help:
	@echo 'make                 build $(PROGRAM)'
	@echo 'make demo            install what is missing, build, run the sudden expansion, check it'
	@echo 'make test            install what is missing, build, run the tests'
	@echo 'make validate        the validation studies (minutes), or CASES="poiseuille cavity2d"'
	@echo 'make results         write docs/results.md, docs/performance.md and tables of README.md from bench/results'
	@echo 'make bench           how fast this machine runs the kernels'
	@echo 'make lint | format   check or apply the code style'
	@echo 'make gpu-tests       what tests/cuda/gpu.sh needs on a machine with a GPU, in $(BUILD)/gpu'
	@echo 'make test-device     the tests of CUDA code, on the CPU (minutes); ONLY=test_cuda_heat: one, ONLY=short: fast ones'
	@echo 'make install         to PREFIX=$(PREFIX), below DESTDIR=; with documents, man page, completions'
	@echo 'make release         a stripped binary, for all GPUs, in build-release/'
	@echo 'make annotations     regenerate lua/meta/selenite.lua, docs/reference.md, docs/selenite.1'
	@echo 'make test-paraview   read the files back with ParaView in a fresh Debian (root, minutes)'
	@echo 'make test-fresh      make demo and make test in a fresh Debian (root, minutes); FIRST="PACKAGES" there first'
	@echo 'make fuzz            fuzz scripts, the files that they read and laws (clang, half an hour)'
	@echo 'make clean           remove the build folders'
	@echo 'settings: CC=clang DEBUG=1 SANITIZE=address,undefined BUILD= STATIC=0 CUDA=0 CUDA_ARCH= V=1'

-include $(SOLVER_TEST_OBJECTS:.o=.d) $(CORE_OBJECTS:.o=.d) $(LUA_OBJECTS:.o=.d) $(UNIT_TESTS:=.d) $(BUILD)/engine/app/main.d \
    $(patsubst %.c,$(BUILD)/%.d,$(wildcard tests/fuzz/*.c))
