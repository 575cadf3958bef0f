import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ServerSource, SessionOwnership } from '../../../src/mcp/index.ts';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { initializeRequest, startGate } from '../support/gate.ts';
import { inSession, ping } from '../support/talking-server.ts';
import { createSlowServer } from '../support/tools.ts';

/** An ownership that a test takes away, with what was asked of it in order. */
function startOwnership() {
  const asked: string[] = [];
  const held = new Set<string>();
  const lost = new Set<() => void>();
  const refusal = { isOn: false };
  const ownership: SessionOwnership = {
    processId: 'this',
    async claim(key) {
      if (refusal.isOn) throw new StorageUnavailable('another node serves this session');
      asked.push('claim');
      held.add(key);
    },
    release(key) {
      asked.push('release');
      held.delete(key);
    },
    holds: (key) => held.has(key),
    onLost(callback) {
      lost.add(callback);
      return () => lost.delete(callback);
    },
  };
  const lose = (): void => {
    held.clear();
    for (const callback of lost) callback();
  };
  return { ownership, asked, lose, refusal };
}

describe('a session of one of several processes', () => {
  it('that is lost is claimed again only after its server has ended, and is not let go of afterwards', async () => {
    const { ownership, asked, lose } = startOwnership();
    const { source } = createSlowServer();
    const slow: ServerSource = {
      sharing: 'each',
      async create(context) {
        const server = await source.create(context);
        const close = server.close.bind(server);
        server.close = async () => {
          await sleep(300);
          await close();
        };
        return server;
      },
    };
    const gate = await startGate({ source: slow, sessionOwnership: ownership });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    lose();
    const answer = await gate.send(token, { json: ping(), headers: inSession(session) });
    expect(answer.status).toBe(200);
    await sleep(400);
    expect(asked).toEqual(['claim', 'release', 'claim']);
  });

  it('whose claim fails leaves no server and no row behind', async () => {
    const { ownership, refusal } = startOwnership();
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source, sessionOwnership: ownership });
    refusal.isOn = true;
    for (let times = 0; times < 3; times++)
      expect((await gate.send(gate.issue('ann'), { json: initializeRequest() })).status).not.toBe(200);
    expect(seen.made).toBe(seen.closed);
  });
});
