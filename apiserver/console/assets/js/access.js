/** access: whether a user may do something, which rule allows it, and which rules come near. */
import { fill, h } from "./dom.js";
import { ApiError, get, kinds, query } from "./api.js";
import { objectLink } from "./shell.js";
import { explain } from "./rules.js";

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/**
 * @param {URLSearchParams} parameters
 * @returns {Promise<import("./shell.js").Page>}
 */
export async function accessPage(parameters) {
  const all = await kinds();
  const given = (/** @type {string} */ name) => parameters.get(name) ?? "";
  const input = (/** @type {string} */ id, /** @type {string} */ hint, /** @type {string} */ list = "") =>
    h("input", {
      class: "input",
      id,
      name: id,
      placeholder: hint,
      value: given(id),
      list,
      autocomplete: "off",
      spellcheck: "false",
    });
  const user = input("user", "you");
  const groups = input("groups", "devs, system:authenticated");
  const verb = input("verb", "get", "verbs");
  const resource = input("resource", "pods, deployments.apps/scale, or /healthz", "resources");
  const namespace = input("namespace", "all namespaces");
  const name = input("name", "any name");
  if (!verb.value) verb.value = "get";
  const answer = h("div", { class: "stack", "aria-live": "polite" });
  const form = h(
    "form",
    {
      class: "card part question",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        ask();
      },
    },
    ...labelled([
      ["User", user],
      ["Groups", groups],
      ["Verb", verb],
      ["Resource", resource],
      ["Namespace", namespace],
      ["Name", name],
    ]),
    h(
      "datalist",
      { id: "verbs" },
      [...VERBS, "*"].map((one) => h("option", { value: one })),
    ),
    h(
      "datalist",
      { id: "resources" },
      all.map((kind) => h("option", { value: kind.group ? `${kind.resource}.${kind.group}` : kind.resource })),
    ),
    h("button", { class: "button main", type: "submit" }, "Ask"),
  );

  async function ask() {
    const question = {
      user: user.value.trim(),
      groups: groups.value
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean),
      ...attributesOf(
        {
          verb: verb.value.trim(),
          resource: resource.value.trim(),
          namespace: namespace.value.trim(),
          name: name.value.trim(),
        },
        all,
      ),
    };
    history.replaceState(
      null,
      "",
      `#/access${query({ user: user.value, groups: groups.value, verb: verb.value, resource: resource.value, namespace: namespace.value, name: name.value })}`,
    );
    try {
      fill(answer, await answered(question));
    } catch (error) {
      fill(
        answer,
        h(
          "div",
          { class: "note bad", role: "alert" },
          error instanceof ApiError && error.code === 403
            ? `You may not ask about other users: ${error.message}`
            : /** @type {Error} */ (error).message,
        ),
      );
    }
  }
  if (resource.value) ask();
  return {
    title: "Access",
    actions: [],
    body: h(
      "div",
      { class: "pad narrow-page stack" },
      h(
        "p",
        { class: "quiet" },
        "May this user do that, and which rule says so? Without a user, the question is about you.",
      ),
      form,
      answer,
    ),
    keys: { "/": () => (user.value ? resource : user).focus() },
  };
}

/** @param {[string, HTMLInputElement][]} fields */
function labelled(fields) {
  return fields.map(([text, input]) => h("div", { class: "labelled" }, h("label", { for: input.id }, text), input));
}

/** @typedef {{user: string, groups: string[], resourceAttributes?: {verb: string, group: string, resource: string, subresource: string, namespace: string, name: string}, nonResourceAttributes?: {verb: string, path: string}}} Question */

/**
 * @param {{verb: string, resource: string, namespace: string, name: string}} given
 * @param {import("./api.js").Kind[]} all
 */
function attributesOf({ verb, resource, namespace, name }, all) {
  if (resource.startsWith("/")) return { nonResourceAttributes: { verb, path: resource } };
  const [plain, subresource = ""] = resource.split("/");
  const found =
    all.find((kind) => (kind.group ? `${kind.resource}.${kind.group}` : kind.resource) === plain) ??
    all.find((kind) => [kind.resource, kind.singular, kind.kind.toLowerCase(), ...kind.short].includes(plain));
  const [word, ...group] = plain.split(".");
  return {
    resourceAttributes: {
      verb,
      group: found?.group ?? group.join("."),
      resource: found?.resource ?? word,
      subresource,
      namespace,
      name,
    },
  };
}

/** @param {Question} question */
async function answered(question) {
  const { user, groups, ...attributes } = question;
  const isSelf = !user && !groups.length;
  const path = `/apis/authorization.k8s.io/v1/${isSelf ? "selfsubjectaccessreviews" : "subjectaccessreviews"}`;
  const kind = isSelf ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  const who = isSelf
    ? await get("/ui/session")
    : {
        user,
        groups: [
          ...groups,
          ...(user.startsWith("system:serviceaccount:")
            ? ["system:serviceaccounts", `system:serviceaccounts:${user.split(":")[2]}`]
            : []),
          "system:authenticated",
        ],
      };
  const review = await get(path, {
    method: "POST",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind,
      spec: { ...(isSelf ? {} : { user: who.user, groups: who.groups }), ...attributes },
    },
  });
  const { allowed, denied, reason, evaluationError } = review.status;
  const rules = await explain(who, question).catch((error) => ({
    problem: /** @type {Error} */ (error).message,
    matched: [],
    near: [],
  }));
  return [
    h(
      "div",
      { class: `verdict card part ${allowed ? "yes" : "no"}` },
      h("div", { class: "mark", "aria-hidden": "true" }, allowed ? "✓" : "✕"),
      h(
        "div",
        { class: "grow" },
        h(
          "strong",
          {},
          `${who.user || "This user"} ${allowed ? "may" : denied ? "is denied to" : "may not"} ${sentence(question)}`,
        ),
        h("p", { class: "quiet" }, reason || evaluationError || (allowed ? "" : "No authorizer allows it.")),
      ),
    ),
    who.groups?.includes("system:masters") &&
      h("div", { class: "note" }, "Members of system:masters may do everything; no rule is looked at."),
    rules.problem && h("div", { class: "note warn" }, `The rules cannot be shown: ${rules.problem}`),
    rules.matched.length ? listed("Rules that allow it", rules.matched, "ok") : null,
    rules.near.length
      ? listed(allowed ? "Rules that come near" : "What comes near, and what it lacks", rules.near, "")
      : null,
    !allowed && !rules.problem && !rules.near.length
      ? h("div", { class: "note" }, `No role that ${who.user} is bound to speaks of this resource.`)
      : null,
  ];
}

/** @param {Question} question */
function sentence({ resourceAttributes: of, nonResourceAttributes: path }) {
  if (path) return `${path.verb} ${path.path}`;
  if (!of) return "";
  const what = `${of.resource}${of.subresource ? `/${of.subresource}` : ""}${of.group ? `.${of.group}` : ""}`;
  return `${of.verb} ${what}${of.name ? ` "${of.name}"` : ""} ${of.namespace ? `in ${of.namespace}` : "in all namespaces"}`;
}

/**
 * @param {string} title
 * @param {import("./rules.js").Found[]} found
 * @param {string} mark
 */
function listed(title, found, mark) {
  return h(
    "section",
    { class: "card part" },
    h("h2", {}, title),
    h(
      "ul",
      { class: "rules" },
      found.slice(0, 30).map((one) =>
        h(
          "li",
          {},
          h(
            "div",
            { class: "binding" },
            h(
              "a",
              {
                class: "link",
                href: objectLink(
                  {
                    group: "rbac.authorization.k8s.io",
                    version: "v1",
                    resource: one.binding.isCluster ? "clusterrolebindings" : "rolebindings",
                  },
                  one.binding.namespace,
                  one.binding.name,
                ),
              },
              one.binding.name,
            ),
            h(
              "span",
              { class: "faint" },
              `${one.binding.isCluster ? "everywhere" : `in ${one.binding.namespace}`} · by ${one.subject}`,
            ),
            h("span", { class: "faint", "aria-hidden": "true" }, "→"),
            h(
              "a",
              {
                class: "link",
                href: objectLink(
                  {
                    group: "rbac.authorization.k8s.io",
                    version: "v1",
                    resource: one.role.isCluster ? "clusterroles" : "roles",
                  },
                  one.role.isCluster ? "" : one.binding.namespace,
                  one.role.name,
                ),
              },
              one.role.name,
            ),
          ),
          h("code", { class: `rule ${mark}` }, ruleText(one.rule)),
          one.lacks.length
            ? h(
                "p",
                { class: "lacks" },
                one.lacks.map((text) => h("span", { class: "badge warn" }, text)),
              )
            : null,
        ),
      ),
    ),
  );
}

/** @param {any} rule */
function ruleText(rule) {
  const places =
    rule.nonResourceURLs ??
    (rule.resources ?? []).map(
      (/** @type {string} */ one) =>
        `${one}${(rule.apiGroups ?? []).filter(Boolean).length ? `.${rule.apiGroups.filter(Boolean).join("|")}` : ""}`,
    );
  return `${(rule.verbs ?? []).join(", ")}  ${places.join(", ")}${rule.resourceNames?.length ? `  named ${rule.resourceNames.join(", ")}` : ""}`;
}
