// An MCP server over standard input and output that takes anything. Each line that it reads goes to the test as it is,
// over the socket that its first argument names; the second is the name of the target.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { answerTo } from './recording-answers.ts';

const [, , port = '', target = ''] = process.argv;
const socket = connect(Number(port), '127.0.0.1');
socket.on('error', () => process.exit(1));
createInterface({ input: process.stdin }).on('line', (text) => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { id, method } = (value ?? {}) as { id?: unknown; method?: unknown };
  // The gateway asks each program which revisions it speaks.
  if (method === 'server/discover') {
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })}\n`,
    );
    return;
  }
  // The record is on its way before the answer, so that the test has it when the caller has its answer.
  socket.write(`${JSON.stringify({ target, text })}\n`, () => {
    for (const one of Array.isArray(value) ? value : [value]) {
      const answer = answerTo(one, 'legacy');
      if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`);
    }
  });
});
process.stdin.on('end', () => process.exit(0));
