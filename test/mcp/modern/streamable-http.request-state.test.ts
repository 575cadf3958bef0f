import { describe, expect, it } from 'vitest';
import { createRequestStates } from '../../../src/mcp/modern/streamable-http.ts';
import type { RequestMessage } from '../../../src/mcp/protocol.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { createTestSeal } from '../support/modern-endpoint.ts';

const ann: AuthInfo = {
  issuer: 'https://as.example',
  subject: 'ann',
  clientId: 'c',
  scopes: [],
  audience: 'https://mcp.example',
  expiresAt: 0,
};
const request = (params: Record<string, unknown>, method = 'tools/call'): RequestMessage => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
});
const asked = { name: 'a', arguments: { x: 1, y: { b: 1, a: [1, 2] } } };

function start() {
  let clock = 1000;
  const now = () => clock;
  const seal = createTestSeal();
  const statesAt = (url: string) => createRequestStates({ seal, url: new URL(url), now });
  const states = statesAt('https://mcp.example/mcp');
  const result = states.seal({ resultType: 'input_required', requestState: 'inner' }, request(asked), ann);
  return {
    states,
    statesAt,
    sealed: result.requestState as string,
    passTime: (seconds: number) => {
      clock += seconds;
    },
  };
}

describe('request state (C4-03, T-129)', () => {
  it('names the process that holds what it refers to, to its own caller alone, and says nothing of it to the client', () => {
    const at = { seal: createTestSeal(), url: new URL('https://mcp.example/mcp'), now: () => 1000 };
    const [here, there] = ['here', 'there'].map((processId) => createRequestStates({ ...at, processId }));
    const result = { resultType: 'input_required', requestState: 'inner' };
    const held = here?.seal(result, request(asked), ann, true).requestState as string;
    const free = here?.seal(result, request(asked), ann).requestState as string;
    expect(held).not.toContain('here');
    const retry = (requestState: string) => request({ ...asked, requestState });
    expect(there?.holderOf(retry(held), ann)).toBe('here');
    expect(there?.holderOf(retry(free), ann)).toBeUndefined();
    expect(there?.holderOf(retry(held), { ...ann, subject: 'bob' })).toBeUndefined();
    expect(there?.holderOf(retry(`x${held}`), ann)).toBeUndefined();
    expect(there?.holderOf(request(asked), ann)).toBeUndefined();
    expect(there?.open(retry(held), ann)?.params?.requestState).toBe('inner');
  });

  it('comes back to the server as it was, and says nothing to the client', () => {
    const { states, sealed } = start();
    expect(sealed).not.toContain('inner');
    const retry = { ...asked, requestState: sealed, inputResponses: { a: {} }, _meta: { progressToken: 1 } };
    expect(states.open(request(retry), ann)?.params).toEqual({ ...retry, requestState: 'inner' });
  });

  it('does not mind in what order a client writes members', () => {
    const { states, sealed } = start();
    const shuffled = { arguments: { y: { a: [1, 2], b: 1 }, x: 1 }, name: 'a', requestState: sealed };
    expect(states.open(request(shuffled), ann)).toBeDefined();
  });

  it.each<[string, (sealed: string) => [RequestMessage, AuthInfo]]>([
    ['another account', (requestState) => [request({ ...asked, requestState }), { ...ann, subject: 'bob' }]],
    ['another client', (requestState) => [request({ ...asked, requestState }), { ...ann, clientId: 'd' }]],
    ['another grant', (requestState) => [request({ ...asked, requestState }), { ...ann, grantId: 'g' }]],
    ['another method', (requestState) => [request({ ...asked, requestState }, 'prompts/get'), ann]],
    ['another tool', (requestState) => [request({ ...asked, name: 'b', requestState }), ann]],
    ['other arguments', (requestState) => [request({ ...asked, arguments: { x: 2 }, requestState }), ann]],
    [
      'an array in other order',
      (requestState) => [
        request({ ...asked, arguments: { x: 1, y: { b: 1, a: [2, 1] } }, requestState }),
        ann,
      ],
    ],
    [
      'a changed character',
      (requestState) => [request({ ...asked, requestState: `${requestState.slice(0, -3)}AAA` }), ann],
    ],
    ['its text', () => [request({ ...asked, requestState: 'inner' }), ann]],
    ['no text at all', () => [request({ ...asked, requestState: 5 }), ann]],
  ])('is not opened with %s', (_what, change) => {
    const { states, sealed } = start();
    expect(states.open(...change(sealed))).toBeUndefined();
  });

  it('is not opened at another endpoint of the installation (T-162)', () => {
    const { statesAt, sealed } = start();
    const retry = request({ ...asked, requestState: sealed });
    expect(statesAt('https://mcp.example/other/mcp').open(retry, ann)).toBeUndefined();
    expect(statesAt('https://mcp.example/mcp').open(retry, ann)).toBeDefined();
  });

  it('is too old after ten minutes', () => {
    const { states, sealed, passTime } = start();
    passTime(600);
    expect(states.open(request({ ...asked, requestState: sealed }), ann)).toBeDefined();
    passTime(1);
    expect(states.open(request({ ...asked, requestState: sealed }), ann)).toBeUndefined();
  });

  it('is left alone where there is none, and in results that are complete', () => {
    const { states } = start();
    expect(states.open(request(asked), ann)).toEqual(request(asked));
    const result = { resultType: 'complete', requestState: 'a field of the tool' };
    expect(states.seal(result, request(asked), ann)).toBe(result);
  });
});
