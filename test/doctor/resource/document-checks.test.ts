import { describe, expect, it } from 'vitest';
import { passiveChecks } from '../../../src/doctor/all-checks.ts';
import { documentChecks, originHasMetadata } from '../../../src/doctor/resource/document-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

const { protectedResource, protectedResourceAtRoot } = routeNames;

async function report(fault: Fault, checks = documentChecks) {
  return examined((await startServer({ fault })).url, checks);
}

describe('a document', () => {
  it('may have a page behind it that no client comes to', async () => {
    const found = await report(({ routes }) => {
      routes[protectedResourceAtRoot] = () => ({ headers: { 'content-type': 'text/html' }, text: '<html>' });
    });
    expect(found.bad()).toEqual([]);
    expect(found.finding('PRM-DOCUMENT').saw).toContain('before they come to the page');
  });

  it('is not found behind a redirect', async () => {
    const found = await report(({ routes }) => {
      routes[protectedResource] = () => ({ status: 302, headers: { location: '/login' } });
    });
    expect(found.bad()).toEqual(['fail PRM-DOCUMENT']);
    expect(found.finding('PRM-DOCUMENT')).toMatchObject({
      saw: expect.stringContaining('302 to "/login"'),
      hints: expect.arrayContaining([{ product: 'nginx', lines: expect.stringContaining('location ^~') }]),
    });
  });

  it('at the root may be that of another resource', async () => {
    const found = await report((server) =>
      server.publish(protectedResourceAtRoot, {
        resource: server.origin,
        authorization_servers: ['https://other'],
      }),
    );
    expect(found.finding('PRM-AGREE')).toMatchObject({ verdict: 'skip', saw: 'There is one document.' });
  });
});

describe('metadata of 2025-03-26', () => {
  it('is looked for at the origin (A2-02)', async () => {
    const server = await startServer();
    expect(await originHasMetadata(subjectOf(server.url))).toBe(true);
    const without = await startServer({
      fault: ({ routes }) => {
        for (const name of Object.keys(routes)) if (name.includes('.well-known')) delete routes[name];
      },
    });
    expect(await originHasMetadata(subjectOf(without.url))).toBe(false);
  });

  it('is judged as that of the authorization server', async () => {
    const found = await report((server) => {
      delete server.routes[protectedResource];
      delete server.routes[protectedResourceAtRoot];
    }, passiveChecks);
    expect(found.finding('PRM-FOUND').verdict).toBe('warn');
    expect(found.finding('AS-FOUND').verdict).toBe('pass');
    expect(found.finding('AS-PKCE').verdict).toBe('pass');
  });
});
