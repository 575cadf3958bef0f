import { expect } from 'vitest';
import type { Verdict } from '../../../src/doctor/check.ts';
import type { Reply, Seen } from './http.ts';
import { examineActively, headlessLogin } from './login.ts';
import type { Fault, TestServer } from './server.ts';

/** A fault with what the active sections must say of it: this check and no other. */
export type FaultCase = [rule: string, fault: Fault, id: string, verdict: Verdict, saw: RegExp];

/** An OAuth refusal. */
export function refusal(error: string, status = 400): Reply {
  return {
    status,
    headers: { 'cache-control': 'no-store' },
    json: { error, error_description: 'by the test' },
  };
}

/** A page in place of JSON. */
export const page: Reply = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  text: '<h1>Welcome</h1>',
};

/** A fault of the answers to accepted registrations. */
export function whenRegistered(edit: (client: Record<string, unknown>, reply: Reply) => Reply): Fault {
  return (server) =>
    server.change('POST /register', (reply) =>
      reply.status === 201 ? edit(reply.json as Record<string, unknown>, reply) : reply,
    );
}

/** A fault of the requests of one grant type. */
export function atGrant(grantType: string, edit: (reply: Reply, seen: Seen) => Reply): Fault {
  return (server) =>
    server.change('POST /token', (reply, seen) =>
      new URLSearchParams(seen.body).get('grant_type') === grantType ? edit(reply, seen) : reply,
    );
}

/** Makes every tool say that it only reads, so that the doctor dares to call it. */
export function withReadOnlyTools(server: TestServer): void {
  server.change('POST /mcp', (reply, { body }) => {
    if (!body.includes('"tools/list"')) return reply;
    const json = JSON.stringify(reply.json).replaceAll(
      '"inputSchema"',
      '"annotations":{"readOnlyHint":true},"inputSchema"',
    );
    return { ...reply, json: JSON.parse(json) as unknown };
  });
}

/** Runs all active sections against one fault: exactly its check speaks up, says what it saw and what to do. */
export async function expectFound([, fault, id, verdict, saw]: FaultCase): Promise<void> {
  const login = headlessLogin();
  const report = await examineActively(fault, { login });
  expect(report.bad()).toEqual([`${verdict} ${id}`]);
  const finding = report.finding(id);
  expect(finding.saw).toMatch(saw);
  expect(finding.fix).toMatch(/\.$/);
  expect(finding.evidence?.length).toBeGreaterThan(0);
  expect(login.asked.length).toBeLessThanOrEqual(2);
}
