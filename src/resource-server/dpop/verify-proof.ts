import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';
import { type DpopNonces, nonceLifeSeconds, checkProofClaims, checkProofHeader, type ProofClaims, type ProofFault, proofWindowSeconds, type UsedProofs } from './proof-checks.ts';

/** How a resource server takes proofs. */
export interface DpopPolicy {
  /** Origin of the public URL: what proofs name, whatever `Host` says. */
  publicOrigin: string;
  nonces: DpopNonces;
  usedProofs: UsedProofs;
  /** Whether a proof needs a nonce of ours, however recent it is. */
  requireNonce: boolean;
  /** Whether tokens that are bound to no key are refused. */
  required: boolean;
  /** Epoch seconds. */
  now: () => number;
}

/** A request, as far as proofs are about it. */
export interface ProvenRequest {
  method: string;
  /** Path and query, as the client sent them. */
  target: string;
  /** Every `DPoP` header field, in order. */
  proofs: readonly string[];
}

/** A token, and the key it is bound to. */
export interface BoundToken {
  accessToken: string;
  keyThumbprint: string;
}

/** Whether the proof is good, with the nonce the client should use from now on where it used none or an older one. */
export interface ProofVerdict {
  fault?: ProofFault;
  nextNonce?: string;
}

/** Longest proof looked at, in characters. */
const maxProofLength = 8192;

/** How long a used proof could be good again, in seconds: as long as its nonce, or as its time lies in the window. */
const rememberedSeconds = nonceLifeSeconds + 2 * proofWindowSeconds;

/**
 * Decides whether a request proves that its sender holds the key of a token: one proof, its header, its signature,
 * what it says, its key, and that it was never used before.
 * @throws what the memory of used proofs throws when it cannot tell
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
  const id = createHash('sha256')
    .update(`${thumbprint}\0${String(claims.jti)}`)
    .digest('base64url');
  if (!(await policy.usedProofs.useOnce(id, nowSeconds + rememberedSeconds)))
    return { fault: 'used_before', ...nextNonce };
  return { ...nextNonce };
}

/** What a proof says once its signature was found good, and the thumbprint of its key (RFC 7638). */
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
