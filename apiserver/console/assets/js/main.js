/** main: signs in, and shows the page that the fragment of the address names. */
import { fill, h, toast } from "./dom.js";
import { ApiError, get, send, whenSignedOut } from "./api.js";
import { Shell } from "./shell.js";
import { kindsPage } from "./kinds.js";
import { tablePage } from "./table.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
/** @type {Shell | undefined} */
let shell;

/** The pages by the first word of the fragment. Those that few visits need are loaded at first use. @type {Record<string, (parts: string[], parameters: URLSearchParams) => Promise<import("./shell.js").Page>>} */
const PAGES = {
  "": () => kindsPage(""),
  ns: ([name]) => kindsPage(name),
  t: (parts, parameters) => tablePage(parts, parameters),
  o: async (parts, parameters) => (await import("./object/object_page.js")).objectPage(parts, parameters),
  crds: async () => (await import("./schema.js")).definitionsPage(),
  schema: async (parts) => (await import("./schema.js")).schemaPage(parts),
  timeline: async () => (await import("./timeline/timeline_page.js")).timelinePage(),
  then: async (parts) => (await import("./timeline/then_page.js")).thenPage(parts),
  statistics: async () => (await import("./statistics.js")).statisticsPage(),
  access: async (_parts, parameters) => (await import("./access.js")).accessPage(parameters),
};

let turn = 0;

async function show() {
  if (!shell) return;
  const [path, parameters = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...parts] = path.split("/").map(decodeURIComponent);
  const mine = ++turn;
  try {
    const page = await (PAGES[name] ?? PAGES[""])(parts, new URLSearchParams(parameters));
    if (mine === turn) shell?.show(page);
    else page.leave?.();
  } catch (error) {
    if (mine === turn && shell) shell.show(failurePage(/** @type {Error} */ (error)));
  }
}

/** @param {Error} error */
function failurePage(error) {
  return {
    title: "Not shown",
    body: h(
      "div",
      { class: "empty" },
      h("strong", {}, error instanceof ApiError && error.code === 403 ? "You may not see this" : "This did not work"),
      h("p", {}, error.message),
      h("a", { class: "link", href: "#/" }, "All kinds"),
    ),
    escape: () => history.back(),
  };
}

async function begin() {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, "", location.pathname);
    await send("/ui/session/code", { method: "POST", body: { code } }).catch(() =>
      signIn("The link was used already, or is too old."),
    );
  }
  try {
    const found = await get("/ui/session");
    if (found.user) open(found);
    else if (!document.querySelector(".signin")) signIn("");
  } catch (error) {
    if (!document.querySelector(".signin"))
      signIn(error instanceof ApiError && error.code === 401 ? "" : /** @type {Error} */ (error).message);
  }
}

/** @param {{user: string}} user */
function open(user) {
  shell = new Shell(root, user, signOut);
  show();
}

/** Sign out. Without an answer the session goes on, and the console stays open. */
async function signOut() {
  try {
    const { problem } = await (await send("/ui/session", { method: "DELETE" })).json();
    signIn(problem ?? "");
  } catch (error) {
    if (shell) toast(`You are still signed in: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {string} problem */
function signIn(problem) {
  shell?.close();
  shell = undefined;
  turn += 1;
  document.title = "Sign in · aio-apiserver";
  const said = h("div", { class: `note bad ${problem ? "" : "hidden"}`, role: "alert" }, problem);
  const token = h("input", {
    class: "input mono",
    id: "token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": "token-help",
  });
  const form = h(
    "form",
    { onsubmit: submit },
    h("img", { src: "icon.svg", alt: "" }),
    h(
      "div",
      {},
      h("h1", {}, "Sign in"),
      h("p", { class: "quiet" }, "The console acts with your own rights, and no others."),
    ),
    said,
    h("label", { for: "token" }, "Bearer token"),
    token,
    h("button", { class: "button main", type: "submit" }, "Sign in"),
    h(
      "div",
      { id: "token-help", class: "quiet" },
      "A token of a service account:",
      h("code", {}, "kubectl create token NAME"),
    ),
  );
  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    try {
      const user = await get("/ui/session", {
        method: "POST",
        headers: { Authorization: `Bearer ${token.value.trim()}` },
      });
      token.value = "";
      open(user);
    } catch (error) {
      fill(
        said,
        error instanceof ApiError && error.code === 401
          ? "The server does not know this token."
          : /** @type {Error} */ (error).message,
      );
      said.classList.remove("hidden");
      token.focus();
    }
  }
  fill(root, h("main", { class: "signin", id: "main" }, form));
  token.focus();
}

whenSignedOut(() => {
  if (shell) signIn("The session has ended.");
});
addEventListener("hashchange", show);
begin();
