/** object: the page of one object, kept current by a watch: overview, YAML, relations, edit and schema. */
import { age, fill, h, toast, tone } from "./dom.js";
import { ApiError, get, kinds, pathOf, query, send, watch } from "./api.js";
import { tableLink } from "./shell.js";
import { linesOf, textOf } from "./yaml.js";
import { managersOf, ownersOf } from "./managers.js";
import { Relations, stateOf } from "./relations.js";
import { Editor } from "./editor.js";

const TABS = /** @type {const} */ (["Overview", "YAML", "Events", "Relations", "Edit"]);
const PAUSE = 2000;

/**
 * @param {string[]} parts group, version, resource, namespace and name
 * @param {URLSearchParams} parameters
 * @returns {Promise<import("./shell.js").Page>}
 */
export async function objectPage([group, , resource, namespace, name], parameters) {
  const kind = (await kinds()).find(
    (one) => one.resource === resource && one.group === (group === "core" ? "" : group),
  );
  if (!kind) throw new Error(`The server has no ${resource}.`);
  const place = namespace === "_" ? "" : namespace;
  const object = await get(pathOf(kind, place, name));
  return new ObjectPage(kind, place, object, parameters.get("tab") ?? "Overview").page();
}

class ObjectPage {
  /**
   * @param {import("./api.js").Kind} kind
   * @param {string} namespace
   * @param {any} object
   * @param {string} tab
   */
  constructor(kind, namespace, object, tab) {
    this.kind = kind;
    this.namespace = namespace;
    this.object = object;
    this.isGone = false;
    this.tab = TABS.find((one) => one === tab) ?? "Overview";
    this.stop = new AbortController();
    this.showsManagers = false;
    /** @type {Editor | undefined} */
    this.editor = undefined;
    this.body = h("div", { class: "tab-body", role: "tabpanel", tabindex: "-1" });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views of the object" });
    this.state = h("span", { class: "badge" });
  }

  /** @returns {import("./shell.js").Page} */
  page() {
    const { name } = this.object.metadata;
    this.follow();
    this.draw();
    const list = tableLink(this.kind, { ns: this.namespace });
    return {
      title: name,
      crumbs: [
        ...(this.namespace ? [/** @type {[string, string]} */ ([this.namespace, `#/ns/${this.namespace}`])] : []),
        [this.kind.kind, list],
      ],
      actions: [
        this.state,
        h("button", { class: "button wide-only", type: "button", onclick: () => this.copy() }, "Copy YAML"),
        h("button", { class: "button", type: "button", onclick: () => this.confirmDelete() }, "Delete"),
      ],
      body: h("div", {}, this.tabs, this.body),
      keys: {
        ...Object.fromEntries(TABS.map((tab, index) => [String(index + 1), () => this.open(tab)])),
        e: () => this.open("Edit"),
        y: () => this.open("YAML"),
        6: () => {
          location.hash = this.schemaLink();
        },
      },
      escape: () =>
        history.length > 1 && document.referrer === "" && this.tab === "Overview"
          ? (location.hash = list)
          : this.tab === "Overview"
            ? (location.hash = list)
            : this.open("Overview"),
      leave: () => {
        this.stop.abort();
        this.relations?.close();
      },
    };
  }

  schemaLink() {
    return `#/schema/${this.kind.group || "core"}/${this.kind.version}/${this.kind.resource}`;
  }

  /** @param {typeof TABS[number]} tab */
  open(tab) {
    this.tab = tab;
    history.replaceState(null, "", `${location.hash.split("?")[0]}${query({ tab })}`);
    this.draw();
  }

  async follow() {
    const path = pathOf(this.kind, this.namespace);
    const fieldSelector = `metadata.name=${this.object.metadata.name}`;
    while (!this.stop.signal.aborted && !this.isGone && this.kind.verbs.includes("watch")) {
      try {
        await watch(path + query({ watch: 1, fieldSelector, resourceVersion: this.object.metadata.resourceVersion }), {
          signal: this.stop.signal,
          onEvents: (events) => events.forEach((event) => this.take(event)),
        });
      } catch (error) {
        if (this.stop.signal.aborted || (error instanceof ApiError && error.code < 500 && error.code !== 410)) return;
        await this.reload();
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }

  async reload() {
    try {
      this.object = await get(pathOf(this.kind, this.namespace, this.object.metadata.name), {
        signal: this.stop.signal,
      });
    } catch (error) {
      this.isGone = error instanceof ApiError && error.code === 404;
    }
    if (!this.stop.signal.aborted) this.draw();
  }

  /** @param {import("./api.js").WatchEvent} event */
  take(event) {
    if (event.type === "ERROR") throw new ApiError(event.object.code, event.object);
    if (event.type === "DELETED") this.isGone = true;
    else if (
      event.type === "BOOKMARK" ||
      event.object.metadata.resourceVersion === this.object.metadata.resourceVersion
    )
      return;
    else this.object = event.object;
    if (this.tab !== "Relations" || this.isGone) this.draw();
  }

  draw() {
    const word = this.isGone ? "Deleted" : stateOf(this.object);
    this.state.className = `badge ${this.isGone ? "bad" : tone(word)} ${word ? "" : "hidden"}`;
    fill(this.state, word);
    fill(
      this.tabs,
      TABS.map((tab, index) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            "aria-selected": String(tab === this.tab),
            tabindex: tab === this.tab ? "0" : "-1",
            onclick: () => this.open(tab),
            onkeydown: (/** @type {KeyboardEvent} */ event) => this.onTabKey(event, index),
          },
          tab,
          h("kbd", { class: "wide-only", "aria-hidden": "true" }, String(index + 1)),
        ),
      ),
      h("a", { href: this.schemaLink() }, "Schema", h("kbd", { class: "wide-only", "aria-hidden": "true" }, "6")),
    );
    this.body.setAttribute("aria-label", this.tab);
    if (this.tab !== "Relations") {
      this.relations?.close();
      this.relations = undefined;
    }
    if (this.tab === "Edit") return this.drawEditor();
    if (this.tab === "Relations") return this.drawRelations();
    if (this.tab === "Overview") fill(this.body, this.overview());
    if (this.tab === "YAML") this.drawYaml();
    if (this.tab === "Events") this.drawEvents(this.body, true);
  }

  /**
   * @param {KeyboardEvent} event
   * @param {number} index
   */
  onTabKey(event, index) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.open(TABS[(index + step + TABS.length) % TABS.length]);
    /** @type {HTMLElement | null} */ (this.tabs.querySelector("[aria-selected=true]"))?.focus();
  }

  overview() {
    const { metadata, status = {} } = this.object;
    const facts = [
      ["Created", `${age(metadata.creationTimestamp)} ago`, metadata.creationTimestamp],
      ["Version", metadata.resourceVersion, "resourceVersion"],
      ["UID", metadata.uid, ""],
      ...(metadata.generation
        ? [
            [
              "Generation",
              `${metadata.generation}${status.observedGeneration !== undefined ? `, observed ${status.observedGeneration}` : ""}`,
              "",
            ],
          ]
        : []),
      ...(metadata.deletionTimestamp
        ? [["Deletion", `${age(metadata.deletionTimestamp)} ago`, metadata.deletionTimestamp]]
        : []),
      ...(metadata.finalizers?.length ? [["Finalizers", metadata.finalizers.join(", "), ""]] : []),
      ...factsOf(this.object),
    ];
    const events = h("div", {});
    this.drawEvents(events, false);
    return h(
      "div",
      { class: "columns" },
      h(
        "div",
        { class: "stack" },
        h(
          "section",
          { class: "card part" },
          h(
            "dl",
            { class: "facts" },
            facts.flatMap(([key, value, title]) => [
              h("dt", {}, key),
              h("dd", { title, class: key === "UID" ? "mono clip" : "" }, value),
            ]),
          ),
        ),
        conditions(status.conditions),
        containers(this.object),
        events,
      ),
      h(
        "div",
        { class: "stack" },
        pairs("Labels", metadata.labels, (key, value) =>
          tableLink(this.kind, { ns: this.namespace, l: `${key}=${value}` }),
        ),
        pairs("Annotations", metadata.annotations),
        managersCard(this.object),
      ),
    );
  }

  /**
   * @param {HTMLElement} place
   * @param {boolean} isPage
   */
  async drawEvents(place, isPage) {
    const { uid } = this.object.metadata;
    const found = await get(
      `/api/v1${this.namespace ? `/namespaces/${this.namespace}` : ""}/events${query({ fieldSelector: `involvedObject.uid=${uid}`, limit: 200 })}`,
      { signal: this.stop.signal },
    ).catch(() => ({ items: [] }));
    const when = (/** @type {any} */ one) =>
      one.lastTimestamp ?? one.series?.lastObservedTime ?? one.eventTime ?? one.metadata.creationTimestamp;
    const items = (found.items ?? [])
      .sort((/** @type {any} */ a, /** @type {any} */ b) => (when(a) < when(b) ? 1 : -1))
      .slice(0, isPage ? 200 : 8);
    if (!items.length)
      return fill(
        place,
        isPage ? h("div", { class: "empty" }, h("strong", {}, "No events"), "Events are kept for an hour.") : null,
      );
    fill(
      place,
      h(
        "section",
        { class: "card part" },
        h("h2", {}, "Events"),
        h(
          "ol",
          { class: "events" },
          items.map((/** @type {any} */ one) =>
            h(
              "li",
              {},
              h("span", { class: `dot ${one.type === "Warning" ? "warn" : "ok"}` }),
              h("div", { class: "grow" }, h("strong", {}, one.reason), " ", h("span", { class: "quiet" }, one.message)),
              h(
                "span",
                { class: "faint" },
                `${(one.count ?? one.series?.count ?? 1) > 1 ? `${one.count ?? one.series.count} × ` : ""}${age(when(one))}`,
              ),
            ),
          ),
        ),
      ),
    );
  }

  drawYaml() {
    const managers = managersOf(this.object);
    const { managedFields: _, ...metadata } = this.object.metadata;
    const shown = this.showsManagers ? this.object : { ...this.object, metadata };
    const lines = linesOf(shown);
    const code = h(
      "div",
      { class: "code", role: "group", "aria-label": "YAML" },
      lines.map((line) => {
        const owners = ownersOf(managers, this.object, line.path);
        const about = owners
          .map(
            (one) =>
              `${one.name} (${one.operation}${one.subresource ? ` of ${one.subresource}` : ""}, ${age(one.time)} ago)`,
          )
          .join("\n");
        return h(
          "div",
          { class: "line", "data-owners": owners.map((one) => one.colour).join(" ") || undefined },
          h(
            "span",
            { class: "margin", title: about, "aria-label": about || undefined },
            [...new Set(owners.map((one) => one.colour))].map((colour) => h("i", { class: `m${colour}` })),
          ),
          h(
            "span",
            { class: "text" },
            " ".repeat(line.depth),
            line.tokens.map((token) => h("span", { class: token.kind }, token.text)),
          ),
        );
      }),
    );
    const names = [...new Map(managers.map((one) => [one.name, one])).values()];
    const legend = h(
      "div",
      { class: "legend", role: "group", "aria-label": "Field managers" },
      names.map((one) =>
        h(
          "button",
          {
            class: `manager m${one.colour}`,
            type: "button",
            "aria-pressed": "false",
            onclick: (/** @type {Event} */ event) =>
              this.mark(code, /** @type {HTMLElement} */ (event.currentTarget), one.colour),
          },
          h("i", {}),
          one.name,
        ),
      ),
      h(
        "button",
        {
          class: "button ghost",
          type: "button",
          "aria-pressed": String(this.showsManagers),
          onclick: () => {
            this.showsManagers = !this.showsManagers;
            this.draw();
          },
        },
        "managedFields",
      ),
    );
    fill(this.body, legend, code);
  }

  /**
   * Show the fields of one manager, the others paler.
   * @param {HTMLElement} code
   * @param {HTMLElement} button
   * @param {number} colour
   */
  mark(code, button, colour) {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    for (const one of button.parentElement?.querySelectorAll(".manager") ?? [])
      one.setAttribute("aria-pressed", String(one === button && isOn));
    code.classList.toggle("picked", isOn);
    for (const line of code.children) {
      const { owners } = /** @type {HTMLElement} */ (line).dataset;
      line.classList.toggle("on", isOn && (owners ?? "").split(" ").includes(String(colour)));
    }
  }

  drawRelations() {
    if (this.relations) return;
    this.relations = new Relations(this.kind, this.object);
    fill(this.body, this.relations.element);
  }

  drawEditor() {
    this.editor ??= new Editor(this.kind, this.namespace, this.object, () => this.open("YAML"));
    this.editor.noticed(this.object);
    if (this.body.firstChild === this.editor.element) return;
    fill(this.body, this.editor.element);
    this.editor.area.focus();
  }

  async copy() {
    const { managedFields: _, ...metadata } = this.object.metadata;
    await navigator.clipboard.writeText(textOf({ ...this.object, metadata })).then(
      () => toast("Copied"),
      () => toast("The browser does not allow copying"),
    );
  }

  confirmDelete() {
    const { name } = this.object.metadata;
    const dialog = h(
      "dialog",
      { class: "help", "aria-label": "Delete", onclose: () => dialog.remove() },
      h("h1", {}, `Delete ${name}?`),
      h(
        "p",
        { class: "quiet" },
        `${this.kind.kind}${this.namespace ? ` in ${this.namespace}` : ""}. Its dependents are deleted by the garbage collector.`,
      ),
      h(
        "form",
        { class: "row-of-buttons", method: "dialog" },
        h("button", { class: "button", autofocus: true }, "Keep it"),
        h(
          "button",
          {
            class: "button danger",
            type: "button",
            onclick: () => {
              dialog.close();
              this.remove();
            },
          },
          "Delete",
        ),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  }

  async remove() {
    const { name, uid } = this.object.metadata;
    try {
      await send(pathOf(this.kind, this.namespace, name), {
        method: "DELETE",
        body: { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background", preconditions: { uid } },
      });
      toast(`${name} is being deleted`);
    } catch (error) {
      toast(/** @type {Error} */ (error).message);
    }
  }
}

/** What is most worth knowing about some kinds. @param {any} object @returns {[string, string, string][]} */
function factsOf({ kind, spec = {}, status = {}, type, data }) {
  /** @type {Record<string, [string, any][]>} */
  const known = {
    Pod: [
      ["Node", spec.nodeName],
      ["IP", status.podIP],
      ["Service account", spec.serviceAccountName],
      ["QoS", status.qosClass],
    ],
    Deployment: [
      [
        "Replicas",
        `${status.readyReplicas ?? 0} of ${spec.replicas ?? 1} ready, ${status.updatedReplicas ?? 0} updated`,
      ],
      ["Strategy", spec.strategy?.type],
    ],
    ReplicaSet: [["Replicas", `${status.readyReplicas ?? 0} of ${spec.replicas ?? 1} ready`]],
    StatefulSet: [["Replicas", `${status.readyReplicas ?? 0} of ${spec.replicas ?? 1} ready`]],
    Service: [
      ["Type", spec.type],
      ["Cluster IP", spec.clusterIP],
      ["Ports", (spec.ports ?? []).map((/** @type {any} */ port) => `${port.port}/${port.protocol}`).join(", ")],
    ],
    Node: [
      ["Kubelet", status.nodeInfo?.kubeletVersion],
      ["Addresses", (status.addresses ?? []).map((/** @type {any} */ one) => one.address).join(", ")],
    ],
    Secret: [
      ["Type", type],
      ["Keys", Object.keys(data ?? {}).join(", ")],
    ],
    ConfigMap: [["Keys", Object.keys(data ?? {}).join(", ")]],
  };
  return (known[kind] ?? []).filter(([, value]) => value).map(([key, value]) => [key, String(value), ""]);
}

/** @param {any[] | undefined} list */
function conditions(list) {
  if (!Array.isArray(list) || !list.length) return null;
  return h(
    "section",
    { class: "card part" },
    h("h2", {}, "Conditions"),
    h(
      "ul",
      { class: "conditions" },
      list.map((one) =>
        h(
          "li",
          {},
          h(
            "span",
            { class: `badge ${toneOfCondition(one)}` },
            h("span", { class: `dot ${toneOfCondition(one)}` }),
            one.type,
          ),
          h(
            "div",
            { class: "grow" },
            h("strong", {}, one.reason ?? one.status),
            " ",
            h("span", { class: "quiet" }, one.message ?? ""),
          ),
          h("span", { class: "faint" }, age(one.lastTransitionTime)),
        ),
      ),
    ),
  );
}

/** @param {{type: string, status: string}} one */
function toneOfCondition({ type, status }) {
  if (status === "Unknown") return "warn";
  const isBadWhenTrue = /Pressure|Failure|Failed|Unavailable|Terminating|NotReady|Degraded|Stalled/i.test(type);
  return (status === "True") !== isBadWhenTrue ? "ok" : "bad";
}

/** @param {any} object */
function containers({ kind, spec, status }) {
  if (kind !== "Pod") return null;
  const states = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return h(
    "section",
    { class: "card part" },
    h("h2", {}, "Containers"),
    h(
      "ul",
      { class: "conditions" },
      [...(spec.initContainers ?? []), ...spec.containers].map((one) => {
        const state = states.find((found) => found.name === one.name);
        const [word, about] = Object.entries(state?.state ?? { waiting: {} })[0];
        const reason = /** @type {any} */ (about)?.reason ?? word;
        return h(
          "li",
          {},
          h("span", { class: `badge ${tone(reason)}` }, h("span", { class: `dot ${tone(reason)}` }), one.name),
          h("div", { class: "grow clip" }, h("strong", {}, reason), " ", h("span", { class: "quiet mono" }, one.image)),
          h("span", { class: "faint" }, state?.restartCount ? `${state.restartCount} restarts` : ""),
        );
      }),
    ),
  );
}

/**
 * @param {string} title
 * @param {Record<string, string> | undefined} values
 * @param {(key: string, value: string) => string} [link]
 */
function pairs(title, values, link) {
  const entries = Object.entries(values ?? {});
  if (!entries.length) return null;
  return h(
    "section",
    { class: "card part" },
    h("h2", {}, title),
    h(
      "ul",
      { class: "pairs" },
      entries.map(([key, value]) =>
        h(
          "li",
          {},
          h("span", { class: "quiet" }, key),
          link
            ? h("a", { class: "link clip", href: link(key, value) }, value || '""')
            : h("span", { class: "clip", title: value }, value || '""'),
        ),
      ),
    ),
  );
}

/** @param {any} object */
function managersCard(object) {
  const managers = managersOf(object);
  if (!managers.length) return null;
  return h(
    "section",
    { class: "card part" },
    h("h2", {}, "Field managers"),
    h(
      "ul",
      { class: "pairs" },
      managers.map((one) =>
        h(
          "li",
          {},
          h("span", { class: `manager m${one.colour}` }, h("i", {}), one.name),
          h(
            "span",
            { class: "faint" },
            `${one.operation}${one.subresource ? ` ${one.subresource}` : ""} · ${age(one.time)}`,
          ),
        ),
      ),
    ),
  );
}
