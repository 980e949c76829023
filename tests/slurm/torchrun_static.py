#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""torchrun for tests: one per node, told everything by the PET_* variables.

    torchrun_static.py WORKER.py [ARGUMENT...]

torch 1.13 (Debian 12) makes no value of the flag "0" under Python 3.11; others need no help.
"""

import os
import sys

import torch.distributed.run
from torch.distributed.elastic.multiprocessing.api import Std

if __name__ == "__main__":
    if Std.from_str("0") is None:
        Std.from_str = classmethod(lambda cls, text: cls.NONE)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.distributed.run.main(sys.argv[1:])
