/** schema: the fields of a kind as a tree, from the server's OpenAPI; and the list of custom resource definitions. */
import { fill, h } from "./dom.js";
import { get, groupPath, kinds } from "./api.js";
import { objectLink, tableLink } from "./shell.js";

const DEEPEST = 12;
const MOST_FIELDS = 1000;
const MOST_FOUND = 100;

/**
 * @param {string[]} parts group, version and resource
 * @returns {Promise<import("./shell.js").Page>}
 */
export async function schemaPage([group, version, resource]) {
  const found = (await kinds()).find(
    (one) => one.resource === resource && one.group === (group === "core" ? "" : group),
  );
  if (!found) throw new Error(`The server has no ${resource}.`);
  const kind = { ...found, version };
  const document = await get(`/openapi/v3${groupPath(kind)}`);
  /** @type {Record<string, any>} */
  const schemas = document.components?.schemas ?? {};
  const isKind = (/** @type {any} */ one) =>
    (one["x-kubernetes-group-version-kind"] ?? []).some(
      (/** @type {any} */ name) => name.kind === kind.kind && name.version === version && name.group === kind.group,
    );
  const schema = Object.values(schemas).find(isKind);
  const search = h("input", {
    class: "input",
    type: "search",
    placeholder: "Find a field",
    "aria-label": "Find a field",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => draw(),
  });
  const tree = h("div", { class: "tree" });
  function draw() {
    const text = search.value.trim().toLowerCase();
    if (!schema) return fill(tree, h("div", { class: "empty" }, "The server has no schema of this kind."));
    fill(tree, text ? matches(schema, schemas, text) : fieldsOf(schema, schemas, 0, true));
  }
  draw();
  const definition = kind.group.includes(".") ? `${kind.resource}.${kind.group}` : "";
  return {
    title: `Schema of ${kind.kind}`,
    crumbs: [[kind.kind, tableLink(kind)]],
    actions:
      definition && !kind.group.endsWith(".k8s.io")
        ? [
            h(
              "a",
              {
                class: "button",
                href: objectLink(
                  { group: "apiextensions.k8s.io", version: "v1", resource: "customresourcedefinitions" },
                  "",
                  definition,
                ),
              },
              "Definition",
            ),
          ]
        : [],
    body: h(
      "div",
      { class: "pad narrow-page" },
      schema?.description && h("p", { class: "quiet lead" }, schema.description),
      h("div", { class: "find" }, search, h("kbd", { class: "wide-only", "aria-hidden": "true" }, "/")),
      tree,
    ),
    keys: { "/": () => search.focus() },
    escape: () => history.back(),
  };
}

/**
 * A schema without references, and its own schema behind arrays and maps.
 * @param {any} schema
 * @param {Record<string, any>} schemas
 */
function resolved(schema, schemas) {
  let found = schema;
  for (let hops = 0; hops < 5; hops += 1) {
    const reference = found.$ref ?? (found.allOf?.length === 1 ? found.allOf[0].$ref : undefined);
    if (!reference) break;
    found = {
      ...schemas[reference.split("/").pop()],
      ...(found.description ? { description: found.description } : {}),
      ...(found.default !== undefined ? { default: found.default } : {}),
    };
  }
  return found;
}

/** @param {any} schema @param {Record<string, any>} schemas @returns {string} */
function typeOf(schema, schemas) {
  const one = resolved(schema, schemas);
  if (one["x-kubernetes-int-or-string"] || one.format === "int-or-string") return "integer or string";
  if (one.type === "array") return `[]${typeOf(one.items ?? {}, schemas)}`;
  if (one.additionalProperties && typeof one.additionalProperties === "object")
    return `map[string]${typeOf(one.additionalProperties, schemas)}`;
  return one.format && one.type === "string"
    ? one.format
    : (one.type ?? (one.oneOf ? one.oneOf.map((/** @type {any} */ each) => each.type).join(" or ") : "any"));
}

/** What lies below a field: the schema of its items or values, when that has fields. @param {any} schema @param {Record<string, any>} schemas @returns {any} */
function inner(schema, schemas) {
  const one = resolved(schema, schemas);
  if (one.type === "array" && one.items) return inner(one.items, schemas);
  if (one.additionalProperties && typeof one.additionalProperties === "object")
    return inner(one.additionalProperties, schemas);
  return one;
}

/**
 * @param {any} schema
 * @param {Record<string, any>} schemas
 * @param {number} depth
 * @param {boolean} isOpen
 * @returns {HTMLElement | null}
 */
function fieldsOf(schema, schemas, depth, isOpen) {
  const properties = Object.entries(schema.properties ?? {});
  if (!properties.length || depth > DEEPEST) return null;
  const required = new Set(schema.required ?? []);
  const more = properties.length - MOST_FIELDS;
  return h(
    "ul",
    {},
    properties.slice(0, MOST_FIELDS).map(([name, value]) =>
      field(name, value, schemas, {
        isRequired: required.has(name),
        depth,
        isOpen: isOpen && ["spec", "status"].includes(name),
      }),
    ),
    more > 0 && h("li", { class: "quiet" }, `and ${more} more fields, which the search finds`),
  );
}

/**
 * @param {string} name
 * @param {any} schema
 * @param {Record<string, any>} schemas
 * @param {{isRequired: boolean, depth: number, isOpen: boolean, path?: string}} about
 */
function field(name, schema, schemas, { isRequired, depth, isOpen, path }) {
  const own = resolved(schema, schemas);
  const below = inner(schema, schemas);
  const hasFields = Object.keys(below.properties ?? {}).length > 0;
  const line = [
    h("span", { class: "field mono" }, path ?? name),
    h("span", { class: "type mono" }, typeOf(schema, schemas)),
    isRequired && h("span", { class: "badge warn" }, "required"),
    ...facts(own).map((text) => h("span", { class: "fact mono" }, text)),
  ];
  const about = own.description && h("p", { class: "quiet" }, own.description);
  if (!hasFields) return h("li", { class: "leaf" }, h("div", { class: "line" }, line), about);
  const details = h(
    "details",
    { open: isOpen },
    h("summary", {}, line),
    about,
    isOpen ? fieldsOf(below, schemas, depth + 1, false) : null,
  );
  details.addEventListener("toggle", () => {
    if (details.open && !details.querySelector(":scope > ul"))
      details.append(/** @type {HTMLElement} */ (fieldsOf(below, schemas, depth + 1, false) ?? h("ul")));
  });
  return h("li", {}, details);
}

/** @param {any} schema @returns {string[]} */
function facts(schema) {
  const bounds = [
    ["min", schema.minimum],
    ["max", schema.maximum],
    ["min length", schema.minLength],
    ["max length", schema.maxLength],
    ["min items", schema.minItems],
    ["max items", schema.maxItems],
    ["pattern", schema.pattern],
  ];
  return [
    ...(schema.enum ? [schema.enum.map((/** @type {any} */ one) => JSON.stringify(one)).join(" | ")] : []),
    ...(schema.default !== undefined && JSON.stringify(schema.default) !== "{}" && schema.default !== ""
      ? [`default ${JSON.stringify(schema.default)}`]
      : []),
    ...bounds.filter(([, value]) => value !== undefined).map(([key, value]) => `${key} ${value}`),
    ...(schema["x-kubernetes-list-map-keys"] ? [`by ${schema["x-kubernetes-list-map-keys"].join(", ")}`] : []),
    ...(schema["x-kubernetes-preserve-unknown-fields"] ? ["unknown fields stay"] : []),
    ...(schema["x-kubernetes-validations"] ?? []).map((/** @type {any} */ one) => one.rule),
  ];
}

/**
 * The fields at any depth whose path contains a text.
 * @param {any} root
 * @param {Record<string, any>} schemas
 * @param {string} text
 */
function matches(root, schemas, text) {
  /** @type {HTMLElement[]} */
  const found = [];
  const walk = (/** @type {any} */ schema, /** @type {string} */ path, /** @type {Set<any>} */ above) => {
    for (const [name, value] of Object.entries(schema.properties ?? {})) {
      if (found.length >= MOST_FOUND) return;
      const here = path ? `${path}.${name}` : name;
      if (name.toLowerCase().includes(text) || here.toLowerCase().endsWith(text))
        found.push(
          field(name, value, schemas, {
            isRequired: (schema.required ?? []).includes(name),
            depth: 0,
            isOpen: false,
            path: here,
          }),
        );
      const below = inner(value, schemas);
      const key = below.description ?? below;
      if (below.properties && !above.has(key) && above.size < DEEPEST) walk(below, here, new Set([...above, key]));
    }
  };
  walk(root, "", new Set());
  return found.length ? h("ul", {}, found) : h("div", { class: "empty" }, h("strong", {}, "No such field"));
}

/** The page of custom resources. @returns {Promise<import("./shell.js").Page>} */
export async function definitionsPage() {
  const found = await get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=500");
  const search = h("input", {
    class: "input",
    type: "search",
    placeholder: "Find a custom resource",
    "aria-label": "Find a custom resource",
    oninput: () => draw(),
  });
  const list = h("ul", { class: "cards" });
  function draw() {
    const text = search.value.trim().toLowerCase();
    const shown = (found.items ?? []).filter(
      (/** @type {any} */ one) => one.metadata.name.includes(text) || one.spec.names.kind.toLowerCase().includes(text),
    );
    fill(
      list,
      shown.length
        ? shown.map(card)
        : h(
            "li",
            { class: "empty" },
            h("strong", {}, "No custom resources"),
            "Apply a CustomResourceDefinition, and its kind appears here.",
          ),
    );
  }
  draw();
  return {
    title: "Custom resources",
    actions: [],
    body: h(
      "div",
      { class: "pad narrow-page" },
      h("div", { class: "find" }, search, h("kbd", { class: "wide-only", "aria-hidden": "true" }, "/")),
      list,
    ),
    keys: { "/": () => search.focus() },
  };
}

/** @param {any} one */
function card({ metadata, spec, status }) {
  const served = spec.versions.filter((/** @type {any} */ version) => version.served);
  const kind = { group: spec.group, version: served[0]?.name ?? "", resource: spec.names.plural };
  const isThere = (status?.conditions ?? []).some(
    (/** @type {any} */ condition) => condition.type === "Established" && condition.status === "True",
  );
  return h(
    "li",
    { class: "card part" },
    h(
      "div",
      { class: "card-head" },
      h("a", { class: "title", href: tableLink(kind) }, spec.names.kind),
      h("span", { class: "quiet mono" }, spec.group),
      h("span", { class: "grow" }),
      h("span", { class: `badge ${isThere ? "ok" : "warn"}` }, isThere ? "Established" : "Not established"),
    ),
    h(
      "div",
      { class: "card-foot" },
      h("span", { class: "badge" }, spec.scope),
      ...spec.versions.map((/** @type {any} */ version) =>
        h(
          "a",
          { class: "badge info", href: `#/schema/${spec.group}/${version.name}/${spec.names.plural}` },
          `${version.name}${version.storage ? " · stored" : ""}${version.served ? "" : " · not served"}`,
        ),
      ),
      spec.names.shortNames?.length && h("span", { class: "faint mono" }, spec.names.shortNames.join(" ")),
      h("span", { class: "grow" }),
      h("a", { class: "link", href: `#/schema/${spec.group}/${kind.version}/${spec.names.plural}` }, "Schema"),
      h(
        "a",
        {
          class: "link",
          href: objectLink(
            { group: "apiextensions.k8s.io", version: "v1", resource: "customresourcedefinitions" },
            "",
            metadata.name,
          ),
        },
        "Definition",
      ),
    ),
  );
}
