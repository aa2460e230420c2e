/** then_page: an object as it was after one change, as long as the watch window has the change. */
import { get, query } from "../api.js";
import { h } from "../dom.js";
import { managedYaml } from "../object/managed_yaml.js";

/** The address of the page. @param {{group: string, resource: string, uid: string, revision: number}} change */
export const thenLink = ({ group, resource, uid, revision }) =>
  `#/then/${[group || "core", resource, uid, revision].map((one) => encodeURIComponent(one)).join("/")}`;

/**
 * @param {string[]} parts group, resource, uid and revision
 * @returns {Promise<import("../shell.js").Page>}
 */
export async function thenPage([group, resource, uid, revision]) {
  const place = query({ group: group === "core" ? "" : group, resource, uid, revision });
  const { before, after } = await get(`/ui/api/timeline/object${place}`);
  const isDeleted = !Object.keys(after).length;
  const object = isDeleted ? before : after;
  const note = isDeleted
    ? `This change, revision ${revision}, has deleted the object. It was like this before.`
    : `The object after the change with revision ${revision}.`;
  const body = h("div", { class: "pad" });
  const draw = (/** @type {boolean} */ showsManagers) =>
    body.replaceChildren(
      h("p", { class: "quiet" }, note),
      ...managedYaml(object, { showsManagers, toggle: () => draw(!showsManagers) }),
    );
  draw(false);
  return {
    title: `${object.metadata.name} then`,
    crumbs: [["Timeline", "#/timeline"]],
    body,
    escape: () => history.back(),
  };
}
