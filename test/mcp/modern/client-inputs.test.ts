import { describe, expect, it } from 'vitest';
import {
  embeddedRequest,
  isInputRequest,
  missingCapabilities,
  urlElicitations,
} from '../../../src/mcp/modern/client-inputs.ts';

const ask = (method: string, params?: Record<string, unknown>) => ({
  jsonrpc: '2.0' as const,
  id: 1,
  method,
  ...(params ? { params } : {}),
});

describe('input of clients', () => {
  it.each([
    [ask('roots/list'), {}, { roots: {} }],
    [ask('roots/list'), { roots: {} }, undefined],
    [ask('sampling/createMessage', {}), {}, { sampling: {} }],
    [ask('sampling/createMessage', {}), { sampling: {} }, undefined],
    [ask('sampling/createMessage', { tools: [] }), { sampling: {} }, { sampling: { tools: {} } }],
    [ask('sampling/createMessage', { toolChoice: {} }), { sampling: { tools: {} } }, undefined],
    [ask('elicitation/create', {}), { elicitation: {} }, undefined],
    [ask('elicitation/create', {}), { elicitation: { form: {} } }, undefined],
    [ask('elicitation/create', {}), { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    [ask('elicitation/create', { mode: 'url' }), { elicitation: {} }, { elicitation: { url: {} } }],
    [ask('elicitation/create', { mode: 'url' }), { elicitation: { url: {} } }, undefined],
  ])('%j of a client with %j misses %j (C3-05, C4-02)', (question, declared, missing) => {
    expect(missingCapabilities(question, declared)).toEqual(missing);
  });

  it('is asked for without what belongs to the older connection', () => {
    expect(embeddedRequest(ask('roots/list'))).toEqual({ method: 'roots/list' });
    expect(embeddedRequest(ask('sampling/createMessage', { a: 1, _meta: { progressToken: 1 } }))).toEqual({
      method: 'sampling/createMessage',
      params: { a: 1 },
    });
  });

  it('is sampling, elicitation and roots, and nothing else', () => {
    expect(
      ['roots/list', 'elicitation/create', 'sampling/createMessage', 'ping', 'toString'].map((method) =>
        isInputRequest(ask(method)),
      ),
    ).toEqual([true, true, true, false, false]);
  });

  it('may be to open URLs, said by an error of 2025-11-25 (C7-04)', () => {
    const elicitations = [{ mode: 'url', url: 'https://a.example', message: 'm', elicitationId: 'e' }, 'no'];
    expect(urlElicitations({ code: -32042, message: '', data: { elicitations } })).toEqual([
      { ...ask('elicitation/create', { mode: 'url', url: 'https://a.example', message: 'm' }), id: 0 },
    ]);
    expect(urlElicitations({ code: -32603, message: '', data: { elicitations } })).toBeUndefined();
    expect(urlElicitations({ code: -32042, message: '' })).toBeUndefined();
  });
});
