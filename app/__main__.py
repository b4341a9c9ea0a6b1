"""The verbs: `exhibit serve`, `exhibit build`, `exhibit check` (the same as `python -m app …`)."""

from __future__ import annotations

import argparse
import socket
import sys
import threading
import time
import webbrowser

from app import __version__
from app.settings import Settings, help_of


def main(arguments: list[str] | None = None) -> int:
    """Run one verb; return its exit code."""
    parser = argparse.ArgumentParser(prog="exhibit", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    defaults = Settings()

    serve = verbs.add_parser("serve", help="serve the exhibit to a browser")
    for name, kind in (("host", str), ("port", _port), ("workers", _positive)):
        default = getattr(defaults, name)
        serve.add_argument(f"--{name}", type=kind, default=default, help=f"{help_of(name)} (default: {default})")
    serve.add_argument("--open", action="store_true", help="open the exhibit in the default browser")

    build = verbs.add_parser("build", help="rebuild the models, the API types and the browser bundle (in a checkout)")
    build.add_argument("--force", action="store_true", help="build the bundle even if no source changed")

    bench = verbs.add_parser("bench", help="prove, time and count attention kernels on the GPU of this machine")
    if "bench" in (arguments if arguments is not None else sys.argv[1:])[:1]:
        from app.kernels.bench import cli

        cli.add_arguments(bench)

    verbs.add_parser("posters", help="photograph the stand for every chapter (in a checkout, with a Chromium)")

    check = verbs.add_parser("check", help="run every test, linter and type check (in a checkout)")
    check.add_argument("--no-browser", action="store_true", help="leave the browser tests out, and say so")

    given = parser.parse_args(arguments)
    if given.verb == "serve":
        return _serve(Settings(given.host, given.port, given.workers), given.open)
    if given.verb == "bench":
        from app.kernels.bench import cli

        return cli.main(given)
    from app import checkout

    try:
        if given.verb == "build":
            return checkout.build(force=given.force)
        if given.verb == "posters":
            return checkout.posters()
        return checkout.check(browser=not given.no_browser)
    except checkout.CheckoutError as error:
        return _fail(str(error))


def _serve(settings: Settings, open_browser: bool) -> int:
    import uvicorn

    from app import paths
    from app.web.assets import Assets, BundleMissingError

    try:
        Assets(paths.dist())
    except BundleMissingError as error:
        return _fail(str(error))
    port = settings.port or _free_port(settings.host)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{port}/"
    try:
        _probe(settings.host, port)
    except OSError as error:
        return _fail(f"cannot listen on {settings.host} port {port}: {error.strerror or error}. Try --port 0.")
    print(f"The exhibit is at {address}  (Ctrl-C stops it)", flush=True)
    if open_browser:
        threading.Thread(target=_open_when_up, args=(settings.host, port, address), daemon=True).start()
    uvicorn.run(
        "app.main:create_app",
        factory=True,
        host=settings.host,
        port=port,
        workers=settings.workers,
        log_level="warning",
        server_header=False,
    )
    return 0


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _probe(host: str, port: int) -> None:
    """Raise OSError when the address cannot be listened on, so that the user reads one sentence, not a trace."""
    with socket.socket(_family(host)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))


def _free_port(host: str) -> int:
    with socket.socket(_family(host)) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _open_when_up(host: str, port: int, address: str) -> None:
    target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    for _ in range(100):
        try:
            socket.create_connection((target, port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
            continue
        webbrowser.open(address.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]"))
        return


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65_535:
        raise argparse.ArgumentTypeError("a port lies between 0 and 65535")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def _fail(sentence: str) -> int:
    print(f"exhibit: {sentence}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
