#!/usr/bin/env python3
"""A wrapper of rustc: appends what each compilation of a crate of ours needed to the file SIZES_FILE, as a line of JSON."""
import json
import os
import resource
import subprocess
import sys
import time

began = time.monotonic()
# With the descriptors of cargo's job server.
status = subprocess.call(sys.argv[1:], close_fds=False)
arguments = sys.argv[2:]
if "--crate-name" in arguments:
    name = arguments[arguments.index("--crate-name") + 1]
    if name.startswith("docket"):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        line = {"name": name, "seconds": time.monotonic() - began, "kilobytes": used.ru_maxrss}
        with open(os.environ["SIZES_FILE"], "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
sys.exit(status)
