import { describe, expect, it } from 'vitest';
import { createCallLimits } from '../../../src/gateway/steps/call-limits.ts';
import { stepped } from './support/stepped.ts';

const answers = { 'tools/call': () => ({ result: { content: [] } }) };

describe('calls of a tool by a person', () => {
  it('are limited in a minute, with a hint when to come back; other tools and people have their own', async () => {
    const clock = { ms: 0 };
    const step = createCallLimits([{ tools: 'write_*', perMinute: 2 }], () => clock.ms);
    const { talk } = stepped([step], answers);
    const [ann, bob] = [await talk({ subject: 'ann' }), await talk({ subject: 'bob' })];
    const call = async ({ ask }: typeof ann, name: string) => (await ask('tools/call', { name })).error?.data;
    expect([await call(ann, 'write_a'), await call(ann, 'write_a')]).toEqual([undefined, undefined]);
    clock.ms = 20_000;
    expect(await call(ann, 'write_a')).toEqual({ reason: 'tool_called_too_often', retryAfterSeconds: 40 });
    expect([await call(ann, 'write_b'), await call(ann, 'read'), await call(bob, 'write_a')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    clock.ms = 60_000;
    expect(await call(ann, 'write_a')).toBeUndefined();
  });

  it('are limited at once; one that ended or was cancelled makes room', async () => {
    const { talk, server } = stepped([createCallLimits([{ tools: '*', atOnce: 1 }], () => 0)]);
    const { say, ask, hears } = await talk();
    const slow = { name: 'slow' };
    say({ id: 'a', method: 'tools/call', params: slow });
    const { id } = await server.hears(({ method }) => method === 'tools/call');
    expect((await ask('tools/call', slow)).error?.data).toMatchObject({
      reason: 'tool_called_too_often_at_once',
    });
    server.say({ id, result: {} });
    await hears((message) => message.id === 'a');
    say({ id: 'b', method: 'tools/call', params: slow });
    say({ method: 'notifications/cancelled', params: { requestId: 'b' } });
    await server.hears(({ method }) => method === 'notifications/cancelled');
    say({ id: 'c', method: 'tools/call', params: slow });
    await server.hears((message) => message.method === 'tools/call' && message.id === 5);
  });

  it.each([
    [1, 'may be called once a minute', 'A call of the tool slow runs for your account, and no other may'],
    [2, 'may be called 2 times a minute', '2 calls of the tool slow run for your account, and no more may'],
  ])('are counted in words that fit: %i', async (most, often, atOnce) => {
    const step = createCallLimits(
      [
        { tools: 'quick', perMinute: most },
        { tools: 'slow', atOnce: most },
      ],
      () => 0,
    );
    const quick = await stepped([step], answers).talk();
    const { talk } = stepped([step]);
    const { say, ask } = await talk();
    const said = async (name: string, from: typeof ask) =>
      (await from('tools/call', { name })).error?.message;
    for (let count = 0; count < most; count++) {
      await quick.ask('tools/call', { name: 'quick' });
      say({ id: `slow ${count}`, method: 'tools/call', params: { name: 'slow' } });
    }
    expect(await said('quick', quick.ask)).toContain(often);
    expect(await said('slow', ask)).toContain(atOnce);
  });

  it('are free where no rule is written', () => {
    expect(createCallLimits([], () => 0).cares('tools/call')).toBe(false);
  });
});
