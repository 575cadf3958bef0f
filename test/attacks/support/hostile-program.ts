// An MCP server over standard input and output that answers calls with what was never asked beside. Arguments: the seed,
// whether all callers share it ("shared") or one account alone has it ("account"), and its era.
import { createInterface } from 'node:readline';
import { createRandom } from '../../flows/attacks/support/random.ts';
import { type HeldCall, hostileAnswers, rightAnswer } from './hostile-answers.ts';
import { heldCall } from './hostile-server.ts';
import { answerTo } from './recording-answers.ts';

const [, , seed = '1', sharing = 'shared', speaks = 'legacy'] = process.argv;
const era = speaks === 'modern' ? 'modern' : 'legacy';
const random = createRandom(Number(seed) + process.pid);
const running = new Set<HeldCall>();
const done: HeldCall[] = [];
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as { id?: unknown; method?: unknown };
  const { id, method } = message;
  if (method === (era === 'legacy' ? 'server/discover' : 'initialize'))
    say(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
  else if (method !== 'tools/call') {
    const answer = answerTo(message, era);
    if (answer) say(JSON.stringify(answer));
  } else {
    const call = heldCall(message);
    running.add(call);
    // Others come in between, so that there are calls to confuse it with.
    setImmediate(() => {
      const others = [...running].filter((one) => one !== call);
      const unaddressed = sharing === 'shared' ? 'nobody' : 'account';
      const knowledge = { others, done, unaddressed, isShared: true, era } as const;
      for (const text of hostileAnswers(call, knowledge, random)) say(text);
      say(rightAnswer(call, era));
      running.delete(call);
      done.push(call);
      if (done.length > 50) done.shift();
    });
  }
});
process.stdin.on('end', () => process.exit(0));
