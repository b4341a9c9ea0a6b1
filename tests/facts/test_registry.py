"""A ledger that is incomplete does not load, and the message says which entry is at fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.facts.registry import LedgerError, read

SOURCE = '[source]\nid = "paper"\ntitle = "A paper"\nauthors = "Somebody"\nyear = 2022\ntaken = "A figure."\n'
FACT = """
[[fact]]
id = "one"
claim = "c"
value = 1
unit = "GB"
kind = "published"
locator = "p. 1"
verified = "primary"
"""


def ledger(folder: Path, text: str, disagreements: str = "", name: str = "paper"):
    published = folder / "published"
    published.mkdir(exist_ok=True)
    (published / f"{name}.toml").write_text(text, encoding="utf-8")
    (folder / "disagreements.toml").write_text(disagreements, encoding="utf-8")
    return read(published, folder / "disagreements.toml")


def test_a_complete_entry_loads(tmp_path: Path):
    loaded = ledger(tmp_path, SOURCE + FACT)
    assert loaded.fact("one").source.title == "A paper"
    assert loaded.fact("one").label == "published"
    assert [fact.id for fact in loaded.of_source("paper")] == ["one"]


@pytest.mark.parametrize("key", ["claim", "value", "unit", "kind", "locator", "verified"])
def test_a_missing_key_is_named(tmp_path: Path, key: str):
    lines = [line for line in FACT.splitlines() if not line.startswith(f"{key} =")]
    with pytest.raises(LedgerError, match=f"'one' has no {key}"):
        ledger(tmp_path, SOURCE + "\n".join(lines))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('unit = "GB"', 'unit = "furlongs"', "unit 'furlongs'"),
        ('kind = "published"', 'kind = "rumour"', "kind 'rumour'"),
        ('verified = "primary"', 'verified = "maybe"', "verified 'maybe'"),
        ('kind = "published"', 'kind = "counted"', "no expression"),
        ("value = 1", "value = 1\nchapter = 15", "no chapter 15"),
        ("value = 1", 'value = 1\nform = "heap"', "form 'heap'"),
        ("value = 1", "value = 1\ncolour = 3", "colour"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, old: str, new: str, message: str):
    with pytest.raises(LedgerError, match=message):
        ledger(tmp_path, SOURCE + FACT.replace(old, new))


def test_a_file_without_a_source_is_refused(tmp_path: Path):
    with pytest.raises(LedgerError, match="no \\[source\\]"):
        ledger(tmp_path, FACT)


def test_the_source_is_named_like_its_file(tmp_path: Path):
    with pytest.raises(LedgerError, match="must be the file's name"):
        ledger(tmp_path, SOURCE + FACT, name="other")


def test_an_id_is_used_once_across_files(tmp_path: Path):
    with pytest.raises(LedgerError, match="'one' is defined twice"):
        ledger(tmp_path, SOURCE + FACT + FACT)
    ledger(tmp_path, SOURCE + FACT)
    with pytest.raises(LedgerError, match="'one' is defined twice"):
        ledger(tmp_path, SOURCE.replace("paper", "second", 1) + FACT, name="second")


def test_a_disagreement_may_only_name_known_facts(tmp_path: Path):
    entry = '[[disagreement]]\nwhere = "w"\nwrong = "x"\ninstead = "y"\nfacts = ["two"]\n'
    with pytest.raises(LedgerError, match="unknown fact 'two'"):
        ledger(tmp_path, SOURCE + FACT, entry)


def test_an_unknown_fact_is_named(tmp_path: Path):
    with pytest.raises(KeyError, match="no fact 'two'"):
        ledger(tmp_path, SOURCE + FACT).fact("two")


def test_expressions_use_base_units(tmp_path: Path):
    rate = FACT.replace('"one"', '"rate"').replace("value = 1", "value = 2").replace('"GB"', '"TB/s"')
    time = (
        FACT.replace('"one"', '"time"')
        .replace('"GB"', '"ms"')
        .replace("value = 1", 'value = 0.5\nexpression = "one / rate"')
    )
    loaded = ledger(tmp_path, SOURCE + FACT + rate + time)
    assert loaded.recompute("time") == 0.5
    assert loaded.recompute("one") is None


def test_an_expression_with_an_unknown_name_is_refused(tmp_path: Path):
    broken = FACT.replace("value = 1", 'value = 1\nexpression = "two + 1"')
    with pytest.raises(LedgerError, match="one: unknown name 'two'"):
        ledger(tmp_path, SOURCE + broken).recompute("one")
