// Races of parallel requests over two nodes as processes, over and over (flows of
// src/authorization-server/endpoints/token-endpoint.ts and src/storage/postgres/connection/writer.ts).
// The full number of rounds for each number of requests at once is a thousand:
//   GATEHOUSE_ROUNDS=1000 npx vitest run test/flows/cluster/races
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obtainTokens, redeem, refresh, register, type Tokens, tryAccess } from '../../support/oauth.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { createVisitor } from '../../support/visitor.ts';
import { familiesSql } from '../token/families.ts';
import { countStatuses, expectRefused, expectTokens, obtainCode } from '../token/subject.ts';
import { type NodeProcesses, startNodeProcesses } from './support/library-nodes.ts';

const rounds = Number(process.env.GATEHOUSE_ROUNDS || 2);
const parallel = [2, 5, 20, 50];
const timeoutMs = 120_000 + rounds * 5_000;

const server = usePostgres();
let two: NodeProcesses;
let rows: pg.Client;
/** Addresses of the nodes, without the balancer: each gets half of the requests of a race. */
let urls: string[];
beforeAll(async () => {
  const database = await server().createDatabase();
  two = await startNodeProcesses({ database, count: 2, server: 'slow' });
  urls = two.nodes.map(({ listensAt: { host, port } }) => `http://${host}:${port}`);
  rows = new pg.Client({ connectionString: database });
  await rows.connect();
});
afterAll(async () => {
  await rows.end();
  await two.stop();
});

const scopes = { scope: 'mcp', scopes: ['mcp'] };

/** Counts the grants of a client, and its refresh tokens that were not used yet. */
async function familiesOf(clientId: string): Promise<[number, number]> {
  const [families] = (await rows.query<{ grants: string; heads: string }>(familiesSql, [clientId])).rows;
  return [Number(families?.grants), Number(families?.heads)];
}

function askBoth(times: number, ask: (url: string) => Promise<Response>): Promise<Response[]> {
  return Promise.all(Array.from({ length: times }, (_, at) => ask(urls[at % urls.length] ?? '')));
}

describe('two nodes', () => {
  it.each(parallel)(
    `give %i parallel refreshes the same answer, in ${rounds} rounds, and there is one family (T-043)`,
    async (times) => {
      const { clientId, tokens } = await obtainTokens(two, scopes);
      let current: Tokens = tokens;
      for (let round = 0; round < rounds; round++) {
        const responses = await askBoth(times, (url) => refresh(url, clientId, current.refresh_token));
        const answers = await Promise.all(responses.map(expectTokens));
        const [answer] = answers;
        for (const other of answers)
          expect([other.access_token, other.refresh_token]).toEqual([
            answer?.access_token,
            answer?.refresh_token,
          ]);
        expect(answer?.refresh_token).not.toBe(current.refresh_token);
        expect(await familiesOf(clientId)).toEqual([1, 1]);
        current = answer ?? current;
        expect(await tryAccess(two.mcpUrl, current.access_token)).toBe(200);
      }
    },
    timeoutMs,
  );

  it.each(parallel)(
    `give one of %i parallel redemptions tokens, in ${rounds} rounds, leave no family, and lock nobody out (T-036, T-032)`,
    async (times) => {
      const { client_id: clientId } = await register(two.url);
      const visitor = createVisitor();
      for (let round = 0; round < rounds; round++) {
        const { flow, code } = await obtainCode(two, clientId, visitor, scopes);
        const responses = await askBoth(times, (url) => redeem(url, flow, code));
        expect(countStatuses(responses)).toEqual({ 200: 1, 400: times - 1 });
        for (const response of responses)
          if (response.status !== 200) await expectRefused(response, 'invalid_grant');
          else {
            const won = await expectTokens(response);
            expect(await tryAccess(two.mcpUrl, won.access_token)).toBe(401);
            await expectRefused(await refresh(two.url, clientId, won.refresh_token), 'invalid_grant');
          }
        expect(await familiesOf(clientId)).toEqual([0, 0]);
      }
      const { flow, code } = await obtainCode(two, clientId, visitor, scopes);
      const tokens = await expectTokens(await redeem(two.url, flow, code));
      expect(await tryAccess(two.mcpUrl, tokens.access_token)).toBe(200);
    },
    timeoutMs,
  );
});
