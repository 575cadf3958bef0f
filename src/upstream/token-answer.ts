import * as oauth from 'oauth4webapi';
import {
  asText,
  decodeBody,
  isSuccess,
  type JsonObject,
  type NoteSlip,
  parseObject,
  readForeignAnswer,
} from '../oauth/foreign-json.ts';
import { kindOf } from './ask.ts';
import type { TokenErrorMeaning, UpstreamPreset } from './presets.ts';
import type { UpstreamServer } from './token-endpoint.ts';
import type { UpstreamTokens } from './upstream.ts';
import { UpstreamFault, type UpstreamReason } from './upstream-fault.ts';

/** The tokens of a token response. */
export interface TokenAnswer {
  tokens: UpstreamTokens;
  /** Unverified. */
  idToken?: string | undefined;
}

/** Error codes of RFC 6749 section 5.2 that faults may name; other codes are foreign text. */
const namedErrors = ['invalid_request', 'unsupported_grant_type', 'invalid_scope'];

/**
 * Errors that require the person: OpenID Connect Core 1.0 section 3.1.2.6, which some servers also send from
 * /token.
 */
const personErrors = [
  'interaction_required',
  'login_required',
  'consent_required',
  'account_selection_required',
];

const reasonOfMeaning: Readonly<Record<TokenErrorMeaning, UpstreamReason>> = {
  invalid_grant: 'grant_refused',
  invalid_client: 'client_refused',
  temporarily_unavailable: 'server_error',
};

const standardErrors: Readonly<Record<string, TokenErrorMeaning>> = {
  invalid_grant: 'invalid_grant',
  invalid_client: 'invalid_client',
  unauthorized_client: 'invalid_client',
  temporarily_unavailable: 'temporarily_unavailable',
  server_error: 'temporarily_unavailable',
  slow_down: 'temporarily_unavailable',
  rate_limited: 'temporarily_unavailable',
  ratelimited: 'temporarily_unavailable',
  internal_error: 'temporarily_unavailable',
  internal_server_error: 'temporarily_unavailable',
  service_unavailable: 'temporarily_unavailable',
};

function lookUp<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Maximum lifetime of an access token, in seconds; longer ones are cut. */
const maxLifeSeconds = 10 * 365 * 86_400;

/**
 * Reads the response of a token endpoint (RFC 6749 sections 5.1 and 5.2) with the tolerances of
 * docs/tolerances.md. Faults contain none of its text.
 * @param asked the requested scopes, which are granted if the response names none
 * @param nowSeconds time of the response
 * @throws UpstreamFault
 */
export async function readTokenAnswer(
  name: string,
  preset: UpstreamPreset,
  { as, client }: UpstreamServer,
  response: Response,
  asked: readonly string[],
  nowSeconds: number,
  note?: NoteSlip,
): Promise<TokenAnswer> {
  const fault = (reason: UpstreamReason, detail?: string): UpstreamFault =>
    new UpstreamFault(name, kindOf(reason), reason, detail);
  const { status, headers } = response;
  const text = decodeBody(await response.arrayBuffer());
  const answer = readForeignAnswer({ status, contentType: headers.get('content-type'), text }, 'token', note);
  const body = answer?.members;
  const error = asText(body?.error);
  if (error !== undefined && answer?.status !== 200) {
    const meaning = lookUp(preset.tokenErrors ?? {}, error) ?? lookUp(standardErrors, error);
    if (meaning) throw fault(reasonOfMeaning[meaning]);
    if (personErrors.includes(error)) throw fault('person_required', error);
    throw fault('token_error', namedErrors.includes(error) ? error : undefined);
  }
  if (status === 401) throw fault('client_refused');
  const object = parseObject(text);
  if (!object) throw fault('token_no_object');
  if (!isSuccess(status)) throw fault('token_error');
  const malformed = (): UpstreamFault =>
    new UpstreamFault(name, kindOf('token_malformed'), 'token_malformed', undefined, {
      successor: asText(object.refresh_token),
    });
  if (!body) throw malformed();
  const { id_token: idToken, ...rest } = body;
  const found = await checkTokens(as, client, rest).catch(() => {
    // The errors of oauth4webapi contain the response, and so the tokens.
    throw malformed();
  });
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifeSeconds, scope } = found;
  return {
    tokens: {
      accessToken,
      ...(refreshToken !== undefined && { refreshToken }),
      ...(lifeSeconds !== undefined && {
        expiresAt: nowSeconds + Math.floor(Math.min(lifeSeconds, maxLifeSeconds)),
      }),
      // GitHub and Slack separate scopes by commas.
      scopes: scope === undefined ? asked : scope.split(/[ ,]+/).filter((name_) => name_ !== ''),
    },
    idToken: asText(idToken),
  };
}

/**
 * Checks the members with oauth4webapi. A token that is bound to a key is rejected, because no proof was
 * sent.
 */
async function checkTokens(
  as: oauth.AuthorizationServer,
  client: oauth.Client,
  body: JsonObject,
): Promise<oauth.TokenEndpointResponse> {
  const answer = new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  const found = await oauth.processGenericTokenEndpointResponse(as, client, answer);
  if (found.token_type !== 'bearer') throw new TypeError('not a bearer token');
  return found;
}
