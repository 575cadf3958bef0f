import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { decide } from '../../support/person.ts';
import { examined } from '../support/examine.ts';
import { activeSections, headlessLogin } from '../support/login.ts';

let gatehouse: RunningGatehouse;

beforeAll(async () => {
  gatehouse = await startGatehouse({
    tokens: { refreshGraceSeconds: 2 },
    clients: { metadataDocuments: { enabled: false } },
  });
});
afterAll(() => gatehouse.stop());

/** A person who logs in at the pages of the server and allows what is asked for. */
function person() {
  return headlessLogin({
    consent: (url) => decide(url, { scopes: (new URL(url).searchParams.get('scope') ?? '').split(' ') }),
    reuseAfterSeconds: [0, 2.3],
  });
}

describe('Gatehouse itself, examined with a person who logs in twice', () => {
  it('has nothing to complain about, and almost everything can be told', async () => {
    const login = person();
    const report = await examined(gatehouse.mcpUrl, activeSections, { active: true, login });
    expect(report.bad()).toEqual([]);
    expect(login.asked).toHaveLength(2);
    const others = report.findings
      .filter(({ verdict }) => verdict !== 'pass')
      .map(({ id, verdict }) => `${verdict} ${id}`);
    expect(others).toEqual([
      'skip REG-ALIVE',
      'skip REG-CIMD-DOCUMENT',
      'skip REG-CLIENT-NAME',
      'skip REG-CIMD-ACCEPTED',
      'skip REG-CIMD-FETCHED',
      'skip TOKEN-CLAIMS',
      'skip TOKEN-AUDIENCE',
      'skip TOKEN-SCOPE-CHALLENGE',
      'skip TOKEN-STEP-UP',
      'skip TOKEN-OTHER-AUDIENCE',
      'unknown LOGIN-CODE-REVOKES',
    ]);
    expect(report.finding('LOGIN-REUSE').saw).toMatch(
      /grace window ends between \d\.?\d* and 2\.[3-9] seconds/,
    );
  });

  it('repeats an answer for longer than anybody waits, which is no fault (T-043)', async () => {
    const byDefault = await startGatehouse({});
    onTestFinished(() => byDefault.stop());
    const report = await examined(byDefault.mcpUrl, activeSections, {
      active: true,
      login: person(),
      only: ['LOGIN-REUSE'],
    });
    expect(report.bad()).toEqual([]);
    expect(report.finding('LOGIN-REUSE').saw).toContain('the same access token and the same refresh token');
  });

  it('ends the tokens of a code that comes twice, which is told where no check ended them before', async () => {
    const report = await examined(gatehouse.mcpUrl, activeSections, {
      active: true,
      login: person(),
      only: ['LOGIN-CODE-ONCE', 'LOGIN-CODE-REVOKES'],
    });
    expect(report.finding('LOGIN-CODE-ONCE').verdict).toBe('pass');
    expect(report.finding('LOGIN-CODE-REVOKES').verdict).toBe('pass');
  });

  it('leaves no login behind', async () => {
    const login = person();
    const only = ['LOGIN-CODE'];
    const ended = () => gatehouse.log.filter((line) => line.includes('grant.revoked')).length;
    const before = ended();
    await examined(gatehouse.mcpUrl, activeSections, { active: true, login, only });
    expect(login.asked).toHaveLength(1);
    expect(ended() - before).toBe(1);
  });
});
