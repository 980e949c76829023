#!/bin/bash
# SPDX-License-Identifier: MIT
# embed_data.sh [--brief] OUT.S [FILE…]: writes assembler that compiles the files in, as
#     extern const struct data_file data_file_table[];
#     extern const size_t data_file_table_count;
# (common/base/data_file.c). Names are last path components; the texts are packed with gzip.
# Comment lines of YAML stay behind, empty, so that line numbers
# hold: they are for the files' readers, and the plugin counts its bytes. --brief leaves out
# the texts of `source:` too, which only the program's reports show.
set -euo pipefail

script='s/^ *#.*//'
if [[ $1 == --brief ]]; then
    script+='; s/^( *source:) .*/\1 x/'
    shift
fi
out=$1
shift
texts=$out.texts
mkdir -p "$texts"

declare -A seen=()
{
    echo '#if __SIZEOF_POINTER__ == 8'
    echo '#define WORD .quad'
    echo '#else'
    echo '#define WORD .long'
    echo '#endif'
    echo '.section .rodata.data_file_texts,"a"'
    i=0
    for file in "$@"; do
        name=${file##*/}
        if [[ ! $name =~ ^[A-Za-z0-9._-]+$ ]]; then
            echo "embed_data.sh: $file: a data file's name is letters, digits, '.', '_', '-'" >&2
            exit 1
        fi
        if [[ -n ${seen[$name]:-} ]]; then
            echo "embed_data.sh: $file and ${seen[$name]} have the same name" >&2
            exit 1
        fi
        seen[$name]=$file
        sed -E "$script" "$file" | gzip -9n > "$texts/$name"
        printf '.Lname%d: .asciz "%s"\n' "$i" "$name"
        printf '.Ltext%d: .incbin "%s"\n.Lend%d:\n' "$i" "$texts/$name" "$i"
        i=$((i + 1))
    done
    echo '.section .rodata.data_file_table_count,"a"'
    echo '.balign 8'
    echo '.globl data_file_table_count'
    echo '.type data_file_table_count, %object'
    echo "data_file_table_count: WORD $#"
    echo '.size data_file_table_count, . - data_file_table_count'
    echo '.section .data.rel.ro.data_file_table,"aw"'
    echo '.balign 8'
    echo '.globl data_file_table'
    echo '.type data_file_table, %object'
    echo 'data_file_table:'
    for ((i = 0; i < $#; i++)); do
        printf 'WORD .Lname%d\nWORD .Ltext%d\nWORD .Lend%d - .Ltext%d\n' "$i" "$i" "$i" "$i"
    done
    echo 'WORD 0'
    echo '.size data_file_table, . - data_file_table'
    echo '.section .note.GNU-stack,"",%progbits'
} > "$out"
