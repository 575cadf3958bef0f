import { describe, expect, it, onTestFinished } from 'vitest';
import { modernRequest, type RpcAnswer, readAnswer } from '../../mcp/support/gate.ts';
import { serverForms } from './support/forms.ts';
import { startFront } from './support/front.ts';

const able = { elicitation: { form: {} }, roots: {} };
const accepted = { action: 'accept', content: { username: 'ada', email: 'a@example.com' } };

describe.each(serverForms)('a call of 2026-07-28 that needs input, of $name', (form) => {
  it('takes what it asked for, asks again for what is missing or no answer, and ignores the rest (C4-04)', async () => {
    const front = await startFront(form);
    onTestFinished(() => front.stop());
    const call = async (
      state?: string,
      inputResponses?: object,
    ): Promise<NonNullable<RpcAnswer['result']>> => {
      const params = { name: 'ask', arguments: { questions: ['user', 'roots'] } };
      const again = inputResponses
        ? { inputResponses, ...(state === undefined ? {} : { requestState: state }) }
        : {};
      const { headers, json } = modernRequest('tools/call', { ...params, ...again });
      const { params: sent } = json as { params: { _meta: object } };
      Object.assign(sent._meta, { 'io.modelcontextprotocol/clientCapabilities': able });
      const response = await fetch(front.mcp.url, {
        method: 'POST',
        headers: {
          ...headers,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          authorization: `Bearer ${front.mcp.accessToken}`,
        },
        body: JSON.stringify(json),
      });
      return (await readAnswer(response)).result ?? {};
    };
    const keysOf = ({ inputRequests }: { inputRequests?: unknown }) => {
      const asked = Object.entries((inputRequests ?? {}) as Record<string, { method: string }>);
      return Object.fromEntries(asked.map(([key, { method }]) => [method, key]));
    };

    const first = await call();
    expect(first.resultType).toBe('input_required');
    const { 'elicitation/create': user = '', 'roots/list': roots = '' } = keysOf(first);
    const second = await call(first.requestState as string | undefined, {
      [user]: accepted,
      [roots]: 'no answer',
      other: {},
    });
    expect(second.resultType).toBe('input_required');
    const left = keysOf(second)['roots/list'] ?? '';
    expect(left).not.toBe('');
    const given = {
      [user]: accepted,
      [left]: { roots: [{ uri: 'file:///a' }] },
      other: { action: 'accept' },
    };
    const last = await call(second.requestState as string | undefined, given);
    expect(last.resultType).toBe('complete');
    expect(JSON.stringify(last.content)).toContain('a@example.com');
    expect(JSON.stringify(last.content)).toContain('file:///a');
  });
});
