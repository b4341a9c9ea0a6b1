"""Settings of the server: one frozen table of name, default and help, which the command line fills in."""

from __future__ import annotations

from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Settings:
    """What `serve` can be told; `help` in the metadata is what `--help` prints."""

    host: str = field(default="127.0.0.1", metadata={"help": "address to listen on"})
    port: int = field(default=8000, metadata={"help": "port to listen on; 0 picks a free one"})
    workers: int = field(default=1, metadata={"help": "number of server processes"})


def help_of(name: str) -> str:
    """The one-line help of setting `name`."""
    return next(str(f.metadata["help"]) for f in fields(Settings) if f.name == name)
