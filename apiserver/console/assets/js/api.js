/**
 * api: the Kubernetes API of this server, with the rights of the signed-in user.
 *
 * The session is an HttpOnly cookie. The header X-Console goes with each request; without it the cookie has no effect.
 */

/** @typedef {{group: string, version: string, resource: string, kind: string, singular: string, namespaced: boolean, verbs: string[], short: string[], categories: string[]}} Kind */
/** @typedef {{type: string, object: any}} WatchEvent */

const JSON_TYPE = "application/json";
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
export const METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

/** An answer that is no success, with the server's Status. */
export class ApiError extends Error {
  /**
   * @param {number} code
   * @param {any} status
   */
  constructor(code, status) {
    super(status?.message || `the server answered ${code}`);
    this.code = code;
    this.status = status;
  }
}

/** @type {() => void} */
let onSignedOut = () => {};
/** @param {() => void} action called when the session has ended */
export const whenSignedOut = (action) => {
  onSignedOut = action;
};

/**
 * @param {string} path
 * @param {{method?: string, body?: unknown, text?: string, type?: string, accept?: string, signal?: AbortSignal, headers?: Record<string, string>}} [options]
 */
export async function send(path, options = {}) {
  const { method = "GET", body, text, type = JSON_TYPE, accept = JSON_TYPE, signal, headers = {} } = options;
  /** @type {Record<string, string>} */
  const sent = { "X-Console": "1", Accept: accept, ...headers };
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
  if (payload !== undefined) sent["Content-Type"] = type;
  const response = await fetch(path, {
    method,
    headers: sent,
    body: payload,
    signal,
    credentials: "same-origin",
    redirect: "error",
    cache: "no-store",
  });
  if (response.ok) return response;
  const status = await response.json().catch(() => null);
  if (response.status === 401 && !path.startsWith("/ui/session")) onSignedOut();
  throw new ApiError(response.status, status);
}

/**
 * @param {string} path
 * @param {Parameters<typeof send>[1]} [options]
 * @returns {Promise<any>}
 */
export async function get(path, options) {
  return (await send(path, options)).json();
}

/** @param {Pick<Kind, "group" | "version">} kind */
export const groupPath = (kind) => (kind.group ? `/apis/${kind.group}/${kind.version}` : `/api/${kind.version}`);

/**
 * The path of a collection, or of an object.
 * @param {Pick<Kind, "group" | "version" | "resource" | "namespaced">} kind
 * @param {string} [namespace]
 * @param {string} [name]
 */
export function pathOf(kind, namespace, name) {
  const place = kind.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${groupPath(kind)}${place}/${kind.resource}${name ? `/${encodeURIComponent(name)}` : ""}`;
}

/** @param {Record<string, string | number | boolean | undefined>} parameters */
export function query(parameters) {
  const given = Object.entries(parameters).filter(
    ([, value]) => value !== undefined && value !== "" && value !== false,
  );
  return given.length
    ? `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&")}`
    : "";
}

/** @type {Promise<Kind[]> | undefined} */
let known;

/** All kinds of the server, each in the preferred version of its group. @param {boolean} [again] */
export function kinds(again = false) {
  if (!known || again) {
    known = discover();
    known.catch(() => {
      known = undefined;
    });
  }
  return known;
}

async function discover() {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const [core, groups] = await Promise.all([get("/api", { accept }), get("/apis", { accept })]);
  /** @type {Kind[]} */
  const found = [];
  for (const group of [...(core.items ?? []), ...(groups.items ?? [])]) {
    const seen = new Set();
    for (const version of group.versions ?? []) {
      for (const one of version.resources ?? []) {
        if (seen.has(one.resource) || !one.verbs?.includes("list")) continue;
        seen.add(one.resource);
        found.push({
          group: group.metadata?.name ?? "",
          version: version.version,
          resource: one.resource,
          kind: one.responseKind?.kind ?? one.resource,
          singular: one.singularResource ?? "",
          namespaced: one.scope === "Namespaced",
          verbs: one.verbs ?? [],
          short: one.shortNames ?? [],
          categories: one.categories ?? [],
        });
      }
    }
  }
  return found;
}

/**
 * The kind of a reference by its apiVersion and kind.
 * @param {string} apiVersion
 * @param {string} name
 */
export async function kindOf(apiVersion, name) {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  return (await kinds()).find((one) => one.group === group && one.kind === name);
}

/**
 * Read a watch until it ends. Raises ApiError.
 * @param {string} path
 * @param {{accept?: string, signal: AbortSignal, onEvents: (events: WatchEvent[]) => void, onOpen?: () => void}} options
 */
export async function watch(path, { accept, signal, onEvents, onOpen }) {
  const response = await send(path, { accept, signal });
  onOpen?.();
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const lines = rest.split("\n");
    rest = /** @type {string} */ (lines.pop());
    const events = lines.filter(Boolean).map((line) => JSON.parse(line));
    if (events.length) onEvents(events);
  }
}

/**
 * Do work for each item, so many at a time.
 * @template T
 * @param {T[]} items
 * @param {number} lanes
 * @param {(item: T) => Promise<void>} work
 */
export async function each(items, lanes, work) {
  const left = [...items];
  const run = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, run));
}
