import { decodeJwt, exportPKCS8, generateKeyPair, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { createMemoryStore, loginWithCode, readPrivateKey } from '../../../src/client/index.ts';
import { headlessAgent } from '../../client/support/agent.ts';
import { testContext } from '../../client/support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../../client/support/protected-server.ts';

const document = 'https://client.example/client.json';

async function setUp() {
  const as = await startAuthorizationServer({
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
  });
  const mcp = await startMcpServer(as);
  const agent = headlessAgent();
  return { as, mcp, agent, options: { store: createMemoryStore(), agent } };
}

it('a client whose id is the URL of its metadata document registers nowhere (A5-06)', async () => {
  const { as, mcp, agent, options } = await setUp();
  await loginWithCode(testContext(), mcp.url, { ...options, clientIdMetadataUrl: document });
  expect(as.asked()).not.toContain('POST /register');
  const asked = new URL(agent.requests[0]?.url ?? '').searchParams;
  expect(asked.get('client_id')).toBe(document);
  expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
});

it('such a client may prove itself with the private key whose public half is in the document (A5-07)', async () => {
  const { as, mcp, agent, options } = await setUp();
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const given = { clientId: document, privateKey: await readPrivateKey(await exportPKCS8(privateKey)) };
  const context = testContext();
  await loginWithCode(context, mcp.url, { ...options, given });

  expect(as.asked()).not.toContain('POST /register');
  expect(new URL(agent.requests[0]?.url ?? '').searchParams.get('client_id')).toBe(document);
  const redeemed = as.requests.find(({ path }) => path === '/token');
  const form = new URLSearchParams(redeemed?.body);
  expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  const assertion = form.get('client_assertion') ?? '';
  const { payload } = await jwtVerify(assertion, publicKey, {
    issuer: document,
    subject: document,
    audience: as.origin,
    currentDate: new Date(context.now() * 1000),
  });
  expect(payload.jti).toEqual(expect.any(String));
  expect(decodeJwt(assertion).exp).toBeLessThanOrEqual(context.now() + 300);
});
