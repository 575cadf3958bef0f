import type { Context, Next } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { isPrivateUseRedirect } from '../../oauth/redirect-uri.ts';
import { formatScope, parseScope, personalScopes, profileScopes, tidyScope } from '../../oauth/scope.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { commitWrites } from '../engine/write-set.ts';
import { canonicalizeResources, type ProtectedResource, type ResourceRegistry } from '../resources.ts';
import { tolerate } from '../tolerances.ts';
import { answerWithOAuthError, type Step } from './endpoint-guards.ts';
import { answerWithErrorPage } from './error-page.ts';
import { readFormBody, replayForm } from './form-body.ts';

/** The advertised response modes. The others would need a script, or put responses into fragments (T-011). */
export const responseModes = ['query'] as const;

/** Answers go as a code, in the query: a page says so to whoever asks for another. */
export const checkResponseParameters: Step = async (ctx, next) => {
  const refusal = refuseResponse(ctx.query);
  if (refusal) return answerWithErrorPage(ctx, 400, refusal);
  await next();
};

/**
 * The client chooses the redirect target of an error, and anybody can register a client. So, before the user has seen a
 * page of this server, the server shows the error with the way back as a link, and is no open redirector (T-005; RFC
 * 9700 section 4.11.2). `prompt=none` has no user to show a page to and is exempt, unless the redirect would start a
 * program: a private-use scheme is opened only after a click of the user (T-214).
 */
export const showErrorBeforeRedirect: Step = async (ctx, next) => {
  await next();
  const asked = (ctx as Partial<KoaContextWithOIDC>).oidc?.params?.prompt ?? ctx.query.prompt;
  const silent = String(asked ?? '')
    .split(' ')
    .includes('none');
  const location = ctx.response.get('Location');
  const error = ctx.state.authorizationError as { error: string; error_description?: string } | undefined;
  if (!error || ctx.status !== 303 || location === '' || (silent && !isPrivateUseRedirect(location))) return;
  ctx.remove('Location');
  answerWithErrorPage(
    ctx,
    400,
    { code: error.error, description: error.error_description },
    { explanation: 'other', backTo: location },
  );
};

/**
 * Creates the step around the engine's authorization endpoint and the return to it after an interaction. Each request
 * has one commit, which also deletes the finished interaction, so an approval gives one code (T-028). A request that is
 * rejected or loses a race writes nothing and sets no cookies.
 */
export function createAuthorizationEndpoint(artifacts: ArtifactStore) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const { result } = await commitWrites(artifacts, async (writes) => {
      await next();
      if (ctx.status >= 400) {
        writes.dropWrites();
        ctx.remove('Set-Cookie');
      }
      return ctx.status < 500;
    });
    // The engine answers with a page of its own, which needs a script, where another person has logged in meanwhile.
    if (result.committed && ctx.status !== 200) return;
    ctx.remove('Location');
    ctx.remove('Set-Cookie');
    answerWithErrorPage(ctx, 400, { code: 'invalid_request' }, { explanation: 'expired' });
  };
}

/** Longest query of an authorization request, in characters: `state` of 8 KB and the rest fit (T-020, T-022). */
const maxQueryLength = 16_384;

/** Rejection of an authorization request: an error code of the standard, and a sentence in ASCII. */
interface RequestRefusal {
  code: string;
  description: string;
}

/** The parameters that say how the answer is to come. */
interface AskedResponse {
  response_mode?: unknown;
  response_type?: unknown;
}

/**
 * Refuses what leads to another answer than a code in the query. Checked before the engine does, which takes `code code`
 * for `code` and sends its refusal of `token` in a fragment (RFC 6749 section 3.1.1; T-009, T-011).
 * @param asked as the request says it
 */
function refuseResponse({
  response_mode: mode,
  response_type: type,
}: AskedResponse): RequestRefusal | undefined {
  if (mode !== undefined && mode !== 'query')
    return { code: 'invalid_request', description: 'response_mode may only be query at this server' };
  if (typeof type === 'string' && type !== '' && type !== 'code')
    return {
      code: 'unsupported_response_type',
      description: 'response_type may only be code at this server',
    };
  return undefined;
}

function asksForNoScope(parameters: URLSearchParams): boolean {
  const asked = parameters.getAll('scope');
  return asked.length < 2 && parseScope(asked[0]).every((scope) => scope === 'offline_access');
}

/**
 * Returns true if a request asks only for scopes of the authorization server, such as `openid email profile`. A grant
 * of these scopes opens no tool, and each call would get 403 (FA-28).
 */
function asksForServerScopesAlone(parameters: URLSearchParams, { scopes }: ProtectedResource): boolean {
  const asked = parameters.getAll('scope');
  const isOfServer = (scope: string): boolean =>
    !Object.hasOwn(scopes, scope) && (personalScopes.includes(scope) || profileScopes.includes(scope));
  return asked.length < 2 && parseScope(asked[0]).every(isOfServer);
}

/** Checks for parameters that the configuration requires and the request leaves out. */
function checkOmissions(parameters: URLSearchParams): RequestRefusal | undefined {
  if (!parameters.has('resource') && !tolerate('missingResource', 'no resource'))
    return { code: 'invalid_target', description: 'name the resource you ask for (RFC 8707)' };
  if (asksForNoScope(parameters) && !tolerate('missingScope', 'no scope'))
    return { code: 'invalid_scope', description: 'name the scopes you ask for (RFC 6749 section 3.3)' };
  return undefined;
}

/**
 * Drops scopes that belong only to other resources: no token for this resource could have them, and the engine would
 * ask for consent to them again and again. If no scope of this resource is left, only `offline_access` is dropped, and
 * the engine rejects the rest: offline access needs something else to be allowed (RFC 6749 section 4.1.2.1).
 */
function dropForeignScopes(
  parameters: URLSearchParams,
  resource: ProtectedResource,
  resources: ResourceRegistry,
): boolean {
  const [given, ...more] = parameters.getAll('scope');
  if (given === undefined || more.length > 0) return false;
  const asked = parseScope(given);
  const named = asked.filter((scope) => scope !== 'offline_access');
  const isHere = (scope: string): boolean => scope === 'openid' || Object.hasOwn(resource.scopes, scope);
  const isForeign = (scope: string): boolean => !isHere(scope) && resources.scopes.includes(scope);
  const kept = named.some(isHere) ? asked.filter((scope) => !isForeign(scope)) : named;
  if (kept.length === asked.length || kept.length === 0) return false;
  parameters.set('scope', formatScope(kept));
  return true;
}

/** Maps each `prompt` to one of the engine. The consent page has the choice of account. @see OpenID Connect Core 1.0 section 3.1.2.1 */
const promptsMeant: ReadonlyMap<string, string> = new Map([
  ['none', 'none'],
  ['login', 'login'],
  ['consent', 'consent'],
  ['select_account', 'consent'],
]);

/** Values of `prompt` that an authorization request may have. */
export const supportedPrompts: readonly string[] = [...promptsMeant.keys()];

/** Rewrites `prompt` to what the engine knows: it refuses the whole request for a value that it does not know (FA-51). */
function completePrompt(parameters: URLSearchParams): boolean {
  const [given, ...more] = parameters.getAll('prompt');
  if (given === undefined || more.length > 0) return false;
  const meant = new Set(given.split(' ').flatMap((prompt) => promptsMeant.get(prompt) ?? []));
  const value = [...meant].join(' ');
  if (value === given) return false;
  if (value === '') parameters.delete('prompt');
  else parameters.set('prompt', value);
  return true;
}

/**
 * Names the resource of a request that names none, if there are several servers: the one that its scopes belong to, or an
 * undecided one, for the person to choose (FA-20).
 */
function nameResource(parameters: URLSearchParams, resources: ResourceRegistry): boolean {
  if (parameters.has('resource')) return false;
  const asked = parseScope(parameters.getAll('scope').join(' '));
  const meant = resources.findUnnamed(asked.filter((scope) => resources.scopes.includes(scope)));
  if (meant === resources.default) return false;
  parameters.set('resource', meant.resource);
  return true;
}

/**
 * Makes the parameters of an authorization request what is meant by them, however it comes: resource indicators
 * canonical or, without any, found out; known prompts, no scopes of other resources, and the baseline scopes if the client
 * asks for none (RFC 6749 section 3.3). Scopes of the authorization server alone ask for none.
 * @param parameters changed in place
 * @returns whether anything was changed
 */
export function completeRequest(parameters: URLSearchParams, resources: ResourceRegistry): boolean {
  const isRewritten = [
    tidyScope(parameters),
    canonicalizeResources(parameters, resources),
    nameResource(parameters, resources),
    completePrompt(parameters),
  ].includes(true);
  const resource = resources.find(parameters.get('resource') ?? '') ?? resources.default;
  const changed = dropForeignScopes(parameters, resource, resources) || isRewritten;
  if (!asksForServerScopesAlone(parameters, resource)) return changed;
  const asked = parameters.getAll('scope');
  parameters.set('scope', formatScope([...resource.baselineScopes, ...parseScope(asked[0])]));
  return true;
}

/**
 * Middleware in front of the engine's authorization endpoint: bounds the query and completes the request; one that was
 * pushed is whole already, and nothing beside it counts (RFC 9126 section 4).
 */
export function prepareAuthorization(resources: ResourceRegistry) {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.querystring.length > maxQueryLength) {
      ctx.throw(414, `The authorization request may have at most ${maxQueryLength} characters.`);
    }
    const query = new URLSearchParams(ctx.querystring);
    if (!query.has('request_uri')) {
      const refusal = checkOmissions(query);
      if (refusal) return answerWithErrorPage(ctx, 400, refusal);
      if (completeRequest(query, resources)) ctx.querystring = query.toString();
    }
    await next();
  };
}

/**
 * Middleware in front of an endpoint that takes an authorization request as a form, and completes it: one that is pushed
 * says how its answer is to come, one of a device does not (RFC 9126 section 2.1; RFC 8628 section 3.1).
 */
export function preparePostedAuthorization(resources: ResourceRegistry) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const form = await readFormBody(ctx);
    if (!form) return;
    const refusal =
      form.size > 0 ? (refuseResponse(Object.fromEntries(form)) ?? checkOmissions(form)) : undefined;
    if (refusal) return answerWithOAuthError(ctx, 400, refusal.code, refusal.description);
    if (form.size > 0 && completeRequest(form, resources)) replayForm(ctx, form);
    await next();
  };
}
