import { describe, expect, it } from 'vitest';
import { passiveChecks } from '../../../src/doctor/all-checks.ts';
import {
  addresses,
  connectionChecks,
  connections,
  requireTarget,
  targetOf,
} from '../../../src/doctor/reach/connection-checks.ts';
import { examined } from '../support/examine.ts';
import { startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

async function bad(url: string) {
  const report = await examined(url, passiveChecks);
  return { report, bad: report.bad() };
}

describe('a server that is not reached', () => {
  it.each([
    ['mcp.example.com/mcp', 'no http or https URL'],
    ['ftp://mcp.example.com/', 'no http or https URL'],
    ['http://ada:secret@127.0.0.1:1024/mcp', 'user name or password'],
    ['http://127.0.0.1:1024/mcp#tools', 'fragment'],
  ])('for its URL is found: %s', async (url, why) => {
    const { report, bad: found } = await bad(url);
    expect(found).toEqual(['fail REACH-URL']);
    expect(report.finding('REACH-URL').saw).toContain(why);
    expect(report.finding('PRM-FOUND')).toMatchObject({ verdict: 'skip', because: 'REACH-URL' });
    expect(report.exchanges).toEqual([]);
  });

  it('for its name is found', async () => {
    const { report } = await bad('https://no-such-host.invalid/mcp');
    const { verdict, saw } = report.finding('REACH-DNS');
    expect(['fail', 'unknown']).toContain(verdict);
    expect(saw).toContain('no-such-host.invalid has no address here');
  });

  it('for its port is found, and explains all the rest', async () => {
    const { report, bad: found } = await bad('http://127.0.0.1:1024/mcp');
    expect(found).toEqual(['fail REACH-TCP']);
    expect(report.finding('REACH-TCP')).toMatchObject({
      saw: 'Port 1024 takes no connection: 127.0.0.1: ECONNREFUSED.',
      fix: expect.stringContaining('nobody listens on 1024'),
    });
    const because = report.findings.filter((finding) => finding.because === 'REACH-TCP');
    expect(because.length).toBeGreaterThan(30);
  });

  it('through the sockets of this machine, but through a fetch of its own, is unknown and examined further', async () => {
    const server = await startServer();
    const report = await examined('http://no-such-host.invalid/mcp', connectionChecks, {
      fetch: (url, init) => fetch(String(url).replace('http://no-such-host.invalid', server.origin), init),
    });
    expect(report.finding('REACH-DNS')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('through a proxy'),
    });
  });
});

describe('a server that is reached', () => {
  it('over http from elsewhere is not safe', async () => {
    const server = await startServer();
    const report = await examined('http://mcp.example.com/mcp', connectionChecks, {
      only: ['REACH-HTTPS'],
      fetch: (url, init) => fetch(String(url).replace('http://mcp.example.com', server.origin), init),
    });
    expect(report.finding('REACH-HTTPS')).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('mcp.example.com is not this machine'),
      fix: expect.stringContaining('TLS'),
    });
  });

  it('on loopback may be http, and may listen on one family', async () => {
    const server = await startServer();
    const report = await examined(server.url.replace('127.0.0.1', 'localhost'), connectionChecks);
    expect(report.bad()).toEqual([]);
    expect(report.finding('REACH-TCP').saw).toContain('127.0.0.1 in');
  });
});

it('a key in the URL is warned of, and no document is told to publish it', async () => {
  const server = await startServer();
  const { report, bad: found } = await bad(`${server.url}?api_key=not-for-others`);
  expect(found).toEqual(['warn REACH-URL']);
  expect(report.finding('REACH-URL')).toMatchObject({
    saw: expect.stringContaining('api_key in its query'),
    fix: expect.stringContaining('the URL without them'),
  });
  expect(report.finding('PRM-RESOURCE')).toMatchObject({ verdict: 'skip', because: 'REACH-URL' });
});

describe('the network', () => {
  it('has the addresses of a host, of both families', async () => {
    expect((await addresses(subjectOf('http://localhost:1/'))).ipv4).toContain('127.0.0.1');
    expect(await addresses(subjectOf('http://127.0.0.1/'))).toEqual({ ipv4: ['127.0.0.1'], ipv6: [] });
    expect(await addresses(subjectOf('http://[::1]/'))).toEqual({ ipv4: [], ipv6: ['::1'] });
  });

  it('says why a host has none', async () => {
    const { failure } = await addresses(subjectOf('https://no-such-host.invalid/'));
    expect(failure).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  it('is tried for each address apart', async () => {
    const server = await startServer();
    expect(await connections(subjectOf(server.url))).toEqual({
      ipv4: [{ address: '127.0.0.1', durationMs: expect.any(Number) }],
      ipv6: [],
    });
    expect((await connections(subjectOf('http://127.0.0.1:1024/'))).ipv4).toEqual([
      { address: '127.0.0.1', failure: 'ECONNREFUSED' },
    ]);
  });
});

describe('where a URL leads', () => {
  it.each([
    ['https://mcp.example.com/mcp', { host: 'mcp.example.com', port: 443, isSecure: true, isAddress: false }],
    ['http://localhost/mcp', { host: 'localhost', port: 80, isSecure: false, isAddress: false }],
    ['http://127.0.0.1:3000/mcp', { host: '127.0.0.1', port: 3000, isSecure: false, isAddress: true }],
    ['https://[::1]:8443/', { host: '::1', port: 8443, isSecure: true, isAddress: true }],
  ])('%s', (url, target) => {
    expect(targetOf({ url })).toMatchObject(target);
    expect(requireTarget({ url }).url.href).toBe(new URL(url).href);
  });

  it.each(['mcp.example.com', 'file:///etc/passwd', ''])('%j leads nowhere', (url) => {
    expect(targetOf({ url })).toBeUndefined();
    expect(() => requireTarget({ url })).toThrow('no http or https URL');
  });
});
