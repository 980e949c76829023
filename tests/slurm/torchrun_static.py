#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""torchrun for tests: one per node, told everything by the PET_* variables.

    torchrun_static.py WORKER.py [ARGUMENT...]

torch 1.13 (Debian 12) makes no value of the flag "0" under Python 3.11. Newer ones ask for a store
with libuv, which Debian builds none into.
"""

import functools
import os
import sys

import torch.distributed.elastic.rendezvous.static_tcp_rendezvous as static_rendezvous
import torch.distributed.run
from torch.distributed.elastic.multiprocessing.api import Std

if __name__ == "__main__":
    if Std.from_str("0") is None:
        Std.from_str = classmethod(lambda cls, text: cls.NONE)
    if "use_libuv" in (static_rendezvous.TCPStore.__init__.__doc__ or ""):
        static_rendezvous.TCPStore = functools.partial(static_rendezvous.TCPStore, use_libuv=False)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.distributed.run.main(sys.argv[1:])
