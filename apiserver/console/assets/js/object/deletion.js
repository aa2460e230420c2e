/** deletion: asks whether an object is to be deleted, and deletes it. */
import { pathOf, send } from "../api.js";
import { h, toast } from "../dom.js";

/** @param {import("../api.js").Kind} kind @param {any} object */
export function confirmDelete(kind, object) {
  const { name, namespace } = object.metadata;
  const remove = () => {
    dialog.close();
    deleteNow(kind, object);
  };
  const dialog = h(
    "dialog",
    { class: "help", "aria-label": "Delete", onclose: () => dialog.remove() },
    h("h1", {}, `Delete ${name}?`),
    h(
      "p",
      { class: "quiet" },
      `${kind.kind}${namespace ? ` in ${namespace}` : ""}. Its dependents are deleted by the garbage collector.`,
    ),
    h(
      "form",
      { class: "row-of-buttons", method: "dialog" },
      h("button", { class: "button", autofocus: true }, "Keep it"),
      h("button", { class: "button danger", type: "button", onclick: remove }, "Delete"),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {import("../api.js").Kind} kind @param {any} object */
async function deleteNow(kind, object) {
  const { name, namespace = "", uid } = object.metadata;
  try {
    await send(pathOf(kind, namespace, name), {
      method: "DELETE",
      body: { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background", preconditions: { uid } },
    });
    toast(`${name} is being deleted`);
  } catch (error) {
    toast(/** @type {Error} */ (error).message);
  }
}
