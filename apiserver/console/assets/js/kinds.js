/** kinds: the page of all kinds with counts, and of the namespaces. */
import { age, fill, h, tone } from "./dom.js";
import { METADATA_LIST, each, get, kinds, pathOf } from "./api.js";
import { tableLink } from "./shell.js";

const LANES = 3;

/**
 * All kinds; of one namespace, those that live in namespaces.
 * @param {string} namespace
 * @returns {Promise<import("./shell.js").Page>}
 */
export async function kindsPage(namespace) {
  const all = (await kinds()).filter((kind) => !namespace || kind.namespaced);
  const stop = new AbortController();
  const search = h("input", {
    class: "input",
    type: "search",
    placeholder: "Find a kind or a namespace",
    "aria-label": "Find a kind or a namespace",
    oninput: draw,
    autocomplete: "off",
  });
  const groups = h("div", { class: "groups" });
  const names = h("div", { class: "names card" });
  /** @type {Map<object, string>} */
  const counts = new Map();
  /** @type {any[]} */
  let spaces = [];
  let hidesEmpty = false;
  const toggle = h(
    "button",
    {
      class: "button ghost",
      type: "button",
      "aria-pressed": "false",
      onclick: () => {
        hidesEmpty = !hidesEmpty;
        toggle.setAttribute("aria-pressed", String(hidesEmpty));
        draw();
      },
    },
    "Hide empty",
  );

  function draw() {
    const text = search.value.trim().toLowerCase();
    const shown = all.filter((kind) =>
      text
        ? `${kind.kind} ${kind.resource} ${kind.short.join(" ")} ${kind.group}`.toLowerCase().includes(text)
        : !hidesEmpty || counts.get(kind) !== "0",
    );
    const titles = [...new Set(shown.map((kind) => kind.group))];
    fill(
      groups,
      ...titles.map((group) =>
        h(
          "section",
          {
            class: `group s${Math.min(3, shown.filter((kind) => kind.group === group).length)}`,
            "aria-label": group || "core",
          },
          h("h2", {}, group || "core"),
          h("div", { class: "kinds" }, shown.filter((kind) => kind.group === group).map(card)),
        ),
      ),
      !shown.length &&
        h(
          "div",
          { class: "empty" },
          h("strong", {}, "No such kind"),
          hidesEmpty ? "Kinds without objects are hidden." : null,
        ),
    );
    fill(
      names,
      ...spaces
        .filter((one) => !text || one.metadata.name.includes(text))
        .map((one) =>
          h(
            "a",
            { href: `#/ns/${one.metadata.name}`, "aria-current": one.metadata.name === namespace ? "page" : undefined },
            h("span", { class: `dot ${one.metadata.deletionTimestamp ? "warn" : tone("Active")}` }),
            h("span", { class: "clip" }, one.metadata.name),
            h("small", {}, one.metadata.deletionTimestamp ? "Terminating" : age(one.metadata.creationTimestamp)),
          ),
        ),
    );
  }

  /** @param {import("./api.js").Kind} kind */
  function card(kind) {
    const count = counts.get(kind) ?? "";
    return h(
      "a",
      {
        href: tableLink(kind, { ns: namespace }),
        title: `${kind.resource}.${kind.version}${kind.group ? `.${kind.group}` : ""}`,
      },
      h("span", { class: "clip" }, kind.kind),
      h("span", { class: `count ${count === "0" ? "zero" : ""}`, "data-count": kind.resource }, count),
    );
  }

  async function load() {
    spaces =
      (await get("/api/v1/namespaces?limit=500", { accept: METADATA_LIST, signal: stop.signal }).catch(() => null))
        ?.items ?? [];
    draw();
    await each(all, LANES, async (kind) => {
      if (stop.signal.aborted) return;
      const found = await get(`${pathOf(kind, namespace)}?limit=1`, {
        accept: METADATA_LIST,
        signal: stop.signal,
      }).catch(() => null);
      counts.set(kind, found ? String((found.items ?? []).length + (found.metadata?.remainingItemCount ?? 0)) : "");
      schedule();
    });
  }
  let timer = 0;
  function schedule() {
    timer ||= window.setTimeout(() => {
      timer = 0;
      if (!stop.signal.aborted) draw();
    }, 150);
  }
  draw();
  load().catch(() => null);
  const body = h(
    "div",
    { class: "pad" },
    h("div", { class: "find" }, search, h("kbd", { class: "wide-only", "aria-hidden": "true" }, "/")),
    h(
      "div",
      { class: "lists" },
      h("div", {}, groups),
      h("aside", { "aria-label": "Namespaces" }, h("div", { class: "group" }, h("h2", {}, "namespaces"), names)),
    ),
  );
  return {
    title: namespace || "Overview",
    crumbs: namespace ? [["Overview", "#/"]] : [],
    actions: [toggle],
    body,
    keys: { "/": () => search.focus() },
    escape: () => {
      if (namespace) location.hash = "#/";
    },
    leave: () => stop.abort(),
  };
}
