"""The fourteen chapters as data: typed loading, order, neighbours.

One slug is one `chapters/NN-slug.toml` here and one template of the same name with the prose. A chapter
names its stand scene, its steps, the facts its prose cites, what to touch, and a note for the teacher.

A step is a place in the prose (an element with `data-step`), what changes on the stand there, and a cue: one sentence
that says it in present mode. Each step's scene is complete, so that any step can be jumped to.
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
# What `lit` may name besides parts: regions of the die, by kind.
REGIONS = ("l2", "sm", "gpc", "memory_controller")
# The stacks NVIDIA names; the sixth site is never a source of data. Prose and scenes call them "hbm".
NAMED_STACKS = tuple(f"hbm_stack_{index}" for index in range(5))
LABORATORY = "laboratory"
# When the fold "look closer" stands open by itself: for readers who know GPUs, or only for those who write kernels.
FOLD_LEVELS = ("know", "write")


class ChapterError(ValueError):
    """A chapter file that is incomplete or contradicts the ledger; the message names file and key."""


@dataclass(frozen=True, slots=True)
class StandScene:
    """What the stand shows: pose, parts kept bright, explode 0…1, flow, grid, labels.

    `moment` is the share of the flow's schedule (0…1) to stand at when the scene is entered; None leaves it alone.
    `cut` names a plane by axis and place, −1 … 1, as in "z0.36", or is empty; `open` is how far the stack at the sixth
    site is opened into its layers, 0…1. `direction` is the pass whose tiles fly; `plaque` raises the block diagram.
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
    moment: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a chapter. `cue` may hold markup and `{{ fact(…) }}`, nothing else that a template can do."""

    id: str
    cue: str
    stand: StandScene


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter. `facts` are the ledger ids its prose and its touch cite; `touch` says in one sentence what to touch.

    `touch_name` names the template `touches/NAME.html` and the browser module; `fold_open_for` the reading level from
    which the fold stands open.
    """

    number: int
    slug: str
    title: str
    question: str
    touch: str
    touch_name: str
    fold_open_for: str
    stand: StandScene
    steps: tuple[Step, ...]
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
    def touch_template(self) -> str | None:
        """The path of what stands in for the touch without a script; None for the laboratory, which has its own."""
        return None if self.touch_name == LABORATORY else f"touches/{self.touch_name}.html"

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
        scene = _scene(stand)
        steps = tuple(
            Step(**dict(step, stand=_scene({**stand, **step.get("stand", {})}))) for step in table.pop("steps", [])
        )
        chapter = Chapter(stand=scene, steps=steps, **dict(table, facts=tuple(table["facts"])))
    except tomllib.TOMLDecodeError as error:
        raise ChapterError(f"{path.name}: {error}") from error
    except KeyError as error:
        raise ChapterError(f"{path.name}: {error} is missing") from error
    except TypeError as error:
        raise ChapterError(f"{path.name}: {error}") from error
    _check(chapter, path, facts)
    return chapter


def _scene(table: Mapping[str, Any]) -> StandScene:
    moment = table.get("moment")
    return StandScene(
        **dict(
            table,
            lit=tuple(part for name in table["lit"] for part in (NAMED_STACKS if name == "hbm" else (name,))),
            explode=float(table["explode"]),
            moment=None if moment is None else float(moment),
        )
    )


def _check(chapter: Chapter, path: Path, facts: Mapping[str, registry.Fact]) -> None:
    if path.stem != chapter.name:
        raise ChapterError(f"{path.name}: number and slug say {chapter.name}")
    for key in ("title", "question", "touch", "teacher"):
        if not getattr(chapter, key).strip():
            raise ChapterError(f"{path.name}: {key} is empty")
    if chapter.minutes < 1:
        raise ChapterError(f"{path.name}: minutes must be at least 1")
    if chapter.fold_open_for not in FOLD_LEVELS:
        raise ChapterError(f"{path.name}: fold_open_for {chapter.fold_open_for!r} is none of {', '.join(FOLD_LEVELS)}")
    _check_scene(chapter.stand, path.name)
    for step in chapter.steps:
        if not step.cue.strip():
            raise ChapterError(f"{path.name}: step {step.id!r} has no cue")
        _check_scene(step.stand, f"{path.name}, step {step.id!r}")
    if len({step.id for step in chapter.steps}) != len(chapter.steps):
        raise ChapterError(f"{path.name}: two steps have the same id")
    for fact_id in chapter.facts:
        if fact_id not in facts:
            raise ChapterError(f"{path.name}: the ledger has no fact {fact_id!r}")
    if len(set(chapter.facts)) != len(chapter.facts):
        raise ChapterError(f"{path.name}: a fact is listed twice")


def _check_scene(scene: StandScene, where: str) -> None:
    if scene.pose not in POSES:
        raise ChapterError(f"{where}: pose {scene.pose!r} is none of {', '.join(POSES)}")
    if scene.flow not in FLOWS:
        raise ChapterError(f"{where}: flow {scene.flow!r} is none of standard, fa1, fa2 or empty")
    if scene.direction not in DIRECTIONS:
        raise ChapterError(f"{where}: direction {scene.direction!r} is neither forward nor backward")
    if scene.cut and not PLANE.fullmatch(scene.cut):
        raise ChapterError(f"{where}: cut {scene.cut!r} names no plane")
    for name, share in (("explode", scene.explode), ("open", scene.open), ("moment", scene.moment)):
        if share is not None and not 0.0 <= share <= 1.0:
            raise ChapterError(f"{where}: {name} must lie in 0 … 1, not {share}")
    for part in scene.lit:
        if part not in PARTS + REGIONS:
            raise ChapterError(f"{where}: the model has no part {part!r}")
