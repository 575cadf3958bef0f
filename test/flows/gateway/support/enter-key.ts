import { expect } from 'vitest';
import type { ada, RunningGatehouse } from '../../../support/gatehouse.ts';
import { openAccount } from '../../account/support/account.ts';

/** A key of a person for a server behind the gate. */
export interface EnteredKey {
  /** Where it is asked for, below `/account`: the page of a route, or of one request for the key. */
  page: string;
  /** Its name in the settings. */
  credential?: string;
  value: string;
  person: typeof ada;
}

/** Has a person enter a key on the account page. */
export async function enterKey(
  gate: Pick<RunningGatehouse, 'url'>,
  { page, credential = 'apiKey', value, person }: EnteredKey,
): Promise<void> {
  const { visitor, html } = await openAccount(gate, { page, person });
  const csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const [route] = /^\/credentials\/[^/]+/.exec(page) ?? [];
  const { response } = await visitor.open(`${gate.url}/account${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ csrf, credential, value }),
  });
  expect(response.status).toBe(200);
}
