/** rules: RBAC's bindings and roles that concern a question, and what each lacks. */
import { get } from "./api.js";

/** @typedef {{binding: {name: string, namespace: string, isCluster: boolean}, role: {name: string, isCluster: boolean}, subject: string, rule: any, lacks: string[]}} Found */

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/**
 * The rules that allow it, and those of the user's roles that lack one or two things.
 * @param {{user: string, groups: string[]}} who
 * @param {import("./access.js").Question} question
 * @returns {Promise<{problem: string, matched: Found[], near: Found[]}>}
 */
export async function explain(who, question) {
  const lists = await Promise.all(
    ["clusterrolebindings", "rolebindings", "clusterroles", "roles"].map((one) => get(`${RBAC}/${one}`)),
  );
  const [clusterBindings, bindings, clusterRoles, roles] = lists.map((one) => one.items ?? []);
  const rulesOf = new Map([
    ...clusterRoles.map((/** @type {any} */ one) => [`/${one.metadata.name}`, one.rules ?? []]),
    ...roles.map((/** @type {any} */ one) => [`${one.metadata.namespace}/${one.metadata.name}`, one.rules ?? []]),
  ]);
  /** @type {Found[]} */
  const found = [];
  for (const one of [...clusterBindings, ...bindings]) {
    const subject = subjectOf(one, who);
    if (!subject) continue;
    const { name, namespace = "" } = one.metadata;
    const isCluster = one.roleRef.kind === "ClusterRole";
    for (const rule of rulesOf.get(`${isCluster ? "" : namespace}/${one.roleRef.name}`) ?? []) {
      const lacks = lackOf(rule, question, namespace);
      if (lacks)
        found.push({
          binding: { name, namespace, isCluster: !namespace },
          role: { name: one.roleRef.name, isCluster },
          subject,
          rule,
          lacks,
        });
    }
  }
  const near = found.filter((one) => one.lacks.length).sort((a, b) => a.lacks.length - b.lacks.length);
  return { problem: "", matched: found.filter((one) => !one.lacks.length), near };
}

/**
 * By which of its subjects a binding holds for a user; empty when by none.
 * @param {any} binding
 * @param {{user: string, groups: string[]}} who
 */
function subjectOf(binding, { user, groups }) {
  for (const one of binding.subjects ?? []) {
    if (one.kind === "User" && one.name === user) return `user ${one.name}`;
    if (one.kind === "Group" && groups.includes(one.name)) return `group ${one.name}`;
    if (
      one.kind === "ServiceAccount" &&
      user === `system:serviceaccount:${one.namespace ?? binding.metadata.namespace}:${one.name}`
    )
      return `service account ${one.name}`;
  }
  return "";
}

/** @param {string[] | undefined} list @param {string} value */
const has = (list, value) => Boolean(list?.includes("*") || list?.includes(value));

/**
 * What a rule lacks for a question; undefined when it is about other things.
 * @param {any} rule
 * @param {import("./access.js").Question} question
 * @param {string} namespace the namespace of the binding
 * @returns {string[] | undefined}
 */
function lackOf(rule, { resourceAttributes: of, nonResourceAttributes: path }, namespace) {
  if (path) {
    if (
      namespace ||
      !(rule.nonResourceURLs ?? []).some((/** @type {string} */ one) =>
        one.endsWith("*") ? path.path.startsWith(one.slice(0, -1)) : one === path.path,
      )
    )
      return undefined;
    return has(rule.verbs, path.verb) ? [] : [`the verb ${path.verb}`];
  }
  if (!of) return undefined;
  const resource = of.subresource ? `${of.resource}/${of.subresource}` : of.resource;
  const isResource = has(rule.resources, resource) || (of.subresource && has(rule.resources, `*/${of.subresource}`));
  if (!isResource && !(rule.resources ?? []).some((/** @type {string} */ one) => one.split("/")[0] === of.resource))
    return undefined;
  return [
    ...(isResource ? [] : [`the resource ${resource}`]),
    ...(has(rule.apiGroups, of.group) ? [] : [`the group ${of.group || "core"}`]),
    ...(has(rule.verbs, of.verb) ? [] : [`the verb ${of.verb}`]),
    ...(rule.resourceNames?.length && !rule.resourceNames.includes(of.name)
      ? [of.name ? `the name ${of.name}` : "a rule without names"]
      : []),
    ...(namespace && namespace !== of.namespace
      ? [of.namespace ? `a binding in ${of.namespace}` : "a binding for all namespaces"]
      : []),
  ];
}
