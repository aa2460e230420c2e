"""The console's pages in a real Chromium, against a live server."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.apiserver.console.pages.asset_files import asset_names
from aio_apiserver.testing import Server
from tests.apiserver.console.conftest import DESKTOP, IMAGES

WEB = "#/o/apps/v1/deployments/default/web"
PAGES = {
    "overview": ("#/", ".kinds a >> text=ConfigMap"),
    "namespace": ("#/ns/default", ".kinds a >> text=Deployment"),
    "table": ("#/t/apps/v1/deployments", ".row >> text=web"),
    "object": (WEB, "text=MinimumReplicasAvailable"),
    "yaml": (f"{WEB}?tab=YAML", ".code .key >> text=replicas >> nth=0"),
    "relations": (f"{WEB}?tab=Relations", "svg >> text=ReplicaSet"),
    "edit": (f"{WEB}?tab=Edit", ".paint .key >> text=replicas"),
    "custom resources": ("#/crds", "text=Garden"),
    "schema": ("#/schema/example.org/v1/gardens", "text=max 100"),
    "timeline": ("#/timeline", ".tl-list li >> text=deployments.apps default/web >> nth=0"),
    "statistics": ("#/statistics", "figure >> text=Requests by verb"),
    "access": ("#/access?user=robin&verb=get&resource=pods", "text=robin may not get pods"),
}

ACCESSIBILITY = (Path(__file__).parent / "accessibility.js").read_text()


def obstacles(window: Any) -> list[str]:
    """What keeps people from reading and using what the window shows, in light and in dark."""
    found = set()
    for scheme in ("light", "dark"):
        window.emulate_media(color_scheme=scheme)
        found |= {f"{scheme}: {one}" for one in window.evaluate(ACCESSIBILITY)}
    window.emulate_media(color_scheme="light")
    return sorted(found)


@pytest.fixture
def shown(window: Any) -> Iterator[Any]:
    """The window on the overview. No test may leave an error in it."""
    window.problems.clear()
    window.goto(re.sub(r"#.*", "", window.url) + "#/")
    window.wait_for_selector("h1 >> text=Overview")
    yield window
    assert window.problems == []


def goto(window: Any, fragment: str) -> None:
    window.evaluate("hash => { location.hash = hash }", fragment)


def hash_of(window: Any) -> str:
    return str(window.evaluate("location.hash"))


def test_all_modules_load_under_the_policy(shown: Any) -> None:
    pages = {"js/main.js", "js/report.js"}  # they draw when they are loaded
    for name in sorted(name for name in asset_names() if name.startswith("js/") and name not in pages):
        shown.evaluate("name => import(`/ui/${name}`).then(() => null)", name)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_its_contents_on_a_desktop_and_fits_a_phone(shown: Any, page: str) -> None:
    fragment, expected = PAGES[page]

    goto(shown, fragment)
    shown.wait_for_selector(expected)
    shown.set_viewport_size({"width": 390, "height": 780})
    shown.wait_for_selector(expected, state="attached")
    beyond = shown.evaluate("document.documentElement.scrollWidth - innerWidth")
    found = obstacles(shown)
    shown.set_viewport_size(DESKTOP)

    assert beyond <= 0
    assert [*found, *obstacles(shown)] == []
    assert shown.evaluate("document.querySelectorAll('main, nav, h1').length") == 3


def test_a_table_is_live(shown: Any, cluster: Server) -> None:
    goto(shown, "#/t/core/v1/configmaps?ns=default&l=live%3Dyes")
    shown.wait_for_selector(".live >> text=live")

    made: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "fresh", "namespace": "default", "labels": {"live": "yes"}},
    }
    cluster.apply(made, {**made, "metadata": {**made["metadata"], "name": "other", "labels": {}}})
    shown.wait_for_selector(".row >> text=fresh")
    cluster.apply({**made, "data": {"a": "1"}})
    shown.wait_for_selector(".row:has-text('fresh') .cell >> text=/^1$/")
    assert shown.locator(".row:visible").count() == 1
    with cluster.client() as client:
        client.request("DELETE", "/api/v1/namespaces/default/configmaps/fresh")
    shown.wait_for_selector(".row:visible", state="hidden")


def test_the_views_of_a_large_object_show_its_beginning(shown: Any, cluster: Server) -> None:
    items = [{"name": f"NAME_{number}", "value": "x"} for number in range(3_000)]
    template = {
        "metadata": {"labels": {"app": "long"}},
        "spec": {"containers": [{"name": "a", "image": "a", "env": items}]},
    }
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "wide", "namespace": "default"},
            "data": {f"key-{number}": "x" for number in range(30_000)},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "long", "namespace": "default"},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "long"}}, "template": template},
        },
    )

    for place in ("core/v1/configmaps/default/wide", "apps/v1/deployments/default/long"):
        goto(shown, f"#/o/{place}?tab=YAML")
        shown.wait_for_selector(".legend .manager")
        assert shown.locator(".code .line").count() == 5_000
        assert shown.locator(".code .line[data-owners]").count() > 4_900
        shown.wait_for_selector("text=more lines, which kubectl get -o yaml shows")
        goto(shown, f"#/o/{place}?tab=Edit")
        shown.wait_for_selector(".editor.plain textarea")
    goto(shown, "#/o/core/v1/configmaps/default/wide")
    shown.wait_for_selector("text=and 29800 more")
    with cluster.client() as client:
        client.request("DELETE", "/api/v1/namespaces/default/configmaps/wide")
        client.request("DELETE", "/apis/apps/v1/namespaces/default/deployments/long")


def test_a_text_filters_the_rows(shown: Any) -> None:
    goto(shown, "#/t/core/v1/pods?ns=default")
    shown.wait_for_selector(".row >> nth=2")

    shown.keyboard.press("/")
    shown.keyboard.type("running !kube")
    shown.wait_for_selector(".live >> text=/^3 /")
    shown.keyboard.type(" nothing-has-this")
    shown.wait_for_selector(".live >> text=0 of 3")
    assert "q=running" in hash_of(shown)


def test_dialogs_and_the_menu_have_no_obstacles(shown: Any) -> None:
    found = []
    for key, expected in (("?", "dialog >> text=Filter the table"), ("Control+k", ".palette li >> nth=0")):
        shown.keyboard.press(key)
        shown.wait_for_selector(expected)
        found += obstacles(shown)
        shown.keyboard.press("Escape")
        shown.wait_for_selector("dialog", state="detached")
    goto(shown, WEB)
    shown.focus("button >> text=Delete")
    shown.keyboard.press("Enter")
    shown.wait_for_selector("dialog >> text=Keep it")
    found += obstacles(shown)
    shown.keyboard.press("Escape")

    assert found == []


def test_all_is_done_without_a_mouse(shown: Any) -> None:
    press, wait = shown.keyboard.press, shown.wait_for_selector
    press("Control+k")
    wait(".palette li >> text=Deployment")
    shown.keyboard.type("deployments")
    press("Enter")
    wait(".row >> text=web")
    press("j")
    wait(".row.chosen >> text=web")
    press("Enter")
    wait("h1 >> text=web")
    press("2")
    wait(".code")
    press("Escape")
    wait("text=MinimumReplicasAvailable")
    press("?")
    wait("dialog >> text=Filter the table")
    press("Escape")
    wait("dialog", state="detached")
    press("Escape")
    wait(".row >> text=web")
    press("g")
    wait("h1 >> text=Overview")
    press("Tab")
    assert shown.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_values_are_shown_as_text_not_as_markup(shown: Any) -> None:
    goto(shown, "#/o/core/v1/configmaps/default/settings?tab=YAML")

    shown.wait_for_selector(".code >> text=<b>bold</b>")
    assert shown.locator(".code img, .code b").count() == 0


def test_the_margin_names_the_owners_of_a_field(shown: Any) -> None:
    goto(shown, f"{WEB}?tab=YAML")

    line = shown.locator(".line:has(.key:text-is('replicas'))").first
    line.wait_for()
    assert "apiserver-testing (Apply" in line.locator(".margin").get_attribute("title")
    revision = shown.locator(".line", has_text="deployment.kubernetes.io/revision").locator(".margin")
    assert "kube-controller-manager" in revision.get_attribute("title")
    shown.click("button.manager >> text=kube-controller-manager")
    shown.wait_for_selector(".line.on >> text=deployment.kubernetes.io/revision")
    assert obstacles(shown) == []


def edit(window: Any, fragment: str, before: str, after: str) -> None:
    goto(window, f"{fragment}?tab=Edit")
    window.wait_for_selector("textarea")
    window.wait_for_function("text => document.querySelector('textarea').value.includes(text)", arg=before)
    text = window.input_value("textarea")
    window.fill("textarea", text.replace(before, after))
    window.keyboard.press("Control+Enter")


def test_a_conflict_is_shown_at_its_field_and_can_be_taken_over(shown: Any, cluster: Server) -> None:
    edit(shown, WEB, "replicas: 3", "replicas: 2")

    wrong = shown.locator(".line.wrong")
    wrong.wait_for()
    assert "replicas" in wrong.inner_text()
    assert 'conflict with "apiserver-testing"' in wrong.inner_text()
    shown.problems.clear()  # the browser reports the 409 itself
    shown.click("text=Take these fields over")
    shown.wait_for_selector(".code")
    with cluster.client() as client:
        stored = client.request("GET", "/apis/apps/v1/namespaces/default/deployments/web")
    assert stored["spec"]["replicas"] == 2
    [own] = [one for one in stored["metadata"]["managedFields"] if one["manager"] == "console"]
    assert own["fieldsV1"] == {"f:spec": {"f:replicas": {}}}


def test_an_invalid_value_is_shown_at_its_field(shown: Any) -> None:
    edit(shown, "#/o/apps/v1/deployments/default/web", "image: nginx:1.27", "image: ' '")

    wrong = shown.locator(".line.wrong")
    wrong.wait_for()
    assert "image" in wrong.inner_text()
    assert obstacles(shown) == []
    shown.problems.clear()  # the browser reports the refusal itself
    shown.keyboard.press("Escape")


def test_the_timeline_is_held_and_stepped_by_keys(shown: Any, cluster: Server) -> None:
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "stepped", "namespace": "default"},
            "data": {"a": "1"},
        }
    )
    goto(shown, "#/timeline")
    shown.wait_for_selector(".tl-list li >> text=patch configmaps default/stepped")
    shown.wait_for_selector(".tl-list li >> text=configmaps default/stepped created")

    shown.keyboard.press("/")
    shown.keyboard.type("stepped !list")
    shown.keyboard.press("Escape")
    shown.keyboard.press("ArrowLeft")
    shown.wait_for_selector(".tl-detail >> text=configmaps default/stepped created")
    assert "apiserver-testing" in shown.inner_text(".tl-detail")
    then = shown.get_attribute(".tl-detail a >> text=Link to it", "href")
    assert shown.get_attribute("text=Hold", "aria-pressed") == "true"
    shown.keyboard.press("ArrowLeft")
    shown.wait_for_selector(".tl-detail >> text=patch configmaps default/stepped")
    assert obstacles(shown) == []
    goto(shown, then)
    shown.wait_for_selector("h1 >> text=stepped then")
    shown.wait_for_selector(".code .line:has-text('a: \"1\"') .margin[title*='apiserver-testing']", state="attached")


def test_access_names_the_rule_that_allows_and_what_is_lacking(shown: Any, cluster: Server) -> None:
    group = "rbac.authorization.k8s.io"
    cluster.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "Role",
            "metadata": {"name": "reader", "namespace": "default"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}],
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "robin-reads", "namespace": "default"},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "reader"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": "robin"}],
        },
    )

    goto(shown, "#/access?user=robin&verb=get&resource=pods&namespace=default")
    shown.wait_for_selector(".verdict.yes")
    assert "robin-reads" in shown.inner_text("section:has(h2:text('Rules that allow it'))")
    shown.fill("#verb", "delete")
    shown.keyboard.press("Enter")
    shown.wait_for_selector(".verdict.no")
    assert "the verb delete" in shown.inner_text(".lacks")


def test_a_user_signs_in_with_a_token_that_is_kept_nowhere(browser: Any, cluster: Server) -> None:
    context = browser.new_context(ignore_https_errors=True, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(20_000)
    used = cluster.ui
    page.goto(used)
    page.wait_for_selector(".shell")
    page.click("[aria-label='Sign out']")
    page.wait_for_selector("#token")
    page.goto("about:blank")
    page.goto(used)
    page.wait_for_selector("text=The link was used already")
    assert obstacles(page) == []

    page.fill("#token", cluster.admin_token)
    page.keyboard.press("Enter")
    page.wait_for_selector(".shell")
    page.reload()
    page.wait_for_selector(".shell")

    kept = page.evaluate(
        "JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, history.state])"
    )
    context.close()
    assert cluster.admin_token not in kept
    assert kept.startswith('[{},{},""')


_SHOP = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "shop", "namespace": "tour"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "shop"}},
        "template": {
            "metadata": {"labels": {"app": "shop"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx:1.27"}]},
        },
    },
}
_SHOP_PATH = "/apis/apps/v1/namespaces/tour/deployments/shop"
_PATCH = "application/strategic-merge-patch+json"


def picture(window: Any, name: str) -> None:
    if IMAGES:
        window.mouse.move(0, 0)
        window.evaluate("document.querySelector('.page').scrollTop = 0")
        window.screenshot(path=IMAGES / f"tour-{name}.png")


def template(**fields: Any) -> dict[str, Any]:
    return {"spec": {"template": fields}}


def is_rolled_out(shop: Any) -> bool:
    return bool(shop["status"]["observedGeneration"] == 2 and shop["status"]["updatedReplicas"] == 3)


def test_the_tour_shows_what_its_page_says(shown: Any, cluster: Server) -> None:
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "tour"}})
    with cluster.client() as client:
        client.request("POST", f"{_SHOP_PATH.removesuffix('/shop')}?fieldManager=kubectl-create", _SHOP)
        goto(shown, "#/t/core/v1/pods?ns=tour")
        shown.wait_for_selector(".row:has-text('Running') >> nth=2")
        picture(shown, "table")

        image = template(spec={"containers": [{"name": "nginx", "image": "nginx:1.28"}]})
        client.request("PATCH", f"{_SHOP_PATH}?fieldManager=kubectl-set", image, content_type=_PATCH)
        cluster.wait_for("deployments.apps", "shop", is_rolled_out, namespace="tour")
        goto(shown, "#/o/apps/v1/deployments/tour/shop?tab=Relations")
        shown.wait_for_selector("svg .kind:text-is('ReplicaSet') >> nth=1")
        picture(shown, "relations")

        broken = template(metadata={"annotations": {"simulate.aio-apiserver/phase": "NotReady"}})
        client.request("PATCH", f"{_SHOP_PATH}?fieldManager=kubectl-patch", broken, content_type=_PATCH)
        goto(shown, "#/t/core/v1/pods?ns=tour")
        shown.wait_for_selector(".row:visible:has-text('0/1'):has-text('Running')")
        picture(shown, "probe")

        quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "4"}}}
        client.request("POST", "/api/v1/namespaces/tour/resourcequotas", quota)
        client.request(
            "PATCH", f"{_SHOP_PATH}?fieldManager=kubectl-scale", {"spec": {"replicas": 6}}, content_type=_PATCH
        )
        goto(shown, "#/t/core/v1/events?ns=tour&f=reason%3DFailedCreate")
        shown.wait_for_selector(".row >> text=exceeded quota: few >> nth=0")
        picture(shown, "quota")

    edit(shown, "#/o/apps/v1/deployments/tour/shop", "replicas: 6", "replicas: 2")
    shown.wait_for_selector(".line.wrong >> text=kubectl-scale")
    picture(shown, "conflict")
    shown.problems.clear()  # the browser reports the 409, and pods that are gone

    goto(shown, "#/timeline")
    shown.wait_for_selector(".tl-list li >> text=deployments.apps tour/shop changed >> nth=0")
    shown.fill("[aria-label='Filter the timeline']", "tour !events")
    shown.click(".tl-list li:has-text('patch deployments.apps tour/shop') >> nth=0")
    shown.click("[aria-label='Zoom in']", click_count=2)
    shown.wait_for_selector(".tl-detail >> text=409 Conflict")
    picture(shown, "timeline")
    shown.keyboard.press("Escape")


def test_a_late_answer_about_events_does_not_hide_another_tab(shown: Any) -> None:
    held: list[Any] = []
    shown.route("**/events?*", lambda route: held.append(route))
    with shown.expect_request("**/events?*"):
        goto(shown, f"{WEB}?tab=Events")
    shown.wait_for_selector("[role=tab][aria-selected=true] >> text=Events")
    shown.keyboard.press("2")
    shown.wait_for_selector(".code .key >> nth=0")
    with shown.expect_response("**/events?*"):
        for route in held:  # the page of an earlier test may have asked before
            route.continue_()
    shown.unroute("**/events?*")

    assert shown.locator(".code .key").count() > 0
    shown.keyboard.press("3")
    shown.wait_for_selector(".events li >> nth=0")


def test_events_are_not_read_for_each_change_of_the_object(shown: Any, cluster: Server) -> None:
    read: list[str] = []
    made: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "busy", "namespace": "default"},
    }
    cluster.apply(made)
    with cluster.client() as client:
        uid = client.request("GET", "/api/v1/namespaces/default/configmaps/busy")["metadata"]["uid"]
    about_it = f"/events?fieldSelector=involvedObject.uid%3D{uid}"
    shown.on("request", lambda request: read.append(request.url) if about_it in request.url else None)
    began = time.monotonic()
    goto(shown, "#/o/core/v1/configmaps/default/busy")
    shown.wait_for_selector("[role=tab][aria-selected=true] >> text=Overview")
    for number in range(20):
        cluster.apply({**made, "metadata": {**made["metadata"], "labels": {"count": f"number-{number}"}}})
        shown.wait_for_selector(f"text=number-{number}")

    seconds = time.monotonic() - began
    assert 1 <= len(read) <= 1 + seconds / 2  # the page reads them at most once in two seconds
