# SPDX-License-Identifier: MIT
# C text without its comments and the contents of its strings and character constants, each
# line still at its number: "file:line:text", for checks that search for words. Strings of
# #include lines stay.
FNR == 1 { in_comment = 0 }
{
    line = $0
    out = ""
    include = line ~ /^[ \t]*#[ \t]*include/
    quote = ""
    for (i = 1; i <= length(line); i++) {
        two = substr(line, i, 2)
        char = substr(line, i, 1)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                i++
            }
        } else if (quote != "") {
            if (char == "\\")
                i++
            else if (char == quote) {
                quote = ""
                out = out char
            }
        } else if (two == "/*") {
            in_comment = 1
            i++
        } else if (two == "//")
            break
        else {
            if ((char == "\"" || char == "'") && !include)
                quote = char
            out = out char
        }
    }
    print FILENAME ":" FNR ":" out
}
