import { describe, expect, it } from 'vitest';
import {
  type Answer,
  ask,
  describeAnswer,
  failureCode,
  isGatewayError,
  mediaType,
} from '../../src/doctor/ask.ts';
import { openExamination } from '../../src/doctor/examination.ts';
import { type Fault, startServer } from './support/server.ts';

async function subjectOf(fault?: Fault, url?: string, timeoutMs = 10_000) {
  const server = await startServer(fault ? { fault } : {});
  const { subject } = openExamination({
    url: url ?? server.url,
    fetch,
    now: () => 1_800_000_000,
    timeoutMs,
  }).look();
  return { server, subject };
}

describe('one request of the doctor', () => {
  it('brings status, fields and body, and the number of its exchange', async () => {
    const { server, subject } = await subjectOf();
    await ask(subject, `${server.origin}/nothing`);
    const answer = await ask(subject, server.url, { method: 'POST', body: '{}' });
    expect(answer).toMatchObject({
      kind: 'answered',
      method: 'POST',
      status: 401,
      evidence: [2],
      truncated: false,
    });
    expect(answer.kind === 'answered' && answer.headers.get('www-authenticate')).toContain('Bearer');
    expect(subject.exchanges[1]?.request.method).toBe('POST');
  });

  it('follows no redirect', async () => {
    const { server, subject } = await subjectOf((changed) => {
      changed.routes['GET /mcp'] = () => ({ status: 308, headers: { location: '/other' } });
    });
    const answer = await ask(subject, server.url);
    expect(answer).toMatchObject({ kind: 'answered', status: 308 });
    expect(server.asked()).toEqual(['GET /mcp']);
  });

  it('says why no answer came', async () => {
    const { subject } = await subjectOf(undefined, 'http://127.0.0.1:1024/mcp');
    const answer = await ask(subject, subject.url);
    expect(answer).toMatchObject({
      kind: 'unanswered',
      reason: 'unreachable',
      code: 'ECONNREFUSED',
      evidence: [1],
    });
  });

  it('waits no longer than told, for the body too (T-189)', async () => {
    const { server, subject } = await subjectOf(
      (changed) => {
        changed.routes['GET /head'] = () => ({ raw: () => undefined });
        changed.routes['GET /body'] = () => ({
          raw: (response) => void response.writeHead(200).write('half'),
        });
      },
      undefined,
      1_000,
    );
    expect(await ask(subject, `${server.origin}/head`)).toMatchObject({
      kind: 'unanswered',
      reason: 'timed_out',
    });
    expect(await ask(subject, `${server.origin}/body`)).toMatchObject({
      kind: 'answered',
      text: 'half',
      truncated: true,
    });
  });

  it('reads no more than 256 KiB and, of an event stream, no more than one message (T-189)', async () => {
    const { server, subject } = await subjectOf((changed) => {
      changed.routes['GET /big'] = () => ({ text: 'x'.repeat(2 ** 20) });
      changed.routes['GET /stream'] = () => ({
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(': hello\n\ndata: {"id":1}\n\n');
        },
      });
    });
    const big = await ask(subject, `${server.origin}/big`);
    expect(big).toMatchObject({ truncated: true });
    expect(big.kind === 'answered' && big.text.length).toBeLessThan(2 ** 19);
    expect(await ask(subject, `${server.origin}/stream`)).toMatchObject({
      text: ': hello\n\ndata: {"id":1}\n\n',
    });
  });

  it('sends nothing into the local network because a public server says so (T-185)', async () => {
    const { server, subject } = await subjectOf(undefined, 'https://mcp.example.com/mcp');
    for (const url of [
      `${server.origin}/x`,
      'http://169.254.169.254/latest',
      'file:///etc/passwd',
      'nonsense',
    ])
      expect(await ask(subject, url)).toMatchObject({ kind: 'unanswered', reason: 'refused', evidence: [] });
    expect(server.requests).toEqual([]);
    expect(subject.exchanges).toEqual([]);
  });
});

describe('the code of a failure', () => {
  it('the code of a failure is that of its deepest cause', async () => {
    const error = await fetch('http://127.0.0.1:9/').catch((thrown: unknown) => thrown);
    expect(
      failureCode(new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'EPROTO' }) })),
    ).toBe('EPROTO');
    expect(failureCode(new Error('none'))).toBeUndefined();
    expect(failureCode('text')).toBeUndefined();
    expect(error).toBeInstanceOf(Error);
  });
});

describe('an answer in words', () => {
  function answered(status: number, headers: Record<string, string> = {}): Answer & { kind: 'answered' } {
    const asked = { method: 'GET', url: 'https://a/', evidence: [1] };
    return { kind: 'answered', ...asked, status, headers: new Headers(headers), text: '', truncated: false };
  }

  it('an answer is described by what decides: status, type, target, or why there is none', () => {
    expect(describeAnswer(answered(404))).toBe('404');
    expect(describeAnswer(answered(200, { 'content-type': 'Text/HTML; charset=utf-8' }))).toBe(
      '200 text/html',
    );
    expect(describeAnswer(answered(200, { 'content-type': 'so what' }))).toBe('200 "so what"');
    expect(describeAnswer(answered(302, { location: '/login' }))).toBe('302 to "/login"');
    const none = { kind: 'unanswered' as const, method: 'GET', url: 'x', evidence: [] };
    expect(describeAnswer({ ...none, reason: 'unreachable', why: 'the connection was refused' })).toBe(
      'no answer (the connection was refused)',
    );
    expect(describeAnswer({ ...none, reason: 'refused', why: 'it is no URL' })).toBe(
      'not asked: it is no URL',
    );
    expect(mediaType(answered(200, { 'content-type': 'Application/JSON;x=1' }))).toBe('application/json');
  });
});

describe('an answer of a gateway', () => {
  it.each([
    [502, 'application/json', true],
    [504, 'text/html', true],
    [522, 'text/plain', true],
    [503, 'text/html; charset=utf-8', true],
    [503, 'application/json', false],
    [500, 'text/html', false],
    [401, 'text/html', false],
  ])(
    'status %i as %s is of a proxy that does not reach the server: %s (RFC 9110 section 15.6)',
    (status, type, is) => {
      expect(isGatewayError({ status, headers: new Headers({ 'content-type': type }) })).toBe(is);
    },
  );
});
