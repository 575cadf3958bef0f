// Flows of src/cluster/forwarding.ts: no call of one principal is answered with what is of another, at whichever nodes they are.
// The full number of calls is a hundred thousand:
//   GATEHOUSE_CLUSTER_CALLS=100000 npx vitest run test/flows/cluster/crosstalk
import { afterAll, beforeAll, expect, it } from 'vitest';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { transports } from '../crosstalk/support/callers.ts';
import { endConnections, sendAgainIfUnavailable } from '../crosstalk/support/http.ts';
import { addAccounts, authorizePrincipals, type Principal } from '../crosstalk/support/principals.ts';
import { newTally } from '../crosstalk/support/tally.ts';
import { type NodeProcesses, startNodeProcesses } from './support/library-nodes.ts';

const wanted = process.env.GATEHOUSE_CLUSTER_CALLS;
const calls = Number(wanted || 1_000);
const principalCount = 50;
/** Calls of 2026-07-28 that wait for input are not carried between nodes: its calls have no back channel here. */
const over = transports.filter(({ door, name }) => door === 'stored' && name !== '2026-07-28');
const callsEach = Math.ceil(calls / over.length / principalCount);

const server = usePostgres();
let two: NodeProcesses;
let principals: Principal[];
beforeAll(async () => {
  const database = await server().createDatabase();
  two = await startNodeProcesses({ database, count: 2, server: 'echo' });
  principals = await authorizePrincipals(two.url, await two.administer(addAccounts));
});
afterAll(async () => {
  endConnections();
  await two.stop();
});

it(
  `Fifty principals who all use the same request ids get their own answers at two nodes, in ${calls} calls, and nothing of another (T-127, T-125, T-142)`,
  async () => {
    expect(principals).toHaveLength(principalCount);
    const port = Number(new URL(two.url).port);
    const countSentAgain = sendAgainIfUnavailable();
    const begun = performance.now();
    const tallies = await Promise.all(
      over.map(async ({ name, call }) => {
        const tally = newTally();
        await Promise.all(principals.map((principal) => call({ port, principal, count: callsEach, tally })));
        return { name, tally };
      }),
    );
    const seconds = Math.round((performance.now() - begun) / 1000);
    if (wanted) process.stdout.write(`crosstalk: ${seconds} s, ${countSentAgain()} requests sent again\n`);
    for (const { name, tally } of tallies) {
      if (wanted) process.stdout.write(`${name}: ${JSON.stringify(tally)}\n`);
      expect.soft(tally, name).toMatchObject({
        ...{ answered: callsEach * principalCount, wrong: [], wrongCount: 0 },
      });
    }
  },
  120_000 + calls * 60,
);
