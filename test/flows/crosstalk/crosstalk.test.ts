// Flows of every transport, from src/app/app.ts to the tool and back. The number of calls over each transport is
// GATEHOUSE_CROSSTALK_CALLS; by default it is such that all together are five thousand. The long run, with a
// hundred thousand over each, which prints what it counted:
//   GATEHOUSE_CROSSTALK_CALLS=100000 npx vitest run test/flows/crosstalk
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdministration } from '../../../src/index.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { openState } from '../../support/test-storage.ts';
import { kindOf } from './support/call.ts';
import { type Transport, transports } from './support/callers.ts';
import { type Doors, type ServerForm, serverForms } from './support/forms.ts';
import { endConnections } from './support/http.ts';
import { addAccounts, authorizePrincipals, type Principal } from './support/principals.ts';
import { newTally, type Tally } from './support/tally.ts';

const wanted = process.env.GATEHOUSE_CROSSTALK_CALLS;
const principalCount = 50;
const callsOfTransport = Number(wanted ?? 5000 / transports.length);
const callsEach = Math.ceil(callsOfTransport / serverForms.length / principalCount);
const timeoutMs = 60_000 + callsOfTransport * 20;

const folder = testFolderForFile();
let program: Program;
let doors: Record<ServerForm, Doors>;
let principals: Principal[];
beforeAll(async () => {
  const data = await openState(folder);
  const accounts = await addAccounts(createAdministration(data));
  await data.storage.close();
  program = runProgram('test/flows/crosstalk/support/gatehouses.ts', [folder]);
  const [facts] = await program.waitFor('stdout', /^\{.*\}$/m);
  const { publicUrl, ...started } = JSON.parse(facts) as {
    publicUrl: string;
    doors: Record<ServerForm, Doors>;
  };
  doors = started.doors;
  principals = await authorizePrincipals(publicUrl, accounts);
});
afterAll(async () => {
  endConnections();
  program.process.kill('SIGKILL');
  await program.ended;
});

/** Has all principals call over all transports at once. */
async function callAll(form: ServerForm): Promise<Map<Transport, Tally>> {
  const tallies = transports.map(async (transport) => {
    const tally = newTally();
    const port = doors[form][transport.door];
    await Promise.all(
      principals.map((principal) => transport.call({ port, principal, count: callsEach, tally })),
    );
    return [transport, tally] as const;
  });
  return new Map(await Promise.all(tallies));
}

/** What there is to count when nothing is lost and nothing goes astray. */
function expectedOf({ hasBackChannel }: Transport): Tally {
  const kinds = Array.from({ length: callsEach }, (_, turn) => kindOf(turn, hasBackChannel));
  const steps = kinds.filter((kind) => hasBackChannel && kind === 'steps').length;
  const asked = kinds.filter((kind) => kind === 'elicit' || kind === 'sample').length;
  return {
    answered: callsEach * principalCount,
    progress: steps * 2 * principalCount,
    logged: steps * principalCount,
    asked: asked * principalCount,
    wrong: [],
    wrongCount: 0,
  };
}

describe('fifty principals who all use the request id 1 and the progress token 1, over all transports at once', () => {
  it.each(serverForms)(
    'get their own answers, progress, log messages and questions, and nothing of another: %s (T-127, T-125, T-142)',
    async (form) => {
      const begun = performance.now();
      const tallies = await callAll(form);
      const seconds = Math.round((performance.now() - begun) / 1000);
      expect(principals).toHaveLength(principalCount);
      for (const [transport, tally] of tallies) {
        if (wanted) console.log(form, seconds, 's', transport.name, JSON.stringify(tally));
        expect.soft(tally, transport.name).toEqual(expectedOf(transport));
      }
    },
    timeoutMs,
  );
});
