import { expect, it } from 'vitest';
import { composeLimits } from '../../src/composition/authorization-server.ts';
import { parseSettings } from '../../src/options.ts';

it('every limit of a setting reaches the authorization server, and none twice', () => {
  const given = parseSettings({}).limits;
  const numbered = Object.fromEntries(
    Object.keys(given).map((name, at) => [name, { times: at + 1, windowSeconds: 60 }]),
  ) as unknown as Omit<typeof given, 'sharedAddresses'>;
  const limits = composeLimits({ ...numbered, sharedAddresses: ['203.0.113.0/24'] });
  const times = [...JSON.stringify(limits).matchAll(/"times":(\d+)/g)].map(([, value]) => Number(value));
  const ofMcp = [numbered.mcpRequests?.times, numbered.toolCalls.times];
  const others = ['sharedAddresses', 'heldBytes'].map((name) => Object.keys(given).indexOf(name) + 1);
  const expected = Object.keys(numbered).map((_name, at) => at + 1);
  expect(times.toSorted((a, b) => a - b)).toEqual(
    expected.filter((at) => !ofMcp.includes(at) && !others.includes(at)),
  );
  expect(limits.logins.perAccount).toEqual(numbered.loginsPerAccount);
  expect(limits.documents.perTarget).toEqual(numbered.metadataDocumentsPerHost);
  expect(limits.sharedAddresses).toEqual(['203.0.113.0/24']);
  expect(limits.documents.sharedAddresses).toEqual(['203.0.113.0/24']);
});
