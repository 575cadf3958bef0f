import { expect, it } from 'vitest';
import { introduction } from '../../../src/gateway/aggregate/introduction.ts';
import type { Member } from '../../../src/gateway/aggregate/member.ts';

const member = (key: string, said?: object, known?: object) =>
  ({ key, backend: { name: key, known }, result: said }) as unknown as Member;

it('several backends introduce themselves as one: what they can do together, and what each says (C8-07)', () => {
  const a = member('a', { capabilities: { tools: {} }, instructions: 'Read first.' });
  const b = member('b', { capabilities: { logging: {} }, instructions: '' });
  const away = member('c', undefined, { prompts: {} });
  const error = { code: -32603, message: 'Not today.', data: { reason: 'backend_ended' } };
  expect(introduction('All', '2025-11-25', [a, b, away], [{ member: away, error }])).toEqual({
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, logging: {} },
    serverInfo: { name: 'All', version: '1' },
    instructions:
      '# a\n\nTools and prompts: a_…; resources: a+….\n\nRead first.\n\n# c\n\nNot available at present.',
    ttlMs: 0,
    _meta: {
      'mcp-gatehouse/unavailable': [{ backend: 'c', message: 'Not today.', reason: 'backend_ended' }],
    },
  });
});

it('what nobody has reached yet counts as having all that is listed', () => {
  const unknown = member('a');
  expect(introduction('All', '2025-11-25', [unknown], [])).toMatchObject({
    capabilities: { tools: {}, prompts: {}, resources: { subscribe: true } },
  });
});
