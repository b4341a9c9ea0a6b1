"""The fourteen chapters as data: typed loading, order, neighbours.

One slug is one `chapters/NN-slug.toml` here and one template of the same name with the prose. A chapter
names its stand scene, the facts its prose cites, what to touch, and a note for the teacher.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.facts import registry

FOLDER = Path(__file__).parent / "chapters"
COUNT = 14

POSES = ("hero", "levels", "flow", "section", "die", "stack", "exploded", "grid")
FLOWS = ("", "standard", "fa1", "fa2")
DIRECTIONS = ("forward", "backward")
PLANE = re.compile(r"[xz]-?(0(\.\d+)?|1)")
PARTS = (
    "base",
    "substrate",
    "capacitors",
    "bga_balls",
    "interposer",
    "interposer_lanes",
    "c4_bumps",
    "moulding",
    "gpu_die",
    *(f"hbm_stack_{index}" for index in range(6)),
    "microbumps",
)


class ChapterError(ValueError):
    """A chapter file that is incomplete or contradicts the ledger; the message names file and key."""


@dataclass(frozen=True, slots=True)
class StandScene:
    """What the stand shows in a chapter: pose, parts kept bright, explode 0…1, flow, grid, labels.

    `direction` is the pass whose tiles fly; `plaque` raises the block diagram over the die; `cut` names a plane by axis
    and place, −1 … 1, as in "z0.36", or is empty; `open` is how far the stack at the sixth site is opened, 0…1.
    """

    pose: str
    explode: float
    lit: tuple[str, ...]
    flow: str
    grid: bool
    labels: bool
    direction: str = "forward"
    plaque: bool = False
    cut: str = ""
    open: float = 0.0


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter. `facts` are the ledger ids its prose cites, `touch` says in one sentence what to touch."""

    number: int
    slug: str
    title: str
    question: str
    touch: str
    stand: StandScene
    facts: tuple[str, ...]
    teacher: str
    minutes: int

    @property
    def anchor(self) -> str:
        """The id of its section on the page."""
        return f"chapter-{self.number}"

    @property
    def name(self) -> str:
        """The name its two files share, for example `04-the-standard-way`."""
        return f"{self.number:02d}-{self.slug}"

    @property
    def template(self) -> str:
        """The path of its prose, relative to the templates folder."""
        return f"chapters/{self.name}.html"

    @property
    def sources(self) -> tuple[registry.Source, ...]:
        """Every source its facts come from, once, in the order of first use."""
        ledger = registry.load()
        return tuple({fact.source.id: fact.source for fact in map(ledger.fact, self.facts)}.values())


@cache
def load() -> tuple[Chapter, ...]:
    """All chapters in order, read once."""
    return read(FOLDER, registry.load().facts)


def by_number(number: int) -> Chapter:
    """The chapter with this number (1 … 14). Raises KeyError."""
    for chapter in load():
        if chapter.number == number:
            return chapter
    raise KeyError(f"there is no chapter {number}")


def by_slug(slug: str) -> Chapter:
    """The chapter with this slug. Raises KeyError."""
    for chapter in load():
        if chapter.slug == slug:
            return chapter
    raise KeyError(f"there is no chapter {slug!r}")


def previous(chapter: Chapter) -> Chapter | None:
    """The chapter before this one, None for the first."""
    return by_number(chapter.number - 1) if chapter.number > 1 else None


def following(chapter: Chapter) -> Chapter | None:
    """The chapter after this one, None for the last."""
    return by_number(chapter.number + 1) if chapter.number < COUNT else None


def read(folder: Path, facts: Mapping[str, registry.Fact]) -> tuple[Chapter, ...]:
    """Reads and checks every chapter file of a folder. Raises ChapterError."""
    chapters = tuple(_chapter(path, facts) for path in sorted(folder.glob("*.toml")))
    numbers = [chapter.number for chapter in chapters]
    if numbers != list(range(1, COUNT + 1)):
        raise ChapterError(f"chapters must be numbered 1 … {COUNT}, found {numbers}")
    return chapters


def _chapter(path: Path, facts: Mapping[str, registry.Fact]) -> Chapter:
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        stand = table.pop("stand")
        scene = StandScene(**dict(stand, lit=tuple(stand["lit"]), explode=float(stand["explode"])))
        chapter = Chapter(stand=scene, **dict(table, facts=tuple(table["facts"])))
    except tomllib.TOMLDecodeError as error:
        raise ChapterError(f"{path.name}: {error}") from error
    except KeyError as error:
        raise ChapterError(f"{path.name}: {error} is missing") from error
    except TypeError as error:
        raise ChapterError(f"{path.name}: {error}") from error
    _check(chapter, path, facts)
    return chapter


def _check(chapter: Chapter, path: Path, facts: Mapping[str, registry.Fact]) -> None:
    if path.stem != chapter.name:
        raise ChapterError(f"{path.name}: number and slug say {chapter.name}")
    for key in ("title", "question", "touch", "teacher"):
        if not getattr(chapter, key).strip():
            raise ChapterError(f"{path.name}: {key} is empty")
    if chapter.minutes < 1:
        raise ChapterError(f"{path.name}: minutes must be at least 1")
    scene = chapter.stand
    if scene.pose not in POSES:
        raise ChapterError(f"{path.name}: pose {scene.pose!r} is none of {', '.join(POSES)}")
    if scene.flow not in FLOWS:
        raise ChapterError(f"{path.name}: flow {scene.flow!r} is none of standard, fa1, fa2 or empty")
    if scene.direction not in DIRECTIONS:
        raise ChapterError(f"{path.name}: direction {scene.direction!r} is neither forward nor backward")
    if not 0.0 <= scene.explode <= 1.0:
        raise ChapterError(f"{path.name}: explode must lie in 0 … 1, not {scene.explode}")
    if not 0.0 <= scene.open <= 1.0:
        raise ChapterError(f"{path.name}: open must lie in 0 … 1, not {scene.open}")
    if scene.cut and not PLANE.fullmatch(scene.cut):
        raise ChapterError(f"{path.name}: cut {scene.cut!r} names no plane")
    for part in scene.lit:
        if part not in PARTS:
            raise ChapterError(f"{path.name}: the model has no part {part!r}")
    for fact_id in chapter.facts:
        if fact_id not in facts:
            raise ChapterError(f"{path.name}: the ledger has no fact {fact_id!r}")
    if len(set(chapter.facts)) != len(chapter.facts):
        raise ChapterError(f"{path.name}: a fact is listed twice")
