import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  approve,
  authorization,
  redeem,
  refresh,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { expectErrorPage } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

async function tokensFor(
  resource: string | undefined,
  atToken?: string,
): Promise<{ response: Response; tokens: Tokens }> {
  const flow = authorization(gatehouse, client, { resource });
  const code = (await approve(flow)).searchParams.get('code') ?? '';
  const response = await redeem(
    gatehouse.url,
    flow,
    code,
    atToken === undefined ? {} : { resource: atToken },
  );
  return { response, tokens: (await response.json()) as Tokens };
}

describe('the resource parameter', () => {
  it('names the audience, and the token opens that resource (T-023)', async () => {
    const { response, tokens } = await tokensFor(gatehouse.mcpUrl, gatehouse.mcpUrl);
    expect(response.status).toBe(200);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });

  it.each([
    'https://evil.example/mcp',
    'http://localhost:1/mcp',
    '/mcp',
    'mcp',
    'urn:example:resource',
    'http://127.0.0.1/mcp',
  ])('that is unknown is invalid_target, and nothing is issued: %s (T-023)', async (resource) => {
    const before = await countIssued(gatehouse.folder);
    await expectErrorPage(
      await createVisitor().request(authorization(gatehouse, client, { resource }).url),
      'invalid_target',
    );
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it('that differs by path, query, fragment, port or user is unknown (T-023)', async () => {
    const { origin, port } = new URL(gatehouse.mcpUrl);
    for (const resource of [
      `${origin}/mcp/more`,
      `${origin}/MCP`,
      `${origin}/mcp?tenant=1`,
      `${origin}/mcp#fragment`,
      `http://localhost:${Number(port) + 1}/mcp`,
      `http://someone@localhost:${port}/mcp`,
    ])
      await expectErrorPage(
        await createVisitor().request(authorization(gatehouse, client, { resource }).url),
        'invalid_target',
      );
  });

  it('given twice, one of them unknown, is invalid_target (T-023)', async () => {
    const { url } = authorization(gatehouse, client);
    await expectErrorPage(
      await createVisitor().request(`${url}&resource=${encodeURIComponent('https://evil.example/mcp')}`),
      'invalid_target',
    );
  });

  it('may have an upper-case scheme and host or a trailing slash, in every request (A7-02)', async () => {
    const upper = gatehouse.mcpUrl.replace('http://localhost', 'HTTP://LOCALHOST');
    for (const [atAuthorization, atToken] of [
      [upper, upper],
      [`${gatehouse.mcpUrl}/`, gatehouse.mcpUrl],
      [gatehouse.mcpUrl, `${upper}/`],
    ]) {
      const { response, tokens } = await tokensFor(atAuthorization, atToken);
      expect(response.status).toBe(200);
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
      const again = await refresh(gatehouse.url, client, tokens.refresh_token, { resource: upper });
      expect(again.status).toBe(200);
    }
  });

  it('may be shortened to the origin, with or without a slash, in every request (A7-02)', async () => {
    const { origin } = new URL(gatehouse.mcpUrl);
    for (const [atAuthorization, atToken] of [
      [origin, origin],
      [`${origin}/`, gatehouse.mcpUrl],
      [gatehouse.mcpUrl, `${origin}/`],
    ]) {
      const { response, tokens } = await tokensFor(atAuthorization, atToken);
      expect(response.status).toBe(200);
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
      const again = await refresh(gatehouse.url, client, tokens.refresh_token, { resource: origin });
      expect(again.status).toBe(200);
    }
  });

  it('is the one there is where the client names none, as clients of 2025-03-26 do (A7-06, A6-11)', async () => {
    const { response, tokens } = await tokensFor(undefined);
    expect(response.status).toBe(200);
    expect(tokens.scope).toBe('notes:read notes:write');
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('at the token endpoint cannot name another one than was agreed to (T-023)', async () => {
    const { response, tokens } = await tokensFor(gatehouse.mcpUrl, 'https://evil.example/mcp');
    expect([response.status, tokens]).toMatchObject([400, { error: 'invalid_target' }]);
  });

  it('is not widened by scope: a token of openid alone does not open the resource (T-023, T-024)', async () => {
    const flow = authorization(gatehouse, client, { scope: 'openid' });
    const code = (await approve(flow, { scopes: [] })).searchParams.get('code') ?? '';
    const tokens = (await (await redeem(gatehouse.url, flow, code)).json()) as Tokens;
    expect(tokens.scope ?? '').not.toContain('notes');
  });
});
