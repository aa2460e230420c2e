/** timeline_page: the timeline of this server, live. */
import { ApiError, get, kinds, query, send } from "../api.js";
import { fill, h, toast } from "../dom.js";
import { objectLink } from "../shell.js";
import { thenLink } from "./then_page.js";
import { Timeline } from "./timeline.js";
import { textOf } from "../yaml.js";

const PAUSE = 1000;

/** Save the report of the server as a file. */
async function download() {
  try {
    const page = await (await send("/ui/api/report", { accept: "text/html" })).blob();
    const link = h("a", { href: URL.createObjectURL(page), download: "apiserver-report.html" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), PAUSE);
  } catch (error) {
    toast(/** @type {Error} */ (error).message);
  }
}

/** @returns {Promise<import("../shell.js").Page>} */
export async function timelinePage() {
  const all = await kinds();
  const first = await get("/ui/api/timeline");
  const stop = new AbortController();
  const body = h("div", { class: "fixed" });
  const problem = h("div", { class: "hidden" });
  const place = h("div", { class: "tl-page" });
  body.append(problem, place);
  const kindOf = (/** @type {{group: string, resource: string}} */ one) =>
    all.find((kind) => kind.group === one.group && kind.resource === one.resource);
  const timeline = new Timeline(place, {
    isLive: true,
    objectLink: (one) => {
      const kind = kindOf(one);
      return kind ? objectLink(kind, one.namespace, one.name) : "";
    },
    thenLink,
    objectAt: async (change) => {
      const { before, after } = await get(
        `/ui/api/timeline/object${query({ group: change.group, resource: change.resource, uid: change.uid, revision: change.revision })}`,
      );
      const object = Object.keys(after).length ? after : before;
      const { managedFields: _, ...metadata } = object.metadata;
      return textOf({ ...object, metadata });
    },
  });
  timeline.add(first);

  async function follow() {
    let next = first.next;
    while (!stop.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (document.hidden || stop.signal.aborted) continue;
      try {
        const data = await get(`/ui/api/timeline${query(next)}`, { signal: stop.signal });
        next = data.next;
        timeline.add(data);
        problem.className = "hidden";
      } catch (error) {
        if (stop.signal.aborted) return;
        problem.className = "note warn";
        fill(problem, error instanceof ApiError ? error.message : "The server does not answer.");
      }
    }
  }
  follow();
  return {
    title: "Timeline",
    actions: [h("button", { class: "button", type: "button", onclick: download }, "Save a report")],
    body,
    keys: {
      "/": () => timeline.filters.search.focus(),
      " ": () => timeline.time.hold(!timeline.time.isHeld),
      j: () => timeline.step(-1),
      k: () => timeline.step(1),
      ArrowLeft: () => timeline.step(-1),
      ArrowRight: () => timeline.step(1),
      "+": () => timeline.time.zoom(-1),
      "-": () => timeline.time.zoom(1),
    },
    escape: () => timeline.time.hold(false),
    leave: () => {
      stop.abort();
      timeline.close();
    },
  };
}
