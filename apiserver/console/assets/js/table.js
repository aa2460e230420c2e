/** table: the page of one kind: its rows, live, with filters by label, field and text. */
import { age, fill, h, tone } from "./dom.js";
import { ApiError, METADATA_LIST, get, kinds } from "./api.js";
import { LiveRows } from "./live.js";
import { RowsGrid } from "./rows.js";
import { objectLink, tableLink } from "./shell.js";

const FRESH = 1200;
const WIDEST = 44;
/** The mean width of a letter, as a part of the width of a zero. */
const NARROW = 0.86;
/** Columns are as wide as so many rows need; until then they are arranged again. */
const FEW = 20;
const SAMPLE = 300;
/** The column that a narrow window shows beside the name. */
const PILLS = ["Status", "Phase", "Ready", "Type", "Reason"];
const NO_TONE = new Set(["Name", "Namespace", "Age", "Created At", "Data", "Restarts"]);

/**
 * @param {string[]} parts group, version and resource
 * @param {URLSearchParams} parameters
 * @returns {Promise<import("./shell.js").Page>}
 */
export async function tablePage([group, , resource], parameters) {
  const kind = (await kinds()).find(
    (one) => one.resource === resource && one.group === (group === "core" ? "" : group),
  );
  if (!kind) throw new Error(`The server has no ${resource}.`);
  return new TablePage(kind, parameters).page();
}

class TablePage {
  /**
   * @param {import("./api.js").Kind} kind
   * @param {URLSearchParams} parameters
   */
  constructor(kind, parameters) {
    this.kind = kind;
    this.given = { ns: parameters.get("ns") ?? "", l: parameters.get("l") ?? "", f: parameters.get("f") ?? "" };
    this.isWide = false;
    this.sort = { column: -1, isDown: false };
    /** @type {import("./live.js").Row[]} */
    this.view = [];
    this.isDirty = true;
    this.search = h("input", {
      class: "input",
      type: "search",
      "aria-label": "Filter by text",
      placeholder: "Filter by text",
      value: parameters.get("q") ?? "",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.filter(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onSearchKey(event),
    });
    this.labels = this.selector("Label selector", "Labels: app=web", this.given.l, "l");
    this.fields = this.selector("Field selector", "Fields: spec.nodeName=a", this.given.f, "f");
    this.live = h("span", { class: "live", role: "status" });
    this.problem = h("div", { class: "hidden" });
    this.namespace = h(
      "select",
      { class: "input narrow", "aria-label": "Namespace", onchange: () => this.go({ ns: this.namespace.value }) },
      h("option", { value: "" }, "All namespaces"),
    );
    /** @type {RowsGrid<import("./live.js").Row>} */
    this.grid = new RowsGrid({
      label: kind.kind,
      key: (row) => row.key,
      cells: (row) => this.cells(row),
      second: (row) => this.second(row),
      isFresh: (row) => row.at > 0 && performance.now() - row.at < FRESH,
      isGone: (row) => row.isGone,
      open: (row) => {
        location.hash = objectLink(kind, row.namespace, row.name);
      },
    });
    /** @type {{column: import("./live.js").Column, index: number}[]} */
    this.shown = [];
    this.state = "loading";
    this.arrangedFor = 0;
  }

  /** @returns {import("./shell.js").Page} */
  page() {
    this.rows = new LiveRows(
      this.kind,
      { namespace: this.given.ns, labels: this.given.l, fields: this.given.f },
      {
        changed: (hasNewOrder) => this.changed(hasNewOrder),
        state: (state, problem) => this.tell(state, problem),
      },
    );
    this.clock = window.setInterval(() => this.changed(false), 5000);
    if (this.kind.namespaced) this.fillNamespaces();
    const filters = h(
      "div",
      { class: "filters" },
      h("div", { class: "search" }, this.search, h("kbd", { class: "wide-only", "aria-hidden": "true" }, "/")),
      this.labels,
      this.fields,
      this.kind.namespaced && this.namespace,
      h(
        "button",
        { class: "button ghost phone-only", type: "button", onclick: () => filters.classList.toggle("all") },
        "Filters",
      ),
      this.live,
    );
    const body = h("div", { class: "fixed" }, filters, this.problem, this.grid.element);
    const wide = h(
      "button",
      {
        class: "button ghost wide-only",
        type: "button",
        "aria-pressed": "false",
        title: "w",
        onclick: () => this.widen(wide),
      },
      "More columns",
    );
    return {
      title: this.kind.kind,
      crumbs: [
        ["Overview", "#/"],
        ...(this.given.ns ? [/** @type {[string, string]} */ ([this.given.ns, `#/ns/${this.given.ns}`])] : []),
      ],
      actions: [
        h(
          "a",
          {
            class: "button ghost wide-only",
            href: `#/schema/${this.kind.group || "core"}/${this.kind.version}/${this.kind.resource}`,
          },
          "Schema",
        ),
        wide,
      ],
      body,
      keys: {
        "/": () => {
          this.search.focus();
          this.search.select();
        },
        j: () => this.grid.move(1),
        k: () => this.grid.move(-1),
        ArrowDown: () => this.grid.move(1),
        ArrowUp: () => this.grid.move(-1),
        PageDown: () => this.grid.move(20),
        PageUp: () => this.grid.move(-20),
        Home: () => this.grid.move(-1e9),
        End: () => this.grid.move(1e9),
        Enter: () => this.grid.openChosen(),
        w: () => this.widen(wide),
        r: () => this.go({}, true),
      },
      escape: () => {
        if (this.search.value) {
          this.search.value = "";
          this.filter();
        } else location.hash = this.given.ns ? `#/ns/${this.given.ns}` : "#/";
      },
      leave: () => {
        this.rows?.stop();
        this.grid.close();
        clearInterval(this.clock);
      },
    };
  }

  /**
   * @param {string} name
   * @param {string} hint
   * @param {string} value
   * @param {"l" | "f"} field
   */
  selector(name, hint, value, field) {
    const input = h("input", {
      class: "input narrow mono",
      "aria-label": name,
      placeholder: hint,
      value,
      autocomplete: "off",
      spellcheck: "false",
    });
    input.addEventListener("change", () => this.go({ [field]: input.value.trim() }));
    return input;
  }

  async fillNamespaces() {
    const found = await get("/api/v1/namespaces?limit=500", { accept: METADATA_LIST }).catch(() => ({ items: [] }));
    const names = (found.items ?? []).map((/** @type {any} */ one) => one.metadata.name);
    if (this.given.ns && !names.includes(this.given.ns)) names.push(this.given.ns);
    this.namespace.append(
      ...names.map((/** @type {string} */ name) =>
        h("option", { value: name, selected: name === this.given.ns }, name),
      ),
    );
  }

  /** Show the same kind with other filters. @param {Partial<{ns: string, l: string, f: string}>} other @param {boolean} [again] */
  go(other, again = false) {
    const link = tableLink(this.kind, { ...this.given, q: this.search.value, ...other });
    if (location.hash === link || again) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = link;
  }

  /** @param {KeyboardEvent} event */
  onSearchKey(event) {
    if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.grid.scroller.focus();
      this.grid.chosen = "";
      this.grid.move(1);
    }
  }

  filter() {
    history.replaceState(null, "", tableLink(this.kind, { ...this.given, q: this.search.value }));
    this.grid.scroller.scrollTop = 0;
    this.changed(true);
  }

  /** @param {HTMLElement} button */
  widen(button) {
    this.isWide = !this.isWide;
    button.setAttribute("aria-pressed", String(this.isWide));
    this.columns = undefined;
    this.changed(true);
  }

  /** @param {boolean} hasNewOrder */
  changed(hasNewOrder) {
    this.isDirty ||= hasNewOrder || this.sort.column >= 0 || Boolean(this.search.value);
    this.pending ||= requestAnimationFrame(() => {
      this.pending = 0;
      this.draw();
    });
  }

  draw() {
    const rows = this.rows;
    if (!rows) return;
    if (rows.columns !== this.columns || (this.arrangedFor < FEW && rows.rows.size > this.arrangedFor)) this.arrange();
    if (this.isDirty) {
      this.view = this.selected();
      this.isDirty = false;
    } else {
      this.view = this.view.map((row) => rows.rows.get(row.key) ?? row);
    }
    this.grid.show(this.view);
    this.drawState();
  }

  selected() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...(this.rows?.rows.values() ?? [])];
    const found = words.length
      ? all.filter((row) =>
          words.every((word) => (word.startsWith("!") ? !row.text.includes(word.slice(1)) : row.text.includes(word))),
        )
      : all;
    const { column, isDown } = this.sort;
    const by =
      column < 0
        ? (/** @type {import("./live.js").Row} */ row) => row.key
        : this.columns?.[column].name === "Age"
          ? (/** @type {import("./live.js").Row} */ row) => -Date.parse(row.created)
          : (/** @type {import("./live.js").Row} */ row) => row.cells[column];
    const sign = isDown ? -1 : 1;
    return found.sort((a, b) => {
      const [one, other] = [by(a), by(b)];
      if (one === other) return a.key < b.key ? -1 : 1;
      return (one < other ? -1 : 1) * sign;
    });
  }

  arrange() {
    const rows = this.rows;
    if (!rows) return;
    this.columns = rows.columns;
    this.arrangedFor = rows.rows.size;
    const all = rows.columns.map((column, index) => ({ column, index }));
    this.shown = all.filter(({ column }) => this.isWide || !column.priority);
    const sample = [...rows.rows.values()].slice(0, SAMPLE);
    const width = (/** @type {number} */ index, /** @type {string} */ name) =>
      Math.ceil(
        Math.min(WIDEST, Math.max(name.length + 1, ...sample.map((row) => this.text(row, index).length))) * NARROW,
      );
    const [name, ...others] = this.shown;
    const hasSpace = this.hasNamespaces;
    const space = hasSpace ? Math.min(WIDEST, Math.max(10, ...sample.map((row) => row.namespace.length))) : 0;
    const hasName = name?.column.name === "Name";
    const texts = this.shown.filter(({ column }) => column.name === "Message").map(({ index }) => index);
    const columns = [
      hasName ? `minmax(${Math.max(18, Math.min(56, name ? width(name.index, "") + 2 : 18))}ch, 3fr)` : "12ch",
      ...(hasSpace ? [`minmax(${space + 1}ch, 1fr)`] : []),
      ...others.map(({ column, index }) =>
        texts.includes(index)
          ? "minmax(30ch, 4fr)"
          : `minmax(${width(index, column.name) + (NO_TONE.has(column.name) ? 1 : 3)}ch, 1fr)`,
      ),
    ];
    const places = PILLS.map((word) => others.findIndex(({ column }) => column.name === word));
    const pill = places.find((place) => place >= 0) ?? -1;
    this.grid.arrange(columns.join(" "), pill < 0 ? -1 : pill + 1 + (hasSpace ? 1 : 0));
    const header = (/** @type {string} */ title, /** @type {number} */ index, /** @type {string} */ about) =>
      h(
        "span",
        {
          role: "columnheader",
          "aria-sort": this.sort.column === index ? (this.sort.isDown ? "descending" : "ascending") : "none",
        },
        h("button", { type: "button", title: about, onclick: () => this.sortBy(index) }, title),
      );
    fill(
      this.grid.head,
      header(hasName ? "Name" : (name?.column.name ?? ""), -1, "Sort by name"),
      hasSpace &&
        h(
          "span",
          { role: "columnheader", class: "faint" },
          h("button", { type: "button", onclick: () => this.sortBy(-1) }, "Namespace"),
        ),
      ...others.map(({ column, index }) => header(column.name, index, column.description)),
    );
  }

  get hasNamespaces() {
    return this.kind.namespaced && !this.given.ns;
  }

  /** @param {number} column */
  sortBy(column) {
    this.sort = { column, isDown: this.sort.column === column && !this.sort.isDown };
    this.columns = undefined;
    this.changed(true);
  }

  /** @param {import("./live.js").Row} row */
  cells(row) {
    const [name, ...others] = this.shown;
    return [
      { text: name ? this.text(row, name.index) : row.name, tone: "" },
      ...(this.hasNamespaces ? [{ text: row.namespace, tone: "" }] : []),
      ...others.map(({ column, index }) => {
        const text = this.text(row, index);
        return { text, tone: NO_TONE.has(column.name) ? "" : tone(text) };
      }),
    ];
  }

  /** @param {import("./live.js").Row} row */
  second(row) {
    const cells = this.cells(row);
    return cells
      .slice(1)
      .filter((cell, index) => index + 1 !== this.grid.pill && cell.text && cell.text !== "<none>")
      .map((cell) => cell.text)
      .join(" · ");
  }

  /**
   * @param {import("./live.js").Row} row
   * @param {number} index
   */
  text(row, index) {
    if (this.rows?.columns[index]?.name === "Age") return age(row.created);
    const value = row.cells[index];
    return value === null || value === undefined
      ? ""
      : typeof value === "object"
        ? JSON.stringify(value)
        : String(value);
  }

  /**
   * @param {"loading" | "live" | "waiting" | "paused"} state
   * @param {ApiError} [problem]
   */
  tell(state, problem) {
    this.state = state;
    const isFinal = problem && [400, 403, 404, 405].includes(problem.code);
    this.problem.className = isFinal ? "pad" : "hidden";
    fill(this.problem, isFinal ? h("div", { class: "note bad", role: "alert" }, problem.message) : null);
    this.drawState();
  }

  drawState() {
    const total = this.rows?.rows.size ?? 0;
    const shown =
      this.view.length === total
        ? total.toLocaleString("en")
        : `${this.view.length.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    const words = { loading: "loading", live: "live", waiting: "reconnecting", paused: "paused" }[this.state];
    const text = `${shown} · ${words}${this.rows?.isCut ? " · cut" : ""}`;
    if (this.live.textContent === text) return;
    fill(this.live, h("span", { class: `dot ${this.state === "live" ? "ok" : "warn"}` }), text);
  }
}
