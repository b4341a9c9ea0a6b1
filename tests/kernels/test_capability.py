"""Questions about the machine."""

import pytest

from app.kernels import capability


def test_what_is_missing_is_said_in_the_order_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "torch": (lambda: True, "no torch"),
        "cuda": (lambda: False, "no GPU"),
        "hopper": (lambda: False, "no Hopper"),
    }
    monkeypatch.setattr(capability, "QUESTIONS", answers)
    assert capability.missing(("torch",)) is None
    assert capability.missing(("torch", "cuda", "hopper")) == "no GPU"
    assert capability.missing(()) is None
    with pytest.raises(KeyError):
        capability.missing(("rubin",))


def test_another_gpu_can_be_assumed_and_forgotten() -> None:
    before = capability.compute_capability()
    capability.assume((9, 0))
    try:
        assert capability.is_hopper()
        assert capability.is_ampere_or_newer()
    finally:
        capability.assume(None)
    assert capability.compute_capability() == before


@pytest.mark.parametrize(("value", "on"), [("1", True), ("0", False), (None, False)])
def test_whether_triton_interprets(value: str | None, on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    if value is not None:
        monkeypatch.setenv("TRITON_INTERPRET", value)
    assert capability.interpreting() is on
