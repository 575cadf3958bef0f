// Finds the folder of an account in each of many parents, each at its own moment, so that two of these meet.
import { createAccountFolders } from '../../../../../src/gateway/backends/stdio/process-environment.ts';

const [, , account = '', fromMs = '', eachMs = '', ...parents] = process.argv;
const told: string[] = [];
for (const [at, parent] of parents.entries()) {
  const whenMs = Number(fromMs) + at * Number(eachMs);
  while (performance.timeOrigin + performance.now() < whenMs);
  told.push(createAccountFolders(parent).of(account));
}
console.log(told.join('\n'));
