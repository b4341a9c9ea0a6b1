"""How answers travel: ETag, 304, HEAD, encodings, immutable files, and nothing served but the built folder."""

import gzip
import re

import pytest
from fastapi.testclient import TestClient

PATHS = ["/", "/numbers", "/measurements", "/measurements?seqlen=4096&theme=dark", "/api/traffic", "/api/gpus"]
PATHS += ["/static/icon.svg", "/api/traffic/sweep", "/api/timings?seqlen=4096", "/api/timings.csv?seqlen=4096"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("encoding", ["gzip", "br", "identity", "gzip;q=0", "br;q=1.0, gzip;q=0.8, *;q=0.1"])
def test_every_encoding_has_its_own_strong_etag_and_answers_304(client: TestClient, path: str, encoding: str) -> None:
    first = client.get(path, headers={"accept-encoding": encoding})
    assert first.status_code == 200
    etag = first.headers["etag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', etag)
    again = client.get(path, headers={"accept-encoding": encoding, "if-none-match": f'"other", {etag}'})
    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["etag"] == etag
    plain = client.get(path, headers={"accept-encoding": "identity"})
    assert first.content == plain.content
    if first.headers.get("content-encoding"):
        assert etag != plain.headers["etag"]
        assert encoding != "gzip;q=0"


@pytest.mark.parametrize("path", PATHS)
def test_head_is_get_without_a_body(client: TestClient, path: str) -> None:
    got = client.get(path)
    head = client.head(path)
    assert head.status_code == 200
    assert head.content == b""
    for name in ("etag", "content-type", "cache-control"):
        assert head.headers[name] == got.headers[name]


def test_the_same_question_gives_the_same_bytes(client: TestClient) -> None:
    query = {"seqlen": 777, "head_dim": 72, "causal": "true"}
    assert client.get("/api/traffic", params=query).content == client.get("/api/traffic", params=query).content


def test_hashed_files_are_immutable_and_precompressed(client: TestClient) -> None:
    page = client.get("/").text
    names = re.findall(r'(?:src|href)="(/static/assets/[^"]+)"', page)
    assert len(names) >= 2
    for name in names:
        for encoding in ("br", "gzip"):
            answer = client.get(name, headers={"accept-encoding": encoding})
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert answer.headers["content-encoding"] == encoding


def test_nothing_but_the_built_folder_is_served(client: TestClient) -> None:
    for path in ("package.json", "node_modules/three/package.json", ".vite/manifest.json", "src/main.ts"):
        assert client.get(f"/static/{path}").status_code == 404


def test_the_page_loads_nothing_from_elsewhere(client: TestClient) -> None:
    answer = client.get("/")
    loaded = re.findall(r'<(?:script|link|img|iframe|source)[^>]+(?:src|href)="([^"]+)"', answer.text)
    assert loaded
    assert all(address.startswith("/") for address in loaded)
    assert "default-src 'self'" in answer.headers["content-security-policy"]


def test_gzip_of_the_api_is_real_gzip(client: TestClient) -> None:
    with client.stream("GET", "/api/traffic/sweep", headers={"accept-encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert gzip.decompress(raw) == client.get("/api/traffic/sweep").content
