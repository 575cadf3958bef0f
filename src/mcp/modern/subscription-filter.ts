import type { Change } from '../reading/changes.ts';

/** The method with which a client says what it listens to. */
export const listenMethod = 'subscriptions/listen';

/** Notifications that a client wants. Absent kinds are not sent. */
export interface SubscriptionFilter {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
  /** URIs of resources. */
  resourceSubscriptions?: readonly string[];
}

/** Most resources one stream may be about, and how long their URIs may be together, in characters (T-145). */
const maxResources = 1000;
const maxResourcesLength = 131_072;

const lists = ['tools', 'prompts', 'resources'] as const;

/**
 * Reads what a client wants to listen to.
 * @param wish `params.notifications` of `subscriptions/listen`
 * @returns undefined if it is none
 * @see MCP 2026-07-28 "Subscriptions" (C5-01)
 */
export function readFilter(wish: unknown): SubscriptionFilter | undefined {
  if (typeof wish !== 'object' || wish === null || Array.isArray(wish)) return undefined;
  const given = wish as Record<string, unknown>;
  const filter: SubscriptionFilter = {};
  for (const list of lists) {
    const wanted = given[`${list}ListChanged`];
    if (wanted === true) filter[`${list}ListChanged`] = true;
    else if (wanted !== undefined && wanted !== false) return undefined;
  }
  const uris = given.resourceSubscriptions;
  if (uris === undefined) return filter;
  if (!Array.isArray(uris) || uris.length > maxResources) return undefined;
  if (!uris.every((uri): uri is string => typeof uri === 'string')) return undefined;
  if (uris.join('').length > maxResourcesLength) return undefined;
  return uris.length === 0 ? filter : { ...filter, resourceSubscriptions: uris };
}

/**
 * Takes from a wish what the server can tell of.
 * @param capabilities the server's
 */
export function honouredFilter(
  wish: SubscriptionFilter,
  capabilities: Record<string, unknown>,
): SubscriptionFilter {
  const can = (part: string, ability: string): boolean =>
    (capabilities[part] as Record<string, unknown> | undefined)?.[ability] === true;
  const honoured: SubscriptionFilter = {};
  for (const list of lists)
    if (wish[`${list}ListChanged`] && can(list, 'listChanged')) honoured[`${list}ListChanged`] = true;
  if (wish.resourceSubscriptions && can('resources', 'subscribe'))
    honoured.resourceSubscriptions = wish.resourceSubscriptions;
  return honoured;
}

/** Returns true if a client listens to a change. */
export function wants(filter: SubscriptionFilter, { method, params }: Change): boolean {
  if (method === 'notifications/resources/updated')
    return filter.resourceSubscriptions?.some((uri) => uri === params?.uri) === true;
  return lists.some(
    (list) => method === `notifications/${list}/list_changed` && filter[`${list}ListChanged`],
  );
}
