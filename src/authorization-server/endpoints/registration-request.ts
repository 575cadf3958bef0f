import type { Context, Next } from 'koa';
import {
  checkAuthMethod,
  checkName,
  checkRedirectUris,
  type Metadata,
  type MetadataRefusal,
  normalizeRegistration,
} from '../client-metadata.ts';
import { tolerate } from '../tolerances/tolerate.ts';
import { BodyRefused, readBody, replayBody } from './request-body.ts';

/** Limits of a registration (T-060, T-062). */
const limits = { bytes: 56 * 1024, levels: 8 } as const;

/** Members that are null or empty say nothing; several clients send all they know of (RFC 7591 section 2: all optional). */
function dropEmpty(metadata: Metadata): Metadata {
  const said = Object.entries(metadata).filter(([, value]) => value !== null && value !== '');
  if (said.length === Object.keys(metadata).length) return metadata;
  return tolerate('emptyMembers', 'null or empty members') ? Object.fromEntries(said) : metadata;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((entry) => isDeeper(entry, levels - 1));
}

function parseMetadata(body: Buffer): { metadata: Metadata } | { refusal: MetadataRefusal } {
  const refuse = (description: string) => ({
    refusal: { status: 400, error: 'invalid_client_metadata', description } as const,
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return refuse('the body must be JSON in UTF-8');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return refuse('the body must be a JSON object');
  if (isDeeper(parsed, limits.levels)) return refuse('the body is nested too deeply');
  return { metadata: dropEmpty(parsed as Metadata) };
}

/**
 * Middleware in front of the engine's registration endpoint: media type, size, JSON, redirect URIs, name, authentication method, then the
 * normal form (RFC 7591 section 3.1).
 */
export async function prepareRegistration(ctx: Context, next: Next): Promise<void> {
  const answer = ({ status, error, description }: MetadataRefusal): void => {
    ctx.status = status;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { error, error_description: description };
  };
  if (!ctx.is('application/json'))
    return answer({
      status: 415,
      error: 'invalid_request',
      description: 'send the client metadata as application/json',
    });
  let body: Buffer;
  try {
    body = await readBody(ctx, limits.bytes);
  } catch (error) {
    if (!(error instanceof BodyRefused)) throw error;
    return answer({ status: error.status, error: 'invalid_request', description: error.message });
  }
  const parsed = parseMetadata(body);
  if ('refusal' in parsed) return answer(parsed.refusal);
  const refusal =
    checkRedirectUris(parsed.metadata) ?? checkName(parsed.metadata) ?? checkAuthMethod(parsed.metadata);
  if (refusal) return answer(refusal);
  replayBody(ctx, Buffer.from(JSON.stringify(normalizeRegistration(parsed.metadata))));
  await next();
}
