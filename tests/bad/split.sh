#!/bin/sh
# split.sh -- the cases of tests/bad/*.txt as files: NAME.lua, what it reads, and NAME.expected with the
# exit status on the first line, then what goes to standard error (NAME.cuda: on a GPU, where it differs).
# usage: split.sh FOLDER
# A case: `==== NAME`, the script, for a file that it reads `---- file NAME.csv` and the file, and
# `---- exit STATUS` (or `---- exit STATUS on cuda`) and the message, up to an empty line. Lines are counted
# within each part.
# Scripts and files that are no text lie beside.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
for file in *; do
    case $file in *.txt | *.sh) ;; *) cp "$file" "$folder" ;; esac
done
LC_ALL=C awk -v folder="$folder/" '
    function begin(name) {
        if (part) close(part)
        part = folder name
    }
    /^==== / {
        case_name = $2
        begin($2 ".lua")
        next
    }
    /^---- file / {
        begin($3)
        next
    }
    /^---- exit / {
        begin(case_name (/ on cuda$/ ? ".cuda" : ".expected"))
        print $3 >part
        next
    }
    /^$/ && part ~ /\.(expected|cuda)$/ { next }
    { print >part }' ./*.txt
