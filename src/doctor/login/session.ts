import { clientAuthentication } from '../../client/building-blocks.ts';
import {
  ClientError,
  type ClientErrorReason,
  type Credential,
  processAuthorizationResponse,
  type Registration,
  revokeCredential,
  type UsableAuthorizationServer,
} from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { asText, parseObject, readForeignAnswer } from '../../oauth/foreign-json.ts';
import type { ReadingToleranceName } from '../../oauth/reading-tolerances.ts';
import { type Answer, ask } from '../ask.ts';
import { type Judgement, unknown } from '../check.ts';
import type { Subject } from '../subject.ts';
import { type Consent, type ConsentProbe, firstConsent } from './consent.ts';

/** A login of the examination. */
export interface Session extends Consent {
  code: string;
  /** Response to the redemption of the code. */
  redemption: TokenAnswer;
  /** Tokens of the latest response; each renewal replaces them. */
  held: IssuedTokens;
  /** A refresh token that may count as used: it is only revoked at the end. */
  spentRefreshToken?: string;
}

/** A login, or the reason why there is none. */
export type SessionProbe = ({ kind: 'open' } & Session) | { kind: 'missing'; judgement: Judgement };

/**
 * Converts the session for the client library.
 * @param now epoch seconds
 */
export function credentialOf({ found, client, held }: Session, now: number): Credential {
  const { accessToken, refreshToken, expiresInSeconds } = held;
  return {
    authorizationServer: found.authorizationServer,
    resource: found.resource,
    clientId: client.clientId,
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(expiresInSeconds === undefined ? {} : { expiresAt: now + expiresInSeconds }),
  };
}

/**
 * Redeems the code of a consent.
 * @param changes changed parameters of a good request
 * @see RFC 6749 section 4.1.3; RFC 7636 section 4.5
 */
export function redeemCode(
  subject: Subject,
  { found, client, pending }: Consent,
  code: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<TokenAnswer> {
  return askForTokens(subject, found.authorizationServer, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: pending.redirectUri,
    code_verifier: pending.codeVerifier,
    resource: pending.resource,
    ...changes,
  });
}

/**
 * Redeems the refresh token of a session, and stores the new tokens in it.
 * @param session must have a refresh token
 * @param changes changed parameters of a good request
 * @see RFC 6749 section 6; RFC 8707 section 2.2
 */
export async function refreshSession(
  subject: Subject,
  session: Session,
  changes: Readonly<Record<string, string>> = {},
): Promise<TokenAnswer> {
  const { found, client, held } = session;
  const answer = await askForTokens(subject, found.authorizationServer, client, {
    grant_type: 'refresh_token',
    refresh_token: held.refreshToken ?? '',
    resource: found.resource,
    ...changes,
  });
  if (answer.tokens !== undefined) session.held = { ...held, ...answer.tokens };
  return answer;
}

/** Id of the check that explains why an authorization response is not used. */
const causes: Partial<Record<ClientErrorReason, string>> = {
  authorization_response_rejected: 'LOGIN-STATE',
  issuer_mismatch: 'LOGIN-ISS',
};

/**
 * Stops the use of a session's refresh token: a server that rejected it may count it as used, and end the login at the
 * next attempt.
 */
export function spendRefreshToken(session: Session): void {
  const { refreshToken, ...held } = session.held;
  if (refreshToken === undefined) return;
  session.held = held;
  session.spentRefreshToken = refreshToken;
}

/**
 * Checks the authorization response as a login does. An invalid response is not used.
 * @returns the code, or the reason why there is none
 */
export function readCode({ pending, query }: Consent): { code: string } | { judgement: Judgement } {
  try {
    return { code: processAuthorizationResponse(pending, query).get('code') ?? '' };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const because = causes[error.reason];
    return {
      judgement: unknown(`The login ended before a token: ${error.message}`, { because }),
    };
  }
}

/**
 * Opens a session, which ends when the examination is over.
 * @param code code of the consent
 * @param redemption response of the token endpoint
 */
export function openSession(
  subject: Subject,
  consent: Consent,
  code: string,
  redemption: TokenAnswer,
): SessionProbe {
  if (redemption.tokens === undefined)
    return {
      kind: 'missing',
      judgement: unknown(`The redemption of the code ${describeTokenAnswer(redemption)}.`),
    };
  const session: Session = { ...consent, code, redemption, held: redemption.tokens };
  const { context } = subject;
  subject.atEnd(() => {
    const { refreshToken = session.spentRefreshToken, ...held } = session.held;
    const latest = { ...session, held: { ...held, ...(refreshToken === undefined ? {} : { refreshToken }) } };
    return revokeCredential(context, credentialOf(latest, context.now()), session.client);
  });
  return Object.assign(session, { kind: 'open' as const });
}

/** Fact: the login after the first consent. */
export async function firstSession(subject: Subject): Promise<SessionProbe> {
  const consent: ConsentProbe = await subject.fact(firstConsent);
  if (consent.kind === 'missing') return consent;
  const read = readCode(consent);
  if ('judgement' in read) return { kind: 'missing', judgement: read.judgement };
  if (consent.found.dpopRequired)
    return {
      kind: 'missing',
      judgement: unknown(
        'The server takes only tokens that are bound to a key (DPoP), and the examination logs in for bearer tokens.',
      ),
    };
  return openSession(subject, consent, read.code, await redeemCode(subject, consent, read.code));
}

/** Tokens of one response. They are used, and never shown. */
interface IssuedTokens {
  accessToken: string;
  refreshToken?: string;
  /** As sent, e.g. `Bearer`. */
  tokenType?: string;
  expiresInSeconds?: number;
  scope?: string;
}

/** Response of the token endpoint. */
export interface TokenAnswer {
  answer: Answer;
  /** JSON object of the response, if it is one. */
  body?: Readonly<Record<string, unknown>>;
  /** The `error` of a rejection. */
  error?: string;
  tokens?: IssuedTokens;
  /** Deviations from the standard that were tolerated, each the end of a sentence. */
  slips?: readonly string[];
  /** Arrival time of the response, epoch milliseconds of this machine. */
  atMs: number;
}

/** Deviations with their own sentences in `LOGIN-TOKEN-RESPONSE`. */
const judgedElsewhere = new Set<ReadingToleranceName>(['mediaType', 'missingTokenType']);

function readTokens(body: Readonly<Record<string, unknown>>): IssuedTokens | undefined {
  const accessToken = asText(body.access_token);
  if (accessToken === undefined) return undefined;
  const refreshToken = asText(body.refresh_token);
  const tokenType = asText(body.token_type);
  const scope = asText(body.scope);
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(tokenType === undefined ? {} : { tokenType }),
    ...(typeof body.expires_in === 'number' ? { expiresInSeconds: body.expires_in } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
}

/**
 * Sends one request to the token endpoint.
 * @param as the authorization server
 * @param parameters the form
 * @see RFC 6749 sections 3.2, 5.1 and 5.2
 */
export async function askForTokens(
  subject: Subject,
  as: UsableAuthorizationServer,
  client: Registration,
  parameters: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  const body = new URLSearchParams(parameters);
  const headers = new Headers({
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  });
  const authenticate = clientAuthentication(client, as.token_endpoint_auth_methods_supported);
  await authenticate(as, { client_id: client.clientId }, body, headers);
  const answer = await ask(subject, as.token_endpoint, { method: 'POST', headers, body: body.toString() });
  const atMs = Date.now();
  if (answer.kind === 'unanswered') return { answer, atMs };
  const { status, headers: fields, text } = answer;
  const slips: string[] = [];
  const contentType = fields.get('content-type');
  const read = readForeignAnswer({ status, contentType, text }, 'token', ({ tolerance, because }) => {
    if (!judgedElsewhere.has(tolerance)) slips.push(because);
  });
  const json = read?.members ?? parseObject(text);
  if (json === undefined) return { answer, slips, atMs };
  const error = asText(json.error);
  const tokens = read?.status === 200 ? readTokens(read.members) : undefined;
  return {
    answer,
    body: json,
    ...(error === undefined ? {} : { error }),
    ...(tokens ? { tokens } : {}),
    slips,
    atMs,
  };
}

/** Describes the response to a token request, as the rest of a sentence without tokens. */
export function describeTokenAnswer({ answer, body, error, tokens }: TokenAnswer): string {
  if (answer.kind === 'unanswered') return `got no answer (${answer.why})`;
  if (tokens !== undefined) return `was answered with tokens (status ${answer.status})`;
  const { status, headers } = answer;
  if (error !== undefined) {
    const why = body?.error_description;
    return `was refused with status ${status}, ${quote(error)}${typeof why === 'string' ? ` (${quote(why)})` : ''}`;
  }
  const type = headers.get('content-type') ?? 'no Content-Type';
  return `was answered with status ${status} (${quote(type)}) without an OAuth error`;
}
