import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import Koa, { type Middleware } from 'koa';
import { describe, expect, it } from 'vitest';
import { QuietKoa } from '../../src/app/quiet-koa.ts';
import { serveListener } from '../support/koa-step.ts';

/** Asks an app, and gives all that it answers but the time. */
async function ask(app: Koa, step: Middleware, method: string) {
  app.silent = true;
  app.use(step);
  const url = await serveListener(app.callback());
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, agent: false }, resolve).on('error', reject).end();
  });
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  const { date: _date, ...headers } = response.headers;
  return { status: response.statusCode, message: response.statusMessage, headers, body };
}

const answers: Record<string, Middleware> = {
  'a text': (ctx) => {
    ctx.body = 'well';
  },
  'an object with a status': (ctx) => {
    ctx.status = 403;
    ctx.body = { error: 'no' };
  },
  'a status alone': (ctx) => {
    ctx.status = 202;
  },
  'a status with words of its own': (ctx) => {
    ctx.status = 409;
    ctx.message = 'Already There';
  },
  'an empty answer': (ctx) => {
    ctx.body = null;
  },
  'a stream': (ctx) => {
    ctx.type = 'text/plain';
    ctx.body = Readable.from(['in ', 'pieces']);
  },
  'nothing at all': () => undefined,
  'an error that may be told': (ctx) => ctx.throw(418, 'tea'),
  'an error that may not': () => {
    throw new Error('secret');
  },
};

describe('an app that leaves answers alone', () => {
  it.each(
    Object.entries(answers).flatMap(([what, step]) =>
      ['GET', 'HEAD'].map((method) => ({ what, method, step })),
    ),
  )('answers $method with $what as Koa does', async ({ method, step }) => {
    expect(await ask(new QuietKoa(), step, method)).toEqual(await ask(new Koa(), step, method));
  });

  it('keeps the status of an answer that has begun when a step fails', async () => {
    const statuses: number[] = [];
    const fail: Middleware = async (ctx) => {
      ctx.respond = false;
      ctx.res.once('close', () => statuses.push(ctx.res.statusCode));
      ctx.res.writeHead(200, { 'content-length': '5' }).end('begun');
      throw new Error('too late');
    };
    expect(await ask(new QuietKoa(), fail, 'GET')).toMatchObject({ status: 200, body: 'begun' });
    await expect.poll(() => statuses).toEqual([200]);
  });

  it('listens for no end of an answer that a step gives itself', async () => {
    const listeners: number[] = [];
    const answerItself: Middleware = (ctx) => {
      ctx.respond = false;
      listeners.push(ctx.res.listenerCount('finish'), ctx.res.listenerCount('error'));
      ctx.res.end('by itself');
    };
    expect((await ask(new QuietKoa(), answerItself, 'GET')).body).toBe('by itself');
    const byNodeAlone: number[] = [];
    const url = await serveListener((_request, response) => {
      byNodeAlone.push(response.listenerCount('finish'), response.listenerCount('error'));
      response.end();
    });
    await fetch(url);
    expect(listeners).toEqual(byNodeAlone);
  });
});
