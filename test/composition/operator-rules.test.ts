import { describe, expect, it } from 'vitest';
import { readOperatorRules } from '../../src/composition/operator-rules.ts';
import { parseSettings } from '../../src/options.ts';
import { SettingsRefused } from '../../src/settings/issues.ts';

const resources = [
  {
    resource: 'https://mcp.example.com/mcp',
    name: 'Notes',
    scopes: { read: 'Read.' },
    baselineScopes: ['read'],
  },
];
const workload = { clientId: 'ci', claims: { sub: 'repo:a/*' }, scopes: ['write'] };
const issuer = { issuer: 'https://idp.example.com', jwksUri: 'https://idp.example.com/keys' };

describe('the rules of the operator', () => {
  it('let nobody in where none is set', () => {
    expect(readOperatorRules(parseSettings({}), resources)).toEqual({
      clients: [],
      ownGrants: { trustedIssuers: [], tokenExchange: [] },
    });
  });

  it('are refused with the problems of clients, issuers and exchanges at once', () => {
    const settings = parseSettings({
      clients: { preRegistered: [{ clientId: 'web', name: 'Web' }] },
      trustedIssuers: [{ ...issuer, workloads: [workload] }],
      tokenExchange: [
        { clientId: 'api', from: 'https://other.example/mcp', to: ['https://mcp.example.com/mcp'] },
      ],
    });
    let refusal: unknown;
    try {
      readOperatorRules(settings, resources);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(SettingsRefused);
    const places = (refusal as SettingsRefused).problems.map((problem) => problem.split(':')[0]);
    expect(places).toEqual([
      expect.stringMatching(/^clients\.preRegistered/),
      'trustedIssuers.0.workloads.0.scopes',
      'tokenExchange.0.resources',
    ]);
  });
});
