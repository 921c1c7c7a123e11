"""The llama.cpp server of the `xllamacpp` wheel as a program of its own.

Started by `parley.engines.llamacpp` by its file's path; imports nothing of Parley.
"""

from __future__ import annotations

import argparse
import sys
import threading

CACHE_MIB = 1024
"""Memory for the prompts of past conversations; the library's own default is 8 GiB."""
ERRORS_ONLY = 1
"""The log would otherwise grow by a kilobyte with every request."""


def main(arguments: list[str]) -> int:
    """Serves until killed; returns 1 where the model cannot be loaded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--alias", required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--context", type=int, required=True, help="tokens of each slot")
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args(arguments)

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.model_alias = {options.alias}
    params.hostnames, params.port = [options.host], options.port
    params.n_parallel, params.n_ctx = options.slots, options.slots * options.context
    # A connection occupies a thread for as long as it is open, idle or not.
    params.n_threads_http = options.connections
    params.cache_ram_mib, params.verbosity, params.ui = CACHE_MIB, ERRORS_ONLY, False
    if options.threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    try:
        server = xllamacpp.Server(params)
    except Exception as error:  # the wheel raises whatever its C++ side throws
        print(f"llama.cpp cannot serve {options.model}: {error}", flush=True)
        return 1
    threading.Event().wait()
    del server
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
