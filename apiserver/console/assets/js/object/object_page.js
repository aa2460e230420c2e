/** object_page: the page of one object, kept current by a watch: overview, YAML, relations, edit and schema. */
import { ApiError, get, kinds, pathOf, query, watch } from "../api.js";
import { fill, h, toast, tone } from "../dom.js";
import { Editor } from "../editor.js";
import { Relations, stateOf } from "../relations.js";
import { tableLink } from "../shell.js";
import { textOf } from "../yaml.js";
import { confirmDelete } from "./deletion.js";
import { managedYaml } from "./managed_yaml.js";
import { ObjectEvents } from "./object_events.js";
import { overview } from "./overview.js";

const TABS = /** @type {const} */ (["Overview", "YAML", "Events", "Relations", "Edit"]);
const PAUSE = 2000;

/**
 * @param {string[]} parts group, version, resource, namespace and name
 * @param {URLSearchParams} parameters
 * @returns {Promise<import("../shell.js").Page>}
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
   * @param {import("../api.js").Kind} kind
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
    this.events = new ObjectEvents({ isPage: true, signal: this.stop.signal });
    this.newestEvents = new ObjectEvents({ isPage: false, signal: this.stop.signal });
    /** @type {Editor | undefined} */
    this.editor = undefined;
    this.body = h("div", { class: "tab-body", role: "tabpanel", tabindex: "-1" });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views of the object" });
    this.state = h("span", { class: "badge" });
  }

  /** @returns {import("../shell.js").Page} */
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
        h(
          "button",
          { class: "button", type: "button", onclick: () => confirmDelete(this.kind, this.object) },
          "Delete",
        ),
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
      escape: () => (this.tab === "Overview" ? (location.hash = list) : this.open("Overview")),
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

  /** @param {import("../api.js").WatchEvent} event */
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
    if (this.tab === "Overview") this.drawOverview();
    if (this.tab === "YAML") this.drawYaml();
    if (this.tab === "Events") this.drawEvents();
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

  drawOverview() {
    fill(this.body, overview(this.kind, this.object, this.newestEvents.element));
    this.newestEvents.refresh(this.object);
  }

  drawEvents() {
    fill(this.body, this.events.element);
    this.events.refresh(this.object);
  }

  drawYaml() {
    const toggle = () => {
      this.showsManagers = !this.showsManagers;
      this.draw();
    };
    fill(this.body, managedYaml(this.object, { showsManagers: this.showsManagers, toggle }));
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
}
