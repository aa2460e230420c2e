"""README's figures beside kube-apiserver are those of docs/performance.md."""

import re

from tests.paths import ROOT

RATIO = re.compile(r"(\d+\.\d+)x")


def ratios(text: str) -> list[str]:
    found: list[str] = RATIO.findall(text)
    return found


def test_each_ratio_in_the_readme_was_measured_by_the_last_run() -> None:
    measured = [float(ratio) for ratio in ratios((ROOT / "docs" / "performance.md").read_text().split("## Explan")[0])]
    shown = ratios((ROOT / "README.md").read_text().partition("## Figures")[2])

    assert len(shown) > 8
    assert [one for one in shown if one not in {f"{ratio:.{len(one.partition('.')[2])}f}" for ratio in measured}] == []
