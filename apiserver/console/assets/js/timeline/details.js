/** details: the chosen entry of a timeline in full. */
import { h } from "../dom.js";
import { clock, duration, placeOf, requestWords } from "./facts.js";

/** @typedef {import("./entries.js").Entry} Entry */
/** @typedef {import("./facts.js").ObjectChange} ObjectChange */
/** @typedef {{objectLink?: (change: {group: string, resource: string, namespace: string, name: string}) => string, objectAt?: (change: ObjectChange) => Promise<string>, thenLink?: (change: ObjectChange) => string}} Links */

const ABOUT = {
  leader: "another holder of the lease",
  collected: "deleted with an owner: garbage collection, or the controller",
  renewal: "renewal of a lease",
};

/** @param {Entry} entry @param {Links} links @returns {HTMLElement[]} */
export function details(entry, links) {
  const heading = h("h2", {}, entry.title);
  if (entry.step) return [heading, ...ofDecision(entry)];
  if (entry.request) return [heading, ...ofTracedRequest(entry)];
  if (entry.event) return [heading, ...ofKubernetesEvent(entry.event)];
  return [heading, ...ofObjectChange(/** @type {ObjectChange} */ (entry.change), links)];
}

/** @param {Entry} entry */
function ofDecision(entry) {
  const step = /** @type {import("./facts.js").TracedStep} */ (entry.step);
  const request = /** @type {import("./facts.js").TracedRequest} */ (entry.request);
  return [
    factList([
      ["When", clock(entry.at)],
      [step.kind === "fault" ? "Injected fault" : `Admission ${step.kind}`, step.by],
      ["Decision", step.verdict],
      ["Took", step.kind === "fault" ? "" : duration(step.seconds)],
      ["Request", requestWords(request)],
      ["Client", request.client],
      ["User", request.user],
      ["Fields", step.verdict === "changed" ? step.detail : ""],
    ]),
    ...(step.detail && step.verdict !== "changed"
      ? [h("p", { class: `note ${step.verdict === "refused" ? "bad" : "warn"}` }, step.detail)]
      : []),
  ];
}

/** @param {Entry} entry */
function ofTracedRequest(entry) {
  const one = /** @type {import("./facts.js").TracedRequest} */ (entry.request);
  const notes = Object.entries(one.notes).filter(([key, value]) => value && key !== "authorization.k8s.io/decision");
  return [
    factList([
      ["When", clock(one.at)],
      ["Took", one.seconds === null ? "still running" : duration(one.seconds)],
      ["Answer", [one.status || "no answer", one.reason].filter(Boolean).join(" ")],
      ["User", one.user],
      ["Client", one.client],
      ["Process", String(one.process)],
      ["Retry", entry.retry ? String(entry.retry) : ""],
      ["Injected fault", one.fault],
      ...notes.map(
        ([key, value]) =>
          /** @type {[string, string]} */ ([key.replace("authorization.k8s.io/reason", "Authorization"), value]),
      ),
    ]),
    ...(one.message ? [h("p", { class: "note bad" }, one.message)] : []),
    ...(one.steps.length ? [stepTable(one.steps)] : []),
  ];
}

/** @param {import("./facts.js").TracedStep[]} steps */
function stepTable(steps) {
  return h(
    "ol",
    { class: "tl-decisions", "aria-label": "Steps of the request" },
    steps.map((one) =>
      h(
        "li",
        {},
        h(
          "span",
          { class: `badge ${one.verdict === "refused" ? "bad" : one.kind === "fault" ? "warn" : ""}` },
          one.verdict,
        ),
        h("strong", {}, one.by),
        h("span", { class: "quiet grow" }, one.detail),
        h("span", { class: "faint" }, one.kind === "fault" ? "" : duration(one.seconds)),
      ),
    ),
  );
}

/** @param {import("./facts.js").KubernetesEvent} one */
function ofKubernetesEvent(one) {
  return [
    factList([
      ["When", clock(one.at)],
      ["Type", one.type],
      ["Object", `${one.kind} ${placeOf(one)}`],
      ["From", one.source],
      ["Count", one.count > 1 ? String(one.count) : ""],
    ]),
    h("p", { class: `note ${one.type === "Warning" ? "warn" : "info"}` }, one.message),
  ];
}

/** @param {ObjectChange} change @param {Links} links */
function ofObjectChange(change, links) {
  const link = links.objectLink?.(change);
  const then = h("pre", { class: "tl-then" });
  const { objectAt } = links;
  const show = async () => {
    then.textContent = "…";
    then.textContent = await /** @type {NonNullable<typeof objectAt>} */ (objectAt)(change).catch(
      (error) => error.message,
    );
  };
  return [
    factList([
      ["When", clock(change.at)],
      ["Field manager", [change.manager, change.operation && `(${change.operation})`].filter(Boolean).join(" ")],
      ["Owner", change.owner],
      ["Revision", String(change.revision)],
      ["What", ABOUT[/** @type {"leader"} */ (change.about)] ?? ""],
    ]),
    ...(change.differences.length ? [differenceList(change.differences, change.count)] : []),
    ...(change.isCompared ? [] : [h("p", { class: "note info" }, "This change is too large to compare.")]),
    h(
      "div",
      { class: "tl-links" },
      link && h("a", { class: "button", href: link }, "The object now"),
      objectAt && h("button", { class: "button", type: "button", onclick: show }, "The object then"),
      links.thenLink && h("a", { class: "button", href: links.thenLink(change) }, "Link to it"),
    ),
    then,
  ];
}

/** The first fields that differ, before and after. @param {[string, string | null, string | null][]} rows @param {number} count */
export function differenceList(rows, count) {
  const more = count - rows.length;
  return h(
    "div",
    { class: "tl-diff" },
    rows.map(([path, before, after]) =>
      h(
        "div",
        {},
        h("code", { class: "path" }, path),
        before !== null && h("code", { class: "before" }, before),
        after !== null && h("code", { class: "after" }, after),
      ),
    ),
    more > 0 && h("p", { class: "quiet" }, `and ${more} more fields`),
  );
}

/** @param {[string, string][]} pairs */
function factList(pairs) {
  const rows = pairs.filter(([, value]) => value).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]);
  return h("dl", { class: "facts" }, rows);
}
