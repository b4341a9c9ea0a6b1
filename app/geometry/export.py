"""Writes the model: `models/h100_sxm5.glb` and `models/manifest.json`, the same bytes on every machine and every run.

Run by `exhibit build`. The only file that needs trimesh.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
import trimesh.exchange.gltf
from numpy.typing import NDArray

from app.geometry.instancing import Copies, rounded, write_arrays
from app.geometry.materials import MATERIALS
from app.geometry.package import ROOT, SCALE, Node, Package
from app.geometry.package import build as build_package
from app.geometry.solids import Solid

MODEL = "h100_sxm5.glb"
MANIFEST = "manifest.json"
_trimesh: Any = trimesh  # its own annotations are partial: strict checking would refuse every call
_UINT16, _UINT32 = 5123, 5125
_VERTEX_DATA, _INDEX_DATA = 34962, 34963
_ASSET = {
    "version": "2.0",
    "generator": "flashattention-exhibit with trimesh",
    "copyright": "CC BY 4.0, FlashAttention exhibit",
}


def build(models_dir: Path) -> dict[str, Any]:
    """Write model and manifest into a folder, making it if needed.

    Returns:
        The manifest: per model its hash, size, bounds, triangles (copies counted), draw calls and nodes.
    """
    package = build_package()
    glb = glb_bytes(package)
    manifest = {MODEL: describe(package, glb)}
    models_dir.mkdir(parents=True, exist_ok=True)
    (models_dir / MODEL).write_bytes(glb)
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    (models_dir / MANIFEST).write_text(text, encoding="utf-8")
    return manifest


def glb_bytes(package: Package) -> bytes:
    """The binary glTF of a package."""
    scene = _trimesh.Scene(base_frame="world")
    meshes: dict[str, str] = {}
    for node in package.nodes:
        # one mesh per shape and material: nodes that share both share the mesh
        geometry = f"{node.shape}_{node.material}" if node.shape in meshes.values() else node.shape
        known = f"{node.shape}/{node.material}"
        if node.shape and known not in meshes:
            scene.geometry[geometry] = _mesh(package.shapes[node.shape], node.material)
            meshes[known] = geometry
        scene.graph.update(
            node.name,
            node.parent or "world",
            matrix=_matrix(node),
            geometry=meshes[known] if node.shape else None,
            metadata=node.extras,
        )
    copies = {node.name: node.copies for node in package.nodes if node.copies is not None}
    glb: bytes = _trimesh.exchange.gltf.export_glb(
        scene,
        include_normals=True,
        unitize_normals=False,
        buffer_postprocessor=lambda buffers, tree: _finish_buffers(buffers, tree, copies),
        tree_postprocessor=_tidy,
    )
    return glb


def _mesh(solid: Solid, material: str) -> Any:
    normals = np.round(solid.normals * 8192.0) / 8192.0 + 0.0
    mesh = _trimesh.Trimesh(
        vertices=rounded(solid.vertices).astype(np.float64),
        faces=solid.faces,
        vertex_normals=normals,
        process=False,
        validate=False,
    )
    mesh.visual = _trimesh.visual.TextureVisuals(material=_trimesh.visual.material.PBRMaterial(name=material))
    mesh.metadata.clear()
    return mesh


def _matrix(node: Node) -> NDArray[np.float64]:
    matrix = np.eye(4)
    matrix[:3, 3] = rounded(np.array(node.origin))
    if node.name == ROOT:
        matrix[:3, :3] *= SCALE
    return matrix


def _finish_buffers(buffers: Any, tree: dict[str, Any], copies: dict[str, Copies]) -> None:
    """Store indices in 16 bits, which is enough for every mesh here and half the size, and add the copies' places."""
    pieces, accessors = list(buffers), list(tree["accessors"].values())
    for mesh in tree["meshes"]:
        for primitive in mesh["primitives"]:
            accessor = accessors[primitive["indices"]]
            if accessor["componentType"] == _UINT32 and accessor["max"][0] < 65_535:
                piece = pieces[accessor["bufferView"]]
                data = np.frombuffer(buffers[piece], dtype="<u4").astype("<u2").tobytes()
                buffers[piece] = data + bytes(-len(data) % 4)
                accessor["componentType"] = _UINT16
    write_arrays(buffers, tree, copies)


def _tidy(tree: dict[str, Any]) -> None:
    """Order what trimesh leaves in hash order, give materials in full, and write places instead of matrices."""
    tree["asset"] = dict(_ASSET)
    tree["materials"] = [MATERIALS[material["name"]].gltf(material["name"]) for material in tree["materials"]]
    for mesh in tree["meshes"]:
        if not mesh.get("extras"):
            mesh.pop("extras", None)
        for primitive in mesh["primitives"]:
            uses = {primitive["indices"]: _INDEX_DATA, **dict.fromkeys(primitive["attributes"].values(), _VERTEX_DATA)}
            for accessor, target in uses.items():
                tree["bufferViews"][tree["accessors"][accessor]["bufferView"]]["target"] = target
    for node in tree["nodes"]:
        if "children" in node:
            node["children"] = sorted(node["children"])
        matrix = node.pop("matrix", None)
        if matrix is None:
            continue
        if any(matrix[12:15]):
            node["translation"] = [round(value, 6) for value in matrix[12:15]]
        if matrix[0] != 1.0:
            node["scale"] = [matrix[0], matrix[5], matrix[10]]


def describe(package: Package, glb: bytes) -> dict[str, Any]:
    """The manifest entry of a package: figures a page or a test can check without reading the model."""
    origins: dict[str, NDArray[np.float64]] = {"": np.zeros(3)}
    nodes: list[dict[str, Any]] = []
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for node in package.nodes:
        origins[node.name] = origins[node.parent] + np.array(node.origin)
        entry: dict[str, Any] = {"name": node.name, "parent": node.parent or None}
        if node.shape:
            solid = package.shapes[node.shape]
            number = len(node.copies) if node.copies is not None else 1
            bounds = node.copies.bounds(solid.bounds) if node.copies is not None else solid.bounds
            placed = bounds + origins[node.name]
            low, high = np.minimum(low, placed[0]), np.maximum(high, placed[1])
            entry |= {"material": node.material, "copies": number, "triangles": number * len(solid.faces)}
            entry["bounds_mm"] = _plain(placed)
        nodes.append(entry)
    drawn = [entry for entry in nodes if "triangles" in entry]
    return {
        "sha256": hashlib.sha256(glb).hexdigest(),
        "bytes": len(glb),
        "bounds_mm": _plain(np.array([low, high])),
        "triangles": sum(entry["triangles"] for entry in drawn),
        "draw_calls": len(drawn),
        "materials": sorted({entry["material"] for entry in drawn}),
        "nodes": nodes,
    }


def _plain(bounds: NDArray[np.float64]) -> list[list[float]]:
    return [[round(float(value), 3) + 0.0 for value in corner] for corner in bounds]
