import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { programs } from './programs.ts';
import {
  formatRegistrations,
  formatTable,
  keepRequests,
  mergeRecorded,
  type ProgramResult,
  readRecorded,
  replaceTable,
} from './record.ts';
import type { Exchange } from './recorder.ts';

const exchange = (request: Partial<Exchange>): Exchange => ({
  at: 0,
  method: 'POST',
  path: '/mcp',
  headers: {},
  body: '',
  status: 200,
  responseHeaders: {},
  responseBody: '',
  ...request,
});
const keep = (request: Partial<Exchange>) => keepRequests([{ step: 'one', exchange: exchange(request) }])[0];

describe('what a program sent', () => {
  it('is kept with its headers and members, without tokens, codes and client ids', () => {
    const kept = keep({
      path: '/token?trace=abc',
      headers: {
        authorization: 'Bearer s3cret',
        'user-agent': 'a program',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=refresh_token&refresh_token=s3cret&client_id=s3cret&resource=http%3A%2F%2Flocalhost%3A4711%2Fmcp',
    });
    expect(kept).toEqual({
      step: 'one',
      method: 'POST',
      path: '/token?trace=<trace>',
      headers: {
        authorization: '<authorization>',
        'user-agent': 'a program',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: {
        grant_type: 'refresh_token',
        refresh_token: '<refresh_token>',
        client_id: '<client_id>',
        resource: 'http://localhost:<port>/mcp',
      },
      status: 200,
    });
  });

  it('keeps the metadata of a registration, and replaces a secret in it', () => {
    const body = {
      client_name: 'a program',
      redirect_uris: ['http://127.0.0.1:1/cb'],
      client_secret: 's3cret',
    };
    expect(keep({ path: '/register', body: JSON.stringify(body) })?.body).toEqual({
      client_name: 'a program',
      redirect_uris: ['http://127.0.0.1:<port>/cb'],
      client_secret: '<client_secret>',
    });
  });

  it('keeps the method of a message and the names of its parameters, and the whole of an initialize', () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add_note', arguments: {} } };
    expect(keep({ body: JSON.stringify(call) })?.body).toEqual({
      method: 'tools/call',
      params: { name: '<name>', arguments: '<arguments>' },
    });
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
    expect(keep({ body: JSON.stringify(initialize) })?.body).toEqual({ method: 'initialize', params });
  });

  it('is kept once for each kind, and the pages of the person are not', () => {
    const same = { step: 'one' as const, exchange: exchange({ method: 'GET' }) };
    const ofPerson = { step: 'one' as const, exchange: exchange({ path: '/interaction/abc/login' }) };
    expect(keepRequests([same, ofPerson, same])).toHaveLength(1);
  });

  it('has no long random value in any kept file', async () => {
    const recorded = await readRecorded();
    expect(recorded.length).toBeGreaterThan(0);
    const random = /[A-Za-z0-9_-]{40,}/g;
    const found = recorded.flatMap((one) =>
      [...JSON.stringify(one).matchAll(random)].map(([value]) => `${one.name}: ${value}`),
    );
    expect(found).toEqual([]);
  });
});

describe('a run of some steps', () => {
  const run = (date: string, version: string, step: 'one' | 'second'): ProgramResult => ({
    name: 'a',
    title: 'A program',
    version,
    date,
    steps: [{ step, outcome: 'passed', seconds: 1 }],
  });
  const sentIn = (step: 'one' | 'second') => [{ step, exchange: exchange({ method: 'GET' }) }];
  const before = mergeRecorded({}, run('2026-11-01', '1.0.0', 'one'), sentIn('one'));

  it('keeps the other steps of the same version, and their day', () => {
    const merged = mergeRecorded(before, run('2026-11-29', '1.0.0', 'second'), sentIn('second'));
    expect(merged.date).toBe('2026-11-01');
    expect(merged.steps.map(({ step }) => step)).toEqual(['one', 'second']);
    expect(merged.requests.map(({ step }) => step)).toEqual(['one', 'second']);
  });

  it('replaces the same step and its day, and everything of another version', () => {
    const again = mergeRecorded(before, run('2026-11-29', '1.0.0', 'one'), sentIn('one'));
    expect({ date: again.date, steps: again.steps.length }).toEqual({ date: '2026-11-29', steps: 1 });
    const other = mergeRecorded(before, run('2026-11-29', '1.1.0', 'second'), sentIn('second'));
    expect(other).toMatchObject({ version: '1.1.0', date: '2026-11-29' });
    expect(other.requests.map(({ step }) => step)).toEqual(['second']);
  });
});

describe('the table of programs', () => {
  const result: ProgramResult = {
    name: 'a',
    title: 'A program',
    version: '1.2.3',
    date: '2026-11-29',
    steps: [
      { step: 'one', outcome: 'passed', seconds: 1 },
      { step: 'second', outcome: 'failed', note: 'a reason', seconds: 1 },
      { step: 'sse', outcome: 'cannot', note: 'it speaks Streamable HTTP alone', seconds: 0 },
    ],
  };

  it('says of each step whether it passed, failed or cannot be done, and never passes one that was not tried', () => {
    expect(formatTable([result]).split('\n').slice(2)).toEqual([
      '| A program | 1.2.3 | 2026-11-29 | yes | **no** (1) | not tried | – (2) | not tried | not tried | not tried |',
      '',
      '1. a reason',
      '2. it speaks Streamable HTTP alone',
    ]);
  });

  it('in docs/clients.md is the one of what was recorded', async () => {
    const text = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
    expect(replaceTable(text, formatTable(await readRecorded()))).toBe(text);
  });

  it('lists programs under names of their own', () => {
    const names = programs.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the registrations for client profiles', () => {
  it('cannot be made of a recording without a registration', async () => {
    const [codex] = (await readRecorded()).filter(({ name }) => name === 'codex');
    if (codex === undefined) throw new Error('Codex was not recorded');
    expect(() => formatRegistrations([{ ...codex, requests: [] }])).toThrow('codex registered nothing');
  });
});
