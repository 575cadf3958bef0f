import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import {
  answerRefusedForm,
  FormRefused,
  refuseOtherMethods,
} from '../../../src/authorization-server/interactions/form.ts';
import { serveSteps } from '../../support/koa-step.ts';

describe('a form that is refused', () => {
  it('is answered with a page that says why, with the status of the refusal', async () => {
    const url = await serveSteps([
      (ctx: Context) => answerRefusedForm(ctx, new FormRefused(415, 'Sent <wrongly>.')),
    ]);
    const response = await fetch(url, { method: 'POST' });
    expect(response.status).toBe(415);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    const page = await response.text();
    expect(page).toContain('Sent &lt;wrongly&gt;.');
    expect(page).toContain('invalid_request');
    expect(page).toContain('begin again from the app');
  });

  it('of the account pages leads back there', async () => {
    const account = 'https://gate.example/account';
    const url = await serveSteps([
      (ctx: Context) => answerRefusedForm(ctx, new FormRefused(403, 'Not yours.'), account),
    ]);
    const page = await (await fetch(url, { method: 'POST' })).text();
    expect(page).toContain(`href="${account}"`);
    expect(page).not.toContain('begin again from the app');
    expect(page).toContain('Please go on from your account page.');
  });
});

describe('a method that a page does not take', () => {
  const serve = () =>
    serveSteps([
      (ctx: Context) => {
        if (!refuseOtherMethods(ctx, ['GET', 'HEAD'])) ctx.body = 'the page';
      },
    ]);

  it('is answered with 405 and the methods it takes (T-016)', async () => {
    const response = await fetch(await serve(), { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await response.text()).toContain('use GET or HEAD here');
  });

  it('is not any that it takes', async () => {
    expect(await (await fetch(await serve())).text()).toBe('the page');
  });
});
