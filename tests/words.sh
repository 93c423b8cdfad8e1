#!/bin/sh
# words.sh -- the name of a static function leads to one file, and retired names do not come back. Prints TAP.
# usage: BUILD=build tests/words.sh
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

twice=$(grep -roE '^(static|[A-Z_]*INLINE) [^;={}()]*[ *][a-z_0-9]+\(' engine cuda geometry lua --include='*.c' --include='*.h' |
    awk '{
        file = $0; sub(/:.*/, "", file)
        name = $0; sub(/\($/, "", name); sub(/.*[ *]/, "", name)
        if (!((name, file) in seen)) { seen[name, file] = 1; files[name] = files[name] " " file; count[name]++ }
    }
    END { for (name in count) if (count[name] > 1) print name ":" files[name] }' | sort)
verdict "no two files have a static function of one name" "$twice"

# Names that said less than those that followed them.
retired='sel_run_look|sel_run_weigh|sel_look_interval|sel_output_site|struct asked|aqua_books|lbm_lists|engine/machine|engine/physics|cuda/machine'
verdict "retired names are gone" \
    "$(grep -rnE "$retired" engine cuda geometry lua docs README.md CONTRIBUTING.md Makefile)"
