import { PassThrough } from 'node:stream';
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { type BridgeOptions, openBridge } from '../../../../../src/client/node/bridge/bridge.ts';

/** A bridge with a host at its other end, in this process. */
export function bridgedHost(url: string, options: Partial<BridgeOptions> = {}) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const said: string[] = [];
  const heard: JSONRPCMessage[] = [];
  const bridge = openBridge({
    url,
    fetch: globalThis.fetch,
    stdin,
    stdout,
    say: (line) => said.push(line),
    ...options,
  });
  onTestFinished(() => bridge.close());
  const buffer = new ReadBuffer();
  /** What an SDK's client connects to; both take it structurally. */
  const transport: Transport = {
    async start() {
      stdout.on('data', (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) {
          heard.push(message);
          transport.onmessage?.(message);
        }
      });
    },
    async send(message) {
      stdin.write(serializeMessage(message));
    },
    async close() {
      stdin.end();
      transport.onclose?.();
    },
  };
  return { bridge, transport, stdin, stdout, said, heard };
}
