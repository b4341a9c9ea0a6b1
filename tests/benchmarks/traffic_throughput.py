"""How fast /api/traffic answers, beside a bare Starlette app that sends the same JSON body.

Run: python -m tests.benchmarks.traffic_throughput
Both servers run in their own process, one worker each, and are asked in turn over keep-alive connections from this
process; only the ratio means anything. "known": one address again and again, answered from memory. "new": every address
for the first time, counted afresh. Not a test: timings depend on the machine.
"""

import asyncio
import multiprocessing
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CONNECTIONS = 8
REQUESTS = 4000
NEW_REQUESTS = 1500
ROUNDS = 5
ADDRESS = "/api/traffic?seqlen=4096&head_dim=128"


def bare_app(body: Any) -> Starlette:
    """The yardstick: parse nothing, serialise the body for every request as JSONResponse does."""

    async def answer(_request: Request) -> JSONResponse:
        return JSONResponse(body)

    return Starlette(routes=[Route("/api/traffic", answer)])


def serve_bare(port: int, body: Any) -> None:
    uvicorn.run(bare_app(body), port=port, log_level="warning")


def serve_exhibit(port: int) -> None:
    uvicorn.run("app.main:create_app", factory=True, port=port, log_level="warning")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> bytes:
    """One GET over an open connection; the body."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode())
    length = next(
        int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    )
    return await reader.readexactly(length)


async def rate(port: int, paths: Iterator[str], requests: int) -> float:
    """Requests a second over several connections."""

    async def one_connection(share: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(share):
            await ask(reader, writer, next(paths))
        writer.close()
        await writer.wait_closed()

    started = time.perf_counter()
    await asyncio.gather(*(one_connection(requests // CONNECTIONS) for _ in range(CONNECTIONS)))
    return requests / (time.perf_counter() - started)


async def first_body(port: int) -> bytes:
    """The body of ADDRESS, as soon as the server is up."""
    for _ in range(200):
        try:
            return await ask(*await asyncio.open_connection("127.0.0.1", port), ADDRESS)
        except OSError:
            await asyncio.sleep(0.1)
    raise RuntimeError("the server did not start")


def same() -> Iterator[str]:
    while True:
        yield ADDRESS


def fresh(start: Iterator[int]) -> Iterator[str]:
    for seqlen in start:
        yield f"/api/traffic?seqlen={seqlen}&head_dim=128"


def start(target: Callable[..., None], *arguments: Any) -> multiprocessing.Process:
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def main() -> None:
    """Measure and print the table."""
    import json

    ours, bare = free_port(), free_port()
    servers = [start(serve_exhibit, ours)]
    body = asyncio.run(first_body(ours))
    servers.append(start(serve_bare, bare, json.loads(body)))
    asyncio.run(first_body(bare))
    lengths = count(5000)
    cases = {
        "bare Starlette": lambda: rate(bare, same(), REQUESTS),
        "exhibit, known": lambda: rate(ours, same(), REQUESTS),
        "exhibit, new": lambda: rate(ours, fresh(lengths), NEW_REQUESTS),
    }
    seen: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, measure in cases.items():
            seen[name].append(asyncio.run(measure()))
    yardstick = statistics.median(seen["bare Starlette"])
    print(f"body: {len(body)} bytes, {CONNECTIONS} connections, median of {ROUNDS} rounds")
    for name, rates in seen.items():
        print(
            f"{name:16} {statistics.median(rates):8.0f} a second   {statistics.median(rates) / yardstick:5.2f} x bare"
        )
    for server in servers:
        server.terminate()


if __name__ == "__main__":
    main()
