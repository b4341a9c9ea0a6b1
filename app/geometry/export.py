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

from app.geometry.materials import MATERIALS
from app.geometry.package import ROOT, SCALE, Node, Package
from app.geometry.package import build as build_package
from app.geometry.packing import INSTANCED, Tables, stored
from app.geometry.solids import Solid

MODEL = "h100_sxm5.glb"
MANIFEST = "manifest.json"
_trimesh: Any = trimesh  # its own annotations are partial: strict checking would refuse every call
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
    shapes: dict[str, str] = {}
    for node in package.nodes:
        # one mesh per shape and material: nodes that share both share the mesh
        geometry = f"{node.shape}_{node.material}" if node.shape in meshes.values() else node.shape
        known = f"{node.shape}/{node.material}"
        if node.shape and known not in meshes:
            scene.geometry[geometry] = _mesh(package.shapes[node.shape], node.material)
            meshes[known], shapes[geometry] = geometry, node.shape
        scene.graph.update(
            node.name,
            node.parent or "world",
            matrix=_matrix(node, package),
            geometry=meshes[known] if node.shape else None,
            metadata=node.extras,
        )
    tables = Tables()
    glb: bytes = _trimesh.exchange.gltf.export_glb(
        scene,
        include_normals=True,
        unitize_normals=False,
        buffer_postprocessor=lambda buffers, tree: _pack(buffers, tree, package, shapes, tables),
        tree_postprocessor=lambda tree: _tidy(tree, tables),
    )
    return glb


def _mesh(solid: Solid, material: str) -> Any:
    mesh = _trimesh.Trimesh(
        vertices=solid.vertices,
        faces=solid.faces,
        vertex_normals=solid.normals,
        process=False,
        validate=False,
    )
    mesh.visual = _trimesh.visual.TextureVisuals(material=_trimesh.visual.material.PBRMaterial(name=material))
    mesh.metadata.clear()
    return mesh


def _matrix(node: Node, package: Package) -> NDArray[np.float64]:
    """Place of a node; the nodes that draw are leaves, and their scale turns the steps of the tables into mm."""
    matrix = np.eye(4)
    matrix[:3, 3] = np.round(node.origin, 6)
    if node.shape:
        matrix[:3, :3] = np.diag(package.unit(node.shape))
    if node.name == ROOT:
        matrix[:3, :3] *= SCALE
    return matrix


def _pack(buffers: Any, tree: dict[str, Any], package: Package, shapes: dict[str, str], tables: Tables) -> None:
    """Replace trimesh's float tables by packed ones and add the places of copies."""
    for mesh in tree["meshes"]:
        shape = shapes[mesh.pop("name")]
        (primitive,) = mesh["primitives"]
        primitive["attributes"], primitive["indices"] = tables.mesh(package.shapes[shape], package.unit(shape))
        primitive.pop("mode", None)  # triangles, unless said otherwise
    nodes = {node.name: node for node in package.nodes}
    for written in tree["nodes"]:
        node = nodes.get(written["name"])
        if node is not None and node.copies is not None:
            attributes = tables.copies(node.copies, package.unit(node.shape))
            written["extensions"] = {INSTANCED: {"attributes": attributes}}
    tables.fill(buffers, tree)


def _tidy(tree: dict[str, Any], tables: Tables) -> None:
    """Order what trimesh leaves in hash order, give materials in full, and write places instead of matrices."""
    tree["asset"] = dict(_ASSET)
    tree["materials"] = [MATERIALS[material["name"]].gltf(material["name"]) for material in tree["materials"]]
    tables.describe(tree["bufferViews"])
    for mesh in tree["meshes"]:
        if not mesh.get("extras"):
            mesh.pop("extras", None)
    for node in tree["nodes"]:
        if "children" in node:
            node["children"] = sorted(node["children"])
        matrix = node.pop("matrix", None)
        if matrix is None:
            continue
        if any(matrix[12:15]):
            node["translation"] = [round(value, 6) for value in matrix[12:15]]
        scale = [matrix[0], matrix[5], matrix[10]]
        if scale != [1.0, 1.0, 1.0]:
            node["scale"] = scale


def describe(package: Package, glb: bytes) -> dict[str, Any]:
    """The manifest entry of a package: figures a page or a test can check without reading the model."""
    origins: dict[str, NDArray[np.float64]] = {"": np.zeros(3)}
    nodes: list[dict[str, Any]] = []
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for node in package.nodes:
        origins[node.name] = origins[node.parent] + np.array(node.origin)
        entry: dict[str, Any] = {"name": node.name, "parent": node.parent or None}
        if node.shape:
            unit = package.unit(node.shape)
            solid = stored(package.shapes[node.shape], unit)
            number = len(node.copies) if node.copies is not None else 1
            bounds = node.copies.bounds(solid.bounds, unit) if node.copies is not None else solid.bounds
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
