# SPDX-License-Identifier: MIT
# A document of `parplan topology` against a row of answers.tsv ($row: its cells by column name):
# first line what it says, in the table's own words, then one line for each cell that differs.

def numbers: [scan("[0-9]+") | tonumber];
def sets: [scan("\\{[^}]*\\}") | numbers];
def words: [scan("[^ ]+")];
def braces: "{" + (map(tostring) | join(",")) + "}";
def shown: if length == 0 then "-" else map(braces) | join("") end;
def listed: if length == 0 then "-" else join(" ") end;
def canonical: map(sort) | sort;

($row.order | if . == "-" then null else numbers end) as $order
| def filed: if $order == null then . else . as $gpu | $order | index($gpu) end;

def domains: [.nvlink_domains[] | select(length > 1) | map(filed) | sort] | sort;
def groups($size): [.groups[$size][] | map(filed)];
# A column without a legend has no name; the table calls it by its place, as the file does.
def nic_names: [.nics | to_entries[] | .value.name // "NIC\(.key)"];
def rails: [[nic_names, .nics] | transpose[]
    | select(.[1].role == "rail" and .[1].state != "down") | .[0]];
def nics_of($gpu): nic_names as $names
    | [.gpus[] | select((.index | filed) == $gpu) | [.nic_indices[] | $names[.]]] | first // [];

# --- fabrics -----------------------------------------------------------------------------

def sizes(f): [.nodes[] | f | select(. != null)] | group_by(.) | map(length) | sort;
def fabric_fact($name):
    if $name == "nodes" then .nodes | length
    elif $name == "tiers" then .tiers | length
    elif $name == "rails" then [.nodes[].rails | length] | max // 0
    elif $name == "leafs" then sizes(.path[0])
    elif $name == "groups" then sizes(.rails | tojson)
    elif $name == "domains" then sizes(.nvlink_domain)
    else "no such fact" end
    | if type != "array" then tostring
      elif length == 0 then "-"
      else map(tostring) | join(",") end;

# --- cells: a message for each that differs ----------------------------------------------

def differs($column; $got): "  \($column): \($got), expected \($row[$column])";

def is_ring($edges):
    . as $group | length as $size
    | all(range($size); [$group[.], $group[(. + 1) % $size]] | sort as $pair
        | $edges | index([$pair]) != null);
def check_rings($size; $edges; $count):
    (flatten | sort) == [range($count)] and all(.[]; length == $size and is_ring($edges));

def check_groups($column; $size):
    groups($size) as $got
    | if $row[$column] == "?" then empty
      elif $row[$column] | startswith("ring") then
          ($row[$column] | [scan("[0-9]+-[0-9]+") | numbers]) as $edges
          | (.gpus | length) as $count
          | if $got | check_rings($size | tonumber; $edges; $count) then empty
            else differs($column; $got | shown) end
      elif ($got | canonical) == ($row[$column] | sets | canonical) then empty
      else differs($column; $got | shown) end;

def check_rails:
    rails as $got | ($row.rails | words | map(select(. != "-"))) as $want
    | ($want | map(select(startswith("?") | not))) as $must
    | ($want | map(ltrimstr("?"))) as $may
    | if $row.rails == "?" or (($must - $got) == [] and ($got - $may) == []) then empty
      else differs("rails"; $got | listed) end;

def check_near:
    . as $node
    | if $row.near == "?" or $row.near == "-" then empty
      else $row.near | words[] | split(":") as [$gpu, $names]
          | ($names | split("+")) as $want
          | ($node | nics_of($gpu | tonumber)) as $got
          | if ($got[:($want | length)] | sort) == ($want | sort) then empty
            else "  near: \($gpu):\($got | join("+")), expected \($gpu):\($names)" end
      end;

def check_fabric:
    . as $fabric
    | if $row.fabric == "-" then empty
      else $row.fabric | words[] | split("=") as [$name, $want]
          | ($fabric | fabric_fact($name)) as $got
          | if $got == $want then empty else "  \($name): \($got), expected \($want)" end
      end;

def check_node:
    (if $row.gpus != "?" and (.gpus | length | tostring) != $row.gpus
     then differs("gpus"; .gpus | length) else empty end),
    (if $row.nvlink == "?" or (.nvlink as $got | $row.nvlink | split("|") | index($got) != null)
     then empty else differs("nvlink"; .nvlink) end),
    (if $row.domains == "?" or domains == ($row.domains | sets | canonical)
     then empty else differs("domains"; domains | shown) end),
    check_groups("of 2"; "2"), check_groups("of 4"; "4"), check_groups("of 8"; "8"),
    check_rails, check_near;

def answer_node:
    "\(.gpus | length) GPUs, NVLink \(.nvlink), domains \(domains | shown)"
    + "; of 2 \(groups("2") | shown); of 4 \(groups("4") | shown); of 8 \(groups("8") | shown)"
    + "; rails \(rails | listed)";
def answer_fabric:
    . as $fabric
    | ["nodes", "tiers", "leafs", "rails", "domains"]
    | map("\(.)=\(. as $name | $fabric | fabric_fact($name))") | join(" ");

if .kind == "node" then
    answer_node, (if $row.gpus == "-" then "  a node, expected a fabric" else check_node end)
elif .kind == "fabric" then
    answer_fabric, (if $row.fabric == "-" then "  a fabric, expected a node" else check_fabric end)
else "kind \(.kind)", "  neither a node nor a fabric" end
