"""What several tests share: the app, a client, and the reference counts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.main import create_app

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def app() -> FastAPI:
    return create_app()


@pytest.fixture(scope="session")
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app) as client:
        yield client


@pytest.fixture(scope="session")
def reference() -> dict[str, Any]:
    """Exact byte counts made by a script that walks the loops block by block; no code in common with ours."""
    content: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "traffic_reference.json").read_text())
    return content
