"""/healthz says what is loaded, and the server needs no torch."""

import subprocess
import sys

from fastapi.testclient import TestClient

from app import __version__
from app.facts.registry import load as load_registry


def test_health(client: TestClient) -> None:
    body = client.get("/healthz").json()
    assert body["status"] == "ok"
    assert body["version"] == __version__
    assert body["facts"] == len(load_registry().facts)
    assert body["chapters"] == 14
    assert body["files"] > 3


def test_the_server_imports_neither_torch_nor_triton_nor_trimesh() -> None:
    code = "import sys\nfor name in ('torch', 'triton', 'trimesh'): sys.modules[name] = None\nimport app.main\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
