import { describe, expect, it } from 'vitest';
import { MessageContext } from '../../../src/mcp/sdk/caller.ts';
import { callerNamed } from './support/talk.ts';

const build = () =>
  new Request('https://example.com/mcp?a=1', { method: 'POST', headers: { 'x-test': 'yes' } });

describe('what a server learns of a sender', () => {
  it('is who calls, without a token (T-105), and the request in the form of either SDK', () => {
    const context = new MessageContext({ authInfo: callerNamed('ann'), request: build });
    expect(context.authInfo).toMatchObject({
      token: '',
      clientId: 'c',
      extra: { caller: callerNamed('ann') },
    });
    expect(context.request?.headers.get('x-test')).toBe('yes');
    expect(context.requestInfo?.headers['x-test']).toBe('yes');
    expect(context.requestInfo?.url.search).toBe('?a=1');
  });

  it('is nothing where nothing is known', () => {
    const { authInfo, request, requestInfo, closeSSEStream, closeStandaloneSSEStream } = new MessageContext(
      {},
    );
    expect([authInfo, request, requestInfo, closeSSEStream, closeStandaloneSSEStream]).toEqual(
      Array(5).fill(undefined),
    );
  });

  it('lets a tool end the streams of its call (B4-02)', () => {
    const closed: string[] = [];
    const sender = {
      closeSSEStream: () => void closed.push('own'),
      closeStandaloneSSEStream: () => void closed.push('standalone'),
    };
    const context = new MessageContext(sender);
    context.closeSSEStream?.();
    context.closeStandaloneSSEStream?.();
    expect(closed).toEqual(['own', 'standalone']);
  });
});
