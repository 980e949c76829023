#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A training job's communication without the training: one process per rank, gloo on the CPU.

Ranks meet by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, tell each other their coordinates and
nodes, build every tensor, context, pipeline, data and expert parallel group from them, and sum over
each. Rank 0 prints one line when all is right; otherwise what is wrong, and every rank exits 1.

Coordinates are those that the rank order PARPLAN_ORDER gives to RANK; the variables
PARPLAN_*_RANK, where set (torchrun's workers have none of their own), must agree with them.
"""

import datetime
import functools
import os
import re
import socket
import subprocess
import sys

import torch
import torch.distributed as dist

DENSE = {"tp": "tp", "cp": "cp", "dp": "dp", "pp": "pp"}
EXPERT = {"tp": "etp", "ep": "ep", "dp": "edp", "pp": "pp"}
GROUPS = [("tp", DENSE), ("cp", DENSE), ("pp", DENSE), ("dp", DENSE), ("ep", EXPERT),
          ("etp", EXPERT)]
MEETING_SECONDS = 300


class Wrong(Exception):
    """Something about this rank's environment is not as it must be."""


def number(name, default=None):
    text = os.environ.get(name)
    if text is None and default is not None:
        return default
    if text is None or not re.fullmatch("[0-9]+", text):
        raise Wrong(f"{name} is {text!r}, must be a number")
    return int(text)


def read_sizes(world):
    names = ("tp", "cp", "ep", "pp", "dp")
    sizes = {name: number(f"PARPLAN_{name.upper()}_SIZE", 1) for name in names}
    sizes["etp"] = number("PARPLAN_ETP_SIZE", sizes["tp"] if sizes["ep"] == 1 else 1)
    product = sizes["tp"] * sizes["cp"] * sizes["dp"] * sizes["pp"]
    if product != world:
        raise Wrong(f"tp*cp*dp*pp is {product}, WORLD_SIZE is {world}")
    expert = sizes["etp"] * sizes["ep"] * sizes["pp"]
    if world % expert != 0:
        raise Wrong(f"etp*ep*pp is {expert}, does not divide WORLD_SIZE {world}")
    sizes["edp"] = world // expert
    return sizes


def decode(rank, order, names, sizes):
    """The coordinates of a rank in one grid: the first name in the order varies fastest."""
    coordinates = {}
    for word in order:
        name = names.get(word)
        if name is not None:
            coordinates[name] = rank % sizes[name]
            rank //= sizes[name]
    return coordinates


def read_coordinates(rank, sizes):
    order = os.environ.get("PARPLAN_ORDER", "tp-cp-ep-dp-pp").split("-")
    if sorted(order) != ["cp", "dp", "ep", "pp", "tp"]:
        raise Wrong(f"PARPLAN_ORDER is {'-'.join(order)!r}")
    dense, expert = decode(rank, order, DENSE, sizes), decode(rank, order, EXPERT, sizes)
    for name in ("tp", "cp", "pp", "dp", "ep", "etp"):
        expected = dense[name] if name in dense else expert[name]
        said = number(f"PARPLAN_{name.upper()}_RANK", expected)
        if said != expected:
            raise Wrong(f"PARPLAN_{name.upper()}_RANK is {said}, RANK {rank} has {expected}")
    return {"dense": dense, "expert": expert}


def describe_myself(rank, sizes):
    """What the others are told; a fault is told too, so that all of them end."""
    node = os.environ.get("SLURMD_NODENAME", socket.gethostname())
    me = {"rank": rank, "node": node, "fault": None}
    try:
        me.update(read_coordinates(rank, sizes))
        me["local_rank"] = number("LOCAL_RANK")
        me["local_world"] = number("LOCAL_WORLD_SIZE")
        me["node_rank"] = number("GROUP_RANK", rank // me["local_world"])
    except Wrong as wrong:
        me["fault"] = str(wrong)
    return me


def members_of_groups(name, names, ranks):
    """{the coordinates that a group shares: its ranks, by their coordinate}"""
    grid = "dense" if names is DENSE else "expert"
    groups = {}
    for other in sorted(ranks, key=lambda other: other[grid][name]):
        shared = tuple(value for key, value in sorted(other[grid].items()) if key != name)
        groups.setdefault(shared, []).append(other["rank"])
    return groups


def sum_over_groups(name, names, ranks, rank):
    """Sums over every group of one kind; returns how many there are, and what went wrong."""
    faults = []
    groups = members_of_groups(name, names, ranks)
    for members in groups.values():
        group = dist.new_group(members)
        if rank not in members:
            continue
        sums = torch.zeros(len(ranks), dtype=torch.int64)
        sums[rank] = rank + 1
        dist.all_reduce(sums, group=group)
        wanted = [other + 1 if other in members else 0 for other in range(len(ranks))]
        if sums.tolist() != wanted:
            faults.append(f"{name.upper()} group {members}: sums {sums.tolist()}")
    return len(groups), faults


def node_addresses(node):
    """The name of a node and what its Slurm calls its address."""
    command = ["scontrol", "--oneliner", "show", "node", node]
    try:
        text = subprocess.run(command, timeout=30, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    return [node] + re.findall(r"\bNodeAddr=(\S+)", text)


def check_placement(ranks):
    """RANK blocks whole on a node, local ranks in order, TP groups on one node, RANK 0 master."""
    faults = [f"RANK {other['rank']}: {other['fault']}" for other in ranks if other["fault"]]
    if faults:
        return faults
    nodes_of_blocks = {}
    for other in ranks:
        block, place = divmod(other["rank"], other["local_world"])
        nodes_of_blocks.setdefault(block, set()).add(other["node"])
        if (other["node_rank"], other["local_rank"]) != (block, place):
            faults.append(f"RANK {other['rank']}: NODE_RANK {other['node_rank']}, LOCAL_RANK "
                          f"{other['local_rank']}, must be {block} and {place}")
    for block, nodes in nodes_of_blocks.items():
        if len(nodes) != 1:
            faults.append(f"the ranks of block {block} are on {sorted(nodes)}")
    for members in members_of_groups("tp", DENSE, ranks).values():
        nodes = sorted({ranks[member]["node"] for member in members})
        if len(nodes) != 1 and "--tp-may-span" not in sys.argv:
            faults.append(f"TP group {members} is on {nodes}")
    addresses = node_addresses(ranks[0]["node"])
    if os.environ["MASTER_ADDR"] not in addresses:
        faults.append(f"MASTER_ADDR is {os.environ['MASTER_ADDR']}, RANK 0 is on {addresses}")
    return faults


def check_groups(ranks, sizes, rank):
    """Returns the words for the groups that were right, and what was wrong with others."""
    words, faults = [], []
    for name, names in GROUPS:
        if sizes[name] > 1 and not (name == "etp" and sizes["ep"] == 1):
            count, wrong = sum_over_groups(name, names, ranks, rank)
            words.append(f"{name.upper()} {count}x{sizes[name]} groups right")
            faults += wrong
    return words, faults


def gather(mine, world):
    gathered = [None] * world
    dist.all_gather_object(gathered, mine)
    return gathered


def run(rank, world):
    sizes = read_sizes(world)
    ranks = gather(describe_myself(rank, sizes), world)
    faults = check_placement(ranks) if rank == 0 else []
    words = []
    if not any(other["fault"] for other in ranks):
        words, wrong = check_groups(ranks, sizes, rank)
        faults += wrong
    faults = [fault for theirs in gather(faults, world) for fault in theirs]
    if rank == 0:
        met = f"torch: {world} ranks met at {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        print("\n".join(["torch: " + fault for fault in faults] or [", ".join([met] + words)]))
    return 1 if faults else 0


def do_without_libuv():
    """Newer torch asks for a store with libuv, which Debian builds none into."""
    os.environ["USE_LIBUV"] = "0"
    if "use_libuv" in (dist.TCPStore.__init__.__doc__ or ""):
        # By this name torch.distributed has a function, too.
        module = sys.modules["torch.distributed.rendezvous"]
        module.TCPStore = functools.partial(dist.TCPStore, use_libuv=False)


def main():
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    do_without_libuv()
    try:
        rank, world = number("RANK"), number("WORLD_SIZE")
        for name in ("MASTER_ADDR", "MASTER_PORT"):
            if name not in os.environ:
                raise Wrong(f"{name} is not set")
        dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=MEETING_SECONDS))
        result = run(rank, world)
        dist.barrier()
        dist.destroy_process_group()
        return result
    except Wrong as wrong:
        print(f"torch: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
