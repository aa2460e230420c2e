"""report_summary: a report in a few lines of Markdown, for the summary page of GitHub Actions.

Pure. Must hold: values are in code or escaped, so that they cannot become markup.
"""

from collections.abc import Iterator

from aio_apiserver.apiserver.console.reports.collected_report import ReportData
from aio_apiserver.apiserver.console.reports.findings import client_words, request_words

_REQUESTS = 15
_OBJECTS = 10
_LONGEST = 160
_MARKS = {"bad": "🔴", "warn": "🟠", "info": "🔵"}


def report_summary(data: ReportData, file: str) -> str:
    """The Markdown of one report, with the name of its file."""
    return "\n".join(_lines(data, file)) + "\n\n"


def _lines(data: ReportData, file: str) -> Iterator[str]:
    yield f"### {_code(data['title'])}"
    yield ""
    yield from (f"- {_MARKS[one['tone']]} {_code(one['text'])}" for one in data["findings"])
    yield f"- the whole report: {_code(file)}"
    yield from _failure(data)
    requests = [one for one in data["timeline"]["requests"] if one["verb"] != "watch"][-_REQUESTS:]
    if requests:
        yield f"\n<details><summary>The last {len(requests)} requests</summary>\n"
        yield "| status | request | client | ms |\n|---|---|---|---|"
        for one in requests:
            took = f"{one['seconds'] * 1000:.0f}" if one["seconds"] is not None else ""
            yield f"| {one['status'] or ''} | {_code(request_words(one))} | {_code(client_words(one))} | {took} |"
        yield "\n</details>"
    changed = [one for one in data["objects"] if one["differences"]][:_OBJECTS]
    if changed:
        yield "\n<details><summary>Changed objects</summary>\n"
        for one in changed:
            yield f"- {_code(one['resource'] + ' ' + one['name'])}"
            yield from (f"  - {_code(_difference(*row))}" for row in one["differences"][:_OBJECTS])
        yield "\n</details>"


def _failure(data: ReportData) -> Iterator[str]:
    """What failed, in the first line that pytest marks with E, and the place, in the last line."""
    lines = data["texts"][0]["text"].strip().splitlines() if data["texts"] else []
    marked = [line for line in lines if line.startswith("E ")][:1]
    yield from (f"- {_code(line)}" for line in dict.fromkeys([*marked, *lines[-1:]]))


def _difference(path: str, before: str | None, after: str | None) -> str:
    return f"{path}: {'' if before is None else before} → {'' if after is None else after}"


def _code(text: str) -> str:
    """A text as code on one line of a list or a cell."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    plain = " ".join(short.split()).replace("`", "'").replace("|", "¦")
    return f"`{plain}`" if plain else ""
