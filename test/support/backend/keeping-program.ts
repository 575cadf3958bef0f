// The server of keeping-server.ts as a program over standard input and output, of the older revisions.
import { createInterface } from 'node:readline';
import { createKeepingServer } from './keeping-server.ts';

const { answer } = createKeepingServer('legacy');
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as { id?: number };
  const answered = answer(message);
  if (answered) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answered })}\n`);
}
