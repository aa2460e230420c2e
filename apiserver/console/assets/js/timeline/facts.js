/** facts: what the server tells of requests, changes and Events, and the words for them. */

/** @typedef {{at: number, kind: "plugin" | "webhook" | "policy" | "fault", by: string, verdict: string, seconds: number, detail: string}} TracedStep */
/** @typedef {{number: number, record: string, process: number, at: number, verb: string, group: string, resource: string, subresource: string, namespace: string, name: string, path: string, user: string, client: string, seconds: number | null, status: number, message: string, reason: string, fault: string, notes: Record<string, string>, steps: TracedStep[]}} TracedRequest */
/** @typedef {{revision: number, at: number, type: string, group: string, resource: string, namespace: string, name: string, uid: string, manager: string, operation: string, owner: string, about: string, holder: string, differences: [string, string | null, string | null][], count: number, isCompared: boolean}} ObjectChange */
/** @typedef {{revision: number, at: number, uid: string, type: string, reason: string, message: string, count: number, source: string, kind: string, namespace: string, name: string, regarding: string}} KubernetesEvent */
/** @typedef {{now: number, requests: TracedRequest[], changes: ObjectChange[], events: KubernetesEvent[]}} Data */

export const READS = new Set(["get", "list", "watch"]);

/** The client by its User-Agent: kubectl/v1.31.0 (linux/amd64) becomes kubectl. @param {TracedRequest} one */
export function clientOf(one) {
  const word = one.client.split(/[/ (]/)[0] || "client";
  const name = word === "Mozilla" ? "browser" : word;
  if (name === "console") return name;
  return one.user && one.user !== "kubernetes-admin"
    ? `${name} · ${one.user.replace("system:serviceaccount:", "")}`
    : name;
}

/** @param {{namespace: string, name: string}} one */
export const placeOf = (one) => [one.namespace, one.name].filter(Boolean).join("/");

/** @param {{group: string, resource: string, subresource?: string}} one */
export const resourceOf = (one) =>
  `${one.resource}${one.subresource ? `/${one.subresource}` : ""}${one.group ? `.${one.group}` : ""}`;

/** A request as a line: patch deployments.apps default/web. @param {TracedRequest} one */
export function requestWords(one) {
  const place = placeOf(one);
  return one.resource ? `${one.verb} ${resourceOf(one)}${place ? ` ${place}` : ""}` : `${one.verb} ${one.path}`;
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 0.0095) return `${Number((seconds * 1000).toFixed(1))} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
  const rest = Math.round(seconds % 60);
  return `${Math.floor(seconds / 60)} min${rest ? ` ${rest} s` : ""}`;
}

/** @param {number} at */
export const clock = (at) => new Date(at * 1000).toISOString().slice(11, 23);
