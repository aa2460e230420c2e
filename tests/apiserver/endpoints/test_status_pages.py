from pathlib import Path

import pytest

from tests.apiserver.serving import Answer, as_admin, ask, running

STRUCTURED = "application/json;v=v1beta1;g=config.k8s.io;as="


async def page(tmp_path: Path, target: str, accept: str) -> Answer:
    async with running(tmp_path) as server:
        return await ask(server.secure.port, target, tls=as_admin(server), headers={"Accept": accept})


@pytest.mark.parametrize("accept", ["", "text/plain", "*/*"])
async def test_people_get_a_text(tmp_path: Path, accept: str) -> None:
    answer = await page(tmp_path, "/statusz", accept)

    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("\napiserver statusz\nWarning: ")
    assert "Up" in answer.text


async def test_who_names_an_object_gets_it(tmp_path: Path) -> None:
    answer = await page(tmp_path, "/statusz", f"{STRUCTURED}Statusz")

    assert answer.json["kind"] == "Statusz"
    assert answer.json["apiVersion"] == "config.k8s.io/v1beta1"
    assert "/metrics" in answer.json["paths"]
    assert "/apis" not in answer.json["paths"]


async def test_flags_are_shown_as_go_writes_them(tmp_path: Path) -> None:
    answer = await page(tmp_path, "/flagz", f"{STRUCTURED}Flagz")

    assert answer.json["flags"]["authorization-mode"] == "[RBAC]"
    assert answer.json["flags"]["anonymous-auth"] == "true"
    assert answer.json["flags"]["token-auth-file"] == ""


async def test_an_old_version_is_deprecated(tmp_path: Path) -> None:
    answer = await page(tmp_path, "/flagz", "application/yaml;v=v1alpha1;g=config.k8s.io;as=Flagz")

    assert answer.status == 200
    assert "deprecated" in answer.headers["warning"]


@pytest.mark.parametrize("accept", ["application/json", "application/json;v=v1;g=config.k8s.io;as=Statusz"])
async def test_no_other_object_is_acceptable(tmp_path: Path, accept: str) -> None:
    answer = await page(tmp_path, "/statusz", accept)

    assert (answer.status, answer.json["reason"]) == (406, "NotAcceptable")


async def test_stacks_of_all_tasks_can_be_seen(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        moved = await ask(server.secure.port, "/debug/pprof", tls=as_admin(server))
        index = await ask(server.secure.port, moved.headers["location"], tls=as_admin(server))
        stacks = await ask(server.secure.port, "/debug/pprof/goroutine?debug=1", tls=as_admin(server))
        threads = await ask(server.secure.port, "/debug/pprof/threadcreate", tls=as_admin(server))
        other = await ask(server.secure.port, "/debug/pprof/other", tls=as_admin(server))
        posted = await ask(server.secure.port, "/debug/pprof", method="POST", tls=as_admin(server))

    assert (moved.status, index.status, other.status) == (302, 200, 404)
    assert ("content-type" in moved.headers, "content-type" in posted.headers, posted.text) == (True, False, "")
    assert "x-kubernetes-pf-flowschema-uid" not in index.headers
    assert "goroutine" in index.text
    assert stacks.text.startswith("tasks: total ")
    assert "MainThread" in threads.text


async def test_the_verbosity_can_only_be_put(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        got = await ask(server.secure.port, "/debug/flags/v", tls=as_admin(server))
        wrong = await ask(server.secure.port, "/debug/flags/v", method="PUT", tls=as_admin(server), body=b"high")

    assert (got.status, got.text) == (406, "unsupported http method\n")
    assert (wrong.status, wrong.text) == (400, 'strconv.ParseUint: parsing "high": invalid syntax\n')


async def test_profiling_can_be_left_out(tmp_path: Path) -> None:
    async with running(tmp_path, profiling=False) as server:
        profiles = await ask(server.secure.port, "/debug/pprof/", tls=as_admin(server))
        flags = await ask(server.secure.port, "/debug/flags/", tls=as_admin(server))

    assert (profiles.status, flags.status) == (404, 200)
