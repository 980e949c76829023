#!/bin/bash
# SPDX-License-Identifier: MIT
# embed_data.sh [--brief] OUT.S [FILE…]: writes assembler that compiles the files in, as
#     extern const struct data_file data_file_table[];
#     extern const size_t data_file_table_count;
#     extern const unsigned char data_file_texts[];
#     extern const size_t data_file_texts_bytes;
#     extern char data_file_room[];
# (common/base/data_file.c). Names are last path components; the texts, each with a NUL behind it,
# are packed with gzip as one. Of a YAML file the text is what the program YAML_EVENTS
# (embed/yaml_events.c) prints of it, --brief where that is given.
set -euo pipefail

events=("${YAML_EVENTS:-}")
if [[ $1 == --brief ]]; then
    events+=(--brief)
    shift
fi
out=$1
shift
texts=$out.unpacked
: > "$texts"

declare -A seen=()
names=
{
    echo '#if __SIZEOF_POINTER__ == 8'
    echo '#define WORD .quad'
    echo '#else'
    echo '#define WORD .long'
    echo '#endif'
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
    i=0
    start=0
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
        if [[ $name == *.yaml ]]; then
            "${events[@]}" "$file"
        else
            cat "$file"
        fi >> "$texts"
        end=$(stat -c %s "$texts")
        printf '\0' >> "$texts"
        printf 'WORD .Lname%d\n.long %d, %d\n' "$i" "$start" "$((end - start))"
        names+=".Lname$i: .asciz \"$name\""$'\n'
        i=$((i + 1))
        start=$((end + 1))
    done
    echo 'WORD 0'
    echo '.size data_file_table, . - data_file_table'
    echo '.section .rodata.str1.1,"aMS",%progbits,1'
    echo "$names"
    gzip -9n < "$texts" > "$texts.gz"
    echo '.section .rodata.data_file_texts,"a"'
    echo '.balign 8'
    echo '.globl data_file_texts, data_file_texts_bytes'
    echo "data_file_texts_bytes: WORD $(stat -c %s "$texts.gz")"
    echo "data_file_texts: .incbin \"$texts.gz\""
    echo '.section .bss.data_file_room,"aw",%nobits'
    echo '.globl data_file_room'
    echo "data_file_room: .skip $((start + 1))"
    echo '.section .note.GNU-stack,"",%progbits'
} > "$out"
