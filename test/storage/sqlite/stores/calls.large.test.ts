// The call ledger with many rows: how long a page takes by each filter that has an index, and how large the file is.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CallEntry, CallQuery } from '../../../../src/storage/calls.ts';
import { createCallStore } from '../../../../src/storage/sqlite/stores/calls.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { patience } from '../../../support/patience.ts';
import { auditKey, call, startMs } from '../../contract/call.ts';

const rows = Number(process.env.GATEHOUSE_LEDGER_ROWS ?? 200_000);

/** Milliseconds between two calls: the rows are of ninety days. */
const everyMs = (90 * 86_400_000) / rows;

const digits = (number: number, length: number): string =>
  (BigInt(number) * 0x9e3779b97f4a7c15n).toString(16).padStart(length, '0').slice(-length);

/** A call as an installation of 500 people has them: ids are of the length that Gatehouse gives them. */
function realistic(number: number): CallEntry {
  const account = number % 500;
  return call(number, {
    at: startMs + Math.floor(number * everyMs),
    account: `${digits(account, 8)}-6b0e-4f7c-9d3a-${digits(account, 12)}`,
    client: `client-${digits(number % 40, 24)}`,
    grant: digits(account * 40 + (number % 3), 43),
    route: '/files',
    backend: number % 2 === 0 ? 'disk' : null,
    target: `tool_number_${number % 60}`,
    argumentsHash: digits(number % 5_000, 22),
    argumentNames: 'path,content',
    outcome: number % 1_000 === 0 ? 'timed_out' : number % 50 === 0 ? 'tool_error' : 'ok',
    requestId: `${digits(number, 8)}-8f1d-4c1b-a5a7-${digits(number, 12)}`,
    traceId: number % 4 === 0 ? digits(number, 32) : null,
    ms: number % 700,
  });
}

it(`finds a page among ${rows} calls within 50 ms by each indexed filter, at less than 400 bytes a call with its sums`, async () => {
  const file = join(testFolder(), 'gatehouse.calls.db');
  const store = createCallStore(file, { audit: auditKey });
  onTestFinished(() => store.close());
  for (let number = 0; number < rows; number += 250)
    await store.append(
      {
        calls: Array.from({ length: 250 }, (_, index) => realistic(number + index)),
        lost: 0,
      },
      startMs,
      false,
    );
  const one = realistic(Math.floor(rows / 8) * 4);
  const queries: CallQuery[] = [
    ...[{}, { since: one.at }, { until: one.at }, { afterSeq: 10 }],
    ...[{ account: one.account }, { client: one.client }, { target: one.target ?? '' }],
    ...[{ requestId: one.requestId }, { traceId: one.traceId ?? '' }],
    ...[{ outcome: 'timed_out' as const }, { outcome: 'tool_error' as const, since: one.at }],
    ...[{ account: one.account, until: one.at }, { account: 'nobody' }, { outcome: 'refused' as const }],
  ];
  const slow: string[] = [];
  for (const query of queries) {
    let before: { at: number; seq: number } | undefined;
    for (const page of ['first', 'second']) {
      const begun = performance.now();
      const found = await store.list(query, 50, before);
      const tookMs = performance.now() - begun;
      if (tookMs > patience(50)) slow.push(`${JSON.stringify(query)} ${page} ${tookMs}`);
      before = found.at(-1);
    }
  }
  expect(slow).toEqual([]);
  await store.close();
  const bytes = statSync(file).size / rows;
  process.stdout.write(`${Math.round(bytes)} bytes a call\n`);
  expect(bytes).toBeLessThan(400);
});
