#!/bin/bash
# SPDX-License-Identifier: MIT
# pack_texts.sh LINKED.so OUT.so: writes the plugin with its messages packed
# (common/base/texts/packed_text.h). They lie in section plugin_texts, which is not loaded; packed
# with gzip they go into section packed_texts, for which the link has left room: 4 bytes with
# the length of the texts, little endian, and what gzip wrote.
set -euo pipefail

linked=$1
out=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

objcopy -O binary --only-section=packed_texts "$linked" "$tmp/room"
objcopy --dump-section "plugin_texts=$tmp/texts" "$linked" "$tmp/same"
texts=$(stat -c %s "$tmp/texts")
for ((shift = 0; shift < 32; shift += 8)); do
    printf '%b' "$(printf '\\x%02x' $((texts >> shift & 255)))"
done > "$tmp/packed"
gzip -9n < "$tmp/texts" >> "$tmp/packed"
room=$(stat -c %s "$tmp/room")
packed=$(stat -c %s "$tmp/packed")
if ((packed > room)); then
    echo "pack_texts.sh: the packed messages need $packed bytes and have $room:" \
        "raise PACKED_TEXTS_BYTES in the Makefile" >&2
    exit 1
fi
truncate -s "$room" "$tmp/packed"
objcopy --update-section "packed_texts=$tmp/packed" --remove-section plugin_texts "$linked" "$out"
