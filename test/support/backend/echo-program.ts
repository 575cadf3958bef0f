// An MCP server over standard input and output that gives back the source text of what it is called with. Its argument
// is its era.
import { createInterface } from 'node:readline';
import { echoSource } from './echo-source.ts';

const era = process.argv[2] === 'modern' ? 'modern' : 'legacy';
createInterface({ input: process.stdin }).on('line', (line) => {
  const answer = echoSource(line, era);
  if (answer !== undefined) process.stdout.write(`${answer}\n`);
});
process.stdin.on('end', () => process.exit(0));
