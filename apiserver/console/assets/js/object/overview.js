/** overview: what is most worth knowing of an object: facts, conditions, containers, labels and field managers. */
import { age, h, tone } from "../dom.js";
import { managersOf } from "../managers.js";
import { tableLink } from "../shell.js";

/** Of a list on this page; the YAML has all. */
const MOST = 200;

/**
 * @param {import("../api.js").Kind} kind
 * @param {any} object
 * @param {HTMLElement} events
 */
export function overview(kind, object, events) {
  const { metadata, status = {} } = object;
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
    ...factsOf(object),
  ];
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
      containers(object),
      events,
    ),
    h(
      "div",
      { class: "stack" },
      pairs("Labels", metadata.labels, (key, value) =>
        tableLink(kind, { ns: metadata.namespace ?? "", l: `${key}=${value}` }),
      ),
      pairs("Annotations", metadata.annotations),
      managersCard(object),
    ),
  );
}

/** The first keys of a map. @param {Record<string, string> | undefined} data */
function keysOf(data) {
  const keys = Object.keys(data ?? {});
  return keys.slice(0, MOST).join(", ") + (keys.length > MOST ? ` and ${keys.length - MOST} more` : "");
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
      ["Keys", keysOf(data)],
    ],
    ConfigMap: [["Keys", keysOf(data)]],
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
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const states = new Map(all.map((one) => [one.name, one]));
  return h(
    "section",
    { class: "card part" },
    h("h2", {}, "Containers"),
    h(
      "ul",
      { class: "conditions" },
      [...(spec.initContainers ?? []), ...spec.containers].slice(0, MOST).map((one) => {
        const state = states.get(one.name);
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
  const entries = Object.entries(values ?? {}).slice(0, MOST);
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
