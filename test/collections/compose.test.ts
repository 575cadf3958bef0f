import type { Middleware } from 'koa';
import { describe, expect, it } from 'vitest';
import { compose } from '../../src/collections/compose.ts';
import { serveSteps } from '../support/koa-step.ts';

/** A step that says when it begins and when what is behind it is done. */
function noting(name: string, notes: string[]): Middleware {
  return async (_ctx, next) => {
    notes.push(name);
    await next();
    notes.push(`${name} again`);
  };
}

describe('a compose of steps', () => {
  it('runs them in their order, and what stands behind it after them', async () => {
    const notes: string[] = [];
    const url = await serveSteps([
      compose([noting('a', notes), compose([noting('b', notes)]), (_ctx, next) => next()]),
      (ctx) => {
        notes.push('behind');
        ctx.body = 'done';
      },
    ]);
    expect(await (await fetch(url)).text()).toBe('done');
    expect(notes).toEqual(['a', 'b', 'behind', 'b again', 'a again']);
  });

  it('ends at a step that does not go on', async () => {
    const url = await serveSteps([
      compose([
        (ctx) => {
          ctx.status = 204;
        },
        (ctx) => {
          ctx.status = 500;
        },
      ]),
    ]);
    expect((await fetch(url)).status).toBe(204);
  });

  it.each([
    [
      'at once',
      () => {
        throw new Error('x');
      },
    ],
    ['later', () => Promise.reject(new Error('x'))],
  ])('hands what a step throws %s to a step before it that catches', async (_when, fails) => {
    const catching: Middleware = async (ctx, next) => {
      try {
        await next();
      } catch {
        ctx.body = 'caught';
      }
    };
    const url = await serveSteps([compose([catching, (_ctx, next) => next(), fails])]);
    expect(await (await fetch(url)).text()).toBe('caught');
  });
});
