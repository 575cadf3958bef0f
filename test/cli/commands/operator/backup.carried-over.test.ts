import { expect, it } from 'vitest';
import { describeCarriedOver } from '../../../../src/cli/commands/operator/backup.ts';

const nothing = {
  refusedClients: [],
  disabledAccounts: [],
  renewedTokens: 0,
  returnedAccounts: [],
  olderPasswords: [],
};

it.each<[string, Parameters<typeof describeCarriedOver>[0], RegExp[]]>([
  ['no database was replaced', undefined, []],
  ['nothing happened since', nothing, []],
  ['it cannot be read', 'unreadable', [/active again.*gatehouse account list/]],
  [
    'a client was denied',
    { ...nothing, refusedClients: ['a', 'b'] },
    [/^Clients that stay denied.*: a, b\.$/],
  ],
  [
    'accounts changed',
    { ...nothing, disabledAccounts: ['a'], renewedTokens: 2, returnedAccounts: ['b'], olderPasswords: ['c'] },
    [
      /stay disabled: a/,
      /tokens.*: 2/,
      /exist again, which the former database did not have: b\. To remove one again: gatehouse account remove/,
      /c\. .*account reset/,
    ],
  ],
  [
    'names are many, or would write to the terminal',
    { ...nothing, refusedClients: ['\u001b[2J', ...Array.from({ length: 24 }, (_, at) => `c${at}`)] },
    [/^\P{Cc}* and 5 more\.$/u],
  ],
])('where %s, the operator is told what to do', (_, carried, sentences) => {
  const said = describeCarriedOver(carried);
  expect(said).toHaveLength(sentences.length);
  for (const [at, sentence] of sentences.entries()) expect(said[at]).toMatch(sentence);
});
