// Flows of src/mcp/legacy/restore.ts with the clients of the SDK, which come back by themselves.
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import { type Restartable, startRestartable } from './support/restartable.ts';

const folder = testFolderForFile();
let process: Restartable;
beforeAll(async () => {
  process = await startRestartable(folder, 'each');
});
afterAll(() => process.end('SIGKILL'));

interface Tools {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>;
}

/** A connected client of either version. */
interface Connected {
  client: Tools;
  sessionId: () => string | undefined;
  /** What came as log messages. */
  logged: unknown[];
  /** Requests it sent to open or resume streams. */
  gets: () => number;
}

const reconnectionOptions = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 1,
  // On PostgreSQL a server begins when the lease of the killed one has ended.
  maxRetries: 250,
};

/** The options of both transports, with a count of its GETs. */
function transportOptions() {
  let gets = 0;
  return {
    gets: () => gets,
    options: {
      requestInit: { headers: { authorization: `Bearer ${process.token}` } },
      reconnectionOptions,
      fetch: (url: string | URL, init?: RequestInit) => {
        if (init?.method === 'GET') gets++;
        return fetch(url, init);
      },
    },
  };
}

const info = { name: 'test', version: '1' };

async function connectV1(): Promise<Connected> {
  const { gets, options } = transportOptions();
  const client = new ClientV1(info);
  const transport = new TransportV1(new URL(process.mcpUrl), options);
  const logged: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    logged.push(params.data);
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, sessionId: () => transport.sessionId, logged, gets };
}

async function connectV2(): Promise<Connected> {
  const { gets, options } = transportOptions();
  const client = new ClientV2(info);
  const transport = new TransportV2(new URL(process.mcpUrl), options);
  const logged: unknown[] = [];
  client.setNotificationHandler('notifications/message', ({ params }) => {
    logged.push(params.data);
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, sessionId: () => transport.sessionId, logged, gets };
}

const slow = (label: string, ms: number) => ({ name: 'slow', arguments: { label, ms } });
const log = (data: string) => ({ name: 'log', arguments: { level: 'error', data } });

describe.each([
  ['1', connectV1],
  ['2', connectV2],
])('a client with SDK version %s whose server is killed', (version, connect) => {
  it('has its running call answered once with an error, its stream back, and goes on in its session (B3-09, B3-10)', async () => {
    const { client, sessionId, logged, gets } = await connect();
    const id = sessionId();
    await client.callTool(log('before'));
    await expect.poll(() => logged, { timeout: 5000 }).toEqual(['before']);
    const label = `killed ${version}`;
    const outcome = client.callTool(slow(label, 60_000)).then(
      () => 'answered',
      (error: Error) => error.message,
    );
    await expect.poll(() => process.runs(), { timeout: 5000 }).toContain(label);
    // By then the answer has become a stream.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await process.end('SIGKILL');
    await process.start();

    expect(await outcome).toContain('The server restarted while this call ran.');
    expect(await client.callTool(slow(`after ${version}`, 1))).toMatchObject({
      content: [{ text: `after ${version}` }],
    });
    await expect
      .poll(
        async () => {
          await client.callTool(log('after'));
          return logged;
        },
        { timeout: 10_000, interval: 500 },
      )
      .toContain('after');
    expect(sessionId()).toBe(id);
    expect(process.runs().filter((run) => run === label)).toHaveLength(1);

    // Nothing of the call is left to come back for.
    const before = gets();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(gets() - before).toBeLessThanOrEqual(1);
  });
});
