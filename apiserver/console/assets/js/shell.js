/** shell: the frame around all pages: navigation, header, command palette, help and keys. */
import { fill, h, icon, isTyping } from "./dom.js";
import { METADATA_LIST, get, kinds, query } from "./api.js";

/** @typedef {{title: string, crumbs?: [string, string][], actions?: Node[], body: HTMLElement, keys?: Record<string, () => void>, leave?: () => void, escape?: () => void}} Page */

/** @type {["home" | "pod" | "deployment" | "set" | "job" | "service" | "config" | "secret" | "disk" | "node" | "event", string, string][][]} */
const MENU = [
  [
    ["pod", "Pods", "core/v1/pods"],
    ["deployment", "Deployments", "apps/v1/deployments"],
    ["set", "Replica sets", "apps/v1/replicasets"],
    ["set", "Stateful sets", "apps/v1/statefulsets"],
    ["set", "Daemon sets", "apps/v1/daemonsets"],
    ["job", "Jobs", "batch/v1/jobs"],
    ["job", "Cron jobs", "batch/v1/cronjobs"],
  ],
  [
    ["config", "Config maps", "core/v1/configmaps"],
    ["secret", "Secrets", "core/v1/secrets"],
    ["disk", "Volume claims", "core/v1/persistentvolumeclaims"],
  ],
  [
    ["service", "Services", "core/v1/services"],
    ["service", "Ingresses", "networking.k8s.io/v1/ingresses"],
  ],
  [
    ["node", "Nodes", "core/v1/nodes"],
    ["event", "Events", "core/v1/events"],
  ],
];
const TITLES = ["Workloads", "Configuration", "Network", "Cluster"];

/** Pages beside those of objects. @type {["home" | "custom" | "access" | "time" | "chart", string, string][]} */
export const TOOLS = [
  ["custom", "Custom resources", "#/crds"],
  ["access", "Access", "#/access"],
  ["time", "Timeline", "#/timeline"],
  ["chart", "Statistics", "#/statistics"],
];

/** The link to the table of a kind. @param {{group: string, version: string, resource: string}} kind @param {Record<string, string | undefined>} [filters] */
export const tableLink = (kind, filters = {}) =>
  `#/t/${kind.group || "core"}/${kind.version}/${kind.resource}${query(filters)}`;

/** The link to an object. @param {{group: string, version: string, resource: string}} kind @param {string | undefined} namespace @param {string} name */
export const objectLink = (kind, namespace, name) =>
  `#/o/${kind.group || "core"}/${kind.version}/${kind.resource}/${namespace || "_"}/${encodeURIComponent(name)}`;

const HELP = [
  [["/"], "Filter the table"],
  [["j", "k"], "Next and previous row"],
  [["Enter"], "Open"],
  [["Esc"], "Back, or leave the field"],
  [["Ctrl K", ":"], "Go to any kind or namespace"],
  [["g"], "All kinds and namespaces"],
  [["w"], "More columns"],
  [["r"], "Load again"],
  [["1", "…", "6"], "Tabs of an object"],
  [["e"], "Edit the object"],
  [["Ctrl Enter"], "Apply the edited object"],
  [["?"], "This help"],
];

/** The window of the console. */
export class Shell {
  /**
   * @param {HTMLElement} root
   * @param {{user: string}} user
   * @param {() => void} signOut
   */
  constructor(root, user, signOut) {
    /** @type {Page | undefined} */
    this.shown = undefined;
    this.title = h("div", { class: "crumbs grow" });
    this.actions = h("div", { class: "actions" });
    this.page = h("div", { class: "page" });
    this.main = h(
      "main",
      { class: "stage", id: "main", tabindex: "-1" },
      h(
        "header",
        { class: "top" },
        h(
          "button",
          { class: "button ghost menu", type: "button", "aria-label": "Menu", onclick: () => this.openMenu(true) },
          icon("menu"),
        ),
        this.title,
        this.actions,
      ),
      this.page,
    );
    this.nav = h("nav", { class: "nav", "aria-label": "Kinds" }, this.links());
    this.shell = h(
      "div",
      { class: "shell" },
      h(
        "div",
        { class: "side" },
        h("a", { class: "brand", href: "#/" }, h("img", { src: "icon.svg", alt: "" }), "aio-apiserver"),
        h(
          "button",
          { class: "jump", type: "button", onclick: () => this.openPalette() },
          icon16("search"),
          "Go to",
          h("kbd", {}, "Ctrl K"),
        ),
        this.nav,
        h(
          "div",
          { class: "who" },
          h(
            "span",
            { class: "face", "aria-hidden": "true" },
            (user.user.split(":").pop() ?? "?").slice(0, 2).toUpperCase(),
          ),
          h("span", { class: "grow clip", title: user.user }, user.user),
          h(
            "button",
            { class: "button ghost", type: "button", "aria-label": "Sign out", title: "Sign out", onclick: signOut },
            icon("out"),
          ),
        ),
      ),
      h("div", { class: "veil", onclick: () => this.openMenu(false) }),
      this.main,
    );
    fill(root, this.shell);
    this.listener = (/** @type {KeyboardEvent} */ event) => this.onKey(event);
    document.addEventListener("keydown", this.listener);
  }

  close() {
    document.removeEventListener("keydown", this.listener);
    this.shown?.leave?.();
    document.querySelectorAll("dialog").forEach((one) => one.remove());
  }

  links() {
    const overview = this.link("home", "Overview", "#/");
    const groups = MENU.map((group, index) => [
      h("h2", {}, TITLES[index]),
      ...group.map(([shape, name, place]) => this.link(shape, name, `#/t/${place}`)),
    ]);
    return [overview, ...TOOLS.map(([shape, name, href]) => this.link(shape, name, href)), ...groups.flat()];
  }

  /**
   * @param {Parameters<typeof icon>[0]} shape
   * @param {string} name
   * @param {string} href
   */
  link(shape, name, href) {
    return h("a", { href }, icon(shape), name);
  }

  /** @param {boolean} isOpen */
  openMenu(isOpen) {
    this.shell.classList.toggle("open", isOpen);
    if (isOpen) /** @type {HTMLElement} */ (this.nav.querySelector("a")).focus();
  }

  /** Show a page in the place of the present one. @param {Page} page */
  show(page) {
    this.shown?.leave?.();
    this.shown = page;
    this.openMenu(false);
    document.title = `${page.title} · aio-apiserver`;
    const crumbs = (page.crumbs ?? []).flatMap(([name, href]) => [
      h("a", { href, class: "wide-only" }, name),
      h("span", { class: "sep wide-only", "aria-hidden": "true" }, "/"),
    ]);
    fill(this.title, ...crumbs, h("h1", {}, page.title));
    fill(this.actions, ...(page.actions ?? []));
    fill(this.page, page.body);
    this.page.className = `page ${page.body.classList.contains("fixed") ? "fixed" : ""}`;
    if (page.body.classList.contains("fixed")) this.page.replaceChildren(...page.body.childNodes);
    this.page.scrollTop = 0;
    this.page.tabIndex = this.page.querySelector("a[href], button, input, textarea") ? -1 : 0;
    const here = location.hash.split("?")[0] || "#/";
    for (const link of this.nav.querySelectorAll("a")) {
      const href = link.getAttribute("href") ?? "";
      const isHere =
        href === here ||
        (href.startsWith("#/t/") && here.startsWith(href.replace("#/t/", "#/o/") + "/")) ||
        (href === "#/crds" && here.startsWith("#/schema/"));
      if (isHere) {
        link.setAttribute("aria-current", "page");
        link.scrollIntoView({ block: "nearest" });
      } else link.removeAttribute("aria-current");
    }
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.openPalette();
      return;
    }
    if (event.key === "Escape") return this.onEscape(event);
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const action =
      {
        "?": () => this.openHelp(),
        ":": () => this.openPalette(),
        g: () => {
          location.hash = "#/";
        },
      }[event.key] ?? this.shown?.keys?.[event.key];
    if (!action) return;
    if (event.key === "Enter" && event.target instanceof Element && event.target.closest("a, button, summary")) return;
    event.preventDefault();
    action();
  }

  /** @param {KeyboardEvent} event */
  onEscape(event) {
    if (this.shell.classList.contains("open")) return this.openMenu(false);
    if (isTyping(event.target)) {
      /** @type {HTMLElement} */ (event.target).blur();
      /** @type {HTMLElement | null} */ (this.page.querySelector("[data-home]"))?.focus();
      return;
    }
    this.shown?.escape?.();
  }

  openHelp() {
    const close = () => dialog.close();
    const dialog = h(
      "dialog",
      { class: "help", "aria-label": "Keys", onclose: () => dialog.remove() },
      h("h1", {}, "Keys"),
      h(
        "dl",
        {},
        HELP.flatMap(([keys, text]) => [
          h(
            "dt",
            {},
            [...keys].map((key) => (key === "…" ? "…" : h("kbd", {}, key))),
          ),
          h("dd", { class: "quiet" }, /** @type {string} */ (text)),
        ]),
      ),
    );
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) close();
    });
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "?") close();
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  /** Go to a kind, a namespace or a page by a few letters of its name. */
  async openPalette() {
    const input = h("input", {
      type: "text",
      placeholder: "Go to a kind, namespace or page",
      "aria-label": "Go to",
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "palette-list",
      autocomplete: "off",
      spellcheck: "false",
    });
    const list = h("ul", { id: "palette-list", role: "listbox" });
    const dialog = h(
      "dialog",
      { class: "palette", "aria-label": "Go to", onclose: () => dialog.remove() },
      input,
      list,
    );
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
    const entries = await paletteEntries();
    let chosen = 0;
    /** @type {ReturnType<typeof ranked>} */
    let found = [];
    const go = (/** @type {string} */ href) => {
      dialog.close();
      location.hash = href;
    };
    const draw = () => {
      found = ranked(entries, input.value.trim().toLowerCase()).slice(0, 60);
      chosen = Math.max(0, Math.min(chosen, found.length - 1));
      fill(
        list,
        found.map((one, index) =>
          h(
            "li",
            {
              role: "option",
              id: `palette-${index}`,
              "aria-selected": String(index === chosen),
              onclick: () => go(one.href),
            },
            one.name,
            one.hint && h("span", { class: "faint" }, one.hint),
            h("small", {}, one.what),
          ),
        ),
      );
      input.setAttribute("aria-activedescendant", `palette-${chosen}`);
      list.children[chosen]?.scrollIntoView({ block: "nearest" });
    };
    input.addEventListener("input", () => {
      chosen = 0;
      draw();
    });
    input.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        chosen += step;
        draw();
        event.preventDefault();
      }
      if (event.key === "Enter" && found[chosen]) {
        event.preventDefault();
        go(found[chosen].href);
      }
    });
    draw();
  }
}

/** @param {Parameters<typeof icon>[0]} name */
function icon16(name) {
  const shape = icon(name);
  shape.setAttribute("width", "14");
  shape.setAttribute("height", "14");
  return shape;
}

/** @returns {Promise<Entry[]>} */
async function paletteEntries() {
  const all = await kinds().catch(() => []);
  const spaces = await get("/api/v1/namespaces?limit=500", { accept: METADATA_LIST }).catch(() => ({ items: [] }));
  return [
    ...all.map((kind) => ({
      name: kind.kind,
      hint: [...kind.short, kind.resource].join(" "),
      what: kind.group || "core",
      href: tableLink(kind),
    })),
    ...(spaces.items ?? []).map((/** @type {any} */ one) => ({
      name: one.metadata.name,
      hint: "",
      what: "namespace",
      href: `#/ns/${one.metadata.name}`,
    })),
    { name: "Overview", hint: "", what: "page", href: "#/" },
    ...TOOLS.map(([, name, href]) => ({ name, hint: "", what: "page", href })),
  ];
}

/** @typedef {{name: string, hint: string, what: string, href: string}} Entry */

/**
 * @param {Entry[]} entries
 * @param {string} text
 * @returns {Entry[]}
 */
function ranked(entries, text) {
  if (!text) return entries;
  const score = (/** @type {Entry} */ one) => {
    const words = [one.name.toLowerCase(), ...one.hint.toLowerCase().split(" ")];
    if (words.includes(text)) return 3;
    if (words.some((word) => word.startsWith(text))) return 2;
    return words.some((word) => word.includes(text)) ? 1 : 0;
  };
  return entries
    .map((one) => ({ one, value: score(one) }))
    .filter(({ value }) => value)
    .sort((a, b) => b.value - a.value || a.one.name.length - b.one.name.length)
    .map(({ one }) => one);
}
