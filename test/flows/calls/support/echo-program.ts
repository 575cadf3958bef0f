// An MCP server over standard input and output whose tools work, report an error, or fail.
import { createInterface } from 'node:readline';
import { type Asked, answerOf } from './answer.ts';

createInterface({ input: process.stdin }).on('line', (line) => {
  const answer = answerOf(JSON.parse(line) as Asked);
  if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`);
});
process.stdin.on('end', () => process.exit(0));
