/** object_events: the Events of the cluster about one object, the newest first. */
import { get, query } from "../api.js";
import { age, fill, h } from "../dom.js";

const MOST = 200;

/**
 * Show the Events about an object: all of them on a page of their own, the newest in the overview.
 * @param {HTMLElement} place
 * @param {any} object
 * @param {{isPage: boolean, signal: AbortSignal}} options
 */
export async function drawEvents(place, object, { isPage, signal }) {
  const { uid, namespace } = object.metadata;
  const found = await get(
    `/api/v1${namespace ? `/namespaces/${namespace}` : ""}/events${query({ fieldSelector: `involvedObject.uid=${uid}`, limit: MOST })}`,
    { signal },
  ).catch(() => ({ items: [] }));
  const when = (/** @type {any} */ one) =>
    one.lastTimestamp ?? one.series?.lastObservedTime ?? one.eventTime ?? one.metadata.creationTimestamp;
  const items = (found.items ?? [])
    .sort((/** @type {any} */ a, /** @type {any} */ b) => (when(a) < when(b) ? 1 : -1))
    .slice(0, isPage ? MOST : 8);
  if (!items.length)
    return fill(
      place,
      isPage ? h("div", { class: "empty" }, h("strong", {}, "No events"), "Events are kept for an hour.") : null,
    );
  fill(
    place,
    h(
      "section",
      { class: "card part" },
      h("h2", {}, "Events"),
      h(
        "ol",
        { class: "events" },
        items.map((/** @type {any} */ one) =>
          h(
            "li",
            {},
            h("span", { class: `dot ${one.type === "Warning" ? "warn" : "ok"}` }),
            h("div", { class: "grow" }, h("strong", {}, one.reason), " ", h("span", { class: "quiet" }, one.message)),
            h(
              "span",
              { class: "faint" },
              `${(one.count ?? one.series?.count ?? 1) > 1 ? `${one.count ?? one.series.count} × ` : ""}${age(when(one))}`,
            ),
          ),
        ),
      ),
    ),
  );
}
