import { describe, expect, it } from 'vitest';
import { issuerDocument, issuerPlaces, namedIssuer, wrongPlaces } from '../../../src/doctor/issuer/places.ts';
import { routeNames, startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

describe('the issuer', () => {
  it('is the first that the resource names', async () => {
    const server = await startServer({
      fault: (changed) =>
        changed.publish(routeNames.protectedResource, {
          authorization_servers: ['https://one', 'https://two'],
        }),
    });
    expect(await namedIssuer(subjectOf(server.url))).toEqual({
      issuer: 'https://one',
      by: 'metadata',
      others: ['https://two'],
    });
  });

  it('is the origin where the resource publishes nothing (A2-01)', async () => {
    const server = await startServer({
      fault: ({ routes }) => {
        delete routes[routeNames.protectedResource];
        delete routes[routeNames.protectedResourceAtRoot];
      },
    });
    const subject = subjectOf(server.url);
    expect(await namedIssuer(subject)).toEqual({ issuer: server.origin, by: 'origin', others: [] });
    expect((await issuerDocument(subject))?.url).toBe(
      `${server.origin}/.well-known/oauth-authorization-server`,
    );
  });

  it('is none where what is named is no URL', async () => {
    const server = await startServer({
      fault: (changed) => changed.publish(routeNames.protectedResource, { authorization_servers: ['login'] }),
    });
    const subject = subjectOf(server.url);
    expect(await namedIssuer(subject)).toBeUndefined();
    expect(await issuerPlaces(subject)).toEqual([]);
    expect(await issuerDocument(subject)).toBeUndefined();
  });
});

describe('the places of its metadata', () => {
  it('are two for an issuer without a path (A4-02)', async () => {
    const server = await startServer();
    const subject = subjectOf(server.url);
    expect((await issuerPlaces(subject)).map(({ url }) => url)).toEqual([
      `${server.origin}/.well-known/oauth-authorization-server`,
      `${server.origin}/.well-known/openid-configuration`,
    ]);
    expect(await wrongPlaces(subject)).toEqual([]);
  });

  it('are three for one with a path, and three more are wrong (A4-03)', async () => {
    const server = await startServer({ issuerPath: '/tenant' });
    const subject = subjectOf(server.url);
    expect((await issuerPlaces(subject)).map(({ url }) => url)).toEqual([
      `${server.origin}/.well-known/oauth-authorization-server/tenant`,
      `${server.origin}/.well-known/openid-configuration/tenant`,
      `${server.origin}/tenant/.well-known/openid-configuration`,
    ]);
    expect((await wrongPlaces(subject)).map(({ url }) => url)).toEqual([
      `${server.origin}/tenant/.well-known/oauth-authorization-server`,
      `${server.origin}/.well-known/oauth-authorization-server`,
      `${server.origin}/.well-known/openid-configuration`,
    ]);
  });
});
