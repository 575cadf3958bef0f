import { describe, expect, it } from 'vitest';
import {
  createMemoryStore,
  freshCredential,
  loginToServerWithDevice,
  loginWithClientCredentials,
  loginWithCode,
} from '../../src/client/index.ts';
import { resourceParameter } from '../../src/client/resource-parameter.ts';
import { headlessAgent } from './support/agent.ts';
import { testContext } from './support/context.ts';
import { offerDeviceLogin } from './support/device-login.ts';
import { startAuthorizationServer, startMcpServer } from './support/protected-server.ts';

async function setUp() {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as, { scopes: ['read'] });
  const store = createMemoryStore();
  const refuse = (name: string): void => {
    const route = as.routes[name];
    as.routes[name] = (request) => {
      if (request.body.includes('resource=') || request.query.has('resource'))
        return { status: 400, json: { error: 'invalid_target' } };
      return typeof route === 'function' ? route(request) : (route ?? {});
    };
  };
  return { as, mcp, store, context: testContext(), refuse };
}

describe('the resource parameter', () => {
  it('is sent, unless the user leaves it out (A7-01)', () => {
    expect(resourceParameter({ resource: 'https://mcp' })).toEqual({ resource: 'https://mcp' });
    expect(resourceParameter({ resource: 'https://mcp', withoutResource: true })).toEqual({});
  });

  it('that is left out is so at the authorization, for the code and at each renewal (CL-5)', async () => {
    const { mcp, store, context, refuse } = await setUp();
    for (const name of ['GET /authorize', 'POST /token']) refuse(name);
    const options = { store, agent: headlessAgent() };
    await expect(loginWithCode(context, mcp.url, options)).rejects.toThrow();
    const { credential } = await loginWithCode(context, mcp.url, { ...options, withoutResource: true });
    expect(credential).toMatchObject({ resource: mcp.url, withoutResource: true });
    const renewed = await freshCredential(context, store, mcp.url, credential.accessToken);
    expect(renewed).toMatchObject({ withoutResource: true });
    expect(renewed?.accessToken).not.toBe(credential.accessToken);
  });

  it('is left out of device logins, too, and of what a machine asks for and repeats (CL-5)', async () => {
    const device = await setUp();
    offerDeviceLogin(device.as);
    for (const name of ['POST /device_authorization', 'POST /token']) device.refuse(name);
    const shown = { store: device.store, show: () => undefined, withoutResource: true };
    await loginToServerWithDevice(device.context, device.mcp.url, shown);

    const { as, mcp, store, context, refuse } = await setUp();
    let issued = 0;
    as.routes['POST /token'] = () => ({ json: { access_token: `at-${++issued}`, token_type: 'Bearer' } });
    refuse('POST /token');
    const client = { clientId: 'ci', clientSecret: 's' };
    await loginWithClientCredentials(context, mcp.url, { store, client, withoutResource: true });
    expect((await freshCredential(context, store, mcp.url, 'at-1'))?.accessToken).toBe('at-2');
  });
});
