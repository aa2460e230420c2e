"""report_page: a report as one HTML file that needs no network and no other file.

The scripts and styles of the console are put into it, and named by their checksums in its Content-Security-Policy.
Must hold: the data of a report cannot become markup or script.
"""

import base64
import hashlib
import html
import re
from functools import cache

import orjson

from aio_apiserver.apiserver.console.pages.asset_files import asset
from aio_apiserver.apiserver.console.reports.collected_report import ReportData

_STYLES = ("css/base.css", "css/object.css", "css/timeline.css", "css/report.css")
_TIMELINE = ("facts", "entries", "time_controls", "filters", "marks", "lanes", "event_list", "details", "timeline")
_SCRIPTS = ("js/dom.js", "js/yaml.js", *(f"js/timeline/{name}.js" for name in _TIMELINE), "js/report.js")
_FONT_FACE = re.compile(r"@font-face \{[^}]*\}\n")
_MODULE_WORDS = re.compile(r"^import [^;]*;$\n|^export (?=class|const|function|async)", re.MULTILINE)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src '{script_sum}'; style-src '{style_sum}'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="report"></div>
<script type="application/json" id="data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def report_page(data: ReportData) -> bytes:
    """The file of a report."""
    style, script = _parts()
    return _PAGE.format(
        title=html.escape(data["title"]),
        style=style,
        style_sum=_checksum(style),
        script=script,
        script_sum=_checksum(script),
        data=_embedded(data),
    ).encode()


@cache
def _parts() -> tuple[str, str]:
    """The styles and the scripts, each as one text."""
    style = "".join(_FONT_FACE.sub("", _text(name)) for name in _STYLES)
    script = "".join(_MODULE_WORDS.sub("", _text(name)) for name in _SCRIPTS)
    return style, script


def _text(name: str) -> str:
    return asset(name).data.decode()


def _checksum(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _embedded(data: ReportData) -> str:
    """JSON in which no `<` can end the element around it."""
    return orjson.dumps(data).decode().replace("<", "\\u003c")
