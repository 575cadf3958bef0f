// An MCP server over standard input and output whose tools work, report an error, or fail. With the name of a caller as its
// argument, it writes each call to its standard error.
import { createInterface } from 'node:readline';
import { type Asked, answerOf } from './answer.ts';

const caller = process.argv[2];
createInterface({ input: process.stdin }).on('line', (line) => {
  const asked = JSON.parse(line) as Asked;
  if (caller && asked.method === 'tools/call')
    process.stderr.write(`${caller} calls ${asked.params?.arguments?.text}\n`);
  const answer = answerOf(asked);
  if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`);
});
process.stdin.on('end', () => process.exit(0));
