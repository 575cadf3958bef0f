import Provider, { type JWK } from 'oidc-provider';
import { describe, expect, it } from 'vitest';
import { compareSecretsAsRegistered } from '../../../src/authorization-server/engine/engine.ts';
import {
  hashClientSecret,
  matchesClientSecret,
} from '../../../src/authorization-server/operator-clients/client-secret.ts';
import { generateKeySet } from '../../../src/crypto/key-schedule.ts';
import { equalSecrets } from '../../../src/crypto/secret.ts';
import { startAdapters } from '../../authorization-server/storage-subject.ts';

const secret = 'a'.repeat(86);
const wrongFirst = `b${secret.slice(1)}`;
const wrongLast = `${secret.slice(0, -1)}b`;

/**
 * The client of the engine that compares what a confidential client sends.
 * @param stored its secret, or the hash of it
 */
async function engineClient(stored = secret) {
  const { adapter } = await startAdapters();
  await adapter('Client').upsert(
    'c',
    {
      client_id: 'c',
      client_secret: stored,
      redirect_uris: ['https://app.example.com/cb'],
      id_token_signed_response_alg: 'ES256',
    },
    0,
  );
  const { signing } = await generateKeySet();
  const provider = new Provider('http://localhost', {
    adapter,
    jwks: { keys: signing as JWK[] },
    features: { devInteractions: { enabled: false } },
  });
  compareSecretsAsRegistered(provider);
  const client = await provider.Client.find('c');
  if (!client) throw new Error('the client is not there');
  return client;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function meanAndVariance(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    mean,
    variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1),
  };
}

/** Welch's t of two samples. */
function welch(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [meanAndVariance(a), meanAndVariance(b)];
  return (x.mean - y.mean) / Math.sqrt(x.variance / a.length + y.variance / b.length);
}

/**
 * Times two inputs in turns, 100 medians of 100 trials each, and gives Welch's t between the medians. Which of the
 * two comes first changes from trial to trial.
 */
async function timingDifference(
  compare: (candidate: string) => unknown,
  first: string,
  last: string,
): Promise<number> {
  const time = async (candidate: string): Promise<number> => {
    const begun = process.hrtime.bigint();
    await compare(candidate);
    return Number(process.hrtime.bigint() - begun);
  };
  const medians: [number[], number[]] = [[], []];
  for (let batch = 0; batch < 105; batch++) {
    const times: [number[], number[]] = [[], []];
    for (let trial = 0; trial < 100; trial++) {
      for (const which of trial % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
        times[which].push(await time(which === 0 ? first : last));
    }
    if (batch < 5) continue;
    medians[0].push(median(times[0]));
    medians[1].push(median(times[1]));
  }
  return Math.abs(welch(...medians));
}

/** The smallest difference of up to three measurements: noise of the machine comes and goes, a leak stays. */
async function leastDifference(compare: (candidate: string) => unknown, first: string, last: string) {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && least >= 5; attempt++)
    least = Math.min(least, await timingDifference(compare, first, last));
  return least;
}

describe('comparing a client secret', () => {
  it('takes the same time whether its first or its last character is wrong (T-048)', async () => {
    const client = await engineClient();
    expect(await client.compareClientSecret(secret)).toBe(true);
    expect(await client.compareClientSecret(wrongFirst)).toBe(false);
    expect(
      await leastDifference((candidate) => client.compareClientSecret(candidate), wrongFirst, wrongLast),
    ).toBeLessThan(5);
    expect(
      await leastDifference((candidate) => equalSecrets(secret, candidate), wrongFirst, wrongLast),
    ).toBeLessThan(5);
  });

  it('of which the operator’s hash is kept takes the same time, too (T-048)', async () => {
    const stored = hashClientSecret(secret);
    const client = await engineClient(stored);
    expect(await client.compareClientSecret(secret)).toBe(true);
    expect(await client.compareClientSecret(wrongFirst)).toBe(false);
    expect(await client.compareClientSecret(stored)).toBe(false);
    expect(
      await leastDifference((candidate) => client.compareClientSecret(candidate), wrongFirst, wrongLast),
    ).toBeLessThan(5);
    expect(
      await leastDifference((candidate) => matchesClientSecret(stored, candidate), wrongFirst, wrongLast),
    ).toBeLessThan(5);
  });

  it('would be caught if it stopped at the first difference', async () => {
    const naive = (candidate: string): boolean => {
      for (let at = 0; at < 4000; at++) if (candidate[at % 86] !== secret[at % 86]) return false;
      return true;
    };
    expect(await timingDifference(naive, wrongFirst, secret)).toBeGreaterThan(5);
  });
});
