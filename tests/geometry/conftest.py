"""Reads the committed GLB without the exporter or trimesh: JSON chunk, accessors, places of copies."""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

MODELS = Path(__file__).parents[2] / "models"
TYPES = {5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


@dataclass
class Mesh:
    """Triangles of one mesh: vertices and normals (n, 3), faces (m, 3)."""

    vertices: Any
    normals: Any
    faces: Any
    material: str

    def welded(self) -> tuple[Any, Any]:
        """Vertices merged by position, and the faces on them."""
        places, back = np.unique(np.round(self.vertices, 5), axis=0, return_inverse=True)
        return places, back.reshape(-1)[self.faces]

    def pieces(self) -> list[Any]:
        """Bounds (2, 3) of each connected solid in the mesh."""
        places, faces = self.welded()
        root = list(range(len(places)))

        def find(index: int) -> int:
            while root[index] != index:
                root[index] = root[root[index]]
                index = root[index]
            return index

        for a, b, c in faces:
            root[find(int(a))] = find(int(b))
            root[find(int(b))] = find(int(c))
        groups: dict[int, list[int]] = {}
        for index in range(len(places)):
            groups.setdefault(find(index), []).append(index)
        return [np.array([places[g].min(axis=0), places[g].max(axis=0)]) for g in groups.values()]

    def volume(self) -> float:
        """Signed volume, positive when the faces look outwards."""
        a, b, c = (self.vertices[self.faces[:, k]].astype(float) for k in range(3))
        return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


class Model:
    """The file, by node name. Places are in millimetres of the package: the root's scale is left out."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON"
        self.tree = json.loads(data[20 : 20 + size])
        self.binary = data[20 + size + 8 :]
        self.nodes: dict[str, dict[str, Any]] = {node["name"]: node for node in self.tree["nodes"]}
        names = [node["name"] for node in self.tree["nodes"]]
        assert len(names) == len(self.nodes), "two nodes share a name"
        self.known: dict[str, Any] = {}
        self.parent = {names[child]: node["name"] for node in self.tree["nodes"] for child in node.get("children", ())}

    def accessor(self, index: int) -> Any:
        accessor = self.tree["accessors"][index]
        view = self.tree["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        width = WIDTHS[accessor["type"]]
        count = accessor["count"] * width
        flat = np.frombuffer(self.binary, TYPES[accessor["componentType"]], count, start)
        return flat if width == 1 else flat.reshape(-1, width)

    def meshes(self) -> list[str]:
        """Names of the nodes that draw something."""
        return [name for name, node in self.nodes.items() if "mesh" in node]

    def mesh(self, name: str) -> Mesh:
        (primitive,) = self.tree["meshes"][self.nodes[name]["mesh"]]["primitives"]
        attributes = primitive["attributes"]
        faces = self.accessor(primitive["indices"]).reshape(-1, 3).astype(int)
        material = self.tree["materials"][primitive["material"]]["name"]
        return Mesh(self.accessor(attributes["POSITION"]), self.accessor(attributes["NORMAL"]), faces, material)

    def origin(self, name: str) -> Any:
        place = np.zeros(3)
        while name:
            place = place + np.array(self.nodes[name].get("translation", (0, 0, 0)))
            name = self.parent.get(name, "")
        return place

    def copies(self, name: str) -> Iterator[Any]:
        """A 4 × 4 matrix per copy, the node's own place included."""
        extension = self.nodes[name].get("extensions", {}).get("EXT_mesh_gpu_instancing")
        base = np.eye(4)
        base[:3, 3] = self.origin(name)
        if extension is None:
            yield base
            return
        arrays = {key: self.accessor(index).astype(float) for key, index in extension["attributes"].items()}
        for index in range(len(arrays["TRANSLATION"])):
            matrix = np.eye(4)
            if "ROTATION" in arrays:
                x, y, z, w = arrays["ROTATION"][index]
                assert abs(x) + abs(z) < 1e-6, "copies turn about the upright axis only"
                matrix[0, 0] = matrix[2, 2] = 1 - 2 * y * y
                matrix[0, 2], matrix[2, 0] = 2 * y * w, -2 * y * w
            if "SCALE" in arrays:
                matrix[:3, :3] = matrix[:3, :3] @ np.diag(arrays["SCALE"][index])
            matrix[:3, 3] = arrays["TRANSLATION"][index]
            yield base @ matrix

    def boxes(self, name: str) -> Any:
        """Bounds of every connected solid of every copy, shape (n, 2, 3), package millimetres."""
        if name in self.known:
            return self.known[name]
        pieces = self.mesh(name).pieces()
        boxes = []
        for matrix in self.copies(name):
            for low, high in pieces:
                corners = np.array([low, high]) @ matrix[:3, :3].T + matrix[:3, 3]
                boxes.append([corners.min(axis=0), corners.max(axis=0)])
        self.known[name] = np.array(boxes)
        return self.known[name]

    def bounds(self, name: str) -> Any:
        boxes = self.boxes(name)
        return np.array([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])


@pytest.fixture(scope="session")
def models() -> Path:
    return MODELS


@pytest.fixture(scope="session")
def model() -> Model:
    return Model(MODELS / "h100_sxm5.glb")


@pytest.fixture(scope="session")
def manifest() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((MODELS / "manifest.json").read_text(encoding="utf-8"))
    return content
