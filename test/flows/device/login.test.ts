// Flows of src/authorization-server/device/device-endpoints.ts, src/authorization-server/device/engine-feature.ts,
// src/authorization-server/device/device-pages.ts and src/authorization-server/device/device-endpoints.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { refresh, tryAccess } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { approveDevice, askForCode, enterCode, poll, registerDevice } from './subject.ts';

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = await registerDevice(gatehouse.url);
});
afterAll(() => gatehouse.stop());

describe('a device', () => {
  it('gets a token for the resource it named once a person has typed its code, said yes and consented, and refreshes', async () => {
    const waiting = await askForCode(gatehouse, client);
    expect(waiting).toMatchObject({ url: `${gatehouse.url}/device`, interval: 5 });
    expect(waiting.userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(await poll(gatehouse.url, waiting)).toMatchObject({
      status: 400,
      body: { error: 'authorization_pending' },
    });
    const done = await approveDevice(waiting);
    expect([done.response.status, done.url]).toEqual([200, `${gatehouse.url}/device/done`]);
    const { status, body } = await poll(gatehouse.url, waiting, { resource: gatehouse.mcpUrl });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.scope?.split(' ').sort()).toEqual(['notes:read', 'notes:write']);
    expect(await tryAccess(gatehouse.mcpUrl, body.access_token ?? '')).toBe(200);
    const refreshed = await refresh(gatehouse.url, client, body.refresh_token ?? '');
    expect(refreshed.status).toBe(200);
  });

  it('is shown before the login with its code, its app, its address and the time, and whose start it must be', async () => {
    const waiting = await askForCode(gatehouse, client);
    const visitor = createVisitor();
    const entered = await visitor.open(waiting.url);
    expect(entered.html).toContain(
      'Only continue if you started this yourself, on a device in front of you.',
    );
    const { html, response } = await enterCode(waiting, visitor);
    expect(response.status, html).toBe(200);
    expect(html).toContain(`<p class="code">${waiting.userCode}</p>`);
    expect(html).toContain('Not checked:');
    expect(html).toContain('“A lamp”');
    expect(html).toContain('requested from 127.0.0.1, less than a minute ago');
  });
});
