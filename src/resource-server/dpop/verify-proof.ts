import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';
import {
  checkProofClaims,
  checkProofHeader,
  type DpopNonces,
  nonceLifeSeconds,
  type ProofClaims,
  type ProofFault,
  proofWindowSeconds,
  type UsedProofs,
} from './proof-checks.ts';

/** DPoP policy of a resource server. */
export interface DpopPolicy {
  /** Origin of the public URL: proofs name it, whatever `Host` says. */
  publicOrigin: string;
  nonces: DpopNonces;
  usedProofs: UsedProofs;
  /** True if a proof needs a nonce of this server, however recent it is. */
  requireNonce: boolean;
  /** True to reject bearer tokens. */
  required: boolean;
  /** Epoch seconds. */
  now: () => number;
}

/** The parts of a request that a proof covers. */
export interface ProvenRequest {
  method: string;
  /** Path and query as sent. */
  target: string;
  /** Every `DPoP` header field, in order. */
  proofs: readonly string[];
  /** True if another server of the installation has recorded the proof as used, for this very request. */
  isRecorded?: boolean;
}

/** A token with the thumbprint of its key. */
export interface BoundToken {
  accessToken: string;
  keyThumbprint: string;
}

/** The result, with the nonce for the client's next proof if it used none or an older one. */
export interface ProofVerdict {
  fault?: ProofFault;
  nextNonce?: string;
}

/** Maximum length of a proof, in characters. */
const maxProofLength = 8192;

/** Retention of a used proof, in seconds: the lifetime of its nonce, or the time window of its `iat`. */
const rememberedSeconds = nonceLifeSeconds + 2 * proofWindowSeconds;

/**
 * Verifies the proof of possession for a token: a single proof, its header, its signature, its claims, its key, and its
 * first use.
 * @throws as the replay detection if it is unavailable
 * @see RFC 9449 sections 4.3 and 7.1 (A13-09)
 */
export async function verifyProof(
  request: ProvenRequest,
  token: BoundToken,
  policy: DpopPolicy,
): Promise<ProofVerdict> {
  const [proof = '', ...more] = request.proofs;
  if (proof === '') return { fault: 'no_proof' };
  if (more.length > 0 || proof.includes(',')) return { fault: 'several_proofs' };
  if (proof.length > maxProofLength) return { fault: 'too_long' };
  const read = await readProof(proof);
  if ('fault' in read) return read;
  const { claims, thumbprint } = read;

  const current = policy.nonces.current();
  const nextNonce = claims.nonce === current ? undefined : { nextNonce: current };
  const nowSeconds = policy.now();
  const fault =
    checkProofClaims(claims, {
      method: request.method,
      url: `${policy.publicOrigin}${request.target}`,
      accessToken: token.accessToken,
      nonces: policy.nonces,
      requireNonce: policy.requireNonce,
      nowSeconds,
    }) ?? (thumbprint === token.keyThumbprint ? undefined : 'other_key');
  if (fault) return { fault, ...nextNonce };
  if (request.isRecorded) return { ...nextNonce };
  const id = createHash('sha256')
    .update(`${thumbprint}\0${String(claims.jti)}`)
    .digest('base64url');
  if (!(await policy.usedProofs.useOnce(id, nowSeconds + rememberedSeconds)))
    return { fault: 'used_before', ...nextNonce };
  return { ...nextNonce };
}

/** The claims of a proof with a valid signature, and the thumbprint of its key (RFC 7638). */
type ReadProof = { claims: ProofClaims; thumbprint: string } | { fault: ProofFault };

async function readProof(proof: string): Promise<ReadProof> {
  const header = parseHeader(proof);
  if (!header) return { fault: 'no_jwt' };
  const fault = checkProofHeader(header);
  if (fault) return { fault };
  const jwk = header.jwk as JWK;
  const alg = String(header.alg);
  try {
    const key = await importJWK(jwk, alg);
    const { payload } = await compactVerify(proof, key, { algorithms: [alg] });
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    if (typeof claims !== 'object' || claims === null) return { fault: 'no_jwt' };
    return { claims: claims as ProofClaims, thumbprint: await calculateJwkThumbprint(jwk) };
  } catch {
    return { fault: 'bad_signature' };
  }
}

function parseHeader(proof: string): ReturnType<typeof decodeProtectedHeader> | undefined {
  try {
    return decodeProtectedHeader(proof);
  } catch {
    return undefined;
  }
}
