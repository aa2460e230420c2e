/** report: the page of a report: what stands out, the failure, the timeline, the objects, the log. */
import { fill, h } from "./dom.js";
import { differenceList } from "./timeline/details.js";
import { Timeline } from "./timeline/timeline.js";
import { MOST_LINES, linesOf, moreLines } from "./yaml.js";

/** @typedef {{title: string, findings: {tone: string, text: string, detail: string}[], texts: {title: string, text: string}[], timeline: import("./timeline/facts.js").Data, objects: {group: string, resource: string, namespace: string, name: string, state: string, users: string[], changes: number, differences: [string, string | null, string | null][], count: number, object: any}[]}} Report */

const TONES = { created: "ok", changed: "info", deleted: "bad" };

/** @param {Report} report */
function page(report) {
  const place = h("div", { class: "report-timeline card" });
  const [failure, ...others] = report.texts;
  const root = h(
    "main",
    { class: "report" },
    h("header", {}, h("h1", {}, report.title), h("p", { class: "quiet" }, counts(report))),
    report.findings.length
      ? h(
          "section",
          { "aria-label": "What stands out" },
          h("h2", {}, "What stands out"),
          h(
            "ul",
            { class: "findings" },
            report.findings.map((one) =>
              h("li", { class: `note ${one.tone}` }, h("strong", {}, one.text), one.detail && h("p", {}, one.detail)),
            ),
          ),
        )
      : null,
    failure &&
      h(
        "section",
        { "aria-label": failure.title },
        h("h2", {}, failure.title),
        h("pre", { class: "text failure" }, failure.text),
      ),
    h("section", { "aria-label": "Timeline" }, h("h2", {}, "Timeline"), place),
    report.objects.length
      ? h(
          "section",
          { "aria-label": "Objects" },
          h("h2", {}, `Objects that changed (${report.objects.length})`),
          report.objects.map(object),
        )
      : null,
    others.map((one) =>
      h("section", { "aria-label": one.title }, h("h2", {}, one.title), h("pre", { class: "text" }, one.text)),
    ),
  );
  fill(/** @type {HTMLElement} */ (document.getElementById("report")), root);
  const moments = [...report.timeline.requests, ...report.timeline.changes, ...report.timeline.events].map(
    (one) => one.at,
  );
  const first = Math.min(...moments, report.timeline.now);
  const last = Math.max(...moments, first);
  const timeline = new Timeline(place, { isLive: false, span: Math.max(1, (last - first) * 1.08) });
  timeline.add({ ...report.timeline, now: last + Math.max(0.05, (last - first) * 0.04) });
  const bad = timeline.filtered().find((one) => one.tone === "bad" || one.tone === "warn" || one.tone === "fault");
  if (bad) timeline.choose(bad.id);
}

/** @param {Report} report */
function counts({ timeline }) {
  const refused = timeline.requests.filter((one) => one.status >= 400).length;
  return `${timeline.requests.length} requests, ${refused} of them refused; ${timeline.changes.length} changes of objects; ${timeline.events.length} Events.`;
}

/** @param {Report["objects"][number]} one */
function object(one) {
  const about = `${one.resource}${one.group ? `.${one.group}` : ""} ${one.namespace ? `${one.namespace}/` : ""}${one.name}`;
  const words = [one.users.length ? `by ${one.users.join(", ")}` : "", one.changes > 1 ? `${one.changes} changes` : ""];
  const details = h(
    "details",
    { class: "card object" },
    h(
      "summary",
      {},
      h("span", { class: `badge ${TONES[/** @type {"created"} */ (one.state)]}` }, one.state),
      h("strong", { class: "clip" }, about),
      h("span", { class: "faint" }, words.filter(Boolean).join(", ")),
    ),
  );
  details.addEventListener("toggle", () => {
    if (details.children.length > 1) return;
    details.append(
      one.differences.length ? differenceList(one.differences, one.count) : "",
      one.object ? yaml(one.object) : h("p", { class: "note info" }, "This object is too large for a report."),
    );
  });
  return details;
}

/** @param {any} object */
function yaml(object) {
  const { managedFields: _, ...metadata } = object.metadata;
  const lines = linesOf({ ...object, metadata });
  return h(
    "div",
    { class: "code" },
    lines.slice(0, MOST_LINES).map((line) =>
      h(
        "div",
        { class: "line" },
        h(
          "span",
          { class: "text" },
          " ".repeat(line.depth),
          line.tokens.map((token) => h("span", { class: token.kind }, token.text)),
        ),
      ),
    ),
    h("p", { class: "quiet" }, moreLines(lines)),
  );
}

page(JSON.parse(/** @type {HTMLElement} */ (document.getElementById("data")).textContent ?? ""));
