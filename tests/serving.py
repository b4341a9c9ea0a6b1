"""The exhibit's server in a process of its own, for tests and benchmarks that drive a browser."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2


@contextmanager
def served() -> Iterator[str]:
    """Address of a server that answers, without a slash at its end; it is ended whatever happens in between."""
    command = [sys.executable, "-m", "app", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            match = re.search(r"http://\S+", process.stdout.readline())
            assert match is not None
            address = match.group().rstrip("/")
            # the address is told before anybody listens there
            with httpx2.Client(transport=httpx2.HTTPTransport(retries=8)) as client:
                client.get(f"{address}/healthz", timeout=30)
            yield address
        finally:
            process.terminate()
