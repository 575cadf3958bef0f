import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../src/mcp/http/refusal.ts';
import type { Message } from '../../../src/mcp/protocol.ts';
import { readMessages } from '../../../src/mcp/reading/messages.ts';
import { Unanswered } from '../../../src/mcp/stdio/lines.ts';
import { rpc } from '../support/served-transport.ts';

function asking(...messages: unknown[]): Unanswered {
  const unanswered = new Unanswered();
  for (const message of messages) {
    const read = readMessages(message);
    if (isRefusal(read)) throw new Error(read.reason);
    unanswered.asked(read);
  }
  return unanswered;
}

const answer = (id: number) => ({ jsonrpc: '2.0', id, result: {} }) as Message;
const idle = () => undefined;

async function timeOf(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

describe('what is unanswered', () => {
  it('is waited for until the last answer is written, alone or in a batch', async () => {
    const unanswered = asking(rpc(1, 'ping'), [rpc(2, 'ping'), rpc(3, 'ping')]);
    let isSettled = false;
    const settled = unanswered.settled(5000, idle).then(() => {
      isSettled = true;
    });
    unanswered.answered(answer(1));
    await sleep(5);
    expect(isSettled).toBe(false);
    unanswered.answered([answer(2), answer(3)]);
    await settled;
  });

  it('is not waited for longer than patience lasts', async () => {
    const waited = await timeOf(() => asking(rpc(1, 'ping')).settled(50, idle));
    expect(waited).toBeGreaterThanOrEqual(48);
    expect(
      await timeOf(() => asking().settled(50, () => new Promise(() => undefined))),
    ).toBeGreaterThanOrEqual(48);
  });

  it('is nothing where nothing was asked, or all of it cancelled', async () => {
    expect(await timeOf(() => asking().settled(5000, idle))).toBeLessThan(1000);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect(await timeOf(() => asking(rpc(1, 'ping'), cancel).settled(5000, idle))).toBeLessThan(1000);
  });
});
