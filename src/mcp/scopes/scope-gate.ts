import type {
  ScopeChallenge,
  ScopeChallengeHandler,
  AuthInfo as SdkAuthInfo,
} from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { formatBearerChallenge, formatDpopChallenge } from '../../oauth/challenge.ts';
import { formatScope, isScopeToken, missingScopes, scopeUnion } from '../../oauth/scope.ts';
import { proofAlgorithms } from '../../oauth/signature-algorithms.ts';
import type { Refusal } from '../http/refusal.ts';
import { type Frames, isRecord, type McpLike, type RequestMessage } from '../protocol.ts';
import { type Messages, type Operation, operationOn } from '../reading/messages.ts';
import { createServedMethods, type ServedMethods } from '../reading/methods.ts';
import { toSdkAuthInfo } from '../sdk/caller.ts';
import {
  createRuleTable,
  declaredScopes,
  declaresResources,
  type NeededScopes,
  type ScopeRules,
} from './scope-rules.ts';
import { createUriReader, type UriReader } from './uri-spellings.ts';

/** The scope checks in front of tools, prompts and resources. */
export interface ScopeGate {
  /**
   * Returns the caller with all scopes that the granted ones include. Called by `mcp/transports.ts`, before any other check of the caller.
   */
  effective(authInfo: AuthInfo): AuthInfo;
  /**
   * Checks messages before a server gets any of them: by the rules, and by the scopes that the server declares. The
   * refusal names all scopes that the refused messages need, including held ones, at once (A8-04, T-102). A URI that
   * cannot be read within the bounds is refused, if there are rules for resources (T-204). Each transport calls it (legacy,
   * HTTP+SSE, Rest, 2026-07-28), or the handler of 2026-07-28 itself if it `checksScopesItself`.
   * @param server the server that will answer; without it only the rules count
   * @throws errors of the server's own rules; then no message may reach it
   */
  check(messages: Messages, authInfo: AuthInfo, server?: McpLike): Promise<Refusal | undefined>;
  /**
   * Returns all scopes that an operation needs, by the rules and by the scopes that the server declares.
   * @param caller passed to the server's own rules, without its scopes
   * @throws errors of the server's own rules; RangeError for a URI that cannot be read within the bounds
   */
  neededBy(operation: Operation, caller: AuthInfo, server?: McpLike): Promise<readonly string[]>;
  /** Removes the items of a list that the caller may not use, if the rules say so. */
  filterResult: FilterResult;
}

/**
 * Returns the result of a method as its caller may see it.
 * @param server the server that answered; without it, the scopes that it declares do not count
 */
export type FilterResult = (
  method: string,
  result: Record<string, unknown>,
  authInfo: AuthInfo,
  server?: McpLike,
) => Record<string, unknown>;

/**
 * Creates the scope checks in front of tools, prompts and resources.
 * @param resourceMetadataUrl part of each challenge
 * @param served the scopes of methods that were opened by name; none by default
 * @see MCP authorization "Scope Challenge Handling"; RFC 6750 section 3.1
 */
export function createScopeGate(
  rules: ScopeRules,
  resourceMetadataUrl: string,
  served: Pick<ServedMethods, 'scopesOf'> = createServedMethods(),
): ScopeGate {
  const { otherwise = [], implies = {}, lists = 'all' } = rules;
  const table = createRuleTable(rules);
  const hierarchy = createScopeHierarchy(implies);

  const neededAsNamed = (
    operation: Pick<Operation, 'kind' | 'name'>,
    server?: McpLike,
    isFolded?: boolean,
  ): readonly string[] => {
    if (operation.kind === 'method') {
      const own = served.scopesOf(operation.name) ?? [];
      return own.length > 0 ? own : otherwise;
    }
    const byRule = table(operation, isFolded);
    const declared = server && declaredScopes(server)?.(operation, isFolded);
    return byRule && declared ? scopeUnion(byRule, declared) : (byRule ?? declared ?? otherwise);
  };
  const hasOwnRules = Object.keys(rules.resources ?? {}).length > 0;
  const hasResourceRules = (server?: McpLike): boolean =>
    hasOwnRules || (server !== undefined && declaresResources(server));
  /** A resource needs the scopes of every resource that its URI may lead to (T-110, T-212). */
  const neededWith =
    (readUri: UriReader): NeededScopes =>
    (operation, server) => {
      const { kind, name } = operation;
      if (kind !== 'resource') return neededAsNamed(operation, server);
      if (!hasResourceRules(server)) return otherwise;
      const reading = readUri(name);
      if (!reading) return undefined;
      const written = neededAsNamed({ kind, name: reading.href }, server);
      const folded = reading.folded.map((text) => neededAsNamed({ kind, name: text }, server, true));
      return scopeUnion(written, ...folded);
    };
  /** Returns all scopes that the refused operations need, held ones included; none if all are allowed. */
  const neededByRefused = (
    operations: readonly Operation[],
    authInfo: AuthInfo,
    server?: McpLike,
  ): string[] | undefined => {
    const needed = neededWith(createUriReader('message'));
    const refused: (readonly string[])[] = [];
    for (const operation of operations) {
      const scopes = needed(operation, server);
      if (!scopes) return undefined;
      if (missingScopes(authInfo.scopes, scopes).length > 0) refused.push(scopes);
    }
    return refused.length === 0 ? [] : scopeUnion(...refused);
  };

  return {
    effective(authInfo) {
      const scopes = hierarchy(authInfo.scopes);
      return scopes === authInfo.scopes ? authInfo : { ...authInfo, scopes };
    },
    async check(messages, authInfo, server) {
      const { operations } = messages;
      if (operations.length === 0) return undefined;
      const scopes = neededByRefused(operations, authInfo, server);
      if (!scopes) return refuseUnreadable(messages);
      const challenges = await challengesOf(operations, authInfo, server);
      if (scopes.length === 0 && challenges.length === 0) return undefined;
      const all = scopeUnion(scopes, ...challenges.map((challenge) => challenge.scopes));
      const description = challenges.find(({ errorDescription }) => errorDescription)?.errorDescription;
      const isBound = authInfo.keyThumbprint !== undefined;
      return refuseForScopes({ scopes: all, description, resourceMetadataUrl, isBound }, messages);
    },
    async neededBy(operation, caller, server) {
      const scopes = neededWith(createUriReader('message'))(operation, server);
      if (!scopes) throw new RangeError('The URI cannot be read within the bounds.');
      if (!server) return scopes;
      const nobody = toSdkAuthInfo({ ...caller, scopes: [] });
      const challenge = await findScopeChallenge(server, operation.request, nobody);
      return challenge ? scopeUnion(scopes, challenge.scopes) : scopes;
    },
    filterResult:
      lists === 'granted'
        ? createListFilter(() => neededWith(createUriReader('list')))
        : (_method, result) => result,
  };
}

/**
 * Creates the hierarchy of scopes (A8-05).
 * @param implies scope -> scopes it includes, which may include further ones
 * @returns a function from granted scopes to all scopes they include, the granted ones first; it returns the same list
 *   if nothing is added
 */
export function createScopeHierarchy(
  implies: Readonly<Record<string, readonly string[]>>,
): (granted: readonly string[]) => readonly string[] {
  const included = new Map(Object.entries(implies));
  if (included.size === 0) return (granted) => granted;
  return (granted) => {
    const held = new Set(granted);
    // The loop also visits the scopes that it adds. Circles end, because a set holds each scope once.
    for (const scope of held) for (const further of included.get(scope) ?? []) held.add(further);
    return held.size === new Set(granted).size ? granted : [...held];
  };
}

/** Returns the challenges of the server's own rules to a caller's operations. */
async function challengesOf(
  operations: readonly Operation[],
  authInfo: AuthInfo,
  server?: McpLike,
): Promise<ScopeChallenge[]> {
  if (!server || !hasScopeRules(server)) return [];
  const caller = toSdkAuthInfo(authInfo);
  const asked = operations.map(({ request }) => findScopeChallenge(server, request, caller));
  return (await Promise.all(asked)).filter((challenge) => challenge !== undefined);
}

/**
 * Asks a server whether a request lacks scopes by the rules registered with its tools, prompts and resources
 * (`scopeChallenge` of the MCP SDK, version 2). Other servers have no such rules.
 * @param authInfo the caller, in the SDK's form
 * @returns the challenge; undefined if no scope is missing
 * @throws TypeError if the server asks for something that is not a scope; errors of its rules
 */
export async function findScopeChallenge(
  server: McpLike,
  request: RequestMessage,
  authInfo: SdkAuthInfo,
): Promise<ScopeChallenge | undefined> {
  if (!hasScopeRules(server)) return undefined;
  return checkChallenge(await server.resolveScopeChallenge({ request, authInfo }));
}

/**
 * Returns true if a synchronous rule of the server lets a request pass. A rule that returns a promise passes here,
 * because a list is filtered synchronously; the call itself is refused by {@link findScopeChallenge}.
 * @throws as {@link findScopeChallenge}
 */
function passesSynchronousRules(server: McpLike, request: RequestMessage, authInfo: SdkAuthInfo): boolean {
  if (!hasScopeRules(server)) return true;
  const challenge = server.resolveScopeChallenge({ request, authInfo });
  if (challenge === undefined) return true;
  if (!('then' in challenge)) return checkChallenge(challenge) === undefined;
  challenge.then(undefined, () => undefined);
  return true;
}

/** Returns true if a server has scope rules of its own. */
export function hasScopeRules(
  server: McpLike,
): server is McpLike & { resolveScopeChallenge: ScopeChallengeHandler } {
  return 'resolveScopeChallenge' in server && typeof server.resolveScopeChallenge === 'function';
}

function checkChallenge(challenge: ScopeChallenge | undefined): ScopeChallenge | undefined {
  if (challenge === undefined) return undefined;
  const scopes: unknown = challenge.scopes;
  const areScopes =
    Array.isArray(scopes) &&
    scopes.length > 0 &&
    scopes.every((scope) => typeof scope === 'string' && isScopeToken(scope));
  if (!areScopes)
    throw new TypeError('A scope challenge of the MCP server names no scopes, or illegal ones.');
  return challenge;
}

/** List methods: the member with the list, the kind of its entries, and the member that names an entry. */
const listMethods = new Map<string, { member: string; kind: 'tool' | 'prompt' | 'resource'; name: string }>([
  ['tools/list', { member: 'tools', kind: 'tool', name: 'name' }],
  ['prompts/list', { member: 'prompts', kind: 'prompt', name: 'name' }],
  ['resources/list', { member: 'resources', kind: 'resource', name: 'uri' }],
  ['resources/templates/list', { member: 'resourceTemplates', kind: 'resource', name: 'uriTemplate' }],
]);

/**
 * Creates the filter that removes from lists the entries for which the caller lacks scopes. The cursor of a page stays,
 * so a page may be short. A filtered list is not for public caches. An asynchronous rule of the server hides nothing, as
 * the call itself is refused. Entries are hidden if their rule throws, if they have no name, and if their URI cannot be
 * read within the bounds.
 * @param judge called once for each list
 */
function createListFilter(judge: () => NeededScopes): FilterResult {
  const isGranted = (
    needed: NeededScopes,
    operation: Operation,
    authInfo: AuthInfo,
    server?: McpLike,
  ): boolean => {
    const scopes = needed(operation, server);
    if (!scopes || missingScopes(authInfo.scopes, scopes).length > 0) return false;
    if (!server) return true;
    try {
      return passesSynchronousRules(server, operation.request, toSdkAuthInfo(authInfo));
    } catch {
      return false;
    }
  };
  return (method, result, authInfo, server) => {
    const list = listMethods.get(method);
    const entries = list && result[list.member];
    if (!list || !Array.isArray(entries)) return result;
    const needed = judge();
    const shown = entries.filter((entry: unknown) => {
      const name = isRecord(entry) ? entry[list.name] : undefined;
      return typeof name === 'string' && isGranted(needed, operationOn(list.kind, name), authInfo, server);
    });
    const cacheScope = result.cacheScope === 'public' ? { cacheScope: 'private' } : {};
    return { ...result, [list.member]: shown, ...cacheScope };
  };
}

function refuseUnreadable({ isBatch, requests: [first] }: Messages): Refusal {
  return { reason: 'uri_unreadable', ...(first && !isBatch && { id: first.id }) };
}

/** A refusal of messages whose sender lacks scopes. */
export interface ScopeRefusal {
  /** All scopes the call needs. */
  scopes: readonly string[];
  /** The server's own description of the missing scopes. */
  description?: string | undefined;
  resourceMetadataUrl: string;
  /** True if the token of the caller is bound to a key: the next one has to be presented in the same way. */
  isBound?: boolean;
}

/**
 * Creates the refusal of messages whose sender lacks scopes: HTTP 403 with a challenge that names the scopes to ask for.
 * The challenge repeats nothing that the client wrote (T-102). It uses the authentication scheme of the caller.
 * @see RFC 6750 section 3.1; RFC 9449 section 7.1; MCP authorization "Runtime Insufficient Scope Errors" (A8-04)
 */
export function refuseForScopes(
  { scopes, description, resourceMetadataUrl, isBound }: ScopeRefusal,
  { requests }: Frames,
): Refusal {
  const challenge = {
    error: 'insufficient_scope' as const,
    error_description: description ?? 'This call needs more scopes than the access token has.',
    scope: formatScope(scopes),
    resource_metadata: resourceMetadataUrl,
  };
  const [first] = requests;
  return {
    reason: 'insufficient_scope',
    headers: {
      'WWW-Authenticate': isBound
        ? formatDpopChallenge({ ...challenge, algs: proofAlgorithms.join(' ') })
        : formatBearerChallenge(challenge),
    },
    ...(first ? { id: first.id } : {}),
  };
}
