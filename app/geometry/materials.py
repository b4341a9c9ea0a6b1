"""Named materials. The stand may refine them by name; these values alone already give a readable model."""

from __future__ import annotations

from typing import Any, NamedTuple


class Material(NamedTuple):
    """A physically based material: linear RGB, metalness and roughness from 0 to 1."""

    rgb: tuple[float, float, float]
    metallic: float
    roughness: float

    def gltf(self, name: str) -> dict[str, Any]:
        """The glTF form."""
        return {
            "name": name,
            "pbrMetallicRoughness": {
                "baseColorFactor": [*self.rgb, 1.0],
                "metallicFactor": self.metallic,
                "roughnessFactor": self.roughness,
            },
        }


MATERIALS: dict[str, Material] = {
    "base_plate": Material((0.028, 0.029, 0.032), 0.85, 0.42),
    "caption": Material((0.74, 0.7, 0.61), 0.35, 0.5),
    "substrate_mask": Material((0.008, 0.075, 0.036), 0.0, 0.36),
    "substrate_core": Material((0.062, 0.072, 0.034), 0.0, 0.62),
    "copper": Material((0.86, 0.42, 0.22), 1.0, 0.32),
    "ceramic": Material((0.44, 0.29, 0.16), 0.0, 0.55),
    "tin": Material((0.74, 0.74, 0.73), 1.0, 0.34),
    "solder": Material((0.62, 0.63, 0.65), 1.0, 0.45),
    "interposer_silicon": Material((0.12, 0.11, 0.3), 0.6, 0.3),
    "moulding": Material((0.03, 0.03, 0.032), 0.0, 0.8),
    "die_silicon": Material((0.016, 0.02, 0.034), 0.9, 0.14),
    "die_relief": Material((0.022, 0.027, 0.045), 0.9, 0.2),
    "hbm_graphite": Material((0.3, 0.31, 0.325), 0.55, 0.46),
    "hbm_base_die": Material((0.16, 0.17, 0.2), 0.6, 0.4),
    "hbm_film": Material((0.05, 0.05, 0.055), 0.0, 0.75),
    "laser_mark": Material((0.72, 0.73, 0.74), 0.2, 0.6),
}
